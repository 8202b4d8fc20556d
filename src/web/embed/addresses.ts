import { EMBED_FIELDS, type EmbedConfig, embedConfig, isEmbedFlag, MAX_EMBED_QUERY, tidyEmbedConfig } from '../../domain/embed/config.ts'
import { showControls } from '../../domain/text/characters.ts'
import { escapeXml } from '../escape.ts'
import type { Words } from '../site.ts'
import { ENGLISH } from '../strings/index.ts'
import { parseContext, parsePathTree, parseTools, type TreeNode } from './fields.ts'

/** A field that was left out because of what stood in it. */
export interface EmbedFault {
  readonly field: string
  /** Says nothing of what was given. */
  readonly message: string
}

/**
 * Reads a configuration from query parameters or form fields. Empty fields count as missing, unknown
 * ones are ignored, and invalid ones are left out and reported as faults.
 * @param words of the faults. Default: English, as embeds are
 */
export function readEmbedQuery(
  query: URLSearchParams,
  { errors }: Pick<Words, 'errors'> = ENGLISH,
): { config: EmbedConfig; faults: EmbedFault[] } {
  const values: Record<string, unknown> = {}
  const faults: EmbedFault[] = []
  for (const field of EMBED_FIELDS) {
    const [text = '', ...more] = query.getAll(field)
    if (more.length > 0) faults.push({ field, message: errors.repeated(more.length + 1) })
    if (text === '') continue
    const value = isEmbedFlag(field) ? toFlag(text) : text.replaceAll(/\r\n?/g, '\n')
    const parsed = embedConfig.shape[field].safeParse(value)
    if (parsed.success) values[field] = parsed.data
    else faults.push({ field, message: toSentence(errors, field, parsed.error.issues[0]) })
  }
  const { badLines } = parseTools(String(values['mcpTools'] ?? ''))
  if (badLines.length > 0)
    faults.push({
      field: 'mcpTools',
      message: errors.notTool(nameLines(badLines), Math.max(0, badLines.length - MAX_NAMED_LINES), badLines.length),
    })
  return { config: tidyEmbedConfig(embedConfig.parse(values)), faults }
}

/** The parameters that {@link readEmbedQuery} reads the configuration from; defaults are left out. */
export function writeEmbedQuery(config: EmbedConfig): URLSearchParams {
  return new URLSearchParams(Object.entries(tidyEmbedConfig(config)).map(([field, value]): [string, string] => [field, String(value)]))
}

function toFlag(text: string): boolean | string {
  return text === 'true' ? true : text === 'false' ? false : text
}

function toSentence(
  errors: Words['errors'],
  field: string,
  issue: { readonly code: string; readonly message: string; readonly values?: unknown } | undefined,
): string {
  if (isEmbedFlag(field)) return errors.notBoolean
  if (issue?.code === 'invalid_value' && Array.isArray(issue.values)) return errors.notOneOf(issue.values.join(', '))
  return issue?.message ?? errors.notValid
}

/** Lines that are named in a fault. */
const MAX_NAMED_LINES = 10

function nameLines(lines: readonly number[]): string {
  return lines.slice(0, MAX_NAMED_LINES).join(', ')
}

/** An embed: a configuration in the address, a saved one, or a library item with a configuration. */
export type EmbedTarget =
  | { readonly kind: 'config'; readonly config: EmbedConfig }
  | { readonly kind: 'stored'; readonly id: string; readonly config: EmbedConfig }
  | { readonly kind: 'item'; readonly id: string; readonly config: EmbedConfig; readonly around: EmbedConfig }

/** Addresses of an embed and its picture; null when too long, so the embed must be saved. */
export function toEmbedPaths(target: EmbedTarget): { readonly page: string; readonly image: string } | null {
  if (target.kind === 'stored') return { page: `/e/${target.id}`, image: `/api/embed/image/${target.id}.svg` }
  const query = writeEmbedQuery(target.kind === 'item' ? target.around : target.config).toString()
  if (query.length > MAX_EMBED_QUERY) return null
  const asked = query === '' ? '' : `?${query}`
  return target.kind === 'item'
    ? { page: `/embed/${target.id}${asked}`, image: `/api/embed/image/${target.id}.svg${asked}` }
    : { page: `/embed${asked}`, image: `/api/embed/image${asked}` }
}

/** The frame that shows an embed, for another page's HTML. */
export function writeFrame(url: string, title: string, height: number): string {
  return `<iframe src="${escapeXml(url)}" title="${escapeXml(title)}" width="100%" height="${height}" frameborder="0" loading="lazy"></iframe>`
}

/** A picture that leads to an embed, for Markdown. */
export function writeMarkdownLink(url: string, image: string, title: string): string {
  const label = showControls(title)
    .replaceAll(/[\\[\]\s]+/g, ' ')
    .trim()
  return `[![${label}](${escapeParentheses(image)})](${escapeParentheses(url)})`
}

/** About as high as an embed is in a frame of a usual width, in pixels: a script can set it exactly. */
export function estimateHeight(config: EmbedConfig): number {
  const prompt = 24 * countLines(config.prompt ?? '', 76)
  const context = 30 * Math.ceil(parseContext(config.context ?? '').shown.length / 3)
  const tools = config.showMcpTools ? 30 * Math.ceil((config.mcpTools ?? '').split('\n').length / 3) : 0
  const diff = config.showDiff ? 130 + 21 * (countLines(config.diffOldText ?? '', 999) + countLines(config.diffNewText ?? '', 999)) : 0
  const tree = config.showFiletree ? 60 + 23 * countNodes(parsePathTree(config.filetree ?? '').nodes) : 0
  return Math.min(1200, Math.max(120, tree, 90 + prompt + context + tools + diff))
}

function countNodes(nodes: readonly TreeNode[]): number {
  return nodes.reduce((sum, { children }) => sum + 1 + countNodes(children ?? []), 0)
}

function countLines(text: string, width: number): number {
  return text === '' ? 1 : text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0)
}

function escapeParentheses(url: string): string {
  return url.replaceAll('(', '%28').replaceAll(')', '%29')
}
