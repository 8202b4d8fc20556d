import { stringify } from 'yaml'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { slugify } from '../items/slug.ts'
import { countCharacters, cutAtWord } from '../text/characters.ts'
import { parseYaml, toPlain } from '../text/yaml.ts'

/** The readable metadata of a SKILL.md (agentskills.io), and what is odd about it. */
export interface Frontmatter {
  readonly name: string | null
  readonly description: string | null
  readonly warnings: readonly string[]
}

/** Longest frontmatter read, in UTF-16 units. */
const MAX_FRONTMATTER = 65_536
/** How often aliases may be followed. */
const MAX_ALIASES = 10

/** The frontmatter with its two lines, and the YAML between them. */
const BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/** A field of a frontmatter: a block without any is text between two rules. */
const FIELD = /^[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\r?$)/m
/** A frontmatter's first line and first field. */
const START = /^\uFEFF?---[ \t]*\r?\n[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\r?\n)/

const fields = z.object({ name: z.string().nullish().catch(null), description: z.string().nullish().catch(null) })

const NAME_FORM = /^[a-z0-9]+(-[a-z0-9]+)*$/
const MAX_NAME = 64

/** A frontmatter as clients of skills over MCP are shown it: a name as the standard wants it, the other fields as they were written. */
export interface NamedFrontmatter {
  readonly name: string
  readonly description: string
  readonly [field: string]: unknown
}

const namedFields = z.looseObject({
  name: z.string().transform(toSkillName).pipe(z.string().min(1)),
  description: z.string().min(1),
})

/** The whole frontmatter, when it has a name and a description; else null. A name of another form is given as its slug. */
export function readNamedFrontmatter(text: string): NamedFrontmatter | null {
  return namedFields.safeParse(readHead(text)?.values).data ?? null
}

function isSkillName(name: string): boolean {
  return NAME_FORM.test(name) && name.length <= MAX_NAME
}

/** A name as the specification wants it. Empty for one without letters and digits. */
function toSkillName(name: string): string {
  return isSkillName(name) ? name : slugify(name)
}

/**
 * The description of a skill in its SKILL.md, as indexes give it, and as sentences what they change of it; or why it is in none, as a sentence.
 */
export type SkillDescription =
  | {
      readonly name: string
      readonly description: string
      /** Length of the description as it is written, in characters. */
      readonly length: number
      readonly notes: readonly string[]
      readonly fault: null
    }
  | { readonly name: null; readonly description: null; readonly notes: readonly string[]; readonly fault: string }

/** Longest description of a skill in the specification, in characters. */
export const MAX_DESCRIPTION = 1024

/** Reads name and description of a SKILL.md as the specification of Agent Skills wants them (agentskills.io/specification). */
export function describeSkill(text: string | null): SkillDescription {
  const { name, description, warnings } = readFrontmatter(text ?? '', null)
  const refuse = (why: string) => ({ name: null, description: null, notes: [], fault: `In SKILL.md, ${why}.` })
  if (text === null) return { ...refuse(''), fault: 'SKILL.md is not UTF-8 text.' }
  if (name === null || description === null) return refuse(warnings[0] ?? 'the frontmatter is empty')
  if (description.trim() === '') return refuse('the description is empty')
  const slug = toSkillName(name)
  if (slug === '') return refuse(`the name "${name.slice(0, 80)}" has no letters or digits`)
  const cut = cutAtWord(description, MAX_DESCRIPTION)
  const notes = [
    ...(slug === name
      ? []
      : [`In SKILL.md, the name "${name.slice(0, 80)}" has another form than agents take: indexes give it as ${slug}.`]),
    ...(cut === description ? [] : [`In SKILL.md, the description has more than ${MAX_DESCRIPTION} characters: indexes cut it.`]),
  ]
  return { name: slug, description: cut, length: countCharacters(description), notes, fault: null }
}

/** A field of a frontmatter that is no YAML, or there twice. `line` is that of the text, from 1. */
export interface OddField {
  readonly field: string
  readonly line: number
  readonly isRepeated: boolean
}

/** Most odd fields that are named one by one. */
const MAX_ODD_NAMED = 3

