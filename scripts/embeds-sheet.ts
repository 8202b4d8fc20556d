// Writes a picture of every example of an embed, on light and on dark pages, as a browser shows them in frames.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { chromium, type Route } from 'playwright-core'
import { openApp } from '../src/app.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { EMBED_CATEGORIES, EMBED_EXAMPLES, type EmbedExample } from '../src/domain/embed/examples.ts'
import { createHttpApp } from '../src/server/http-app.ts'
import { writeEmbedQuery } from '../src/web/embed/query.ts'
import { answerRequest } from '../test/support/exchange.ts'
import { adviseOnBrowser, findBrowser } from './setup-browser.ts'

/** Where the service seems to be: nothing listens there, the browser's requests are answered in this process. */
const BASE_URL = 'http://127.0.0.1:3000'
const THEMES = ['light', 'dark'] as const
const FRAME_WIDTH = 680

const STYLE = `body{margin:0;padding:24px;width:${FRAME_WIDTH * 2 + 72}px;font:15px system-ui,sans-serif;background:#f1f1ee}
h1{font-size:22px;margin:0 0 16px}h2{font-size:18px;margin:28px 0 8px;text-transform:capitalize}h3{font-size:14px;margin:14px 0 6px;font-weight:600}
.pair{display:flex;gap:24px;align-items:flex-start}.pair>div{padding:12px;border-radius:6px;width:${FRAME_WIDTH}px}
.light{background:#fff;color-scheme:light}.dark{background:#0b0c0e;color-scheme:dark}iframe{display:block;width:100%;height:80px;border:0}`

function toPair({ label, value, config }: EmbedExample): string {
  const frames = THEMES.map((theme) => {
    const query = writeEmbedQuery({ ...config, themeMode: theme })
    const src = `${BASE_URL}/embed?${query}`.replaceAll('&', '&amp;')
    return `<div class="${theme}"><iframe title="${value} ${theme}" src="${src}"></iframe></div>`
  })
  return `<h3>${label} (${value})</h3><div class="pair">${frames.join('')}</div>`
}

function toSheet(): string {
  const groups = EMBED_CATEGORIES.map((category) => {
    const examples = EMBED_EXAMPLES.filter((example) => example.category === category)
    return `<h2>${category}</h2>${examples.map(toPair).join('')}`
  })
  return `<!doctype html><meta charset="utf-8"><title>Embeds</title><style>${STYLE}</style><h1>Embeds: ${EMBED_EXAMPLES.length} examples</h1>${groups.join('')}<script src="${BASE_URL}/embed.js"></script>`
}

const path = resolve(process.argv[2] ?? 'embeds-sheet.png')
const executablePath = findBrowser()
if (executablePath === null) {
  process.stderr.write(`${adviseOnBrowser()}\n`)
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'commonplace-sheet-'))
const app = await openApp({
  databaseUrl: `sqlite:${join(folder, 'library.db')}`,
  baseUrl: BASE_URL,
  embeddings: null,
  improve: {
    model: null,
    openaiBaseUrl: null,
    openaiKey: null,
    anthropicKey: null,
    googleKey: null,
    timeoutMs: 1000,
    maxOutputTokens: 1,
    concurrency: 1,
    budget: { requests: null, characters: null },
    systemPromptFile: null,
  },
})
const http = createHttpApp(app, loadConfig({}), pino({ level: 'silent' }))
const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: ['--disable-dev-shm-usage'] })
try {
  const page = await browser.newPage({ viewport: { width: FRAME_WIDTH * 2 + 72, height: 1000 }, reducedMotion: 'reduce' })
  const answer = async (route: Route) => {
    const url = route.request().url()
    if (new URL(url).pathname === '/sheet') return await route.fulfill({ contentType: 'text/html', body: toSheet() })
    const request = new Request(url, { headers: { ...route.request().headers(), host: new URL(BASE_URL).host } })
    const response = await answerRequest(http.pipeline, request)
    const headers = Object.fromEntries(response.headers)
    delete headers['content-encoding']
    await route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) })
  }
  await page.route('**/*', answer)
  await page.goto(`${BASE_URL}/sheet`, { waitUntil: 'networkidle' })
  // The heights arrive a moment after the frames.
  await page.waitForTimeout(500)
  await page.screenshot({ path, fullPage: true })
  process.stdout.write(`${EMBED_EXAMPLES.length} examples: ${path}\n`)
} finally {
  await browser.close()
  await http.close()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
}
