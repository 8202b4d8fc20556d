import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'yaml'
import { type Message, type PromptBody, renderMessages, variablesOf } from '../../domain/prompts/body.ts'
import { configField, type PromptConfig } from '../../domain/prompts/config.ts'
import { cutCharacters } from '../../domain/text/characters.ts'
import { isObject } from '../../domain/text/json.ts'
import { type Fields, textOf } from '../../domain/text/yaml.ts'
import { type Piece, parseVariables, writePieces } from '../../domain/variables/variables.ts'
import { describeList } from '../foreign-prompts.ts'
import type { TemplateSyntax, Token } from './templates.ts'

/** A prompt that is written to a file of another tool. */
export interface FilePrompt extends PromptBody {
  readonly slug: string
  readonly title: string
  readonly description: string | null
  readonly tags: readonly string[]
  readonly category?: string | null | undefined
  readonly type?: string | undefined
}

/** A file, and what it could not carry, as parts of a sentence. */
interface WrittenFile {
  readonly text: string
  readonly leftOut: readonly string[]
}

/** A prompt of a file as a row that the prompt reader knows, with remarks on what is left out; or why there is none. */
type ReadPrompt = { readonly row: Readonly<Record<string, unknown>>; readonly remarks: readonly string[] } | { readonly fault: string }

/** A format of another tool. */
export interface Format {
  /** Its name for users. */
  readonly title: string
  /** Of the names of its files. */
  readonly pattern: RegExp
  /** @throws AppError `invalid_input` */
  read(text: string): ReadPrompt[]
  write(prompt: FilePrompt): WrittenFile
  /** @returns the name of the file of a prompt */
  nameFile(slug: string): string
}

const MAX_NOTE = 300
/** A message as files have it: a role of theirs, and a template; or a place for messages. */
export type FileMessage = { readonly role: string; readonly tokens: readonly Token[] } | { readonly placeholder: string }

const ROLES: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  model: 'assistant',
  ai: 'assistant',
}

/** Messages of a file as a body; one of the user alone is a text. @param defaults of variables; those used are written into the text */
export function toBody(messages: readonly FileMessage[], defaults: Fields = {}) {
  const used = new Set<string>()
  const kept: string[] = []
  const left = new Set<string>()
  const read = messages.map((one): Message => {
    if ('placeholder' in one) return { type: 'placeholder', name: one.placeholder }
    const role = ROLES[one.role.toLowerCase()]
    if (role === undefined) left.add(`the role ${cutCharacters(one.role, 40)} (now user)`)
    const pieces: Piece[] = []
    for (const token of one.tokens) {
      if ('leftOut' in token) left.add(token.leftOut)
      if ('kept' in token) kept.push(cutCharacters(token.kept, 60))
      const last = pieces.at(-1)
      const said = 'text' in token ? token.text : 'kept' in token ? token.kept : undefined
      if (said !== undefined && last && 'text' in last) pieces[pieces.length - 1] = { text: last.text + said }
      else if (said !== undefined) pieces.push({ text: said })
      else if ('name' in token) pieces.push(used.has(token.name) ? { name: token.name } : withDefault(token.name, defaults))
      if ('name' in token) used.add(token.name)
    }
    return { role: role ?? 'user', content: writePieces(pieces) }
  })
  const [first] = read
  const isText = read.length === 1 && first && 'role' in first && first.role === 'user'
  const body = isText ? { content: first.content, messages: null } : { content: renderMessages(read), messages: read }
  const variables = variablesOf({ ...body, syntax: 2 })
  const names = new Set(variables.map(({ name }) => name))
  const lost = Object.keys(defaults).filter((name) => !variables.some((one) => one.name === name && one.default !== undefined))
  return {
    body: { ...body, syntax: 2 },
    variables,
    remarks: [
      ...describeList('left out', [...left]),
      ...describeList('left out: defaults of', lost),
      ...describeList('stays as text', [...new Set(kept), ...[...used].filter((name) => !names.has(name))]),
      ...describeList('variables', [...names]),
    ],
  }
}

/** A variable with the default that a file says, where a text here can say it. */
function withDefault(name: string, defaults: Fields): Piece {
  const value = Object.hasOwn(defaults, name) ? defaults[name] : undefined
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return { name }
  const piece = { name, default: String(value) }
  const { segments, variables } = parseVariables(writePieces([piece]))
  return segments.length === 1 && variables[0]?.default === piece.default ? piece : { name }
}

/** A body taken apart for a file. */
export type FileBody = ReturnType<typeof fromBody>

/** A message to write: its role here and its template, or a placeholder. */
type FileText =
  | { readonly role: Exclude<Message, { type: 'placeholder' }>['role']; readonly text: string }
  | { readonly placeholder: string }

