import { readFile } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import { progress } from '@clack/prompts'
import { z } from 'zod'
import type { OnCopied } from '../domain/service/transfer.ts'
import { escapeControlsInJson, showControls } from '../domain/text/characters.ts'
import { AppError, invalidInput } from '../errors.ts'
import { coerceText, type InputDescription } from '../operations/core/describe-inputs.ts'

/** Writes a message on standard output. Control characters, which names and files may hold, are shown as marks. */
export function print(text: string): void {
  process.stdout.write(showControls(text))
}

/** Writes a message on standard error, as {@link print} does. */
export function printError(text: string): void {
  process.stderr.write(showControls(text))
}

/** Writes a value as one line of JSON, with control characters as escapes. */
export function printJson(value: unknown): void {
  print(`${escapeControlsInJson(JSON.stringify(value))}\n`)
}

/** A number with its noun. @param many default: the noun with an s */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Inputs that may come from a file: `@path`. */
const FILE_MARK = '@'
/** In place of a text or of a file's path: standard input. */
export const STDIN_MARK = '-'

/** Reads the values of one command line. @param stdin where `-` reads from, at most once */
export function createInputReader(stdin: AsyncIterable<Uint8Array | string>) {
  let isStdinRead = false
  const readStdin = async (name: string): Promise<string> => {
    if (isStdinRead) throw new AppError('invalid_input', `${name}: only one value can be read from standard input.`)
    isStdinRead = true
    return await readStream(stdin)
  }
  const readText = async (name: string, written: string): Promise<string> => {
    if (written === STDIN_MARK || written === FILE_MARK + STDIN_MARK) return await readStdin(name)
    return written.startsWith(FILE_MARK) ? await readNamedFile(name, written.slice(FILE_MARK.length)) : written
  }
  return {
    /** The value of a text that was written for an input. @throws AppError `invalid_input` */
    async read({ name, kind }: Pick<InputDescription, 'name' | 'kind'>, written: string | boolean): Promise<unknown> {
      if (typeof written === 'boolean') return written
      if (kind === 'number' || kind === 'boolean') return coerceText(written, kind)
      if (kind === 'list') return written.split(',').map((part) => part.trim())
      const read = await readText(name, written)
      if (kind === 'text') return read
      try {
        const value: unknown = JSON.parse(read)
        return value
      } catch {
        throw invalidInput(name, `${name} must be JSON.`)
      }
    },
  }
}

async function readNamedFile(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw new AppError('invalid_input', `${name}: the file ${path} ${isMissing ? 'does not exist' : 'cannot be read'}.`, { cause: error })
  }
}

/** Starts a bar of `max` steps with a message on a terminal, otherwise a silent one. Writes to stderr only. */
export function startProgress(max: number, message: string) {
  if (!process.stderr.isTTY || max === 0) return { advanceTo: (_: number) => {}, stop: (_: string) => {} }
  const bar = progress({ max, output: process.stderr })
  let at = 0
  bar.start(message)
  return {
    advanceTo(done: number) {
      bar.advance(done - at)
      at = done
    },
    stop: (end: string) => bar.stop(end),
  }
}

/** Progress per table: a bar on a terminal, otherwise a line per finished table. Writes to stderr only. */
export function showTables() {
  let bar = startProgress(0, '')
  let shown = ''
  const stop = () => bar.stop(shown)
  return {
    advance({ table, rows, ofRows }: Parameters<OnCopied>[0]) {
      if (!process.stderr.isTTY) {
        if (rows >= ofRows && table !== shown) printError(`${table}: ${rows} rows\n`)
        if (rows >= ofRows) shown = table
        return
      }
      if (table !== shown) {
        stop()
        shown = table
        bar = startProgress(ofRows, `Copying ${table}`)
      }
      bar.advanceTo(rows)
    },
    stop,
  }
}

/** Fewest characters of a last column that are shown, however narrow the terminal is. */
const MIN_LAST_COLUMN = 20

/**
 * Rows as aligned columns, each cell on one line. The last column is cut to fit.
 * @param width characters of a line, or null for lines of any length
 */
export function formatTable(rows: readonly (readonly string[])[], width: number | null): string {
  const cells = rows.map((row) => row.map((cell) => showControls(cell).replaceAll(/\s+/g, ' ')))
  const widths: number[] = []
  for (const row of cells) for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const before = widths.slice(0, -1).reduce((sum, columnWidth) => sum + columnWidth + 2, 0)
  const room = width === null ? Number.POSITIVE_INFINITY : Math.max(MIN_LAST_COLUMN, width - before)
  const line = (row: readonly string[]) =>
    row.map((cell, column) => (column === widths.length - 1 ? cut(cell, room) : cell.padEnd(widths[column] ?? 0))).join('  ')
  return cells.map((row) => `${line(row).trimEnd()}\n`).join('')
}

function cut(text: string, length: number): string {
  return text.length <= length
    ? text
    : `${text
        .slice(0, length - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`
}

/** Rows of one page. */
const PAGE = 100

const text = z.string()
const count = z.number().transform(String)
const day = z.string().transform((when) => when.slice(0, 10))
const words = z.array(text).transform((all) => all.join(', '))
/** A column whose value may be null: it is empty then. */
const orNothing = <T>(schema: z.ZodType<T>, show: (value: T) => string) =>
  schema.nullable().transform((value) => (value === null ? '' : show(value)))
const lastDay = orNothing(text, (when) => when.slice(0, 10))
const minute = orNothing(text, (when) => when.slice(0, 16).replace('T', ' '))
const note = orNothing(text, String)
const limit = orNothing(z.number(), String)
const named = orNothing(z.object({ name: text.nullable() }), ({ name }) => name ?? '')
/** The version of a label, or those that share it. */
const targets = z
  .array(z.object({ version: z.number(), weight: z.number() }))
  .transform((all) => all.map(({ version, weight }) => (weight === 100 ? `${version}` : `${version} (${weight} %)`)).join(', '))

