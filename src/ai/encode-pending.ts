import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Encoder } from '../domain/ports/encoder.ts'
import type { ChangeRange, ItemVectorStore, UnencodedItem } from '../domain/ports/item-vectors.ts'
import { unlessAborted } from '../domain/service/unless-aborted.ts'

/** Claims items for a while. */
interface ClaimingStore {
  /** Lease time in milliseconds; null for a single instance. */
  readonly claimMs: number | null
  renewClaims(model: string): Promise<void>
}

/** Renews this instance's claims on items of a model until `work` ends. */
async function withRenewedClaims<T>(store: ClaimingStore, model: string, work: () => Promise<T>): Promise<T> {
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
export async function encodePending(run: EncodingRun): Promise<boolean> {
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
export async function saveVectors({ store, encoder, unsaved, onSaved }: EncodingRun): Promise<void> {
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
