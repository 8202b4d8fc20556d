import { isMap, isScalar, visit } from 'yaml'
import { parseJson } from '../../library/json.ts'
import { readYaml, toPlain } from '../read-yaml.ts'
import { readPart, splitCamelCase } from './heading-words.ts'

/** A prompt that is an object of its own, in the notation its writer chose. `members` are its members in order, comments of YAML among them. */
export interface ReadObject {
  readonly notation: 'json' | 'yaml'
  readonly text: string
  readonly members: readonly (readonly [key: string, value: unknown])[]
}

/** Deepest nesting read as an object; the parser of YAML calls itself for each level. */
const MAX_DEPTH = 64
const MAX_DASHES = 8
/** More aliases than a few can make a small text a huge object. */
const MAX_ALIASES = 10

/**
 * Reads a prompt that is a JSON object or a YAML mapping; null for every other text, and for one that does not parse or is nested too deep.
 * @param isObjectWanted whether one line `task: …` counts as a mapping too; where a text is wanted it is more likely prose
 */
export function readObject(text: string, isObjectWanted: boolean): ReadObject | null {
  return text.startsWith('{') ? readJsonObject(text) : readYamlMapping(text, isObjectWanted)
}

function readJsonObject(text: string): ReadObject | null {
  const parsed = parseJson(text)
  if (!parsed.ok || !isRecord(parsed.value)) return null
  return { notation: 'json', text, members: Object.entries(parsed.value) }
}

/**
 * A YAML mapping is told from prose with colons by its keys: lower-case words without spaces, at least two of them.
 * The parser's own search for keys that occur twice compares each with all others; here they are counted in a set.
 * Numbers that YAML would give back in another spelling (`1.10`) stay as they were written.
 */
function readYamlMapping(text: string, isObjectWanted: boolean): ReadObject | null {
  if (!/^[\p{Ll}\p{Lo}][\p{L}\p{M}\p{N}_-]{0,60}:(?: |\n|$)/mu.test(text.slice(0, 400)) || isTooDeep(text)) return null
  const document = readYaml(text, { prettyErrors: false, uniqueKeys: false })
  const root = document?.contents
  if (!document || !isMap(root) || root.flow) return null
  if (
    !root.items.every(
      ({ key }) => isScalar(key) && typeof key.value === 'string' && /^[\p{Ll}\p{Lo}][\p{L}\p{M}\p{N}_-]*$/u.test(key.value),
    )
  )
    return null
  // One key alone is a mapping when it holds another, or when an object is wanted and the key is one that prompts have.
  const isOneEnough = root.items.every(
    ({ key, value }) => isMap(value) || (isObjectWanted && isScalar(key) && readPart(String(key.value)) !== null),
  )
  if (root.items.length < 2 && !isOneEnough) return null
  const comments: string[] = []
  let hasDoubt = false
  // `color: #ff0000` and `tags: cats #pets` are comments to YAML, and text to whoever wrote them: only `# so`, on a line of its own, is a comment for sure.
  const addComment = (comment: string | null | undefined) => {
    if (!comment) return
    const lines = comment.split('\n')
    hasDoubt ||= lines.some((line) => !/^(?:\s|#|$)/.test(line))
    comments.push(...lines.map((line) => line.trim()))
  }
  addComment(document.commentBefore)
  visit(document, {
    Node(_, node) {
      addComment(node.commentBefore)
      addComment(node.comment)
      hasDoubt ||= isScalar(node) && typeof node.comment === 'string'
      if (isMap(node)) hasDoubt ||= new Set(node.items.map(({ key }) => String(key))).size < node.items.length
      if (isScalar(node) && typeof node.value === 'number' && node.source !== undefined && String(node.value) !== node.source) {
        node.value = node.source
      }
    },
  })
  addComment(document.comment)
  const value = hasDoubt ? null : toPlain(document, MAX_ALIASES)
  if (!isRecord(value)) return null
  const members = Object.entries(value)
  return {
    notation: 'yaml',
    text,
    members: comments.length > 0 ? [...members, ['comments', comments.filter((line) => line !== '')]] : members,
  }
}

/** Where a value in brackets can begin: at the start of a line or after a key, perhaps behind an anchor or a tag. */
const BRACKETS_BEGIN = /^[\s\-?:]*[[{&!]|:\s+[[{&!]/

/**
 * Whether lists or brackets could be nested past the limit, so that the parser, which calls itself for each level, never sees them.
 * Quotes are not read: it may refuse a harmless text, and never lets a deep one through.
 */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const line of text.split('\n')) {
    const head = /^[\s\-?:]*/.exec(line)?.[0] ?? ''
    if ((head.match(/[-?:](?=\s)/g)?.length ?? 0) > MAX_DASHES) return true
    if (open === 0 && !BRACKETS_BEGIN.test(line)) continue
    for (let i = 0; i < line.length && open <= MAX_DEPTH; i++) {
      if ('[{'.includes(line.charAt(i))) open++
      else if (']}'.includes(line.charAt(i))) open = Math.max(0, open - 1)
    }
    if (open > MAX_DEPTH) return true
  }
  return false
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object as lines of keys and texts in turn, nested ones included, so that it can be searched for what it settles. */
export function flattenObject(members: ReadObject['members']): string {
  const lines: string[] = []
  const add = (key: string, value: unknown) => {
    const label = splitCamelCase(key)
    if (Array.isArray(value)) {
      lines.push(`${label}:`)
      for (const item of value) add('', item)
    } else if (isRecord(value)) {
      lines.push(`${label}:`)
      for (const [name, inner] of Object.entries(value)) add(name, inner)
    } else {
      // On lines of their own, so that a sentence that gives a role still begins a line.
      if (label !== '') lines.push(`${label}:`)
      lines.push(String(value))
    }
  }
  for (const [key, value] of members) add(key, value)
  return lines.join('\n')
}

/** The texts of an object without its keys, in order: what its writer says, whatever the notation adds around it. */
export function listTexts(value: unknown): string {
  if (Array.isArray(value)) return value.map(listTexts).join('\n')
  if (isRecord(value)) return Object.values(value).map(listTexts).join('\n')
  return String(value)
}
