import { createHash } from 'node:crypto'
import { type Kysely, type Selectable, sql } from 'kysely'
import type { User } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import type { DefaultVisibility } from '../../domain/items/visibility.ts'
import { placeholderNames, type Role } from '../../domain/people/account.ts'
import type { Invite, Person } from '../../domain/people/people.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { readPage } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { insertUser, isNameFree, requireFreeName } from './user-rows.ts'

/** A user's row as the domain has it. */
export function toUser(row: Selectable<Database['user']>): User {
  return {
    id: row.id,
    username: row.username,
    isPlaceholder: row.contributor_key !== null,
    isTeam: row.is_team === 1,
    defaultVisibility: row.default_visibility,
    createdAt: row.created_at,
  }
}

/** Users, and the placeholders of imported contributors. */
export function userStore(reader: Kysely<Database>, context: WriteContext) {
  const newUser = (username: string) => ({ id: context.random.id(), username, created_at: context.now() })
  return {
    /** A person, a placeholder or a team. */
    async findUser(username: string): Promise<User | null> {
      const row = await reader
        .selectFrom('user')
        .selectAll()
        .where('username_key', '=', username.toLowerCase())
        .where('removal', 'is', null)
        .executeTakeFirst()
      return row ? toUser(row) : null
    },
    /** @throws AppError `conflict` when a person, a placeholder or a team has the name, or a team had it, in any case */
    createUser: ({
      username,
      defaultVisibility,
      team,
    }: {
      username: string
      defaultVisibility: DefaultVisibility
      /** Makes a team without members. */
      team?: { readonly displayName: string | null; readonly description: string | null }
    }): Promise<User> =>
      context.transact(async (db, notes) => {
        await requireFreeName(db, username, 'username')
        const ofTeam = team && { is_team: 1, display_name: team.displayName, bio: team.description }
        const created = toUser(await insertUser(db, { ...newUser(username), default_visibility: defaultVisibility, ...ofTeam }))
        notes.audit({ action: team ? 'team_created' : 'user_created', targetId: created.id, ownerId: created.id })
        return created
      }),
    /** The placeholder for a contributor's name, made when there is none; it never attaches to an account. */
    ensurePlaceholder: (contributor: string): Promise<User> =>
      context.transact(async (db) => {
        const key = contributor.toLowerCase()
        const existing = await db.selectFrom('user').selectAll().where('contributor_key', '=', key).executeTakeFirst()
        if (existing) return toUser(existing)
        for (const name of placeholderNames(contributor, createHash('sha256').update(key).digest('hex').slice(0, 8))) {
          if (await isNameFree(db, name)) return toUser(await insertUser(db, { ...newUser(name), contributor_key: key }))
        }
        throw new AppError('conflict', `No free name was found for the contributor "${contributor}".`)
      }),
  }
}

/** The columns of an invite as its readers see it. */
export const INVITE = [
  'id',
  'username',
  'role',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'used_at as usedAt',
  'used_by as usedBy',
  'revoked_at as revokedAt',
] as const

/** Revokes the open invites somebody made. Where no event names the maker of one for an administrator, it may be theirs. */
export async function revokeInvitesOf(db: Kysely<Database>, notes: WriteNotes, person: Person, at: string): Promise<void> {
  const made = await db
    .selectFrom('invite')
    .leftJoin('audit_event', (join) =>
      join.onRef('audit_event.target_id', '=', 'invite.id').on('audit_event.action', '=', 'invite_created'),
    )
    .select('invite.id')
    .where('invite.used_at', 'is', null)
    .where('invite.revoked_at', 'is', null)
    .where('invite.expires_at', '>', at)
    .where((eb) =>
      eb.or([
        eb('audit_event.actor_id', '=', person.id),
        eb.and([eb('audit_event.seq', 'is', null), eb('invite.role', '=', 'admin'), sql<boolean>`${sql.lit(person.role)} = 'admin'`]),
      ]),
    )
    .execute()
  for (const { id } of made) {
    await db.updateTable('invite').set({ revoked_at: at }).where('id', '=', id).execute()
    notes.audit({ action: 'invite_revoked', targetId: id, ownerId: null })
  }
}

/** Invites to create an account. */
export function inviteStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    createInvite: (invite: { sha256: string; username: string | null; role: Role; expiresAt: string }): Promise<Invite> =>
      context.transact(async (db, notes) => {
        const { sha256, username, role, expiresAt } = invite
        const made = await db
          .insertInto('invite')
          .values({ id: context.random.id(), sha256, username, role, created_at: context.now(), expires_at: expiresAt })
          .returning(INVITE)
          .executeTakeFirstOrThrow()
        notes.audit({ action: 'invite_created', targetId: made.id, ownerId: null, detail: { role: made.role } })
        return made
      }),
    async findInvite(sha256: string): Promise<Invite | null> {
      return (await reader.selectFrom('invite').select(INVITE).where('sha256', '=', sha256).executeTakeFirst()) ?? null
    },
    /** Newest first. */
    async listInvites(page: { limit: number; offset: number }): Promise<SearchResult<Invite>> {
      const invites = reader.selectFrom('invite').select(INVITE).orderBy('created_at', 'desc').orderBy('id')
      const { rows, total } = await readPage(invites, page)
      return { items: rows, total }
    },
    revokeInvite: (id: string): Promise<Invite | null> =>
      context.transact(async (db, notes) => {
        const revoked = await db
          .updateTable('invite')
          .set({ revoked_at: context.now() })
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .returning('id')
          .executeTakeFirst()
        if (revoked) notes.audit({ action: 'invite_revoked', targetId: id, ownerId: null })
        return (await db.selectFrom('invite').select(INVITE).where('id', '=', id).executeTakeFirst()) ?? null
      }),
  }
}

/** Administrators who can sign in. */
export function selectAdmins(db: Kysely<Database>) {
  return db
    .selectFrom('user')
    .innerJoin('login', 'login.id', 'user.id')
    .where('user.role', '=', 'admin')
    .where('user.suspended_at', 'is', null)
}

/** @throws AppError `conflict` when nobody could administer the service any more */
export async function refuseWithoutAdmin(db: Kysely<Database>, userId: string): Promise<void> {
  const admins = await selectAdmins(db).select('user.id').limit(2).execute()
  if (admins.every((admin) => admin.id === userId)) {
    throw new AppError('conflict', 'This is the only administrator. Make somebody else an administrator first.')
  }
}
