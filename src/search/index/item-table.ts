import { MAX_TAGS } from '../../domain/items/fields.ts'
import type { Tag } from '../../domain/items/items.ts'
import type { Centre } from '../vectors/centre.ts'
import { type Column, createVectorColumns, type VectorColumns } from '../vectors/vector-columns.ts'
import { type HeldColumns, holdColumns } from './held-columns.ts'

/** Numbers for tags, from 1 in the order they came, so that items hold tags as numbers. A number is never given again. */
type TagNumbers = ReturnType<typeof createTagNumbers>

/** No tags yet. */
function createTagNumbers() {
  const tags: (Tag | null)[] = []
  /** Most slugs have one spelling: its number, instead of a list. */
  const bySlug = new Map<string, number | number[]>()
  const withSlug = (slug: string): readonly number[] => {
    const spellings = bySlug.get(slug) ?? []
    return typeof spellings === 'number' ? [spellings] : spellings
  }
  const push = ({ slug, name }: Tag): number => {
    // One string instead of two equal ones.
    const number = tags.push({ slug, name: name === slug ? slug : name })
    const spellings = withSlug(slug)
    bySlug.set(slug, spellings.length === 0 ? number : [...spellings, number])
    return number
  }
  return {
    /** Largest number given. */
    get last() {
      return tags.length
    },
    /** The number of a tag as it is spelled, a new one when there is none. */
    add: (tag: Tag): number => withSlug(tag.slug).find((number) => tags[number - 1]?.name === tag.name) ?? push(tag),
    tagOf(number: number): Tag {
      const tag = tags[number - 1]
      if (!tag) throw new RangeError(`no tag has the number ${number}`)
      return tag
    },
    /** The numbers of a tag's spellings. */
    withSlug,
    /** Fills empty numbers with tags, from 1 on; null for one that no item holds. */
    load(all: readonly (Tag | null)[]): void {
      for (const tag of all) {
        if (tag) push(tag)
        else tags.push(null)
      }
    },
  }
}

/** Those who find an item besides its owner. A number from `PUBLIC` up, as it is the state of the item's slot. */
export type Audience = number

/** State of a slot without a visible item, and of one whose item only its owner finds. */
export const FREE = 0
export const HIDDEN = 1
/** The audience of everybody. */
export const PUBLIC: Audience = 2
/** The audience of those who are signed in. */
export const MEMBERS: Audience = 3

/** An item without its words. `…Seq` are row numbers of the store. */
export interface IndexedItem {
  readonly seq: number
  readonly ownerSeq: number
  readonly authorSeq: number
  readonly categorySeq: number | null
  readonly type: string | null
  /** null: its owner alone finds it. */
  readonly audience: Audience | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly votes: number
  /** At most `MAX_TAGS`. */
  readonly tags: readonly Tag[]
  readonly titleLength: number
  readonly bodyLength: number
  /** See `titleKey` in `analysis/query.ts`. */
  readonly titleKey: number
  /** See {@link import('../vectors/embedder.ts').Embedder.embedItem}. */
  readonly vector: Int8Array | null
}

/** Numbers of each vector; 0 where there is none. */
interface VectorDims {
  readonly wordDims: number
  readonly sentenceDims: number
}

/** Columns of a table at one moment: its own, and those of vectors that it had. */
export type HeldTable = HeldColumns & VectorDims

/** Items as columns by slot: compact, and fast to scan. */
export interface ItemTable {
  /** Highest slot in use, plus one. */
  readonly capacity: number
  /** `FREE`, `HIDDEN` or an audience. */
  readonly state: Uint8Array
  readonly seq: Float64Array
  readonly ownerSeq: Float64Array
  readonly authorSeq: Float64Array
  readonly categorySeq: Float64Array
  readonly votes: Float64Array
  readonly createdAt: Float64Array
  readonly titleLength: Uint32Array
  readonly bodyLength: Uint32Array
  /** See `titleKey` in `analysis/query.ts`. */
  readonly titleKey: Float64Array
  /** Vectors made of the word table. */
  readonly wordVectors: VectorColumns
  /** The encoder's vectors. */
  readonly sentenceVectors: VectorColumns
  /** Number of the item's type, one more than its place in `types`; 0: it has none. */
  readonly type: Uint8Array
  /** Every type that an item had. */
  readonly types: string[]
  /** `MAX_TAGS` numbers a slot, of `tagNumbers`; those after the item's last tag are 0. */
  readonly tags: Uint32Array
  readonly tagNumbers: TagNumbers
  typeOf(slot: number): string | null
  tagsOf(slot: number): Tag[]
  put(slot: number, item: IndexedItem): void
  /** Hides the slot's item without freeing the slot: postings still refer to it. */
  hide(slot: number): void
  release(slot: number): void
  /** Gives a free slot. */
  take(): number
  /** All columns, in an order that does not change. Those of vectors are empty until there is one. */
  allColumns(): readonly Column[]
  /** Holds the columns that are not empty as they are now, until released. Changes go on: what they change is copied first. */
  hold(): HeldTable
  /** Makes an empty table of this many slots, none of them free, to be filled through its columns. */
  reserve(slots: number, dims: VectorDims): void
}

