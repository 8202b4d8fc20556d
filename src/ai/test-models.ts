import type { TestModels } from '../domain/ports/models.ts'
import { type ModelSettings, resolveModel } from './providers.ts'

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
 * @throws AppError `invalid_input` for a model without a provider or a key
 */
export function createTestModels({ models, ...limits }: TestSettings, keys: ModelSettings): TestModels & { stop(): Promise<void> } {
  const stopping = new AbortController()
  const working = new Set<Promise<void>>()
  return {
    ...limits,
    models: new Map(
      models.flatMap(({ name, price }) => {
        const model = resolveModel({ ...keys, model: name })
        return model ? [[name, { model, price }] as const] : []
      }),
    ),
    async inBackground(work) {
      const started = work(stopping.signal).catch(() => {})
      working.add(started)
      await started
      working.delete(started)
    },
    async stop() {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
