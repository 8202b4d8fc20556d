import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { drawPanels } from '../../bench/growth-panels.ts'
import { readGrowth } from '../../bench/growth-results.ts'

describe('the growth curves in the documents', () => {
  it('are drawn from the figures that are kept', () => {
    expect(readFileSync(new URL('../../docs/growth.svg', import.meta.url), 'utf8')).toBe(drawPanels(readGrowth()))
  })
})
