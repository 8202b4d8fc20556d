import { MAX_TAGS } from '../../domain/items/fields.ts'
import type { Tag } from '../../domain/items/items.ts'
import type { Centre } from '../vectors/arithmetic.ts'
import { type Column, createVectorColumns } from '../vectors/vector-columns.ts'

/** Slots of one block: about a megabyte. */
export const SLOTS_A_BLOCK = 2048

/** The columns of a table as they were at one moment, read in blocks while the table changes. */
type HeldColumns = ReturnType<typeof holdColumns>

/** @param columns by slot; a column may end before the last slot, as if zeros followed */
function holdColumns(columns: readonly Column[], capacity: number, release: () => void) {
  const copies = new Map<number, Uint8Array<ArrayBuffer>>()
  let read = 0
  const copy = (block: number): Uint8Array<ArrayBuffer> => {
    const from = block * SLOTS_A_BLOCK
    const to = Math.min(capacity, from + SLOTS_A_BLOCK)
    const bytes = new Uint8Array(columns.reduce((sum, column) => sum + (to - from) * bytesOf(column), 0))
    let at = 0
    for (const column of columns) {
      bytes.set(bytesBetween(column, from, to), at)
      at += (to - from) * bytesOf(column)
    }
    return bytes
  }
  return {
    columns,
    /** Slots at that moment. */
    capacity,
    /** Call before a slot changes: copies its block if that has not been read. */
    beforeChange(slot: number): void {
      const block = Math.floor(slot / SLOTS_A_BLOCK)
      if (slot < capacity && block >= read && !copies.has(block)) copies.set(block, copy(block))
    },
    /** Each block in turn: the numbers of its slots, column after column. */
    *blocks(): Generator<Uint8Array<ArrayBuffer>> {
      for (; read * SLOTS_A_BLOCK < capacity; ) {
        const bytes = copies.get(read) ?? copy(read)
        copies.delete(read++)
        yield bytes
      }
    },
    /** Ends it. */
    release(): void {
      copies.clear()
      release()
    },
  }
}

/** Puts a block into columns that have room for it. @throws RangeError when it is not of their size */
export function putBlock(columns: readonly Column[], from: number, to: number, bytes: Uint8Array): void {
  let at = 0
  for (const column of columns) {
    const target = bytesBetween(column, from, to)
    const end = at + (to - from) * bytesOf(column)
    target.set(bytes.subarray(at, end))
    at = end
  }
  if (at !== bytes.length) throw new RangeError('a block has another size than its columns')
}

/** The bytes of one column in a block of so many slots. */
export function columnOf(columns: readonly Column[], bytes: Uint8Array, slots: number, place: number): Uint8Array {
  const start = columns.slice(0, place).reduce((sum, column) => sum + slots * bytesOf(column), 0)
  const column = columns[place]
  return bytes.slice(start, start + (column ? slots * bytesOf(column) : 0))
}

/** Zeroes the slots of a block that `isUnused` says. */
export function clearSlots(columns: readonly Column[], bytes: Uint8Array, slots: number, isUnused: (place: number) => boolean): void {
  for (let place = 0; place < slots; place++) {
    if (!isUnused(place)) continue
    let at = 0
    for (const column of columns) {
      const width = bytesOf(column)
      bytes.fill(0, at + place * width, at + (place + 1) * width)
      at += slots * width
    }
  }
}

/** Bytes of one slot. */
function bytesOf({ numbers, width }: Column): number {
  return numbers.BYTES_PER_ELEMENT * width
}

function bytesBetween(column: Column, from: number, to: number): Uint8Array {
  const { numbers } = column
  const width = bytesOf(column)
  const all = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  return all.subarray(from * width, to * width)
}

/** Numbers for tags, from 1 in the order they came, so that items hold tags as numbers. A number is never given again. */
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

