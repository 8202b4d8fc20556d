import { decodePostings } from '../analysis/indexed-text.ts'
import type { Centre } from '../vectors/arithmetic.ts'
import { createHiddenPostings, type HiddenItem } from './hidden-postings.ts'
import { type Audience, createItemTable, FREE, type HeldTable, HIDDEN, type IndexedItem, PUBLIC } from './item-table.ts'
import { createPostings, type Postings, type Segment } from './postings.ts'

/** Number of an audience's items, how many of them have an encoder's vector, and the sums of their lengths in words. */
interface Totals {
  items: number
  encoded: number
  titleLength: number
  bodyLength: number
}

/**
 * The index of one kind of item. Each audience has statistics and an inverted index of its own, so that items never influence what those
 * find who cannot see them, or in which order. Hidden items are in their owner's private postings.
 */
export type KindIndex = ReturnType<typeof createKindIndex>

/** The postings of an audience at one moment. */
export interface HeldAudience {
  readonly audience: Audience
  readonly segments: readonly Segment[]
  /** Slots of deleted items that the segments still have. */
  readonly deleted: Uint32Array
}

/** A {@link KindIndex} at one moment. */
export interface HeldKind {
  readonly columns: HeldTable
  readonly audiences: readonly HeldAudience[]
  readonly hidden: readonly HiddenItem[]
  release(): void
}

/** The view that one search reads: the items of some audiences as one. Later changes make it stale. */
export interface IndexView extends Pick<KindIndex, 'table' | 'hiddenOf' | 'slotOf' | 'byAge'> {
  /** 1 for each state of a slot that is one of the audiences, by state. */
  readonly openStates: Uint8Array
  readonly postings: Pick<Postings, 'segments' | 'countOf'>
  readonly totals: Readonly<Totals>
  /** Whether statistics are those of public items alone, whatever the audiences: how many items matched says nothing then. */
  readonly isNarrowed: boolean
}

/** Changes that are placed one by one among the slots by age; for more, they are sorted again when they are needed. */
const MAX_PLACED = 100

/** An upsert or delete of one item. `words` is from `encodePostings`. */
export type ItemChange = { readonly seq: number } & (
  | { readonly item: IndexedItem; readonly words: Uint8Array }
  | { readonly item: null; readonly words: null }
)

/** An encoder's vector of an item: integers from -127 to 127. null: its text changed, or the vector is of another model. */
export interface VectorChange {
  readonly seq: number
  readonly vector: Int8Array | null
}

/** The inverted index and the statistics of one audience. */
interface AudienceIndex {
  readonly postings: Postings
  readonly totals: Totals
}

function createAudienceIndex(): AudienceIndex {
  return { postings: createPostings(), totals: { items: 0, encoded: 0, titleLength: 0, bodyLength: 0 } }
}

/** States that a byte holds. */
const MAX_STATES = 256

/** Joins audiences as they are now. @param statistics used instead of those of the parts */
function joinParts(
  shared: Pick<IndexView, 'table' | 'hiddenOf' | 'slotOf' | 'byAge'>,
  audiences: readonly Audience[],
  parts: readonly AudienceIndex[],
  statistics: AudienceIndex | null,
): IndexView {
  const filled = parts.filter(({ totals }) => totals.items > 0)
  const [first, ...others] = filled
  const { postings, totals } = statistics ?? (first && others.length === 0 ? first : addUp(filled))
  const openStates = new Uint8Array(MAX_STATES)
  for (const audience of audiences) openStates[audience] = 1
  return {
    ...shared,
    openStates,
    postings: { segments: filled.flatMap((part) => part.postings.segments), countOf: postings.countOf },
    totals,
    isNarrowed: statistics !== null,
  }
}

function addUp(parts: readonly AudienceIndex[]) {
  const sum = (of: (part: AudienceIndex) => number) => parts.reduce((total, part) => total + of(part), 0)
  return {
    postings: { countOf: (word: number) => sum(({ postings }) => postings.countOf(word)) },
    totals: {
      items: sum(({ totals }) => totals.items),
      encoded: sum(({ totals }) => totals.encoded),
      titleLength: sum(({ totals }) => totals.titleLength),
      bodyLength: sum(({ totals }) => totals.bodyLength),
    },
  }
}

