import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeControlsInJson } from '../domain/text/characters.ts'
import {
  createRevisionCaches,
  extendRecord,
  joinBytes,
  jsonLength,
  shareOnce,
  shareRecord,
  toJsonBytes,
  toQuotedBytes,
} from './answer-cache.ts'

test('everything is forgotten when the library changes, and nothing read before is kept after', async () => {
  let version = 1
  const caches = createRevisionCaches(async () => version)
  const [texts, numbers] = [caches.create<string>('some', 10), caches.create<number>('some', 10)]
  const before = await caches.refresh()
  texts.put(before, 'a', 'A', 1)
  numbers.put(before, 'a', 1, 1)
  await caches.refresh()
  expect([texts.get('a'), numbers.get('a'), texts.get('b')]).toEqual(['A', 1, undefined])

  version = 2
  const after = await caches.refresh()
  texts.put(before, 'a', 'read before the change', 1)
  expect([texts.get('a'), numbers.get('a')]).toEqual([undefined, undefined])
  texts.put(after, 'a', 'B', 1)
  expect(texts.get('a')).toBe('B')
})

test('what was used longest ago makes room, and what is too heavy is not kept', async () => {
  const caches = createRevisionCaches(async () => 1)
  const texts = caches.create<string>('some', 10)
  const state = await caches.refresh()
  for (const key of ['a', 'b']) texts.put(state, key, key, 4)
  texts.get('a')
  texts.put(state, 'c', 'c', 4)
  texts.put(state, 'd', 'd', 11)
  expect(['a', 'b', 'c', 'd'].map((key) => texts.get(key))).toEqual(['a', undefined, 'c', undefined])
  texts.put(state, 'a', 'again', 1)
  texts.put(state, 'e', 'e', 5)
  expect(['a', 'c', 'e'].map((key) => texts.get(key))).toEqual(['again', 'c', 'e'])
})

const record = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
const read = (pieces: readonly Uint8Array[]) => new TextDecoder().decode(joinBytes(pieces))

test('what is put together from kept bytes is what JSON.stringify gives, once and twice, time and again', () => {
  fc.assert(
    fc.property(fc.array(record), fc.array(record), record, fc.boolean(), (kept, made, around, isMixed) => {
      const records = [...kept.map(shareRecord), ...(isMixed ? [...made, undefined, null] : [])]
      const answers = [
        { ...around, before: undefined, prompts: records, none: [], 'wei"rd': 1, count: records.length, others: records },
        { prompts: records },
        { prompts: records.map((one, place) => one && extendRecord(one, { 'sc"ore': place / 7, approximate: true })) },
        around,
        ...kept.slice(0, 1),
      ]
      for (let time = 0; time < 2; time++) {
        for (const answer of answers) {
          expect(read(toJsonBytes(answer))).toBe(JSON.stringify(answer))
          expect(`"${read(toQuotedBytes(answer))}"`).toBe(JSON.stringify(escapeControlsInJson(JSON.stringify(answer))))
          expect(jsonLength(answer)).toBe(Buffer.byteLength(JSON.stringify(answer)))
        }
      }
    }),
  )
})

test('a record is made once out of what is shared, and anew out of what is not', () => {
  let count = 0
  const toRecord = shareOnce((from: { name: string }, around: string) => ({ text: from.name + around, count: ++count }))
  const [shared, plain] = [shareRecord({ name: 'a' }), { name: 'b' }]
  expect([toRecord(shared, '1'), toRecord(shared, '1'), toRecord(shared, '2')]).toEqual([
    { text: 'a1', count: 1 },
    { text: 'a1', count: 1 },
    { text: 'a2', count: 2 },
  ])
  expect([toRecord(plain, '1').count, toRecord(plain, '1').count]).toEqual([3, 4])
  expect(Object.isFrozen(toRecord(shared, '1'))).toBe(true)
})

test('a record goes with either thing it was made out of', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const make = shareOnce((from: { name: string }, around: object | string) => ({ text: `${from.name}${typeof around}` }))
  const [kept, keptAround] = [shareRecord({ name: 'kept' }), {}]
  const makeRefs = () => [
    new WeakRef(make(shareRecord({ name: 'gone' }), 'text')),
    new WeakRef(make(shareRecord({ name: 'gone' }), keptAround)),
    new WeakRef(make(kept, {})),
    new WeakRef(make(kept, keptAround)),
  ]
  const refs = makeRefs()
  // A weak reference holds until the turn ends.
  await nextTurn()
  collect()
  expect(refs.map((ref) => ref.deref()?.text)).toEqual([undefined, undefined, undefined, 'keptobject'])
  expect(make(kept, keptAround)).toBe(refs[3]?.deref())
})
