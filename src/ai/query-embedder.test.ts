import { describe, expect, it } from 'vitest'
import { AppError } from '../errors.ts'
import type { TextEmbedder } from '../library/ports/models.ts'
import { createQueryEmbedder } from './query-embedder.ts'

const VECTOR = Float32Array.of(1, 0)

/** An embedder whose answers are given by the test, and a patience whose waits end when the test says so. */
function start() {
  const calls: { text: string; settle: PromiseWithResolvers<Float32Array[]>; signal: AbortSignal }[] = []
  const waits: { ms: number; end: () => void }[] = []
  const embedder: TextEmbedder = {
    model: 'm',
    embed(texts, { signal }) {
      const settle = Promise.withResolvers<Float32Array[]>()
      signal.addEventListener('abort', () => settle.reject(signal.reason))
      calls.push({ text: texts.join('|'), settle, signal })
      return settle.promise
    },
  }
  const patience = {
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        waits.push({ ms, end: resolve })
      }),
    fraction: () => 1,
  }
  const down = () => new AppError('upstream_failed', 'down')
  return { queries: createQueryEmbedder(embedder, patience), calls, waits, down }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('queries', () => {
  it('that are equal share a call, and are cached', async () => {
    const { queries, calls } = start()
    const both = Promise.all([queries.embed('cats'), queries.embed(' cats '), queries.embed('dogs')])
    expect(calls.map((call) => call.text)).toEqual(['cats', 'dogs'])
    for (const call of calls) call.settle.resolve([VECTOR])
    expect(await both).toEqual([VECTOR, VECTOR, VECTOR])
    expect(await queries.embed('cats')).toBe(VECTOR)
    expect([calls.length, queries.counts]).toEqual([2, { sent: 2, cached: 1, fellBack: 0, failures: 0 }])
  })

  it('are forgotten in the order of their use, after 500', async () => {
    const { queries, calls } = start()
    const ask = async (text: string) => {
      const before = calls.length
      const vector = queries.embed(text)
      calls[before]?.settle.resolve([VECTOR])
      await vector
      return calls.length > before
    }
    for (let n = 0; n < 500; n++) await ask(`query ${n}`)
    expect(await ask('query 0')).toBe(false)
    expect(await ask('one more')).toBe(true)
    expect([await ask('query 0'), await ask('query 1')]).toEqual([false, true])
  })

  it('are cut, and blank ones are not sent', async () => {
    const { queries, calls } = start()
    void queries.embed('x'.repeat(9000))
    expect([calls[0]?.text.length, await queries.embed('  '), calls.length]).toEqual([8000, null, 1])
  })
})

describe('a failure', () => {
  it('lets nobody wait until a call in the background has succeeded', async () => {
    const { queries, calls, waits, down } = start()
    const failed = queries.embed('cats')
    calls[0]?.settle.reject(down())
    expect([await failed, queries.isUp]).toEqual([null, false])
    expect([await queries.embed('cats'), await queries.embed('dogs'), calls.length]).toEqual([null, null, 1])
    expect(waits.map((wait) => wait.ms)).toEqual([1000])
    waits[0]?.end()
    await settled()
    // What is asked in the background is nobody's query.
    expect(calls[1]?.text).toBe('prompt')
    calls[1]?.settle.reject(down())
    await settled()
    expect([queries.isUp, waits.map((wait) => wait.ms)]).toEqual([false, [1000, 2000]])
    waits[1]?.end()
    await settled()
    calls[2]?.settle.resolve([VECTOR])
    await settled()
    expect([queries.isUp, waits.length]).toEqual([true, 2])
    const again = queries.embed('cats')
    calls[3]?.settle.resolve([VECTOR])
    expect(await again).toBe(VECTOR)
    expect(queries.counts).toEqual({ sent: 4, cached: 0, fellBack: 3, failures: 1 })
  })

  it('of many at once is looked after once', async () => {
    const { queries, calls, waits, down } = start()
    const failed = Promise.all(['a', 'b', 'c'].map(queries.embed))
    for (const call of calls) call.settle.reject(down())
    await failed
    expect([waits.length, queries.counts.failures]).toEqual([1, 3])
  })

  it('with one text, which the provider refuses, is no failure of the provider', async () => {
    const { queries, calls } = start()
    const refused = queries.embed('unspeakable')
    calls[0]?.settle.reject(new AppError('invalid_input', 'refused'))
    expect([await refused, queries.isUp, queries.counts.failures]).toEqual([null, true, 0])
  })

  it('before the first query is noticed by asking', async () => {
    const { queries, calls, down } = start()
    queries.probe()
    expect([calls[0]?.text, queries.isUp]).toEqual(['prompt', true])
    calls[0]?.settle.reject(down())
    await settled()
    expect(queries.isUp).toBe(false)
  })
})

it('ends what is under way when it stops, and waits no more', async () => {
  const { queries, calls, waits } = start()
  const asked = queries.embed('cats')
  queries.stop()
  expect([calls[0]?.signal.aborted, await asked, waits.length]).toEqual([true, null, 0])
})
