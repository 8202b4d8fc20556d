import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  anyItem,
  anyLibrary,
  anyQuery,
  BASE,
  everything,
  libraryOf,
  makeLibrary,
  OTHERS_WORDS,
  POOL,
  VECTORS,
  type Written,
} from '../../../test/support/indexed-library.ts'
import { MEMBERS, PUBLIC, SLOTS_A_BLOCK } from './item-table.ts'
import type { SearchIndex } from './search-index.ts'

const DIMS = 384

/** As a snapshot does: a part is written when it is given, and read from a buffer that is used again. */
function copyParts(index: SearchIndex, between: (place: number) => void = () => {}): Uint8Array[] {
  const capture = index.capture()
  const parts: Uint8Array[] = []
  try {
    for (const part of capture.parts(() => true)) {
      parts.push(part.slice())
      between(parts.length)
    }
  } finally {
    capture.release()
  }
  return parts
}

function loadParts(parts: readonly Uint8Array[]) {
  const library = makeLibrary(VECTORS)
  const load = library.index.load()
  const buffer = new Uint8Array(Math.max(...parts.map(({ length }) => length)) + 3)
  for (const part of parts) {
    expect(load.isComplete()).toBe(false)
    buffer.fill(255)
    buffer.set(part, 3)
    load.take(buffer.subarray(3, 3 + part.length))
  }
  expect(load.isComplete()).toBe(true)
  return library
}

const toVector = (seq: number) => Int8Array.from({ length: DIMS }, (_, i) => Math.round(100 * Math.sin(seq + i * seq)))
const SENTENCE = { vector: Float32Array.from(toVector(3), (value) => value / 127), knownShare: 1 }
type Library = ReturnType<typeof makeLibrary>
const ask = (library: Library, queries: readonly string[]) => [
  ...[null, 2].map((viewer) => everything(library, viewer, queries, [PUBLIC, MEMBERS])),
  ...queries.map((query) => library.find(query, { sentence: SENTENCE, viewer: 1 })),
  queries.map((query) => library.find(query, { kind: 'skill' })),
]

/** Sums of another order differ in their last bit, and a similarity that is rounded then by its last digit. */
function expectSame(answers: unknown, expected: unknown): void {
  const split = (all: unknown) => {
    const similarities: number[] = []
    const keep = (key: string, value: unknown) => (key === 'similarity' ? similarities.push(Number(value)) : value)
    return { rest: JSON.stringify(all, keep), similarities }
  }
  const [one, other] = [split(answers), split(expected)]
  expect(one.rest).toBe(other.rest)
  for (const [place, similarity] of one.similarities.entries()) expect(similarity).toBeCloseTo(other.similarities[place] ?? Number.NaN, 4)
}

const anyChange = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 70 }), anyItem, fc.boolean()).map(([seq, item, isMembers]) => ({ seq, item, isMembers })),
  },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 70 }).map((seq) => ({ seq, item: null, isMembers: false })) },
)
type Change = { readonly seq: number; readonly item: Omit<Written, 'seq'> | null; readonly isMembers: boolean }

function change(library: Library, { seq, item, isMembers }: Change): void {
  if (!item) {
    library.remove(seq)
    return
  }
  library.put([{ ...BASE, ...item, seq, ...(isMembers && item.visibility === 'public' ? { audience: MEMBERS } : {}) }])
  library.index.applyVectors('prompt', [{ seq, vector: seq % 3 === 0 ? null : toVector(seq) }])
}