/** Odd fields as the end of a remark on their file; none for none. */
export function describeOddFields(odd: readonly OddField[]): string[] {
  if (odd.length === 0) return []
  const named = odd.slice(0, MAX_ODD_NAMED).map(({ field, line, isRepeated }) => {
    const why = isRepeated ? 'is there twice, and the first one counts' : 'is not valid YAML, and was read as plain text'
    return `"${field.slice(0, 40)}" in line ${line} ${why}`
  })
  return [[...named, ...(odd.length > named.length ? [`and ${odd.length - named.length} more such fields`] : [])].join('; ')]
}

/**
 * A text apart from its frontmatter: the fields in order, values that are no text written as YAML. Where it is no YAML, it is read field by
 * field. Without a readable one all of it is body.
 */
export function splitFrontmatter(text: string): {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly odd: readonly OddField[]
  readonly body: string
} {
  const head = readHead(text)
  if (!head) return { fields: [], odd: [], body: text }
  const fields = Object.entries(head.values).map(
    ([name, value]) => [name, typeof value === 'string' ? value : stringify(value).trimEnd()] as const,
  )
  return { fields, odd: head.odd, body: text.replace(BLOCK, '') }
}

/** A text apart from its frontmatter, with the values that YAML gives; null without one that is valid YAML. */
export function readFrontmatterFields(text: string): { readonly fields: Readonly<Record<string, unknown>>; readonly body: string } | null {
  const yaml = z.record(z.string(), z.unknown()).safeParse(readYaml(text))
  return yaml.success ? { fields: yaml.data, body: text.replace(BLOCK, '') } : null
}

/**
 * Why the frontmatter at the head of a text cannot be read, as a sentence without its full stop: what is meant as one must not become part
 * of a prompt. Null when it can be read, and when there is none.
 */
export function findFrontmatterFault(text: string): string | null {
  const remedy = 'Correct it, or put an empty line before the first --- if it is part of the text'
  const block = BLOCK.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (block === undefined) {
    if (!START.test(text)) return null
    return `its frontmatter, which begins in line 1, has no line --- at its end within ${MAX_FRONTMATTER} characters. ${remedy}`
  }
  if (!FIELD.test(block)) return null
  const document = parseYaml(block)
  if (!document) return `its frontmatter is nested too deep. ${remedy}`
  const [error] = document.errors
  if (error === undefined) {
    if (toPlain(document, MAX_ALIASES) !== undefined) return null
    return 'its frontmatter has a YAML alias without a value, or a key that is not text. Put values that begin with * in quotes'
  }
  // The block begins in line 2 of the text.
  const line = (error.linePos?.[0].line ?? 0) + 1
  const [reason = ''] = error.message.split(/ at line \d|\n/)
  return `its frontmatter is not valid YAML in line ${line} (${reason}). Put values with a colon in quotes. ${remedy}`
}

/**
 * Sets and removes fields of a text's frontmatter, and leaves its other fields and its comments as they are.
 * @param fields undefined removes one
 * @returns the frontmatter with its two lines, or null when the text has no readable one
 * @throws AppError `invalid_input` when a field that stays needs one that is replaced, through a YAML alias
 */
export function setFrontmatterFields(text: string, fields: Readonly<Record<string, unknown>>): string | null {
  const block = BLOCK.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (block === undefined || readFrontmatterFields(text) === null) return null
  const document = parseYaml(block)
  if (!document) return null
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) document.delete(name)
    else document.set(name, document.createNode(value))
  }
  try {
    return `---\n${document.toString({ lineWidth: 0 })}---\n`
  } catch (error) {
    throw new AppError('invalid_input', 'its frontmatter has YAML aliases that cannot be written back. Write the values out', {
      cause: error,
    })
  }
}

/** The YAML at the head of a text; undefined when there is none, null when it cannot be read. */
function readYaml(text: string): unknown {
  const block = BLOCK.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (block === undefined) return undefined
  return readValues(block) ?? null
}

/** The fields at the head of a text, and those of them that are odd. */
interface Head {
  readonly values: Readonly<Record<string, unknown>>
  readonly odd: readonly OddField[]
}

