import { readFileSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import pLimit, { type LimitFunction } from 'p-limit'
import type { ImproveBudget, Improver, TestModels } from '../domain/ports/models.ts'
import { createTally } from '../domain/service/running-work.ts'
import { isBlank } from '../domain/text/characters.ts'
import { AppError } from '../errors.ts'
import { SYSTEM_PROMPT } from '../improve/improve-with-model.ts'
import type { Question } from './check-worker.ts'
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

/** How long one check may take, and how long the thread stays without any. */
const MAX_MS = 5_000
const IDLE_MS = 60_000
/** Memory of the thread. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

const oneAtATime = pLimit(1)
let worker: Worker | null = null
let idle: NodeJS.Timeout | undefined
/** Takes the answer of the thread, undefined where there is none. */
let take: (answer: boolean | null | undefined) => void = () => {}

/** Whether an answer meets a schema or a pattern. Checks run in a thread, one at a time. @see TestModels.checkAnswer */
function checkAnswer(question: Question): Promise<boolean | 'unusable' | 'slow'> {
  return oneAtATime(() => ask(question))
}

async function ask(question: Question): Promise<boolean | 'unusable' | 'slow'> {
  clearTimeout(idle)
  worker ??= start()
  const thread = worker
  const answer = await new Promise<boolean | null | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), MAX_MS)
    take = (outcome) => {
      clearTimeout(timer)
      resolve(outcome)
    }
    try {
      thread.postMessage(question)
    } catch {
      // It is nested too deep to be passed on.
      take(null)
    }
  })
  take = () => {}
  if (answer === undefined) stop()
  else idle = setTimeout(stop, IDLE_MS).unref()
  return answer === undefined ? 'slow' : (answer ?? 'unusable')
}

function start(): Worker {
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './check-worker.ts' : './check-worker.js', import.meta.url), { resourceLimits: LIMITS })
  const pass = (answer: boolean | null | undefined) => {
    if (started === worker) take(answer)
  }
  started.on('message', pass)
  const onEnd = () => {
    pass(undefined)
    if (started === worker) worker = null
  }
  started.on('error', onEnd)
  started.on('exit', onEnd)
  // After the listeners: one for messages keeps the process alive.
  started.unref()
  return started
}

function stop(): void {
  const ended = worker
  worker = null
  void ended?.terminate()
}

/** Runs of one caller at once. */
const MAX_RUNNING = 4
/** Calls to models of one caller that may stand in the queue of all. */
const MAX_ASKING = 2
const RETRY_SECONDS = 30

/** A model that tests may ask, as settings name it. Prices are US dollars per million tokens. */
interface NamedModel {
  readonly name: string
  readonly price: { readonly input: number; readonly output: number } | null
}

export interface TestSettings extends Pick<TestModels, 'dailyTokens' | 'dailyUsd'> {
  readonly models: readonly NamedModel[]
}

/**
 * The models of the settings, and work that goes on after the call it was made in; `stop` ends it.
 * @throws AppError `invalid_input` for a model without a provider, a key, or the price that a budget needs
 */
export function createTestModels(
  { models, ...limits }: TestSettings,
  keys: Pick<ImproveSettings, 'concurrency'> & ModelSettings,
): TestModels & { stop(): Promise<void> } {
  const stopping = new AbortController()
  const working = new Set<Promise<void>>()
  const running = createTally()
  const cancelling = new Map<string, AbortController>()
  const places = pLimit(Math.max(1, Math.floor(keys.concurrency / 2)))
  /** Calls of each caller that wait for one of the places. */
  const waiting = new Map<string, LimitFunction>()
  const unpriced = models.find(({ price }) => price === null)
  if (limits.dailyUsd !== null && unpriced)
    throw new AppError(
      'invalid_input',
      `TEST_DAILY_USD needs the price of ${unpriced.name} in TEST_MODELS, such as ${unpriced.name}=1.25/10.`,
    )
  return {
    ...limits,
    models: new Map(
      models.flatMap(({ name, price }) => {
        const model = resolveModel({ ...keys, model: name })
        return model ? [[name, { model, price }] as const] : []
      }),
    ),
    async inPlace(caller, work) {
      const own = waiting.get(caller) ?? pLimit(MAX_ASKING)
      waiting.set(caller, own)
      try {
        return await own(() => places(work))
      } finally {
        if (own.activeCount + own.pendingCount === 0) waiting.delete(caller)
      }
    },
    checkAnswer,
    stopping: stopping.signal,
    cancel: (key) => cancelling.get(key)?.abort(),
    async untilCancelled(key, signal, work) {
      const cancelled = new AbortController()
      cancelling.set(key, cancelled)
      try {
        await work(AbortSignal.any([signal, cancelled.signal]))
      } finally {
        cancelling.delete(key)
      }
    },
    async inBackground(caller, begin, work) {
      const own = running.of(caller)
      if (own >= MAX_RUNNING)
        throw new AppError('unavailable', `${own} runs of yours go on, as many as may be at once.`, { retryAfterSeconds: RETRY_SECONDS })
      const leave = running.add(caller)
      try {
        const made = await begin()
        // Failures are reported where they occur; a run that cannot be ended stays as it was last written.
        const failed = work(made, stopping.signal).catch(() => {})
        const done = failed.finally(() => {
          working.delete(done)
          leave()
        })
        working.add(done)
        return { made, done }
      } catch (error) {
        leave()
        throw error
      }
    },
    async stop() {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
