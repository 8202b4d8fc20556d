import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { z } from 'zod'
import { adviseOnBrowser, findBrowser } from '../../scripts/setup-browser.ts'
import { createKey } from './library-fixtures.ts'
import { createPlace, type Place, type ServeOptions } from './processes.ts'
import { PASSWORD } from './visitor.ts'

/** The sizes pages are looked at. */
export const VIEWPORTS = { phone: { width: 390, height: 844 }, desktop: { width: 1440, height: 900 } } as const
/** The colours pages are looked at in. */
const THEMES = ['light', 'dark'] as const

/** How a page is opened. */
interface PageOptions {
  readonly viewport?: keyof typeof VIEWPORTS
  readonly theme?: (typeof THEMES)[number]
  /** Default: true. */
  readonly hasScript?: boolean
  /** What the console may say, such as the 404 of a page that is missing on purpose. */
  readonly allowed?: readonly RegExp[]
  /** What the browser asks for. Default: en-US */
  readonly language?: string
}

/** The built program on a library of its own, and one browser, for the tests of a file. */
export interface BrowserBench {
  readonly baseUrl: string
  /** Where the library is, and how commands are run on it. */
  readonly place: Place
  /**
   * A page in a context of its own, which shares no cookie with another; `page.context().newPage()` opens a second tab.
   * After the test it is closed, and the test fails when the page reported an error, broke its content policy,
   * opened a dialog, or asked another server for anything.
   */
  newPage(options?: PageOptions): Promise<Page>
  /** The key of a user, who is made on first use. */
  createKey(username: string): Promise<string>
  /** Saves a prompt or a skill over REST, public unless the fields say otherwise. */
  save(key: string, kind: 'prompt' | 'skill', fields: Readonly<Record<string, unknown>>): Promise<{ id: string; slug: string }>
}

const saved = z.object({ id: z.string(), slug: z.string() })

/** Starts the program and a browser before the tests of a file, and ends both after them. Call it once, outside the tests. */
export function useBrowser(options: ServeOptions = {}): BrowserBench {
  const place = createPlace()
  const faults: string[] = []
  const contexts: BrowserContext[] = []
  let browser: Browser | undefined
  let baseUrl = ''

  beforeAll(async () => {
    const executablePath = findBrowser()
    if (executablePath === null) throw new Error(adviseOnBrowser())
    const [running, started] = await Promise.all([
      place.serve(options),
      // The sandbox of Chromium does not start for root.
      chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: ['--disable-dev-shm-usage'] }),
    ])
    baseUrl = running.url
    setupPath = /\/sign-up\?code=[0-9a-f]+/.exec(running.stdout)?.[0] ?? ''
    browser = started
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(faults.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await place.remove()
  })

  return {
    get baseUrl() {
      return baseUrl
    },
    place,
    async newPage({ viewport = 'desktop', theme = 'light', hasScript = true, allowed = [], language = 'en-US' } = {}) {
      if (!browser) throw new Error('A page is opened in a test, after the browser has started.')
      const context = await browser.newContext({
        baseURL: baseUrl,
        viewport: VIEWPORTS[viewport],
        colorScheme: theme,
        locale: language,
        javaScriptEnabled: hasScript,
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      contexts.push(context)
      watch(context, baseUrl, (fault) => {
        if (!allowed.some((pattern) => pattern.test(fault))) faults.push(fault)
      })
      return await context.newPage()
    },
    createKey: (username) => createKey(place.databaseUrl, username),
    async save(key, kind, fields) {
      const response = await fetch(`${baseUrl}/api/${kind}s`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
        body: JSON.stringify({ visibility: 'public', ...fields }),
      })
      const text = await response.text()
      if (response.status !== 201) throw new Error(`Saving answered ${response.status}: ${text}`)
      return saved.parse(z.record(z.string(), z.unknown()).parse(JSON.parse(text))[kind])
    },
  }
}

/** Where the service said at its start that the first account is made. */
let setupPath = ''

/** Signs up the first account. */
export async function signUpInBrowser(page: Page, username: string, leadsTo = '**/settings/keys?done=welcome'): Promise<void> {
  await page.goto(setupPath)
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(leadsTo)
}

/** Signs in an account that is there. */
export async function signIn(page: Page, username: string): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('Username or email').fill(username)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/')
}

/** Tells of everything that no page of ours may do. A broken content policy is an error on the console. */
function watch(context: BrowserContext, baseUrl: string, report: (fault: string) => void): void {
  const { origin } = new URL(baseUrl)
  context.on('console', (message) => {
    if (message.type() === 'error') report(`${message.location().url}: ${message.text()}`)
  })
  context.on('weberror', (thrown) => report(`${thrown.page()?.url()}: ${thrown.error()}`))
  context.on('dialog', async (dialog) => {
    // Asked before unsaved text is left: tests that are about it listen themselves.
    if (dialog.type() === 'beforeunload') return await dialog.accept()
    report(`A dialog was opened: ${dialog.message()}`)
    await dialog.dismiss()
  })
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^(?:https?|wss?):$/.test(url.protocol) && url.origin !== origin) report(`Another server was asked: ${url.href}`)
  })
}

/** What axe finds on a page that readers with other senses or hands could not use, one line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html}`))
}

const LOOKS = [
  ['desktop', 'light'],
  ['phone', 'dark'],
] as const

/** Barriers on a page in both themes and in both sizes, and whether it is wider than the reader's screen, each with `place` before it. */
export async function lookForBarriers(page: Page, place: string): Promise<string[]> {
  const found: string[] = []
  // What a theme changes is the same at every size, and the other way round: two looks see it all.
  for (const [viewport, theme] of LOOKS) {
    const size = VIEWPORTS[viewport]
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: theme })
    for (const barrier of await findBarriers(page)) found.push(`${place}, ${viewport}, ${theme}: ${barrier}`)
    const width = z.number().parse(await page.evaluate('document.documentElement.scrollWidth'))
    if (width > size.width) found.push(`${place}, ${viewport}: is ${width} pixels wide`)
  }
  return found
}
