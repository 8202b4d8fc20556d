import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { run } from '../support/processes.ts'
import { findRealData } from '../support/real-data.ts'

/** How well the program finds with its own encoder. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const data = findRealData()
const figures = z.object({ mrr10: z.number() })
const summary = z.object({ overall: figures, byKind: z.record(z.string(), figures) })

describe.skipIf(data === null)('prompts that people wrote', () => {
  it('are found by needs that share no word with them', { timeout: 900_000 }, async () => {
    const args = ['scripts/eval-search.ts', '--prompts', data?.promptsFile ?? '', '--queries', data?.queriesFile ?? '', '--json']
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: { ENCODER: 'on' }, timeoutMs: 850_000 })
    const { overall, byKind } = summary.parse(JSON.parse(stdout))
    expect(overall.mrr10).toBeGreaterThanOrEqual(0.915)
    expect(byKind['need']?.mrr10).toBeGreaterThanOrEqual(0.68)
    expect(byKind['question']?.mrr10).toBeGreaterThanOrEqual(0.95)
    expect(byKind['typo']?.mrr10).toBe(1)
    expect(byKind['keyword']?.mrr10).toBe(1)
  })
})
