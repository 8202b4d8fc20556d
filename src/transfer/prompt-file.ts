import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { type CsvError, parse } from 'csv-parse'
import { z } from 'zod'
import { contentField, MAX_DESCRIPTION, PROMPT_TYPES, readPromptType, tagsField, titleField } from '../domain/items/fields.ts'
import { VISIBILITIES, type Visibility } from '../domain/items/visibility.ts'
import { messagesField, renderMessages } from '../domain/prompts/body.ts'
import { configField } from '../domain/prompts/config.ts'
import { encodingFault } from '../domain/skills/skill.ts'
import { cutAtWord } from '../domain/text/characters.ts'
import { tryJson } from '../domain/text/json.ts'
import type { Syntax } from '../domain/variables/variables.ts'
import { AppError } from '../errors.ts'
import { describeVariables, findLeftOut, listNames, readForeignEntries, toForeignEntry } from './foreign-prompts.ts'
import { faultOf } from './skill-folder.ts'

/** A validated prompt of a file. Missing fields are undefined. */
export type PromptDraft = Readonly<ReturnType<typeof readDraft>> & {
  /** Whether a category that does not exist is left out, because the file is of another product. Default: false */
  readonly isCategoryOptional?: boolean
}

/** One entry of a file: its number from 1, and the draft or why there is none. */
export type PromptRow = { readonly number: number } & ({ readonly draft: PromptDraft } | { readonly fault: string })

/** Largest JSON file read whole, in bytes; CSV and JSONL are read as they come. */
const MAX_JSON_BYTES = 256 * 1024 * 1024
/** Largest single record, in UTF-16 units: far over what a prompt may hold, so that a long one is refused by itself. */
const MAX_RECORD_LENGTH = 64 * 1024 * 1024

const text = z.string().nullish()
const when = z.iso.datetime().optional().catch(undefined)
const rawRow = z.looseObject({
  act: text,
  title: text,
  prompt: text,
  content: text,
  description: text,
  type: text,
  category: text,
  categorySlug: text,
  for_devs: z.union([z.string(), z.boolean()]).nullish(),
  tags: z.union([z.string(), z.array(z.string())]).nullish(),
  contributor: text,
  author: text,
  contributors: z.array(z.string()).nullish(),
  visibility: text,
  isPrivate: z.union([z.string(), z.boolean()]).nullish(),
  owner: text,
  id: text,
  slug: text,
  createdAt: when,
  updatedAt: when,
  // One that cannot be read refuses the entry: a hold is not lost by a guess.
  heldAt: z.iso.datetime().nullish(),
  heldFrom: z.literal('public').nullish(),
  messages: z.unknown().optional(),
  config: z.unknown().optional(),
  syntax: z.literal([1, 2]).nullish(),
})

/** The category that `for_devs` of the public data set means. */
const DEVELOPERS_CATEGORY = 'coding'

/** The forms of files with prompts. */
export const PROMPT_FORMATS = ['csv', 'json', 'jsonl'] as const
export type PromptFormat = (typeof PROMPT_FORMATS)[number]

/** Where prompts are read from when not from a file by its path. */
export interface PromptSource {
  /** As messages name it. */
  readonly name: string
  readonly format: PromptFormat
  readonly bytes: AsyncIterable<Uint8Array>
}

const READERS = { csv: readCsv, json: readJson, jsonl: readJsonLines }
const ENDINGS: Partial<Record<string, PromptFormat>> = { '.csv': 'csv', '.json': 'json', '.jsonl': 'jsonl', '.ndjson': 'jsonl' }

/**
 * Reads the prompts of a CSV, JSON or JSONL file (told by its ending) or of a source, entry by entry. A bad entry is a fault of its own and stops nothing.
 * CSV columns: act, prompt, for_devs, type, contributor (the public data set), or title, content, description, type, category, tags, author, visibility.
 * @throws AppError `invalid_input` when the file as a whole cannot be read
 */
export async function* readPromptFile(from: string | PromptSource): AsyncGenerator<PromptRow> {
  if (typeof from !== 'string') return yield* READERS[from.format](from.name, from.bytes)
  const path = from
  const format = await findPromptFormat(path)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw new AppError('invalid_input', `${path} cannot be read.`, { cause: error })
  })
  try {
    yield* READERS[format](path, file.createReadStream({ autoClose: false }))
  } finally {
    await file.close()
  }
}

