import fc from 'fast-check'
import { stemmer } from 'stemmer'
import { describe, expect, it } from 'vitest'
import type { ItemKind } from '../../library/items.ts'
import type { Visibility } from '../../library/visibility.ts'
import { encodePostings, indexText } from '../analysis/indexed-text.ts'
import { parseQuery } from '../analysis/query.ts'
import { DIMS, NO_WORD_VECTORS, type WordVectors } from '../vectors/word-vectors.ts'
import { createSearchIndex, type SearchIndex } from './search-index.ts'
import type { IndexFilter } from './select-items.ts'

/** An item as a test writes it down. */
interface Written {
  readonly seq: number
  readonly owner: number
  readonly author: number
  readonly category: number | null
  readonly type: string | null
  readonly visibility: Visibility
  readonly createdAt: number
  readonly votes: number
  readonly tags: readonly string[]
  readonly title: string
  readonly description: string
  readonly content: string
}
const BASE: Written = {
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
const SORTS: readonly Sort[] = ['relevance', 'newest', 'oldest', 'votes']

/** Feeds an index as the store does: words get the next number when they are first written. */
function makeLibrary(vectors: WordVectors = NO_WORD_VECTORS) {
  const index = createSearchIndex(vectors)
  let words = 0
  const toChange = (item: Written) => {
    const text = indexText({ title: item.title, description: item.description, tags: item.tags.join('\n'), content: item.content })
    const postings = Array.from(text.words, ([word, code]) => {
      if (index.vocabulary.idOf(word) === undefined) index.vocabulary.add(++words, word, stemmer(word))
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
        visibility: item.visibility,
        createdAt: item.createdAt,
        votes: item.votes,
        tags: item.tags.map((slug) => ({ slug, name: slug.toUpperCase() })),
        titleLength: text.titleLength,
        bodyLength: text.bodyLength,
        vector: index.embedder.embedItem(text),
      },
    }
  }
  const put = (items: readonly Written[], kind: ItemKind = 'prompt') => index.apply(kind, items.map(toChange))
  const remove = (seq: number, kind: ItemKind = 'prompt') => index.apply(kind, [{ seq, item: null, words: null }])
  const find = (
    query: string,
    more: { sort?: Sort; limit?: number; offset?: number; filter?: IndexFilter; viewer?: number | null; kind?: ItemKind } = {},
  ) =>
    index.search(more.kind ?? 'prompt', {
      query: parseQuery(query),
      sort: more.sort ?? 'relevance',
      limit: more.limit ?? 10_000,
      offset: more.offset ?? 0,
      filter: more.filter ?? {},
      viewer: more.viewer ?? null,
    })
  return { index, put, remove, find, seqs: (...request: Parameters<typeof find>) => find(...request).seqs }
}

/** A library of items with these texts, numbered from 1, each newer than the one before. */
function libraryOf(texts: readonly (string | Partial<Written>)[], vectors?: WordVectors) {
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
const POOL = [
  'walrus',
  'invoice',
  'invoices',
  'quokka',
  'tundra',
  'glacier',
  'glaciers',
  'pepper',
  'saffron',
  'violin',
  'thunder',
  'mosaic',
  'velvet',
  'cobalt',
]
const OTHERS_WORDS = ['zeppelin', 'walruz', 'quokkas', 'invoic', 'tundras', 'saffran', 'violins', 'mosai', 'velve', 'thunderbolt']

/** General English that knows the words of the pool, in directions with nothing regular about them; some near each other. */
const VECTORS: WordVectors = {
  size: POOL.length,
  find: (word) => POOL.indexOf(word),
  rankOf: (row) => row * 500,
  vectorOf: (row) =>
    Int8Array.from({ length: DIMS }, (_, i) =>
      Math.round(60 * Math.sin((i + 1) ** 2 * ((row >> 1) + 1.37)) + 30 * Math.sin((i + 1) * (row + 2.11))),
    ),
}

const wordList = (words: readonly string[], max: number) =>
  fc.array(fc.constantFrom(...words), { maxLength: max }).map((list) => list.join(' '))
const written = (words: readonly string[], visibility: fc.Arbitrary<Visibility>, owner: fc.Arbitrary<number>) =>
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
const anyVisibility = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Visibility>('public') },
  { weight: 2, arbitrary: fc.constantFrom<Visibility>('unlisted', 'private') },
)
const anyItem = written(POOL, anyVisibility, fc.integer({ min: 1, max: 3 }))
/** From few items to more than are needed to learn what they have in common. */
const anyLibrary = fc
  .oneof(fc.array(anyItem, { maxLength: 12 }), fc.array(anyItem, { minLength: 45, maxLength: 60, size: 'max' }))
  .map((items) => items.map((item, place) => ({ ...item, seq: place + 1 })))
