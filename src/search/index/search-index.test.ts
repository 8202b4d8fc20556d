import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyFilter,
  anyLibrary,
  anyQuery,
  anyVectors,
  anyViewer,
  anyVisibility,
  asViewer,
  BASE,
  holds,
  inOrder,
  libraryOf,
  makeLibrary,
  POOL,
  passes,
  SORTS,
  VECTORS,
  type Written,
  written,
} from '../../../test/support/indexed-library.ts'

describe('every word before some', () => {
  const filler = Array.from({ length: 30 }, (_, i) => `filler${i} text`)

  it('finds the items that hold all words alone, when there are ten', () => {
    const { seqs } = libraryOf([...Array.from({ length: 10 }, () => 'walrus invoice'), 'walrus', 'invoice', ...filler])
    expect(seqs('walrus invoice ').toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('lists those that hold all first when no word of the query has a vector', () => {
    const texts = [
      { title: 'Walrus walrus walrus', content: 'walrus' },
      'a walrus and a carpenter meet on a beach, as told elsewhere',
      'no match',
    ]
    expect(libraryOf(texts).seqs('walrus carpenter ')).toEqual([2, 1])
  })

  it('counts for this only what the caller finds', () => {
    const hidden = Array.from({ length: 10 }, () => ({ content: 'walrus invoice', visibility: 'private', owner: 7 }) as const)
    const { find } = libraryOf([...hidden, 'walrus', 'invoice'])
    expect([find('walrus invoice ').total, find('walrus invoice ', { viewer: 7 }).total]).toEqual([2, 10])
    const marked = libraryOf([...Array.from({ length: 10 }, () => 'walrus invoice'), { content: 'walrus', tags: ['red'] }])
    expect(marked.seqs('walrus invoice ', { filter: { anyTags: ['red'] } })).toEqual([11])
  })

  it('holds nothing for a query without a word or of what stands nowhere, and everything for a blank one', () => {
    const { find, seqs } = libraryOf(['walrus', 'invoice'])
    expect(find('!!!')).toEqual({ seqs: [], scores: [], total: 0, corrections: new Map() })
    expect(find('zzyzx ')).toMatchObject({ seqs: [], total: 0 })
    expect(seqs(' ')).toEqual([2, 1])
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
    const first = (...items: Partial<Written>[]) =>
      libraryOf([...items, ...padding])
        .seqs('prom')
        .slice(0, 2)
    expect([first(both, one), first(one, both)]).toEqual([
      [1, 2],
      [2, 1],
    ])
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
            scores: [],
            total: allowed.length,
            corrections: new Map(),
          })
        }
      }),
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
    )
  })
})

describe('changes', () => {
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
    expect([index.countTags(asViewer(1)).map(({ count }) => count), index.countCategories('prompt', asViewer(1)).size]).toEqual([[1], 0])
    put([item])
    expect([seqs('walrus '), index.countTags(asViewer()).map(({ count }) => count)]).toEqual([[2, 1], [2]])
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
          expect(edited.index.countTags(asViewer(viewer))).toEqual(index.countTags(asViewer(viewer)))
        }
      }),
    )
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

describe('an index of nothing', () => {
  it('finds nothing, also when everything was deleted', () => {
    const nothing = { seqs: [], scores: [], total: 0, corrections: new Map() }
    const emptied = libraryOf(['walrus', { content: 'walrus', visibility: 'private' }], VECTORS)
    for (const seq of [1, 2]) emptied.remove(seq)
    for (const { find, index } of [makeLibrary(VECTORS), emptied]) {
      for (const query of ['', 'walrus ', 'walruz ', 'the', '北京', '!!!']) expect(find(query, { viewer: 1 })).toEqual(nothing)
      expect([index.countTags(asViewer(1)), index.countCategories('skill', asViewer(1)).size]).toEqual([[], 0])
      expect(index.similar('prompt', 'walrus', {}, 5)).toEqual([])
    }
  })
})
