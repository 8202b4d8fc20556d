import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyItem,
  anyLibrary,
  anyQuery,
  anyVectors,
  asViewer,
  everything,
  libraryOf,
  makeLibrary,
  OTHERS_WORDS,
  POOL,
  type Written,
  wordList,
  written,
} from '../../../test/support/indexed-library.ts'
import type { Visibility } from '../../domain/items/visibility.ts'
import { PUBLIC } from './item-table.ts'

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
    )
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

describe('audiences', () => {
  const MEMBERS = PUBLIC + 1
  const items = fc.array(fc.tuple(anyItem, fc.boolean()), { minLength: 1, maxLength: 50 }).map((pairs) =>
    pairs.map(([item, isForMembers], place) => {
      const isOpen = item.visibility === 'public'
      return { ...item, seq: place + 1, ...(isOpen && isForMembers ? { audience: MEMBERS } : {}) }
    }),
  )
  const queries = fc.array(anyQuery, { minLength: 1, maxLength: 4 }).map((list) => [...list, ''])

  it('are as one to those who are in all of them, and change nothing for the others', () => {
    fc.assert(
      fc.property(items, queries, anyVectors, (written, asked, vectors) => {
        const mixed = makeLibrary(vectors)
        // In two turns: each audience's postings are then in several segments.
        mixed.put(written.slice(0, written.length >> 1))
        mixed.put(written.slice(written.length >> 1))
        const open = makeLibrary(vectors)
        open.put(written.map((item) => ({ ...item, audience: item.audience === undefined ? item.audience : PUBLIC })))
        const without = makeLibrary(vectors)
        without.put(written.filter(({ audience }) => audience === undefined))
        for (const viewer of [null, 1, 2]) {
          const ask = (library: typeof mixed, audiences: readonly number[]) => {
            const { similar: _, ...answers } = everything(library, viewer, asked, audiences)
            return answers
          }
          expect(ask(mixed, [PUBLIC, MEMBERS])).toEqual(ask(open, [PUBLIC]))
          expect(ask(mixed, [PUBLIC])).toEqual(ask(without, [PUBLIC]))
        }
      }),
    )
  })

  it('keep an item apart until it changes hands, and let go of it then', () => {
    const { put, seqs, items: written, index } = libraryOf([{ content: 'walrus', audience: MEMBERS, tags: ['red'] }, 'walrus'])
    expect([seqs('walrus '), seqs('walrus ', { audiences: [PUBLIC, MEMBERS] })]).toEqual([[2], [2, 1]])
    expect([index.countTags(asViewer()), index.countTags(asViewer(null, [PUBLIC, MEMBERS]))]).toEqual([
      [],
      [{ slug: 'red', name: 'RED', count: 1 }],
    ])
    const [item] = written
    if (item) put([{ ...item, audience: PUBLIC }])
    expect([seqs('walrus '), seqs('walrus ', { audiences: [MEMBERS] })]).toEqual([[2, 1], []])
    if (item) put([{ ...item, audience: undefined, visibility: 'private', owner: 7 }])
    expect([seqs('walrus ', { audiences: [PUBLIC, MEMBERS] }), seqs('walrus ', { viewer: 7 })]).toEqual([[2], [2, 1]])
  })
})
