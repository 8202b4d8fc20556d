import type { FilePrompt } from '../../transfer/formats/file-prompt.ts'
import { FORMATS, type FormatName } from '../../transfer/formats/formats.ts'

/** Names of the formats of other tools, as addresses of files end with them. */
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

/** The name of a format for users. */
export const titleOfFormat = (format: FormatName): string => FORMATS[format].title

/** A prompt as surfaces show it. */
type ShownPrompt = Omit<FilePrompt, 'messages' | 'config' | 'syntax'> & {
  readonly [Name in 'messages' | 'config' | 'syntax']?: FilePrompt[Name] | undefined
}

/** A prompt as the file of another tool, and the name of the file. A comment at its head says what it does not carry. */
export function writePromptFile(format: FormatName, prompt: ShownPrompt): { readonly text: string; readonly filename: string } {
  const { messages = null, config = null, syntax = 2 } = prompt
  const { write, nameFile } = FORMATS[format]
  return { text: write({ ...prompt, messages, config, syntax }).text, filename: nameFile(prompt.slug) }
}
