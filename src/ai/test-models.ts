import pLimit, { type LimitFunction } from 'p-limit'
import type { TestModels } from '../domain/ports/models.ts'
import { createTally } from '../domain/service/tally.ts'
import { AppError } from '../errors.ts'
import { checkAnswer } from './answer-checks.ts'
import type { ImproveSettings } from './improver.ts'
import { type ModelSettings, resolveModel } from './providers.ts'

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
