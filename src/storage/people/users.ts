import { createHash } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { User } from '../../domain/items/items.ts'
import type { DefaultVisibility } from '../../domain/items/visibility.ts'
import { placeholderNames } from '../../domain/people/username.ts'
import { AppError } from '../../errors.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { insertUser, isNameFree, requireFreeName } from './names.ts'

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
