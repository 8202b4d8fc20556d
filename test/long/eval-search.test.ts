import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDatabase } from '../support/postgres.ts'
import { MAIN } from '../support/processes.ts'
import { STARTER } from '../support/real-data.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const figures = z.strictObject({
  mrr10: z.number(),
  success1: z.number(),
  ndcg10: z.number(),
  recall10: z.number(),
  empty: z.number(),
  p50Ms: z.number().positive(),
  p95Ms: z.number().positive(),
})
const summary = z.strictObject({ overall: figures, byKind: z.record(z.string(), figures) })
const run = promisify(execFile)

async function evaluate(prompts: string, queries: string, more: readonly string[] = []): Promise<z.infer<typeof summary>> {
  const args = ['scripts/eval-search.ts', '--prompts', prompts, '--queries', queries, '--json', ...more]
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: { ...process.env, ENCODER: 'off' } })
  return summary.parse(JSON.parse(stdout))
}

describe('npm run eval:search', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'commonplace-eval-test-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

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
      ].join('\n'),
    )
    const { overall, byKind } = await evaluate(prompts, queries)
    expect(Object.keys(byKind)).toEqual(['easy', 'hard'])
    expect(byKind['easy']).toMatchObject({ mrr10: 1, success1: 1, recall10: 0.75, empty: 0 })
    expect(byKind['easy']?.ndcg10).toBeCloseTo((1 + 1 / (1 + 1 / Math.log2(3))) / 2, 10)
    expect(byKind['hard']).toMatchObject({ mrr10: 0, success1: 0, ndcg10: 0, recall10: 0, empty: 0.5 })
    expect(overall).toMatchObject({ mrr10: 0.5, empty: 0.25 })
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
    const onFile = quality(await evaluateTitles(starter, titles))
    const { url, remove } = await createDatabase({ isEmpty: true })
    try {
      for (let time = 0; time < 2; time++) expect(quality(await evaluate(starter, titles, ['--database', url]))).toEqual(onFile)
    } finally {
      await remove()
    }
    const theirs = `sqlite:${join(folder, 'theirs.db')}`
    await run(process.execPath, [MAIN, 'import', 'prompts', starter, '--user', 'ada'], {
      env: { ...process.env, DATABASE_URL: theirs, BASE_URL: '' },
    })
    await expect(evaluate(starter, titles, ['--database', theirs])).rejects.toMatchObject({
      stderr: expect.stringContaining('library of somebody'),
    })
  })

  it('finds every prompt of the starter library by its title', async () => {
    const { overall } = await evaluateTitles(STARTER.promptsFile, join(folder, 'titles.tsv'))
    expect(overall.mrr10).toBeGreaterThanOrEqual(0.95)
  })
})

async function evaluateTitles(promptsFile: string, queries: string): Promise<z.infer<typeof summary>> {
  const prompts = z.array(z.looseObject({ title: z.string() })).parse(JSON.parse(readFileSync(promptsFile, 'utf8')))
  writeFileSync(
    queries,
    ['qid\tkind\tquery\trelevant', ...prompts.map(({ title }, index) => `${index}\ttitle\t${title}\t${title}`)].join('\n'),
  )
  return await evaluate(promptsFile, queries)
}
