import type { PromptType } from '../domain/items/fields.ts'

/** The output that an improved prompt is meant to bring forth. */
export const OUTPUT_TYPES = ['text', 'image', 'video', 'sound'] as const
export type OutputType = (typeof OUTPUT_TYPES)[number]

/** How the improved prompt is written: as a text, or as an object in JSON or YAML. */
export const OUTPUT_FORMATS = ['text', 'structured_json', 'structured_yaml'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** The types of prompts that may inspire an output of each type. */
export const FITTING_TYPES: Readonly<Record<OutputType, readonly PromptType[]>> = {
  text: ['TEXT', 'STRUCTURED'],
  image: ['IMAGE'],
  video: ['VIDEO'],
  sound: ['AUDIO'],
}
