import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { isCategoryNamed } from '../../domain/items/fields.ts'
import { atVersion, type WalkPosition } from '../../domain/items/item-access.ts'
import type { ItemKind, Prompt } from '../../domain/items/items.ts'
import { type ItemFilter, MAX_FACET_TAGS, type SearchRequest } from '../../domain/items/search.ts'
import { slugifyTag } from '../../domain/items/slug.ts'
import { type VisibleSet, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { AppError } from '../../errors.ts'
import type { FacetCounts, IndexFilter } from '../../search/index/select-items.ts'
import { findCollectionSeqs, readCollectedRows } from '../collections/collection-rows.ts'
import { selectNamed, seqOfUser } from '../people/user-rows.ts'
import { batches, isOneOf, prepareListQuery, prepareQuery } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { selectLabelled } from './item-labels.ts'
import { countRows, isInVisibleSet, promptType, readBody, readRowsAs, selectItems, seqOf } from './item-rows.ts'

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
export async function toIndexFilter(db: Kysely<Database>, { collections, ...filter }: RowFilter): Promise<IndexFilter> {
  if (!collections) return filter
  const { seqs, categories, owners, authors } = filter
  if ([seqs, categories, owners, authors].some((set) => set?.size === 0)) return { ...filter, seqs: NO_ROWS }
  const collected = new Set([...(await readCollectedRows(db, collections)).values()].flat())
  return { ...filter, seqs: seqs ? new Set([...seqs].filter((seq) => collected.has(seq))) : collected }
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

/** Words that are looked for in titles. */
const MAX_TITLE_WORDS = 8

function hasInTitle(escaped: string) {
  return sql<boolean>`lower(item.title || ' ' || coalesce(item.description, '')) like ${`%${escaped}%`} escape '\\'`
}

/**
 * Lists and counts read from the tables, as the index would give them. For the time until it is loaded: a list without a query waits for
 * nothing.
 */
export function createTableLists(db: Kysely<Database>) {
  const items = (actor: Actor, kind: ItemKind, filter: RowFilter) =>
    applyFilter(db.selectFrom('item'), kind, filter, visibleSet(actor, 'list'))
  const countItems = (actor: Actor, kind: ItemKind, filter: RowFilter): Promise<number> => countRows(items(actor, kind, filter))
  const countCategories = async (actor: Actor, kind: ItemKind, filter: RowFilter) => {
    const rows = await items(actor, kind, filter)
      .select(['item.category_seq', (eb) => eb.fn.countAll<number>().as('count')])
      .where('item.category_seq', 'is not', null)
      .groupBy('item.category_seq')
      .execute()
    return new Map(rows.map(({ category_seq, count }) => [category_seq ?? 0, Number(count)]))
  }
  const countTags = async (actor: Actor, kind: ItemKind, filter: RowFilter): Promise<FacetCounts['tags']> => {
    const tagged = items(actor, kind, filter).innerJoin('item_tag', 'item_tag.item_seq', 'item.seq')
    const counts = await tagged
      .select(['item_tag.slug', (eb) => eb.fn.countAll<number>().as('count')])
      .groupBy('item_tag.slug')
      .orderBy('count', 'desc')
      .orderBy('item_tag.slug')
      .limit(MAX_FACET_TAGS)
      .execute()
    if (counts.length === 0) return []
    const slugs = counts.map(({ slug }) => slug)
    const spellings = await tagged.select(['item_tag.slug', 'item_tag.name']).distinct().where('item_tag.slug', 'in', slugs).execute()
    const names = new Map<string, string>()
    // The first in code unit order, which is not every database's.
    for (const { slug, name } of spellings) {
      const known = names.get(slug)
      if (known === undefined || name < known) names.set(slug, name)
    }
    return counts.map(({ slug, count }) => ({ slug, name: names.get(slug) ?? slug, count: Number(count) }))
  }
  return {
    countItems,
    async findRows(
      actor: Actor,
      kind: ItemKind,
      filter: RowFilter,
      { sort, limit, offset }: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
    ): Promise<{ seqs: number[]; total: number }> {
      const direction = sort === 'oldest' ? 'asc' : 'desc'
      const rows = await items(actor, kind, filter)
        .select('item.seq')
        .orderBy(sort === 'votes' ? 'item.votes' : 'item.created_at', direction)
        .orderBy('item.seq', direction)
        .limit(limit)
        .offset(offset)
        .execute()
      return { seqs: rows.map(({ seq }) => seq), total: await countItems(actor, kind, filter) }
    },
    /** Items whose title or description has each of some words, newest first: for words that do not fit into the index. */
    async findByTitle(
      actor: Actor,
      kind: ItemKind,
      filter: RowFilter,
      words: readonly string[],
      { limit, offset }: Pick<SearchRequest, 'limit' | 'offset'>,
    ): Promise<{ seqs: number[]; total: number }> {
      const matching = words
        .slice(0, MAX_TITLE_WORDS)
        .reduce((found, word) => found.where(hasInTitle(word.replace(/[\\%_]/g, '\\$&'))), items(actor, kind, filter))
      const total = await countRows(matching)
      const rows = await matching.select('item.seq').orderBy('item.seq', 'desc').limit(limit).offset(offset).execute()
      return { seqs: rows.map(({ seq }) => seq), total }
    },
    /** By the category's row number. */
    countByCategory: (actor: Actor, kind: ItemKind): Promise<ReadonlyMap<number, number>> => countCategories(actor, kind, {}),
    /** As `countFacets` of the index counts a list without a query, with the most used tags alone. */
    async countFacets(actor: Actor, kind: ItemKind, filter: RowFilter): Promise<FacetCounts> {
      const types = await items(actor, kind, { ...filter, types: undefined })
        .select(['item.type', (eb) => eb.fn.countAll<number>().as('count')])
        .where('item.type', 'is not', null)
        .groupBy('item.type')
        .execute()
      const categories = await countCategories(actor, kind, { ...filter, categories: undefined })
      return {
        types: new Map(types.map(({ type, count }) => [type ?? '', Number(count)])),
        categories,
        tags: await countTags(actor, kind, { ...filter, allTags: undefined }),
        exact: null,
      }
    },
  }
}

/** A page of prompts at a label, each as its version has it. */
interface LabelledPrompts {
  readonly items: readonly { readonly item: Prompt; readonly version: number }[]
  readonly total: number
}

/** The texts of one answer. */
const MAX_LABELLED_BYTES = 16 * 2 ** 20

const itemsOf = prepareListQuery((db, seqs) => selectItems(db).where('item.seq', 'in', seqs))
const textsOf = prepareListQuery((db, seqs) =>
  db
    .selectFrom('version')
    .select(['item_seq', 'title', 'description', 'type', 'content', 'messages', 'config', 'syntax'])
    .where('seq', 'in', seqs),
)

/** Prompts at a label with everything that their version holds, oldest first; those without it are left out. */
export function listAtLabel(db: Kysely<Database>) {
  return async (
    actor: Actor,
    { label, ...filter }: ItemFilter & { readonly label: string },
    limit: number,
    offset: number,
  ): Promise<LabelledPrompts> => {
    const labelled = selectLabelled(db, actor, label).select([
      'version.seq as text',
      sql<number>`octet_length(version.content)`.as('bytes'),
    ])
    const found = await applyFilter(labelled, 'prompt', await readFilter(db, actor, filter), visibleSet(actor, 'list'))
      .orderBy('item.seq')
      .execute()
    const page = found.slice(offset, offset + limit)
    if (page.reduce((sum, { bytes }) => sum + Number(bytes), 0) > MAX_LABELLED_BYTES) {
      throw new AppError(
        'too_large',
        `These prompts have more than ${MAX_LABELLED_BYTES / 2 ** 20} MiB. Ask for those of a category, tag or author.`,
      )
    }
    const items: LabelledPrompts['items'][number][] = []
    for (const part of batches(page)) {
      const rows = await itemsOf(db, part.map(seqOf))
      const newest = new Map((await readRowsAs(db, rows, 'prompt')).map(({ row, item }) => [row.seq, item]))
      const older = part.filter(({ seq, version }) => newest.get(seq)?.version !== version).map(({ text }) => text)
      const texts = new Map((older.length === 0 ? [] : await textsOf(db, older)).map((row) => [row.item_seq, row]))
      for (const { seq, version } of part) {
        const [item, text] = [newest.get(seq), texts.get(seq)]
        if (!item || (item.version !== version && !text)) continue
        const at = text && { ...text, type: promptType.nullable().parse(text.type), body: readBody(text), files: null }
        items.push({ item: at ? atVersion<'prompt'>(item, at) : item, version })
      }
    }
    return { items, total: found.length }
  }
}
