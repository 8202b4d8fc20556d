import type { ImproveRequest } from '../improve-request.ts'
import { chooseLines } from './choose-lines.ts'
import { hasCue } from './cues.ts'
import { endsInFence, readHeadings, writeHeading } from './headings.ts'
import { detectLanguage, type Language } from './language.ts'
import { keepOwnStructure } from './own-structure.ts'
import { writeTaskJson, writeTaskYaml } from './write-structure.ts'

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
