import type { ExpressionBuilder, Kysely, SelectQueryBuilder } from 'kysely'
import { isCategoryNamed } from '../../domain/items/category-name.ts'
import type { WalkPosition } from '../../domain/items/item-access.ts'
import type { ItemKind } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { slugifyTag } from '../../domain/items/slug.ts'
import type { VisibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { IndexFilter } from '../../search/index/select-items.ts'
import { type ReadCollected, uniteRows } from '../collections/collected-rows.ts'
import { findCollectionSeqs } from '../collections/collection-rows.ts'
import { seqOfUser } from '../people/names.ts'
import { selectNamed } from '../people/team-roles.ts'
import { isOneOf, prepareQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { selectLabelled } from './item-labels.ts'
import { isInVisibleSet } from './item-rows.ts'

/** A filter by row numbers and tag slugs, as statements take it. {@link toIndexFilter} makes one for the search index. */
export interface RowFilter extends IndexFilter {
  readonly seqs?: ReadonlySet<number> | undefined
  /** Row numbers of collections: items of any of them. */
  readonly collections?: readonly number[] | undefined
}

/** A filter as the actor may use it: a collection that the actor may not see matches nothing. */
export async function readFilter(db: Kysely<Database>, actor: Actor, filter: ItemFilter): Promise<RowFilter> {
  const { ids, collections: refs, type, categories, ownerId, notOwnerId, authors, anyTags, allTags } = filter
  const ofIds = ids && toSet(await db.selectFrom('item').select('seq').where(isOneOf('item.id', ids)).execute())
  const labelled = filter.label === undefined ? undefined : toSet(await selectLabelled(db, actor, filter.label).execute())
  const named = ofIds && labelled ? new Set([...ofIds].filter((seq) => labelled.has(seq))) : (ofIds ?? labelled)
  return {
    ...(type !== undefined && { types: [type] }),
    ...(refs && { collections: await findCollectionSeqs(db, actor, refs) }),
    ...(named && { seqs: named }),
    ...(categories && { categories: await findCategories(db, categories) }),
    ...(ownerId !== undefined && { owners: new Set([await seqOfUser(db, ownerId)]) }),
    ...(notOwnerId !== undefined && { withoutOwners: new Set([await seqOfUser(db, notOwnerId)]) }),
    ...(authors && { authors: toSet(await selectNamed(db, authors).execute()) }),
    ...(anyTags && { anyTags: anyTags.map(slugifyTag) }),
    ...(allTags && { allTags: allTags.map(slugifyTag) }),
  }
}

/** The same filter for the search index, which has no collections: it gets what is in them, unless nothing can match. */
export async function toIndexFilter({ collections, ...filter }: RowFilter, readCollected: ReadCollected): Promise<IndexFilter> {
  if (!collections) return filter
  const { seqs, categories, owners, authors } = filter
  if ([seqs, categories, owners, authors].some((set) => set?.size === 0)) return { ...filter, seqs: NO_ROWS }
  const collected = uniteRows((await readCollected(collections)).values())
  return { ...filter, seqs: seqs ? new Set([...seqs].filter(collected.has)) : collected }
}

const NO_ROWS: ReadonlySet<number> = new Set()

/** All categories, by slug; administrators create few. */
export const readCategories = prepareQuery((db) => db.selectFrom('category').select(['seq', 'slug', 'name', 'parent_seq']).orderBy('slug'))

/** The categories of these slugs or names, and their children. */
export async function findCategories(db: Kysely<Database>, names: readonly string[]): Promise<Set<number>> {
  const all = await readCategories(db, {})
  const named = toSet(names.flatMap((name) => all.filter((category) => isCategoryNamed(category, name))))
  return toSet(all.filter(({ seq, parent_seq: parent }) => named.has(seq) || (parent !== null && named.has(parent))))
}

/** Adds a filter to a query over items. */
export function applyFilter<O>(
  query: SelectQueryBuilder<Database, 'item', O>,
  kind: ItemKind,
  { types, seqs, collections, categories, owners, withoutOwners, authors, anyTags, allTags }: RowFilter,
  set: VisibleSet,
): SelectQueryBuilder<Database, 'item', O> {
  let narrowed = query.where('item.kind', '=', kind).where(isInVisibleSet(set))
  if (types) narrowed = narrowed.where(isOneOf('item.type', types))
  if (collections)
    narrowed = narrowed.where('item.seq', 'in', (eb) =>
      eb.selectFrom('collection_item').select('item_seq').where(isOneOf('collection_item.collection_seq', collections)),
    )
  if (seqs) narrowed = narrowed.where(isOneOf('item.seq', [...seqs]))
  if (categories) narrowed = narrowed.where(isOneOf('item.category_seq', [...categories]))
  if (owners) narrowed = narrowed.where(isOneOf('item.owner_seq', [...owners]))
  if (withoutOwners) narrowed = narrowed.where((eb) => eb.not(isOneOf('item.owner_seq', [...withoutOwners])))
  if (authors) narrowed = narrowed.where((eb) => eb.or([isOneOf('item.author_seq', [...authors]), isOneOf('item.owner_seq', [...authors])]))
  if (anyTags)
    narrowed = narrowed.where('item.seq', 'in', (eb) =>
      eb.selectFrom('item_tag').select('item_seq').where(isOneOf('item_tag.slug', anyTags)),
    )
  for (const tag of new Set(allTags)) {
    narrowed = narrowed.where('item.seq', 'in', (eb) => eb.selectFrom('item_tag').select('item_seq').where('slug', '=', tag))
  }
  return narrowed
}

/** Items after a position in a walk by the time they were made. */
export function isBeyond({ createdAt, order }: WalkPosition, direction: 'newest' | 'oldest') {
  const than = direction === 'newest' ? '<' : '>'
  return (eb: ExpressionBuilder<Database, 'item'>) =>
    eb.or([eb('item.created_at', than, createdAt), eb.and([eb('item.created_at', '=', createdAt), eb('item.seq', than, order)])])
}

function toSet(rows: readonly { seq: number }[]): Set<number> {
  return new Set(rows.map((row) => row.seq))
}
