import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AGENTS, type Installed } from './clients.ts'

const guide = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
const base = 'http://127.0.0.1:3000'
const linesOf = (installed: Installed) =>
  AGENTS.flatMap(({ id, write }) => (write(base, installed) ?? []).map(({ text }) => [id, text] as const))
const skill = { id: 'csv-summary', slug: 'csv-summary', name: 'csv-summary' }

describe('the lines of the install boxes', () => {
  it('stand in docs/install.md as they are', () => {
    const lines = [
      ...linesOf({ scope: '', needsKey: false }),
      ...linesOf({ scope: '/skills/csv-summary', skill, needsKey: false }).filter(([id]) => id === 'unzip' || id === 'skills'),
    ]
    expect(lines).toHaveLength(12)
    for (const [id, text] of lines) expect(guide, id).toContain(text)
  })

  it('offer a private skill, and one without a valid name, by what takes a key alone', () => {
    for (const hidden of [
      { skill, needsKey: true },
      { skill: { ...skill, name: null }, needsKey: false },
    ])
      expect(linesOf({ scope: '/skills/x', ...hidden }).map(([id]) => id)).toEqual(['unzip'])
    expect(linesOf({ scope: '/tags/x', needsKey: true })).toEqual([])
  })
})
