/** The id of an object: SHA-1 in hex. */
export type ObjectId = string

const FILE_MODE = '100644'
const FOLDER_MODE = '40000'

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
  /** Every row, in order. A row that was not set again is the same object. */
  read(): readonly Row[]
}

/** Rows added since the last reading from which on all are sorted anew: each insertion moves what stands behind it. */
const MANY = 16

/** No rows. */
export function createRows(): Rows {
  const rows = new Map<string, Row>()
  let sorted: Row[] | null = []
  let added = 0
  return {
    get size() {
      return rows.size
    },
    set(key, bytes) {
      const row = { key, bytes }
      const known = rows.get(key)
      rows.set(key, row)
      if (!sorted) return
      const at = findPlace(sorted, key)
      if (known) sorted[at] = row
      else if (++added >= MANY) sorted = null
      else sorted.splice(at, 0, row)
    },
    delete(key) {
      if (!rows.delete(key) || !sorted) return
      sorted.splice(findPlace(sorted, key), 1)
    },
    read() {
      sorted ??= [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      added = 0
      return [...sorted]
    },
  }
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

/** An entry of a tree. A folder is sorted as if its name ended in a slash. */
export function treeRow(name: string, id: ObjectId, isFolder: boolean): Row {
  const bytes = Buffer.concat([Buffer.from(`${isFolder ? FOLDER_MODE : FILE_MODE} ${name}\0`), Buffer.from(id, 'hex')])
  return { key: toByteKey(isFolder ? `${name}/` : name), bytes }
}

/** What git refuses to check out, or would read as its own settings: a skill's file of such a name is left out. */
export function isRefusedByGit(filename: string): boolean {
  return filename.split('/').some((part) => {
    // Some file systems ignore these.
    const name = part.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase()
    return /^(?:\.git|git~\d+|\.gitmodules|\.gitattributes)$/.test(name)
  })
}
