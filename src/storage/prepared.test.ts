import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { together } from './prepared.ts'

describe('work that begins together', () => {
  it('gives its results in their order', async () => {
    expect(await together([nextTurn('late'), Promise.resolve(2)])).toEqual(['late', 2])
    expect(await together([])).toEqual([])
  })

  it('has all ended when the first error is thrown', async () => {
    let hasEnded = false
    const slow = async () => {
      for (let turn = 0; turn < 5; turn++) await nextTurn()
      hasEnded = true
      throw new Error('a later error')
    }
    await expect(together([slow(), Promise.reject(new Error('the first error')), nextTurn()])).rejects.toThrow('the first error')
    expect(hasEnded).toBe(true)
  })
})
