import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'

/** A value that can be made smaller as often as anybody likes. */
class Endless extends fc.Arbitrary<number> {
  override generate() {
    return new fc.Value(0, 0)
  }
  override canShrinkWithoutContext(value: unknown): value is number {
    return value === 0
  }
  override shrink(_: number, context: unknown) {
    const times = Number(context)
    // An end all the same, so that this test fails, and does not hang, without what it is about.
    return times < 1_000 ? fc.Stream.of(new fc.Value(0, times + 1)) : fc.Stream.nil<fc.Value<number>>()
  }
}

/** Every look at the clock finds it a second later. */
function hurryTheClock(): void {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    nowMs += 1_000
    return nowMs
  })
}

describe('a property that fails', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })
  const fail = () => {
    throw new Error('It fails.')
  }

  it('is reported with the counterexample there is when making it smaller takes long', () => {
    hurryTheClock()
    const { numShrinks, ...outcome } = fc.check(fc.property(new Endless(), fail))
    expect(outcome).toMatchObject({ failed: true, interrupted: true, counterexample: [0] })
    expect(numShrinks).toBeGreaterThan(5)
    expect(numShrinks).toBeLessThan(20)
  })

  it('is so too when it is asynchronous', async () => {
    hurryTheClock()
    const { numShrinks, ...outcome } = await fc.check(fc.asyncProperty(new Endless(), async () => fail()))
    expect(outcome).toMatchObject({ failed: true, interrupted: true, counterexample: [0] })
    expect(numShrinks).toBeLessThan(20)
    await expect(fc.assert(fc.asyncProperty(new Endless(), async () => fail()))).rejects.toThrow('Counterexample: [0]')
  })

  it('has all its runs while it does not fail, however long they take, those that a condition leaves out too', () => {
    hurryTheClock()
    const evens = fc.property(fc.nat(), (number) => fc.pre(number % 2 === 0))
    for (const property of [fc.property(fc.nat(), () => {}), evens]) {
      expect(fc.check(property, { numRuns: 300 })).toMatchObject({ failed: false, interrupted: false, numRuns: 300 })
    }
  })
})
