import { Document, isAlias, isMap, isNode, isScalar, visit, type YAMLMap } from 'yaml'
import { isObject, parseJson } from '../../domain/text/json.ts'
import { readYaml, toPlain } from '../../domain/text/yaml.ts'
import { parseVariables } from '../../domain/variables/variables.ts'
import type { ImproveRequest, OutputFormat } from '../improve-with-model.ts'
import { chooseLines, detectLanguage, endsInFence, hasCue, type Language, readHeadings, writeHeading } from './choose-lines.ts'

/** A prompt and the lines added to it as a JSON object. */
function writeTaskJson(prompt: string, lines: readonly string[]): string {
  const members = [`"task": ${writeString(prompt)}`]
  if (lines.length > 0) members.push(`"requirements": ${JSON.stringify(lines, null, 2).replaceAll('\n', '\n  ')}`)
  return `{\n  ${members.join(',\n  ')}\n}`
}

/** A prompt and the lines added to it as a YAML mapping. */
function writeTaskYaml(prompt: string, lines: readonly string[]): string {
  return writeYaml(lines.length > 0 ? { task: prompt, requirements: lines } : { task: prompt })
}

/** A text as a JSON string. A `${` that opens no variable is escaped, or a brace of the object would close it. */
function writeString(text: string): string {
  const pieces = parseVariables(text).segments.map(({ kind, raw }) => {
    const written = JSON.stringify(raw).slice(1, -1)
    return kind === 'variable' ? written : written.replaceAll('${', '$\\u007b')
  })
  return `"${pieces.join('')}"`
}

/** An object as YAML, long texts as literal blocks; ends without a line break. */
function writeYaml(value: Readonly<Record<string, unknown>>): string {
  const document = new Document(value)
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && needsQuotes(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  // A quoted text stays on one line: parted over several, white space at the ends of its lines is not read back as it was.
  return document.toString({ lineWidth: 0, blockQuote: 'literal', doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER }).trimEnd()
}

/** Whether a literal block would not give a text back: white space around it, or characters that YAML changes or forbids there. */
function needsQuotes(text: string): boolean {
  return text !== text.trim() || /(?![\n\t])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]/u.test(text) || !text.isWellFormed()
}

/** A prompt that is JSON or YAML. `isResult`: it is an object in its own notation; `isExact`: another notation can represent all of it. */
interface OwnStructure {
  readonly notation: 'json' | 'yaml'
  readonly value: unknown
  readonly isResult: boolean
  readonly isExact: boolean
}

/** A key that tells YAML from prose with a colon. */
const KEY = /^[\p{Ll}\p{Lo}_][\p{L}\p{M}\p{N}_-]{0,63}$/u
const FIRST_LINE = /^(?:[ \t]*(?:#.*|---)?\r?\n)*[\p{Ll}\p{Lo}_][\p{L}\p{M}\p{N}_-]{0,63}:(?:\s|$)/u

/**
 * A prompt that is JSON or YAML, in a format: as it was written where that will do, else in the notation asked for.
 * @returns null for every other prompt, and where another notation would lose something: such a prompt is a text like any other
 */
function keepOwnStructure(prompt: string, format: OutputFormat): string | null {
  const own = readJson(prompt) ?? readYamlMapping(prompt, format === 'structured_yaml')
  if (!own) return null
  if (format === 'text') return prompt
  const target = format === 'structured_json' ? 'json' : 'yaml'
  if (target === own.notation) return own.isResult ? prompt : null
  if (!own.isResult || !own.isExact || !isObject(own.value)) return null
  const converted = target === 'json' ? JSON.stringify(own.value, null, 2) : writeYaml(own.value)
  // A variable that spans lines, or a brace that finds another partner, would be read differently.
  return namesOf(converted) === namesOf(prompt) && (readJson(converted) ?? readYamlMapping(converted, true)) ? converted : null
}

function readJson(prompt: string): OwnStructure | null {
  // Not trimmed: JSON knows four kinds of white space, and a text with another before it is not JSON.
  if (!/^[ \t\r\n]*[[{]/.test(prompt)) return null
  const parsed = parseJson(prompt)
  if (!parsed.ok) return null
  const { value } = parsed
  const keys = isObject(value) ? Object.keys(value) : []
  // JSON keeps the last of two members of one name, and reads 1.10 as 1.1: both show when the value is written again.
  const isExact = keys.every((key) => KEY.test(key)) && squeeze(JSON.stringify(value)) === squeeze(prompt)
  return { notation: 'json', value, isResult: keys.length > 0, isExact }
}

/** A JSON text without white space between its tokens, its strings spelled in one way. */
function squeeze(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : ''))
}

/** A mapping with keys that no prose has: at least two, or one with more than a word behind it. `isOneEnough` takes any one. */
function readYamlMapping(text: string, isOneEnough: boolean): OwnStructure | null {
  if (!FIRST_LINE.test(text)) return null
  const document = readYaml(text, { prettyErrors: false, uniqueKeys: false })
  const root = document?.contents
  if (!document || !isMap(root) || root.flow) return null
  if (!root.items.every(({ key }) => isScalar(key) && typeof key.value === 'string' && KEY.test(key.value))) return null
  const [first] = root.items
  const isBlock = isNode(first?.value) && (!isScalar(first.value) || /^BLOCK/.test(first.value.type ?? ''))
  if (root.items.length < 2 && !isOneEnough && !isBlock) return null
  let isResult = true
  let isExact = !/^%/m.test(text)
  visit(document, {
    Node(_, node) {
      if (isAlias(node) || node.anchor !== undefined || node.tag !== undefined) isResult = false
      if (node.comment || node.commentBefore) isExact = false
      if (isMap(node) && hasDuplicateKey(node)) isResult = false
      // YAML reads 1.10 as 1.1.
      if (isScalar(node) && typeof node.value !== 'string' && node.value !== null && String(node.value) !== node.source) isExact = false
    },
  })
  if (document.comment || document.commentBefore) isExact = false
  const value = isResult ? toPlain(document, 0) : undefined
  return { notation: 'yaml', value, isResult: isObject(value), isExact }
}

function hasDuplicateKey(map: YAMLMap): boolean {
  const keys = map.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []))
  return new Set(keys).size < keys.length
}