/** The columns of a table by slot, and how many numbers each has for a slot. Their order is that of a snapshot. */
const COLUMNS = {
  /** `FREE`, `HIDDEN` or an audience. */
  state: [Uint8Array, 1],
  seq: [Float64Array, 1],
  ownerSeq: [Float64Array, 1],
  authorSeq: [Float64Array, 1],
  categorySeq: [Float64Array, 1],
  votes: [Float64Array, 1],
  createdAt: [Float64Array, 1],
  titleLength: [Uint32Array, 1],
  bodyLength: [Uint32Array, 1],
  /** See `titleKey` in `analysis/query.ts`. */
  titleKey: [Float64Array, 1],
  /** Number of the item's type, one more than its place in `types`; 0: it has none. */
  type: [Uint8Array, 1],
  /** Numbers of `tagNumbers`; those after the item's last tag are 0. */
  tags: [Uint32Array, MAX_TAGS],
} as const
type ColumnName = keyof typeof COLUMNS
type Columns = { -readonly [Name in ColumnName]: InstanceType<(typeof COLUMNS)[Name][0]> }
const COLUMN_NAMES = Object.keys(COLUMNS) as ColumnName[]
/** Where these are among all columns. */
export const STATE_COLUMN = COLUMN_NAMES.indexOf('state')
export const TAGS_COLUMN = COLUMN_NAMES.indexOf('tags')

/** Columns of so many slots, with the numbers of smaller ones. */
function makeColumns(slots: number, from?: Columns): Columns {
  const columns = COLUMN_NAMES.map((name) => {
    const [Numbers, width] = COLUMNS[name]
    const numbers = new Numbers(slots * width)
    if (from) numbers.set(from[name])
    return [name, numbers] as const
  })
  // Each name has the numbers that its row says.
  return Object.fromEntries(columns) as Columns
}

/** Items as columns by slot: compact, and fast to scan. */
export type ItemTable = ReturnType<typeof createItemTable>

/** An empty table. Growing replaces its columns: read them from the table each time. @param centre of the encoder's vectors */
export function createItemTable(centre: Centre | null = null) {
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
    ...COLUMN_NAMES.map((name) => ({ numbers: table[name], width: COLUMNS[name][1] })),
    ...table.wordVectors.columns(),
    ...table.sentenceVectors.columns(),
  ]
  const table = {
    /** Highest slot in use, plus one. */
    capacity: 0,
    /** Vectors made of the word table. */
    wordVectors: createVectorColumns({ beforeChange }),
    /** The encoder's vectors. */
    sentenceVectors: createVectorColumns({ beforeChange, centre }),
    ...makeColumns(256),
    /** Every type that an item had. */
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
    /** Hides the slot's item without freeing the slot: postings still refer to it. */
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
    /** Gives a free slot. */
    take(): number {
      const slot = free.pop() ?? table.capacity++
      if (slot >= table.state.length) Object.assign(table, makeColumns(table.state.length * 2, table))
      return slot
    },
    /** All columns, in an order that does not change. Those of vectors are empty until there is one. */
    allColumns,
    /** Holds the columns that are not empty as they are now, until released. Changes go on: what they change is copied first. */
    hold(): HeldTable {
      const filled = allColumns().filter(({ numbers }) => numbers.length > 0)
      const own = holdColumns(filled, table.capacity, () => {
        held = null
      })
      held = own
      return { ...own, wordDims: table.wordVectors.dims, sentenceDims: table.sentenceVectors.dims }
    },
    /** Makes an empty table of this many slots, none of them free, to be filled through its columns. */
    reserve(slots: number, dims: VectorDims): void {
      Object.assign(table, makeColumns(Math.max(256, slots)))
      table.capacity = slots
      table.wordVectors.reserve(slots, dims.wordDims)
      table.sentenceVectors.reserve(slots, dims.sentenceDims)
    },
  }
  return table
}

/** A set of row numbers, as far as searches ask it. */
export type RowNumbers = Pick<ReadonlySet<number>, 'has' | 'size'>

/** Items that a viewer is narrowed to; `openItems` as far as they are of one of the viewer's audiences. */
interface ItemsWithin {
  readonly items: RowNumbers
  readonly openItems?: RowNumbers | undefined
}

/** The searching reader, as far as it decides what is found. */
export interface Viewer {
  /** The owners whose hidden items the viewer finds. */
  readonly audiences: readonly Audience[]
  /** Row numbers of the owners whose hidden items the viewer finds: their own, and those of their teams. */
  readonly seenOwners: ReadonlySet<number>
  /**
   * Of a narrowed key: all that the viewer finds is of this owner, or one of these items. Then words are corrected and completed by what is
   * found alone, and ranked by the statistics of public items.
   */
  readonly within?: { readonly owner: number } | ItemsWithin | undefined
}

/** Somebody who finds public items alone. */
export const STRANGER: Viewer = { audiences: [PUBLIC], seenOwners: new Set() }
