import { describe, expect, it } from 'vitest'
import { backOffMs, describeFailure, waitBeforeRetry } from './model-requests.ts'
import { createTextEmbedder } from './remote-encoder.ts'

const NOW = Date.UTC(2026, 0, 1)
const wait = (status: number | undefined, attempt = 0, leftMs = 60_000, retryAfter?: string) =>
  waitBeforeRetry({ status, retryAfter }, attempt, leftMs, NOW)

describe('waitBeforeRetry', () => {
  it.each([undefined, 408, 409, 429, 500, 502, 503, 504, 529])('tries again after %s', (status) => {
    expect(wait(status)).toBe(500)
  })

  it.each([200, 301, 307, 400, 401, 403, 404, 413, 422])('does not after %i', (status) => {
    expect(wait(status)).toBeNull()
  })

  it('waits longer each time, and three times at most', () => {
    expect([0, 1, 2, 3].map((attempt) => wait(500, attempt))).toEqual([500, 1000, 2000, null])
  })

  it.each([
    ['2', 2000],
    ['0', 500],
    ['1.5', 1500],
    ['-5', 500],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 500],
    ['soon', 500],
    ['', 500],
  ])('takes Retry-After: %s for %i ms', (text, ms) => {
    expect(wait(429, 0, 60_000, text)).toBe(ms)
  })

  it('does not begin a wait that would use up the time', () => {
    expect([wait(429, 0, 30_000, '30'), wait(429, 0, 30_001, '30'), wait(500, 0, 400), wait(429, 0, 60_000, '1e300')]).toEqual([
      null,
      30_000,
      null,
      null,
    ])
  })
})

it('passes a wait on to callers, up to a day; an embedding model is asked again within an hour', async () => {
  const retryAfter = '900000'
  expect(describeFailure('A', { status: 429, retryAfter }).retryAfterSeconds).toBe(86_400)
  const refuse = async () => new Response('{}', { status: 429, headers: { 'retry-after': retryAfter } })
  const embedder = createTextEmbedder({ url: 'http://127.0.0.1/v1', model: 'm', key: null }, refuse)
  const asked = embedder.embed(['a'], { purpose: 'query', timeoutMs: 1000, signal: new AbortController().signal })
  await expect(asked).rejects.toMatchObject({ code: 'upstream_failed', retryAfterSeconds: 3600 })
})

it('waits twice as long each time, up to a most', () => {
  expect([1, 2, 3, 4, 5, 1000].map((failures) => backOffMs(failures, 1000, 8000, 1))).toEqual([1000, 2000, 4000, 8000, 8000, 8000])
})

it('takes the half to the whole by chance', () => {
  expect([backOffMs(3, 1000, 60_000, 0), backOffMs(3, 1000, 60_000, 0.5)]).toEqual([2000, 3000])
})
