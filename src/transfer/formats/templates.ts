import { isVariableName, type Piece } from '../../domain/variables/variables.ts'

/** A piece of a template: a text, a variable, a tag that stays as text because it cannot be expressed here, or one that is left out. */
export type Token =
  | Piece
  | { readonly kept: string }
  | { readonly leftOut: string }
  | { readonly role: string; readonly isBare: boolean }
  | { readonly history: true }

/** How a format writes variables in double braces. */
export interface TemplateSyntax {
  readonly read: (text: string) => Token[]
  /** @param nameOf how the file calls a variable */
  readonly write: (pieces: readonly Piece[], nameOf: (name: string) => string) => string
  /** The name that a file can have for a variable of this name. */
  readonly toName: (name: string) => string
  /** Whether a text can say double braces. */
  readonly hasEscapes: boolean
}

const CLOSINGS: Readonly<Record<string, string>> = { '{{': '}}', '{%': '%}', '{#': '#}' }
const IDENTIFIER = /^[\p{L}_][\p{L}\p{M}\p{Nd}_]*$/u
const END_RAW = /\{%-?\s*endraw\s*-?%\}/g

/** GitHub Models puts values in for `{{name}}`, and knows nothing else. */
export const PLAIN: TemplateSyntax = {
  read: (text) =>
    splitTags(text, /\{\{(?!\{)/g).map(({ tag, raw }) => {
      const name = raw.slice(2, -2).trim()
      return !tag ? { text: raw } : isVariableName(name) ? { name } : { kept: raw }
    }),
  write: (pieces, nameOf) => pieces.map((piece) => ('text' in piece ? piece.text : `{{${nameOf(piece.name)}}}`)).join(''),
  toName: (name) => name,
  hasEscapes: false,
}

/** Jinja of Prompty, and Nunjucks of promptfoo: `{{name}}`; a text in quotes says braces. */
export const JINJA: TemplateSyntax = {
  read(text) {
    const tokens: Token[] = []
    let rawUntil = 0
    let at = 0
    let hasEnds = true
    for (const { tag, raw } of splitTags(text, /\{[{%#]/g)) {
      const from = at
      at += raw.length
      if (at <= rawUntil) continue
      if (!tag || from < rawUntil) tokens.push({ text: text.slice(Math.max(from, rawUntil), at) })
      else if (hasEnds && /^\{%-?\s*raw\s*-?%\}$/.test(raw)) {
        END_RAW.lastIndex = at
        const end = END_RAW.exec(text)
        hasEnds = end !== null
        tokens.push(end ? { text: text.slice(at, end.index) } : { kept: raw })
        if (end) rawUntil = END_RAW.lastIndex
      } else tokens.push(readJinjaTag(raw))
    }
    return tokens
  },
  write: (pieces, nameOf) =>
    pieces
      .map((piece, place) => {
        if (!('text' in piece)) return `{{${nameOf(piece.name)}}}`
        const text = piece.text.replaceAll(/\{[{%#]/g, (braces) => `{{ '${braces}' }}`)
        return place < pieces.length - 1 ? text.replace(/\{$/, "{{ '{' }}") : text
      })
      .join(''),
  toName: (name) => (IDENTIFIER.test(name) ? name : name.replaceAll(/[^\p{L}\p{M}\p{Nd}_]+/gu, '_')),
  hasEscapes: true,
}

function readJinjaTag(raw: string): Token {
  const inner = raw.slice(2, -2).trim()
  const quoted = raw.startsWith('{{') ? /^(?:'([^'\\]*)'|"([^"\\]*)")$/.exec(inner) : null
  if (quoted) return { text: quoted[1] ?? quoted[2] ?? '' }
  return raw.startsWith('{{') && IDENTIFIER.test(inner) && isVariableName(inner) ? { name: inner } : { kept: raw }
}

/** A text in tags and what is between them. A bracket that nothing closes is text. */
function splitTags(text: string, open: RegExp): { readonly tag: boolean; readonly raw: string }[] {
  const pieces: { tag: boolean; raw: string }[] = []
  /** Closings that do not come any more: they are looked for once. */
  const gone = new Set<string>()
  let from = 0
  open.lastIndex = 0
  for (let found = open.exec(text); found; found = open.exec(text)) {
    const closing = CLOSINGS[found[0]] ?? '}}'
    const end = gone.has(closing) ? -1 : text.indexOf(closing, found.index + 2)
    if (end === -1) {
      gone.add(closing)
      continue
    }
    if (found.index > from) pieces.push({ tag: false, raw: text.slice(from, found.index) })
    from = end + closing.length
    pieces.push({ tag: true, raw: text.slice(found.index, from) })
    open.lastIndex = from
  }
  if (from < text.length) pieces.push({ tag: false, raw: text.slice(from) })
  return pieces
}

/** Names that Handlebars or dotprompt take for something else. */
const RESERVED = new Set(
  'else this true false null undefined as role history media section json ifEquals unlessEquals if unless each with lookup log'.split(' '),
)
/** A name that Handlebars reads as it stands. */
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{M}\p{Nd}_-]*$/u
const PATH = /^(this\.|\.\/|@root\.)?(?:\[([^\]]*)\]|([^\s[\]]+))$/

/** Handlebars as dotprompt has it (google/dotprompt, spec/): names in brackets where they are not plain, backslashes before braces. */
export const HANDLEBARS: TemplateSyntax = {
  read(text) {
    const tokens: Token[] = []
    let at = 0
    let trimsNext = false
    const push = (said: string) => {
      const shown = trimsNext ? said.trimStart() : said
      if (said !== '') trimsNext = false
      if (shown !== '') tokens.push({ text: shown })
    }
    for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', at)) {
      const before = text.slice(at, open)
      // As the lexer of Handlebars counts: two backslashes are one, and one makes the braces a text.
      if (before.endsWith('\\') && !before.endsWith('\\\\')) {
        push(`${before.slice(0, -1)}{{`)
        at = open + 2
        continue
      }
      const closing = text.startsWith('{{!--', open) ? '--}}' : text.startsWith('{{{', open) ? '}}}' : '}}'
      const end = text.indexOf(closing, open + 2)
      if (end === -1) break
      push(before.endsWith('\\\\') ? before.slice(0, -1) : before)
      at = end + closing.length
      const raw = text.slice(open, at)
      const token = readMustache(raw)
      const last = tokens.at(-1)
      if (!('kept' in token)) {
        if (/^\{{2,3}~/.test(raw) && last && 'text' in last) tokens[tokens.length - 1] = { text: last.text.trimEnd() }
        trimsNext = /~\}{2,3}$/.test(raw)
      }
      tokens.push(token)
    }
    push(text.slice(at))
    return tokens
  },
  write(pieces, nameOf) {
    const isOpen = (piece: Piece | undefined, pattern: RegExp) => piece !== undefined && 'text' in piece && pattern.test(piece.text)
    return pieces
      .map((piece, place) => {
        if (!('text' in piece)) {
          // A brace beside a variable is kept apart from its braces by a space that `~` removes.
          const [left, right] = [isOpen(pieces[place - 1], /\{$/), isOpen(pieces[place + 1], /^\}/)]
          return `${left ? ' {{~' : '{{'}${nameOf(piece.name)}${right ? '~}} ' : '}}'}`
        }
        const text = piece.text.replaceAll(/(?<!\\)(\\*)\{\{/g, (_, run: string) => (run === '' ? '\\{{' : `${run}\\{{!}}\\{{`))
        return place < pieces.length - 1 && text.endsWith('\\') ? `${text}\\` : text
      })
      .join('')
  },
  toName: (name) => (PLAIN_NAME.test(name) && !RESERVED.has(name) ? name : `this.[${name}]`),
  hasEscapes: true,
}

function readMustache(raw: string): Token {
  const inner = raw
    .replace(/^\{{2,3}[~&]*/, '')
    .replace(/~?\}{2,3}$/, '')
    .trim()
  if (inner.startsWith('!')) return inner === '!' ? { text: '' } : { leftOut: 'comments' }
  const role = /^role\s+(?:"([^"]*)"|'([^']*)')(.*)$/s.exec(inner)
  if (role) return { role: role[1] ?? role[2] ?? '', isBare: role[3]?.trim() === '' }
  if (inner === 'history') return { history: true }
  const helper = /^(media|section)\b/.exec(inner)?.[1]
  if (helper !== undefined && inner !== helper) return { leftOut: helper }
  const path = PATH.exec(inner)
  const name = path?.[2] ?? path?.[3] ?? ''
  const isName = path?.[2] !== undefined ? isVariableName(name) : PLAIN_NAME.test(name) && isVariableName(name)
  return isName && (path?.[1] !== undefined || path?.[2] !== undefined || !RESERVED.has(name)) ? { name } : { kept: raw }
}
