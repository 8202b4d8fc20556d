import type { Encoder } from '../domain/ports/encoder.ts'
import type { ItemVectorStore, VectorCounts } from '../domain/ports/item-vectors.ts'
import { AppError, toAppError } from '../errors.ts'
import { backOffMs, type Patience } from './back-off.ts'
import { type EncodingRun, encodePending, saveVectors } from './encode-pending.ts'
import { loadPreparedVectors } from './prepared-vectors.ts'

/** Poll interval for changes by other processes. */
const POLL_MS = 2000
/** Polls after which the items with a vector are counted: something may have deleted vectors without changing items. */
const POLLS_A_COUNT = 30
/** Poll interval for an encoder that cannot encode. */
const ENCODER_POLL_MS = 500
const FIRST_RETRY_MS = 1000
const MOST_RETRY_MS = 60_000

/** Encodes items in the background. Its only state is which items have no vector, so it resumes after a restart. */
export type ItemEncoding = ReturnType<typeof createItemEncoding>

/** A background job, idle until started. It never throws and never delays writers. */
export function createItemEncoding(
  encoder: Encoder,
  store: ItemVectorStore,
  patience: Patience,
  loadPrepared: typeof loadPreparedVectors = loadPreparedVectors,
) {
  const { model } = encoder
  const closed = new AbortController()
  const counts = { encoded: 0, failures: 0, failedItems: 0 }
  let running: Promise<void> | null = null
  let run: EncodingRun | null = null
  let idle = new AbortController()

  const begin = (onRemark: (message: string) => void, listener: Pick<EncodingRun, 'onSaved' | 'onFailed'>): EncodingRun => ({
    store,
    encoder,
    prepared: loadPrepared(model, onRemark),
    signal: closed.signal,
    ranges: [],
    lastChange: 0,
    unsaved: [],
    unsavedSince: 0,
    skipsClaimed: false,
    isPending: true,
    attempts: new Map(),
    failed: new Set(),
    ...listener,
  })

  const work = async (current: EncodingRun, onRemark: (message: string) => void): Promise<void> => {
    let failuresInARow = 0
    let polls = 0
    let hasLooked = false
    let isTidy = false
    while (!closed.signal.aborted) {
      try {
        idle = new AbortController()
        if (!hasLooked) await skipIfDone(current)
        hasLooked = true
        const isReady = await encodePending(current)
        if (failuresInARow > 0) onRemark('The library can be used again: encoding continues.')
        failuresInARow = 0
        if (!isReady) {
          await waitFor(ENCODER_POLL_MS, closed.signal)
          continue
        }
        current.isPending = current.skipsClaimed
        // Only when all is done: until then an operator may go back to the version before at no cost.
        if (!isTidy && !current.isPending) {
          await store.forgetOtherVectors(model)
          isTidy = true
        }
        await waitFor(POLL_MS, AbortSignal.any([closed.signal, idle.signal]))
        polls++
        if (await isLookDue(current, polls)) {
          polls = 0
          current.skipsClaimed = false
          current.lastChange = 0
        }
      } catch (thrown) {
        if (closed.signal.aborted) break
        counts.failures++
        if (failuresInARow === 0) onRemark(`${toAppError(thrown).message} Encoding will be retried; search works without it.`)
        failuresInARow++
        await waitFor(backOffMs(failuresInARow, FIRST_RETRY_MS, MOST_RETRY_MS, patience.fraction()), closed.signal)
      }
    }
    // Lost vectors are made again after the next start.
    await saveVectors(current).catch(() => {})
  }
  /** Also ends when the signal is aborted. */
  const waitFor = async (ms: number, signal: AbortSignal): Promise<void> => {
    await patience.wait(ms, signal).catch(() => {})
  }
  /** At the start of a library whose items all have a vector, nothing is looked through. */
  const skipIfDone = async (current: EncodingRun): Promise<void> => {
    const lastChange = await store.readLastChange()
    if ((await store.countVectors(encoder)).pending === 0) current.lastChange = lastChange
  }
  /** Whether to look at all items again: those left to an instance that may be gone, and vectors that somebody deleted. */
  const isLookDue = async ({ skipsClaimed, failed }: EncodingRun, polls: number): Promise<boolean> => {
    if (skipsClaimed) return polls * POLL_MS >= (store.claimMs ?? 0)
    return polls % POLLS_A_COUNT === 0 && (await store.countVectors(encoder)).pending > failed.size
  }
  return {
    model,
    /** Items encoded and saved, failures of the library, and items the encoder failed on, since the start. */
    counts,
    /** `embedding` while items lack a vector or the encoder starts; `fallback` when the encoder cannot be loaded. */
    get state() {
      const state = encoder.state()
      if (state === 'fallback') return 'fallback'
      return state === 'ready' && run?.isPending === false ? 'ready' : 'embedding'
    },
    /** May count private items: for operators alone. */
    countItems: (): Promise<VectorCounts> => store.countVectors(encoder),
    /** Begins; `onRemark` gets messages for the operator. */
    start(onRemark: (message: string) => void): void {
      encoder.start()
      run ??= begin(onRemark, {
        onSaved: (count) => {
          counts.encoded += count
        },
        onFailed: (id) => {
          counts.failedItems++
          onRemark(`The encoder failed on item ${id}; search finds it by words until its text changes or the service restarts.`)
        },
      })
      running ??= work(run, onRemark)
    },
    /** Tells it that something was written. */
    wake: (): void => idle.abort(),
    /**
     * Encodes all that has no vector, here and now.
     * @throws AppError `upstream_failed` when the encoder cannot
     */
    async encodeAll(listener: { onSaved(count: number): void; onFailed(id: string): void }): Promise<void> {
      encoder.start()
      const current = begin(() => {}, listener)
      // Waits keep no process alive, and this one has nothing else to do.
      const alive = setInterval(() => {}, POLL_MS)
      try {
        for (;;) {
          const isReady = await encodePending(current)
          const fault = encoder.fault()
          if (!isReady && fault !== null) throw new AppError('upstream_failed', fault)
          if (isReady && !current.skipsClaimed) return
          await waitFor(isReady ? (store.claimMs ?? 0) : ENCODER_POLL_MS, closed.signal)
          if (!isReady) continue
          // Another instance had claimed the rest.
          current.skipsClaimed = false
          current.lastChange = 0
        }
      } finally {
        clearInterval(alive)
      }
    },
    /** Saves the vectors that are done, and resolves when nothing runs any more. */
    async stop(): Promise<void> {
      closed.abort()
      await running
    },
  }
}
