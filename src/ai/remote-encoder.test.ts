import { describe, expect, it, vi } from 'vitest'
import { holdPatience } from '../../test/support/held-patience.ts'
import { AppError } from '../errors.ts'
import { createRemoteEncoder, type TextEmbedder } from './remote-encoder.ts'

const VECTOR = Float32Array.of(1, 0)
const { signal: LASTING } = new AbortController()
const item = (text: string, title = '') => ({ title, text })

/** An encoder whose provider's answers are given by the test, and whose waits end when the test says so. */
function start() {
  const calls: { text: string; settle: PromiseWithResolvers<Float32Array[]>; signal: AbortSignal }[] = []
  const remarks: string[] = []
  const embedder: TextEmbedder = {
    model: 'm',
    embed(texts, { signal }) {
      const settle = Promise.withResolvers<Float32Array[]>()
      signal.addEventListener('abort', () => settle.reject(signal.reason))
      calls.push({ text: texts.join('|'), settle, signal })
      return settle.promise
    },
  }
  const { patience, waits } = holdPatience()
  const encoder = createRemoteEncoder(embedder, patience, (message) => remarks.push(message))
  const call = async (count: number) => {
    await expect.poll(() => calls.length).toBeGreaterThanOrEqual(count)
    return calls[count - 1]?.settle ?? Promise.withResolvers<Float32Array[]>()
  }
  return { encoder, calls, call, waits, remarks }
}
const down = () => new AppError('upstream_failed', 'The model is unreachable.', { retryAfterSeconds: 7 })
const refused = () => new AppError('invalid_input', 'refused')

describe('queries', () => {
  it('that are equal share a call, and are cached', async () => {
    const { encoder, calls } = start()
    const all = Promise.all([encoder.encodeQuery('cats'), encoder.encodeQuery(' cats '), encoder.encodeQuery('dogs')])
    expect(calls.map(({ text }) => text)).toEqual(['cats', 'dogs'])
    for (const { settle } of calls) settle.resolve([VECTOR])
    const answer = { vector: VECTOR, knownShare: 1 }
    expect(await all).toEqual([answer, answer, answer])
    expect(await encoder.encodeQuery('cats')).toEqual(answer)
    expect([calls.length, encoder.counts]).toMatchObject([2, { sent: 2, cached: 1, fellBack: 0, failedQueries: 0 }])
  })

  it('are cut, and blank ones are not sent', async () => {
    const { encoder, calls } = start()
    void encoder.encodeQuery('x'.repeat(9000))
    expect([calls[0]?.text.length, await encoder.encodeQuery('  '), calls.length]).toEqual([8000, null, 1])
  })
})

describe('items', () => {
  it('are sent as title and text, as many at once as one request takes, and come back as bytes', async () => {
    const { encoder, call, calls } = start()
    const answer = encoder.encodeItems([item('One', 'A'), item('Two')], LASTING)
    ;(await call(1)).resolve([Float32Array.of(0.6, -0.8), VECTOR])
    expect([calls[0]?.text, await answer]).toEqual(['A\n\nOne|Two', [Int8Array.of(95, -127), Int8Array.of(127, 0)]])
    void encoder.encodeItems(
      Array.from({ length: 40 }, () => item('y')),
      LASTING,
    )
    void encoder.encodeItems(
      Array.from({ length: 20 }, () => item('z'.repeat(9000))),
      LASTING,
    )
    expect(calls.slice(1).map(({ text }) => text.split('|').map((part) => part.length))).toEqual([
      Array.from({ length: 32 }, () => 1),
      Array.from({ length: 8 }, () => 8000),
    ])
  })

  it('that the provider refuses are found by halving, and are no failure of the provider', async () => {
    const { encoder, call, calls } = start()
    const answer = encoder.encodeItems([item('a'), item('bad'), item('c')], LASTING)
    ;(await call(1)).reject(refused())
    ;(await call(2)).reject(refused())
    ;(await call(3)).resolve([VECTOR])
    ;(await call(4)).reject(refused())
    ;(await call(5)).resolve([VECTOR])
    ;(await call(6)).resolve([VECTOR])
    const vector = Int8Array.of(127, 0)
    expect([await answer, encoder.state()]).toEqual([[vector, null, vector], 'ready'])
    expect(calls.map(({ text }) => text)).toEqual(['a|bad|c', 'a|bad', 'a', 'bad', 'prompt', 'c'])
  })

  it('are not to blame when the provider refuses a harmless text too', async () => {
    const { encoder, call } = start()
    const answer = encoder.encodeItems([item('a')], LASTING)
    ;(await call(1)).reject(refused())
    ;(await call(2)).reject(refused())
    expect([await answer, encoder.fault()]).toEqual([null, 'The embedding model m rejects every text. Check EMBEDDINGS_MODEL.'])
  })
})

