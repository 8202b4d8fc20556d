import { createHash } from 'node:crypto'
import { deflateSync, inflateSync } from 'node:zlib'
import { bandLines } from './pkt-line.ts'

/** The id of an object: SHA-1 in hex. */
export type ObjectId = string

/** Bytes that a piece of a pack has at least, but for the last. */
const PIECE_BYTES = 256 * 1024

/** Kinds of objects, with their numbers in a pack (git-scm.com, "gitformat-pack"). */
const TYPES = { commit: 1, tree: 2, blob: 3 } as const
const REF_DELTA = 7
export type ObjectType = keyof typeof TYPES

/** An object as a pack has it, without its header. A delta is between it and `base`, in the format of packs. */
export interface StoredObject {
  readonly type: ObjectType
  /** Bytes when inflated: of the object, or of its delta. */
  readonly size: number
  readonly deflated: Uint8Array
  readonly base: ObjectId | null
  /** Deltas between it and an object that stands for itself. */
  readonly depth: number
}

/** Most deltas in a row. A large object has one for each 4 KiB: deflating the whole costs little for each change then. */
const MAX_DEPTH = 40
const MAX_LARGE_DEPTH = 250
/** Objects smaller than this are not worth a delta. */
const MIN_DELTA_SIZE = 200
/** Bytes compared by one call, and of a large object for each delta. */
const CHUNK = 4096

/** The id of an object with this content. */
export function hashObject(type: ObjectType, bytes: Uint8Array): ObjectId {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
}

/** An object that stands for itself. */
export function storeObject(type: ObjectType, bytes: Uint8Array): StoredObject {
  return { type, size: bytes.length, deflated: deflate(bytes), base: null, depth: 0 }
}

/** The earlier form of an object. */
export interface Earlier {
  readonly id: ObjectId
  readonly stored: StoredObject
}

/** An object as what changed since an earlier one, where that is smaller. `makeDelta` gives the delta between them. */
export function storeChange(type: ObjectType, bytes: Uint8Array, earlier: Earlier | null, makeDelta: () => Buffer): StoredObject {
  const maxDepth = Math.min(Math.max(MAX_DEPTH, bytes.length / CHUNK), MAX_LARGE_DEPTH)
  if (!earlier || bytes.length < MIN_DELTA_SIZE || earlier.stored.depth >= maxDepth) return storeObject(type, bytes)
  const delta = makeDelta()
  if (delta.length > bytes.length / 2) return storeObject(type, bytes)
  return { type, size: delta.length, deflated: deflate(delta), base: earlier.id, depth: earlier.stored.depth + 1 }
}

/** Deflated bytes without the room behind them that zlib works in, which is no larger than it must be. */
function deflate(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(deflateSync(bytes, { chunkSize: Math.min(64 * 1024, bytes.length + 64) }))
}

/** The bytes of an object. @throws Error for a base that is not there */
export function readObject(id: ObjectId, find: (id: ObjectId) => StoredObject | undefined): Buffer {
  const deltas: Buffer[] = []
  let next = id
  for (;;) {
    const stored = find(next)
    if (!stored) throw new Error('an object is missing')
    const inflated = inflateSync(stored.deflated)
    if (stored.base === null) return deltas.reduceRight((bytes, delta) => applyDelta(bytes, delta), inflated)
    deltas.push(inflated)
    next = stored.base
  }
}

/** The header of an object in a pack. */
function packHeader({ type, size, base }: StoredObject): Buffer {
  const bytes: number[] = []
  let rest = Math.floor(size / 16)
  bytes.push(((base === null ? TYPES[type] : REF_DELTA) << 4) | (size & 15) | (rest > 0 ? 128 : 0))
  while (rest > 0) {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  }
  return base === null ? Buffer.from(bytes) : Buffer.concat([Buffer.from(bytes), Buffer.from(base, 'hex')])
}

/** A delta that keeps what two contents have in common at their beginning and their end. */
export function diffEnds(from: Buffer, to: Buffer): Buffer {
  const most = Math.min(from.length, to.length)
  const head = countSameHead(from, to, most)
  const tail = countSameTail(from, to, most - head)
  const [start, end] = [from.length - tail, from.length]
  return writeDelta(from.length, to.length, [{ start: 0, end: head }, to.subarray(head, to.length - tail), { start, end }])
}

/** A piece of a content: a range of the one before, or new bytes. */
type DeltaPart = { readonly start: number; readonly end: number } | Buffer

