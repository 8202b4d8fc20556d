import { describe, expect, it } from 'vitest'
import { createLag } from './replica-lag.ts'

describe('the lag of a replica', () => {
  it('is the time since the oldest position that it has not reached', () => {
    let now = 0
    const lag = createLag(() => now)
    lag.note(100, 100)
    expect(lag.read()).toEqual({ bytes: 0, seconds: 0 })
    now = 1_000
    lag.note(100, 150)
    now = 3_000
    lag.note(100, 400)
    expect(lag.read()).toEqual({ bytes: 300, seconds: 2 })
    // It has what the primary wrote by the first of them.
    now = 4_000
    lag.note(150, 500)
    expect(lag.read()).toEqual({ bytes: 350, seconds: 1 })
    lag.note(500, 500)
    expect(lag.read()).toEqual({ bytes: 0, seconds: 0 })
  })

  it('remembers the oldest however often somebody looks', () => {
    let now = 0
    const lag = createLag(() => now)
    for (let look = 0; look < 10_000; look++) {
      now += 10
      lag.note(0, look + 1)
    }
    expect(lag.read()).toEqual({ bytes: 10_000, seconds: 99.99 })
    lag.note(9_000, 10_000)
    const { seconds } = lag.read()
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(11)
  })
})
