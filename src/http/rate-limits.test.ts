import { describe, expect, it, vi } from 'vitest'
import { callerOfAddress, createRateLimits } from './rate-limits.ts'

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
