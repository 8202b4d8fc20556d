import { AppError, invalidInput } from '../errors.ts'
import type { Exchange } from '../exchange.ts'
import type { BodyLimit, Call } from '../http/route.ts'
import type { Words } from './site.ts'

/** Largest form without files: the longest prompt with every character escaped, plus other fields. */
const MAX_FORM_BYTES = 3 * 1024 * 1024
/** Largest anonymous form: names, passwords and secrets. */
const MAX_ANONYMOUS_BYTES = 64 * 1024
/** Largest form with files: a zip of the largest skill, plus other fields. */
const MAX_UPLOAD_BYTES = 10 * 1024 * 1024
/** Fields of one form, files among them. */
const MAX_FIELDS = 1_000
/** Longest text of one field, in UTF-16 units: a file of a skill. Operations hold each field to its own limit. */
const MAX_TEXT = 1_100_000
/** Longest field that is shown once more in a form that was refused, in UTF-16 units: the longest prompt. */
export const MAX_SHOWN_AGAIN = 250_000

/** Largest body of a page's forms, and the error for a larger one. */
export interface FormLimit {
  readonly maxBytes: number
  tooLarge(words: Words): string
}

/** The fields of a form that was sent. */
export type SentForm = ReturnType<typeof toForm>

/** A file that was sent in a field; its filename is empty when none was chosen. */
interface SentFile {
  readonly name: string
  readonly filename: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Forms send every line end as CR LF (HTML, "constructing the entry list"); what people typed has LF. */
export function toLines(value: string): string {
  return value.replaceAll('\r\n', '\n')
}

function toForm(entries: readonly (readonly [string, string])[], files: readonly SentFile[], words: Words) {
  const fields = new Map(
    [...Map.groupBy(entries, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => toLines(value))] as const),
  )
  const text = (name: string) => fields.get(name)?.[0] ?? ''
  return {
    /** The first value of a field; empty when there is none. Line ends are as browsers show them: a single line feed. */
    text,
    /** The texts of some fields, without white space around them. */
    texts: <const Name extends string>(...names: readonly Name[]) => {
      const trimmed: Partial<Record<Name, string>> = {}
      for (const name of names) trimmed[name] = text(name).trim()
      return trimmed as Record<Name, string>
    },
    /** The value of a field with a closed list of values. @throws AppError `invalid_input` for any other value */
    choice: <const T extends string>(name: string, options: readonly T[]) => chooseFrom(name, text(name), options, words),
    /** Whether the field was submitted, as checked boxes are. */
    has: (name: string) => fields.has(name),
    all: (name: string) => fields.get(name) ?? [],
    /** All values of a field with a closed list of values. @throws AppError `invalid_input` for any other value */
    allChoices: <const T extends string>(name: string, options: readonly T[]) =>
      (fields.get(name) ?? []).map((value) => chooseFrom(name, value, options, words)),
    /** The files chosen in a field, those without a name left out. */
    files: (name: string) => files.filter((file) => file.name === name && file.filename !== ''),
  }
}

/** The option that a text names. @throws AppError `invalid_input` when it names none */
function chooseFrom<T extends string>(name: string, value: string, options: readonly T[], { errors }: Words): T {
  const chosen = options.find((option) => option === value)
  if (chosen === undefined) throw invalidInput(name, errors.notAChoice(name, options.join(', ')))
  return chosen
}

/** A saved form from its fields. */
export function toSentForm(fields: Readonly<Record<string, string>>, words: Words): SentForm {
  return toForm(Object.entries(fields), [], words)
}

/** Line ending of a text, which form fields do not preserve: `crlf` when every line has it. */
export function nameLineEnds(text: string): 'crlf' | 'lf' {
  return /\r\n/.test(text) && !/(?<!\r)\n/.test(text) ? 'crlf' : 'lf'
}

/** Restores the line endings that {@link nameLineEnds} found before editing. */
export function withLineEnds(text: string, name: string): string {
  return name === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

const URL_ENCODED = /^application\/x-www-form-urlencoded\s*(?:;|$)/i
const MULTIPART = /^multipart\/form-data\s*;(?:[^;]*;)*?\s*boundary=(?:"([^"]{1,70})"|([^";\s]{1,70}))/i

