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

  it('are cut, and blank ones are not sent', async () => {
    const { queries, calls } = start()
    void queries.embed('x'.repeat(9000))
    expect([calls[0]?.text.length, await queries.embed('  '), calls.length]).toEqual([8000, null, 1])
  })
})

describe('a failure', () => {
  it('with one text, which the provider refuses, is no failure of the provider', async () => {
    const { queries, calls } = start()
    const refused = queries.embed('unspeakable')
    calls[0]?.settle.reject(new AppError('invalid_input', 'refused'))
    expect([await refused, queries.isUp, queries.counts.failures]).toEqual([null, true, 0])
  })
})
