import { readFileSync } from 'node:fs'
import MarkdownIt, { type Token } from 'markdown-it'
import { AppError } from '../errors.ts'
import type { Site } from './site.ts'

/** Two folders below the root, as the sources and the built program both stand. */
const FOLDER = new URL('../../docs/', import.meta.url)

/** The documents that are shown, by what their reader wants to do, in the order of the index. */
export const DOCUMENTS = {
  use: ['getting-started', 'connect', 'install', 'variables', 'skills', 'search', 'improve', 'import-export', 'langfuse'],
  share: ['accounts', 'keys-and-visibility', 'teams', 'collections', 'labels', 'evals', 'embeds', 'git'],
  run: ['self-hosting', 'sign-in', 'backup', 'upgrade', 'scaling', 'benchmarks'],
  reference: ['api', 'tools', 'cli', 'settings', 'errors'],
} as const

/** The groups of {@link DOCUMENTS}. */
export const DOCUMENT_GROUPS = ['use', 'share', 'run', 'reference'] as const satisfies readonly (keyof typeof DOCUMENTS)[]
type Group = (typeof DOCUMENT_GROUPS)[number]

/** The name of a document, below `/docs/`. */
export type DocumentName = (typeof DOCUMENTS)[Group][number]

/** A document of the repository that the service shows. */
interface DocumentSource {
  readonly name: DocumentName
  /** Below the folder of the documents. */
  readonly file: string
  /** It goes with the MCP endpoint. */
  readonly isOfMcp: boolean
}

function sourcesOf(group: Group): DocumentSource[] {
  return DOCUMENTS[group].map((name) => ({
    name,
    file: `${group === 'reference' ? 'reference/' : ''}${name === 'api' ? 'routes' : name}.md`,
    isOfMcp: name === 'connect' || name === 'tools',
  }))
}

/** Every document, in the order of the index. */
export const ALL_DOCUMENTS: readonly DocumentSource[] = DOCUMENT_GROUPS.flatMap(sourcesOf)

/** The names of the documents that a service shows: all of them, or those of a group. */
export function listDocuments({ hasMcp }: Pick<Site, 'hasMcp'>, group?: Group): DocumentName[] {
  const sources = group === undefined ? ALL_DOCUMENTS : sourcesOf(group)
  return sources.filter(({ isOfMcp }) => hasMcp || !isOfMcp).map(({ name }) => name)
}

/** Documents already rendered; they are the same as long as the service runs. */
const rendered = new Map<string, ReturnType<typeof renderDocument>>()

/**
 * The document of a name, read and rendered on its first use.
 * @throws AppError `not_found`
 */
export function readDocument(name: string, site: Site) {
  const source = ALL_DOCUMENTS.find((one) => one.name === name)
  if (!source) throw new AppError('not_found', site.words.errors.noDocument)
  const key = [name, site.baseUrl, site.hasMcp, site.words.language].join(' ')
  const document = rendered.get(key) ?? renderDocument(chooseParts(readText(source.file, site), site), source.file, site)
  rendered.set(key, document)
  return document
}

/** @throws AppError `not_found` where the program was installed without its documents */
function readText(file: string, { words }: Site): string {
  try {
    return readFileSync(new URL(file, FOLDER), 'utf8')
  } catch (cause) {
    throw new AppError('not_found', words.errors.noDocsFolder, { cause })
  }
}

/**
 * The text as this service shows it. What stands between `<!-- mcp -->` and `<!-- /mcp -->`, and a line with
 * `<!-- mcp line -->`, is for services with MCP alone; with `repository`, for readers of the files alone.
 * The marks are comments, which other readers of the files do not see: a line must not begin with one unless it is all of the line.
 */
export function chooseParts(text: string, { baseUrl, hasMcp }: Pick<Site, 'baseUrl' | 'hasMcp'>): string {
  const hidden = hasMcp ? 'repository' : 'repository|mcp'
  return (
    text
      .replaceAll('\r\n', '\n')
      .replaceAll(new RegExp(`<!-- (${hidden}) -->.*?<!-- /\\1 -->`, 'gs'), '')
      .replaceAll(new RegExp(`^.*<!-- (?:${hidden}) line -->.*\n`, 'gm'), '')
      .replaceAll(/<!--.*?-->/gs, '')
      // A proxy goes on asking the service where it listens.
      .replaceAll(/(?<!proxy_pass )http:\/\/127\.0\.0\.1:3000/g, () => baseUrl)
  )
}

