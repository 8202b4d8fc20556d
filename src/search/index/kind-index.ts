import { decodePostings } from '../analysis/indexed-text.ts'
import { createItemTable, FREE, type IndexedItem, type ItemTable, PUBLIC } from './item-table.ts'
import { createPostings, type Postings } from './postings.ts'

/** The postings of one owner's hidden items. By slot: `word * 256 + code`, ascending. */
export interface PrivatePostings {
  readonly items: Map<number, Float64Array>
  /** How many of the items have an encoder's vector. */
  encoded: number
  /** Document frequency by word. */
  readonly counts: Map<number, number>
}

/**
 * The index of one kind of item. Statistics and the inverted index cover public items only, so that hidden items never influence
 * what others find, or in which order. Hidden items are in their owner's private postings.
 */
export interface KindIndex {
  readonly table: ItemTable
  readonly postings: Postings
  readonly privatePostings: ReadonlyMap<number, PrivatePostings>
  /** Number of public items, how many of them have an encoder's vector, and the sums of their lengths in words. */
  readonly totals: { items: number; encoded: number; titleLength: number; bodyLength: number }
  /** Slot of an item, by its row number. */
  slotOf(seq: number): number | undefined
  countItems(): number
  /** Slots by creation time, oldest first; may include free slots. */
  byAge(): readonly number[]
  /** Applies changes. Of several changes to an item, the last wins. */
  apply(changes: readonly ItemChange[]): void
  /** Sets or removes encoder's vectors. Items that the index does not hold are passed over. */
  applyVectors(changes: readonly VectorChange[]): void
  /** BM25 length norms, two per slot: title, then body. Zero for free slots. */
  norms(): Float32Array
}

/** BM25's b, for the title and the body. */
const TITLE_LENGTH_PART = 0.5
const BODY_LENGTH_PART = 0.8

function lengthNorms(table: ItemTable, totals: KindIndex['totals']): Float32Array {
  const norms = new Float32Array(table.capacity * 2)
  const meanTitle = totals.titleLength / totals.items || 1
  const meanBody = totals.bodyLength / totals.items || 1
  for (let slot = 0; slot < table.capacity; slot++) {
    if (table.state[slot] === FREE) continue
    norms[slot * 2] = 1 / (1 - TITLE_LENGTH_PART + (TITLE_LENGTH_PART * (table.titleLength[slot] ?? 0)) / meanTitle)
    norms[slot * 2 + 1] = 1 / (1 - BODY_LENGTH_PART + (BODY_LENGTH_PART * (table.bodyLength[slot] ?? 0)) / meanBody)
  }
  return norms
}

/** An upsert or delete of one item. `words` is from `encodePostings`. */
export type ItemChange = { readonly seq: number } & (
  | { readonly item: IndexedItem; readonly words: Uint8Array }
  | { readonly item: null; readonly words: null }
)

/** An encoder's vector of an item: 384 integers from -127 to 127. null: its text changed, or the vector is of another model. */
export interface VectorChange {
  readonly seq: number
  readonly vector: Int8Array | null
}

/** An empty index. */
export function createKindIndex(): KindIndex {
  const table = createItemTable()
  const postings = createPostings()
  const privatePostings = new Map<number, PrivatePostings>()
  const totals = { items: 0, encoded: 0, titleLength: 0, bodyLength: 0 }
  const slots = new Map<number, number>()
  let slotsByAge: number[] | null = null
  let norms: ReturnType<KindIndex['norms']> | null = null

  const adjustTotals = (slot: number, sign: 1 | -1): void => {
    totals.items += sign
    totals.titleLength += sign * (table.titleLength[slot] ?? 0)
    totals.bodyLength += sign * (table.bodyLength[slot] ?? 0)
  }
  const removePrivate = (slot: number): void => {
    const owner = table.ownerSeq[slot] ?? 0
    const own = privatePostings.get(owner)
    for (const entry of own?.items.get(slot) ?? []) {
      const word = Math.floor(entry / 256)
      const remaining = (own?.counts.get(word) ?? 1) - 1
      if (remaining > 0) own?.counts.set(word, remaining)
      else own?.counts.delete(word)
    }
    own?.items.delete(slot)
    if (own?.items.size === 0) privatePostings.delete(owner)
  }
  const setVector = (slot: number, vector: Int8Array | null): void => {
    const counted = table.state[slot] === PUBLIC ? totals : privatePostings.get(table.ownerSeq[slot] ?? 0)
    if (counted) counted.encoded += Number(vector !== null) - Number(table.sentenceVectors.has(slot))
    table.sentenceVectors.put(slot, vector)
  }
  const remove = (seq: number, deleted: Set<number>): void => {
    const slot = slots.get(seq)
    if (slot === undefined) return
    slots.delete(seq)
    setVector(slot, null)
    if (table.state[slot] === PUBLIC) {
      adjustTotals(slot, -1)
      deleted.add(slot)
      table.hide(slot)
    } else {
      removePrivate(slot)
      table.release(slot)
    }
  }
  /** Adds an item. Gives its slot when it is public and its words must go into the postings. */
  const insert = (item: IndexedItem, words: Uint8Array): number | null => {
    const slot = table.take()
    slots.set(item.seq, slot)
    table.put(slot, item)
    if (item.visibility === 'public') {
      adjustTotals(slot, 1)
      return slot
    }
    const own = privatePostings.get(item.ownerSeq) ?? {
      items: new Map<number, Float64Array>(),
      encoded: 0,
      counts: new Map<number, number>(),
    }
    privatePostings.set(item.ownerSeq, own)
    const entries: number[] = []
    decodePostings(words, (word, code) => {
      entries.push(word * 256 + code)
      own.counts.set(word, (own.counts.get(word) ?? 0) + 1)
    })
    own.items.set(slot, Float64Array.from(entries))
    return null
  }
  return {
    table,
    postings,
    privatePostings,
    totals,
    slotOf: (seq) => slots.get(seq),
    countItems: () => slots.size,
    norms() {
      norms ??= lengthNorms(table, totals)
      return norms
    },
    byAge() {
      slotsByAge ??= [...slots.values()].sort(
        (a, b) => (table.createdAt[a] ?? 0) - (table.createdAt[b] ?? 0) || (table.seq[a] ?? 0) - (table.seq[b] ?? 0),
      )
      return slotsByAge
    },
    apply(changes) {
      if (changes.length === 0) return
      slotsByAge = null
      const last = new Map(changes.map((change) => [change.seq, change]))
      const deleted = new Set<number>()
      const vectors = new Map<number, Int8Array>()
      for (const seq of last.keys()) {
        const vector = table.sentenceVectors.get(slots.get(seq) ?? -1)
        if (vector) vectors.set(seq, vector.slice())
        remove(seq, deleted)
      }
      if (deleted.size > 0) postings.remove(deleted)
      for (const slot of postings.takeFreedSlots()) table.release(slot)
      const added: Parameters<Postings['add']>[0][number][] = []
      for (const { item, words } of last.values()) {
        if (!item) continue
        const slot = insert(item, words)
        const vector = vectors.get(item.seq)
        if (vector) setVector(slots.get(item.seq) ?? 0, vector)
        if (slot !== null) added.push({ slot, eachWord: (take) => decodePostings(words, take) })
      }
      postings.add(added)
      norms = null
    },
    applyVectors(changes) {
      for (const { seq, vector } of changes) {
        const slot = slots.get(seq)
        if (slot !== undefined) setVector(slot, vector)
      }
    },
  }
}
