import { type Kysely, sql } from 'kysely'
import { type Collection, type CollectionQuery, foldTitle, type NamedCollection } from '../../domain/items/collections.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, privateReaderId } from '../../domain/people/actor.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import { isId } from '../../domain/text/identifier.ts'
import { isInVisibleSet, listItems, seqOf } from '../items/item-rows.ts'
import { seqOfUser } from '../people/names.ts'
import { ownersSeenBy, ownersWith, selectNamed } from '../people/team-roles.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type CollectionRow, findCollectionRow, findCollectionRows, isCollectionVisible, selectCollections } from './collection-rows.ts'
import type { CountCollected } from './count-collected.ts'

/** Words of a query that are looked at. */
const MAX_WORDS = 10

/** The members of a collection that the actor finds in lists. */
export function selectCollected(db: Kysely<Database>, actor: Actor, collectionSeq: number) {
  return db
    .selectFrom('item')
    .innerJoin('collection_item', 'collection_item.item_seq', 'item.seq')
    .where('collection_item.collection_seq', '=', collectionSeq)
    .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
}

/** Rows as the actor sees them: with what the actor may do, and with counts of what the actor finds. */
export async function toCollections(
  db: Kysely<Database>,
  actor: Actor,
  rows: readonly CollectionRow[],
  count: CountCollected,
): Promise<Collection[]> {
  if (rows.length === 0) return []
  const counts = await count(actor, rows.map(seqOf))
  const roles = await readRoles(db, actor)
  return rows.map((row) => ({
    id: row.id,
    slug: row.slug,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    owner: row.owner_name,
    isOfTeam: row.is_team === 1,
    role: roles.get(row.owner_seq) ?? null,
    counts: counts.get(row.seq) ?? { prompt: 0, skill: 0 },
    createdAt: row.created_at,
    version: row.version,
    updatedAt: row.updated_at,
  }))
}

/** The roles of the actor, by the row number of the owner. */
async function readRoles(db: Kysely<Database>, actor: Actor): Promise<ReadonlyMap<number, TeamRole>> {
  const userId = privateReaderId(actor)
  if (userId === null) return new Map()
  const user = await seqOfUser(db, userId)
  const teams = await db.selectFrom('team_member').select(['team_seq', 'role']).where('user_seq', '=', user).execute()
  return new Map<number, TeamRole>([...teams.map(({ team_seq, role }) => [team_seq, role] as const), [user, 'maintainer']])
}

/** Reads of collections over one connection. `count` may ask the search index. */
export function readCollections(db: Kysely<Database>, count: CountCollected) {
  return {
    /** Those of the reader and their teams first, then the newest. */
    async listCollections(actor: Actor, { q, owner, item, isEditable, limit, offset }: CollectionQuery): Promise<SearchResult<Collection>> {
      const readerId = privateReaderId(actor)
      let all = selectCollections(db).where((eb) => isCollectionVisible(actor, 'list')(eb))
      for (const word of foldTitle(q).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)) {
        const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`
        all = all.where(sql<boolean>`collection.title_key like ${pattern} escape '\\'`)
      }
      if (owner !== undefined) all = all.where('collection.owner_seq', 'in', selectNamed(db, [owner]))
      if (isEditable) all = all.where('collection.owner_seq', 'in', ownersWith('edit', readerId))
      if (item !== undefined) {
        const named = isId(item)
          ? db.selectFrom('item').where('item.id', '=', item)
          : db.selectFrom('item').innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', item)
        const holding = named
          .innerJoin('collection_item', 'collection_item.item_seq', 'item.seq')
          .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
          .select('collection_item.collection_seq')
        all = all.where('collection.seq', 'in', holding)
      }
      const rows = await all
        .orderBy((eb) => eb.case().when('collection.owner_seq', 'in', ownersSeenBy(readerId)).then(0).else(1).end())
        .orderBy('collection.created_at', 'desc')
        .orderBy('collection.seq', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      const { total } = await all
        .clearSelect()
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { items: await toCollections(db, actor, rows, count), total: Number(total) }
    },
    /**
     * Those that an item is in, those of the reader and their teams first, then by title. `among` null: every one that lists show, for an item
     * that lists show; ids: these of the reader's own alone, for every item that the reader may see.
     */
    async listHolding(
      actor: Actor,
      itemId: string,
      { among, limit }: { readonly among: readonly string[] | null; readonly limit: number },
    ): Promise<readonly NamedCollection[]> {
      const readerId = privateReaderId(actor)
      const holding = db
        .selectFrom('collection')
        .innerJoin('collection_item', 'collection_item.collection_seq', 'collection.seq')
        .innerJoin('item', 'item.seq', 'collection_item.item_seq')
        .where('item.id', '=', itemId)
      const found =
        among === null
          ? holding.where((eb) => isCollectionVisible(actor, 'list')(eb)).where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
          : holding
              .where(isOneOf('collection.id', among))
              .where('collection.owner_seq', 'in', ownersSeenBy(readerId))
              .where((eb) => isInVisibleSet(visibleSet(actor, 'id'))(eb))
      return await found
        .select(['collection.id', 'collection.slug', 'collection.title', 'collection.visibility'])
        .orderBy((eb) => eb.case().when('collection.owner_seq', 'in', ownersSeenBy(readerId)).then(0).else(1).end())
        .orderBy('collection.title_key')
        .orderBy('collection.seq')
        .limit(limit)
        .execute()
    },
    /** Those of the reader and their teams, by title. */
    async listOwnNames(actor: Actor, limit: number): Promise<readonly NamedCollection[]> {
      return await db
        .selectFrom('collection')
        .select(['collection.id', 'collection.slug', 'collection.title', 'collection.visibility'])
        .where('collection.owner_seq', 'in', ownersSeenBy(privateReaderId(actor)))
        .where(isCollectionVisible(actor, 'list'))
        .orderBy('collection.title_key')
        .orderBy('collection.seq')
        .limit(limit)
        .execute()
    },
    async findCollection(actor: Actor, ref: string): Promise<Collection | null> {
      const row = await findCollectionRow(db, actor, ref)
      return row ? ((await toCollections(db, actor, [row], count))[0] ?? null) : null
    },
    /** Those of these ids and slugs that the reader may see, by these. */
    nameCollections: (actor: Actor, refs: readonly string[]): Promise<ReadonlyMap<string, NamedCollection>> =>
      findCollectionRows(db, actor, refs),
    /** The members of a collection, in its order; null for one that the reader may not see. `kind` null: both. */
    async listCollected(
      actor: Actor,
      ref: string,
      { kind, ...page }: { readonly kind: ItemKind | null; readonly limit: number; readonly offset: number },
    ): Promise<SearchResult<Item> | null> {
      const row = await findCollectionRow(db, actor, ref)
      if (!row) return null
      const all = selectCollected(db, actor, row.seq)
      const collected = kind === null ? all : all.where('item.kind', '=', kind)
      return await listItems(db, collected.select('item.seq').orderBy('collection_item.position').orderBy('item.seq'), page)
    },
  }
}