describe('parts of an index', () => {
  it('make an index that answers as the one they are of, at that moment and after the same changes', () => {
    const queries = fc.array(anyQuery, { minLength: 1, maxLength: 3 }).map((all) => [...all, ''])
    const changes = fc.array(anyChange, { maxLength: 25 })
    fc.assert(
      fc.property(anyLibrary, changes, changes, queries, (items, before, after, asked) => {
        const original = makeLibrary(VECTORS)
        original.put(items)
        for (const one of before) change(original, one)
        original.put([{ ...BASE, seq: 500, content: 'walrus tundra' }], 'skill')
        const expected = ask(original, asked)
        const remaining = [...after]
        const parts = copyParts(original.index, () => {
          for (const one of remaining.splice(0, 3)) change(original, one)
        })
        for (const one of remaining) change(original, one)
        const loaded = loadParts(parts)
        expectSame(ask(loaded, asked), expected)
        for (const one of after) change(loaded, one)
        expectSame(ask(loaded, asked), ask(original, asked))
      }),
      { numRuns: 15 },
    )
  })

  it('are of one moment in a table of several blocks, whatever changes meanwhile', () => {
    const count = SLOTS_A_BLOCK * 2 + 100
    const { index, put, remove, find, items } = libraryOf(Array.from({ length: count }, (_, i) => `walrus ${POOL[i % POOL.length]} n${i}`))
    index.applyVectors(
      'prompt',
      items.map(({ seq }) => ({ seq, vector: toVector(seq) })),
    )
    const expected = ['walrus', 'n4000', 'tundra'].map((query) => find(query, { sentence: SENTENCE }))
    const parts = copyParts(index, (place) => {
      for (const offset of [1, SLOTS_A_BLOCK, count - 10]) {
        put([{ ...BASE, seq: offset + place, title: 'tundra' }])
        remove(offset + place + 1)
        index.applyVectors('prompt', [{ seq: offset + place + 2, vector: toVector(9) }])
      }
    })
    const loaded = loadParts(parts)
    expect(['walrus', 'n4000', 'tundra'].map((query) => loaded.find(query, { sentence: SENTENCE }))).toEqual(expected)
  })

  it('hold nothing of deleted items, and no words but those that are kept', () => {
    const [canary = ''] = OTHERS_WORDS
    const { index, remove, put } = libraryOf([
      { title: canary, content: canary, tags: ['canary/Canary'] },
      { title: 'walrus', tags: ['red'] },
      { title: canary, content: canary, tags: ['hidden/HiddenCanary'], visibility: 'private' },
    ])
    const vector = Int8Array.from({ length: DIMS }, (_, i) => (i % 97) + 1)
    index.applyVectors('prompt', [
      { seq: 1, vector },
      { seq: 3, vector },
    ])
    const read = () => {
      const capture = index.capture()
      const word = index.vocabulary.idOf(canary)
      const all = Buffer.concat(
        Array.from(
          capture.parts((id) => id !== word),
          (part) => part.slice(),
        ),
      )
      capture.release()
      return all
    }
    const traces = [Buffer.from('HiddenCanary'), Buffer.from('"Canary"'), Buffer.from(vector.buffer)]
    expect(traces.map((trace) => read().includes(trace))).toEqual([true, true, true])
    expect(read().includes(canary)).toBe(false)
    remove(1)
    remove(3)
    expect(traces.map((trace) => read().includes(trace))).toEqual([false, false, false])
    // While an older capture is read, a deleted item's slot waits in the postings.
    const capture = index.capture()
    remove(2)
    put([{ ...BASE, seq: 9, title: 'quokka' }])
    expect(Buffer.concat([...index.capture().parts(() => true)]).includes('"red"')).toBe(false)
    capture.release()
  })

  it('are refused when they are not in order, and the index is empty again', () => {
    const { index } = libraryOf(['walrus', 'tundra'])
    const parts = copyParts(index)
    const library = makeLibrary(VECTORS)
    const load = library.index.load()
    const [words = new Uint8Array(), end = new Uint8Array(), , block = new Uint8Array()] = parts
    load.take(words)
    load.take(end)
    expect(() => load.take(block)).toThrow(SyntaxError)
    library.index.clear()
    expect([library.index.vocabulary.capacity, library.index.countItems('prompt'), library.find('walrus').total]).toEqual([0, 0, 0])
    library.put([{ ...BASE, seq: 1, content: 'walrus' }])
    expect(library.find('walrus').total).toBe(1)
  })
})