/** An empty table. Growing replaces its columns: read them from the table each time. @param centre of the encoder's vectors */
export function createItemTable(centre: Centre | null = null): ItemTable {
  const free: number[] = []
  const types: string[] = []
  const tagNumbers = createTagNumbers()
  const typeNumber = (type: string | null): number => {
    if (type === null) return 0
    const place = types.indexOf(type)
    return place < 0 ? types.push(type) : place + 1
  }
  let held: HeldColumns | null = null
  const beforeChange = (slot: number): void => held?.beforeChange(slot)
  const allColumns = (): readonly Column[] => [
    ...OWN_COLUMNS.map((name) => ({ numbers: table[name], width: name === 'tags' ? MAX_TAGS : 1 })),
    ...table.wordVectors.columns(),
    ...table.sentenceVectors.columns(),
  ]
  const table = {
    capacity: 0,
    wordVectors: createVectorColumns({ beforeChange }),
    sentenceVectors: createVectorColumns({ beforeChange, centre }),
    ...columns(256),
    types,
    tagNumbers,
    typeOf: (slot: number) => types[(table.type[slot] ?? 0) - 1] ?? null,
    tagsOf(slot: number): Tag[] {
      const numbers = table.tags.subarray(slot * MAX_TAGS, (slot + 1) * MAX_TAGS)
      return Array.from(
        numbers.filter((number) => number > 0),
        tagNumbers.tagOf,
      )
    },
    put(slot: number, item: IndexedItem): void {
      beforeChange(slot)
      table.state[slot] = item.audience ?? HIDDEN
      table.seq[slot] = item.seq
      table.ownerSeq[slot] = item.ownerSeq
      table.authorSeq[slot] = item.authorSeq
      table.categorySeq[slot] = item.categorySeq ?? 0
      table.votes[slot] = item.votes
      table.createdAt[slot] = item.createdAt
      table.titleLength[slot] = item.titleLength
      table.bodyLength[slot] = item.bodyLength
      table.type[slot] = typeNumber(item.type)
      for (let i = 0; i < MAX_TAGS; i++) {
        const tag = item.tags[i]
        table.tags[slot * MAX_TAGS + i] = tag ? tagNumbers.add(tag) : 0
      }
      table.titleKey[slot] = item.titleKey
      table.wordVectors.put(slot, item.vector)
      table.sentenceVectors.put(slot, null)
    },
    hide(slot: number): void {
      beforeChange(slot)
      table.state[slot] = FREE
    },
    release(slot: number): void {
      beforeChange(slot)
      table.state[slot] = FREE
      table.tags.fill(0, slot * MAX_TAGS, (slot + 1) * MAX_TAGS)
      table.sentenceVectors.put(slot, null)
      free.push(slot)
    },
    take(): number {
      const slot = free.pop() ?? table.capacity++
      if (slot >= table.state.length) Object.assign(table, grow(table, table.state.length * 2))
      return slot
    },
    allColumns,
    hold(): HeldTable {
      const filled = allColumns().filter(({ numbers }) => numbers.length > 0)
      const own = holdColumns(filled, table.capacity, () => {
        held = null
      })
      held = own
      return { ...own, wordDims: table.wordVectors.dims, sentenceDims: table.sentenceVectors.dims }
    },
    reserve(slots: number, dims: VectorDims): void {
      Object.assign(table, columns(Math.max(256, slots)))
      table.capacity = slots
      table.wordVectors.reserve(slots, dims.wordDims)
      table.sentenceVectors.reserve(slots, dims.sentenceDims)
    },
  }
  return table
}

const OWN_COLUMNS = [
  ...(['state', 'seq', 'ownerSeq', 'authorSeq', 'categorySeq', 'votes', 'createdAt'] as const),
  ...(['titleLength', 'bodyLength', 'titleKey', 'type', 'tags'] as const),
]
/** Where these are among all columns. */
export const STATE_COLUMN = OWN_COLUMNS.indexOf('state')
export const TAGS_COLUMN = OWN_COLUMNS.indexOf('tags')

function columns(length: number) {
  return {
    state: new Uint8Array(length),
    seq: new Float64Array(length),
    ownerSeq: new Float64Array(length),
    authorSeq: new Float64Array(length),
    categorySeq: new Float64Array(length),
    votes: new Float64Array(length),
    createdAt: new Float64Array(length),
    titleLength: new Uint32Array(length),
    bodyLength: new Uint32Array(length),
    titleKey: new Float64Array(length),
    type: new Uint8Array(length),
    tags: new Uint32Array(length * MAX_TAGS),
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
  to.type.set(from.type)
  to.tags.set(from.tags)
  return to
}
