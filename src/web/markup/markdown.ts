import MarkdownIt, { type Token } from 'markdown-it'
import { slugify } from '../../domain/items/slug.ts'
import { imageTypeOf } from '../../domain/skills/filename.ts'
import { splitFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodePart } from '../../domain/text/addresses.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import { createCodeBudget, createTextCache, escapeHtml, highlightCode, type Made } from './highlight.ts'

/** Highlighted languages by name: fence info strings and file extensions. C++ uses the C grammar, which is a twentieth of its size. */
const NAMES: Readonly<Record<string, string>> = {
  bash: 'bash sh zsh shell shellscript console',
  c: 'c h cpp c++ cc hpp cxx',
  csharp: 'csharp cs c#',
  diff: 'diff patch',
  docker: 'docker dockerfile',
  go: 'go golang',
  graphql: 'graphql gql',
  html: 'html htm xhtml',
  ini: 'ini properties cfg conf',
  javascript: 'javascript js mjs cjs',
  json: 'json jsonc json5 jsonl webmanifest',
  kotlin: 'kotlin kt kts',
  make: 'make makefile mk',
  markdown: 'markdown md mdc',
  powershell: 'powershell ps ps1 psm1 pwsh',
  python: 'python py pyi',
  ruby: 'ruby rb',
  rust: 'rust rs',
  scala: 'scala sc',
  terraform: 'terraform tf tfvars hcl',
  tsx: 'tsx jsx',
  typescript: 'typescript ts mts cts',
  xml: 'xml svg xsd csproj',
  yaml: 'yaml yml',
}
/** Those that have one name. */
const PLAIN = 'bicep css java lua php r sql swift toml'
const BY_NAME = new Map(
  [...Object.entries(NAMES), ...PLAIN.split(' ').map((name) => [name, name] as const)].flatMap(([language, names]) =>
    names.split(' ').map((name) => [name, language] as const),
  ),
)

/** The language a fence names in its first word; null when it is none that is highlighted. */
export function languageOfFence(info: string): string | null {
  return BY_NAME.get(/^[^\s{,]*/.exec(info.trim())?.[0].toLowerCase() ?? '') ?? null
}

/** The language of a file, by the end of its name or, for some, by the whole. */
export function languageOfFile(filename: string): string | null {
  const name = filename.split('/').at(-1)?.toLowerCase() ?? ''
  return BY_NAME.get(name.slice(name.lastIndexOf('.') + 1)) ?? null
}

/** How a text stands in its page. */
export interface MarkdownPlace {
  /** How far headings go down, so that the page keeps its own above them. */
  readonly headingShift: 1 | 2
  /** Whether the blanks of a prompt are marked. */
  readonly hasBlanks?: boolean
  /** Whether a line end in a paragraph is one on the page. Default: it is a space, as in CommonMark */
  readonly keepsLines?: boolean
  /**
   * Where a relative link leads, and where a picture is loaded from; null when it leads nowhere. Without it no relative link leads anywhere.
   * Its answers must depend on `key` alone.
   */
  readonly links?: { readonly key: string; find(path: string): string | null; findImage?(path: string): string | null }
}

/** Longer texts stay plain, in UTF-16 units. The slowest of what was tried, a table, takes some 140 ms of processor at this length. */
const MAX_TEXT = 50_000
/** Fences of one text that are highlighted, and headings that can be linked to. */
const MAX_FENCES = 50
const MAX_ANCHORS = 200
/** Of all that is remembered, in UTF-16 units. */
const MAX_REMEMBERED = 8 * 1024 * 1024
/** The prefix of a heading's id, so that no text can take an id of the page. */
const ANCHOR = 'text-'
const OUTSIDE = /^(https?|mailto):/i
const SCHEME = /^[a-z][a-z0-9+.-]*:/i

const markdown = new MarkdownIt({ html: false, linkify: true, maxNesting: 20 })
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })
// Accept every link here; the renderer below drops unsafe ones.
markdown.validateLink = (url) => OUTSIDE.test(url) || !SCHEME.test(url.trim())
markdown.renderer.rules['made'] = (tokens, index) => tokens[index]?.content ?? ''
// A wide table scrolls by itself instead of the page.
markdown.renderer.rules['table_open'] = () => '<div class="wide" tabindex="0"><table>\n'
markdown.renderer.rules['table_close'] = () => '</table></div>\n'

const { Token: MarkdownToken } = new markdown.core.State('', markdown, {})
const remembered = createTextCache(MAX_REMEMBERED)

type Segment = ReturnType<typeof parseVariables>['segments'][number]

