import { createHash } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { User } from '../../domain/items/items.ts'
import type { DefaultVisibility } from '../../domain/items/visibility.ts'
import { placeholderNames } from '../../domain/people/username.ts'
import { AppError } from '../../errors.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { isNameFree, requireFreeName } from './names.ts'

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
  const insertUser = async (
    db: Kysely<Database>,
    username: string,
    contributor: string | null,
    defaultVisibility: DefaultVisibility,
    team?: { readonly displayName: string | null; readonly description: string | null },
  ) =>
    toUser(
      await db
        .insertInto('user')
        .values({
          id: context.random.id(),
          username,
          username_key: username.toLowerCase(),
          contributor_key: contributor,
          default_visibility: defaultVisibility,
          created_at: context.now(),
          ...(team && { is_team: 1, display_name: team.displayName, bio: team.description }),
        })
        .returningAll()
        .executeTakeFirstOrThrow(),
    )
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
    createUser: (user: {
      username: string
      defaultVisibility: DefaultVisibility
      /** Makes a team without members. */
      team?: { readonly displayName: string | null; readonly description: string | null }
    }): Promise<User> =>
      context.transact(async (db, notes) => {
        await requireFreeName(db, user.username, 'username')
        const created = await insertUser(db, user.username, null, user.defaultVisibility, user.team)
        notes.audit({ action: user.team ? 'team_created' : 'user_created', targetId: created.id, ownerId: created.id })
        return created
      }),
    /** The placeholder for a contributor's name, made when there is none; it never attaches to an account. */
    ensurePlaceholder: (contributor: string): Promise<User> =>
      context.transact(async (db) => {
        const key = contributor.toLowerCase()
        const existing = await db.selectFrom('user').selectAll().where('contributor_key', '=', key).executeTakeFirst()
        if (existing) return toUser(existing)
        for (const name of placeholderNames(contributor, createHash('sha256').update(key).digest('hex').slice(0, 8))) {
          if (await isNameFree(db, name)) return await insertUser(db, name, key, 'private')
        }
        throw new AppError('conflict', `No free name was found for the contributor "${contributor}".`)
      }),
  }
}
