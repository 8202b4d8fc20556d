import { z } from 'zod'
import type { Actor } from '../domain/people/actor.ts'
import { type CountUse, collectUses, countNothing } from '../domain/people/usage.ts'
import { readCookie, writeCookie } from '../domain/sign-in/logins.ts'
import { AppError, toAppError } from '../errors.ts'
import type { Answer, AnswerHeaders } from '../exchange.ts'
import { errorHeaders, HTTP_STATUS } from '../http/answers.ts'
import { encodePage, isOpened, type PageCache } from '../http/page-cache.ts'
import type { BoundRoute, Call, MakeContext } from '../http/route.ts'
import { callLocally } from '../operations/core/define-operation.ts'
import type { Context } from '../operations/core/procedure.ts'
import { markControls } from './escape.ts'
import { limitForm, readForm, readReferrer, refuseForeignForm, type SentForm } from './forms.ts'
import { type Language, wordsIn } from './language.ts'
import { stopHighlighting } from './markup/highlight.ts'
import { readNearItems, showProblem } from './pages/reading/problem.tsx'
import { type Action, callAnonymously, type LeadsOn, type PageRequest, type Refused } from './request.ts'
import { type Html, PAGES, type PageEntry } from './routes.ts'
import { scriptRoutes } from './script-routes.ts'
import type { PageSettings, Site } from './site.ts'
import { readStaticFiles } from './static-files.ts'
import { ENGLISH } from './strings/index.ts'

const COOKIE = 'flash'
/** A redirect is followed at once; this is for slow networks. */
const SHOWN_WITHIN_MS = 60_000

const sealed = z.object({ until: z.number(), value: z.unknown() })

/**
 * Carries a secret that is shown once, such as a new key, from the form that creates it to the next page, so that reloading creates no other.
 * Between the two the browser carries it in a cookie, sealed (AES-256-GCM) for one session and one page, for at most a minute; the page
 * removes it. The service stores it nowhere, every instance can open it, and it is in no address, log or history.
 */
function createFlash({ sealer, clock, actor }: Context, cookies: string, baseUrl: string) {
  const session = actor.kind === 'user' ? actor.sessionId : undefined
  const purposeOf = (page: string) => `flash ${session} ${page}`
  const write = (value: string) => writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: SHOWN_WITHIN_MS / 1000, sameSite: 'Strict' })
  return {
    /** A `Set-Cookie` header with a value for one page; null for anonymous readers. */
    put(page: string, value: unknown): string | null {
      if (session === undefined) return null
      return write(sealer.seal(purposeOf(page), JSON.stringify({ until: clock() + SHOWN_WITHIN_MS, value })))
    },
    /** The value for a page, which is given once, with the header that removes it; null when there is none. */
    take<T>(page: string, shape: z.ZodType<T>): { readonly value: T; readonly cookie: string } | null {
      const token = session === undefined ? null : readCookie(COOKIE, cookies, baseUrl)
      const text = token === null ? null : sealer.open(purposeOf(page), token)
      if (text === null) return null
      const { until, value } = sealed.parse(JSON.parse(text))
      const parsed = shape.safeParse(value)
      return parsed.success && clock() <= until ? { value: parsed.data, cookie: write('') } : null
    },
  }
}

const SIGN_IN = '/sign-in'
/** Where a wrong proof is shown on the page itself. */
const ENTRIES: ReadonlySet<string> = new Set([SIGN_IN, '/sign-in/code'])
/** Points of a page, which takes a millisecond or two to make; of a form that is sent; and of one that takes a password, whose hash takes longer. */
const PAGE_COST = 3
const FORM_COST = 10
const PASSWORD_COST = 50

/** Content policy: own origin only, no inline scripts, no framing. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "script-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of a page. */
export function describePage(language: Language, hasFrames = false): Record<string, string> {
  return {
    'content-language': language,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': hasFrames ? `${POLICY}; frame-src 'self'` : POLICY,
    'referrer-policy': 'same-origin',
  }
}

/** The parts of HTTP that pages use. */
interface PageHttp {
  /** Called with errors that occur after the response. */
  onFault(error: AppError, requestId: string): void
  readonly cache: PageCache
  /** The description of the service, which programs get at `/`. */
  describeService(): Answer
  /** The language a request is answered in. */
  languageOf(call: Call): Language
}

