import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CODE_BITS, createPostings, type Postings, rangeOf } from './postings.ts'

type Words = ReadonlyMap<number, number>
const toItem = (slot: number, words: Words) => ({
  slot,
  eachWord: (take: (word: number, code: number) => void) => {
    for (const [word, code] of words) take(word, code)
  },
})

/** All that stands under a word, by slot. */
function read(postings: Postings, word: number): [number, number][] {
  const found: [number, number][] = []
  for (const segment of postings.segments) {
    const [from, to] = rangeOf(segment, word)
    for (const posting of segment.postings.subarray(from, to)) found.push([posting >>> CODE_BITS, posting & (2 ** CODE_BITS - 1)])
  }
  return found.sort(([a], [b]) => a - b)
}

function expectSame(postings: Postings, model: ReadonlyMap<number, Words>, words: Iterable<number>): void {
  for (const word of words) {
    const expected = [...model].flatMap(([slot, held]): [number, number][] => (held.has(word) ? [[slot, held.get(word) ?? 0]] : []))
    expect(read(postings, word)).toEqual(expected.sort(([a], [b]) => a - b))
    expect(postings.countOf(word)).toBe(expected.length)
  }
  for (const { words: own, starts, ends } of postings.segments) {
    expect([...own]).toEqual([...new Set(own)].sort((a, b) => a - b))
    expect([starts.length, ends.length]).toEqual([own.length, own.length])
  }
}

describe('createPostings', () => {
  it('holds what is put in and forgets what is taken out, over any batches', () => {
    // Few small numbers, and some that make tables grow.
    const word = fc.oneof(fc.nat({ max: 12 }), fc.constantFrom(127, 1023, 1024, 5000, 70_000))
    const code = fc.integer({ min: 1, max: 2 ** CODE_BITS - 1 })
    const words = fc.array(fc.tuple(word, code), { maxLength: 8 }).map((pairs) => new Map(pairs))
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ add: fc.array(words, { maxLength: 5 }) }) },
      { weight: 1, arbitrary: fc.record({ remove: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }) }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 45 }), fc.boolean(), (steps, reuses) => {
        const postings = createPostings()
        const model = new Map<number, Words>()
        const free: number[] = []
        const seen = new Set<number>([0, 3])
        let capacity = 0
        for (const change of steps) {
          if ('add' in change) {
            const batch = change.add.map((held) => ({ slot: (reuses ? free.pop() : undefined) ?? capacity++, held }))
            postings.add(batch.map(({ slot, held }) => toItem(slot, held)))
            for (const { slot, held } of batch) {
              model.set(slot, held)
              for (const number of held.keys()) seen.add(number)
            }
          } else {
            const slots = new Set(change.remove.filter((slot) => model.has(slot)))
            postings.remove(slots)
            for (const slot of slots) {
              model.delete(slot)
              free.push(slot)
            }
          }
        }
        expectSame(postings, model, seen)
      }),
    )
  })

  it('forgets a part at a time in a large index, and gives no slot away before', () => {
    const word = fc.nat({ max: 12 })
    const words = fc.array(word, { minLength: 1, maxLength: 6 }).map((all) => new Map(all.map((one) => [one, 1 + one])))
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ add: fc.array(words, { minLength: 1, maxLength: 4 }) }) },
      { weight: 2, arbitrary: fc.record({ remove: fc.array(fc.nat({ max: 60 }), { maxLength: 4 }) }) },
    )
    const limits = fc.record({ purgeAtOnceBelow: fc.constant(0), postingsPerStep: fc.integer({ min: 0, max: 6 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), limits, (steps, limit) => {
        const postings = createPostings(limit)
        const model = new Map<number, Words>()
        const removed = new Set<number>()
        const free: number[] = []
        let capacity = 0
        const look = () => {
          for (const slot of postings.takeFreedSlots()) {
            expect(removed.delete(slot)).toBe(true)
            free.push(slot)
          }
          for (let number = 0; number <= 12; number++) {
            const found = read(postings, number).map(([slot]) => slot)
            const expected = [...model].flatMap(([slot, held]) => (held.has(number) ? [slot] : []))
            expect(found.filter((slot) => !removed.has(slot))).toEqual(expected.sort((a, b) => a - b))
            // Never more than stand there, and none where there is none.
            expect(postings.countOf(number)).toBeGreaterThanOrEqual(expected.length)
            expect(postings.countOf(number)).toBeLessThanOrEqual(found.length)
            expect(postings.countOf(number) === 0).toBe(expected.length === 0)
          }
        }
        for (const change of steps) {
          if ('add' in change) {
            const batch = change.add.map((held) => ({ slot: free.pop() ?? capacity++, held }))
            postings.add(batch.map(({ slot, held }) => toItem(slot, held)))
            for (const { slot, held } of batch) model.set(slot, held)
          } else {
            const slots = new Set(change.remove.filter((slot) => model.has(slot)))
            postings.remove(slots)
            for (const slot of slots) {
              model.delete(slot)
              removed.add(slot)
            }
          }
          look()
        }
        // However it began, it ends.
        for (let n = 0; n < 500 && removed.size > 0; n++) {
          postings.remove(new Set())
          look()
        }
        expect(removed.size).toBe(0)
      }),
    )
  })

  it('keeps few segments however many batches come, and every posting', () => {
    const postings = createPostings()
    const model = new Map<number, Words>()
    for (let slot = 0; slot < 500; slot++) {
      const words = new Map([
        [1, 1 + (slot % 255)],
        [2 + (slot % 7), 9],
        [100 + slot, 3],
      ])
      model.set(slot, words)
      postings.add([toItem(slot, words)])
      expect(postings.segments.length).toBeLessThanOrEqual(8)
    }
    expectSame(postings, model, [0, 1, 2, 3, 8, 9, 100, 350, 599, 600])
    const gone = new Set(Array.from({ length: 250 }, (_, i) => i * 2))
    postings.remove(gone)
    for (const slot of gone) model.delete(slot)
    expectSame(postings, model, [0, 1, 2, 3, 8, 9, 100, 101, 350, 599, 600])
  })

  it('takes large batches: more words than it made room for', () => {
    const postings = createPostings()
    const words = new Map(Array.from({ length: 10_000 }, (_, i) => [i * 3, 1 + (i % 255)]))
    postings.add([toItem(5, words), toItem(200_000, new Map([[29_997, 255]]))])
    expect(read(postings, 0)).toEqual([[5, 1]])
    expect(read(postings, 29_997)).toEqual([
      [5, 1 + (9999 % 255)],
      [200_000, 255],
    ])
    expect([read(postings, 1), postings.countOf(29_997)]).toEqual([[], 2])
  })

  it('holds the highest slot there is room for', () => {
    const postings = createPostings()
    const slot = 2 ** (32 - CODE_BITS) - 1
    postings.add([toItem(slot, new Map([[1, 255]]))])
    expect(read(postings, 1)).toEqual([[slot, 255]])
  })
})
