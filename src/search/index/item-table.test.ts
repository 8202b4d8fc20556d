import { describe, expect, it } from 'vitest'
import { DIMS } from '../vectors/word-vectors.ts'
import { createItemTable, FREE, HIDDEN, type IndexedItem, PUBLIC } from './item-table.ts'

function makeItem(seq: number, more: Partial<IndexedItem> = {}): IndexedItem {
  return {
    seq,
    ownerSeq: seq + 1,
    authorSeq: seq + 2,
    categorySeq: seq + 3,
    type: 'TEXT',
    audience: PUBLIC,
    createdAt: seq + 4,
    votes: seq + 5,
    tags: [{ slug: `t${seq}`, name: `T${seq}` }],
    titleLength: seq + 6,
    bodyLength: seq + 7,
    titleKey: seq + 8,
    vector: Int8Array.from({ length: DIMS }, (_, i) => ((seq + i) % 255) - 127),
    ...more,
  }
}

function read(table: ReturnType<typeof createItemTable>, slot: number): IndexedItem {
  return {
    seq: table.seq[slot] ?? Number.NaN,
    ownerSeq: table.ownerSeq[slot] ?? Number.NaN,
    authorSeq: table.authorSeq[slot] ?? Number.NaN,
    categorySeq: table.categorySeq[slot] ?? Number.NaN,
    type: table.typeOf(slot),
    audience: table.state[slot] === HIDDEN ? null : (table.state[slot] ?? Number.NaN),
    createdAt: table.createdAt[slot] ?? Number.NaN,
    votes: table.votes[slot] ?? Number.NaN,
    tags: table.tagsOf(slot),
    titleLength: table.titleLength[slot] ?? Number.NaN,
    bodyLength: table.bodyLength[slot] ?? Number.NaN,
    titleKey: table.titleKey[slot] ?? Number.NaN,
    vector: table.wordVectors.get(slot)?.slice() ?? null,
  }
}

describe('createItemTable', () => {
  it('keeps every column as it grows', () => {
    const table = createItemTable()
    const slots = Array.from({ length: 3000 }, (_, seq) => {
      const slot = table.take()
      table.put(slot, makeItem(seq))
      return slot
    })
    expect(new Set(slots).size).toBe(3000)
    expect(table.capacity).toBe(3000)
    for (const [seq, slot] of slots.entries()) {
      expect(read(table, slot)).toEqual(makeItem(seq))
    }
  })

  it('gives a released slot again, and a hidden one not', () => {
    const table = createItemTable()
    const [first, second] = [table.take(), table.take()]
    table.put(first, makeItem(1))
    table.put(second, makeItem(2))
    table.hide(first)
    table.release(second)
    expect([table.state[first], table.state[second], table.tagsOf(second)]).toEqual([FREE, FREE, []])
    expect(table.take()).toBe(second)
    expect(table.take()).not.toBe(first)
    expect(table.capacity).toBe(3)
  })

  it('leaves nothing of the item a slot held before', () => {
    const table = createItemTable()
    const slot = table.take()
    table.put(slot, makeItem(1))
    table.sentenceVectors.put(slot, new Int8Array(384).fill(1))
    table.release(slot)
    expect(table.sentenceVectors.has(slot)).toBe(false)
    const bare = makeItem(9, { categorySeq: null, type: null, tags: [], vector: null, audience: null })
    table.put(table.take(), bare)
    expect(read(table, slot)).toEqual({ ...bare, categorySeq: 0 })
  })
})
