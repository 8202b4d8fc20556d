import type { Hono, Context as HonoContext } from 'hono'
import type { z } from 'zod'
import { AppError, toAppError } from '../errors.ts'
import { HTTP_STATUS } from '../http/errors.ts'
import type { HttpEnv, MakeContext } from '../http/rest.ts'
import type { Operation } from '../operations/define-operation.ts'
import { browsePrompts, browseSkills } from './pages/browse.tsx'
import { showConnect } from './pages/connect.tsx'
import { showHome } from './pages/home.tsx'
import { showProblem } from './pages/problem.tsx'
import { showPromptPage } from './pages/prompt.tsx'
import { showSkillPage } from './pages/skill.tsx'
import type { PageRequest } from './request.ts'
import type { Site } from './site.ts'
import { readStaticFiles } from './static-files.ts'
import { ENGLISH } from './strings.ts'

type Page = (request: PageRequest) => Promise<{ toString(): string | Promise<string> }>

/** Every page there is. `isOfMcp`: it goes with the MCP endpoint. */
const PAGES: readonly { readonly path: string; readonly page: Page; readonly isOfMcp?: boolean }[] = [
  { path: '/', page: showHome },
  { path: '/prompts', page: browsePrompts },
  { path: '/prompts/:ref', page: showPromptPage },
  { path: '/skills', page: browseSkills },
  { path: '/skills/:ref', page: showSkillPage },
  { path: '/docs/connect', page: showConnect, isOfMcp: true },
]

/** Nothing from elsewhere, no script in the page, no frame around it. */
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

/** What the pages need of the service. */
export interface PageSettings {
  readonly name: string
  readonly baseUrl: string
  readonly hasMcp: boolean
}

/** The pages over the operations. */
export interface Pages {
  /** Adds their routes; the paths are given back, for what answers a wrong method. */
  add(http: Hono<HttpEnv>): readonly string[]
  /** A page that says what went wrong, when it is a page that was asked for; else null. */
  toProblem(c: HonoContext<HttpEnv>, error: AppError): Promise<Response> | null
}

/** Whether a browser asks for a page. What asks for anything else gets what it always got. */
function wantsPage(c: HonoContext<HttpEnv>): boolean {
  return (c.req.method === 'GET' || c.req.method === 'HEAD') && (c.req.header('accept') ?? '').includes('text/html')
}

export function createPages(operations: readonly Operation[], makeContext: MakeContext, settings: PageSettings): Pages {
  const files = readStaticFiles()
  const site: Site = { words: ENGLISH, url: files.url, ...settings }
  const byName = new Map(operations.map((operation) => [operation.name, operation]))

  const toRequest = (c: HonoContext<HttpEnv>): PageRequest => ({
    site,
    path: c.req.path,
    query: new URL(c.req.url).searchParams,
    ref: c.req.param('ref') ?? '',
    async call<T>(name: string, input: Record<string, unknown>, answer: z.ZodType<T>): Promise<T> {
      const operation = byName.get(name)
      if (!operation) throw new AppError('internal', `There is no operation ${name}`)
      return answer.parse(await operation.call(makeContext(c.get('actor')), input))
    },
  })
  const answer = (html: string, status = 200) =>
    new Response(`<!doctype html>${html}`, {
      status,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'same-origin' },
    })
  return {
    add(http) {
      const pages = PAGES.filter((page) => settings.hasMcp || !page.isOfMcp)
      for (const { path, page } of pages) {
        http.get(path, async (c, next) => {
          // The first page's address is also that of the service's description for programs.
          if (path === '/' && !wantsPage(c)) return await next()
          return answer(await (await page(toRequest(c))).toString())
        })
      }
      http.get('/static/:digest/:name', (c) => {
        const file = files.find(c.req.path)
        if (!file) throw new AppError('not_found', 'There is nothing at this address.')
        return new Response(file.body, { headers: { 'Content-Type': file.type, 'Cache-Control': 'public, max-age=31536000, immutable' } })
      })
      return [...pages.map((page) => page.path.replace(':ref', '{ref}')), '/static/{digest}/{name}']
    },
    toProblem(c, error) {
      if (!wantsPage(c) || c.req.path.startsWith('/api/')) return null
      const shown = toAppError(error)
      return Promise.resolve(showProblem(site, shown, c.get('requestId')).toString()).then((html) => answer(html, HTTP_STATUS[shown.code]))
    },
  }
}
