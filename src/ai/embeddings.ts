import type { EmbeddingStore } from '../library/ports/embeddings.ts'
import type { EmbedQuery } from '../library/ports/models.ts'
import type { Patience } from './back-off.ts'
import { embedPending } from './embed-pending.ts'
import { createEmbeddingWorker } from './embedding-worker.ts'
import { createQueryEmbedder } from './query-embedder.ts'
import { createTextEmbedder, type EmbeddingSettings } from './text-embedder.ts'

/** A provider of embeddings at work: for queries when they come, for items in the background. */
export interface Embeddings {
  readonly model: string
  readonly embedQuery: EmbedQuery
  /** Whether the provider answered when it was last asked. */
  readonly isUp: boolean
  /** What happened since the start: items, queries, and failures of both. */
  counts(): {
    readonly items: { readonly embedded: number; readonly failures: number; readonly refused: number }
    readonly queries: { readonly sent: number; readonly cached: number; readonly fellBack: number; readonly failures: number }
  }
  /** Begins to embed items in the background; `onRemark` hears what an operator should know. */
  start(onRemark: (message: string) => void): void
  /** Tells that something was written. */
  wake(): void
  /**
   * Embeds all that has no vector, here and now.
   * @throws AppError `upstream_failed`
   */
  embedAll(listener: { onSaved(count: number): void; onRefused(id: string): void }): Promise<void>
  /** Ends what is under way. */
  stop(): Promise<void>
}

/** Makes a provider ready; nobody is asked yet. */
export function createEmbeddings(settings: EmbeddingSettings, store: EmbeddingStore, patience: Patience): Embeddings {
  const embedder = createTextEmbedder(settings)
  const queries = createQueryEmbedder(embedder, patience)
  const worker = createEmbeddingWorker(store, embedder, patience)
  const closed = new AbortController()
  return {
    model: settings.model,
    embedQuery: queries.embed,
    get isUp() {
      return queries.isUp && worker.isUp
    },
    counts: () => ({ items: worker.counts, queries: queries.counts }),
    start(onRemark) {
      queries.probe()
      worker.start(onRemark)
    },
    wake: worker.wake,
    embedAll: (listener) =>
      embedPending({ store, embedder, signal: closed.signal, position: 0, refused: new Set(), stealsClaims: true, ...listener }),
    async stop() {
      closed.abort()
      queries.stop()
      await worker.stop()
    },
  }
}
