import { readPromptType } from '../domain/items/fields.ts'
import { describeOddFields, splitFrontmatter } from '../domain/skills/frontmatter.ts'
import { splitCode } from '../domain/variables/foreign-notations.ts'
import { AppError } from '../errors.ts'
import { type Changes, describeChanges, describeLeftOut, toVariableName, toVariables } from './foreign-prompts.ts'

/** A prompt in a file that an agent or an editor reads, as a row that the prompt reader knows. */
export interface AgentEntry {
  /** Of the file, and of the part where there are several. */
  readonly name: string
  readonly row: { readonly title: string; readonly content: string; readonly description: string | null }
  readonly remarks: readonly string[]
}

/** Files that are read by their place in a project, the first rule that fits. The group is the name of the prompt. */
const FORMS: readonly (readonly [RegExp, (filename: string, name: string, text: string, isWhole: boolean) => AgentEntry[]])[] = [
  [
    /(?:^|\/)(?:\.(?:claude|cursor|opencode)\/commands?|plugins\/[^/]+\/commands|\.codex\/prompts|\.(?:windsurf|clinerules)\/workflows)\/(.+)\.md$/i,
    (filename, name, text) => [readCommand(filename, name.replaceAll('/', ':'), text)],
  ],
  [/(?:^|\/)\.gemini\/commands\/(.+)\.toml$/i, (filename, name, text) => [readTomlCommand(filename, name.replaceAll('/', ':'), text)]],
  [
    /(?:^|\/)(?:\.(?:claude|github|opencode)\/(?:agents?|chatmodes)|plugins\/[^/]+\/agents)\/(?:.+\/)?([^/]+?)(?:\.agent|\.chatmode)?\.md$/i,
    (filename, name, text) => [readSubagent(filename, name, text)],
  ],
  [/(?:^|\/)([^/]+)\.mdc$/i, (filename, name, text) => [readRule(filename, name, text)]],
  [
    /(?:^|\/)(?:\.github\/instructions|\.(?:claude|cursor|windsurf)\/rules|\.clinerules|\.roo\/rules[^/]*|\.kiro\/steering)\/(?:.+\/)?([^/]+?)(?:\.instructions)?\.md$/i,
    (filename, name, text) => [readRule(filename, name, text)],
  ],
  [/(?:^|\/)\.((?:cursor|windsurf|cline|roo)rules)$/i, (filename, name, text) => [readRule(filename, name, text)]],
  [/(?:^|\/)(AGENTS|CLAUDE|GEMINI|copilot-instructions)\.md$/i, readAgents],
]
/** Fields of rules that say when an editor uses them. */
const RULE_FIELDS = ['globs', 'alwaysApply', 'applyTo', 'trigger', 'paths', 'inclusion', 'fileMatchPattern']
/** Fields of a `.prompt.md` that only editors know. */
const EDITOR_FIELDS = ['mode', 'agent', 'model', 'tools', 'argument-hint']
/** How far a heading is read, in UTF-16 units. */
const MAX_HEADING = 1_000
const EMPTY_FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n---[ \t]*(?:\r?\n|$)/

/** Whether {@link readAgentFile} reads a file of this name. */
export function isAgentFile(filename: string): boolean {
  return FORMS.some(([pattern]) => pattern.test(filename))
}

/**
 * Reads what agents and editors keep in a project: commands, subagents, rules, and files such as `AGENTS.md`; null for another file.
 * @param isWhole an `AGENTS.md` is one prompt. Default: one for each second-level heading
 * @throws AppError `invalid_input` for a file of a known place that cannot be read
 */
export function readAgentFile(filename: string, text: string, isWhole = false): readonly AgentEntry[] | null {
  for (const [pattern, read] of FORMS) {
    const name = pattern.exec(filename)?.[1]
    if (name !== undefined) return read(filename, name, text, isWhole)
  }
  return null
}

/** The string that a key of a TOML file has, in any of the four forms of TOML 1.0; null for none. */
function readTomlString(text: string, key: string): string | null {
  const value = new RegExp(
    `^${key}[ \\t]*=[ \\t]*(?:"""((?:[^\\\\]|\\\\[\\s\\S])*?)"""|'''([\\s\\S]*?)'''|"((?:[^"\\\\\\n]|\\\\.)*)"|'([^'\\n]*)')`,
    'm',
  ).exec(text)
  if (!value) return null
  const [, longBasic, longLiteral, basic, literal] = value
  const raw = longBasic ?? basic
  if (raw === undefined) return (longLiteral ?? literal ?? '').replace(/^\r?\n/, '')
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }
  return raw
    .replace(/^\r?\n/, '')
    .replaceAll(
      /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([ \t]*\r?\n\s*)|(.))/g,
      (_, short?: string, long?: string, end?: string, one?: string) => {
        if (end !== undefined) return ''
        const point = Number.parseInt(short ?? long ?? '0', 16)
        return one === undefined ? String.fromCodePoint(Math.min(point, 0x10ffff)) : (escapes[one] ?? one)
      },
    )
}

/** A command of Gemini CLI, whose `{{args}}` is a variable. */
function readTomlCommand(filename: string, title: string, text: string): AgentEntry {
  const prompt = readTomlString(text, 'prompt')
  if (prompt === null) throw new AppError('invalid_input', 'has no string "prompt" that can be read as TOML')
  const changes: Changes = new Map()
  const content = toVariables(prompt, changes)
  const live = /[!@]\{[^{}\n]+\}/.test(content) ? ['commands in !{…} and files in @{…} stay as text'] : []
  return {
    name: filename,
    row: { title, content, description: readTomlString(text, 'description') },
    remarks: [...live, ...describeChanges(changes)],
  }
}