/** The fields at the head of a text, as YAML or else one by one; undefined when there is no head, null when it has no fields. */
function readHead(text: string): Head | null | undefined {
  const yaml = readYaml(text)
  if (yaml === undefined) return undefined
  const values = z.record(z.string(), z.unknown()).safeParse(yaml)
  return values.success ? { values: values.data, odd: [] } : readFields(BLOCK.exec(text.slice(0, MAX_FRONTMATTER))?.[1] ?? '')
}

/** Fields of one frontmatter that are parsed as YAML one by one: each takes 0.1 ms. */
const MAX_PARSED = 100
/** The lines that still belong to a field: those further in, and the items of a list. */
const CONTINUED = /^(?:[ \t]|$|-[ \t]|#)/

/**
 * The fields of a frontmatter that is no YAML as a whole: each is YAML by itself, or else the text on its line and the indented ones below.
 * Null where it does not begin with a field and has neither name nor description, for then it is text between two rules.
 */
function readFields(block: string): Head | null {
  const parts: { readonly field: string; readonly line: number; readonly lines: string[] }[] = []
  let last: string[] | null = null
  let isDoubtful = false
  for (const [index, line] of block.split(/\r?\n/).entries()) {
    const field = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)/.exec(line)?.[1]
    if (field !== undefined) {
      last = [line]
      // The block begins in line 2 of the text.
      parts.push({ field, line: index + 2, lines: last })
    } else if (CONTINUED.test(line)) last?.push(line)
    else {
      isDoubtful ||= parts.length === 0
      last = null
    }
  }
  if (isDoubtful ? !parts.some(({ field }) => field === 'name' || field === 'description') : parts.length === 0) return null
  const values = new Map<string, unknown>()
  const odd: OddField[] = []
  for (const [index, { field, line, lines }] of parts.entries()) {
    const yaml = index < MAX_PARSED && !values.has(field) ? readValues(lines.join('\n')) : null
    const parsed = z.record(z.string(), z.unknown()).safeParse(yaml).data
    if (values.has(field) || !parsed) odd.push({ field, line, isRepeated: values.has(field) })
    if (values.has(field)) continue
    values.set(field, parsed ? parsed[field] : readPlainValue(lines))
  }
  return { values: Object.fromEntries(values), odd }
}

/** The text after the colon of a field, and on the lines below; null when it is nothing. */
function readPlainValue([first = '', ...more]: readonly string[]): string | null {
  const start = first.slice(first.indexOf(':') + 1).trim()
  if (start === '') return null
  const value = [start.replace(/^[|>][-+]?$/, ''), ...more.map((line) => line.trim())].filter((line) => line !== '').join(' ')
  return value.replace(/^(['"])(.*)\1$/, '$2') || null
}

/**
 * Reads the YAML between the two `---` lines at the head of a SKILL.md, folded and quoted texts included.
 * Real files break the rules: what cannot be read is reported, never refused.
 * @param folder the name should be that of its folder; null: it is not in one
 */
export function readFrontmatter(text: string, folder: string | null): Frontmatter {
  const head = readHead(text)
  if (head === undefined) return { name: null, description: null, warnings: ['SKILL.md has no frontmatter'] }
  if (head === null) return { name: null, description: null, warnings: ['the frontmatter of SKILL.md is not valid YAML'] }
  const warnings: string[] = []
  const read = fields.parse(head.values)
  const name = read.name ?? null
  const description = read.description ?? null
  if (name === null) warnings.push('the frontmatter has no name')
  else if (!isSkillName(name))
    warnings.push(`the name "${name.slice(0, 80)}" must be 1 to ${MAX_NAME} characters of a-z, 0-9 and single hyphens`)
  else if (folder !== null && name !== folder) warnings.push(`the name "${name}" does not match its folder`)
  if (description === null) warnings.push('the frontmatter has no description')
  for (const odd of describeOddFields(head.odd)) warnings.push(`in the frontmatter of SKILL.md, ${odd}`)
  return { name, description, warnings }
}

/** The values of a YAML text; undefined when it cannot be read. */
function readValues(text: string): unknown {
  const document = parseYaml(text)
  return document?.errors.length === 0 ? toPlain(document, MAX_ALIASES) : undefined
}
