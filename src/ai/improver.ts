import { readFileSync, statSync } from 'node:fs'
import type { ImproveBudget, Improver } from '../domain/ports/models.ts'
import { createTally } from '../domain/service/tally.ts'
import { isBlank } from '../domain/text/characters.ts'
import { AppError } from '../errors.ts'
import { SYSTEM_PROMPT } from '../improve/with-model/system-prompt.ts'
import { type ModelSettings, resolveModel } from './providers.ts'

/** How prompts are improved, as an operator sets it. */
export interface ImproveSettings extends ModelSettings {
  readonly timeoutMs: number
  readonly maxOutputTokens: number
  /** Calls to the model at once. */
  readonly concurrency: number
  readonly budget: ImproveBudget
  /** A file with the system prompt; null for the built-in one. */
  readonly systemPromptFile: string | null
}

/** Largest file taken as a system prompt, in bytes. */
const MAX_SYSTEM_PROMPT_BYTES = 64 * 1024
/** When to try again while all places are taken. */
const PLACE_RETRY_SECONDS = 5
/** Counts the calls of all callers. */
const EVERYBODY = '*'
/** Letters in the marks of delimiters: some 80 bits. */
const MARK_LETTERS = 16

/**
 * Creates the improver without loading or calling a model.
 * @param drawLetters that many random letters of `a-z 0-9`
 * @throws AppError `invalid_input` for a model that cannot be used, or a system prompt that cannot be read
 */
export function createImprover(settings: ImproveSettings, drawLetters: (length: number) => string): Improver {
  const maxOfCaller = Math.max(1, Math.floor(settings.concurrency / 2))
  const improving = createTally()
  return {
    model: resolveModel(settings),
    systemPrompt: settings.systemPromptFile === null ? SYSTEM_PROMPT : readSystemPrompt(settings.systemPromptFile),
    maxOutputTokens: settings.maxOutputTokens,
    timeoutMs: settings.timeoutMs,
    budget: settings.budget,
    drawLetters: () => drawLetters(MARK_LETTERS),
    enter(caller) {
      const [own, taken] = [improving.of(caller), improving.of(EVERYBODY)]
      const held = own >= maxOfCaller ? `${own} prompts of yours` : taken >= settings.concurrency ? `${taken} prompts` : null
      if (held !== null) {
        throw new AppError('unavailable', `${held} are being improved already, as many as may be at once; try again in a moment.`, {
          retryAfterSeconds: PLACE_RETRY_SECONDS,
        })
      }
      const leave = [improving.add(caller), improving.add(EVERYBODY)]
      return () => {
        for (const subtract of leave) subtract()
      }
    },
  }
}

/** @throws AppError `invalid_input` when the file cannot be read, is too large, no UTF-8, or blank */
function readSystemPrompt(path: string): string {
  const refuse = (fault: string, cause?: unknown) =>
    new AppError('invalid_input', `IMPROVE_SYSTEM_PROMPT_FILE: ${path} ${fault}.`, { cause })
  const text = readText(path, refuse)
  if (isBlank(text)) throw refuse('is blank')
  return text
}

function readText(path: string, refuse: (fault: string, cause?: unknown) => AppError): string {
  try {
    const file = statSync(path)
    // A pipe or a device could be read without end.
    if (!file.isFile()) throw refuse('is not a file')
    if (file.size > MAX_SYSTEM_PROMPT_BYTES) throw refuse(`exceeds ${MAX_SYSTEM_PROMPT_BYTES} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof AppError) throw error
    throw refuse('cannot be read as UTF-8 text', error)
  }
}
