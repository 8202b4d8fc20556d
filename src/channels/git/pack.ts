import { createHash } from 'node:crypto'
import { type ObjectId, packHeader, readObject, type StoredObject, storeObject } from './objects.ts'
import { bandLines } from './pkt-line.ts'

/** Bytes that a piece of a pack has at least, but for the last. */
const PIECE_BYTES = 256 * 1024

/** A pack of objects in pieces, on the first band (git-scm.com, "gitformat-pack"). A delta whose base is not in it becomes the whole object. */
export function* writePack(objects: ReadonlyMap<ObjectId, StoredObject>, ids: readonly ObjectId[]): Generator<Uint8Array<ArrayBuffer>> {
  const inPack = new Set(ids)
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
  head.writeUInt32BE(ids.length, 8)
  add(head)
  for (const id of ids) {
    const known = objects.get(id)
    if (!known) throw new Error('an object is missing')
    const isWhole = known.base === null || inPack.has(known.base)
    const stored = isWhole
      ? known
      : storeObject(
          known.type,
          readObject(id, (base) => objects.get(base)),
        )
    add(packHeader(stored))
    add(stored.deflated)
    if (size >= PIECE_BYTES) yield take()
  }
  const digest = hash.digest()
  waiting.push(digest)
  yield take()
}
