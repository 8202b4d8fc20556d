import { AppError } from '../errors.ts'
import type { ReadBody, ReadBytes } from '../http/body.ts'

/** Largest form with files in it: a zip of the largest skill and the fields beside it. */
const MAX_UPLOAD_BYTES = 10 * 1024 * 1024
/** Fields of one form. */
const MAX_FIELDS = 2_000

/** What was sent with a form. */
export interface SentForm {
  /** The first value of a field; empty when there is none. Line ends are as browsers show them: a single line feed. */
  text(name: string): string
  /** Whether a field came at all: how boxes that were ticked are told. */
  has(name: string): boolean
  all(name: string): string[]
  /** The files chosen in a field, those without a name left out. */
  files(name: string): { readonly filename: string; readonly bytes: Uint8Array<ArrayBuffer> }[]
}

/** Forms send every line end as CR LF (HTML, "constructing the entry list"); what people typed has LF. */
function toLines(value: string): string {
  return value.replaceAll('\r\n', '\n')
}

function toForm(
  entries: readonly (readonly [string, string])[],
  files: readonly { name: string; filename: string; bytes: Uint8Array<ArrayBuffer> }[],
): SentForm {
  const fields = new Map<string, string[]>()
  for (const [name, value] of entries) fields.set(name, [...(fields.get(name) ?? []), toLines(value)])
  return {
    text: (name) => fields.get(name)?.[0] ?? '',
    has: (name) => fields.has(name),
    all: (name) => fields.get(name) ?? [],
    files: (name) => files.filter((file) => file.name === name && file.filename !== ''),
  }
}

/** What a form carries along of a text's line ends, which a field on a page cannot: `crlf` where every line ends so. */
export function nameLineEnds(text: string): 'crlf' | 'lf' {
  return /\r\n/.test(text) && !/(?<!\r)\n/.test(text) ? 'crlf' : 'lf'
}

/** A text of a form with the line ends it had before it was edited, as {@link nameLineEnds} told them. */
export function withLineEnds(text: string, name: string): string {
  return name === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

/**
 * Reads a form as browsers send it.
 * @throws AppError `unsupported_media_type`, `invalid_input`, `too_large`
 */
export async function readForm(request: Request, { readBody, readBytes }: { readBody: ReadBody; readBytes: ReadBytes }): Promise<SentForm> {
  const type = request.headers.get('content-type') ?? ''
  if (/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) {
    const entries = [...new URLSearchParams(await readBody(request))]
    if (entries.length > MAX_FIELDS) throw new AppError('too_large', `A form may have at most ${MAX_FIELDS} fields.`)
    return toForm(entries, [])
  }
  if (!/^multipart\/form-data\s*;/i.test(type)) throw new AppError('unsupported_media_type', 'Send a form.')
  const bytes = await readBytes(request, MAX_UPLOAD_BYTES)
  const parsed = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch((error: unknown) => {
    throw new AppError('invalid_input', 'The form could not be read.', { cause: error })
  })
  const entries: [string, string][] = []
  const files: { name: string; filename: string; bytes: Uint8Array<ArrayBuffer> }[] = []
  for (const [name, value] of parsed) {
    if (entries.length + files.length >= MAX_FIELDS) throw new AppError('too_large', `A form may have at most ${MAX_FIELDS} fields.`)
    if (typeof value === 'string') entries.push([name, value])
    else files.push({ name, filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) })
  }
  return toForm(entries, files)
}

/**
 * Refuses a form another site's page sent (cross-site request forgery). Browsers name the page's origin with every form they post;
 * it must be the address the request came to. Another port of the same host is another site, though cookies do not tell them apart.
 * @throws AppError `forbidden`
 */
export function refuseForeignForm(headers: Headers, baseUrl: string): void {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const isOwn =
    origin === null
      ? site === null || site === 'same-origin' || site === 'none'
      : origin === baseUrl || (URL.parse(origin)?.host ?? '') === (headers.get('host') ?? '-').toLowerCase()
  if (!isOwn || site === 'cross-site' || site === 'same-site') {
    throw new AppError('forbidden', 'This form was sent from another page. Open the page here, and send it again.')
  }
}

/** Where to go after signing in: a path of this service, or the first page. */
export function localPath(text: string, fallback = '/'): string {
  const url = URL.parse(text, 'http://here.invalid')
  if (url?.origin !== 'http://here.invalid' || !text.startsWith('/')) return fallback
  return url.pathname.startsWith('//') ? fallback : `${url.pathname}${url.search}`
}
