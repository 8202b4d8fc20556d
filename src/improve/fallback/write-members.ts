import { Document, visit } from 'yaml'
import type { DraftSection } from './draft.ts'
import { toKey } from './heading-words.ts'
import { readFlatList } from './read-blocks.ts'
import { readWords } from './read-words.ts'

/** A value of a member: a text, a list of texts, or texts by name. */
export type MemberValue = string | readonly string[] | Readonly<Record<string, string>>
/** The members of an object in order; keys are distinct. */
export type Members = readonly (readonly [key: string, value: MemberValue])[]

const MAX_KEY_WORDS = 3

/**
 * Sections as the members of an object. A short heading becomes the key; one that says more than a key can
 * ("Your task is to help with") stays in front of the text, so that none of its words is lost.
 */
export function toMembers(sections: readonly DraftSection[]): Members {
  const members = new Map<string, MemberValue>()
  for (const { part, title, text, isOwn } of sections) {
    if (isOwn && text === '' && !(part && isKey(title))) {
      members.set(freeKey(members.size === 0 ? 'title' : 'section', members), title)
      continue
    }
    const titleKey = isOwn && isKey(title) ? toKey(title) : ''
    const key = titleKey || part || (isOwn ? 'section' : toKey(title)) || 'section'
    const before = members.get(key)
    if (isOwn && titleKey === '' && part && typeof before === 'string') {
      members.set(key, `${before}\n\n${title}:\n${text}`)
      continue
    }
    const isTitleSaid = !isOwn || (titleKey !== '' && !members.has(titleKey))
    members.set(freeKey(key, members), isTitleSaid ? toValue(text) : `${title}:\n${text}`.trim())
  }
  return [...members]
}

/** Whether a title can be a key without losing any letter or digit. */
export function isKey(title: string): boolean {
  const words = readWords(title).trim()
  return words.split(' ').length <= MAX_KEY_WORDS && /^[\p{L}\p{M}\p{N} &/_-]+$/u.test(title.trim()) && /^\p{L}/u.test(words)
}

function freeKey(key: string, members: ReadonlyMap<string, unknown>): string {
  for (let n = 1; ; n++) {
    const tried = n === 1 ? key : `${key}${n}`
    if (!members.has(tried)) return tried
  }
}

/** A flat list as an array, a list of labelled items as texts by name, everything else as it was written. */
function toValue(text: string): MemberValue {
  const items = readFlatList(text)
  if (!items) return text
  const named = items.map((item) => /^([A-Z][\p{L} ]{1,40}): (\S[^\n]*)$/u.exec(item))
  const entries = named.flatMap((match) => (match?.[1] && match[2] ? [[toKey(match[1]), match[2]] as const] : []))
  const isNamed = entries.length === items.length && new Set(entries.map(([key]) => key)).size === items.length
  return isNamed ? Object.fromEntries(entries) : items
}

/** Members as pretty JSON. Braces that do not pair inside a text are escaped, else the braces of the object would close a `${…` the writer left open. */
export function writeJson(members: Members): string {
  return escapeLooseBraces(JSON.stringify(Object.fromEntries(members), null, 2))
}

/** An object as YAML, long texts as literal blocks; ends without a line break. */
export function writeYaml(value: Readonly<Record<string, unknown>>): string {
  const document = new Document(value)
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  // A quoted text stays on one line: parted over several, white space at the ends of its lines is not read back as it was.
  return document.toString({ lineWidth: 0, blockQuote: 'literal', doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }).trimEnd()
}

/** Whether a literal block would not give a text back: white space around it, or characters YAML changes or forbids there. */
function needsQuotes(text: string): boolean {
  return text !== text.trim() || /(?![\n\t])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]/u.test(text) || !text.isWellFormed()
}

/** Writes the unpaired braces inside the strings of a JSON text as `\u007b` and `\u007d`, in one pass. */
function escapeLooseBraces(json: string): string {
  const loose = new Set<number>()
  let open: number[] = []
  let isInString = false
  for (let i = 0; i < json.length; i++) {
    const unit = json.charAt(i)
    if (unit === '"') {
      for (const at of open) loose.add(at)
      open = []
      isInString = !isInString
    } else if (isInString && unit === '\\') i++
    else if (isInString && unit === '{') open.push(i)
    else if (isInString && unit === '}' && open.pop() === undefined) loose.add(i)
  }
  if (loose.size === 0) return json
  return json
    .split('')
    .map((unit, i) => (loose.has(i) ? (unit === '{' ? '\\u007b' : '\\u007d') : unit))
    .join('')
}
