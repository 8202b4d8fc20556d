import fc from 'fast-check'
import { stemmer } from 'stemmer'
import type { ItemKind } from '../../src/domain/items/items.ts'
import type { Visibility } from '../../src/domain/items/visibility.ts'
import type { EncodedQuery } from '../../src/domain/ports/encoder.ts'
import { encodePostings, indexText } from '../../src/search/analysis/indexed-text.ts'
import { parseQuery, titleKey } from '../../src/search/analysis/query.ts'
import { type Audience, PUBLIC, type Viewer } from '../../src/search/index/item-table.ts'
import { createSearchIndex, type SearchIndex } from '../../src/search/index/search-index.ts'
import type { IndexFilter } from '../../src/search/index/select-items.ts'
import { DIMS, NO_WORD_VECTORS, type WordVectors } from '../../src/search/vectors/word-vectors.ts'

/** An item of a test library. */
export interface Written {
  readonly seq: number
  readonly owner: number
  readonly author: number
  readonly category: number | null
  readonly type: string | null
  readonly visibility: Visibility
  /** Default: everybody, if it is public. */
  readonly audience?: Audience | undefined
  readonly createdAt: number
  readonly votes: number
  /** Slugs, spelled in capitals, or `slug/Name`. */
  readonly tags: readonly string[]
  readonly title: string
  readonly description: string
  readonly content: string
}
export const BASE: Written = {
  seq: 0,
  owner: 1,
  author: 1,
  category: null,
  type: 'TEXT',
  visibility: 'public',
  createdAt: 0,
  votes: 0,
  tags: [],
  title: '',
  description: '',
  content: '',
}
type Sort = Parameters<SearchIndex['search']>[1]['sort']
export const SORTS: readonly Sort[] = ['relevance', 'newest', 'oldest', 'votes']

/** Feeds an index as the store does: words get the next number when they are first written. */
export function makeLibrary(vectors: WordVectors = NO_WORD_VECTORS) {
  const index = createSearchIndex(vectors)
  const toChange = (item: Written) => {
    const text = indexText({ title: item.title, description: item.description, tags: item.tags.join('\n'), content: item.content })
    const postings = Array.from(text.words, ([word, code]) => {
      if (index.vocabulary.idOf(word) === undefined) index.vocabulary.add(Math.max(1, index.vocabulary.capacity), word, stemmer(word))
      return { word: index.vocabulary.idOf(word) ?? 0, code }
    })
    return {
      seq: item.seq,
      words: encodePostings(postings),
      item: {
        seq: item.seq,
        ownerSeq: item.owner,
        authorSeq: item.author,
        categorySeq: item.category,
        type: item.type,
        audience: item.audience ?? (item.visibility === 'public' ? PUBLIC : null),
        createdAt: item.createdAt,
        votes: item.votes,
        tags: item.tags.map((tag) => {
          const [slug = '', name = slug.toUpperCase()] = tag.split('/')
          return { slug, name }
        }),
        titleLength: text.titleLength,
        bodyLength: text.bodyLength,
        titleKey: titleKey(item.title),
        vector: index.embedder.embedItem(text),
      },
    }
  }
  const put = (items: readonly Written[], kind: ItemKind = 'prompt') => index.apply(kind, items.map(toChange))
  const remove = (seq: number, kind: ItemKind = 'prompt') => index.apply(kind, [{ seq, item: null, words: null }])
  const find = (
    query: string,
    more: {
      sort?: Sort
      limit?: number
      offset?: number
      filter?: IndexFilter
      viewer?: Who
      kind?: ItemKind
      sentence?: EncodedQuery
      audiences?: readonly Audience[] | undefined
      within?: Viewer['within']
    } = {},
  ) =>
    index.search(more.kind ?? 'prompt', {
      query: parseQuery(query),
      sort: more.sort ?? 'relevance',
      limit: more.limit ?? 10_000,
      offset: more.offset ?? 0,
      filter: more.filter ?? {},
      viewer: asViewer(more.viewer, more.audiences, more.within),
      titleKey: titleKey(query),
      sentence: more.sentence,
    })
  return { index, put, remove, find, seqs: (...request: Parameters<typeof find>) => find(...request).seqs }
}

/** A library of items with these texts, numbered from 1, each newer than the one before. */
export function libraryOf(texts: readonly (string | Partial<Written>)[], vectors?: WordVectors) {
  const library = makeLibrary(vectors)
  const items = texts.map((text, place) => ({
    ...BASE,
    seq: place + 1,
    createdAt: place + 1,
    ...(typeof text === 'string' ? { content: text } : text),
  }))
  library.put(items)
  return { ...library, items }
}

// Words that are two edits and more apart, so that none is taken for a slip of another; some have two forms, none more.
export const POOL = 'walrus invoice invoices quokka tundra glacier glaciers pepper saffron violin thunder mosaic velvet cobalt'.split(' ')
export const OTHERS_WORDS = ['zeppelin', 'walruz', 'quokkas', 'invoic', 'tundras', 'saffran', 'violins', 'mosai', 'velve', 'thunderbolt']

/** Vectors of the pool's words in irregular directions, some near each other. */
export const VECTORS: WordVectors = {
  size: POOL.length,
  wordOf: (row) => POOL[row] ?? '',
  find: (word) => POOL.indexOf(word),
  rankOf: (row) => row * 500,
  vectorOf: (row) =>
    Int8Array.from({ length: DIMS }, (_, i) =>
      Math.round(60 * Math.sin((i + 1) ** 2 * ((row >> 1) + 1.37)) + 30 * Math.sin((i + 1) * (row + 2.11))),
    ),
}

