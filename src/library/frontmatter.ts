import { parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { isLongerThan } from './characters.ts'

/** The readable metadata of a SKILL.md (agentskills.io), and what is odd about it. */
export interface Frontmatter {
  readonly name: string | null
  readonly description: string | null
  readonly warnings: readonly string[]
}

/** Longest frontmatter read, in UTF-16 units. */
const MAX_FRONTMATTER = 65_536

/** The frontmatter with its two lines, and the YAML between them. */
const BLOCK = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/** A field of a frontmatter: a block without any is text between two rules. */
const FIELD = /^[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\r?$)/m
/** A frontmatter's first line and first field. */
const START = /^\uFEFF?---[ \t]*\r?\n[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\r?\n)/

const fields = z.object({ name: z.string().nullish().catch(null), description: z.string().nullish().catch(null) })

const NAME_FORM = /^[a-z0-9]+(-[a-z0-9]+)*$/
const MAX_NAME = 64

/** A frontmatter that names its skill as the standard wants: what clients of skills over MCP are shown, field by field as it was written. */
export interface NamedFrontmatter {
  readonly name: string
  readonly description: string
  readonly [field: string]: unknown
}

const namedFields = z.looseObject({ name: z.string().regex(NAME_FORM).max(MAX_NAME), description: z.string().min(1) })

/** The whole frontmatter, when it has a proper name and a description; else null. */
export function readNamedFrontmatter(text: string): NamedFrontmatter | null {
  return namedFields.safeParse(readYaml(text)).data ?? null
}

/** What a SKILL.md says of its skill; or the first rule of the specification that it breaks, as a sentence. */
export type SkillDescription =
  | { readonly name: string; readonly description: string; readonly fault: null }
  | { readonly name: null; readonly description: null; readonly fault: string }

/** Longest description of a skill in the specification, in characters. */
const MAX_DESCRIPTION = 1024

/** Reads name and description of a SKILL.md as the specification of Agent Skills wants them (agentskills.io/specification). */
export function describeSkill(text: string): SkillDescription {
  const { name, description, warnings } = readFrontmatter(text, null)
  const [fault] = warnings
  const refuse = (why: string) => ({ name: null, description: null, fault: why }) as const
  if (name === null || description === null || fault !== undefined) return refuse(`In SKILL.md, ${fault ?? 'the frontmatter is empty'}.`)
  if (description.trim() === '') return refuse('In SKILL.md, the description is empty.')
  if (isLongerThan(description, MAX_DESCRIPTION)) return refuse(`In SKILL.md, the description has more than ${MAX_DESCRIPTION} characters.`)
  return { name, description, fault: null }
}

/** A text apart from its frontmatter: the fields in order, values that are no text written as YAML. Without a readable one all of it is body. */
export function splitFrontmatter(text: string): {
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body: string
} {
  const yaml = z.record(z.string(), z.unknown()).safeParse(readYaml(text))
  if (!yaml.success) return { fields: [], body: text }
  const fields = Object.entries(yaml.data).map(
    ([name, value]) => [name, typeof value === 'string' ? value : stringify(value).trimEnd()] as const,
  )
  return { fields, body: text.replace(BLOCK, '') }
}

/** A text apart from its frontmatter as {@link splitFrontmatter} finds it, with the values that YAML gives; null without a readable one. */
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
  const document = parseDocument(block)
  const [error] = document.errors
  if (error === undefined) {
    return toPlain(document) === null ? `its frontmatter has a YAML alias without a value. Put values that begin with * in quotes` : null
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
  const document = parseDocument(block)
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

/** The mapping at the head of a SKILL.md; undefined when there is none, null when it cannot be read. */
function readYaml(text: string): unknown {
  const block = BLOCK.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (block === undefined) return undefined
  const document = parseDocument(block)
  return document.errors.length > 0 ? null : toPlain(document)
}

/**
 * Reads the YAML between the two `---` lines at the head of a SKILL.md, folded and quoted texts included.
 * Real files break the rules: what cannot be read is reported, never refused.
 * @param folder the name should be that of its folder; null: it is not in one
 */
export function readFrontmatter(text: string, folder: string | null): Frontmatter {
  const warnings: string[] = []
  const yaml = readYaml(text)
  if (yaml === undefined) return { name: null, description: null, warnings: ['SKILL.md has no frontmatter'] }
  const read = fields.safeParse(yaml)
  if (!read.success) return { name: null, description: null, warnings: ['the frontmatter of SKILL.md is not valid YAML'] }
  const name = read.data.name ?? null
  const description = read.data.description ?? null
  if (name === null) warnings.push('the frontmatter has no name')
  else if (!NAME_FORM.test(name) || name.length > MAX_NAME)
    warnings.push(`the name "${name.slice(0, 80)}" must be 1 to 64 characters of a-z, 0-9 and single hyphens`)
  else if (folder !== null && name !== folder) warnings.push(`the name "${name}" does not match its folder`)
  if (description === null) warnings.push('the frontmatter has no description')
  return { name, description, warnings }
}

function toPlain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    const plain: unknown = document.toJS({ maxAliasCount: 10 })
    return plain
  } catch {
    return null
  }
}