/** Renders a page as HTML with invisible characters marked. */
async function draw(page: Html | Promise<Html>): Promise<string> {
  return markControls(await (await page).toString())
}

/** Whether the client accepts HTML. Programs get JSON. */
function wantsPage({ exchange }: Call): boolean {
  return ['GET', 'HEAD', 'POST'].includes(exchange.method) && (exchange.header('accept') ?? '').includes('text/html')
}

/** The theme from the reader's cookie. */
function readTheme(cookies: string, baseUrl: string): Site['theme'] {
  const chosen = readCookie('theme', cookies, baseUrl)
  return chosen === 'light' || chosen === 'dark' ? chosen : null
}

function readReader(actor: Actor): Site['reader'] {
  return actor.kind === 'user' ? { username: actor.username, isAdmin: actor.scopes.has('admin') } : null
}

/** The pages over the operations. */
export function createPages(makeContext: MakeContext, http: PageHttp, settings: PageSettings) {
  const files = readStaticFiles()
  const { languageOf } = http
  const wordsFor = (call: Call) => siteFor(call).words
  const siteFor = (call: Call): Site => ({
    words: wordsIn(languageOf(call), settings.isForMembers && !settings.hasPublicItems),
    url: files.url,
    ...settings,
    path: `${call.exchange.path}${call.exchange.search}`,
    reader: readReader(call.actor),
    theme: readTheme(call.client.cookies, settings.baseUrl),
  })
  const flashOf = (call: Call) => createFlash(makeContext(call.actor), call.client.cookies, settings.baseUrl)

  const toRequest = (call: Call, count: CountUse, sent: { form: SentForm; fault: AppError } | null = null): PageRequest => {
    const { exchange, client, params } = call
    const onFault = (error: unknown) => http.onFault(toAppError(error), call.requestId)
    const site = siteFor(call)
    return {
      site,
      words: site.words,
      sent,
      param: (name) => params[name] ?? '',
      callAnonymously: callAnonymously(makeContext, settings),
      path: exchange.path,
      query: new URLSearchParams(exchange.search),
      referrer: readReferrer(exchange, settings.baseUrl),
      signal: exchange.signal,
      takeFlash(shape) {
        const taken = flashOf(call).take(exchange.path, shape)
        if (taken) call.cookies.push(taken.cookie)
        return taken?.value ?? null
      },
      ref: params['ref'] ?? '',
      call: callLocally(async () => ({ ...(await makeContext(call.actor)), client, count, onFault, signal: exchange.signal() })),
    }
  }
  const answer = (call: Call, html: string, status = 200, hasFrames = false): Answer => ({
    status,
    headers: describePage(languageOf(call), hasFrames),
    body: encodePage(html),
  })
  const leadTo = (to: string, status: 301 | 302 | 303): Answer => ({
    status,
    headers: { location: to, 'cache-control': 'no-store' },
    body: null,
  })
  const leadOn = ({ to, isPermanent }: LeadsOn) => leadTo(to, isPermanent ? 301 : 302)
  /** A page that says what was refused, with the status of it. */
  const refuse = async (call: Call, { html, fault }: Refused, hasFrames = false): Promise<Answer> => {
    const shown = answer(call, await draw(html), HTTP_STATUS[fault.code], hasFrames)
    return { ...shown, headers: { ...shown.headers, ...errorHeaders(fault), 'cache-control': 'private, no-store' } }
  }
  const limitBody = (call: Call, { allowsAnonymous = false, form: limit, hasFiles = false }: PageEntry) => {
    const words = wordsFor(call)
    refuseForeignForm(call.exchange, settings.baseUrl, words)
    if (call.actor.kind === 'anonymous' && !allowsAnonymous) throw new AppError('unauthenticated', words.errors.signInFirst)
    return limitForm(call, { hasFiles, limit, words })
  }
  /** Runs a form's action. On an error, renders the page again with the submitted values. */
  const actOn = async (call: Call, { page, hasFrames }: PageEntry, act: Action): Promise<Answer> => {
    const form = await readForm(call, wordsFor(call))
    try {
      const outcome = await act({ ...toRequest(call, makeContext(call.actor).count), form })
      call.cookies.push(...(outcome.cookies ?? []))
      const flash =
        'to' in outcome && outcome.flash !== undefined
          ? flashOf(call).put(new URL(outcome.to, settings.baseUrl).pathname, outcome.flash)
          : null
      if (flash) call.cookies.push(flash)
      if ('to' in outcome) return leadTo(outcome.to, 303)
      return answer(call, await draw(outcome.html), 200, hasFrames)
    } catch (error) {
      const fault = toAppError(error)
      // Anonymous visitors are redirected to sign in, unless this was a sign-in attempt.
      if (fault.code === 'internal' || (fault.code === 'unauthenticated' && !ENTRIES.has(call.exchange.path))) throw fault
      const shown = await page(toRequest(call, countNothing, { form, fault }))
      if ('to' in shown) return leadOn(shown)
      return await refuse(call, 'fault' in shown ? shown : { html: shown, fault }, hasFrames)
    }
  }
  /** Shows a page, from the cache where it is the same for every stranger. */
  const show = async (call: Call, { path, page, allowsAnonymous = false, hasFrames = false }: PageEntry): Promise<Answer> => {
    // `/` also serves the service description to programs.
    if (path === '/' && !wantsPage(call)) return http.describeService()
    const cached = await http.cache.find(call)
    if (cached) return cached
    let other: Answer | null = null
    const uses = collectUses()
    const make = async () => {
      const made = await page(toRequest(call, uses.count))
      if (!('to' in made || 'fault' in made)) return await draw(made)
      if ('to' in made) call.cookies.push(...(made.cookies ?? []))
      other = 'to' in made ? leadOn(made) : await refuse(call, made)
      return null
    }
    const body = await http.cache.show(call, make, uses.notes)
    if (body !== null && isOpened(call)) {
      const { count } = makeContext(call.actor)
      for (const use of uses.notes()) count(...use)
    }
    if (body === null) return other ?? leadTo('/', 302)
    const headers: AnswerHeaders = describePage(languageOf(call), hasFrames)
    if (allowsAnonymous) headers['cache-control'] = 'private, no-store'
    return { status: 200, headers, body }
  }
  const pages = PAGES.filter((page) => (settings.hasMcp || !page.isOfMcp) && (settings.hasOAuth || !page.isOfOAuth))
  return {
    words: ENGLISH,
    files,
    /** With static files, and what scripts of the pages call. */
    routes: [
      ...pages.flatMap((entry): BoundRoute[] => {
        const { act, takesPassword, isEntry, isOfPublicItem, cost, pageCost = PAGE_COST } = entry
        const row = { path: entry.path.replaceAll(/:(\w+)/g, '{$1}'), kind: 'page', ...(isEntry && { isEntry }) } as const
        const get = { ...row, method: 'GET', cost: pageCost, ...(isOfPublicItem && { isOfPublicItem }) } as const
        const post = { ...row, method: 'POST', cost: cost ?? (takesPassword ? PASSWORD_COST : FORM_COST) } as const
        return [
          { ...get, handle: (call) => show(call, entry) },
          ...(act ? [{ ...post, bodyLimit: (call: Call) => limitBody(call, entry), handle: (call: Call) => actOn(call, entry, act) }] : []),
        ]
      }),
      ...scriptRoutes({ makeContext, baseUrl: settings.baseUrl, onFault: (error, id) => http.onFault(toAppError(error), id), wordsFor }),
      {
        method: 'GET',
        path: '/static/{digest}/{name}',
        kind: 'asset',
        cost: 1,
        isEntry: true,
        async handle({ exchange }) {
          const file = await files.answer(exchange)
          if (!file) throw new AppError('not_found', ENGLISH.errors.noFile)
          return file
        },
      },
    ] satisfies BoundRoute[],
    /** Stops background workers. */
    close: stopHighlighting,
    /** An error page, or null when the client did not ask for HTML. */
    toProblem(call: Call, error: AppError): Promise<Answer> | null {
      const { method, path } = call.exchange
      if (!wantsPage(call) || path.startsWith('/api/')) return null
      const site = siteFor(call)
      if (error.code === 'unauthenticated' && site.reader === null) {
        const to = method === 'POST' ? path : site.path
        const headers = { location: `${SIGN_IN}?to=${encodeURIComponent(to)}`, 'cache-control': 'no-store' }
        return Promise.resolve({ status: 303, headers, body: null })
      }
      const near = readNearItems(
        error,
        path,
        callLocally(() => makeContext(call.actor)),
      )
      return near
        .then((items) => draw(showProblem(site, error, { path, requestId: call.requestId, near: items })))
        .then((html) => answer(call, html, HTTP_STATUS[error.code]))
    },
  }
}