describe('a failure', () => {
  it('with one query that the provider refuses is no failure of the provider', async () => {
    const { encoder, call } = start()
    const answer = encoder.encodeQuery('unspeakable')
    ;(await call(1)).reject(refused())
    expect([await answer, encoder.state(), encoder.counts.failedQueries]).toEqual([null, 'ready', 0])
  })

  it('ends all sending until a probe is answered, at the earliest when the provider says', async () => {
    const { encoder, call, calls, waits, remarks } = start()
    const answer = encoder.encodeItems([item('a')], LASTING)
    ;(await call(1)).reject(down())
    expect([await answer, encoder.state(), encoder.fault()]).toEqual([null, 'down', 'The model is unreachable.'])
    expect([await encoder.encodeQuery('cats'), await encoder.encodeItems([item('b')], LASTING), calls.length]).toEqual([null, null, 1])
    expect(waits.map(({ ms }) => ms)).toEqual([7000])
    waits[0]?.end()
    ;(await call(2)).reject(new AppError('upstream_failed', 'Still not.'))
    await expect.poll(() => waits.length).toBe(2)
    expect([calls[1]?.text, waits[1]?.ms, encoder.fault()]).toEqual(['prompt', 2000, 'Still not.'])
    waits[1]?.end()
    ;(await call(3)).resolve([VECTOR])
    await expect.poll(() => encoder.state()).toBe('ready')
    expect(remarks).toEqual([
      'The model is unreachable. Search works without it until it answers.',
      'The embedding model is available again.',
    ])
    expect(encoder.counts).toEqual({ sent: 2, cached: 0, fellBack: 1, failedQueries: 0, failedItems: 1 })
  })

  it('by slowness ends queries alone: items can wait', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { encoder, call, calls, waits } = start()
      const query = encoder.encodeQuery('cats')
      ;(await call(1)).reject(down())
      expect([await query, encoder.state()]).toEqual([null, 'down'])
      waits[0]?.end()
      const probe = await call(2)
      vi.advanceTimersByTime(3_000)
      probe.resolve([VECTOR])
      await expect.poll(() => encoder.state()).toBe('ready')
      const items = encoder.encodeItems([item('a')], LASTING)
      ;(await call(3)).resolve([VECTOR])
      expect([await items, await encoder.encodeQuery('dogs'), calls.length]).toEqual([[Int8Array.of(127, 0)], null, 3])
      expect(encoder.fault()).toBe('The model is unreachable.')
    } finally {
      vi.useRealTimers()
    }
  })

  it('is none when the caller, or the service, stops', async () => {
    const { encoder, calls, remarks } = start()
    const stopped = new AbortController()
    const answer = encoder.encodeItems([item('a')], stopped.signal)
    stopped.abort()
    expect([await answer, encoder.state()]).toEqual([null, 'ready'])
    const query = encoder.encodeQuery('cats')
    await encoder.close()
    expect([await query, calls.map(({ signal }) => signal.aborted), remarks]).toEqual([null, [true, true], []])
  })
})
