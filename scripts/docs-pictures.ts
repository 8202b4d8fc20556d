// Takes the pictures of the README, in light and dark, and those of the documents from a service with the starter library.
//   npm run docs:pictures
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { findFreePort } from '../test/support/postgres-server.ts'
import { adviseOnBrowser, findBrowser } from './setup-browser.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SIZE = { width: 1280, height: 800 }

const executablePath = findBrowser()
if (executablePath === null) throw new Error(adviseOnBrowser())
const folder = mkdtempSync(join(tmpdir(), 'commonplace-pictures-'))
const port = String(await findFreePort())
const env = { ...process.env, PORT: port, DATABASE_URL: `sqlite:${join(folder, 'library.db')}` }
const service = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'serve', '--starter'], {
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
})
let printed = ''
service.stdout.setEncoding('utf8').on('data', (text: string) => {
  printed += text
})
const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 })
try {
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await new Promise((done) => setTimeout(done, 200))
  mkdirSync(join(ROOT, 'pictures'), { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme })
    await page.goto(`${url}/prompts?q=review+code`, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(ROOT, `pictures/search-${colorScheme}.png`) })
  }
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' })
  const take = async (name: string, path: string) => {
    await page.goto(url + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(ROOT, `docs/${name}.png`) })
  }
  await take('connect', '/connect')
  await page.goto(/\S+\/sign-up\?code=\S+/.exec(printed)?.[0] ?? `${url}/sign-up`)
  await page.fill('[name=username]', 'ada')
  await page.fill('[name=password]', 'a horse that reads')
  await page.click('main button[type=submit]')
  await page.waitForURL((address) => !address.pathname.startsWith('/sign-up'))
  const write = async (path: string, fields: Record<string, string>, save = '[name=do][value=save]') => {
    await page.goto(url + path)
    for (const [name, value] of Object.entries(fields)) await page.fill(`[name="${name}"]`, value)
    await page.click(save)
    await page.waitForLoadState('networkidle')
  }
  const text = 'Answer ${customer} politely, in ${language:their language}.'
  await write('/new', { title: 'Answer a customer', description: 'A reply from the help desk', content: text })
  const prompt = new URL(page.url()).pathname
  for (const more of [' Say what happens next.', ' Say what happens next, and when.'])
    await write(`${prompt}/edit`, { content: text + more, note: more.includes('when') ? 'Name a time' : 'Say what happens next' })
  await take('editor', `${prompt}/edit`)
  await page.goto(`${url}${prompt}/versions`)
  await page.locator('details:has([name=label]) > summary').click()
  await page.fill('[name=label]', 'production')
  await page.selectOption('[name=version]', '2')
  await page.fill('[name=reason]', 'Tried on ten letters')
  await page.click('[name=do][value=set-label]')
  await page.waitForLoadState('networkidle')
  await take('versions', `${prompt}/versions`)
} finally {
  await browser.close()
  service.kill('SIGTERM')
  await once(service, 'exit')
  rmSync(folder, { recursive: true, force: true })
}
