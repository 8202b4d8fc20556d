import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { together } from './prepared.ts'

describe('work that begins together', () => {
  it('gives its results in their order', async () => {
    expect(await together([sleep(5, 'late'), Promise.resolve(2)])).toEqual(['late', 2])
    expect(await together([])).toEqual([])
  })

  it('has all ended when the first error is thrown', async () => {
    let hasEnded = false
    const slow = async () => {
      await sleep(20)
      hasEnded = true
      throw new Error('a later error')
    }
    await expect(together([slow(), Promise.reject(new Error('the first error')), sleep(1)])).rejects.toThrow('the first error')
    expect(hasEnded).toBe(true)
  })
})
