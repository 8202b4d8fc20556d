import { z } from 'zod'
import { AppError } from '../errors.ts'
import { formatTable } from './table.ts'

const text = z.string()
const count = z.number().transform(String)
const day = z.string().transform((when) => when.slice(0, 10))
/** Empty for what has no end. */
const lastDay = z
  .string()
  .nullable()
  .transform((when) => when?.slice(0, 10) ?? '')
const note = z
  .string()
  .nullable()
  .transform((written) => written ?? '')

/** What operations that list things show on a terminal: the member of the answer that has the rows, and a row's columns. */
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
  list_offers: ['incoming', { id: text, from: text, to: text, title: text }],
  list_team_members: ['members', { username: text, role: text, joinedAt: day }],
  list_team_activity: ['events', { at: text, action: text, surface: text }],
  related_items: ['items', { slug: text, similarity: count, title: text }],
  list_versions: ['versions', { version: count, createdAt: day, visibility: text, author: text, note }],
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
