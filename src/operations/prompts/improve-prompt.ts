import { z } from 'zod'
import { textField } from '../../domain/items/fields.ts'
import { withinOf } from '../../domain/people/actor.ts'
import { countCharacters, cutCharacters } from '../../domain/text/characters.ts'
import { findPlaceholders } from '../../domain/variables/foreign-notations.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { improveWithoutModel } from '../../improve/fallback/improve-without-model.ts'
import { FITTING_TYPES, improveWithModel, OUTPUT_FORMATS, OUTPUT_TYPES } from '../../improve/improve-with-model.ts'
import { defineOperation } from '../core/define-operation.ts'
import { hintsOutput } from '../core/hints.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

/** Longest prompt taken, in characters. */
const MAX_PROMPT = 10_000
const MAX_INSPIRATIONS = 3
/** How much of an inspiration is looked at, in characters. */
const MAX_INSPIRATION = 2_000
/** Placeholders that a hint names. */
const MAX_NAMED = 10
/** The `model` that the built-in improver reports. */
export const BUILT_IN_IMPROVER = 'commonplace/offline'
const DAY_MS = 86_400_000

/** The caller that a call is counted for: the person, whatever key they come with, as anybody can make more keys. */
function nameCaller({ actor }: Needs): string {
  return `user ${requireUser(actor).userId}`
}

/** Refuses a prompt that fits into no day: waiting for the next one would not help. */
function checkFitsDay({ improver: { budget } }: Needs<never, 'improver'>, characters: number): void {
  if (budget.characters !== null && characters > budget.characters) {
    throw invalidInput(
      'prompt',
      `prompt has ${characters} characters; the daily limit per person is ${budget.characters}. Send a shorter one.`,
    )
  }
}

/** Counts the call against the caller's day. @throws AppError `rate_limited` when the day's budget is used up */
async function spend(
  { store, clock, improver: { budget } }: Needs<'budgets', 'clock' | 'improver'>,
  caller: string,
  characters: number,
): Promise<void> {
  if (budget.requests === null && budget.characters === null) return
  const now = clock()
  const day = new Date(now).toISOString().slice(0, 10)
  if (await store.budgets.spendImproveBudget({ caller, day, characters }, budget)) return
  const limits = [
    ...(budget.requests === null ? [] : [`${budget.requests} requests`]),
    ...(budget.characters === null ? [] : [`${budget.characters} characters`]),
  ]
  const retryAfterSeconds = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000)
  const message = `Daily limit for improving prompts reached: ${limits.join(' and ')} per person. It resets at midnight UTC.`
  throw new AppError('rate_limited', message, { retryAfterSeconds })
}

/** Blanks in other notations, and that the built-in rules (`improved` is theirs, else null) found nothing to add. */
function toHints(prompt: string, improved: string | null): { hints?: string[] } {
  const placeholders = [...findPlaceholders(prompt)].slice(0, MAX_NAMED)
  const hints = [
    ...(placeholders.length === 0
      ? []
      : [`Not variables yet: ${placeholders.map(([raw, variable]) => `${raw} (write ${variable})`).join(', ')}.`]),
    ...(improved === prompt ? ['The built-in rules found nothing to add. IMPROVE_MODEL sets a language model that rewrites prompts.'] : []),
  ]
  return hints.length === 0 ? {} : { hints }
}

export const improvePrompt = defineOperation({
  name: 'improve_prompt',
  title: 'Improve a prompt',
  summary:
    'Rewrite a prompt to work better while keeping its intent and its ${variables}, using similar public prompts as examples. Nothing is saved.',
  scope: 'improve',
  cost: 10,
  isStreamed: true,
  surfaces: {
    mcp: { readOnly: true, idempotent: false, openWorld: true, note: 'To save the result, use save_prompt.' },
    rest: 'POST /api/improve-prompt',
    cli: 'improve prompt',
  },
  input: z.object({
    prompt: textField({ max: MAX_PROMPT, blank: false }).describe('The prompt to improve'),
    outputType: z.enum(OUTPUT_TYPES).default('text').describe('What the prompt should produce'),
    outputFormat: z.enum(OUTPUT_FORMATS).default('text').describe('Format of the improved prompt'),
  }),
  output: z.object({
    original: z.string(),
    improved: z.string(),
    outputType: z.enum(OUTPUT_TYPES),
    outputFormat: z.enum(OUTPUT_FORMATS),
    inspirations: z.array(z.object({ id: z.string(), slug: z.string(), title: z.string(), similarity: z.number().int().min(0).max(100) })),
    model: z.string(),
    ...hintsOutput,
  }),
  async run(context: Needs<'budgets', 'clock' | 'findSimilar' | 'improver'>, input) {
    const { findSimilar, improver, signal, onText } = context
    const { model } = improver
    const caller = nameCaller(context)
    const characters = countCharacters(input.prompt)
    checkFitsDay(context, characters)
    const leave = model ? improver.enter(caller) : () => {}
    try {
      await spend(context, caller, characters)
      // Whoever sees nothing but some items learns nothing of others either.
      const similar = withinOf(context.actor)
        ? []
        : await findSimilar(input.prompt, { types: FITTING_TYPES[input.outputType], limit: MAX_INSPIRATIONS, signal })
      const inspirations = similar.map(({ prompt }) => ({ title: prompt.title, content: cutCharacters(prompt.content, MAX_INSPIRATION) }))
      const request = { ...input, inspirations }
      const deadline = AbortSignal.timeout(improver.timeoutMs)
      const improved = model ? await improveWithModel(model, request, improver, { deadline, signal, onText }) : improveWithoutModel(request)
      if (!model) await onText?.({ kind: 'delta', text: improved })
      return {
        original: input.prompt,
        improved,
        outputType: input.outputType,
        outputFormat: input.outputFormat,
        inspirations: similar.map(({ prompt: { id, slug, title }, similarity }) => ({ id, slug, title, similarity })),
        model: model?.name ?? BUILT_IN_IMPROVER,
        // The shape over REST is fixed by its specification (contract, "REST").
        ...(context.surface === 'rest' ? {} : toHints(input.prompt, model ? null : improved)),
      }
    } finally {
      leave()
    }
  },
})
