import type { OutputFormat, OutputType } from '../output.ts'
import { readFreeNames } from './blanks.ts'
import type { Draft } from './draft.ts'
import { draftMedia } from './draft-media.ts'
import { draftText } from './draft-text.ts'
import { improveObject, keepsVariables } from './improve-object.ts'
import { readObject } from './read-object.ts'
import { readPrompt } from './read-prompt.ts'
import { type Inspiration, readStructure } from './read-structure.ts'
import { toMembers, writeJson, writeYaml } from './write-members.ts'

/** What the built-in rewriter is asked for; the inspirations come best first. */
export interface OfflineRequest {
  readonly prompt: string
  readonly outputType: OutputType
  readonly outputFormat: OutputFormat
  readonly inspirations: readonly Inspiration[]
}

/**
 * Improves a prompt without a language model: keeps every sentence and variable of it, sorts short prose into parts, and adds
 * what prompts of its kind need and it does not settle. The same request gives the same result, and improving a result changes nothing.
 * Inspirations decide which parts are added, their order and titles; no word of theirs is taken over. Takes linear time.
 * @see issue 4, item 6: the rewriter when no model is configured
 */
export function improveOffline({ prompt, outputType, outputFormat, inspirations }: OfflineRequest): string {
  const read = readPrompt(prompt)
  const names = readFreeNames(read.text)
  const structure = readStructure(inspirations)
  const object = readObject(read.text, outputFormat !== 'text')
  const improved = object && improveObject(object, outputType, outputFormat, names, structure)
  if (improved !== null) return improved
  const draft = (mayArrange: boolean) =>
    outputType === 'text' ? draftText(read, names, structure, mayArrange) : draftMedia(outputType, read, names, structure, mayArrange)
  const arranged = names.isFull || !hasPairedBraces(read.text) ? null : draft(true)
  return write(arranged && keepsMeaning(read.text, arranged) ? arranged : draft(false), outputFormat)
}

function write(draft: Draft, outputFormat: OutputFormat): string {
  switch (outputFormat) {
    case 'text':
      return draft.text
    case 'structured_json':
      return writeJson(toMembers(draft.sections))
    case 'structured_yaml':
      return writeYaml(Object.fromEntries(toMembers(draft.sections)))
  }
}

/** Moving sentences must not change what a variable is: the first of two defaults counts for both. */
function keepsMeaning(original: string, draft: Draft): boolean {
  return keepsVariables(original, draft.text) && keepsVariables(original, draft.sections.map((section) => section.text).join('\n'))
}

/** Whether every brace has its partner: a `${` that never closes could find a brace of another part once sentences are moved. */
function hasPairedBraces(text: string): boolean {
  let open = 0
  for (const unit of text) {
    if (unit === '{') open++
    else if (unit === '}' && --open < 0) return false
  }
  return open === 0
}