/** A delta between contents of these lengths. */
function writeDelta(from: number, to: number, parts: readonly DeltaPart[]): Buffer {
  const pieces = parts.flatMap((part) => ('start' in part ? writeCopies(part.start, part.end - part.start) : writeInserts(part)))
  return Buffer.concat([writeSize(from), writeSize(to), ...pieces])
}

/** How many bytes are the same at the beginning, of at most so many. */
function countSameHead(a: Buffer, b: Buffer, most: number): number {
  let at = 0
  while (at + CHUNK <= most && a.compare(b, at, at + CHUNK, at, at + CHUNK) === 0) at += CHUNK
  while (at < most && a[at] === b[at]) at++
  return at
}

/** The same at the end. */
function countSameTail(a: Buffer, b: Buffer, most: number): number {
  const [x, y] = [a.length, b.length]
  let at = 0
  while (at + CHUNK <= most && a.compare(b, y - at - CHUNK, y - at, x - at - CHUNK, x - at) === 0) at += CHUNK
  while (at < most && a[x - at - 1] === b[y - at - 1]) at++
  return at
}

function applyDelta(from: Buffer, delta: Buffer): Buffer {
  let at = 0
  const next = () => delta[at++] ?? 0
  const skipSize = () => {
    while (next() >= 128);
  }
  skipSize()
  skipSize()
  const pieces: Buffer[] = []
  while (at < delta.length) {
    const code = next()
    if (code < 128) {
      pieces.push(delta.subarray(at, at + code))
      at += code
      continue
    }
    let offset = 0
    let size = 0
    for (let bit = 0; bit < 4; bit++) if (code & (1 << bit)) offset += next() * 256 ** bit
    for (let bit = 0; bit < 3; bit++) if (code & (16 << bit)) size += next() * 256 ** bit
    pieces.push(from.subarray(offset, offset + (size || 0x10000)))
  }
  return Buffer.concat(pieces)
}

function writeSize(size: number): Buffer {
  const bytes: number[] = []
  let rest = size
  do {
    const low = rest % 128
    rest = Math.floor(rest / 128)
    bytes.push(low | (rest > 0 ? 128 : 0))
  } while (rest > 0)
  return Buffer.from(bytes)
}

/** Copies of at most 65,535 bytes each, so that no size is written as 0. */
function writeCopies(start: number, length: number): Buffer[] {
  const copies: Buffer[] = []
  for (let at = 0; at < length; at += 0xffff) {
    const size = Math.min(0xffff, length - at)
    const copy = Buffer.alloc(7)
    copy[0] = 0x80 | 0x0f | 0x30
    copy.writeUInt32LE(start + at, 1)
    copy.writeUInt16LE(size, 5)
    copies.push(copy)
  }
  return copies
}

function writeInserts(bytes: Buffer): Buffer[] {
  const inserts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 127) {
    const piece = bytes.subarray(at, at + 127)
    inserts.push(Buffer.from([piece.length]), piece)
  }
  return inserts
}

/**
 * A pack of objects in pieces, on the first band (git-scm.com, "gitformat-pack"), each from the objects it stands among. A delta whose base is not
 * in it from there too becomes the whole object, so that no two are deltas of one another.
 */
export function* writePack(objects: ReadonlyMap<ObjectId, ReadonlyMap<ObjectId, StoredObject>>): Generator<Uint8Array<ArrayBuffer>> {
  const hash = createHash('sha1')
  let waiting: Uint8Array[] = []
  let size = 0
  const add = (bytes: Uint8Array) => {
    hash.update(bytes)
    waiting.push(bytes)
    size += bytes.length
  }
  const take = (): Uint8Array<ArrayBuffer> => {
    const piece = new Uint8Array(Buffer.concat(bandLines(Buffer.concat(waiting))))
    waiting = []
    size = 0
    return piece
  }
  const head = Buffer.alloc(12, 'PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.size, 8)
  add(head)
  for (const [id, others] of objects) {
    const known = others.get(id)
    if (!known) throw new Error('an object is missing')
    const isWhole = known.base === null || objects.get(known.base) === others
    const stored = isWhole
      ? known
      : storeObject(
          known.type,
          readObject(id, (base) => others.get(base)),
        )
    add(packHeader(stored))
    add(stored.deflated)
    if (size >= PIECE_BYTES) yield take()
  }
  const digest = hash.digest()
  waiting.push(digest)
  yield take()
}

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
