import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffEnds, hashObject, type ObjectId, readObject, type StoredObject, storeChange } from './objects.ts'

interface Kept {
  readonly id: ObjectId
  readonly bytes: Buffer
  readonly stored: StoredObject
}

function diffed(bytes: Buffer, earlier: Kept | null): StoredObject {
  return storeChange('blob', bytes, earlier, () => diffEnds(earlier?.bytes ?? Buffer.alloc(0), bytes))
}

describe('objects', () => {
  it('have the ids that git gives them', () => {
    // git hash-object --stdin < /dev/null, and git hash-object -t tree /dev/null
    expect(hashObject('blob', Buffer.alloc(0))).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
    expect(hashObject('tree', Buffer.alloc(0))).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904')
    expect(hashObject('blob', Buffer.from('what is up, doc?'))).toBe('bd9dbf5aae1a3862dd1526723246b20206e5fc37')
  })

  it('are the same when they are read again, along a chain of deltas', () => {
    const piece = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(fc.array(fc.tuple(piece, piece, piece), { minLength: 1, maxLength: 60 }), piece, (edits, filling) => {
        const long = Buffer.concat(Array.from({ length: 40 }, () => Buffer.from(filling)))
        const objects = new Map<ObjectId, StoredObject>()
        const contents = new Map<ObjectId, Buffer>()
        let earlier: Kept | null = null
        for (const [before, inside, after] of edits) {
          const half = long.length / 2
          const bytes = Buffer.concat([before, long.subarray(0, half), inside, long.subarray(half), after])
          const id = hashObject('blob', bytes)
          const stored: StoredObject = objects.get(id) ?? diffed(bytes, earlier)
          objects.set(id, stored)
          contents.set(id, bytes)
          expect(stored.depth).toBeLessThanOrEqual(40)
          earlier = { id, bytes, stored }
        }
        for (const [id, bytes] of contents) expect(readObject(id, (one) => objects.get(one)).equals(bytes)).toBe(true)
      }),
    )
  })
})