/** The format that a name's ending says; null when it is no file of prompts. */
export function formatOf(name: string): PromptFormat | null {
  return ENDINGS[extname(name).toLowerCase()] ?? null
}

/** The format of a file, by its ending. @throws AppError `invalid_input` when it is no file of prompts */
export async function findPromptFormat(path: string): Promise<PromptFormat> {
  const about = await lstat(path).catch(() => null)
  if (!about) throw new AppError('invalid_input', `${path} does not exist.`)
  if (!about.isFile()) throw new AppError('invalid_input', `${path} is not a regular file (links are not followed).`)
  const format = formatOf(path)
  if (!format) throw new AppError('invalid_input', `${path} has an unknown format; use .csv, .json or .jsonl.`)
  return format
}

async function* readCsv(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<PromptRow> {
  const faults: { line: number; reason: string }[] = []
  const told = new Set<string>()
  let number = 0
  const { start, rest, delimiter, hasSpaces } = await readCsvStart(decodeUtf8(path, bytes))
  const source = Readable.from(
    (async function* () {
      yield start
      yield* rest
    })(),
  )
  const parser = source
    .on('error', (error) => parser.destroy(error))
    .pipe(
      parse({
        info: true,
        delimiter,
        ltrim: hasSpaces,
        columns: (header: string[]) => {
          const columns = toColumns(header)
          if (isHeader(columns)) return columns
          const has = columns.join(', ').slice(0, 200)
          const why = `${path} needs a header line with the columns act and prompt, or title and content; it has: ${has}.`
          throw new AppError('invalid_input', why)
        },
        max_record_size: MAX_RECORD_LENGTH,
        skip_empty_lines: true,
        skip_records_with_error: true,
        on_skip: (error: CsvError | undefined) => {
          // Past this the parser no longer knows where a record ends.
          if (error?.code === 'CSV_MAX_RECORD_SIZE') parser.destroy(error)
          faults.push({ line: parser.info.lines, reason: error?.message ?? 'cannot be read' })
          return undefined
        },
      }),
    )
  // The parser reads ahead: a fault waits until the entries before it are through.
  const skippedBefore = function* (line: number): Generator<PromptRow> {
    for (let fault = faults[0]; fault && fault.line < line; fault = faults[0]) {
      faults.shift()
      yield { number: ++number, fault: `near line ${fault.line}: ${fault.reason}` }
    }
  }
  try {
    for await (const { record, info } of parser) {
      yield* skippedBefore(info.lines)
      yield { number: ++number, ...toPromptDraft(record, { isCsv: true, told }) }
    }
    yield* skippedBefore(Number.POSITIVE_INFINITY)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid_input', `${path} cannot be read as CSV: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    })
  } finally {
    source.destroy()
  }
}

/** The separators of columns that spreadsheets write, the likeliest first. */
const DELIMITERS = [',', ';', '\t', '|'] as const
/** How far the header is looked for, in UTF-16 units. */
const MAX_HEADER = 65_536
const foldColumn = (name: string) => name.toLowerCase().replace(/[\s_-]+/g, '')
const COLUMNS = new Map(Object.keys(rawRow.shape).map((name) => [foldColumn(name), name]))

/** The columns that a header names, whatever their case and the spaces around them; others stay as they are. */
function toColumns(header: readonly string[]): string[] {
  const columns = header.map((name) => COLUMNS.get(foldColumn(name)) ?? name)
  return columns.map((name, index) => (columns.indexOf(name) === index ? name : (header[index] ?? name)))
}

/**
 * The beginning of a CSV file, and how its columns are set apart: as `sep=;` in its first line says, which is no row then, or by what makes a
 * known header of the first line. With spaces after each delimiter, quotes begin behind them.
 */
async function readCsvStart(rest: AsyncGenerator<string>) {
  let start = ''
  while (!/[\r\n][^\r\n]*[\r\n]/.test(start) && start.length < MAX_HEADER) {
    const { value, done } = await rest.next()
    if (done) break
    start += value
  }
  const stated = /^"?sep=(.)"?(?:\r\n|[\r\n])/i.exec(start)
  start = start.slice(stated?.[0].length ?? 0)
  const [first = ''] = start.split(/[\r\n]/, 1)
  const split = (delimiter: string) => toColumns(first.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1')))
  const delimiter = stated?.[1] ?? DELIMITERS.find((one) => isHeader(split(one))) ?? ','
  const hasSpaces = delimiter !== '\t' && first.includes(`${delimiter} `)
  return { start, rest, delimiter, hasSpaces }
}

function isHeader(columns: readonly string[]): boolean {
  return (columns.includes('act') || columns.includes('title')) && (columns.includes('prompt') || columns.includes('content'))
}

async function* readJsonLines(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<PromptRow> {
  let number = 0
  const told = new Set<string>()
  for await (const line of readLines(path, bytes, MAX_RECORD_LENGTH)) {
    if (line.trim() === '') continue
    const value = tryJson(line)
    yield { number: ++number, ...(value === undefined ? { fault: 'is not valid JSON' } : toPromptDraft(value, { told })) }
  }
}

async function* readJson(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<PromptRow> {
  const text = (await Array.fromAsync(decodeUtf8(path, upTo(MAX_JSON_BYTES, path, bytes)))).join('')
  const value = tryJson(text)
  if (value === undefined) throw new AppError('invalid_input', `${path} is not valid JSON.`)
  const entries = readForeignEntries(value)
  if (entries === null) throw new AppError('invalid_input', `${path} must contain a list of prompts, or an object with a list "prompts".`)
  const told = new Set<string>()
  for (const [index, entry] of entries.entries())
    yield { number: index + 1, ...(readForeignDraft(entry) ?? toPromptDraft(entry, { told })) }
}

/** A draft of another product's entry; null when it is none. */
export function readForeignDraft(value: unknown): ReturnType<typeof toPromptDraft> | null {
  const foreign = toForeignEntry(value)
  return foreign && toRemarkedDraft(foreign.row, [...foreign.leftOut, ...describeVariables(String(foreign.row['content']))])
}

/** A draft of what another product wrote, with remarks on what is left out. */
export function toRemarkedDraft(row: unknown, remarks: readonly string[]): ReturnType<typeof toPromptDraft> {
  const made = toPromptDraft(row)
  if ('fault' in made) return made
  const remark = [...remarks, ...(made.draft.remark === undefined ? [] : [made.draft.remark])].join('; ')
  return { draft: { ...made.draft, remark: remark === '' ? undefined : remark, isCategoryOptional: true } }
}

/** @throws AppError `invalid_input` when there are more bytes than `max` */
async function* upTo(max: number, path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > max) throw new AppError('invalid_input', `${path} has more than ${max} bytes, the limit for JSON. Use JSONL.`)
    yield chunk
  }
}

/** Unknown names kept of one file; those beyond are not told. */
const MAX_TOLD = 1_000

/** The unknown fields of an entry, or columns, that no entry before it had. Adds them to `told`. */
function findUntold(row: z.infer<typeof rawRow>, told: Set<string>): string[] {
  const untold = findLeftOut(row).filter((name) => !Object.hasOwn(rawRow.shape, name) && !told.has(name) && told.size < MAX_TOLD)
  for (const name of untold) told.add(name)
  return untold
}

interface DraftOptions {
  readonly isCsv?: boolean
  /** Unknown fields that a remark named before; without it, no remark names any. */
  readonly told?: Set<string>
  /** Of an entry that says nothing of it: texts from elsewhere know no backslashes. */
  readonly syntax?: Syntax
}

/** Checks one entry with the same fields a save is checked with. */
export function toPromptDraft(value: unknown, options: DraftOptions = {}): { draft: PromptDraft } | { fault: string } {
  const raw = rawRow.safeParse(value)
  if (!raw.success) return { fault: `${raw.error.issues[0]?.path.join('.') || 'the entry'} has the wrong type` }
  try {
    return { draft: readDraft(raw.data, options) }
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

const refuse = (fault: string) => new AppError('invalid_input', fault)

function checkField<T>(name: string, schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value)
  if (error) throw refuse(`${name} ${error.issues[0]?.message}`)
  return data
}

/** @throws AppError `invalid_input` that says what is wrong with it */
function readDraft(row: z.infer<typeof rawRow>, { isCsv = false, told, syntax = 1 }: DraftOptions) {
  const title = checkField('title', titleField, row.title ?? row.act ?? '')
  /** Of a chat prompt, whose content shows them. */
  const messages = Array.isArray(row.messages) ? checkField('messages', messagesField, row.messages) : null
  const config = row.config === undefined || row.config === null ? null : checkField('config', configField, row.config)
  const content = checkField('content', contentField, messages ? renderMessages(messages) : (row.content ?? row.prompt ?? ''))
  const type = row.type?.trim() ? readPromptType(row.type) : 'TEXT'
  if (type === null) throw refuse(`type "${row.type}" is not one of ${PROMPT_TYPES.join(', ')}`)
  const visibility = readVisibility(row)
  const tags = checkField('tags', tagsField, typeof row.tags === 'string' ? splitList(row.tags) : (row.tags ?? []))
  if (row.description && (!row.description.isWellFormed() || row.description.includes('\0')))
    throw refuse('description contains a character that cannot be stored')
  // An empty cell of a CSV is no description; an empty text in JSON is one.
  const description = row.description ? cutAtWord(row.description, MAX_DESCRIPTION) : isCsv ? null : (row.description ?? null)
  const untold = told ? listNames(findUntold(row, told)) : []
  const remarks = [
    ...((description ?? '') !== (row.description ?? '') ? [`description cut to ${MAX_DESCRIPTION} characters`] : []),
    ...(untold.length > 0 ? [`left out, here and below: ${untold.join(', ')}`] : []),
  ]
  return {
    title,
    content,
    messages,
    config,
    syntax: row.syntax ?? syntax,
    description,
    type,
    category: row.categorySlug || row.category || (isTrue(row.for_devs) ? DEVELOPERS_CATEGORY : null),
    tags,
    contributors: [...splitList(row.author ?? row.contributor ?? ''), ...(row.contributors ?? [])],
    visibility,
    owner: row.owner ?? undefined,
    id: row.id ?? undefined,
    slug: row.slug ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    held: row.heldAt ? { at: row.heldAt, from: row.heldFrom ?? null } : undefined,
    /** Something worth telling, such as a description that was cut. */
    remark: remarks.length > 0 ? remarks.join('; ') : undefined,
  }
}

/** The visibility of an entry; undefined when missing. A guess could publish a private item: @throws AppError for an ambiguous one */
function readVisibility(row: z.infer<typeof rawRow>): Visibility | undefined {
  if (row.visibility) {
    const visibility = z.enum(VISIBILITIES).safeParse(row.visibility.trim().toLowerCase())
    if (!visibility.success) throw refuse(`visibility "${row.visibility}" is not one of ${VISIBILITIES.join(', ')}`)
    return visibility.data
  }
  if (row.isPrivate === undefined || row.isPrivate === null || row.isPrivate === '') return undefined
  if (isTrue(row.isPrivate)) return 'private'
  if (row.isPrivate === false || /^(false|no|0)$/i.test(String(row.isPrivate).trim())) return 'public'
  throw refuse(`isPrivate "${row.isPrivate}" must be true or false`)
}

function isTrue(value: string | boolean | null | undefined): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|1)$/i.test(value.trim()))
}

function splitList(list: string): string[] {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** A file's text without a byte order mark, piece by piece. @throws AppError `invalid_input` at the first byte that is not UTF-8: nothing is replaced in silence */
async function* decodeUtf8(path: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let start = new Uint8Array()
  try {
    for await (const chunk of bytes) {
      if (start.length === 0) start = chunk.slice(0, 2)
      yield utf8.decode(chunk, { stream: true })
    }
    yield utf8.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new AppError('invalid_input', `${path} ${encodingFault(start)}. Save it as UTF-8 and import it again.`, { cause: error })
  }
}

/**
 * Lines ended by LF. Not readline's: it ends one at U+2028 and U+2029 too, which JSON may hold as they are.
 * @param maxLength of a line, in UTF-16 units
 * @throws AppError `invalid_input` for a longer one
 */
async function* readLines(path: string, bytes: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  let rest = ''
  for await (const text of decodeUtf8(path, bytes)) {
    const lines = text.split('\n')
    lines[0] = rest + lines[0]
    if ((lines[0]?.length ?? 0) > maxLength) throw new AppError('invalid_input', `${path} has a line of more than ${maxLength} characters.`)
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}