/** Writes the texts of a body in the syntax of a file. @param isTrimmed whether the file has no blank space around a text */
export function fromBody({ content, messages, syntax }: PromptBody, template: TemplateSyntax, isTrimmed = false) {
  const leftOut = new Set<string>()
  if (messages?.length === 1 && messages[0] && 'role' in messages[0] && messages[0].role === 'user')
    leftOut.add('that its only message is one of a chat')
  const parsed = (messages ?? [{ role: 'user' as const, content }]).map((one) =>
    'role' in one ? { role: one.role, ...parseVariables(one.content, syntax) } : { placeholder: one.name },
  )
  const variables = variablesOf({ content, messages, syntax })
  const called = nameAll(
    variables.map(({ name }) => name),
    template,
    leftOut,
  )
  return {
    messages: parsed.map((one): FileText => {
      if (!('role' in one)) return one
      const pieces: Piece[] = []
      for (const segment of one.segments) {
        if (segment.kind === 'part') leftOut.add(`the part ${segment.raw} (its text is not put in)`)
        const last = pieces.at(-1)
        const text = segment.kind === 'variable' ? undefined : segment.kind === 'text' ? segment.text : segment.raw
        if (segment.kind === 'variable') pieces.push({ name: segment.name })
        else if (last && 'text' in last) pieces[pieces.length - 1] = { text: last.text + text }
        else pieces.push({ text: text ?? '' })
      }
      if (!template.hasEscapes && pieces.some((piece) => 'text' in piece && piece.text.includes('{{')))
        leftOut.add('that {{ in the text is no variable')
      const text = template.write(pieces, (name) => called.get(name) ?? name)
      if (isTrimmed && text !== text.trim()) leftOut.add('blank space around its text')
      return { role: one.role, text: isTrimmed ? text.trim() : text }
    }),
    variables: variables.map((variable) => ({ ...variable, called: called.get(variable.name) ?? variable.name })),
    leftOut: [...leftOut],
  }
}

/** The names of variables in the file; no two the same. */
function nameAll(names: readonly string[], template: TemplateSyntax, leftOut: Set<string>): Map<string, string> {
  const called = new Map<string, string>()
  const taken = new Set(names)
  for (const name of names) {
    let other = template.toName(name)
    for (let number = 2; other !== name && taken.has(other); number++) other = `${template.toName(name)}_${number}`
    taken.add(other)
    called.set(name, other)
    if (other !== name && !other.includes('[')) leftOut.add(`the name ${name} (here ${other})`)
  }
  return called
}

const PARAMETERS = new Set(
  'temperature maxtokens maxoutputtokens maxcompletiontokens topp topk stop stopsequences seed frequencypenalty presencepenalty reasoningeffort'.split(
    ' ',
  ),
)

/** A config by what files have a place for. */
export function splitConfig(config: PromptConfig | null) {
  const { model, responseSchema, tools, ...others } = config ?? {}
  const isParameter = ([key]: [string, unknown]) => PARAMETERS.has(key.toLowerCase().replaceAll('_', ''))
  const entries = Object.entries(others)
  return {
    model: textOf(model),
    responseSchema,
    tools,
    parameters: Object.fromEntries(entries.filter(isParameter)),
    rest: Object.fromEntries([
      ...entries.filter((entry) => !isParameter(entry)),
      ...(model !== undefined && textOf(model) === undefined ? [['model', model]] : []),
    ]),
  }
}

/** A config of what a file says, null for nothing, or a remark that it is too large. Later parts override earlier ones. */
export function joinConfig(...parts: readonly Fields[]): { readonly config: PromptConfig | null; readonly remarks: readonly string[] } {
  const entries = parts.flatMap((part) => Object.entries(part)).filter(([, value]) => value !== undefined && value !== null)
  if (entries.length === 0) return { config: null, remarks: [] }
  const made = configField.safeParse(Object.fromEntries(entries))
  return made.success
    ? { config: made.data, remarks: [] }
    : { config: null, remarks: [`left out: its config, which ${made.error.issues[0]?.message}`] }
}

/** A value as fields; none for anything else. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** Fields without those that are undefined or empty. */
export function pick(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && value !== null && !isDeepStrictEqual(value, {}) && !isDeepStrictEqual(value, []),
    ),
  )
}

/** The notes of what no file of another tool carries, or of tags too. */
export function describeUnfiled({ tags, category, type }: FilePrompt, hasTags = false): string[] {
  return [
    ...(hasTags ? [] : describeList('tags', tags)),
    ...(category ? [`the category ${category}`] : []),
    ...(type === undefined || type === 'TEXT' ? [] : [`the type ${type}`]),
  ]
}

/** Fields as YAML, after a comment with what the file does not carry. */
export function writeYaml(fields: Fields, leftOut: readonly string[]): string {
  const notes = leftOut.map((note) => cutCharacters(note.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').toWellFormed(), MAX_NOTE))
  const comment = notes.length === 0 ? '' : `# Not in this file:\n${notes.map((note) => `# - ${note}\n`).join('')}`
  return comment + stringify(fields, { lineWidth: 0, aliasDuplicateObjects: false })
}