/** A document, ready to be shown: its title, the rest as HTML, and its sections for a table of contents. */
function renderDocument(text: string, file: string, site: Site) {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  const sections: { id: string; text: string }[] = []
  let title = ''
  const { escapeHtml } = markdown.utils
  const { copy, copied } = site.words
  const { Token: MarkdownToken } = new markdown.core.State('', markdown, {})
  const linkToSection = (id: string, label: string) => {
    const link = new MarkdownToken('html_inline', '', 0)
    link.content = ` <a class="anchor" href="#${id}" aria-label="${escapeHtml(label)}">#</a>`
    return link
  }

  markdown.core.ruler.push('documents', ({ tokens }) => {
    const ids = new Map<string, number>()
    let heads: string[] = []
    let column = 0
    for (const [place, token] of tokens.entries()) {
      const inline = tokens[place + 1]
      if (token.type === 'heading_open' && inline) {
        const words = (inline.children ?? []).map((child) => child.content).join('')
        const id = toAnchor(words, ids)
        if (token.tag === 'h1') {
          title = words
          for (const part of tokens.slice(place, place + 3)) part.hidden = true
          inline.children = []
          continue
        }
        token.attrSet('id', id)
        inline.children?.push(linkToSection(id, site.words.linkToSection(words)))
        if (token.tag === 'h2') sections.push({ id, text: words })
      }
      if (token.type === 'thead_open') heads = []
      if (token.type === 'tr_open') column = 0
      if (token.type === 'th_open') heads.push(inline?.content ?? '')
      // Where rows are stacked, a value says what it is.
      if (token.type === 'td_open') token.attrSet('data-label', heads[column++] ?? '')
      if (token.children) token.children = mendLinks(token.children, file, site)
    }
  })
  markdown.renderer.rules['fence'] = (tokens, place) =>
    `<div class="sample" data-prompt><pre data-text tabindex="0"><code>${escapeHtml(tokens[place]?.content ?? '')}</code></pre>` +
    `<button class="button" type="button" data-copy="${escapeHtml(copied)}" hidden>${escapeHtml(copy)}</button></div>\n`
  // A wide table is moved within its place, not the page with it.
  markdown.renderer.rules['table_open'] = () => '<div class="wide" tabindex="0"><table>\n'
  markdown.renderer.rules['table_close'] = () => '</table></div>\n'
  const html = markdown.render(text)
  return { title, html, sections }
}

/** A heading's anchor, as GitHub makes them, so that links between the files lead to the same places here. */
function toAnchor(words: string, known: Map<string, number>): string {
  const plain = words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
  const count = known.get(plain) ?? 0
  known.set(plain, count + 1)
  return count === 0 ? plain : `${plain}-${count}`
}

/** Links between the files lead to the pages here; one to a file that is not shown is a text. */
function mendLinks(tokens: readonly Token[], file: string, site: Site): Token[] {
  const open: boolean[] = []
  return tokens.filter((token) => {
    // Pictures next to documents are static files.
    if (token.type === 'image') token.attrSet('src', site.url(String(token.attrGet('src') ?? '')))
    if (token.type === 'link_close') return open.pop()
    if (token.type !== 'link_open') return true
    const address = toAddress(String(token.attrGet('href') ?? ''), file, site)
    if (address !== null) token.attrSet('href', address)
    open.push(address !== null)
    return address !== null
  })
}

/** Where a link leads here; null when nowhere. */
function toAddress(href: string, file: string, site: Site): string | null {
  if (/^(?:https?:|#)/.test(href)) return href
  const url = new URL(href, `file:///${file}`)
  const target = ALL_DOCUMENTS.find((one) => `/${one.file}` === url.pathname)
  if (!target || (target.isOfMcp && !site.hasMcp)) return null
  return `/docs/${target.name}${url.hash}`
}