function namesOf(text: string): string {
  return parseVariables(text)
    .variables.map(({ name }) => name)
    .toSorted()
    .join('\n')
}

/**
 * Improves a prompt without a language model: keeps it word for word, and adds short lines in its language on what prompts of its
 * kind settle and it does not. The lines suit every prompt of the kind: they guess no reader, length, tone or format.
 * Inspirations decide what the added section is called; no word of theirs is taken over.
 * The same request gives the same result, and improving a result for the same type and format changes nothing.
 */
export function improveWithoutModel({ prompt, outputType, outputFormat, inspirations }: ImproveRequest): string {
  const own = keepOwnStructure(prompt, outputFormat)
  if (own !== null) return own
  const language = detectLanguage(prompt)
  const lines = language ? chooseLines(prompt, outputType, language) : []
  if (outputFormat === 'structured_json') return writeTaskJson(prompt, lines)
  if (outputFormat === 'structured_yaml') return writeTaskYaml(prompt, lines)
  if (!language || lines.length === 0) return prompt
  return outputType === 'text' ? addList(prompt, lines, chooseTitle(language, inspirations)) : joinBlocks(prompt, lines)
}

/** A prompt with a list below it. What ends open, such as "Translate this:", gets the list above it, where no material is expected. */
function addList(prompt: string, lines: readonly string[], title: string): string {
  const items = lines.map((line) => `- ${line}`)
  const end = prompt.trimEnd()
  const lastLine = end.slice(end.lastIndexOf('\n') + 1)
  if (/[:：]$|^#{1,6} /.test(lastLine) || endsInFence(prompt)) {
    const eol = lineBreakOf(prompt)
    return `${items.join(eol)}${eol}${eol}${prompt}`
  }
  // One plain paragraph needs no heading between it and the list.
  const isPlain = !/[:\n"“„«]/.test(prompt.trim())
  return joinBlocks(prompt, isPlain ? items : [writeHeading(title, readHeadings(prompt)), ...items])
}

function joinBlocks(prompt: string, lines: readonly string[]): string {
  const eol = lineBreakOf(prompt)
  const gap = /\n\r?\n$/.test(prompt) ? '' : prompt.endsWith('\n') ? eol : eol + eol
  return `${prompt}${gap}${lines.join(eol)}`
}

function lineBreakOf(prompt: string): string {
  return prompt.includes('\r\n') ? '\r\n' : '\n'
}

/** The title of the added section that the nearest inspiration uses, of those known in the language. */
function chooseTitle(language: Language, inspirations: ImproveRequest['inspirations']): string {
  const titles = language.titles.split(', ')
  for (const { content } of inspirations) {
    const headings = readHeadings(content)
    const known = titles.find((title) => headings.some((heading) => hasCue(heading.title, title)))
    if (known) return known
  }
  return titles[0] ?? ''
}