/**
 * Markdown as HTML, or null when it is too long to be rendered. No HTML of the text is let through; links lead to http, https, mailto, headings
 * of the text and what `place.links` knows. Only pictures that it knows are loaded; others are links.
 * @param signal aborted when the reader leaves, who then gets null
 */
export async function renderMarkdown(text: string, place: MarkdownPlace, signal?: AbortSignal): Promise<string | null> {
  if (text.length > MAX_TEXT) return null
  const { headingShift, hasBlanks = false, keepsLines = false, links } = place
  const key = [String(headingShift), String(hasBlanks), String(keepsLines), links?.key ?? '', text]
  const make = async (left: AbortSignal): Promise<Made> => {
    const budget = createCodeBudget()
    let isWhole = true
    const tokens = markdown.parse(text, {})
    const anchors = new Map<string, number>()
    let fences = 0
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = shiftHeading(token.tag, place.headingShift)
      if (token.type === 'heading_open') addAnchor(token, tokens[index + 1]?.content ?? '', anchors)
      if (token.type === 'th_open' || token.type === 'td_open') alignCell(token)
      if (token.type === 'inline') {
        if (tokens[index - 2]?.type === 'list_item_open') markTask(token)
        token.children = rewriteInline(token.children ?? [], place)
      }
      if (token.type === 'fence' || token.type === 'code_block') {
        if (left.aborted) return { text: null, isKept: false }
        const isHighlighted = fences++ < MAX_FENCES
        const code = await renderCode(token, place, (language) =>
          isHighlighted ? highlightCode(token.content, language, { signal: left, budget }) : null,
        )
        isWhole &&= code.isKept
        token.content = code.html
        token.type = 'made'
      }
    }
    // With a hopeless block in it the next reader's time would go the same way.
    return {
      text: markdown.renderer.render(tokens, { ...markdown.options, breaks: keepsLines }, {}),
      isKept: isWhole || budget.hasHopelessBlock,
    }
  }
  return (await remembered.find(key, make, { signal })).text
}

/** markdown-it aligns a column by a style attribute, which the pages' content policy blocks. */
function alignCell(token: Token): void {
  const side = /^text-align:(center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1]
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  if (side !== undefined) token.attrSet('class', `align-${side}`)
}

/** Draws the box of a task list item (GitHub Flavored Markdown, section 5.3). */
function markTask({ children }: Token): void {
  const [first] = children ?? []
  const box = first?.type === 'text' ? /^\[([ xX])\] /.exec(first.content) : null
  if (first && box) first.content = `${box[1] === ' ' ? '☐' : '☑'} ${first.content.slice(box[0].length)}`
}

function shiftHeading(tag: string, shift: number): string {
  return `h${Math.min(6, Number(tag.slice(1)) + shift)}`
}

function addAnchor(token: Token, title: string, anchors: Map<string, number>): void {
  const slug = slugify(title.slice(0, 200))
  if (slug === '' || anchors.size >= MAX_ANCHORS) return
  const count = anchors.get(slug) ?? 0
  anchors.set(slug, count + 1)
  token.attrSet('id', ANCHOR + (count === 0 ? slug : `${slug}-${count}`))
}

async function renderCode(
  token: Token,
  place: MarkdownPlace,
  highlight: (language: string) => Promise<Made> | null,
): Promise<{ html: string; isKept: boolean }> {
  const { segments } = parseVariables(place.hasBlanks ? token.content : '')
  const hasBlank = segments.some((segment) => segment.kind === 'variable')
  const language = token.type === 'fence' && !hasBlank ? languageOfFence(token.info) : null
  const highlighted = language === null ? null : await highlight(language)
  const html = hasBlank ? segments.map(markSegment).join('') : (highlighted?.text ?? escapeHtml(token.content))
  return { html: `<pre tabindex="0"><code>${html}</code></pre>\n`, isKept: highlighted?.isKept ?? true }
}

/** Links that lead somewhere, images as links, and blanks marked. */
function rewriteInline(tokens: readonly Token[], place: MarkdownPlace): Token[] {
  const rewritten: Token[] = []
  /** For each link that is open: whether it leads anywhere. */
  const open: boolean[] = []
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const target = findTarget(String(token.attrGet('href') ?? ''), place)
      open.push(target !== null)
      if (target !== null) rewritten.push(makeLink(target, token.attrGet('title')))
    } else if (token.type === 'link_close') {
      if (open.pop()) rewritten.push(make('</a>'))
    } else if (token.type === 'image') {
      const source = String(token.attrGet('src') ?? '')
      const image = SCHEME.test(source) ? null : (place.links?.findImage?.(decodePart(source)) ?? null)
      if (image !== null) {
        rewritten.push(make(`<img src="${escapeHtml(image)}" alt="${escapeHtml(token.content)}" loading="lazy">`))
        continue
      }
      const target = open.includes(true) ? null : findTarget(source, place)
      const shown = escapeHtml(token.content || source)
      rewritten.push(...(target === null ? [make(shown)] : [makeLink(target, null), make(`${shown}</a>`)]))
    } else if (place.hasBlanks && (token.type === 'text' || token.type === 'code_inline')) rewritten.push(...markBlanks(token))
    else rewritten.push(token)
  }
  return rewritten
}

