import { readPromptType } from '../library/fields.ts'
import { describeOddFields, splitFrontmatter } from '../library/frontmatter.ts'
import { toVariableName } from './foreign-variables.ts'

/** A prompt in a file that an agent or an editor reads, as a row that the prompt reader knows. */
export interface AgentEntry {
  /** Of the file, and of the part where there are several. */
  readonly name: string
  readonly row: { readonly title: string; readonly content: string; readonly description: string | null }
  readonly remarks: readonly string[]
}

const COMMAND = /(?:^|\/)\.claude\/commands\/(.+)\.md$/i
const RULE = /(?:^|\/)([^/]+)\.mdc$/i
const AGENTS = /(?:^|\/)AGENTS\.md$/i
/** Fields of a `.prompt.md` that only editors know. */
const EDITOR_FIELDS = ['mode', 'agent', 'model', 'tools', 'argument-hint']
/** How far a heading is read, in UTF-16 units. */
const MAX_HEADING = 1_000
const EMPTY_FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n---[ \t]*(?:\r?\n|$)/

/** Whether {@link readAgentFile} reads a file of this name. */
export function isAgentFile(filename: string): boolean {
  return COMMAND.test(filename) || RULE.test(filename) || AGENTS.test(filename)
}

/**
 * Reads a command of Claude Code, a rule of Cursor, or an `AGENTS.md`; null for another file.
 * @param isWhole an `AGENTS.md` is one prompt. Default: one for each second-level heading
 */
export function readAgentFile(filename: string, text: string, isWhole = false): readonly AgentEntry[] | null {
  const command = COMMAND.exec(filename)?.[1]
  if (command !== undefined) return [readCommand(filename, command.replaceAll('/', ':'), text)]
  const rule = RULE.exec(filename)?.[1]
  if (rule !== undefined) return [readRule(filename, rule, text)]
  return AGENTS.test(filename) ? readAgents(filename, text, isWhole) : null
}

function readCommand(filename: string, title: string, text: string): AgentEntry {
  const { known, body, remarks: odd } = readFields(text)
  // YAML reads [a] as a list.
  const hint = /^argument-hint:[ \t]*(.*)$/m.exec(text.slice(0, text.length - body.length))?.[1] ?? ''
  const hints = [...hint.matchAll(/\[([^\][]+)\]|<([^<>]+)>/g)].map(([, square, angle]) => toVariableName(square ?? angle ?? ''))
  const nameOf = (number: number) => hints[number - 1] ?? `argument_${number}`
  const whole = hints.length === 1 && hints[0] ? hints[0] : 'arguments'
  const content = trimStart(body)
    .replaceAll(/\$ARGUMENTS\[(\d)\]/g, (_, index: string) => `\${${nameOf(Number(index) + 1)}}`)
    .replaceAll(/\$ARGUMENTS\b/g, `\${${whole}}`)
    // Not a sum of money, such as $1.50 or $100.
    .replaceAll(/\$([1-9])(?![\d\w]|[.,]\d)/g, (_, number: string) => `\${${nameOf(Number(number))}}`)
  const lost = ['allowed-tools', 'model', 'disable-model-invocation', 'context', 'agent', 'hooks'].filter((name) => known.has(name))
  const remarks = [
    ...odd,
    ...(lost.length > 0 ? [`left out: ${lost.join(', ')}`] : []),
    ...(/!`[^`\n]+`/.test(content) ? ['commands in !`…` stay as text'] : []),
  ]
  return {
    name: filename,
    row: {
      title,
      content,
      description: readDescription(known),
    },
    remarks,
  }
}

/** A text apart from its frontmatter. Fields of these formats that are never YAML, such as `globs: *.ts`, are nothing to remark. */
function readFields(text: string): { readonly known: ReadonlyMap<string, string>; readonly body: string; readonly remarks: string[] } {
  const { fields, odd, body } = splitFrontmatter(text)
  const remarks = describeOddFields(odd.filter(({ field }) => field !== 'globs' && field !== 'argument-hint'))
  return { known: new Map(fields), body: body.replace(EMPTY_FRONTMATTER, ''), remarks }
}

function readDescription(fields: ReadonlyMap<string, string>): string | null {
  const text = fields.get('description')?.trim() ?? ''
  return text === '' || text === 'null' ? null : text
}

function readRule(filename: string, name: string, text: string): AgentEntry {
  const { known: fields, body, remarks: odd } = readFields(text)
  const content = trimStart(body)
  const lost = ['globs', 'alwaysApply'].filter((field) => !['', 'null'].includes(fields.get(field) ?? ''))
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const title = heading ?? name.replaceAll(/[-_]+/g, ' ')
  const remarks = [...odd, ...(lost.length > 0 ? [`left out: ${lost.join(', ')}`] : [])]
  return {
    name: filename,
    row: {
      title,
      content,
      description: readDescription(fields),
    },
    remarks,
  }
}

function readAgents(filename: string, text: string, isWhole: boolean): AgentEntry[] {
  const whole = text.replace(/^\uFEFF/, '')
  const top = /^#[ \t]+(.+?)[ \t#]*$/m.exec(whole.slice(0, 2_000))?.[1] ?? 'AGENTS'
  const parts: { title: string; lines: string[] }[] = [{ title: top, lines: [] }]
  let fence: string | null = null
  for (const line of whole.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === null) fence = mark ?? null
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    const title = fence === null ? /^##[ \t]+(.+?)[ \t#]*$/.exec(line.slice(0, MAX_HEADING))?.[1] : undefined
    if (title !== undefined && !isWhole) parts.push({ title, lines: [line] })
    else parts.at(-1)?.lines.push(line)
  }
  return parts.flatMap(({ title, lines }, index) => {
    const content = isWhole ? whole : `${lines.join('\n').trim()}\n`
    const says = content.split('\n').some((line) => line.trim() !== '' && !/^#{1,2}[ \t]/.test(line))
    // A heading alone says nothing, unless it is all there is.
    if (!says && parts.length > 1) return []
    return [{ name: parts.length > 1 ? `${filename}, ${index}` : filename, row: { title, content, description: null }, remarks: [] }]
  })
}

/**
 * The text of a `.prompt.md` with the variables of VS Code, `${input:name}` and `${input:name:hint}`, as variables here, and what is left
 * out. A file that this library wrote stays as it is.
 */
export function readEditorPrompt(
  fields: ReadonlyMap<string, string>,
  content: string,
): { readonly content: string; readonly remark: string | null } {
  if (readPromptType(fields.get('type') ?? '') !== null) return { content, remark: null }
  const lost = EDITOR_FIELDS.filter((name) => fields.has(name))
  return {
    content: content.replaceAll(/\$\{input:([^{}:\n]+)(?::[^{}\n]*)?\}/g, (raw, name: string) => {
      const variable = toVariableName(name)
      return variable === null ? raw : `\${${variable}}`
    }),
    remark: lost.length > 0 ? `left out: ${lost.join(', ')}` : null,
  }
}

function trimStart(text: string): string {
  return text.replace(/^\uFEFF?(?:[ \t]*\r?\n)+/, '')
}