/** The entry of a key, `empty` when there was none. */
function addTo<K, V>(map: Map<K, V>, key: K, empty: V): V {
  const entry = map.get(key) ?? empty
  map.set(key, entry)
  return entry
}

/** An empty index. @param centre of the encoder's vectors, as {@link createVectorColumns} takes it */
export function createKindIndex(centre: Centre | null = null) {
  const table = createItemTable(centre)
  const parts = new Map<Audience, AudienceIndex>()
  const hidden = createHiddenPostings()
  /** By row number. */
  const slots = new Map<number, number>()
  /** null until it is needed, and after large changes. */
  let slotsByAge: number[] | null = null
  let lostWords = 0
  const compareAges = (a: number, b: number): number =>
    (table.createdAt[a] ?? 0) - (table.createdAt[b] ?? 0) || (table.seq[a] ?? 0) - (table.seq[b] ?? 0)
  /** Where a slot is among the others by its age, or belongs. */
  const placeByAge = (sorted: readonly number[], slot: number): number => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAges(sorted[middle] ?? 0, slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  const partOf = (audience: Audience): AudienceIndex => {
    const part = parts.get(audience) ?? createAudienceIndex()
    parts.set(audience, part)
    return part
  }
  const adjustTotals = (slot: number, sign: 1 | -1): void => {
    const { totals } = partOf(table.state[slot] ?? FREE)
    totals.items += sign
    totals.titleLength += sign * (table.titleLength[slot] ?? 0)
    totals.bodyLength += sign * (table.bodyLength[slot] ?? 0)
  }
  const setVector = (slot: number, vector: Int8Array | null): void => {
    const { dims } = table.sentenceVectors
    // The model makes others than before: the old ones are gone.
    if (vector && dims > 0 && vector.length !== dims) for (const other of slots.values()) setVector(other, null)
    const state = table.state[slot] ?? FREE
    const more = Number(vector !== null) - Number(table.sentenceVectors.has(slot))
    if (state === HIDDEN) hidden.addEncoded(table.ownerSeq[slot] ?? 0, more)
    else partOf(state).totals.encoded += more
    table.sentenceVectors.put(slot, vector)
  }
  /** Removes an item; its slot is in `deleted` when its words must go out of an audience's postings. */
  const remove = (seq: number, deleted: Map<Audience, Set<number>>): void => {
    const slot = slots.get(seq)
    if (slot === undefined) return
    // While the slot has the item's age.
    slotsByAge?.splice(placeByAge(slotsByAge, slot), 1)
    slots.delete(seq)
    lostWords += (table.titleLength[slot] ?? 0) + (table.bodyLength[slot] ?? 0)
    setVector(slot, null)
    const state = table.state[slot] ?? FREE
    if (state === HIDDEN) {
      hidden.remove(table.ownerSeq[slot] ?? 0, slot)
      table.release(slot)
      return
    }
    adjustTotals(slot, -1)
    addTo(deleted, state, new Set<number>()).add(slot)
    table.hide(slot)
  }
  /** Adds an item. Gives its slot when its words must go into its audience's postings. */
  const insert = (item: IndexedItem, words: Uint8Array): number | null => {
    const slot = table.take()
    slots.set(item.seq, slot)
    table.put(slot, item)
    slotsByAge?.splice(placeByAge(slotsByAge, slot), 0, slot)
    if (item.audience !== null) {
      adjustTotals(slot, 1)
      return slot
    }
    hidden.add(item.ownerSeq, slot, (take) => decodePostings(words, take))
    return null
  }
  const shared = {
    table,
    hiddenOf: hidden.of,
    slotOf: (seq: number) => slots.get(seq),
    byAge(): readonly number[] {
      slotsByAge ??= [...slots.values()].sort(compareAges)
      return slotsByAge
    },
  }
  return {
    ...shared,
    countItems: (): number => slots.size,
    /** Whether an item may hold a word. */
    hasWord: (word: number): boolean => hidden.has(word) || [...parts.values()].some(({ postings }) => postings.countOf(word) > 0),
    /** About how many words items have lost since the last call. */
    takeLostWords(): number {
      const lost = lostWords
      lostWords = 0
      return lost
    },
    /** The index as it is now for those who are in all of some audiences. @param isNarrowed as in {@link IndexView} */
    view(audiences: readonly Audience[], isNarrowed: boolean = false): IndexView {
      return joinParts(shared, audiences, audiences.map(partOf), isNarrowed ? partOf(PUBLIC) : null)
    },
    /** Applies changes. Of several changes to an item, the last wins. */
    apply(changes: readonly ItemChange[]): void {
      if (changes.length === 0) return
      if (changes.length > MAX_PLACED) slotsByAge = null
      const last = new Map(changes.map((change) => [change.seq, change]))
      const deleted = new Map<Audience, Set<number>>()
      const vectors = new Map<number, Int8Array>()
      for (const seq of last.keys()) {
        const vector = table.sentenceVectors.get(slots.get(seq) ?? -1)
        if (vector) vectors.set(seq, vector.slice())
        remove(seq, deleted)
      }
      for (const [audience, { postings }] of parts) {
        const gone = deleted.get(audience)
        if (gone) postings.remove(gone)
        for (const slot of postings.takeFreedSlots()) table.release(slot)
      }
      const added = new Map<Audience, Parameters<Postings['add']>[0][number][]>()
      for (const { item, words } of last.values()) {
        if (!item) continue
        const slot = insert(item, words)
        const vector = vectors.get(item.seq)
        if (vector) setVector(slots.get(item.seq) ?? 0, vector)
        if (slot === null || item.audience === null) continue
        addTo(added, item.audience, []).push({ slot, eachWord: (take) => decodePostings(words, take) })
      }
      // Postings take their turns of purging when something is added, be it nothing.
      for (const [audience, { postings }] of parts) postings.add(added.get(audience) ?? [])
    },
    /** Holds the index as it is now, until released. Changes go on meanwhile. */
    hold(): HeldKind {
      const held = Array.from(parts, ([audience, { postings }]) => ({ audience, ...postings.hold() }))
      const columns = table.hold()
      return {
        columns,
        audiences: held,
        hidden: hidden.list(),
        release() {
          columns.release()
          for (const one of held) one.release()
        },
      }
    },
    /** Completes an index whose table was filled: takes over postings and hidden items, and finds what follows from both. */
    complete(postings: readonly HeldAudience[], hiddenItems: Iterable<HiddenItem>): void {
      const isDeleted = new Uint8Array(table.capacity)
      for (const { deleted } of postings) for (const slot of deleted) isDeleted[slot] = 1
      for (const { owner, slot, words, codes } of hiddenItems) {
        hidden.add(owner, slot, (take) => {
          for (let i = 0; i < words.length; i++) take(words[i] ?? 0, codes[i] ?? 0)
        })
      }
      const { capacity, state, seq, ownerSeq, titleLength, bodyLength, sentenceVectors } = table
      let audience: Audience = PUBLIC
      let { totals } = partOf(audience)
      for (let slot = 0; slot < capacity; slot++) {
        const now = state[slot] ?? FREE
        if (now === FREE) {
          if (isDeleted[slot] === 0) table.release(slot)
          continue
        }
        slots.set(seq[slot] ?? 0, slot)
        const encoded = Number(sentenceVectors.has(slot))
        sentenceVectors.complete(slot)
        if (now === HIDDEN) {
          hidden.addEncoded(ownerSeq[slot] ?? 0, encoded)
          continue
        }
        if (now !== audience) {
          audience = now
          totals = partOf(audience).totals
        }
        totals.items++
        totals.encoded += encoded
        totals.titleLength += titleLength[slot] ?? 0
        totals.bodyLength += bodyLength[slot] ?? 0
      }
      for (const { audience: of, ...held } of postings) {
        const part = partOf(of)
        part.postings.load(held, part.totals.items)
      }
      slotsByAge = null
    },
    /** Sets or removes encoder's vectors. Items that the index does not hold are passed over. */
    applyVectors(changes: readonly VectorChange[]): void {
      for (const { seq, vector } of changes) {
        const slot = slots.get(seq)
        if (slot !== undefined) setVector(slot, vector)
      }
    },
  }
}
