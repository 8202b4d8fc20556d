import { type DeltaPart, type ObjectId, writeDelta } from './objects.ts'

const FILE_MODE = 0o100644
const FOLDER_MODE = 0o40000

/** Something that is kept sorted and written as a whole: entries of a tree, or plugins of a marketplace. */
export type Rows = ReturnType<typeof createRows>

interface Row {
  readonly key: string
  readonly bytes: Buffer
  /** Of `bytes`, which are out of reach of the processor's caches when all rows are gone through. */
  readonly size: number
}

/** No rows. */
export function createRows() {
  let rows: Row[] = []
  let bytes: Buffer = Buffer.alloc(0)
  // Large lists are written into the same two buffers in turn: others would leave much to collect.
  let [last, spare]: [Buffer, Buffer] = [bytes, bytes]
  const pending = new Map<string, Buffer | null>()
  return {
    /** The bytes of all rows in order, as they were written last. The next but one `write` overwrites them. */
    get bytes(): Buffer {
      return bytes
    },
    set: (key: string, row: Buffer) => void pending.set(key, row),
    delete: (key: string) => void pending.set(key, null),
    /** Brings `bytes` up to date. Keys are compared byte by byte. @returns what makes the delta from what `bytes` were; null when they are the same */
    write(): (() => Buffer) | null {
      const before = bytes
      const edits = [...pending].sort(([a], [b]) => (a < b ? -1 : 1))
      pending.clear()
      const parts: DeltaPart[] = []
      const next: Row[] = []
      let [at, offset, size] = [0, 0, 0]
      let isSame = true
      const keepUntil = (place: number) => {
        const start = offset
        for (; at < place; at++) {
          const row = rows[at]
          if (!row) break
          next.push(row)
          offset += row.size
        }
        parts.push({ start, end: offset })
        size += offset - start
      }
      for (const [key, row] of edits) {
        keepUntil(findPlace(rows, key, at))
        const old = rows[at]?.key === key ? rows[at] : undefined
        if (old ? row?.equals(old.bytes) : !row) continue
        isSame = false
        if (old) {
          offset += old.size
          at++
        }
        if (!row) continue
        next.push({ key, bytes: row, size: row.length })
        parts.push(row)
        size += row.length
      }
      if (isSame) return null
      keepUntil(rows.length)
      const into = spare.length < size ? Buffer.allocUnsafe(size < 4096 ? size : size * 2) : spare
      let end = 0
      for (const part of parts) end += 'start' in part ? before.copy(into, end, part.start, part.end) : part.copy(into, end)
      ;[last, spare] = [into, last]
      bytes = into.subarray(0, size)
      rows = next
      return () => writeDelta(before.length, size, parts)
    },
  }
}

/** The first place from `from` on whose key is not smaller. */
function findPlace(rows: readonly Row[], key: string, from: number): number {
  let low = from
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.key ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}

/** A text whose order is the order of its UTF-8 bytes. */
export function toByteKey(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** An entry of a tree. A folder is sorted as if its name ended in a slash. @param mode of a file */
export function treeRow(name: string, id: ObjectId, kind: 'folder' | { readonly mode?: number }): Omit<Row, 'size'> {
  const mode = kind === 'folder' ? FOLDER_MODE : FILE_MODE | (kind.mode ?? 0)
  const bytes = Buffer.concat([Buffer.from(`${mode.toString(8)} ${name}\0`), Buffer.from(id, 'hex')])
  return { key: toByteKey(kind === 'folder' ? `${name}/` : name), bytes }
}

/** The entries of a tree, from its bytes. */
export function* readTree(bytes: Buffer): Generator<{ readonly id: ObjectId; readonly isFolder: boolean }> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at)
    yield { id: bytes.toString('hex', end + 1, end + 21), isFolder: bytes.toString('latin1', at, at + 5) === '40000' }
    at = end + 21
  }
}
