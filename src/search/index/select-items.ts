import { MAX_TAGS } from '../../domain/items/fields.ts'
import type { HitScore, QueryWords } from '../../domain/items/search.ts'
import type { EncodedQuery } from '../../domain/ports/encoder.ts'
import { HIDDEN, type ItemTable, type RowNumbers, type Viewer } from './item-table.ts'
import type { IndexView } from './kind-index.ts'

/** Narrows a search. Values of one field are alternatives; of `allTags` an item must have every one. */
export interface IndexFilter {
  readonly types?: readonly string[] | undefined
  readonly categories?: ReadonlySet<number> | undefined
  readonly anyTags?: readonly string[] | undefined
  readonly allTags?: readonly string[] | undefined
  readonly owners?: ReadonlySet<number> | undefined
  /** The owner whose items are left out. */
  readonly withoutOwners?: ReadonlySet<number> | undefined
  /** Authors or owners. */
  readonly authors?: ReadonlySet<number> | undefined
  readonly seqs?: RowNumbers | undefined
}

export interface IndexRequest {
  /** null: everything, by `sort`. */
  readonly query: QueryWords | null
  readonly sort: 'relevance' | 'newest' | 'oldest' | 'votes'
  readonly limit: number
  readonly offset: number
  readonly filter: IndexFilter
  /** Key of the query's text; see `titleKey` in `analysis/query.ts`. 0 or absent: no title is looked for. */
  readonly titleKey?: number | undefined
  /** The query as the encoder reads it; null without an encoder. */
  readonly sentence?: EncodedQuery | null | undefined
  readonly viewer: Viewer
  /** Whether the answer has facets. Default: false */
  readonly wantsFacets?: boolean | undefined
}

export interface IndexAnswer {
  /** Row numbers of one page, best first. */
  readonly seqs: readonly number[]
  /** How well each of `seqs` fits; none unless they are sorted by relevance to a query. */
  readonly scores: readonly HitScore[]
  /** Exact number of matches over all pages. */
  readonly total: number
  /** Corrections to show, by query word. */
  readonly corrections: ReadonlyMap<string, string>
  /** Present when they were asked for. */
  readonly facets?: FacetCounts | undefined
}

/** How many matches have each value of a field, with the field's own filter left out. */
export interface FacetCounts {
  readonly types: ReadonlyMap<string, number>
  /** By the category's row number. */
  readonly categories: ReadonlyMap<number, number>
  /** Most used first. */
  readonly tags: readonly TagCount[]
  /** See `Facets`. */
  readonly exact: number | null
}

/** A test for slots: whether the viewer may find the item and it passes the filter. */
export function makeFilter({ table, openStates }: IndexView, filter: IndexFilter, viewer: Viewer): (slot: number) => boolean {
  const { seenOwners, within } = viewer
  const { types, categories, anyTags, allTags, owners, withoutOwners, authors, seqs } = filter
  const tests: ((slot: number) => boolean)[] = []
  if (types) {
    const numbers = new Set(types.map((type) => table.types.indexOf(type) + 1 || null))
    tests.push((slot) => numbers.has(table.type[slot] ?? 0))
  }
  if (categories) tests.push((slot) => categories.has(table.categorySeq[slot] ?? 0))
  if (owners) tests.push((slot) => owners.has(table.ownerSeq[slot] ?? 0))
  if (withoutOwners) tests.push((slot) => !withoutOwners.has(table.ownerSeq[slot] ?? 0))
  if (authors) tests.push((slot) => authors.has(table.authorSeq[slot] ?? 0) || authors.has(table.ownerSeq[slot] ?? 0))
  if (seqs) tests.push((slot) => seqs.has(table.seq[slot] ?? 0))
  if (within && 'owner' in within) tests.push((slot) => table.ownerSeq[slot] === within.owner)
  else if (within) {
    tests.push((slot) => {
      const seq = table.seq[slot] ?? 0
      return within.items.has(seq) || (within.openItems?.has(seq) === true && openStates[table.state[slot] ?? 0] === 1)
    })
  }
  if (anyTags) tests.push(holdsTag(table, anyTags))
  for (const slug of allTags ?? []) tests.push(holdsTag(table, [slug]))
  const { state, ownerSeq } = table
  const isVisible = (slot: number) => {
    const found = state[slot] ?? 0
    return openStates[found] === 1 || (found === HIDDEN && seenOwners.has(ownerSeq[slot] ?? 0))
  }
  return tests.length === 0 ? isVisible : (slot) => isVisible(slot) && tests.every((test) => test(slot))
}

/** A test for slots: whether the item has one of some tags. */
function holdsTag(table: ItemTable, slugs: readonly string[]): (slot: number) => boolean {
  const wanted = new Set(slugs.flatMap(table.tagNumbers.withSlug))
  const { tags } = table
  return (slot) => {
    for (let at = slot * MAX_TAGS; at < (slot + 1) * MAX_TAGS; at++) if (wanted.has(tags[at] ?? 0)) return true
    return false
  }
}

