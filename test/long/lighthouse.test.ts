import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { findBrowser } from '../../scripts/setup-browser.ts'
import lighthouse from '../../tools/lighthouse.ts'
import { signUpInBrowser, useBrowser } from '../support/browser.ts'

/** Lowest score of a page, of 100. */
const LOWEST = 95
const CATEGORIES = ['accessibility', 'best-practices', 'seo'] as const

/** The part of a report that is read. */
const report = z.object({
  finalDisplayedUrl: z.string(),
  categories: z.record(z.string(), z.object({ score: z.number().nullable() })),
  audits: z.record(z.string(), z.object({ id: z.string(), score: z.number().nullable(), scoreDisplayMode: z.string() })),
})

/**
 * What Lighthouse says of pages on a phone, other than how fast they are: timings of a busy machine say nothing.
 * Those are measured by hand; bytes, requests and layout shifts are held by other tests.
 */
describe('Lighthouse', () => {
  const bench = useBrowser()
  let port = 0
  let cookie = ''
  let stop: () => void = () => {}
  const paths = { prompt: '', skill: '' }

  beforeAll(async () => {
    const key = await bench.createKey('Grace')
    const content = 'Write to ${name} about ${topic:plants}.\n\n```js\nconst a = 1\n```'
    for (let n = 0; n < 30; n++)
      await bench.save(key, 'prompt', { title: `Prompt ${n}`, content, tags: ['one', 'two'], category: 'coding' })
    paths.prompt = `/prompts/${(await bench.save(key, 'prompt', { title: 'Letter', content, description: 'Writes a letter.' })).slug}`
    const files = [
      { filename: 'SKILL.md', content: '---\nname: notes\ndescription: Writes notes.\n---\n# Notes\n\n|a|b|\n|-|-|\n|1|2|\n' },
      { filename: 'scripts/run.py', content: 'print(1)\n' },
    ]
    for (const title of ['Notes', 'Release notes', 'Notes of meetings']) {
      paths.skill = `/skills/${(await bench.save(key, 'skill', { title, description: 'Writes notes.', files })).slug}`
    }
    // Lighthouse drives a browser of its own over its port.
    const folder = join(bench.place.folder, 'lighthouse')
    const flags = ['--headless=new', '--disable-dev-shm-usage', '--remote-debugging-port=0', `--user-data-dir=${folder}`]
    if (process.getuid?.() === 0) flags.push('--no-sandbox')
    const browser = spawn(findBrowser() ?? '', [...flags, 'about:blank'], { stdio: 'ignore' })
    stop = () => browser.kill()
    port = await vi.waitFor(
      async () => {
        const [line = ''] = (await readFile(join(folder, 'DevToolsActivePort'), 'utf8')).split('\n')
        return Number(line)
      },
      { timeout: 20_000, interval: 100 },
    )
  })
  afterAll(() => stop())

  async function judge(path: string, isSignedIn: boolean): Promise<Record<string, number>> {
    const flags = {
      port,
      logLevel: 'silent' as const,
      onlyCategories: [...CATEGORIES],
      ...(isSignedIn ? { extraHeaders: { cookie } } : {}),
    }
    const result = await lighthouse(`${bench.baseUrl}${path}`, flags)
    const lhr = report.parse(result?.lhr)
    expect(new URL(lhr.finalDisplayedUrl).pathname, 'it was led on').toBe(new URL(path, bench.baseUrl).pathname)
    const failed = Object.values(lhr.audits).filter(({ score, scoreDisplayMode }) => scoreDisplayMode === 'binary' && score === 0)
    const scores = Object.fromEntries(CATEGORIES.map((name) => [name, Math.round((lhr.categories[name]?.score ?? 0) * 100)]))
    if (Math.min(...Object.values(scores)) < LOWEST) process.stderr.write(`${path}: ${failed.map(({ id }) => id).join(', ')}\n`)
    return scores
  }

  it.each<[string, () => string]>([
    ['home', () => '/'],
    ['a list', () => '/prompts'],
    ['a prompt', () => paths.prompt],
    ['a skill', () => paths.skill],
    ['a document', () => '/docs/connect'],
    ['the API reference', () => '/docs/api'],
  ])('finds nothing wrong with %s', { timeout: 60_000 }, async (_, path) => {
    for (const [name, score] of Object.entries(await judge(path(), false))) expect(score, name).toBeGreaterThanOrEqual(LOWEST)
  })

  it('finds nothing wrong with the editor, which no search engine may list', { timeout: 60_000 }, async () => {
    const page = await bench.newPage()
    await signUpInBrowser(page, 'ada')
    cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    const { seo: _, ...scores } = await judge('/new', true)
    for (const [name, score] of Object.entries(scores)) expect(score, name).toBeGreaterThanOrEqual(LOWEST)
  })
})
