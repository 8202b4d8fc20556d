import type { Column } from '../vectors/vector-columns.ts'

/** Slots of one block: about a megabyte. */
export const SLOTS_A_BLOCK = 2048

/** The columns of a table as they were at one moment, read in blocks while the table changes. */
export type HeldColumns = ReturnType<typeof holdColumns>

/** @param columns by slot; a column may end before the last slot, as if zeros followed */
export function holdColumns(columns: readonly Column[], capacity: number, release: () => void) {
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
