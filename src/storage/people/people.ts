import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import { givenEmail, placeholderEmail } from '../../library/account.ts'
import type { PeopleStore, Person, PersonKind } from '../../library/ports/people.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { beginRemoval, finishRemoval } from './delete-person.ts'
import { firstStepsStore } from './first-steps.ts'
import { handOverItems } from './hand-over.ts'
import { inviteStore, revokeInvitesOf, toInvite } from './invites.ts'
import { refuseWithoutAdmin } from './last-admin.ts'
import { leaveTeams } from './leave-teams.ts'
import { requireFreeName } from './names.ts'
import { toUser, userStore } from './users.ts'

/** The profile fields of a person. */
const PROFILE_FIELDS = ['displayName', 'bio', 'website', 'email', 'defaultVisibility', 'language'] as const

/** Teams are no people: nobody signs in, is invited, suspended or made an administrator as one. */
function selectPeople(db: Kysely<Database>) {
  return db
    .selectFrom('user')
    .leftJoin('login', 'login.id', 'user.id')
    .where('user.removal', 'is', null)
    .where('user.is_team', '=', 0)
    .selectAll('user')
    .select(['login.email', 'login.id as login_id'])
}

type PersonRow = Awaited<ReturnType<ReturnType<typeof selectPeople>['executeTakeFirstOrThrow']>>

function toPerson(row: PersonRow): Person {
  return {
    ...toUser(row),
    role: row.role,
    displayName: row.display_name,
    bio: row.bio,
    language: row.language,
    website: row.website,
    email: row.email === null ? null : givenEmail(row.email),
    hasLogin: row.login_id !== null,
    suspendedAt: row.suspended_at,
    seenOn: row.seen_on,
  }
}

async function findPerson(db: Kysely<Database>, userId: string): Promise<Person | null> {
  const row = await selectPeople(db).where('user.id', '=', userId).executeTakeFirst()
  return row ? toPerson(row) : null
}

/** @throws AppError `not_found` */
export async function requirePerson(db: Kysely<Database>, userId: string): Promise<Person> {
  const person = await findPerson(db, userId)
  if (!person) throw new AppError('not_found', 'This user does not exist.')
  return person
}

async function findPersonByName(db: Kysely<Database>, username: string): Promise<Person | null> {
  const row = await selectPeople(db).where('user.username_key', '=', username.toLowerCase()).executeTakeFirst()
  return row ? toPerson(row) : null
}

/** People whose name contains a text, in any case. */
function selectMatching(db: Kysely<Database>, matching: string | null) {
  const people = selectPeople(db)
  return matching === null ? people : people.where('user.username_key', 'like', `%${matching.toLowerCase().replace(/[%_]/g, '')}%`)
}

/** Whether a row of {@link selectPeople} is of this kind. */
function ofKind(kind: PersonKind) {
  if (kind === 'login') return sql<boolean>`login.id is not null`
  return kind === 'placeholder'
    ? sql<boolean>`login.id is null and contributor_key is not null`
    : sql<boolean>`login.id is null and contributor_key is null`
}

/** How many people can sign in. */
export async function countLogins(db: Kysely<Database>): Promise<number> {
  return await count(db, 'login')
}

async function countPeople(db: Kysely<Database>): Promise<number> {
  const { n } = await db
    .selectFrom('user')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('is_team', '=', 0)
    .executeTakeFirstOrThrow()
  return Number(n)
}