/** A subagent, or a mode of a chat: a prompt with its name and description. */
function readSubagent(filename: string, name: string, text: string): AgentEntry {
  const { known, body, remarks } = readFields(text)
  const lost = [...known.keys()].filter((field) => field !== 'name' && field !== 'description')
  return {
    name: filename,
    row: { title: known.get('name')?.trim() || name, content: trimStart(body), description: readDescription(known) },
    remarks: [...remarks, ...describeLeftOut(lost)],
  }
}

function readCommand(filename: string, title: string, text: string): AgentEntry {
  const { known, body, remarks: odd } = readFields(text)
  // YAML reads [a] as a list.
  const hint = /^argument-hint:[ \t]*(.*)$/m.exec(text.slice(0, text.length - body.length))?.[1] ?? ''
  const hints = [...hint.matchAll(/\[([^\][]+)\]|<([^<>]+)>/g)].map(([, square, angle]) => toVariableName(square ?? angle ?? ''))
  const nameOf = (number: number) => hints[number - 1] ?? `argument_${number}`
  const whole = hints.length === 1 && hints[0] ? hints[0] : 'arguments'
  const changes: Changes = new Map()
  const put = (raw: string, name: string) => {
    changes.set(raw, `\${${name}}`)
    return `\${${name}}`
  }
  const start = trimStart(body)
  const hasArguments = hint !== '' || /\$ARGUMENTS\b/.test(start)
  const { text: numbered, inCode } = hasArguments
    ? putNumbered(start, hints.length, (raw, number) => put(raw, nameOf(number)))
    : { text: start, inCode: [] }
  const content = numbered
    .replaceAll(/\$ARGUMENTS\[(\d)\]/g, (raw, index: string) => put(raw, nameOf(Number(index) + 1)))
    .replaceAll(/\$ARGUMENTS\b/g, (raw) => put(raw, whole))
  const lost = ['allowed-tools', 'model', 'disable-model-invocation', 'context', 'agent', 'hooks'].filter((name) => known.has(name))
  const remarks = [
    ...odd,
    ...describeLeftOut(lost),
    ...(/!`[^`\n]+`/.test(content) ? ['commands in !`…` stay as text'] : []),
    ...(inCode.length > 0 ? [`stays as text in code: ${inCode.join(', ')}`] : []),
    ...describeChanges(changes),
  ]
  return { name: filename, row: { title, content, description: readDescription(known) }, remarks }
}

/** An argument by its number, but no sum of money such as $1.50 or $100, and none that is escaped. */
const NUMBERED = /(?<![\\$])\$([1-9])(?![\d\w]|[.,]\d)/g

/**
 * Replaces `$1` to `$9` outside of code. A number counts as far as there are hints, or the numbers before it: `$5` alone is a price.
 * @returns what stays in code as well
 */
function putNumbered(text: string, hinted: number, put: (raw: string, number: number) => string) {
  const pieces = splitCode(text)
  const used = new Set(
    pieces.flatMap(({ isCode, piece }) => (isCode ? [] : [...piece.matchAll(NUMBERED)].map(([, number]) => Number(number)))),
  )
  let most = hinted
  while (used.has(most + 1)) most++
  const inCode = new Set(pieces.flatMap(({ isCode, piece }) => (isCode ? [...piece.matchAll(NUMBERED)].map(([raw]) => raw) : [])))
  const replaced = pieces.map(({ isCode, piece }) =>
    isCode ? piece : piece.replaceAll(NUMBERED, (raw, number: string) => (Number(number) <= most ? put(raw, Number(number)) : raw)),
  )
  return { text: replaced.join(''), inCode: [...inCode] }
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
  const lost = RULE_FIELDS.filter((field) => !['', 'null'].includes(fields.get(field) ?? ''))
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(content.slice(0, 2_000))?.[1]
  const title = heading ?? name.replaceAll(/[-_]+/g, ' ')
  return { name: filename, row: { title, content, description: readDescription(fields) }, remarks: [...odd, ...describeLeftOut(lost)] }
}

function readAgents(filename: string, name: string, text: string, isWhole: boolean): AgentEntry[] {
  const whole = text.replace(/^\uFEFF/, '')
  const top = /^#[ \t]+(.+?)[ \t#]*$/m.exec(whole.slice(0, 2_000))?.[1] ?? name
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
export function readEditorPrompt(fields: ReadonlyMap<string, string>, content: string) {
  if (readPromptType(fields.get('type') ?? '') !== null) return { content, remarks: [] }
  const lost = EDITOR_FIELDS.filter((name) => fields.has(name))
  const changes: Changes = new Map()
  const replaced = content.replaceAll(/\$\{input:([^{}:\n]+)(?::[^{}\n]*)?\}/g, (raw, name: string) => {
    const variable = toVariableName(name)
    if (variable === null) return raw
    changes.set(raw, `\${${variable}}`)
    return `\${${variable}}`
  })
  return { content: replaced, remarks: [...describeLeftOut(lost), ...describeChanges(changes)] }
}

function trimStart(text: string): string {
  return text.replace(/^\uFEFF?(?:[ \t]*\r?\n)+/, '')
}