/** The limit of a form's body. Only where it `hasFiles` may it come in parts (multipart). @throws AppError `unsupported_media_type` */
export function limitForm(
  { exchange, actor }: Call,
  { hasFiles = false, limit, words }: { hasFiles?: boolean; limit?: FormLimit | undefined; words: Words },
): BodyLimit {
  const type = exchange.header('content-type') ?? ''
  const isPlain = URL_ENCODED.test(type)
  if (!isPlain && !(hasFiles && MULTIPART.test(type))) throw new AppError('unsupported_media_type', words.errors.notAForm)
  if (!isPlain) return { maxBytes: MAX_UPLOAD_BYTES }
  if (limit) return { maxBytes: limit.maxBytes, tooLarge: limit.tooLarge(words) }
  return { maxBytes: actor.kind === 'anonymous' ? MAX_ANONYMOUS_BYTES : MAX_FORM_BYTES }
}

/** Reads a form as browsers send it, whose body was taken within {@link limitForm}. @throws AppError `invalid_input`, `too_large` */
export async function readForm({ exchange, body }: Call, words: Words): Promise<SentForm> {
  const { errors } = words
  const type = exchange.header('content-type') ?? ''
  if (URL_ENCODED.test(type)) {
    // Counted before anything is parsed: the parser's work grows with the square of some inputs.
    refuseManyFields(errors, countText(body, '&'))
    return toForm(
      [...new URLSearchParams(readUtf8(errors, body))].map((field) => checkText(errors, field)),
      [],
      words,
    )
  }
  const [, quoted, plain] = MULTIPART.exec(type) ?? []
  const boundary = quoted ?? plain ?? ''
  const bytes = new Uint8Array(body)
  refuseManyFields(errors, countText(bytes, `--${boundary}`))
  // The parser is to find the boundary that was counted, and no other of the header.
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` }
  const parsed = await new Response(bytes, { headers }).formData().catch((error: unknown) => {
    throw new AppError('invalid_input', errors.unreadableForm, { cause: error })
  })
  const entries: [string, string][] = []
  const files: SentFile[] = []
  for (const [name, value] of parsed) {
    if (typeof value === 'string') entries.push(checkText(errors, [name, value]))
    else if (value.name.length > MAX_FILENAME) throw new AppError('too_large', errors.fieldTooLong(MAX_FILENAME))
    else files.push({ name, filename: value.name, bytes: new Uint8Array(await value.arrayBuffer()) })
  }
  return toForm(entries, files, words)
}

/** Occurrences of a text in bytes. Stops counting past MAX_FIELDS + 1. */
function countText(bytes: Uint8Array, text: string): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let count = 0
  for (let at = buffer.indexOf(text); at !== -1 && count <= MAX_FIELDS + 1; at = buffer.indexOf(text, at + 1)) count++
  return count
}

function refuseManyFields(errors: Words['errors'], count: number): void {
  if (count > MAX_FIELDS) throw new AppError('too_large', errors.tooManyFields(MAX_FIELDS))
}

function checkText(errors: Words['errors'], [name, value]: [string, string]): [string, string] {
  if (value.length > MAX_TEXT || name.length > MAX_NAME) throw new AppError('too_large', errors.fieldTooLong(MAX_TEXT))
  return [name, value]
}

/** Longest path of a file, in UTF-16 units. */
const MAX_FILENAME = 512
/** Longest name of a field. */
const MAX_NAME = 300

function readUtf8(errors: Words['errors'], bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError('invalid_input', errors.formNotUtf8)
  }
}

/**
 * Refuses a form another site's page sent (cross-site request forgery). Browsers name the page's origin with every form they post;
 * it must be the address the request came to. Another port is another site, though cookies are shared between ports.
 * @throws AppError `forbidden`
 */
export function refuseForeignForm({ header }: Exchange, baseUrl: string, { errors }: Words): void {
  const origin = header('origin') ?? null
  const site = header('sec-fetch-site') ?? null
  const isOwn =
    origin === null
      ? site === null || site === 'same-origin' || site === 'none'
      : origin === baseUrl || (URL.parse(origin)?.host ?? '') === (header('host') ?? '-').toLowerCase()
  if (!isOwn || site === 'cross-site' || site === 'same-site') {
    throw new AppError('forbidden', errors.foreignForm)
  }
}

/** Path and query of the page of this service that a request came from (`Referer`, RFC 9110, section 10.1.3); null when it does not say. */
export function readReferrer({ header }: Exchange, baseUrl: string): string | null {
  const url = URL.parse(header('referer') ?? '')
  if (!url || (url.origin !== baseUrl && url.host !== (header('host') ?? '').toLowerCase())) return null
  return localPath(`${url.pathname}${url.search}`)
}

/** Where to go after signing in: a path of this service, or the first page. */
export function localPath(text: string, fallback = '/'): string {
  const url = URL.parse(text, 'http://here.invalid')
  if (url?.origin !== 'http://here.invalid' || !text.startsWith('/')) return fallback
  return url.pathname.startsWith('//') ? fallback : `${url.pathname}${url.search}`
}
