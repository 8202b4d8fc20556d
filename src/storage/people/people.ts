import { type InferResult, type Kysely, sql } from 'kysely'
import type { SearchResult } from '../../domain/items/search.ts'
import { givenEmail, placeholderEmail, type Role } from '../../domain/people/account.ts'
import type { LibraryCounts, ListedPerson, NewLogin, Person, PersonKind, ProfileChange, SignUpState } from '../../domain/people/people.ts'
import { type Identity, PASSWORD_PROVIDER } from '../../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../../errors.ts'
import { countRows, readPage } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { beginRemoval, finishRemoval, handOverItems, leaveTeams } from './delete-person.ts'
import { insertUser, requireFreeName } from './user-rows.ts'
import { INVITE, inviteStore, refuseWithoutAdmin, revokeInvitesOf, selectAdmins, toUser, userStore } from './users.ts'

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

type PersonRow = InferResult<ReturnType<typeof selectPeople>>[number]

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

/** Lets a user have sessions. Without an address, one that reaches nobody stands for it. */
export async function insertLogin(
  db: Kysely<Database>,
  { id, name, email, isVerified = false, at }: { id: string; name: string; email: string | null; isVerified?: boolean; at: string },
): Promise<void> {
  const login = { id, name, email: email ?? placeholderEmail(id), email_verified: isVerified ? 1 : 0, image: null }
  await db
    .insertInto('login')
    .values({ ...login, created_at: at, updated_at: at })
    .execute()
}

/** Writes a way in which a user signs in. */
export async function insertIdentity(
  db: Kysely<Database>,
  userId: string,
  { id, provider, subject, password, at }: Identity & { readonly id: string; readonly password?: string; readonly at: string },
): Promise<void> {
  const account = { id, user_id: userId, provider_id: provider, account_id: subject, password }
  await db
    .insertInto('login_account')
    .values({ ...account, created_at: at, updated_at: at })
    .execute()
}

