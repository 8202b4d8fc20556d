import { type EmbedConfig, MAX_EMBED_QUERY } from '../../domain/embed/config.ts'
import { showControls } from '../../domain/text/controls.ts'
import { escapeXml } from '../escape-xml.ts'
import { parseContext } from './context.ts'
import { parsePathTree, type TreeNode } from './path-tree.ts'
import { writeEmbedQuery } from './query.ts'

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
