import { decodePostings } from '../analysis/indexed-text.ts'
import { createItemTable, FREE, type IndexedItem, type ItemTable, PUBLIC } from './item-table.ts'
import { createPostings, type Postings } from './postings.ts'

/** The words of an owner's items that only they may find: by slot, a number for each word with its code in the lowest eight bits. */
export interface PrivatePostings {
  readonly items: Map<number, Float64Array>
  /** In how many of them a word stands. */
  readonly counts: Map<number, number>
}

/**
 * Everything search knows of the items of one kind. Statistics and the inverted index are of public items alone:
 * what somebody keeps for themselves has no part in what others find, or in which order. Each owner's other items lie on a ownPostings of their own.
 */
export interface KindIndex {
  readonly table: ItemTable
  readonly postings: Postings
  readonly privatePostings: ReadonlyMap<number, PrivatePostings>
  /** Public items, and the sums of their lengths in words. */
  readonly totals: { items: number; titleLength: number; bodyLength: number }
  /** Where an item is, by its row number. */
  slotOf(seq: number): number | undefined
  countItems(): number
  /** Slots of public and hidden items by time, oldest first; may hold slots that are free. */
  byAge(): readonly number[]
  /** Takes changes in: an item with its words, or null for one that is gone. The last change of an item counts. */
  apply(changes: readonly ItemChange[]): void
  /** Two numbers a slot: what a word counts for less the longer the title is, and the rest. Zero where the slot is free. */
  norms(): Float32Array
}

/** How much of BM25's length normalisation applies to the title, and to the rest. */
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

/** What became of an item. `words` as `encodePostings` wrote them. */
export type ItemChange = { readonly seq: number } & (
  | { readonly item: IndexedItem; readonly words: Uint8Array }
  | { readonly item: null; readonly words: null }
)

/** An index of no items. */
export function createKindIndex(): KindIndex {
  const table = createItemTable()
  const postings = createPostings()
  const privatePostings = new Map<number, PrivatePostings>()
  const totals = { items: 0, titleLength: 0, bodyLength: 0 }
  const slots = new Map<number, number>()
  let ages: number[] | null = null
  let norms: ReturnType<KindIndex['norms']> | null = null

  const count = (slot: number, sign: 1 | -1): void => {
    totals.items += sign
    totals.titleLength += sign * (table.titleLength[slot] ?? 0)
    totals.bodyLength += sign * (table.bodyLength[slot] ?? 0)
  }
  const removePrivate = (slot: number): void => {
    const owner = table.ownerSeq[slot] ?? 0
    const ownPostings = privatePostings.get(owner)
    for (const entry of ownPostings?.items.get(slot) ?? []) {
      const word = Math.floor(entry / 256)
      const left = (ownPostings?.counts.get(word) ?? 1) - 1
      if (left > 0) ownPostings?.counts.set(word, left)
      else ownPostings?.counts.delete(word)
    }
    ownPostings?.items.delete(slot)
    if (ownPostings?.items.size === 0) privatePostings.delete(owner)
  }
  const remove = (seq: number, gone: Set<number>): void => {
    const slot = slots.get(seq)
    if (slot === undefined) return
    slots.delete(seq)
    if (table.state[slot] === PUBLIC) {
      count(slot, -1)
      gone.add(slot)
      table.hide(slot)
    } else {
      removePrivate(slot)
      table.release(slot)
    }
  }
  /** Puts an item in; gives its slot when it is public, and its words go into the postings. */
  const insert = (item: IndexedItem, words: Uint8Array): number | null => {
    const slot = table.take()
    slots.set(item.seq, slot)
    table.put(slot, item)
    if (item.visibility === 'public') {
      count(slot, 1)
      return slot
    }
    const ownPostings = privatePostings.get(item.ownerSeq) ?? { items: new Map<number, Float64Array>(), counts: new Map<number, number>() }
    privatePostings.set(item.ownerSeq, ownPostings)
    const entries: number[] = []
    decodePostings(words, (word, code) => {
      entries.push(word * 256 + code)
      ownPostings.counts.set(word, (ownPostings.counts.get(word) ?? 0) + 1)
    })
    ownPostings.items.set(slot, Float64Array.from(entries))
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
      ages ??= [...slots.values()].sort(
        (a, b) => (table.createdAt[a] ?? 0) - (table.createdAt[b] ?? 0) || (table.seq[a] ?? 0) - (table.seq[b] ?? 0),
      )
      return ages
    },
    apply(changes) {
      if (changes.length === 0) return
      ages = null
      const last = new Map(changes.map((change) => [change.seq, change]))
      const gone = new Set<number>()
      for (const seq of last.keys()) remove(seq, gone)
      if (gone.size > 0) postings.remove(gone)
      for (const slot of postings.takeFreedSlots()) table.release(slot)
      const added: Parameters<Postings['add']>[0][number][] = []
      for (const { item, words } of last.values()) {
        if (!item) continue
        const slot = insert(item, words)
        if (slot !== null) added.push({ slot, eachWord: (take) => decodePostings(words, take) })
      }
      postings.add(added)
      norms = null
    },
  }
}
