import { MAX_TAG, MAX_TAGS } from '../domain/items/fields.ts'
import { cutCharacters } from '../domain/text/characters.ts'
import { isVariableName, MAX_VARIABLE_NAME, parseVariables } from '../domain/variables/variables.ts'

/** `{{name}}`, with choices or a type after `:` or `|`; not `${{…}}` of GitHub, nor `={{…}}` of JSX. */
const DOUBLE_BRACES = /(?<![$=])\{\{([^{}|:\n]{1,200})(?:([|:])([^{}\n]{0,1000}))?\}\}/g
const TYPED_DEFAULT = /(?:^|:)default="([^"{}]*)"/
/** Words of templates with conditions, which stand in braces like names. */
const KEYWORDS: ReadonlySet<string> = new Set(['else', 'this'])
/** The beginnings of types of Open WebUI. */
const TYPE = /^\s*(?:text|textarea|select|number|checkbox|date|datetime-local|color|email|month|range|tel|time|url|map)\b/

/** A name as variables here are called; null when nothing of it fits. */
export function toVariableName(name: string): string | null {
  const fitting = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{Nd}_\-'/ ]+/gu, '_')
    .replace(/^[^\p{L}_]+/u, '')
    .trim()
  return fitting === '' ? null : [...fitting].slice(0, MAX_VARIABLE_NAME).join('').trim()
}

/** The replacements in a text, by what was there. */
export type Changes = Map<string, string>

/** Most names of one remark, and their characters. */
const MAX_NAMED = 8
const MAX_SHOWN = 60

/** The changes of a text, as a remark; none for nothing. */
export function describeChanges(changes: ReadonlyMap<string, string>): string[] {
  return describeList(
    'changed',
    [...changes].map(([before, after]) => `${cutCharacters(before, MAX_SHOWN)} to ${after}`),
  )
}

/** The blanks of a text, as a remark: whoever imports code or a template may not expect them. None for none. */
export function describeVariables(content: string): string[] {
  return describeList(
    'variables',
    parseVariables(content).variables.map(({ name }) => name),
  )
}

/** Names as a remark, the first of them in full; none for nothing. */
export function describeList(what: string, names: readonly string[]): string[] {
  const more = names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : []
  return names.length === 0 ? [] : [`${what}: ${[...names.slice(0, MAX_NAMED), ...more].join(', ')}`]
}

/** Names that are left out of a file, as a remark; none for nothing. */
export function describeLeftOut(names: readonly string[]): string[] {
  return names.length > 0 ? [`left out: ${names.join(', ')}`] : []
}

/** The tags of a foreign entry that fit into a library: short ones, and not too many; and a remark on the others. */
export function cutLongTags(tags: readonly string[]): { readonly tags: string[]; readonly remarks: string[] } {
  const isFitting = (tag: string) => tag !== '' && [...tag].length <= MAX_TAG && /[\p{L}\p{N}]/u.test(tag)
  const kept = [...new Set(tags.map((tag) => tag.trim()))].filter(isFitting).slice(0, MAX_TAGS)
  const lost = tags.length - kept.length
  return { tags: kept, remarks: lost > 0 ? [`${lost} of its tags were left out`] : [] }
}

/**
 * A text with `{{name}}` as one with `${name}`. Of `{{name:one|two}}` the first choice is the default. Only what is a name here already
 * becomes one: JSON, JSX, conditions and filters in double braces stay as they are written.
 * @param changes gets what was changed
 */
export function toVariables(text: string, changes: Changes = new Map()): string {
  const isTemplate = text.includes('{{#')
  return text.replaceAll(DOUBLE_BRACES, (raw, name: string, mark: string | undefined, more: string | undefined) => {
    const variable = name.trim()
    if (!isVariableName(variable) || (isTemplate && KEYWORDS.has(variable))) return raw
    const isTyped = more !== undefined && TYPE.test(more)
    const isChoice = mark === ':' && more?.includes('|') === true
    if (more !== undefined && !isTyped && !isChoice) return raw
    const usual = isTyped ? TYPED_DEFAULT.exec(more)?.[1] : more?.split('|')[0]?.trim()
    const written = usual ? `\${${variable}:${usual}}` : `\${${variable}}`
    changes.set(raw, written)
    return written
  })
}
