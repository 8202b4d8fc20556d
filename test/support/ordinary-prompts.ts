import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { OUTPUT_TYPES } from '../../src/improve/improve-with-model.ts'

/** An expression as the fixture writes it: `/source/flags`. */
const expression = z.string().transform((text) => new RegExp(text.slice(1, text.lastIndexOf('/')), text.slice(text.lastIndexOf('/') + 1)))

/** A prompt as people write it, and what improving it must and must not do. */
const ordinaryPrompt = z.strictObject({
  kind: z.string(),
  language: z.string(),
  prompt: z.string(),
  outputType: z.enum(OUTPUT_TYPES).optional(),
  /** What the result must say, in the words of the prompt. */
  facts: z.array(z.string()),
  /** What the added text must not say: it would contradict the prompt or miss its point. */
  not: expression,
  /** What the added text must say; null where nothing may be added. */
  adds: expression.nullish(),
})

/** Prompts of every kind in every language that lines are written in, and in some that they are not. */
export const ORDINARY_PROMPTS = z
  .array(ordinaryPrompt)
  .parse(JSON.parse(readFileSync(new URL('../fixtures/ordinary-prompts.json', import.meta.url), 'utf8')))