/** The tables that listing operations and commands show on a terminal: the member of the answer that has the rows, and a row's columns. */
const LISTS: Readonly<Record<string, readonly [rows: string, columns: Readonly<Record<string, z.ZodType<string>>>]>> = {
  search_prompts: ['prompts', { slug: text, type: text, title: text }],
  search_skills: ['skills', { slug: text, title: text }],
  list_prompts: ['prompts', { slug: text, visibility: text, type: text, title: text }],
  list_skills: ['skills', { slug: text, visibility: text, title: text }],
  list_collections: ['collections', { slug: text, visibility: text, prompts: count, skills: count, owner: text, title: text }],
  list_categories: ['categories', { slug: text, prompts: count, skills: count, name: text }],
  list_tags: ['tags', { slug: text, count, name: text }],
  list_trash: ['items', { id: text, kind: text, deletedAt: day, title: text }],
  list_favourites: ['items', { id: text, kind: text, slug: text, title: text }],
  list_install_links: ['links', { id: text, state: text, expiresAt: lastDay, scope: text, name: text }],
  list_teams: ['teams', { name: text, role: text, defaultVisibility: text, description: note }],
  list_team_members: ['members', { username: text, role: text, joinedAt: day }],
  list_team_activity: ['events', { at: text, action: text, surface: text }],
  related_items: ['items', { slug: text, similarity: count, title: text }],
  users: [
    'users',
    {
      username: text,
      kind: text,
      role: text,
      items: count,
      defaultVisibility: text,
      createdAt: day,
      seenOn: note,
      suspendedAt: lastDay,
      displayName: note,
    },
  ],
  keys: ['keys', { id: text, username: text, kind: text, scopes: words, state: text, expiresAt: lastDay, lastUsedAt: minute, name: text }],
  teams: [
    'teams',
    {
      name: text,
      members: count,
      items: count,
      defaultVisibility: text,
      isOrphaned: z.boolean().transform((is) => (is ? 'yes' : '')),
      maintainers: words,
    },
  ],
  audit: ['events', { at: minute, action: text, surface: text, actor: named, target: named }],
  list_versions: ['versions', { version: count, createdAt: day, visibility: text, author: text, note }],
  list_labels: ['labels', { name: text, targets }],
  list_waivers: ['waivers', { waiver: count, rule: text, file: text, by: note, until: lastDay, reason: text }],
  list_cases: ['cases', { id: text, layout: text, file: text, graders: count, name: text }],
  list_gates: ['gates', { label: text, minPercent: limit, maxDays: limit, maxDrop: limit }],
  list_runs: ['runs', { run: count, version: count, passed: count, failed: count, reportedAt: minute, format: text, model: note }],
}

/** Another server may answer anything. @throws AppError `upstream_failed` when it is not what a Commonplace answers */
export function readOutput<T>(schema: z.ZodType<T>, output: unknown): T {
  const read = schema.safeParse(output)
  if (!read.success) throw new AppError('upstream_failed', 'Unexpected response: not from a Commonplace server. Use --json to see it.')
  return read.data
}

/** Whether an operation's answer is a list. */
export function isList(operation: string): boolean {
  return Object.hasOwn(LISTS, operation)
}

const rest = z.looseObject({
  total: z.number().optional(),
  page: z.number().optional(),
  totalPages: z.number().optional(),
  nextBefore: z.number().nullish(),
  correctedQuery: z.string().optional(),
})

/** A list as a table with a line on what it leaves out. @throws AppError `upstream_failed` */
export function formatList(operation: string, output: Record<string, unknown>, width: number | null): string {
  const [member, columns] = LISTS[operation] ?? ['', {}]
  const rows = readOutput(z.array(z.object(columns)), output[member])
  const names = Object.keys(columns)
  const { total, page = 1, totalPages = 1, nextBefore, correctedQuery } = readOutput(rest, output)
  const corrected = correctedQuery === undefined ? '' : `Showing results for: ${correctedQuery}\n`
  if (rows.length === 0) return `${corrected}Nothing found.\n`
  const table = formatTable([names, ...rows.map((row) => names.map((name) => row[name] ?? ''))], width)
  const nextPage = page < totalPages ? `${rows.length} of ${total}; next: --page ${page + 1}.\n` : ''
  const older = nextBefore ? `Older: --before ${nextBefore}\n` : ''
  return corrected + table + nextPage + older
}

/** The option that every command with a list has. */
export const JSON_OPTION = ['--json', 'print JSON even on a terminal'] as const

/** Where results are written. */
export interface Screen {
  readonly isTTY?: boolean | undefined
  readonly columns?: number
  write(text: string): unknown
}

/** Writes a list: a table on a terminal, JSON in a pipe or where it was asked for. Gives what it wrote. */
export function printList(
  list: string,
  output: Record<string, unknown>,
  { json = false }: { readonly json?: boolean | undefined },
  screen: Screen = process.stdout,
): string {
  const written = screen.isTTY && !json ? formatList(list, output, screen.columns ?? null) : `${JSON.stringify(output, null, 2)}\n`
  screen.write(screen.isTTY ? showControls(written) : written)
  return written
}

/** All pages of a list. */
export async function readPages<T>(
  read: (page: { page: number; perPage: number }) => Promise<{ rows: readonly T[]; totalPages: number }>,
): Promise<T[]> {
  const all: T[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { rows, totalPages } = await read({ page, perPage: PAGE })
    pages = totalPages
    all.push(...rows)
  }
  return all
}
