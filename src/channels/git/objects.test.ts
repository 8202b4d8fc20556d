import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffEnds, diffRows, hashObject, readObject, type StoredObject, storeChange, storeObject } from './objects.ts'
import { createRows, type ObjectId } from './tree.ts'

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

  it('become deltas where little changes, also in large ones', () => {
    const large = Buffer.alloc(3_000_000, createHash('sha256').update('x').digest())
    const changed = Buffer.concat([large.subarray(0, 2_000_000), Buffer.from('changed'), large.subarray(2_000_100)])
    const first = { id: hashObject('tree', large), stored: storeObject('tree', large) }
    const second = storeChange('tree', changed, first, () => diffEnds(large, changed))
    const objects = new Map([
      [first.id, first.stored],
      ['second', second],
    ])
    expect([second.base, second.size < 1000]).toEqual([first.id, true])
    expect(readObject('second', (id) => objects.get(id)).equals(changed)).toBe(true)
    expect(() => readObject('second', (id) => (id === 'second' ? second : undefined))).toThrow(/missing/)
  })

  it('of rows become what was set and deleted, wherever it stands', () => {
    const edit = fc.record({ key: fc.nat({ max: 400 }), value: fc.nat(), isGone: fc.boolean() })
    fc.assert(
      fc.property(fc.array(fc.array(edit, { maxLength: 60 }), { minLength: 1, maxLength: 12 }), (groups) => {
        const rows = createRows()
        const model = new Map<string, string>()
        const objects = new Map<ObjectId, StoredObject>()
        for (let n = 0; n < 300; n++) rows.set(`k${n}`, Buffer.from(`k${n}=start;`))
        for (let n = 0; n < 300; n++) model.set(`k${n}`, `k${n}=start;`)
        let before = rows.read()
        objects.set('0', storeObject('tree', Buffer.concat(before.map(({ bytes }) => bytes))))
        for (const [place, group] of groups.entries()) {
          for (const { key, value, isGone } of group) {
            if (isGone) rows.delete(`k${key}`)
            else rows.set(`k${key}`, Buffer.from(`k${key}=${value};`))
            if (isGone) model.delete(`k${key}`)
            else model.set(`k${key}`, `k${key}=${value};`)
          }
          const after = rows.read()
          const bytes = Buffer.concat(after.map((row) => row.bytes))
          const expected = [...model.keys()]
            .sort()
            .map((key) => model.get(key))
            .join('')
          expect(bytes.toString()).toBe(expected)
          const stored = objects.get(`${place}`)
          if (stored)
            objects.set(
              `${place + 1}`,
              storeChange('tree', bytes, { id: `${place}`, stored }, () => diffRows(before, after)),
            )
          expect(readObject(`${place + 1}`, (id) => objects.get(id)).toString()).toBe(expected)
          before = after
        }
      }),
    )
  })
})
