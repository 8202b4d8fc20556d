import { Document, visit } from 'yaml'
import { parseVariables } from '../../domain/variables/variables.ts'

/** A prompt and the lines added to it as a JSON object. */
export function writeTaskJson(prompt: string, lines: readonly string[]): string {
  const members = [`"task": ${writeString(prompt)}`]
  if (lines.length > 0) members.push(`"requirements": ${JSON.stringify(lines, null, 2).replaceAll('\n', '\n  ')}`)
  return `{\n  ${members.join(',\n  ')}\n}`
}

/** A prompt and the lines added to it as a YAML mapping. */
export function writeTaskYaml(prompt: string, lines: readonly string[]): string {
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

/** Whether a literal block would not give a text back: white space around it, or characters that YAML changes or forbids there. */
function needsQuotes(text: string): boolean {
  return text !== text.trim() || /(?![\n\t])\p{Cc}|[\u2028\u2029\ufeff\ufffe\uffff]/u.test(text) || !text.isWellFormed()
}
