import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type LaunchOptions, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { z } from 'zod'
import { adviseOnBrowser, findBrowser } from '../../scripts/setup-browser.ts'
import type { SharedService } from './journeys.ts'
import { createPlace, type Place, type Served, type ServeOptions } from './processes.ts'
import { PASSWORD, type Visitor, visit } from './visitor.ts'

/** The sizes pages are looked at. */
export const VIEWPORTS = { phone: { width: 390, height: 844 }, desktop: { width: 1440, height: 900 } } as const
/** The colours pages are looked at in. */
const THEMES = ['light', 'dark'] as const
/** How long a page may take to come to a state: only a test that fails waits for it. */
const WAIT_MS = 20_000

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

/** A running service, and one browser, for the tests of a file. */
export interface BrowserBench {
  readonly baseUrl: string
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

/** A service of the file's own. */
export interface OwnBench extends BrowserBench {
  /** Where the library is, and how commands are run on it. */
  readonly place: Place
}

/** The service that the journeys share. */
export interface SharedBench extends BrowserBench, SharedService {
  /** Creates an account and gives a page that is signed in to it. */
  newMember(username: string, options?: PageOptions): Promise<Page>
  /** A page of the administrator. */
  newAdministrator(options?: PageOptions): Promise<Page>
}

const saved = z.object({ id: z.string(), slug: z.string() })

/** Options of every Chromium; its sandbox does not start for root. */
export function launchOptions(): LaunchOptions {
  const executablePath = findBrowser()
  if (executablePath === null) throw new Error(adviseOnBrowser())
  return { executablePath, chromiumSandbox: process.getuid?.() !== 0, args: ['--disable-dev-shm-usage'] }
}

/** One browser for each test process. */
let browser: Promise<Browser> | undefined

/** The browser that the setup of the journeys started for this process, or one that it starts. */
function openBrowser(): Promise<Browser> {
  const shared = inject('journeys')
  const place = Number(process.env['VITEST_POOL_ID'] ?? 1) - 1
  const url = shared?.browserUrls[place % shared.browserUrls.length]
  browser ??= url === undefined ? chromium.launch(launchOptions()) : chromium.connect(url)
  return browser
}

/** Starts the program on a library of its own before the tests of a file, and ends it after them. Call it once, outside the tests. */
export function useBrowser(options: ServeOptions = {}): OwnBench {
  const place = createPlace()
  let baseUrl = ''
  const bench = createBench(
    () => baseUrl,
    async (username) => {
      // It brings the whole program.
      const { createKey } = await import('./library-fixtures.ts')
      return await createKey(place.databaseUrl, username)
    },
  )
  beforeAll(async () => {
    const running = await place.serve(options)
    baseUrl = running.url
    setupPath = findSetupPath(running)
  })
  afterAll(async () => {
    if (!inject('journeys')) await (await browser)?.close()
    browser = undefined
    await place.remove()
  })
  return Object.assign(bench, { place })
}

/** The service that all journeys share. Others write to the library meanwhile: use names and words of your own. */
export function useSharedService(): SharedBench {
  const shared = inject('journeys')
  if (!shared) throw new Error('Only the project "journeys" shares a service.')
  const { baseUrl } = shared
  const members = new Map<string, Visitor>()
  const enter = async (username: string) => {
    const member = members.get(username) ?? (await signUp(baseUrl, { username }))
    members.set(username, member)
    return member
  }
  const bench = createBench(
    () => baseUrl,
    async (username) => {
      const member = await enter(username)
      const { html } = await member.postOn('/settings/access', {
        do: 'create',
        name: 'test',
        scopes: ['read', 'write', 'improve', 'results'],
      })
      const key = /cpb_\w{49}/.exec(html)?.[0]
      if (key === undefined) throw new Error('The page shows no key')
      return key
    },
  )
  const openPage = async (cookies: string, options?: PageOptions) => {
    const page = await bench.newPage(options)
    const pairs = cookies.split('; ').map((cookie) => cookie.split(/=(.*)/s))
    await page.context().addCookies(pairs.map(([name = '', value = '']) => ({ name, value, url: baseUrl })))
    return page
  }
  return {
    ...bench,
    ...shared,
    newMember: async (username, options) => await openPage((await enter(username)).cookies(), options),
    newAdministrator: (options) => openPage(shared.administrator, options),
  }
}

/** Creates an account without a browser. */
export async function signUp(baseUrl: string, fields: Readonly<Record<string, string>>): Promise<Visitor> {
  const visitor = visit({
    fetch(path, options = {}) {
      const headers = new Headers(options.headers)
      // Forms come from pages of the service.
      if (headers.has('origin')) headers.set('origin', baseUrl)
      return fetch(baseUrl + path, { ...options, headers })
    },
  })
  const { status, html } = await visitor.post('/sign-up', { password: PASSWORD, ...fields })
  if (status !== 303) throw new Error(`Signing up answered ${status}: ${html}`)
  return visitor
}

function createBench(at: () => string, createKey: BrowserBench['createKey']): BrowserBench {
  const faults: string[] = []
  const contexts: BrowserContext[] = []
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(faults.splice(0)).toEqual([])
  })
  return {
    get baseUrl() {
      return at()
    },
    async newPage({ viewport = 'desktop', theme = 'light', hasScript = true, allowed = [], language = 'en-US' } = {}) {
      const baseUrl = at()
      const context = await (await openBrowser()).newContext({
        baseURL: baseUrl,
        viewport: VIEWPORTS[viewport],
        colorScheme: theme,
        locale: language,
        javaScriptEnabled: hasScript,
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      context.setDefaultTimeout(WAIT_MS)
      contexts.push(context)
      watch(context, baseUrl, (fault) => {
        if (!allowed.some((pattern) => pattern.test(fault))) faults.push(fault)
      })
      return await context.newPage()
    },
    createKey,
    async save(key, kind, fields) {
      const headers = { 'Content-Type': 'application/json', 'X-API-Key': key }
      const body = JSON.stringify({ visibility: 'public', ...fields })
      const response = await fetch(`${at()}/api/${kind}s`, { method: 'POST', headers, body })
      const text = await response.text()
      if (response.status !== 201) throw new Error(`Saving answered ${response.status}: ${text}`)
      return saved.parse(z.record(z.string(), z.unknown()).parse(JSON.parse(text))[kind])
    },
  }
}

/** Reads where a service that just started says the first account is made. */
export function findSetupPath({ stdout }: Served): string {
  return /\/sign-up\?code=[0-9a-f]+/.exec(stdout)?.[0] ?? ''
}

/** Where the service said at its start that the first account is made. */
let setupPath = ''

/** Signs up the first account. */
export async function signUpInBrowser(page: Page, username: string, leadsTo = '**/settings/access?done=welcome'): Promise<void> {
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
async function findBarriers(page: Page): Promise<string[]> {
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

/** What was copied last. */
export const readClipboard = (page: Page): Promise<unknown> => page.evaluate('navigator.clipboard.readText()')

/** Waits until something is copied. */
export const expectCopied = (page: Page) => expect.poll(() => readClipboard(page))

/** Writes a prompt in the editor and saves it; gives its path. */
export async function savePrompt(page: Page, title: string, content: string): Promise<string> {
  await page.goto('/new')
  await page.getByLabel('Title').fill(title)
  await page.getByLabel('Text', { exact: true }).fill(content)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/prompts/**')
  return new URL(page.url()).pathname
}
