import type { z } from 'zod'
import { strangerTo } from '../domain/people/actor.ts'
import { AppError, toAppError } from '../errors.ts'
import type { MakeContext } from '../http/route.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import type { Procedure } from '../operations/core/procedure.ts'
import type { SentForm } from './forms.ts'
import type { Site, Words } from './site.ts'

/** The input of a page: the service, the caller's operations, and what the address says. */
export interface PageRequest {
  readonly site: Site
  /** The texts in the reader's language, as those of the site. */
  readonly words: Words
  /** Calls an operation as the reader. */
  readonly call: CallOperation
  /** Calls an operation as an anonymous reader. */
  readonly callAnonymously: CallOperation
  readonly path: string
  readonly query: URLSearchParams
  /** Path and query of the page of this service that led here; null when the browser does not say. */
  readonly referrer: string | null
  /** A signal that is aborted when the reader leaves. */
  signal(): AbortSignal
  /** The data that the form before left for this page, given once; null for none. */
  takeFlash<T>(shape: z.ZodType<T>): T | null
  /** The part of the path that names the item. */
  readonly ref: string
  /** Another part of the path; empty when there is none. */
  param(name: string): string
  /** The form that was sent and refused, and why: the page shows both. */
  readonly sent: { readonly form: SentForm; readonly fault: AppError } | null
}

/**
 * The result of a form: another page to go to, or a page that is shown this once. `cookies` are Set-Cookie headers; `flash` is for the page
 * that is gone to.
 */
type Outcome = { readonly cookies?: readonly string[] } & (
  | { readonly to: string; readonly flash?: unknown }
  | { readonly html: { toString(): string | Promise<string> } }
)

/** A page whose form was sent. */
export type Acting = PageRequest & { readonly form: SentForm }

/** Does what a form asks for. What it throws is shown on the page the form was on. */
export type Action = (request: Acting) => Promise<Outcome>

/** The action of a page with several buttons, by their values. @throws AppError `invalid_input` for another value */
export function actBy(actions: Readonly<Record<string, Action>>): Action {
  return async (request) => {
    const act = new Map(Object.entries(actions)).get(request.form.text('do'))
    if (!act) throw new AppError('invalid_input', request.site.words.errors.noButton)
    return await act(request)
  }
}

/** Where a form leads when all went well: a page that says so. */
export function done(path: string, what: keyof Words['done']): { readonly to: string } {
  return { to: `${path}${path.includes('?') ? '&' : '?'}done=${what}` }
}

/** An action that calls one procedure, and then leads to a page that says so: that of the form, unless `to` is another. */
export function doing<I extends z.ZodObject, T>(
  procedure: Procedure<I, T>,
  input: (request: Acting) => z.input<I>,
  what: keyof Words['done'],
  to: string | ((request: Acting, made: T) => string) = ({ path }) => path,
): Action {
  return async (request) => {
    const made = await request.call(procedure, input(request))
    return done(typeof to === 'string' ? to : to(request, made), what)
  }
}

/** For what a link no longer leads to: null for an error that is no fault of the service, which is thrown again. */
export function nullWhenRefused(error: unknown): null {
  if (toAppError(error).code === 'internal') throw error
  return null
}

/** An address to go to instead of a page. */
export interface LeadsOn {
  readonly to: string
  /** Whether the page has this address for good. */
  readonly isPermanent?: true
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[]
}

/** The page at an address that is part of another one now. */
export function leadTo(path: string) {
  return async ({ query }: PageRequest): Promise<LeadsOn> => ({ to: query.size === 0 ? path : `${path}?${query}`, isPermanent: true })
}

/** A page that says why what its address asked for was refused. */
export interface Refused {
  readonly html: { toString(): string | Promise<string> }
  readonly fault: AppError
}

/** Largest page number that operations take. */
const MAX_PAGE = 1_000_000

/** The page of a list an address asks for. What is no number becomes 0, which operations refuse. */
function readPageNumber(query: URLSearchParams): number {
  const text = query.get('page') ?? '1'
  return /^[1-9]\d{0,9}$/.test(text) ? Math.min(Number(text), MAX_PAGE) : 0
}

/** Reads the page of a list that the address asks for. A number beyond the last page gives the address of the last one. */
export async function readListPage<T extends { readonly totalPages: number }>(
  { site, query }: Pick<PageRequest, 'site' | 'query'>,
  read: (page: number) => Promise<T>,
): Promise<T | LeadsOn> {
  const page = readPageNumber(query)
  try {
    return await read(page)
  } catch (error) {
    const isBeyond = error instanceof AppError && error.code === 'invalid_input' && error.details[0]?.path === 'page'
    if (page <= 1 || !isBeyond) throw error
    const last = Math.max(1, (await read(1)).totalPages)
    // Items came in between: the page is there now.
    if (last >= page) return await read(page)
    const to = new URL(site.path, site.baseUrl)
    if (last === 1) to.searchParams.delete('page')
    else to.searchParams.set('page', String(last))
    return { to: to.pathname + to.search }
  }
}

/** Calls operations as a stranger to this library, so that responses are the same for every reader. */
export function callAnonymously(makeContext: MakeContext, library: { readonly isForMembers: boolean }): CallOperation {
  const stranger = strangerTo(library)
  return callLocally(() => makeContext(stranger))
}