async function count(db: Kysely<Database>, table: 'login' | 'version' | 'item'): Promise<number> {
  const { n } = await db
    .selectFrom(table)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Users, their profiles and invites, and what administrators decide about them. */
export function peopleStore(reader: Kysely<Database>, context: WriteContext): PeopleStore {
  const now = () => new Date(context.clock()).toISOString()
  const useInvite = async (db: Kysely<Database>, sha256: string, username: string) => {
    await db.updateTable('invite').set({ used_at: now(), used_by: username }).where('sha256', '=', sha256).execute()
  }
  return {
    ...userStore(reader, context),
    ...firstStepsStore(reader, context),
    findPerson: (userId) => findPerson(reader, userId),
    findPersonByName: (username) => findPersonByName(reader, username),
    async findPersonByEmail(email) {
      const row = await selectPeople(reader).where('login.email', '=', email).executeTakeFirst()
      return row ? toPerson(row) : null
    },
    async listPeople({ limit, offset, matching, kind = null }) {
      const found = () => selectMatching(reader, matching).where(kind === null ? sql<boolean>`1 = 1` : ofKind(kind))
      const rows = await found()
        .select((eb) =>
          eb
            .selectFrom('item')
            .select((count) => count.fn.countAll<number>().as('n'))
            .where('item.deleted_at', 'is', null)
            .where((or) =>
              or.or([
                or('item.owner_seq', '=', or.ref('user.seq')),
                or.and([or('item.author_seq', '=', or.ref('user.seq')), or('user.contributor_key', 'is not', null)]),
              ]),
            )
            .as('items'),
        )
        .orderBy('user.username_key')
        .limit(limit)
        .offset(offset)
        .execute()
      const { n } = await found()
        .clearSelect()
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ ...toPerson(row), items: Number(row.items) })), total: Number(n) }
    },
    async countPeople(matching) {
      const countOf = async (kind: PersonKind) => {
        const { n } = await selectMatching(reader, matching)
          .where(ofKind(kind))
          .clearSelect()
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow()
        return Number(n)
      }
      return { login: await countOf('login'), reserved: await countOf('reserved'), placeholder: await countOf('placeholder') }
    },
    setSuspended: (username, isSuspended) =>
      context.transact(async (db, notes) => {
        const person = await findPersonByName(db, username)
        if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
        if ((person.suspendedAt !== null) === isSuspended) return person
        if (isSuspended && person.role === 'admin') await refuseWithoutAdmin(db, person.id)
        const suspendedAt = isSuspended ? now() : null
        await db.updateTable('user').set({ suspended_at: suspendedAt }).where('id', '=', person.id).execute()
        const action = isSuspended ? 'account_suspended' : 'account_unsuspended'
        notes.audit({ action, targetId: person.id, ownerId: person.id })
        if (suspendedAt !== null) await revokeInvitesOf(db, notes, person, suspendedAt)
        return { ...person, suspendedAt }
      }),
    noteSeen: (userId, day) =>
      context.sideTransaction(async (db) => {
        await db
          .updateTable('user')
          .set({ seen_on: day })
          .where('id', '=', userId)
          .where((eb) => eb.or([eb('seen_on', 'is', null), eb('seen_on', '<', day)]))
          .execute()
      }),
    hasLogins: async () => (await reader.selectFrom('login').select('id').limit(1).executeTakeFirst()) !== undefined,
    createLogin: (login, decide) =>
      context.transact(async (db, notes) => {
        const invite = login.inviteSha256
          ? await db.selectFrom('invite').selectAll().where('sha256', '=', login.inviteSha256).executeTakeFirst()
          : undefined
        const holder = await findPersonByName(db, login.username)
        const leaving = db
          .selectFrom('user')
          .select('seq')
          .where('username_key', '=', login.username.toLowerCase())
          .where('removal', 'is not', null)
        if (!holder && (await leaving.executeTakeFirst())) {
          throw new AppError('conflict', `What "${login.username}" had is still being removed. Try again later.`)
        }
        const emailHolder = login.email
          ? await db.selectFrom('login').select('id').where('email', '=', login.email).executeTakeFirst()
          : undefined
        const isFirst = (await countLogins(db)) === 0
        const role = decide({ isFirst, invite: invite ? toInvite(invite) : null, holder, isEmailTaken: emailHolder !== undefined })
        if (!holder) await requireFreeName(db, login.username, 'username')
        const id = holder?.id ?? context.random.id()
        if (holder) {
          // A person who can sign in is no placeholder: a later import creates another one.
          await db.updateTable('user').set({ role, contributor_key: null }).where('id', '=', id).execute()
        } else {
          await db
            .insertInto('user')
            .values({
              id,
              username: login.username,
              username_key: login.username.toLowerCase(),
              contributor_key: null,
              default_visibility: 'private',
              created_at: now(),
              role,
            })
            .execute()
        }
        const dates = { created_at: now(), updated_at: now() }
        await db
          .insertInto('login')
          .values({
            id,
            name: holder?.username ?? login.username,
            email: login.email ?? placeholderEmail(id),
            email_verified: 0,
            image: null,
            ...dates,
          })
          .execute()
        await db
          .insertInto('login_account')
          .values({
            id: context.random.id(),
            user_id: id,
            provider_id: 'credential',
            account_id: id,
            password: login.passwordHash,
            access_token: null,
            refresh_token: null,
            id_token: null,
            access_token_expires_at: null,
            refresh_token_expires_at: null,
            scope: null,
            ...dates,
          })
          .execute()
        if (login.inviteSha256) await useInvite(db, login.inviteSha256, holder?.username ?? login.username)
        // From here on the new account is the actor.
        const own = { ownerId: id, actorId: id }
        notes.audit({ action: 'account_created', targetId: id, ...own, detail: { role } })
        if (invite) notes.audit({ action: 'invite_used', targetId: invite.id, ...own })
        return await requirePerson(db, id)
      }),
    changeProfile: (userId, change) =>
      context.transact(async (db, notes) => {
        const before = await requirePerson(db, userId)
        await db
          .updateTable('user')
          .set({
            ...(change.displayName === undefined ? {} : { display_name: change.displayName }),
            ...(change.bio === undefined ? {} : { bio: change.bio }),
            ...(change.website === undefined ? {} : { website: change.website }),
            ...(change.defaultVisibility === undefined ? {} : { default_visibility: change.defaultVisibility }),
            ...(change.language === undefined ? {} : { language: change.language }),
            id: userId,
          })
          .where('id', '=', userId)
          .execute()
        if (change.email !== undefined) {
          const email = change.email ?? placeholderEmail(userId)
          const holder = await db.selectFrom('login').select('id').where('email', '=', email).executeTakeFirst()
          if (holder && holder.id !== userId)
            throw new AppError('conflict', 'This email address belongs to another account.', {
              details: [{ path: 'email', message: 'This email address belongs to another account.' }],
            })
          await db.updateTable('login').set({ email, email_verified: 0, updated_at: now() }).where('id', '=', userId).execute()
        }
        const after = await requirePerson(db, userId)
        const fields = PROFILE_FIELDS.filter((field) => before[field] !== after[field])
        if (fields.length > 0) notes.audit({ action: 'profile_changed', targetId: userId, ownerId: userId, detail: { fields } })
        return after
      }),
    setRole: (username, role) =>
      context.transact(async (db, notes) => {
        const person = await findPersonByName(db, username)
        if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
        if (role !== 'admin' && person.role === 'admin') await refuseWithoutAdmin(db, person.id)
        await db.updateTable('user').set({ role, role_given_by: null }).where('id', '=', person.id).execute()
        if (role !== person.role) notes.audit({ action: 'role_changed', targetId: person.id, ownerId: person.id, detail: { role } })
        if (role !== 'admin' && person.role === 'admin') await revokeInvitesOf(db, notes, person, now())
        return { ...person, role }
      }),
    handOverItems: (userId, to, adminId) =>
      context.transact(
        async (db, notes) => {
          const person = await requirePerson(db, userId)
          if (person.suspendedAt === null) throw new AppError('conflict', `${person.username} is not suspended: only they give items away.`)
          return (await handOverItems(db, notes, person, { to, adminId })).count
        },
        { isLarge: true },
      ),
    async deletePerson(userId, { isByAdmin = false, handOverTo, adminId = null } = {}) {
      const seq = await context.transact(
        async (db, notes) => {
          const person = await requirePerson(db, userId)
          if (person.role === 'admin' && (await countLogins(db)) > 1) await refuseWithoutAdmin(db, userId)
          const keepsName = handOverTo !== undefined && (await handOverItems(db, notes, person, { to: handOverTo, adminId })).hadPublic
          await leaveTeams(db, notes, person, { isByAdmin, at: now() })
          await revokeInvitesOf(db, notes, person, now())
          const seq = await beginRemoval(db, notes, person, { id: context.random.id(), at: now(), keepsName })
          notes.audit({ action: 'account_deleted', targetId: userId, ownerId: userId })
          return seq
        },
        { isLarge: true },
      )
      await finishRemoval(context, seq)
    },
    ...inviteStore(reader, context),
    async countLibrary() {
      const kinds = await reader
        .selectFrom('item')
        .select(['kind', (eb) => eb.fn.countAll<number>().as('n')])
        .where('deleted_at', 'is', null)
        .groupBy('kind')
        .execute()
      const of = (kind: string) => Number(kinds.find((row) => row.kind === kind)?.n ?? 0)
      const { keys } = await reader
        .selectFrom('api_key')
        .select((eb) => eb.fn.countAll<number>().as('keys'))
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow()
      const [prompts, skills] = [of('prompt'), of('skill')]
      return {
        prompts,
        skills,
        inTrash: (await count(reader, 'item')) - prompts - skills,
        versions: await count(reader, 'version'),
        people: await countPeople(reader),
        logins: await countLogins(reader),
        keys: Number(keys),
      }
    },
  }
}
