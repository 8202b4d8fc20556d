import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeFolder } from '../support/folders.ts'
import { createDatabase } from '../support/postgres.ts'
import { MAIN } from '../support/processes.ts'
import { findRealData, STARTER } from '../support/real-data.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const figures = z.strictObject({
  mrr10: z.number(),
  success1: z.number(),
  ndcg10: z.number(),
  recall10: z.number(),
  empty: z.number(),
  claimed: z.number(),
  unclaimed: z.number(),
  p50Ms: z.number().positive(),
  p95Ms: z.number().positive(),
})
const summary = z.strictObject({ overall: figures, byKind: z.record(z.string(), figures) })
const run = promisify(execFile)

async function evaluate(prompts: string, queries: string, more: readonly string[] = [], encoder = 'off'): Promise<z.infer<typeof summary>> {
  const args = ['scripts/eval-search.ts', '--prompts', prompts, '--queries', queries, '--json', ...more]
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: { ...process.env, ENCODER: encoder } })
  return summary.parse(JSON.parse(stdout))
}

describe('npm run eval:search', () => {
  const folder = makeFolder()

  it('gives the figures of known answers, and nothing else on stdout', async () => {
    const prompts = join(folder, 'prompts.csv')
    const queries = join(folder, 'queries.tsv')
    writeFileSync(
      prompts,
      'act,prompt\nWalrus guide,All of the walrus\nWalrus,"Walrus walrus, and a whole lot more about ice"\nKettle,Boil water\nSpoon,Stir it\n',
    )
    // Found first; found among others, one of two; not found; nothing found at all.
    writeFileSync(
      queries,
      [
        'qid\tkind\tquery\trelevant',
        'a\teasy\tkettle\tKettle',
        'b\teasy\tspoon\tSpoon || No such title',
        'c\thard\tkettle\tWalrus guide',
        'd\thard\t!!!\tSpoon',
        'e\tnone\twalrus spoon kettle\t',
      ].join('\n'),
    )
    const { overall, byKind } = await evaluate(prompts, queries)
    expect(Object.keys(byKind)).toEqual(['easy', 'hard', 'none'])
    expect([byKind['easy'], byKind['none']]).toMatchObject([
      { claimed: 0, unclaimed: 0 },
      { claimed: 0, recall10: 0 },
    ])
    expect(byKind['easy']).toMatchObject({ mrr10: 1, success1: 1, recall10: 0.75, empty: 0 })
    expect(byKind['easy']?.ndcg10).toBeCloseTo((1 + 1 / (1 + 1 / Math.log2(3))) / 2, 10)
    expect(byKind['hard']).toMatchObject({ mrr10: 0, success1: 0, ndcg10: 0, recall10: 0, empty: 0.5 })
    expect(overall).toMatchObject({ mrr10: 0.4, empty: 0.2 })
  })

  it('refuses to run without its files, and on a file without the columns', async () => {
    const call = (...args: string[]) => run(process.execPath, ['scripts/eval-search.ts', ...args], { cwd: ROOT })
    await expect(call('--json')).rejects.toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--queries') })
    const bad = join(folder, 'bad.tsv')
    writeFileSync(bad, 'qid\tkind\ttext\n')
    await expect(call('--prompts', bad, '--queries', bad)).rejects.toMatchObject({ stderr: expect.stringContaining('no column "query"') })
  })

  it('gives the same figures on PostgreSQL, in a database that is empty or its own', async () => {
    const titles = join(folder, 'starter.tsv')
    const starter = STARTER.promptsFile
    const quality = ({ overall: { p50Ms: _, p95Ms: __, ...rest } }: z.infer<typeof summary>) => rest
    const prompts = z.array(z.looseObject({ title: z.string() })).parse(JSON.parse(readFileSync(starter, 'utf8')))
    const lines = prompts.map(({ title }, index) => `${index}\ttitle\t${title}\t${title}`)
    writeFileSync(titles, ['qid\tkind\tquery\trelevant', ...lines].join('\n'))
    const onFile = quality(await evaluate(starter, titles))
    expect(onFile.mrr10).toBeGreaterThanOrEqual(0.95)
    const { url, remove } = await createDatabase({ isEmpty: true })
    onTestFinished(remove)
    for (let time = 0; time < 2; time++) expect(quality(await evaluate(starter, titles, ['--database', url]))).toEqual(onFile)
    const theirs = `sqlite:${join(folder, 'theirs.db')}`
    await run(process.execPath, [MAIN, 'import', 'prompts', starter, '--user', 'ada'], {
      env: { ...process.env, DATABASE_URL: theirs, BASE_URL: '' },
    })
    await expect(evaluate(starter, titles, ['--database', theirs])).rejects.toMatchObject({
      stderr: expect.stringContaining('library of somebody'),
    })
  })
})

const data = findRealData()

it.skipIf(data === null)(
  'prompts that people wrote are found with the encoder by needs that share no word with them',
  async () => {
    const { overall, byKind } = await evaluate(data?.promptsFile ?? '', data?.queriesFile ?? '', [], 'on')
    expect(overall.mrr10).toBeGreaterThanOrEqual(0.915)
    expect(byKind['need']?.mrr10).toBeGreaterThanOrEqual(0.68)
    expect(byKind['question']?.mrr10).toBeGreaterThanOrEqual(0.95)
    expect(byKind['typo']?.mrr10).toBe(1)
    expect(byKind['keyword']?.mrr10).toBe(1)
  },
  900_000,
)
