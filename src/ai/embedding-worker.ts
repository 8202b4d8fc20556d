import { toAppError } from '../errors.ts'
import type { EmbeddingStore } from '../library/ports/embeddings.ts'
import type { TextEmbedder } from '../library/ports/models.ts'
import { backOffMs, type Patience } from './back-off.ts'
import { type EmbeddingRun, embedPending } from './embed-pending.ts'

/** Poll interval for changes by other processes. */
const POLL_MS = 60_000
const FIRST_RETRY_MS = 1000
const MOST_RETRY_MS = 5 * 60_000

/** Embeds public items in the background. Its only state is which items have no embedding, so it resumes after a restart. */
export interface EmbeddingWorker {
  start(onRemark: (message: string) => void): void
  /** Tells it that something was written. */
  wake(): void
  /** Whether the last that it asked of the provider was answered. */
  readonly isUp: boolean
  /** Texts embedded and kept, failures, and texts the provider refused, since the start. */
  readonly counts: Readonly<{ embedded: number; failures: number; refused: number }>
  /** Ends the request under way, and resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** A background worker, idle until started. It never throws and never delays writers. */
export function createEmbeddingWorker(store: EmbeddingStore, embedder: TextEmbedder, patience: Patience): EmbeddingWorker {
  const closed = new AbortController()
  const counts = { embedded: 0, failures: 0, refused: 0 }
  let running: Promise<void> | null = null
  let idle = new AbortController()
  let failuresInARow = 0
  let isTidy = false
  const recover = (onRemark: (message: string) => void): void => {
    if (failuresInARow > 0) onRemark('The embedding model is available again.')
    failuresInARow = 0
  }

  /** Longest wait for a change. Claims of a dead instance expire sooner. */
  const pauseMs = async ({ refused }: EmbeddingRun): Promise<number> => {
    if (store.claimMs === null) return POLL_MS
    const { pending } = await store.countEmbeddings(embedder.model)
    return pending > refused.size ? store.claimMs : POLL_MS
  }

  const work = async (onRemark: (message: string) => void): Promise<void> => {
    const run: EmbeddingRun = {
      store,
      embedder,
      signal: closed.signal,
      position: 0,
      refused: new Set(),
      onSaved: (count) => {
        counts.embedded += count
        recover(onRemark)
      },
      onRefused: (id) => {
        counts.refused++
        onRemark(`The embedding model rejected the text of item ${id}; the item is skipped until its text changes or the service restarts.`)
      },
    }
    while (!closed.signal.aborted) {
      try {
        idle = new AbortController()
        await embedPending(run)
        recover(onRemark)
        // Only when all is done: until then an operator may go back to the model before at no cost.
        if (!isTidy) await store.forgetEmbeddings(embedder.model)
        isTidy = true
        await waitFor(await pauseMs(run), AbortSignal.any([closed.signal, idle.signal]))
        // Others may have written, which is found beyond the position, or forgotten vectors, which is not.
        if (!idle.signal.aborted && (await store.countEmbeddings(embedder.model)).pending > 0) run.position = 0
      } catch (thrown) {
        if (closed.signal.aborted) return
        const error = toAppError(thrown)
        counts.failures++
        if (failuresInARow === 0) onRemark(`${error.message} Embedding will be retried; search works without it.`)
        failuresInARow++
        const waitMs = backOffMs(failuresInARow, FIRST_RETRY_MS, MOST_RETRY_MS, patience.fraction())
        await waitFor(Math.max(waitMs, (error.retryAfterSeconds ?? 0) * 1000), closed.signal)
      }
    }
  }
  /** Also ends when the signal is aborted. */
  const waitFor = async (ms: number, signal: AbortSignal): Promise<void> => {
    await patience.wait(ms, signal).catch(() => {})
  }
  return {
    counts,
    get isUp() {
      return failuresInARow === 0
    },
    start(onRemark) {
      running ??= work(onRemark)
    },
    wake: () => idle.abort(),
    async stop() {
      closed.abort()
      await running
    },
  }
}
