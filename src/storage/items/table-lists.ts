import { type Kysely, sql } from 'kysely'
import type { ItemKind } from '../../domain/items/items.ts'
import type { SearchRequest } from '../../domain/items/search.ts'
import { MAX_FACET_TAGS } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { FacetCounts } from '../../search/index/select-items.ts'
import type { Database } from '../schema.ts'
import { applyFilter, type RowFilter } from './item-filters.ts'
import { countRows } from './item-rows.ts'

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
