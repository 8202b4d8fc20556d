import type { OutputFormat, OutputType } from './output.ts'

/** A prompt to be improved, and the similar prompts to learn from, nearest first. Contents are cut before they come here. */
export interface ImproveRequest {
  readonly prompt: string
  readonly outputType: OutputType
  readonly outputFormat: OutputFormat
  readonly inspirations: readonly { readonly title: string; readonly content: string }[]
}