/** Whether somebody can sign in: by a password, a provider or a passkey, or as an administrator by a link that an operator made. */
export async function hasLogins(db: Kysely<Database>): Promise<boolean> {
  const found = await db
    .selectFrom('login_account')
    .select('user_id')
    .unionAll(db.selectFrom('login_passkey').select('user_id'))
    .unionAll(selectAdmins(db).select('user.id as user_id'))
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** How many people can sign in. */
async function countLogins(db: Kysely<Database>): Promise<number> {
  return await countRows(db.selectFrom('login'))
}

/** Users, their profiles and invites, and what administrators decide about them. */
export function peopleStore(reader: Kysely<Database>, context: WriteContext) {
  const useInvite = async (db: Kysely<Database>, sha256: string, username: string) => {
    await db.updateTable('invite').set({ used_at: context.now(), used_by: username }).where('sha256', '=', sha256).execute()
  }
  return {
    ...userStore(reader, context),
    ...firstStepsStore(reader, context),
    findPerson: (userId: string): Promise<Person | null> => findPerson(reader, userId),
    findPersonByName: (username: string): Promise<Person | null> => findPersonByName(reader, username),
    /** The person with this email address, in lower case. */
    async findPersonByEmail(email: string): Promise<Person | null> {
      const row = await selectPeople(reader).where('login.email', '=', email).executeTakeFirst()
      return row ? toPerson(row) : null
    },
    /** By name; `matching` is part of a name, in any case. `kind`: default any. */
    async listPeople({
      matching,
      kind = null,
      ...page
    }: {
      limit: number
      offset: number
      matching: string | null
      kind?: PersonKind | null
    }): Promise<SearchResult<ListedPerson>> {
      const people = selectMatching(reader, matching)
        .where(kind === null ? sql<boolean>`1 = 1` : ofKind(kind))
        .select(
          sql<number>`(select count(*) from item where item.deleted_at is null and (item.owner_seq = "user".seq
            or (item.author_seq = "user".seq and "user".contributor_key is not null)))`.as('items'),
        )
        .orderBy('user.username_key')
      const { rows, total } = await readPage(people, page)
      return { items: rows.map((row) => ({ ...toPerson(row), items: Number(row.items) })), total }
    },
    async countPeople(matching: string | null): Promise<Readonly<Record<PersonKind, number>>> {
      const countOf = (kind: PersonKind) => countRows(selectMatching(reader, matching).where(ofKind(kind)))
      return { login: await countOf('login'), reserved: await countOf('reserved'), placeholder: await countOf('placeholder') }
    },
    /** @throws AppError `not_found`, also for placeholders, `conflict` for the last administrator */
    setSuspended: (username: string, isSuspended: boolean): Promise<Person> =>
      context.transact(async (db, notes) => {
        const person = await findPersonByName(db, username)
        if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
        if ((person.suspendedAt !== null) === isSuspended) return person
        if (isSuspended && person.role === 'admin') await refuseWithoutAdmin(db, person.id)
        const suspendedAt = isSuspended ? context.now() : null
        await db.updateTable('user').set({ suspended_at: suspendedAt }).where('id', '=', person.id).execute()
        const action = isSuspended ? 'account_suspended' : 'account_unsuspended'
        notes.audit({ action, targetId: person.id, ownerId: person.id })
        if (suspendedAt !== null) await revokeInvitesOf(db, notes, person, suspendedAt)
        return { ...person, suspendedAt }
      }),
    /** Notes the day on which somebody was seen; writes at most once a day. */
    noteSeen: (userId: string, day: string): Promise<void> =>
      context.sideTransaction(async (db) => {
        await db
          .updateTable('user')
          .set({ seen_on: day })
          .where('id', '=', userId)
          .where((eb) => eb.or([eb('seen_on', 'is', null), eb('seen_on', '<', day)]))
          .execute()
      }),
    hasLogins: (): Promise<boolean> => hasLogins(reader),
    /**
     * Creates a login, and its user if the name is free, and uses up the invite. All or nothing. `decide` runs inside the transaction and
     * returns the role, or throws.
     * @throws AppError `conflict` while the previous user of the name is being removed
     */
    createLogin: (login: NewLogin, decide: (state: SignUpState) => Role): Promise<Person> =>
      context.transact(async (db, notes) => {
        const invite = login.inviteSha256
          ? await db.selectFrom('invite').select(INVITE).where('sha256', '=', login.inviteSha256).executeTakeFirst()
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
        const isFirst = !(await hasLogins(db))
        const role = decide({ isFirst, invite: invite ?? null, holder, isEmailTaken: emailHolder !== undefined })
        if (!holder) await requireFreeName(db, login.username, 'username')
        const id = holder?.id ?? context.random.id()
        if (holder) {
          // A person who can sign in is no placeholder: a later import creates another one.
          await db.updateTable('user').set({ role, contributor_key: null }).where('id', '=', id).execute()
        } else {
          await insertUser(db, { id, username: login.username, created_at: context.now(), role })
        }
        const name = holder?.username ?? login.username
        await insertLogin(db, { id, name, email: login.email, at: context.now() })
        const account = { id: context.random.id(), provider: PASSWORD_PROVIDER, subject: id, at: context.now() }
        await insertIdentity(db, id, { ...account, password: login.passwordHash })
        if (login.inviteSha256) await useInvite(db, login.inviteSha256, name)
        // From here on the new account is the actor.
        const own = { ownerId: id, actorId: id }
        notes.audit({ action: 'account_created', targetId: id, ...own, detail: { role } })
        if (invite) notes.audit({ action: 'invite_used', targetId: invite.id, ...own })
        return await requirePerson(db, id)
      }),
    /** @throws AppError `conflict` when the email address is another's */
    changeProfile: (userId: string, change: ProfileChange): Promise<Person> =>
      context.transact(async (db, notes) => {
        const before = await requirePerson(db, userId)
        await db
          .updateTable('user')
          .set({
            display_name: change.displayName,
            bio: change.bio,
            website: change.website,
            default_visibility: change.defaultVisibility,
            language: change.language,
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
          await db.updateTable('login').set({ email, email_verified: 0, updated_at: context.now() }).where('id', '=', userId).execute()
        }
        const after = await requirePerson(db, userId)
        const fields = PROFILE_FIELDS.filter((field) => before[field] !== after[field])
        if (fields.length > 0) notes.audit({ action: 'profile_changed', targetId: userId, ownerId: userId, detail: { fields } })
        return after
      }),
    /** @throws AppError `not_found`, `conflict` for the last administrator */
    setRole: (username: string, role: Role): Promise<Person> =>
      context.transact(async (db, notes) => {
        const person = await findPersonByName(db, username)
        if (!person || person.isPlaceholder) throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.`)
        if (role !== 'admin' && person.role === 'admin') await refuseWithoutAdmin(db, person.id)
        await db.updateTable('user').set({ role, role_given_by: null }).where('id', '=', person.id).execute()
        if (role !== person.role) notes.audit({ action: 'role_changed', targetId: person.id, ownerId: person.id, detail: { role } })
        if (role !== 'admin' && person.role === 'admin') await revokeInvitesOf(db, notes, person, context.now())
        return { ...person, role }
      }),
    /**
     * Gives the items of somebody who is suspended to another user or team, with their versions and addresses.
     * @returns how many items the person owned, the trash included
     * @throws AppError `not_found`, `conflict` for an account that is not suspended, `forbidden` as `deletePerson`
     */
    handOverItems: (userId: string, to: string, adminId: string): Promise<number> =>
      context.transact(
        async (db, notes) => {
          const person = await requirePerson(db, userId)
          if (person.suspendedAt === null)
            throw new AppError('conflict', `${person.username} is not suspended. Items can only be handed over from a suspended account.`)
          return (await handOverItems(db, notes, person, { to, adminId, at: context.now() })).count
        },
        { isLarge: true },
      ),
    /**
     * Purges a person with everything they own. One transaction ends their rights and hides their items; many more delete the rest, with
     * other writes in between. A store continues this when it is opened. Slugs of once public items, and the name of their owner, are never
     * reused.
     * @param by.isByAdmin whether teams may be left without a maintainer. Default: false
     * @param by.handOverTo name of a user or team that gets the items instead, with their versions and addresses; a person gives them to a
     * team they maintain, `adminId` to anybody but themselves and teams they are in
     * @throws AppError `not_found`, `conflict` for the last administrator while others can sign in, and for the last maintainer of a team, `forbidden` for a hand-over that is not allowed
     */
    async deletePerson(
      userId: string,
      {
        isByAdmin = false,
        handOverTo,
        adminId = null,
      }: { readonly isByAdmin?: boolean; readonly handOverTo?: string | undefined; readonly adminId?: string | null } = {},
    ): Promise<void> {
      const seq = await context.transact(
        async (db, notes) => {
          const person = await requirePerson(db, userId)
          if (person.role === 'admin' && (await countLogins(db)) > 1) await refuseWithoutAdmin(db, userId)
          const keepsName =
            handOverTo !== undefined && (await handOverItems(db, notes, person, { to: handOverTo, adminId, at: context.now() })).hadPublic
          await leaveTeams(db, notes, person, { isByAdmin, at: context.now() })
          await revokeInvitesOf(db, notes, person, context.now())
          const seq = await beginRemoval(db, notes, person, { id: context.random.id(), at: context.now(), keepsName })
          notes.audit({ action: 'account_deleted', targetId: userId, ownerId: userId })
          return seq
        },
        { isLarge: true },
      )
      await finishRemoval(context, seq)
    },
    ...inviteStore(reader, context),
    async countLibrary(): Promise<LibraryCounts> {
      const kinds = await reader
        .selectFrom('item')
        .select(['kind', (eb) => eb.fn.countAll<number>().as('n')])
        .where('deleted_at', 'is', null)
        .groupBy('kind')
        .execute()
      const of = (kind: string) => Number(kinds.find((row) => row.kind === kind)?.n ?? 0)
      const keys = await countRows(reader.selectFrom('api_key').where('revoked_at', 'is', null).where('kind', '=', 'key'))
      const [prompts, skills] = [of('prompt'), of('skill')]
      return {
        prompts,
        skills,
        inTrash: (await countRows(reader.selectFrom('item'))) - prompts - skills,
        versions: await countRows(reader.selectFrom('version')),
        people: await countRows(reader.selectFrom('user').where('is_team', '=', 0)),
        logins: await countLogins(reader),
        keys,
      }
    },
  }
}

/** The first steps that people have done, and whether they want to see them. */
function firstStepsStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** `hasKey`: one that is not revoked; `hasItem`: of any visibility, the trash included; `hasCompany`: somebody else is here, or invited. */
    async readFirstSteps(userId: string) {
      const user = await reader.selectFrom('user').select(['seq', 'hides_first_steps']).where('id', '=', userId).executeTakeFirst()
      const seq = user?.seq ?? 0
      const exists = async (query: { executeTakeFirst(): Promise<unknown> }) => (await query.executeTakeFirst()) !== undefined
      const keys = reader.selectFrom('api_key').select('seq').where('user_seq', '=', seq).where('kind', '=', 'key').limit(1)
      const items = reader.selectFrom('item').select('seq').where('owner_seq', '=', seq).where('kind', 'in', ['prompt', 'skill'])
      const invites = reader.selectFrom('invite').select('id').limit(1)
      return {
        hasKey: await exists(keys.where('revoked_at', 'is', null)),
        hasUsedKey: await exists(keys.where('last_used_at', 'is not', null)),
        hasItem: await exists(items.limit(1)),
        hasCompany: (await exists(invites)) || (await exists(reader.selectFrom('login').select('id').where('id', '!=', userId).limit(1))),
        isHidden: user?.hides_first_steps === 1,
      }
    },
    hideFirstSteps: (userId: string): Promise<void> =>
      context.transact(async (db) => {
        await db.updateTable('user').set({ hides_first_steps: 1 }).where('id', '=', userId).execute()
      }),
  }
}