export const wordList = (words: readonly string[], max: number) =>
  fc.array(fc.constantFrom(...words), { maxLength: max }).map((list) => list.join(' '))
export const written = (words: readonly string[], visibility: fc.Arbitrary<Visibility>, owner: fc.Arbitrary<number>) =>
  fc.record({
    owner,
    author: fc.integer({ min: 1, max: 3 }),
    category: fc.option(fc.integer({ min: 1, max: 3 })),
    type: fc.constantFrom('TEXT', 'IMAGE'),
    visibility,
    createdAt: fc.nat({ max: 9 }),
    votes: fc.nat({ max: 2 }),
    tags: fc.uniqueArray(fc.constantFrom('red', 'green', 'blue'), { maxLength: 3 }),
    title: wordList(words, 3),
    description: wordList(words, 3),
    content: wordList(words, 12),
  })
export const anyVisibility = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Visibility>('public') },
  { weight: 2, arbitrary: fc.constantFrom<Visibility>('unlisted', 'private') },
)
export const anyItem = written(POOL, anyVisibility, fc.integer({ min: 1, max: 3 }))
/** Small libraries, and ones large enough to search by meaning. */
export const anyLibrary = fc
  .oneof(fc.array(anyItem, { maxLength: 12 }), fc.array(anyItem, { minLength: 45, maxLength: 60, size: 'max' }))
  .map((items) => items.map((item, place) => ({ ...item, seq: place + 1 })))
export const anyQuery = fc.oneof(
  wordList(POOL, 3),
  fc
    .tuple(wordList(POOL, 2), fc.constantFrom('wal', 'the', 'invoic', 'unheard', 'qoukka', 'glaciar', 'pep', '!!!', 'thunder bolt ', ''))
    .map((parts) => parts.join(' ')),
)
export const anyFilter: fc.Arbitrary<IndexFilter> = fc.record(
  {
    types: fc.constantFrom(['TEXT'], ['IMAGE'], ['TEXT', 'IMAGE'], ['NONE'], []),
    categories: fc.constantFrom(new Set([1]), new Set([2, 3]), new Set([9]), new Set<number>()),
    anyTags: fc.constantFrom(['red'], ['red', 'blue'], ['none'], []),
    allTags: fc.constantFrom(['red'], ['red', 'blue'], ['none'], [], ['red', 'red']),
    authors: fc.constantFrom(new Set([1]), new Set([1, 2])),
    seqs: fc.constantFrom(new Set([1, 2, 3, 4, 5, 99]), new Set<number>()),
  },
  { requiredKeys: [] },
)
/** Row numbers of those whose hidden items somebody finds: one person, or a person with teams. */
export type Who = number | null | readonly number[]
export function asViewer(who: Who = null, audiences: readonly Audience[] = [PUBLIC], within?: Viewer['within']): Viewer {
  return { audiences, within, seenOwners: new Set(who === null ? [] : typeof who === 'number' ? [who] : who) }
}
export const anyViewer = fc.constantFrom<Who>(null, 1, 2, 3, 9, [1, 2], [9, 3, 1])
export const anyVectors = fc.constantFrom(NO_WORD_VECTORS, VECTORS)

export function passes(item: Written, filter: IndexFilter, viewer: Who): boolean {
  return (
    (item.visibility === 'public' || asViewer(viewer).seenOwners.has(item.owner)) &&
    (!filter.types || filter.types.includes(item.type ?? '')) &&
    (!filter.categories || (item.category !== null && filter.categories.has(item.category))) &&
    (!filter.anyTags || filter.anyTags.some((tag) => item.tags.includes(tag))) &&
    (!filter.allTags || filter.allTags.every((tag) => item.tags.includes(tag))) &&
    (!filter.authors || filter.authors.has(item.author) || filter.authors.has(item.owner)) &&
    (!filter.seqs || filter.seqs.has(item.seq))
  )
}
export const holds = (item: Written, word: string) =>
  `${item.title} ${item.description} ${item.tags.join(' ')} ${item.content}`.split(' ').includes(word)

/** The expected order of a sort other than relevance. */
export function inOrder(items: readonly Written[], sort: Exclude<Sort, 'relevance'>): number[] {
  const byAge = items.toSorted((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
  if (sort === 'newest') byAge.reverse()
  if (sort === 'votes') byAge.sort((a, b) => b.votes - a.votes || b.seq - a.seq)
  return byAge.map(({ seq }) => seq)
}

/** Every answer of an index to a viewer. */
export function everything(
  { index, find }: ReturnType<typeof makeLibrary>,
  viewer: Who,
  queries: readonly string[],
  audiences?: readonly Audience[],
) {
  return {
    searches: queries.map((query) =>
      SORTS.map((sort) => [
        query,
        sort,
        find(query, { sort, viewer, audiences }),
        find(query, { sort, viewer, audiences, limit: 2, offset: 1 }),
      ]),
    ),
    tags: index.countTags(asViewer(viewer, audiences)),
    categories: [...index.countCategories('prompt', asViewer(viewer, audiences))].sort(([a], [b]) => a - b),
    similar: queries.map((query) => index.similar('prompt', query, {}, 10)),
  }
}
