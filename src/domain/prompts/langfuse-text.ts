import { doubleLastBackslashes, escapeVariables, isVariableName, parseVariables, type Syntax } from '../variables/variables.ts'

/** A variable `{{name}}`, unlike Mustache's `{{{name}}}`, or a tag that names another prompt. */
const MARKS =
  /(?<!\{)\{\{(?<inner>[^{}\n]{1,200})\}\}|@@@langfusePrompt:name=(?<ref>[\p{L}\p{N}_-]{1,120})\|(?<by>version|label)=(?<at>[a-z0-9_.-]{1,36})@@@/gu

/** A text as Langfuse writes it: `{{name}}` for variables, whose defaults are lost, and tags for parts. */
export function toLangfuseText(text: string, syntax: Syntax): string {
  return parseVariables(text, syntax)
    .segments.map((segment) => {
      if (segment.kind === 'text') return segment.text
      if (segment.kind === 'variable') return `{{${segment.raw.slice(2).split(/[:}]/, 1)[0] ?? segment.name}}}`
      const at = segment.at ?? 'latest'
      return `@@@langfusePrompt:name=${segment.ref}|${isNumber(at) ? 'version' : 'label'}=${at}@@@`
    })
    .join('')
}

/**
 * A text of Langfuse in the present syntax, such that {@link toLangfuseText} gives it back to the letter. What cannot be written so, such as
 * a variable inside of a literal `${a:…}`, or more than 100 variables, makes the whole text stand for itself.
 */
export function fromLangfuseText(text: string): string {
  const written = writeMarks(text)
  return toLangfuseText(written, 2) === text ? written : escapeVariables(text)
}

function writeMarks(text: string): string {
  let written = ''
  let from = 0
  for (const found of text.matchAll(MARKS)) {
    const mark = toMark(found.groups ?? {})
    if (mark === null) continue
    // A backslash before a mark stays one.
    written += doubleLastBackslashes(escapeVariables(text.slice(from, found.index))) + mark
    from = found.index + found[0].length
  }
  return written + escapeVariables(text.slice(from))
}

/** A variable or part as it is written here; null for what is none. */
function toMark({ inner, ref, by, at = '' }: Partial<Record<string, string>>): string | null {
  if (inner !== undefined) return isVariableName(inner.replaceAll(/^ +| +$/g, '')) ? `\${${inner}}` : null
  return isNumber(at) === (by === 'version') ? `\${> ${ref}@${at}}` : null
}

function isNumber(at: string): boolean {
  return /^\d+$/.test(at)
}
