import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodePostings } from '../analysis/indexed-text.ts'
import { DIMS } from '../vectors/word-vectors.ts'
import { FREE, type IndexedItem, PUBLIC } from './item-table.ts'
import { createKindIndex, type IndexView, type ItemChange, type KindIndex } from './kind-index.ts'
import { CODE_BITS, rangeOf } from './postings.ts'

interface State {
  readonly visibility: 'public' | 'unlisted' | 'private'
  readonly owner: number
  readonly createdAt: number
  readonly words: readonly number[]
}

function change(seq: number, state: State | null): ItemChange {
  if (!state) return { seq, item: null, words: null }
  const item: IndexedItem = {
    seq,
    ownerSeq: state.owner,
    authorSeq: state.owner,
    categorySeq: null,
    type: 'TEXT',
    audience: state.visibility === 'public' ? PUBLIC : null,
    createdAt: state.createdAt,
    votes: 0,
    tags: [],
    titleLength: 1,
    bodyLength: state.words.length,
    titleKey: 0,
    vector: Int8Array.from({ length: DIMS }, (_, i) => ((seq * 31 + i * 17) % 255) - 127),
  }
  return { seq, item, words: encodePostings(state.words.map((word) => ({ word, code: 1 + (word % 200) }))) }
}
const PUBLIC_ONE: State = { visibility: 'public', owner: 1, createdAt: 10, words: [1, 2] }

/** The items under a word that anybody finds: by number, with the code. */
function publicItems({ postings, table }: IndexView, word: number): [number, number][] {
  return postings.segments
    .flatMap((segment) => [...segment.postings.subarray(...rangeOf(segment, word))])
    .filter((posting) => table.state[posting >>> CODE_BITS] !== FREE)
    .map((posting): [number, number] => [table.seq[posting >>> CODE_BITS] ?? 0, posting & 0xff])
    .sort(([a], [b]) => a - b)
}

/** The words of somebody's own hidden items, by item: the item's number, the word and its field code. */
function privateEntries({ hiddenOf, table }: IndexView, owner: number): number[][] {
  const entries: number[][] = []
  for (let word = 0; word < 8; word++) {
    hiddenOf(new Set([owner]))?.eachPosting(word, (posting) => entries.push([table.seq[posting >>> CODE_BITS] ?? 0, word, posting & 0xff]))
  }
  return entries.sort(([a = 0], [b = 0]) => a - b)
}

function expectSame(whole: KindIndex, model: ReadonlyMap<number, State>): void {
  const index = whole.view([PUBLIC])
  const all = [...model].sort(([a], [b]) => a - b)
  const open = all.filter(([, state]) => state.visibility === 'public')
  expect(index.totals).toEqual({
    items: open.length,
    encoded: 0,
    titleLength: open.length,
    bodyLength: open.reduce((sum, [, { words }]) => sum + words.length, 0),
  })
  const byAge = index.byAge()
  const ages = all.toSorted(([a, one], [b, other]) => one.createdAt - other.createdAt || a - b)
  expect(byAge.map((slot) => index.table.seq[slot])).toEqual(ages.map(([seq]) => seq))
  for (let word = 0; word < 8; word++) {
    const holding = open.filter(([, { words }]) => words.includes(word))
    expect(publicItems(index, word)).toEqual(holding.map(([seq]) => [seq, 1 + word]))
    expect(index.postings.countOf(word)).toBe(holding.length)
  }
  for (const owner of [1, 2, 3]) {
    const own = all.filter(([, state]) => state.visibility !== 'public' && state.owner === owner)
    expect(privateEntries(index, owner)).toEqual(own.flatMap(([seq, { words }]) => words.map((word) => [seq, word, 1 + word])))
    for (let word = 0; word < 8; word++) {
      expect(index.hiddenOf(new Set([owner]))?.countOf(word) ?? 0).toBe(own.filter(([, { words }]) => words.includes(word)).length)
    }
  }
}

describe('createKindIndex', () => {
  it('keeps the order of age when many items change at once', () => {
    const index = createKindIndex()
    const model = new Map<number, State>()
    const apply = (seqs: readonly number[], ageOf: (seq: number) => number) => {
      for (const seq of seqs) model.set(seq, { ...PUBLIC_ONE, createdAt: ageOf(seq) })
      index.apply(seqs.map((seq) => change(seq, { ...PUBLIC_ONE, createdAt: ageOf(seq) })))
      expectSame(index, model)
    }
    const all = Array.from({ length: 150 }, (_, place) => place + 1)
    apply(all, (seq) => seq % 7)
    apply([3, 77, 149], (seq) => seq % 5)
    apply(all, (seq) => seq % 11)
  })

  it('holds what there is after any changes', () => {
    const state = fc.option(
      fc.record({
        visibility: fc.constantFrom('public', 'public', 'unlisted', 'private'),
        owner: fc.integer({ min: 1, max: 3 }),
        createdAt: fc.nat({ max: 5 }),
        words: fc.uniqueArray(fc.nat({ max: 7 }), { maxLength: 5 }).map((words) => words.sort((a, b) => a - b)),
      }),
      { freq: 4 },
    )
    const batch = fc.array(fc.tuple(fc.integer({ min: 1, max: 15 }), state), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 20 }), (batches) => {
        const index = createKindIndex()
        const model = new Map<number, State>()
        for (const changes of batches) {
          index.apply(changes.map(([seq, next]) => change(seq, next)))
          for (const [seq, next] of changes) {
            if (next) model.set(seq, next)
            else model.delete(seq)
          }
          // Asked for in between, so that what is remembered has to be forgotten.
          index.byAge()
        }
        expectSame(index, model)
      }),
    )
  })

  it('uses slots again: what is edited many times takes the room of a few', () => {
    const index = createKindIndex()
    for (let i = 0; i < 500; i++) {
      const visibility = i % 3 === 0 ? 'private' : 'public'
      index.apply([change(1, { ...PUBLIC_ONE, visibility, words: [i % 8] }), change(2, i % 2 ? PUBLIC_ONE : null)])
    }
    expect(index.table.capacity).toBeLessThanOrEqual(8)
    expectSame(
      index,
      new Map([
        [1, { ...PUBLIC_ONE, words: [499 % 8] }],
        [2, PUBLIC_ONE],
      ]),
    )
  })

  it('keeps no ownPostings for who has nothing on it', () => {
    const index = createKindIndex()
    index.apply([change(1, { ...PUBLIC_ONE, visibility: 'private' })])
    expect(index.hiddenOf(new Set([1, 2]))?.items).toBe(1)
    index.apply([change(1, PUBLIC_ONE)])
    expect(index.hiddenOf(new Set([1, 2]))).toBeNull()
  })
})
