import type { Kysely } from 'kysely'
import type { ItemMarks } from '../../domain/items/item-access.ts'
import type { Item } from '../../domain/items/items.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { findRole } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'
import { type ItemRow, isInVisibleSet, selectItems, toItems } from './item-rows.ts'

/** The state of an item that the actor sees: its owner, and the actor's role and marks. */
export async function readMarks(db: Kysely<Database>, actor: Actor, row: ItemRow): Promise<ItemMarks> {
  const userId = actor.kind === 'user' ? actor.userId : ''
  const marked = (table: 'vote' | 'favourite') =>
    db
      .selectFrom(table)
      .innerJoin('user', 'user.seq', `${table}.user_seq`)
      .select(`${table}.item_seq`)
      .where(`${table}.item_seq`, '=', row.seq)
      .where('user.id', '=', userId)
      .executeTakeFirst()
  const [owner, role, vote, favourite] = await Promise.all([
    db.selectFrom('user').select(['username', 'is_team']).where('id', '=', row.owner_id).executeTakeFirstOrThrow(),
    findRole(db, userId, row.owner_id),
    marked('vote'),
    marked('favourite'),
  ])
  return {
    id: row.id,
    owner: owner.username,
    isTeam: owner.is_team === 1,
    role,
    hasVoted: vote !== undefined,
    isFavourite: favourite !== undefined,
    version: hasRight(role, 'see') ? (row.blocked_version ?? row.version) : row.version,
    servedVersion: row.version,
    isFeatured: row.featured_at !== null,
    isHeld: row.held_at !== null,
  }
}

/** The item that an item was copied from, as far as lists show it to the actor. */
export async function readSource(db: Kysely<Database>, actor: Actor, row: ItemRow): Promise<Item | null> {
  const source = await selectItems(db)
    .innerJoin('item_source', 'item_source.source_id', 'item.id')
    .where('item_source.item_seq', '=', row.seq)
    .where(isInVisibleSet(visibleSet(actor, 'list')))
    .executeTakeFirst()
  return source ? ((await toItems(db, [source]))[0] ?? null) : null
}
