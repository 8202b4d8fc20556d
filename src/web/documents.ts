import { readFileSync } from 'node:fs'
import MarkdownIt, { type Token } from 'markdown-it'
import { stemmer } from 'stemmer'
import { AppError } from '../errors.ts'
import { parseQuery } from '../search/analysis/query.ts'
import { eachWord, STOP_WORDS } from '../search/analysis/words.ts'
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
export function toAnchor(words: string, known: Map<string, number>): string {
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

/** A section of a document, from one heading to the next. */
interface Section {
  /** Of the document, below `/docs/`. */
  readonly name: string
  readonly document: string
  /** Empty for what stands before the first heading. */
  readonly id: string
  readonly title: string
  readonly text: string
}

interface IndexedSection extends Section {
  /** How often each stem stands in it; those of its heading count more. */
  readonly stems: ReadonlyMap<string, number>
}

/** How often a word of a heading counts, of the section and of the document. */
const IN_HEADING = 6
const IN_TITLE = 3
/** Term frequency at which a word counts half (BM25's k1, without lengths). */
const SATURATION = 2
const MAX_HITS = 20

/** Sections already indexed; they are the same as long as the service runs. */
const indexed = new Map<string, readonly IndexedSection[]>()

/** Sections of the documents that hold words of a query, the best first; at most 20. */
export function searchDocuments(query: string, site: Site): readonly Section[] {
  const words = parseQuery(query)?.words ?? []
  const meaningful = words.filter((word) => !STOP_WORDS.has(word))
  const stems = new Set((meaningful.length > 0 ? meaningful : words).map(stemmer))
  const sections = readSections(site)
  const rarity = new Map(
    [...stems].map((stem) => [stem, Math.log(1 + sections.length / (1 + sections.filter((one) => one.stems.has(stem)).length))]),
  )
  const score = (section: IndexedSection) => {
    let sum = 0
    for (const [stem, weight] of rarity) {
      const count = section.stems.get(stem) ?? 0
      sum += (weight * count) / (count + SATURATION)
    }
    return sum
  }
  return sections
    .map((section) => ({ section, score: score(section) }))
    .filter((hit) => hit.score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_HITS)
    .map(({ section }) => section)
}

function readSections(site: Site): readonly IndexedSection[] {
  const key = [site.baseUrl, site.hasMcp].join(' ')
  const sections = indexed.get(key) ?? listDocuments(site).flatMap((name) => cutDocument(name, site).map(indexSection))
  indexed.set(key, sections)
  return sections
}

function cutDocument(name: string, site: Site): Section[] {
  const { title: document, html } = readDocument(name, site)
  const [before = '', ...rest] = html.split(/(?=<h[2-4] id=")/)
  const text = toText(before)
  const first = { name, document, id: '', title: document, text }
  const sections = rest.map((part) => {
    const [head = '', id = '', heading = ''] = /^<h[2-4] id="([^"]*)">(.*?)<\/h[2-4]>/s.exec(part) ?? []
    return { name, document, id, title: toText(heading.replace(/<a class="anchor".*$/s, '')), text: toText(part.slice(head.length)) }
  })
  return text === '' ? sections : [first, ...sections]
}

function indexSection(section: Section): IndexedSection {
  const stems = new Map<string, number>()
  const count = (text: string, weight: number) =>
    eachWord(text, (word) => {
      const stem = stemmer(word)
      stems.set(stem, (stems.get(stem) ?? 0) + weight)
    })
  count(section.title, IN_HEADING)
  count(section.document, IN_TITLE)
  count(section.text, 1)
  return { ...section, stems }
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** The text of rendered Markdown. */
function toText(html: string): string {
  return html
    .replaceAll(/<button.*?<\/button>|<[^>]*>/gs, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
