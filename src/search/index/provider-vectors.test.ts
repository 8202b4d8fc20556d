import { stemmer } from 'stemmer'
import { describe, expect, it } from 'vitest'
import { asViewer } from '../../../test/support/indexed-library.ts'
import type { Visibility } from '../../library/visibility.ts'
import { encodePostings, indexText } from '../analysis/indexed-text.ts'
import { parseQuery } from '../analysis/query.ts'
import { toCode } from '../vectors/vector-codes.ts'
import { PUBLIC } from './item-table.ts'
import { createSearchIndex } from './search-index.ts'
import type { IndexFilter } from './select-items.ts'

/** What searches do with the vectors of a provider. */

const DIMS = 64

/** A vector whose first `minus` numbers are below zero: the more, the farther from all ones. */
const vectorOf = (minus: number) => Float32Array.from({ length: DIMS }, (_, i) => (i < minus ? -1 : 1))
const ONES = vectorOf(0)

interface Written {
  readonly seq: number
  readonly title: string
  readonly type?: string
  readonly visibility?: Visibility
  readonly owner?: number
}

function makeIndex(items: readonly Written[]) {
  const index = createSearchIndex()
  let words = 0
  const changes = items.map(({ seq, title, type = 'TEXT', visibility = 'public', owner = 1 }) => {
    const text = indexText({ title, description: '', tags: '', content: '' })
    const postings = Array.from(text.words, ([word, code]) => {
      if (index.vocabulary.idOf(word) === undefined) index.vocabulary.add(++words, word, stemmer(word))
      return { word: index.vocabulary.idOf(word) ?? 0, code }
    })
    const { titleLength, bodyLength } = text
    const numbers = {
      seq,
      ownerSeq: owner,
      authorSeq: owner,
      categorySeq: null,
      createdAt: seq,
      votes: 0,
      titleLength,
      bodyLength,
      titleKey: 0,
    }
    return {
      seq,
      words: encodePostings(postings),
      item: { ...numbers, type, audience: visibility === 'public' ? PUBLIC : null, tags: [], vector: null },
    }
  })
  index.apply('prompt', changes)
  return index
}
const request = (text: string, filter: IndexFilter = {}, viewer: number | null = null) => {
  return { query: parseQuery(text), sort: 'relevance', limit: 10, offset: 0, filter, viewer: asViewer(viewer) } as const
}

describe('what is compared exactly', () => {
  it('is nothing the filter leaves out, that is hidden, gone, of the other kind, or has no vector', () => {
    const index = makeIndex([
      { seq: 1, title: 'walrus', type: 'TEXT' },
      { seq: 2, title: 'walrus', type: 'IMAGE' },
      { seq: 3, title: 'walrus', visibility: 'private', owner: 7 },
      { seq: 4, title: 'walrus' },
      { seq: 5, title: 'walrus' },
    ])
    for (const seq of [1, 2, 4, 99]) index.codes.put(seq, DIMS, toCode(ONES))
    index.apply('prompt', [{ seq: 4, item: null, words: null }])
    const ask = (filter: IndexFilter, viewer: number | null = null) =>
      index.chooseCandidates('prompt', request('walrus', filter, viewer), ONES).sort()
    expect([ask({}), ask({ types: ['TEXT'] }), ask({}, 7)]).toEqual([[1, 2], [1], [1, 2]])
    expect(index.chooseSimilarCandidates('prompt', { types: ['IMAGE'] }, ONES)).toEqual([2])
    expect(index.chooseCandidates('skill', request('walrus'), ONES)).toEqual([])
    // A code left over from when an item was public is not looked at for others, nor for its owner.
    index.codes.put(3, DIMS, toCode(ONES))
    expect([index.chooseSimilarCandidates('prompt', {}, ONES), ask({}, 7)]).toEqual([
      [1, 2],
      [1, 2],
    ])
    expect(index.chooseCandidates('prompt', request('zzz', {}, 7), ONES)).toEqual([1, 2])
  })
})

describe('cosines of a provider', () => {
  const items = Array.from({ length: 40 }, (_, n) => ({ seq: n + 1, title: `walrus number${n}` }))
  const cosines = new Map(items.map(({ seq }) => [seq, seq === 17 ? 0.9 : 0]))

  it('do not make a hidden item found, whoever has them', () => {
    const index = makeIndex(items.map((item) => (item.seq === 17 ? { ...item, visibility: 'private' as const, owner: 7 } : item)))
    expect(index.search('prompt', request('zzz'), cosines).total).toBe(0)
    expect(index.search('prompt', request('walrus'), cosines).seqs).not.toContain(17)
  })
})