function make(content: string): Token {
  const token = new MarkdownToken('made', '', 0)
  token.content = content
  return token
}

function makeLink(target: { href: string; isOutside: boolean }, title: string | number | null): Token {
  const about = title === null ? '' : ` title="${escapeHtml(String(title))}"`
  const care = target.isOutside ? ' rel="nofollow noopener ugc"' : ''
  return make(`<a href="${escapeHtml(target.href)}"${about}${care}>`)
}

function findTarget(href: string, { links }: MarkdownPlace): { href: string; isOutside: boolean } | null {
  if (OUTSIDE.test(href)) return { href, isOutside: true }
  if (href.startsWith('#')) {
    const slug = slugify(decodePart(href.slice(1)).slice(0, 200))
    return slug === '' ? null : { href: `#${ANCHOR}${slug}`, isOutside: false }
  }
  if (SCHEME.test(href) || href.startsWith('/')) return null
  const inside = links?.find(decodePart(href.replace(/[?#].*$/s, ''))) ?? null
  return inside === null ? null : { href: inside, isOutside: false }
}

/** Lines that only Markdown begins so: headings, items of lists, fences, quotes and tables. */
const BLOCK = /^ {0,3}(?:#{1,6} \S|[-*+] \S|\d{1,3}[.)] \S|```|~~~|> \S|\|.*\|)/gm
const EMPHASIS = /\*\*[^\s*]|`[^`\n]+`|\]\(https?:/
/** Only this much of a text is looked at, in UTF-16 units. */
const LOOKED_AT = 20_000

/** Whether a text reads better rendered: it has several blocks of Markdown, or one and emphasis. */
export function looksLikeMarkdown(text: string): boolean {
  const start = text.slice(0, LOOKED_AT)
  const blocks = start.match(BLOCK)?.length ?? 0
  return blocks > 2 || (blocks > 0 && EMPHASIS.test(start))
}

/** A piece of a text, marked when it is a blank, as `MarkedText` does. */
function markSegment(segment: Segment): string {
  const raw = escapeHtml(segment.raw)
  return segment.kind !== 'variable' ? raw : `<mark data-blank="${escapeHtml(segment.name)}">${raw}</mark>`
}

/** A text or a piece of code with its blanks marked. */
function markBlanks(token: Token): Token[] {
  const { segments } = parseVariables(token.content)
  if (!segments.some((segment) => segment.kind === 'variable')) return [token]
  const inner = segments.map((segment) => make(markSegment(segment)))
  return token.type === 'text' ? inner : [make('<code>'), ...inner, make('</code>')]
}

export function isMarkdown(filename: string): boolean {
  return languageOfFile(filename) === 'markdown'
}

/**
 * A Markdown file as it is shown: its frontmatter, and the rest as HTML with links to the other files; null when it is too long.
 * @param path what the addresses depend on
 * @param signal aborted when the reader leaves, who then gets null
 */
export async function renderSkillMarkdown(
  { filename, content }: { readonly filename: string; readonly content: string },
  filenames: Iterable<string>,
  path: string,
  { toUrl, toImage }: { toUrl(filename: string): string; toImage?(filename: string): string },
  signal: AbortSignal,
) {
  const { fields, body } = splitFrontmatter(content)
  const names = new Set(filenames)
  const links = {
    key: JSON.stringify([path, filename, toImage !== undefined, [...names]]),
    find: (relative: string) => {
      const target = resolvePath(filename, relative)
      return names.has(target) ? toUrl(target) : null
    },
    findImage: (relative: string) => {
      const target = resolvePath(filename, relative)
      return toImage && names.has(target) && imageTypeOf(target) !== null ? toImage(target) : null
    },
  }
  const html = await renderMarkdown(body, { headingShift: 2, links }, signal)
  return html === null ? null : { fields, html }
}

/** Where a relative link in a file leads, as a name in the skill. */
function resolvePath(from: string, relative: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
