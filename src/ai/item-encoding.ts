import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeRange, Encoder, UnencodedItem, VectorCounts } from '../domain/ports/encoder.ts'
import { unlessAborted } from '../domain/service/running-work.ts'
import { AppError, toAppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { loadPreparedVectors } from './kept-vectors.ts'
import { backOffMs, type Patience } from './model-requests.ts'

type ItemVectorStore = LibraryStore['itemVectors']

/** Renews this instance's claims on items of a model until `work` ends. */
async function withRenewedClaims<T>(
  store: Pick<ItemVectorStore, 'claimMs' | 'renewClaims'>,
  model: string,
  work: () => Promise<T>,
): Promise<T> {
  // A claim that could not be renewed only lets another instance do the same work.
  const renewing = store.claimMs === null ? undefined : setInterval(() => void store.renewClaims(model).catch(() => {}), store.claimMs / 3)
  renewing?.unref()
  try {
    return await work()
  } finally {
    clearInterval(renewing)
  }
}

/** Items read, and claimed, at once, or as many as one call of the encoder takes: about a second of work. */
const ITEMS_A_LIST = 8
/** Longest time a vector waits for others to be saved with it: each save empties the caches of answers. */
const SAVE_MS = 1000
/** Attempts to encode one item. */
const MAX_ATTEMPTS = 3
/** Ranges kept apart. More are joined, which only reads rows again. */
const MAX_RANGES = 100

/** The work on all items without a vector, which can be left and resumed. */
export interface EncodingRun {
  readonly store: ItemVectorStore
  readonly encoder: Encoder
  /** Vectors made earlier, by the digest of the item's text. */
  readonly prepared: ReadonlyMap<string, Int8Array>
  readonly signal: AbortSignal
  /** Changes not looked at yet: disjoint, the latest last. */
  readonly ranges: ChangeRange[]
  /** The last change that is in a range or done. */
  lastChange: number
  /** Vectors to save, and since when (`performance.now()`) the first of them waits. */
  readonly unsaved: { item: UnencodedItem; vector: Int8Array }[]
  unsavedSince: number
  /** Whether items were left to other instances. */
  skipsClaimed: boolean
  /** Whether there may be items without a vector. */
  isPending: boolean
  /** Attempts that failed, by the digest of the text, and the digests on which no more are made. */
  readonly attempts: Map<string, number>
  readonly failed: Set<string>
  onSaved(count: number): void
  /** Called for each item the encoder failed on. */
  onFailed(id: string): void
}

/**
 * Encodes every item without a vector, one after the other, the last changed first. What is written meanwhile comes before what is older.
 * @returns false when the encoder cannot encode now; the next call continues
 * @throws AppError when the store fails; what `signal` was aborted with
 */
async function encodePending(run: EncodingRun): Promise<boolean> {
  const { store, encoder, ranges } = run
  // Without a ready encoder nothing is claimed, so that other instances can do the work.
  return await withRenewedClaims(store, encoder.model, async () => {
    let isReady = encoder.state() === 'ready'
    while (isReady) {
      run.signal.throwIfAborted()
      await saveIfDue(run)
      await addNewChanges(run)
      const range = ranges.pop()
      if (!range) break
      isReady = await encodeLatest(run, range)
    }
    await saveVectors(run)
    return isReady
  })
}

/** Saves the vectors that wait. */
async function saveVectors({ store, encoder, unsaved, onSaved }: EncodingRun): Promise<void> {
  if (unsaved.length === 0) return
  const saved = await store.saveVectors(encoder, unsaved)
  unsaved.length = 0
  onSaved(saved)
}

async function saveIfDue(run: EncodingRun): Promise<void> {
  if (performance.now() - run.unsavedSince >= SAVE_MS) await saveVectors(run)
}

async function addNewChanges(run: EncodingRun): Promise<void> {
  const { ranges, lastChange: after } = run
  const upTo = await run.store.readLastChange()
  if (upTo <= after) return
  ranges.push({ after, upTo, isFirst: after === 0 })
  run.lastChange = upTo
  if (ranges.length > MAX_RANGES) ranges.splice(0, ranges.length, { after: ranges[0]?.after ?? 0, upTo })
}

/**
 * Encodes the latest items of a range until something newer is written, and puts the rest of the range back.
 * @returns false when the encoder cannot encode now
 */
async function encodeLatest(run: EncodingRun, range: ChangeRange): Promise<boolean> {
  const { store, encoder, ranges } = run
  const { after } = range
  let { upTo } = range
  try {
    const { items, ...listed } = await store.listUnencoded(encoder, range, Math.max(ITEMS_A_LIST, encoder.batchSize))
    if (listed.skipsClaimed) run.skipsClaimed = true
    for (let at = 0; at < items.length; ) {
      const { done, isReady } = await encodeFirst(run, items.slice(at))
      at += done
      upTo = (items[at - 1]?.position ?? upTo + 1) - 1
      if (!isReady) return false
      await saveIfDue(run)
      await nextTurn()
      if ((await store.readLastChange()) > run.lastChange) return true
    }
    upTo = listed.upTo
    return true
  } finally {
    if (upTo > after) ranges.push({ after, upTo })
  }
}

/** Encodes the first of some items. Gives how many need no further attempt, and whether the encoder can go on now. */
async function encodeFirst(run: EncodingRun, items: readonly UnencodedItem[]): Promise<{ done: number; isReady: boolean }> {
  const { prepared, encoder, failed, signal } = run
  run.isPending = true
  const needsNone = ({ digest }: UnencodedItem) => failed.has(digest) || prepared.has(digest)
  const end = items.findIndex(needsNone)
  const [first] = items
  if (end === 0 && first) {
    const vector = prepared.get(first.digest)
    if (vector) keep(run, first, vector)
    return { done: 1, isReady: true }
  }
  const batch = items.slice(0, Math.min(encoder.batchSize, end < 0 ? items.length : end))
  const texts = batch.map(({ text }) => text)
  // An encoder that throws must not hold up the other items.
  const vectors = await unlessAborted(
    encoder.encodeItems(texts, signal).catch(() => [null]),
    signal,
  )
  if (!vectors) return { done: 0, isReady: false }
  let done = 0
  for (const [place, vector] of vectors.entries()) {
    const item = batch[place]
    if (!item) break
    if (vector) keep(run, item, vector)
    const isDone = vector !== null || hasFailed(run, item)
    if (isDone && done === place) done++
  }
  return { done, isReady: done > 0 && done === vectors.length }
}

function keep(run: EncodingRun, item: UnencodedItem, vector: Int8Array): void {
  run.attempts.delete(item.digest)
  if (run.unsaved.length === 0) run.unsavedSince = performance.now()
  run.unsaved.push({ item, vector })
}

/** Notes that the encoder has no vector of an item. Gives whether no more attempts are made. */
function hasFailed({ attempts, failed, onFailed }: EncodingRun, { id, digest }: UnencodedItem): boolean {
  const count = (attempts.get(digest) ?? 0) + 1
  attempts.set(digest, count)
  if (count < MAX_ATTEMPTS) return false
  failed.add(digest)
  onFailed(id)
  return true
}

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
