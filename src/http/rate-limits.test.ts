import { describe, expect, it, vi } from 'vitest'
import type { LibraryStore } from '../storage/store.ts'
import { callerOfAddress, createRateLimits, createSharedCounts } from './rate-limits.ts'

describe('createRateLimits', () => {
  it('holds work that was done against the next minutes', async () => {
    vi.useFakeTimers()
    try {
      const limits = createRateLimits(10)
      await limits.settle('a', 35)
      for (const seconds of [0, 60, 120]) {
        vi.setSystemTime(seconds * 1000)
        await expect(limits.count('a'), `after ${seconds} s`).rejects.toMatchObject({ code: 'rate_limited' })
      }
      await limits.count('b')
    } finally {
      vi.useRealTimers()
    }
  })

  it.each([-3_600_000, 3_600_000])('asks nobody to wait longer than a minute after the clock jumped by %i ms', async (jumpMs) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const limits = createRateLimits(1)
      await limits.count('a')
      vi.setSystemTime(Date.now() + jumpMs)
      const refused = await Promise.resolve(limits.count('a', 2)).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'rate_limited' })
      expect(Object(refused).retryAfterSeconds).toBeGreaterThan(0)
      expect(Object(refused).retryAfterSeconds).toBeLessThanOrEqual(60)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('callerOfAddress', () => {
  it('counts an IPv4 machine by its address, however it is written', () => {
    expect(callerOfAddress('203.0.113.7')).toBe('address 203.0.113.7')
    expect(callerOfAddress('::ffff:203.0.113.7')).toBe('address 203.0.113.7')
  })

  it('counts an IPv6 network of 64 bits as one caller', () => {
    const one = callerOfAddress('2001:db8:1:2:3:4:5:6')
    expect(one).toBe('address 2001:db8:1:2::/64')
    expect(callerOfAddress('2001:0db8:1:2::9')).toBe(one)
    expect(callerOfAddress('2001:db8:1:3::9')).not.toBe(one)
    expect(callerOfAddress('::1')).toBe('address 0:0:0:0::/64')
  })
})

const MINUTE = 60_000
/** Counts in memory, as several instances would share them; `isDown` makes it fail. */
function sharedStore() {
  const totals = new Map<string, number>()
  const state = { isDown: false, calls: 0 }
  const store: Pick<LibraryStore['instances'], 'addPoints'> = {
    async addPoints(endsAt, points) {
      state.calls++
      if (state.isDown) throw new Error('down')
      return new Map(
        [...points].map(([name, added]) => {
          const total = (totals.get(endsAt + name) ?? 0) + added
          totals.set(endsAt + name, total)
          return [name, total]
        }),
      )
    },
  }
  return { store, state }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('refuses what two instances together have let through, and lets all through again in the next minute', async () => {
  const { store } = sharedStore()
  let now = 10 * MINUTE
  const instances = [createSharedCounts(store, () => now, 1_000, MINUTE), createSharedCounts(store, () => now, 1_000, MINUTE)]
  let answered = 0
  for (let n = 0; n < 3_000; n++) {
    now += 10
    if (instances[n % 2]?.count('ada', 1) === null) answered++
    await settle()
  }
  // What they have not told each other yet may pass: a hundredth of the limit each, and what comes in between two looks.
  expect(answered).toBeGreaterThanOrEqual(1_000)
  expect(answered).toBeLessThan(1_080)
  expect(instances[0]?.count('ada', 1)).toBe(11 * MINUTE - now)
  expect(instances[0]?.count('ben', 1)).toBeNull()
  now = 11 * MINUTE
  for (const instance of instances) expect(instance.count('ada', 1)).toBeNull()
})

it('asks the store for nobody who asks for little, and not at each request', async () => {
  const { store, state } = sharedStore()
  const now = 10 * MINUTE
  const counts = createSharedCounts(store, () => now, 1_000, MINUTE)
  for (let n = 0; n < 5_000; n++) {
    counts.count(`caller ${n % 900}`, 1)
    await settle()
  }
  expect(state.calls).toBe(0)
  for (let n = 0; n < 100; n++) {
    counts.count('busy', 1)
    await settle()
  }
  expect(state.calls).toBe(1)
})

it('goes on counting by itself while the store is down, and adds it later', async () => {
  const { store, state } = sharedStore()
  let now = 10 * MINUTE
  const counts = createSharedCounts(store, () => now, 100, MINUTE)
  state.isDown = true
  for (let n = 0; n < 100; n++) {
    expect(counts.count('ada', 1)).toBeNull()
    await settle()
  }
  expect(counts.count('ada', 1)).toBe(MINUTE)
  state.isDown = false
  now += 300
  counts.count('ada', 1)
  await settle()
  const other = createSharedCounts(store, () => now, 100, MINUTE)
  other.count('ada', 1)
  await settle()
  expect(other.count('ada', 1)).toBe(MINUTE - 300)
})

it('begins a new stretch when the clock is set back', async () => {
  const { store } = sharedStore()
  let now = 100 * MINUTE
  const counts = createSharedCounts(store, () => now, 10, MINUTE)
  expect(counts.count('ada', 11)).toBe(MINUTE)
  now -= 60 * MINUTE
  expect(counts.count('ada', 10)).toBeNull()
  expect(counts.count('ada', 1)).toBe(MINUTE)
})
