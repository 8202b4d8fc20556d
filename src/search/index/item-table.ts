import type { Tag } from '../../library/items.ts'
import type { Visibility } from '../../library/visibility.ts'
import { createVectorColumns, type VectorColumns } from '../vectors/vector-columns.ts'
import { DIMS } from '../vectors/word-vectors.ts'

/** Components of the encoder's vectors. */
export const SENTENCE_DIMS = 384

/** An item without its words. `…Seq` are row numbers of the store. */
export interface IndexedItem {
  readonly seq: number
  readonly ownerSeq: number
  readonly authorSeq: number
  readonly categorySeq: number | null
  readonly type: string | null
  readonly visibility: Visibility
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly votes: number
  readonly tags: readonly Tag[]
  readonly titleLength: number
  readonly bodyLength: number
  /** See `titleKey` in `analysis/query.ts`. */
  readonly titleKey: number
  /** See {@link import('../vectors/embedder.ts').Embedder.embedItem}. */
  readonly vector: Int8Array | null
}

/** State of a slot: no visible item, a public item, or one that only its owner finds. */
export const FREE = 0
export const PUBLIC = 1
export const HIDDEN = 2

/** Items as columns by slot: compact, and fast to scan. */
export interface ItemTable {
  /** Highest slot in use, plus one. */
  readonly capacity: number
  readonly state: Uint8Array
  readonly seq: Float64Array
  readonly ownerSeq: Float64Array
  readonly authorSeq: Float64Array
  readonly categorySeq: Float64Array
  readonly votes: Float64Array
  readonly createdAt: Float64Array
  readonly titleLength: Float64Array
  readonly bodyLength: Float64Array
  /** See `titleKey` in `analysis/query.ts`. */
  readonly titleKey: Float64Array
  /** Vectors made of the word table. */
  readonly wordVectors: VectorColumns
  /** The encoder's vectors. */
  readonly sentenceVectors: VectorColumns
  typeOf(slot: number): string | null
  tagsOf(slot: number): readonly Tag[]
  put(slot: number, item: IndexedItem): void
  /** Hides the slot's item without freeing the slot: postings still refer to it. */
  hide(slot: number): void
  release(slot: number): void
  /** Gives a free slot. */
  take(): number
}

/** An empty table. Growing replaces its columns: read them from the table each time. */
export function createItemTable(): ItemTable {
  const free: number[] = []
  const types: (string | null)[] = []
  const tags: (readonly Tag[])[] = []
  const table = {
    capacity: 0,
    wordVectors: createVectorColumns(DIMS),
    sentenceVectors: createVectorColumns(SENTENCE_DIMS),
    ...columns(256),
    typeOf: (slot: number) => types[slot] ?? null,
    tagsOf: (slot: number) => tags[slot] ?? [],
    put(slot: number, item: IndexedItem): void {
      table.state[slot] = item.visibility === 'public' ? PUBLIC : HIDDEN
      table.seq[slot] = item.seq
      table.ownerSeq[slot] = item.ownerSeq
      table.authorSeq[slot] = item.authorSeq
      table.categorySeq[slot] = item.categorySeq ?? 0
      table.votes[slot] = item.votes
      table.createdAt[slot] = item.createdAt
      table.titleLength[slot] = item.titleLength
      table.bodyLength[slot] = item.bodyLength
      types[slot] = item.type
      tags[slot] = item.tags
      table.titleKey[slot] = item.titleKey
      table.wordVectors.put(slot, item.vector)
      table.sentenceVectors.put(slot, null)
    },
    hide(slot: number): void {
      table.state[slot] = FREE
    },
    release(slot: number): void {
      table.state[slot] = FREE
      tags[slot] = []
      table.sentenceVectors.put(slot, null)
      free.push(slot)
    },
    take(): number {
      const slot = free.pop() ?? table.capacity++
      if (slot >= table.state.length) Object.assign(table, grow(table, table.state.length * 2))
      return slot
    },
  }
  return table
}

function columns(length: number) {
  return {
    state: new Uint8Array(length),
    seq: new Float64Array(length),
    ownerSeq: new Float64Array(length),
    authorSeq: new Float64Array(length),
    categorySeq: new Float64Array(length),
    votes: new Float64Array(length),
    createdAt: new Float64Array(length),
    titleLength: new Float64Array(length),
    bodyLength: new Float64Array(length),
    titleKey: new Float64Array(length),
  }
}

type Columns = ReturnType<typeof columns>

function grow(from: Columns, length: number): Columns {
  const to = columns(length)
  to.state.set(from.state)
  to.seq.set(from.seq)
  to.ownerSeq.set(from.ownerSeq)
  to.authorSeq.set(from.authorSeq)
  to.categorySeq.set(from.categorySeq)
  to.votes.set(from.votes)
  to.createdAt.set(from.createdAt)
  to.titleLength.set(from.titleLength)
  to.bodyLength.set(from.bodyLength)
  to.titleKey.set(from.titleKey)
  return to
}
