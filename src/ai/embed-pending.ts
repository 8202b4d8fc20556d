import { AppError, toAppError } from '../errors.ts'
import type { EmbeddingStore, UnembeddedItem } from '../library/ports/embeddings.ts'
import type { TextEmbedder } from '../library/ports/models.ts'
import { withRenewedClaims } from './renew-claims.ts'

/** Texts of one request, and their characters (UTF-16 units) in all. */
const MAX_BATCH_TEXTS = 32
const MAX_BATCH_LENGTH = 64_000
/** Longest time one request may take, trying again included. */
const TIMEOUT_MS = 60_000
/** A harmless text that probes the provider. */
export const PROBE = 'prompt'

/** One pass over what has no vector. */
export interface EmbeddingRun {
  readonly store: EmbeddingStore
  readonly embedder: TextEmbedder
  readonly signal: AbortSignal
  /** Also embeds items claimed by other instances, for a full rebuild. */
  readonly stealsClaims?: boolean
  /** Start position of `listUnembedded`. It advances with each saved batch, so that a failed run resumes there. */
  position: number
  /** Digests of texts the provider refused: not sent again. */
  readonly refused: Set<string>
  /** Called after each saved batch. */
  onSaved(count: number): void
  /** Called for each item whose text the provider rejected. */
  onRefused(id: string): void
}

/**
 * Embeds every public item beyond a position that has no vector of the model, a batch at a time, one request after the other.
 * @throws AppError `upstream_failed` when the provider fails, or refuses whatever it is sent; what `signal` was aborted with
 */
export async function embedPending(run: EmbeddingRun): Promise<void> {
  const { store, embedder, stealsClaims = false } = run
  await withRenewedClaims(store, embedder.model, async () => {
    for (;;) {
      run.signal.throwIfAborted()
      const { items, position } = await store.listUnembedded(embedder.model, run.position, MAX_BATCH_TEXTS, { stealsClaims })
      for (const batch of batchesOf(items.filter((item) => !run.refused.has(item.digest)))) await embedBatch(run, batch)
      run.position = position
      if (items.length === 0) return
    }
  })
}

/** Parts of at most {@link MAX_BATCH_LENGTH}, of one item at least. */
function* batchesOf(items: readonly UnembeddedItem[]): Generator<UnembeddedItem[]> {
  let batch: UnembeddedItem[] = []
  let length = 0
  for (const item of items) {
    if (batch.length > 0 && length + item.text.length > MAX_BATCH_LENGTH) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(item)
    length += item.text.length
  }
  if (batch.length > 0) yield batch
}

/** Embeds and saves a batch. A rejected batch is halved until a single text is rejected. */
async function embedBatch(run: EmbeddingRun, batch: readonly UnembeddedItem[]): Promise<void> {
  const vectors = await embedUnlessRefused(
    run,
    batch.map((item) => item.text),
  )
  if (vectors) {
    const embeddings = batch.flatMap((item, place) => {
      const vector = vectors[place]
      return vector ? [{ item, vector }] : []
    })
    run.onSaved(await run.store.saveEmbeddings(run.embedder.model, embeddings))
    return
  }
  const [first, ...others] = batch
  if (!first) return
  if (others.length === 0) {
    if (!(await embedUnlessRefused(run, [PROBE]))) {
      throw new AppError('upstream_failed', `The embedding model ${run.embedder.model} rejects every text. Check EMBEDDINGS_MODEL.`)
    }
    run.refused.add(first.digest)
    run.onRefused(first.id)
    return
  }
  const middle = Math.ceil(batch.length / 2)
  await embedBatch(run, batch.slice(0, middle))
  await embedBatch(run, batch.slice(middle))
}

/** null: the provider refuses the texts. */
async function embedUnlessRefused({ embedder, signal }: EmbeddingRun, texts: readonly string[]): Promise<Float32Array[] | null> {
  try {
    return await embedder.embed(texts, { purpose: 'item', timeoutMs: TIMEOUT_MS, signal })
  } catch (error) {
    signal.throwIfAborted()
    if (toAppError(error).code === 'invalid_input') return null
    throw error
  }
}
