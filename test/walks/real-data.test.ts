import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse as parseCsv } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { firstWords } from '../../src/domain/text/excerpts.ts'
import { importPrompts, importSkills } from '../../src/transfer/import-entries.ts'
import { exportLibrary, importLibrary } from '../../src/transfer/library-folder.ts'
import { makeFolder } from '../support/folders.ts'
import { isOnPostgres } from '../support/postgres.ts'
import { readTree } from '../support/read-tree.ts'
import { findRealData } from '../support/real-data.ts'
import { expectAllSound } from '../support/sound-rewrites.ts'
import { readJson, rpc, testApp, useTestApp } from '../support/test-app.ts'

/** What only texts that people wrote can show. Everywhere else the tests use the starter library, so that they are the same for everybody. */

const data = findRealData()
process.stderr.write(
  data
    ? `test/walks/real-data.test.ts uses ${data.promptsFile}\n`
    : 'test/walks/real-data.test.ts is SKIPPED: there is no folder ../shared/data beside the checkout. All other tests are the same without it.\n',
)
const { promptsFile, skillsFolder, queriesFile } = data ?? { promptsFile: '', skillsFolder: '', queriesFile: '' }

describe.skipIf(data === null)('the first words of real prompts', () => {
  it('are words: no frontmatter, no markup, no punctuation of JSON', () => {
    const rows = z.array(z.object({ act: z.string(), prompt: z.string() })).parse(parseCsv(readFileSync(promptsFile), { columns: true }))
    const shown = rows.map(({ act, prompt }) => {
      const { pieces } = firstWords(prompt, act)
      return { act, text: pieces.map((piece) => ('text' in piece ? piece.text : `\u27e6${piece.blank}\u27e7`)).join('') }
    })
    expect(shown).toHaveLength(1257)
    const noise = /^(?:---|#{1,6} |[-*>|=_~`]|\{|\[[{"])|\*\*|\]\(|```|\n|" *:|<\/?(?:[a-z]+|!--)>?|[=_─]{4}/
    const noisy = shown.filter(({ text }) => text === '' || text.length > 20_000 || noise.test(text))
    // One that is no JSON, though it looks like it: an object without a key.
    expect(noisy.map(({ act }) => act)).toHaveLength(1)
  })
})

describe.skipIf(data === null)('a library of real size', () => {
  const test = useTestApp()
  const folder = makeFolder()
  beforeAll(async () => {
    expect(await importPrompts(test.app.store, promptsFile, options)).toMatchObject({ read: 1257, created: 1257, refused: 0 })
  })
  const options = { owner: 'demo', visibility: 'public' as const }
  const asWritten = { owner: undefined, visibility: undefined }

  it('is imported, found unchanged, exported, and read back as the same library', async () => {
    const { store } = test.app
    expect(await importPrompts(store, promptsFile, options)).toMatchObject({ read: 1257, unchanged: 1257 })
    expect(await importSkills(store, skillsFolder, options)).toMatchObject({ read: 100, created: 100, refused: 0 })
    expect(await importSkills(store, skillsFolder, options)).toMatchObject({ unchanged: 100 })
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    expect(await exportLibrary(store.transfer, one, null)).toEqual({ prompts: 1257, skills: 100 })
    const other = await testApp()
    expect((await importLibrary(other.app.store, one, asWritten)).report).toMatchObject({ read: 1357, created: 1357, refused: 0 })
    expect((await importLibrary(other.app.store, one, asWritten)).report).toMatchObject({ unchanged: 1357 })
    await exportLibrary(other.app.store.transfer, two, null)
    await other.close()
    const [before, after] = [readTree(one), readTree(two)]
    expect([...after.keys()].toSorted()).toEqual([...before.keys()].toSorted())
    for (const [name, bytes] of before) expect(after.get(name) === bytes, name).toBe(true)
  })

  it('is listed by MCP page by page, and every prompt of it fetched', async () => {
    const names = new Set<string>()
    let [pages, cursor]: [number, string | undefined] = [0, undefined]
    do {
      const { result } = await readJson(await test.fetch('/api/mcp', rpc('prompts/list', cursor === undefined ? {} : { cursor })))
      for (const { name } of result.prompts) names.add(name)
      cursor = result.nextCursor
    } while (cursor !== undefined && ++pages < 60)
    expect(names.size).toBe(1257)
    for (const name of names) {
      const { result } = await readJson(await test.fetch('/api/mcp', rpc('prompts/get', { name })))
      expect(result?.messages[0]?.content.text.length, name).toBeGreaterThan(0)
    }
  })
})

// Neither has to do with the database.
describe.skipIf(data === null || isOnPostgres())('prompts that people wrote', () => {
  const figures = z.looseObject({ mrr10: z.number(), empty: z.number() })
  const summary = z.looseObject({ overall: figures, byKind: z.record(z.string(), figures) })

  it('are found by what people look for', async () => {
    const args = ['scripts/eval-search.ts', '--prompts', promptsFile, '--queries', queriesFile, '--json']
    // With the encoder on it takes minutes: test/long/eval-search.test.ts.
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, ENCODER: 'off' },
    })
    const { overall, byKind } = summary.parse(JSON.parse(stdout))
    expect(overall.mrr10).toBeGreaterThanOrEqual(0.86)
    expect(overall.empty).toBeLessThanOrEqual(0.01)
    expect(byKind['keyword']?.mrr10).toBeGreaterThanOrEqual(0.98)
    expect(byKind['typo']?.mrr10).toBeGreaterThanOrEqual(0.95)
    expect(byKind['question']?.mrr10).toBeGreaterThanOrEqual(0.92)
    // Beyond what words alone reach (.35): meaning has its part.
    expect(byKind['need']?.mrr10).toBeGreaterThanOrEqual(0.58)
  })

  it('keep everything, stay valid and settle at once when they are improved without a model', () => {
    const rows: { prompt: string }[] = parseCsv(readFileSync(promptsFile), { columns: true, relax_quotes: true })
    expectAllSound(rows.map(({ prompt }) => prompt))
  })
})