/** Answers a request without a query: a page of all items that pass. */
export function listItems(index: IndexView, isCandidate: (slot: number) => boolean, request: IndexRequest): IndexAnswer {
  const byAge = index.byAge()
  if (request.sort === 'votes') {
    const slots = byAge.filter(isCandidate)
    return { seqs: cutPage(index, sortSlots(index, slots, 'votes'), request), scores: [], total: slots.length, corrections: new Map() }
  }
  // In one walk that keeps the page alone: lists of a million slots would take longer than the walk.
  const { offset, limit } = request
  const [first, step] = request.sort === 'oldest' ? [0, 1] : [byAge.length - 1, -1]
  const page: number[] = []
  let total = 0
  for (let at = first; at >= 0 && at < byAge.length; at += step) {
    const slot = byAge[at] ?? 0
    if (!isCandidate(slot)) continue
    if (total >= offset && page.length < limit) page.push(index.table.seq[slot] ?? 0)
    total++
  }
  return { seqs: page, scores: [], total, corrections: new Map() }
}

/** Sorts slots. @param byAge oldest first */
export function sortSlots({ table }: IndexView, byAge: readonly number[], sort: 'newest' | 'oldest' | 'votes'): readonly number[] {
  if (sort === 'oldest') return byAge
  if (sort === 'newest') return byAge.toReversed()
  return byAge.toSorted((a, b) => (table.votes[b] ?? 0) - (table.votes[a] ?? 0) || (table.seq[b] ?? 0) - (table.seq[a] ?? 0))
}

/** The row numbers of one page. */
export function cutPage({ table }: IndexView, slots: readonly number[], { offset, limit }: IndexRequest): number[] {
  return slots.slice(offset, offset + limit).map((slot) => table.seq[slot] ?? 0)
}

/** How many items the viewer finds in each category, by its row number. */
export function countByCategory(index: IndexView, viewer: Viewer): ReadonlyMap<number, number> {
  const { table } = index
  const isVisible = makeFilter(index, {}, viewer)
  const counts = new Map<number, number>()
  for (const slot of index.byAge()) {
    const category = table.categorySeq[slot] ?? 0
    if (category !== 0 && isVisible(slot)) addOne(counts, category)
  }
  return counts
}

/** How many of the items of some row numbers the viewer finds. */
export function countAmong(index: IndexView, viewer: Viewer, seqs: Iterable<number>): number {
  const isVisible = makeFilter(index, {}, viewer)
  let count = 0
  for (const seq of seqs) {
    const slot = index.slotOf(seq)
    if (slot !== undefined && isVisible(slot)) count++
  }
  return count
}

/**
 * Counts matches by field. `find` gives the slots of the matches among candidates; it runs once for each of the three fields that are
 * filtered, and once for the whole filter unless `matches` are given.
 */
export function countFacets(
  index: IndexView,
  { filter, viewer }: Pick<IndexRequest, 'filter' | 'viewer'>,
  find: (isCandidate: (slot: number) => boolean) => readonly number[],
  matches: readonly number[] | null = null,
  exact: number | null = null,
): FacetCounts {
  const { table } = index
  let whole = matches
  const without = (name: 'types' | 'categories' | 'allTags'): readonly number[] => {
    if (filter[name] !== undefined) return find(makeFilter(index, { ...filter, [name]: undefined }, viewer))
    whole ??= find(makeFilter(index, filter, viewer))
    return whole
  }
  const types = new Map<string, number>()
  for (const slot of without('types')) addOne(types, table.typeOf(slot) ?? '')
  const categories = new Map<number, number>()
  for (const slot of without('categories')) addOne(categories, table.categorySeq[slot] ?? 0)
  types.delete('')
  categories.delete(0)
  return { types, categories, tags: tallyTags([{ table, slots: without('allTags') }]), exact }
}

function addOne<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** A tag with the number of items that have it. */
interface TagCount {
  readonly slug: string
  readonly name: string
  readonly count: number
}

/** The tags of items the viewer finds, most used first. */
export function countByTag(indexes: readonly IndexView[], viewer: Viewer): TagCount[] {
  return tallyTags(indexes.map((index) => ({ table: index.table, slots: index.byAge().filter(makeFilter(index, {}, viewer)) })))
}

/** Counts the tags of some items, most used first. Of several spellings of a tag, the name is the first in code unit order. */
function tallyTags(parts: readonly { readonly table: ItemTable; readonly slots: readonly number[] }[]): TagCount[] {
  const tags = new Map<string, { slug: string; name: string; count: number }>()
  for (const { table, slots } of parts) {
    const counts = new Uint32Array(table.tagNumbers.last + 1)
    for (const slot of slots) {
      for (let at = slot * MAX_TAGS; at < (slot + 1) * MAX_TAGS; at++) {
        const number = table.tags[at] ?? 0
        if (number === 0) break
        counts[number] = (counts[number] ?? 0) + 1
      }
    }
    for (let number = 1; number < counts.length; number++) {
      const count = counts[number] ?? 0
      if (count === 0) continue
      const { slug, name } = table.tagNumbers.tagOf(number)
      const tag = tags.get(slug)
      if (!tag) tags.set(slug, { slug, name, count })
      else {
        tag.count += count
        if (name < tag.name) tag.name = name
      }
    }
  }
  return [...tags.values()].sort((a, b) => b.count - a.count || (a.slug < b.slug ? -1 : 1))
}
