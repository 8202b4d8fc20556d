import { expect, it } from 'vitest'
import { encodePostings } from '../analysis/indexed-text.ts'
import { type IndexedItem, PUBLIC } from '../index/item-table.ts'
import { createKindIndex, type ItemChange } from '../index/kind-index.ts'
import { makeScratch, scoreWords } from './scores.ts'

const WORD = 1
const OWNER = 7

/** An item that has the word once, among so many in its text. */
function holding(seq: number, bodyLength: number, audience: number | null = PUBLIC): ItemChange {
  const item: IndexedItem = {
    seq,
    ownerSeq: OWNER,
    authorSeq: OWNER,
    categorySeq: null,
    type: 'TEXT',
    audience,
    createdAt: seq,
    votes: 0,
    tags: [],
    titleLength: 1,
    bodyLength,
    titleKey: 0,
    vector: null,
  }
  return { seq, item, words: encodePostings([{ word: WORD, code: 1 }]) }
}

/** The score of each item that has the word, by number. */
function scores(index: ReturnType<typeof createKindIndex>): Map<number, number> {
  const view = index.view([PUBLIC])
  const group = { word: 'word', isInLibrary: true, concepts: [{ words: [WORD], weight: 1, isWord: true }] }
  const own = view.hiddenOf(new Set([OWNER]))
  const { slots, count, scoreOf } = scoreWords(view, makeScratch(view.table.capacity), { groups: [group], corrections: new Map() }, own)
  return new Map(Array.from(slots.subarray(0, count), (slot) => [view.table.seq[slot] ?? 0, scoreOf(slot)]))
}

it('lets words count for less in longer items, and for nothing in what is gone', () => {
  const index = createKindIndex()
  index.apply([holding(1, 1), holding(2, 6), holding(3, 1), holding(4, 6, null)])
  const before = scores(index)
  expect(before.get(1)).toBeGreaterThan(before.get(2) ?? Number.POSITIVE_INFINITY)
  expect(before.get(3)).toBe(before.get(1))
  expect(before.get(4)).toBe(before.get(2))
  index.apply([{ seq: 3, item: null, words: null }])
  expect([...scores(index).keys()].sort()).toEqual([1, 2, 4])
})

it('measures lengths by the mean of the moment', () => {
  const index = createKindIndex()
  index.apply([holding(1, 5), holding(2, 5, null)])
  const before = scores(index).get(2) ?? 0
  // Longer items beside it make it a short one.
  index.apply([holding(3, 500), holding(4, 500)])
  const share = (all: Map<number, number>) => (all.get(2) ?? 0) / (all.get(3) ?? 0)
  expect(before).toBeGreaterThan(0)
  expect(share(scores(index))).toBeGreaterThan(1.5)
  index.apply([holding(3, 5), holding(4, 5)])
  expect(share(scores(index))).toBe(1)
})

it('scores items without a word in titles or texts', () => {
  const index = createKindIndex()
  const empty = holding(1, 0)
  index.apply([{ ...empty, item: empty.item && { ...empty.item, titleLength: 0 } } as ItemChange])
  expect(scores(index).get(1)).toBeGreaterThan(0)
})
