/** The id of an object: SHA-1 in hex. */
export type ObjectId = string

const FILE_MODE = 0o100644
const FOLDER_MODE = 0o40000

/** A row of something that is kept sorted and written as a whole. */
export interface Row {
  readonly key: string
  readonly bytes: Buffer
}

/** Rows sorted by their keys, compared byte by byte, and the bytes of all of them. */
export interface Rows {
  readonly size: number
  set(key: string, bytes: Buffer): void
  delete(key: string): void
  /** Every row, in order, as they are now: what is set later is in another list. A row that was not set again is the same object. */
  read(): readonly Row[]
}

/** No rows. */
export function createRows(): Rows {
  let sorted: Row[] = []
  /** Rows that were added since they were read last: an insertion moves all that stand behind it. */
  const added = new Map<string, Row>()
  const placeOf = (key: string): number | null => {
    const place = findPlace(sorted, key)
    return sorted[place]?.key === key ? place : null
  }
  return {
    get size() {
      return sorted.length + added.size
    },
    set(key, bytes) {
      const place = placeOf(key)
      if (place === null) added.set(key, { key, bytes })
      else sorted[place] = { key, bytes }
    },
    delete(key) {
      if (added.delete(key)) return
      const place = placeOf(key)
      if (place !== null) sorted.splice(place, 1)
    },
    read() {
      sorted = merge(
        sorted,
        [...added.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
      )
      added.clear()
      return sorted.slice()
    },
  }
}

/** A new list of the rows of two sorted ones. */
function merge(rows: readonly Row[], others: readonly Row[]): Row[] {
  const all: Row[] = []
  let at = 0
  for (const row of rows) {
    for (let other = others[at]; other && other.key < row.key; other = others[++at]) all.push(other)
    all.push(row)
  }
  for (; at < others.length; at++) {
    const other = others[at]
    if (other) all.push(other)
  }
  return all
}

function findPlace(rows: readonly Row[], key: string): number {
  let low = 0
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
export function treeRow(name: string, id: ObjectId, kind: 'folder' | { readonly mode?: number }): Row {
  const mode = kind === 'folder' ? FOLDER_MODE : FILE_MODE | (kind.mode ?? 0)
  const bytes = Buffer.concat([Buffer.from(`${mode.toString(8)} ${name}\0`), Buffer.from(id, 'hex')])
  return { key: toByteKey(kind === 'folder' ? `${name}/` : name), bytes }
}
