import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { drawPanels } from '../../bench/growth-panels.ts'
import { readGrowth } from '../../bench/growth-results.ts'

describe('the growth curves in the documents', () => {
  it('are drawn from the figures that are kept', () => {
    expect(readFileSync(new URL('../../docs/growth.svg', import.meta.url), 'utf8')).toBe(drawPanels(readGrowth()))
  })

  it('place a point ten times as large one step higher, and name each curve', () => {
    const figures = (savesPerSecond: number) => ({ savesPerSecond, enginePerSecond: 10_000 })
    const svg = drawPanels({ sqlite: { 1000: figures(100), 10000: figures(1000) }, postgresql: {} })
    const [before, after] = svg.split('100 writers')
    expect([before, after].map((part) => part === undefined)).toEqual([false, false])
    // From 100 to 10,000 there are two steps; 1,000 is half-way.
    expect(svg).toContain('points="62.0,256.0 302.0,148.0"')
    expect(svg).toContain('points="62.0,40.0 302.0,40.0"')
    expect(svg).not.toContain('PostgreSQL')
  })

  it('leave out what was not measured, also zeros, which have no place on this scale', () => {
    const svg = drawPanels({ sqlite: { 1000: { snapshotMiB: 0, fileMiB: 10 } }, postgresql: {} })
    expect(svg).toContain('library file')
    expect(svg).not.toContain('snapshot of the index')
    expect(svg).not.toContain('NaN')
  })
})
