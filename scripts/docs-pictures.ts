// Takes the pictures of the README from a service with the starter library, in light and dark.
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
const service = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'serve', '--starter'], { env, stdio: 'ignore' })
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
} finally {
  await browser.close()
  service.kill('SIGTERM')
  await once(service, 'exit')
  rmSync(folder, { recursive: true, force: true })
}
