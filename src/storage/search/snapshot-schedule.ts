import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { SearchReader } from './search-reader.ts'

/** Smaller libraries are read from their tables in well under a second. */
const MIN_ITEMS = 2_000
/** Changes since the last snapshot that make a new one worth its time: this share of the items, and at least so many. */
const CHANGED_SHARE = 0.02
const MIN_CHANGES = 500
const LOOK_MS = 30_000
/** Between two snapshots at least this, and this many times as long as the last one took. */
const MIN_PAUSE_MS = 5 * 60_000
const PAUSE_FACTOR = 50
/** After one that could not be written: the disk may be full. */
const FAILED_PAUSE_MS = 3600_000
/** The time that a stopping service gives a last snapshot. */
const LAST_MS = 2_000

/** When snapshots are written. For tests. */
export interface SnapshotRhythm {
  readonly minItems: number
  readonly minChanges: number
  readonly lookMs: number
}

/**
 * Looks every half a minute whether enough has changed since the last snapshot, and writes one when nothing changed since the last look, or
 * it has waited for ten looks. Of several processes, the others find that one has written it.
 * @param onFault called with a sentence for the log when snapshots cannot be written; once, until one is
 * @param rhythm Default: MIN_ITEMS, MIN_CHANGES, LOOK_MS
 */
export function scheduleSnapshots(
  search: SearchReader,
  onFault: (sentence: string) => void,
  rhythm: SnapshotRhythm = { minItems: MIN_ITEMS, minChanges: MIN_CHANGES, lookMs: LOOK_MS },
) {
  const { minItems, minChanges, lookMs } = rhythm
  const stopped = new AbortController()
  const givenUp = new AbortController()
  let pauseUntil = 0
  let hasFailed = false
  /** Changes to be saved; null when they are too few to be worth a snapshot. */
  const countDue = async (): Promise<number | null> => {
    if (!search.isReady()) return null
    const { countItems } = await search.current()
    const items = countItems('prompt') + countItems('skill')
    if (items < minItems) return null
    const unsaved = await search.countUnsaved()
    return unsaved >= Math.max(minChanges, items * CHANGED_SHARE) ? unsaved : null
  }
  /** A snapshot that cannot be written only makes the next start slower. */
  const save = async (): Promise<void> => {
    const started = performance.now()
    let leastMs = MIN_PAUSE_MS
    try {
      if (await search.save(givenUp.signal)) hasFailed = false
    } catch (error) {
      leastMs = FAILED_PAUSE_MS
      if (!hasFailed && !givenUp.signal.aborted) onFault(describe(error))
      hasFailed ||= !givenUp.signal.aborted
    }
    const tookMs = performance.now() - started
    pauseUntil = performance.now() + Math.max(leastMs, tookMs * PAUSE_FACTOR)
  }
  const run = async (): Promise<void> => {
    let before: number | null = null
    for (let looks = 0; ; ) {
      await sleep(lookMs, undefined, { signal: stopped.signal, ref: false })
      if (performance.now() < pauseUntil) continue
      const unsaved = await countDue().catch(() => null)
      if (unsaved === null) continue
      const isAtRest = unsaved === before
      before = unsaved
      if (!isAtRest && ++looks < 10) continue
      looks = 0
      await save()
    }
  }
  const running = run().catch(() => {})
  return {
    /** Stops, after a last snapshot where much has changed. */
    async stop(): Promise<void> {
      stopped.abort()
      const late = setTimeout(() => givenUp.abort(), LAST_MS)
      await running
      if (!givenUp.signal.aborted && (await countDue().catch(() => null)) !== null) await save()
      clearTimeout(late)
    },
  }
}

function describe(error: unknown): string {
  const reason = error instanceof AppError ? error.message : String(error)
  return `The snapshot of the search index could not be written, so the next start is slower: ${reason}`
}