const anyQuery = fc.oneof(
  wordList(POOL, 3),
  fc
    .tuple(wordList(POOL, 2), fc.constantFrom('wal', 'the', 'invoic', 'unheard', 'qoukka', 'glaciar', 'pep', '!!!', 'thunder bolt ', ''))
    .map((parts) => parts.join(' ')),
)
const anyFilter: fc.Arbitrary<IndexFilter> = fc.record(
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
const anyViewer = fc.constantFrom(null, 1, 2, 3, 9)
const anyVectors = fc.constantFrom(NO_WORD_VECTORS, VECTORS)

function passes(item: Written, filter: IndexFilter, viewer: number | null): boolean {
  return (
    (item.visibility === 'public' || item.owner === viewer) &&
    (!filter.types || filter.types.includes(item.type ?? '')) &&
    (!filter.categories || (item.category !== null && filter.categories.has(item.category))) &&
    (!filter.anyTags || filter.anyTags.some((tag) => item.tags.includes(tag))) &&
    (!filter.allTags || filter.allTags.every((tag) => item.tags.includes(tag))) &&
    (!filter.authors || filter.authors.has(item.author)) &&
    (!filter.seqs || filter.seqs.has(item.seq))
  )
}
const holds = (item: Written, word: string) =>
  `${item.title} ${item.description} ${item.tags.join(' ')} ${item.content}`.split(' ').includes(word)

/** Items in the order of a sort that words have no part in. */
function inOrder(items: readonly Written[], sort: Exclude<Sort, 'relevance'>): number[] {
  const byAge = items.toSorted((a, b) => a.createdAt - b.createdAt || a.seq - b.seq)
  if (sort === 'newest') byAge.reverse()
  if (sort === 'votes') byAge.sort((a, b) => b.votes - a.votes || b.seq - a.seq)
  return byAge.map(({ seq }) => seq)
}

/** Everything an index says to somebody. */
function everything({ index, find }: ReturnType<typeof makeLibrary>, viewer: number | null, queries: readonly string[]) {
  return {
    searches: queries.map((query) =>
      SORTS.map((sort) => [query, sort, find(query, { sort, viewer }), find(query, { sort, viewer, limit: 2, offset: 1 })]),
    ),
    tags: index.countTags(viewer),
    categories: [...index.countCategories('prompt', viewer)].sort(([a], [b]) => a - b),
    similar: queries.map((query) => index.similar('prompt', query, {}, 10)),
  }
}

describe('every word before some', () => {
  const filler = Array.from({ length: 30 }, (_, i) => `filler${i} text`)

  it('finds the items that hold all words alone, when there are ten', () => {
    const { seqs } = libraryOf([...Array.from({ length: 10 }, () => 'walrus invoice'), 'walrus', 'invoice', ...filler])
    expect(seqs('walrus invoice ').toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('adds those that hold some when there are fewer', () => {
    const { seqs, find } = libraryOf([...Array.from({ length: 9 }, () => 'walrus invoice'), 'walrus', 'invoice'])
    expect(find('walrus invoice ').total).toBe(11)
    expect(seqs('walrus invoice ').slice(0, 9).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('counts for this only what the caller finds', () => {
    const hidden = Array.from({ length: 10 }, () => ({ content: 'walrus invoice', visibility: 'private', owner: 7 }) as const)
    const { find } = libraryOf([...hidden, 'walrus', 'invoice'])
    expect([find('walrus invoice ').total, find('walrus invoice ', { viewer: 7 }).total]).toEqual([2, 10])
    const marked = libraryOf([...Array.from({ length: 10 }, () => 'walrus invoice'), { content: 'walrus', tags: ['red'] }])
    expect(marked.seqs('walrus invoice ', { filter: { anyTags: ['red'] } })).toEqual([11])
  })

  it('holds nothing for a query without a word, and everything for a blank one', () => {
    const { find, seqs } = libraryOf(['walrus', 'invoice'])
    expect(find('!!!')).toEqual({ seqs: [], total: 0, corrections: new Map() })
    expect(seqs(' ')).toEqual([2, 1])
  })

  it('finds nothing for what stands nowhere', () => {
    expect(libraryOf(['walrus', 'invoice']).find('zzyzx ')).toMatchObject({ seqs: [], total: 0 })
  })
})

describe('what counts for more', () => {
  const padding = Array.from({ length: 20 }, (_, i) => ({ title: `padding${i} text`, description: 'of words', content: 'of more words' }))
  it.each<[string, Partial<Written>, Partial<Written>]>([
    ['the title over the tags', { title: 'walrus', tags: ['some'], content: 'text' }, { title: 'some', tags: ['walrus'], content: 'text' }],
    ['the tags over the text', { title: 'some', tags: ['walrus'] }, { title: 'some', content: 'walrus' }],
    ['the description over the text', { title: 'some', description: 'walrus' }, { title: 'some', content: 'walrus' }],
    ['often over once', { title: 'some', content: 'walrus walrus walrus some' }, { title: 'some', content: 'walrus some some some' }],
    [
      'a short text over a long one',
      { title: 'some', content: 'walrus text' },
      { title: 'some', content: `walrus ${'some text '.repeat(50)}` },
    ],
    ['a short title over a long one', { title: 'walrus' }, { title: 'walrus and some more words of no meaning here' }],
    ['a rare word over a common one', { content: 'walrus' }, { content: 'padding1' }],
  ])('%s', (_, better, worse) => {
    const query = worse.content === 'padding1' ? 'walrus padding1 ' : 'walrus '
    const rows =
      worse.content === 'padding1' ? [better, worse, ...Array.from({ length: 20 }, () => 'padding1 of words')] : [better, worse, ...padding]
    for (const [place, order] of [rows, [worse, better, ...rows.slice(2)]].entries()) {
      const [first] = libraryOf(order).seqs(query)
      expect(first).toBe(place + 1)
    }
  })

  it('itself over a form of it, a whole word over a growing one, a right word over a corrected one', () => {
    const near = Array.from({ length: 20 }, (_, i) => `padding${i}`)
    expect(libraryOf(['promise', 'prom', ...near]).seqs('prom')).toEqual([2, 1])
    expect(libraryOf(['walruz', 'walrus', ...near]).seqs('walrus ')).toEqual([2])
  })

  it('the best of what stands for a word, not the last', () => {
    const both = { title: 'prom', content: 'promise of words' }
    const one = { title: 'some', content: 'prom of words' }
    expect(
      libraryOf([both, one, ...padding])
        .seqs('prom')
        .slice(0, 2),
    ).toEqual([1, 2])
    expect(
      libraryOf([one, both, ...padding])
        .seqs('prom')
        .slice(0, 2),
    ).toEqual([2, 1])
  })

  it('of equal ones the most voted, then the newest', () => {
    const texts = [{ votes: 1 }, { votes: 0 }, { votes: 2 }, { votes: 1 }, { votes: 2 }, { votes: 0 }]
    const { seqs } = libraryOf(texts.map((text) => ({ ...text, title: 'walrus guide', content: 'walrus' })))
    expect(seqs('walrus ')).toEqual([5, 3, 4, 1, 6, 2])
  })
})

describe('what only rounding tells apart', () => {
  it('is equal: the most voted goes first', () => {
    for (const other of POOL) {
      for (const another of POOL.filter((word) => word !== other)) {
        const { seqs } = libraryOf([{ content: `zorblat ${other}`, votes: 1 }, `zorblat ${another}`, 'some text'], VECTORS)
        expect(seqs('zorblat '), `${other}, ${another}`).toEqual([1, 2])
      }
    }
  })
})

describe('pages, totals, sorts and filters', () => {
  it('hold in any library for any question', () => {
    fc.assert(
      fc.property(
        anyLibrary,
        anyQuery,
        anyFilter,
        anyViewer,
        anyVectors,
        fc.integer({ min: 1, max: 7 }),
        (items, query, filter, viewer, vectors, size) => {
          const { put, find } = makeLibrary(vectors)
          put(items)
          const bySeq = new Map(items.map((item) => [item.seq, item]))
          const sets = SORTS.map((sort) => {
            const whole = find(query, { sort, filter, viewer })
            expect(new Set(whole.seqs).size).toBe(whole.seqs.length)
            expect(whole.total).toBe(whole.seqs.length)
            const found = whole.seqs.flatMap((seq) => bySeq.get(seq) ?? [])
            expect(found.length).toBe(whole.total)
            for (const item of found) expect(passes(item, filter, viewer)).toBe(true)
            if (sort !== 'relevance') expect(whole.seqs).toEqual(inOrder(found, sort))
            const pages: number[] = []
            for (let offset = 0; offset < whole.total + size; offset += size) {
              const page = find(query, { sort, filter, viewer, limit: size, offset })
              expect([page.total, page.corrections]).toEqual([whole.total, whole.corrections])
              expect(page.seqs.length).toBeLessThanOrEqual(size)
              pages.push(...page.seqs)
            }
            expect(pages).toEqual(whole.seqs)
            return whole.seqs.toSorted((a, b) => a - b)
          })
          for (const set of sets) expect(set).toEqual(sets[0])
        },
      ),
      { numRuns: 40 },
    )
  })

  it('find every item that holds all words, and only such when there are ten', () => {
    fc.assert(
      fc.property(
        anyLibrary,
        fc.uniqueArray(fc.constantFrom('walrus', 'quokka', 'tundra', 'pepper'), { minLength: 1, maxLength: 2 }),
        anyFilter,
        anyViewer,
        anyVectors,
        (items, words, filter, viewer, vectors) => {
          const { put, seqs } = makeLibrary(vectors)
          put(items)
          const allowed = items.filter((item) => passes(item, filter, viewer))
          const whole = allowed.filter((item) => words.every((word) => holds(item, word))).map(({ seq }) => seq)
          const some = allowed.filter((item) => words.some((word) => holds(item, word))).map(({ seq }) => seq)
          const found = seqs(`${words.join(' ')} `, { filter, viewer, sort: 'oldest' }).toSorted((a, b) => a - b)
          if (whole.length >= 10) expect(found).toEqual(whole)
          else expect(found).toEqual(expect.arrayContaining(some))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('list everything that passes for a blank query', () => {
    fc.assert(
      fc.property(anyLibrary, anyFilter, anyViewer, (items, filter, viewer) => {
        const { put, find } = makeLibrary()
        put(items)
        const allowed = items.filter((item) => passes(item, filter, viewer))
        for (const sort of SORTS) {
          expect(find('', { sort, filter, viewer })).toEqual({
            seqs: inOrder(allowed, sort === 'relevance' ? 'newest' : sort),
            total: allowed.length,
            corrections: new Map(),
          })
        }
      }),
      { numRuns: 40 },
    )
  })

  it('hold over more matches than are compared in meaning', () => {
    const { find } = libraryOf(
      Array.from({ length: 900 }, (_, i) => ({
        title: i % 2 ? 'walrus' : 'other',
        content: `walrus word${i % 7} ${'tundra '.repeat(i % 11)}`,
        votes: i % 3,
      })),
      VECTORS,
    )
    const whole = find('walrus tundra')
    expect(whole.total).toBe(900 - Math.ceil(900 / 11))
    expect([whole.seqs.length, new Set(whole.seqs).size]).toEqual([whole.total, whole.total])
    for (const size of [1, 24, 100, 299, 300, 301]) {
      const offsets =
        size === 1 ? [0, 1, 299, 300, 301, 302, whole.total - 1] : Array.from({ length: Math.ceil(whole.total / size) }, (_, i) => i * size)
      for (const offset of offsets) {
        const page = find('walrus tundra', { limit: size, offset })
        expect([page.seqs, page.total]).toEqual([whole.seqs.slice(offset, offset + size), whole.total])
      }
    }
    expect(find('walrus tundra', { limit: 10, offset: 10_000 })).toMatchObject({ seqs: [], total: whole.total })
  })

  it('answer the same when asked again, whatever was asked between', () => {
    fc.assert(
      fc.property(
        anyLibrary,
        fc.array(fc.tuple(anyQuery, anyViewer), { minLength: 2, maxLength: 6 }),
        anyVectors,
        (items, questions, vectors) => {
          const { put, find, index } = makeLibrary(vectors)
          put(items)
          put(items, 'skill')
          const ask = () => questions.map(([query, viewer]) => find(query, { viewer }))
          const first = ask()
          for (const [query] of questions) index.similar('skill', query, {}, 3)
          expect(ask()).toEqual(first)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('keep prompts and skills apart', () => {
    const { put, seqs, index } = makeLibrary()
    put([{ ...BASE, seq: 1, content: 'walrus', category: 5, tags: ['sea'] }])
    put([{ ...BASE, seq: 2, content: 'walrus invoice', category: 5, tags: ['sea'], type: null }], 'skill')
    expect([seqs('walrus '), seqs('walrus ', { kind: 'skill' })]).toEqual([[1], [2]])
    expect([seqs('invoice '), seqs('', { kind: 'skill', filter: { types: ['TEXT'] } })]).toEqual([[], []])
    expect([...index.countCategories('skill', null)]).toEqual([[5, 1]])
    expect(index.countTags(null)).toEqual([{ slug: 'sea', name: 'SEA', count: 2 }])
  })
})

describe('what somebody keeps for themselves', () => {
  const hiddenOnes = fc.array(
    fc.tuple(
      fc.nat({ max: 60 }),
      written([...POOL, ...OTHERS_WORDS], fc.constantFrom<Visibility>('private', 'unlisted'), fc.integer({ min: 5, max: 6 })),
    ),
    { minLength: 1, maxLength: 20 },
  )
  const questions = fc
    .array(
      fc.oneof(anyQuery, wordList([...POOL, ...OTHERS_WORDS], 2), fc.constantFrom('zep', 'mosai', 'zepelin ', 'velve', 'thunderbol ')),
      { minLength: 1, maxLength: 4 },
    )
    .map((queries) => [...queries, ''])

  it('changes nothing of what others are told', () => {
    fc.assert(
      fc.property(anyLibrary, hiddenOnes, questions, anyVectors, (items, hidden, queries, vectors) => {
        const library = makeLibrary(vectors)
        library.put(items)
        const withHidden = makeLibrary(vectors)
        // One by one and in between, as people save: words get their numbers from whoever writes them first.
        for (const [place, item] of items.entries()) {
          for (const [n, [at, other]] of hidden.entries()) if (at === place) withHidden.put([{ ...other, seq: 1000 + n }])
          withHidden.put([item])
        }
        for (const [n, [at, other]] of hidden.entries()) if (at >= items.length) withHidden.put([{ ...other, seq: 1000 + n }])
        for (const viewer of [null, 1, 2]) expect(everything(withHidden, viewer, queries)).toEqual(everything(library, viewer, queries))
      }),
      { numRuns: 40 },
    )
  })

  it('changes nothing of it either when it is edited, deleted or withdrawn', () => {
    fc.assert(
      fc.property(anyLibrary, hiddenOnes, questions, (items, hidden, queries) => {
        const library = makeLibrary()
        library.put(items)
        const withHidden = makeLibrary()
        withHidden.put(items)
        const others = hidden.map(([, other], n) => ({ ...other, seq: 1000 + n }))
        withHidden.put(others)
        withHidden.put(others.map((other) => ({ ...other, title: 'zeppelin', content: 'walrus zeppelin', visibility: 'unlisted' })))
        for (const { seq } of others.slice(1)) withHidden.remove(seq)
        for (const viewer of [null, 1]) expect(everything(withHidden, viewer, queries)).toEqual(everything(library, viewer, queries))
      }),
      { numRuns: 25 },
    )
  })

  it('is found by its owner, and only by its owner', () => {
    const { seqs, find } = libraryOf([
      { content: 'walrus zeppelin', visibility: 'private', owner: 7 },
      { content: 'walrus zeppelin', visibility: 'unlisted', owner: 7 },
      { content: 'walrus', owner: 7 },
    ])
    for (const query of ['zeppelin ', 'zepp', 'zepelin ', 'walrus zeppelin ']) {
      expect(seqs(query, { viewer: 7 }).slice(0, 2).toSorted(), query).toEqual([1, 2])
      for (const viewer of [null, 1, 8]) {
        expect(seqs(query, { viewer }), query).toEqual(query.startsWith('walrus') ? [3] : [])
        expect(find(query, { viewer }).corrections.size).toBe(0)
      }
    }
    expect(find('zepelin ', { viewer: 7 }).corrections).toEqual(new Map([['zepelin', 'zeppelin']]))
    expect(seqs('', { viewer: 7 })).toEqual([3, 2, 1])
  })

  it('is counted for its owner alone', () => {
    const { index } = libraryOf([
      { tags: ['red'], category: 1 },
      { tags: ['red', 'blue'], category: 1, visibility: 'private', owner: 7 },
      { tags: ['green'], category: 2, visibility: 'unlisted', owner: 8 },
    ])
    const counts = (viewer: number | null) => [
      index.countTags(viewer).map(({ slug, count }) => `${slug} ${count}`),
      [...index.countCategories('prompt', viewer)],
    ]
    expect(counts(null)).toEqual([['red 1'], [[1, 1]]])
    expect(counts(7)).toEqual([['red 2', 'blue 1'], [[1, 2]]])
    expect(counts(8)).toEqual([
      ['green 1', 'red 1'],
      [
        [1, 1],
        [2, 1],
      ],
    ])
  })

  it('is never found as similar, not by its owner', () => {
    const { index } = libraryOf([{ content: 'walrus tundra', visibility: 'private' }, 'walrus tundra'])
    expect(index.similar('prompt', 'walrus tundra', {}, 10).map(({ seq }) => seq)).toEqual([2])
  })

  it('stands where its title and text put it, for its owner', () => {
    const own = (text: Partial<Written>) => ({ ...text, visibility: 'private', owner: 7 }) as const
    const { seqs } = libraryOf([
      own({ title: 'some', content: 'walrus' }),
      own({ title: 'walrus' }),
      ...Array.from({ length: 12 }, (_, i) => `padding${i}`),
    ])
    expect(seqs('walrus ', { viewer: 7 })).toEqual([2, 1])
  })
})

describe('changes', () => {
  it('are found under the new words, and not under the old', () => {
    for (const visibility of ['public', 'private'] as const) {
      const { put, seqs, items } = libraryOf([{ content: 'walrus', visibility }, 'tundra'])
      const [item] = items
      if (item) put([{ ...item, content: 'invoice', title: 'quokka' }])
      expect([seqs('walrus ', { viewer: 1 }), seqs('invoice ', { viewer: 1 }), seqs('quokka ', { viewer: 1 })]).toEqual([[], [1], [1]])
    }
  })

  it('of visibility and votes are felt at once, and what is deleted is gone until it is back', () => {
    const { put, remove, seqs, find, items, index } = libraryOf([
      { content: 'walrus', tags: ['red'], category: 3 },
      { content: 'walrus', tags: ['red'] },
    ])
    const [item = { ...BASE }] = items
    expect(seqs('walrus ')).toEqual([2, 1])
    put([{ ...item, votes: 1 }])
    expect(seqs('walrus ')).toEqual([1, 2])
    expect(seqs('', { sort: 'votes' })).toEqual([1, 2])
    put([{ ...item, visibility: 'private' }])
    expect([seqs('walrus '), seqs('walrus ', { viewer: 1 }).length]).toEqual([[2], 2])
    remove(1)
    expect([seqs('walrus ', { viewer: 1 }), seqs('', { viewer: 1 }), find('walrus ').total]).toEqual([[2], [2], 1])
    expect([index.countTags(1).map(({ count }) => count), index.countCategories('prompt', 1).size]).toEqual([[1], 0])
    put([item])
    expect([seqs('walrus '), index.countTags(null).map(({ count }) => count)]).toEqual([[2, 1], [2]])
  })

  it('leave the same library in whatever order they came', () => {
    const known = written(POOL, anyVisibility, fc.integer({ min: 1, max: 3 }))
    const library = fc
      .oneof(fc.array(known, { minLength: 1, maxLength: 12 }), fc.array(known, { minLength: 45, maxLength: 55, size: 'max' }))
      .map((items) => items.map((item, place) => ({ ...item, tags: item.tags.slice(0, 0), seq: place + 1 })))
    const cases = library.chain((items) =>
      fc.record({
        items: fc.constant(items),
        shuffled: fc.shuffledSubarray(items, { minLength: items.length }),
        drafts: fc.array(fc.tuple(fc.nat({ max: items.length + 5 }), known), { maxLength: 12 }),
        batch: fc.integer({ min: 1, max: 9 }),
      }),
    )
    const queries = ['walrus ', 'invoice tundra ', 'glac', 'pepper saffron violin ', 'velvet cobalt mosaic ', '']
    fc.assert(
      fc.property(cases, ({ items, shuffled, drafts, batch }) => {
        const plain = makeLibrary(VECTORS)
        plain.put(items)
        const edited = makeLibrary(VECTORS)
        for (const [at, draft] of drafts) edited.put([{ ...draft, tags: [], seq: at + 1 }])
        // Asked for in between, so that what is remembered has to be forgotten.
        for (const query of queries) edited.find(query, { viewer: 1 })
        for (let at = 0; at < shuffled.length; at += batch) edited.put(shuffled.slice(at, at + batch))
        for (let seq = items.length + 1; seq <= items.length + 6; seq++) edited.remove(seq)
        const { index } = plain
        for (const viewer of [null, 1]) {
          for (const query of queries) {
            for (const sort of SORTS) expect(edited.find(query, { sort, viewer })).toEqual(plain.find(query, { sort, viewer }))
          }
          expect(edited.index.countTags(viewer)).toEqual(index.countTags(viewer))
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe('tags and categories', () => {
  it('are counted over what the caller finds', () => {
    fc.assert(
      fc.property(anyLibrary, fc.array(anyItem, { maxLength: 8 }), anyViewer, (prompts, more, viewer) => {
        const skills = more.map((item, place) => ({ ...item, seq: 500 + place }))
        const { put, index } = makeLibrary()
        put(prompts)
        put(skills, 'skill')
        const seen = (items: readonly Written[]) => items.filter((item) => passes(item, {}, viewer))
        const tags = new Map<string, number>()
        for (const tag of [...seen(prompts), ...seen(skills)].flatMap((item) => item.tags)) tags.set(tag, (tags.get(tag) ?? 0) + 1)
        expect(index.countTags(viewer)).toEqual(
          [...tags].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([slug, count]) => ({ slug, name: slug.toUpperCase(), count })),
        )
        for (const [kind, items] of [
          ['prompt', prompts],
          ['skill', skills],
        ] as const) {
          const categories = new Map<number, number>()
          for (const { category } of seen(items)) if (category !== null) categories.set(category, (categories.get(category) ?? 0) + 1)
          expect(new Map(index.countCategories(kind, viewer))).toEqual(categories)
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('corrections', () => {
  it('are shown by the word as it was read, and what they find is found', () => {
    const { find } = libraryOf(['walrus guide', 'tundra guide'])
    expect(find('Walruz guide ')).toMatchObject({ corrections: new Map([['walruz', 'walrus']]) })
    expect(find('Walruz guide ').seqs[0]).toBe(1)
    expect(find('walrus guide ').corrections.size).toBe(0)
  })

  it('are the same on every page and in every sort, and hold under filters', () => {
    const { find } = libraryOf(Array.from({ length: 12 }, (_, i) => ({ content: 'walrus', tags: i % 2 ? ['red'] : [] })))
    for (const sort of SORTS) {
      const answer = find('walruz ', { sort, offset: 4, limit: 2, filter: { allTags: ['red'] } })
      expect([answer.total, answer.seqs.length, answer.corrections]).toEqual([6, 2, new Map([['walruz', 'walrus']])])
    }
  })
})

describe('meaning', () => {
  const filler = Array.from({ length: 40 }, (_, i) => `${POOL[(i * 5) % 14]} ${POOL[(i * 3 + 1) % 14]} filler${i} more${i % 9}`).filter(
    (text) => !/walrus|invoice|quokka/.test(text),
  )

  it('finds items that say the same in other words, after those that say it', () => {
    // The vectors of `quokka` and `invoices` point nearly the same way.
    expect(
      libraryOf(['quokka things', 'invoices things', 'walrus things', ...filler], VECTORS)
        .seqs('quokka ')
        .slice(0, 2),
    ).toEqual([1, 2])
  })

  it('does not count as the word itself', () => {
    const words = Array.from({ length: 10 }, () => 'quokka things')
    expect(libraryOf([...words, 'invoices things', ...filler], VECTORS).find('quokka ').total).toBe(10)
  })
})

describe('similar', () => {
  it('finds the items most like a text first, each once, with how much, from 0 to 1', () => {
    fc.assert(
      fc.property(anyLibrary, wordList(POOL, 10), anyFilter, fc.nat({ max: 8 }), anyVectors, (items, text, filter, limit, vectors) => {
        const { put, index } = makeLibrary(vectors)
        put(items)
        const found = index.similar('prompt', text, filter, limit)
        expect(found.length).toBeLessThanOrEqual(limit)
        expect(new Set(found.map(({ seq }) => seq)).size).toBe(found.length)
        for (const { seq, similarity } of found) {
          const item = items.find((one) => one.seq === seq)
          expect(item && passes(item, filter, null)).toBe(true)
          expect(similarity).toBeLessThanOrEqual(1.000001)
          expect(similarity).toBeGreaterThanOrEqual(-1.000001)
        }
        expect(found.map(({ similarity }) => similarity)).toEqual(found.map(({ similarity }) => similarity).toSorted((a, b) => b - a))
      }),
      { numRuns: 40 },
    )
  })

  it('says the same of items that only rounding tells apart, and puts the most voted first', () => {
    const { index } = libraryOf([{ content: 'walrus', votes: 1 }, 'walrus', 'tundra'])
    const [first, second, ...others] = index.similar(
      'prompt',
      'walrus',
      {},
      3,
      new Map([
        [1, 0.5],
        [2, 0.5 + 1e-9],
      ]),
    )
    expect([first?.seq, second?.seq]).toEqual([1, 2])
    expect(first?.similarity).toBe(second?.similarity)
    expect(others.every(({ similarity }) => similarity < (second?.similarity ?? 0))).toBe(true)
  })

  it('answers the same whether items came at once or later', () => {
    const texts = Array.from({ length: 80 }, (_, i) => (i < 40 ? `walrus tundra one${i} two${i}` : `quokka saffron velvet three${i}`))
    const early = libraryOf(texts.slice(0, 40))
    const ask = ({ index }: ReturnType<typeof makeLibrary>) => index.similar('prompt', 'walrus one7 velvet three60', {}, 20)
    ask(early)
    const late = libraryOf(texts)
    early.put(late.items.slice(40))
    expect(ask(early).map(({ seq }) => seq)).toEqual(ask(late).map(({ seq }) => seq))
    for (const [place, { similarity }] of ask(early).entries())
      expect(similarity).toBeCloseTo(ask(late)[place]?.similarity ?? Number.NaN, 4)
  })

  it('puts the same text first', () => {
    const texts = POOL.map((word, i) => `${word} ${POOL[(i + 3) % POOL.length]} ${POOL[(i + 7) % POOL.length]}`)
    const { index } = libraryOf(texts)
    for (const [place, text] of texts.entries()) expect(index.similar('prompt', text, {}, 3)[0]?.seq).toBe(place + 1)
  })

  it('goes by shared words alone where no word has a vector', () => {
    const { index } = libraryOf(['zorblat quuxly', 'zorblat bravo', 'tundra'], NO_WORD_VECTORS)
    const found = index.similar('prompt', 'zorblat quuxly', {}, 5)
    expect(found.map(({ seq }) => seq)).toEqual([1, 2])
    expect(found[0]?.similarity).toBeGreaterThan(found[1]?.similarity ?? 1)
  })

  it.each(['', '!!!', 'the of and', '42'])('finds nothing like %j', (text) => {
    expect(libraryOf(['walrus', 'the of and 42']).index.similar('prompt', text, {}, 5)).toEqual([])
  })
})

describe('an index of nothing', () => {
  it('finds nothing', () => {
    const { find, index } = makeLibrary(VECTORS)
    for (const query of ['', 'walrus', 'the', '北京', '!!!'])
      expect(find(query, { viewer: 1 })).toEqual({ seqs: [], total: 0, corrections: new Map() })
    expect([index.countTags(null), index.countCategories('skill', 1).size, index.similar('prompt', 'walrus', {}, 5)]).toEqual([[], 0, []])
  })

  it('is what is left when everything was deleted', () => {
    const { remove, find, index } = libraryOf(['walrus', { content: 'walrus', visibility: 'private' }])
    remove(1)
    remove(2)
    expect([find('walrus ', { viewer: 1 }), find('walruz ', { viewer: 1 }).corrections.size, index.countTags(1)]).toEqual([
      { seqs: [], total: 0, corrections: new Map() },
      0,
      [],
    ])
  })
})
