import { setTimeout as sleep } from 'node:timers/promises'
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
/** What a service that stops gives a last snapshot. */
const LAST_MS = 2_000

/** When snapshots are written. For tests. */
export interface SnapshotRhythm {
  readonly minItems: number
  readonly minChanges: number
  readonly lookMs: number
}

/** Writes snapshots of the search index now and then. */
export interface SnapshotSchedule {
  /** Stops, after a last snapshot where much has changed. */
  stop(): Promise<void>
}

/**
 * Looks every half a minute whether enough has changed since the last snapshot, and writes one when nothing changed since the last look, or
 * it has waited for ten looks.
 * @param rhythm Default: MIN_ITEMS, MIN_CHANGES, LOOK_MS
 */
export function scheduleSnapshots(
  search: SearchReader,
  rhythm: SnapshotRhythm = { minItems: MIN_ITEMS, minChanges: MIN_CHANGES, lookMs: LOOK_MS },
): SnapshotSchedule {
  const { minItems, minChanges, lookMs } = rhythm
  const stopped = new AbortController()
  const givenUp = new AbortController()
  let pauseUntil = 0
  const isDue = async (): Promise<boolean> => {
    if (!search.isReady()) return false
    const { countItems } = await search.current()
    const items = countItems('prompt') + countItems('skill')
    return items >= minItems && search.countUnsaved() >= Math.max(minChanges, items * CHANGED_SHARE)
  }
  /** A snapshot that cannot be written only makes the next start slower. */
  const save = async (): Promise<void> => {
    const started = performance.now()
    let leastMs = MIN_PAUSE_MS
    await search.save(givenUp.signal).catch(() => {
      leastMs = FAILED_PAUSE_MS
    })
    const tookMs = performance.now() - started
    pauseUntil = performance.now() + Math.max(leastMs, tookMs * PAUSE_FACTOR)
  }
  const run = async (): Promise<void> => {
    let unsaved = 0
    for (let looks = 0; ; ) {
      await sleep(lookMs, undefined, { signal: stopped.signal, ref: false })
      if (performance.now() < pauseUntil || !(await isDue().catch(() => false))) continue
      const isAtRest = search.countUnsaved() === unsaved
      unsaved = search.countUnsaved()
      if (!isAtRest && ++looks < 10) continue
      looks = 0
      await save()
    }
  }
  const running = run().catch(() => {})
  return {
    async stop() {
      stopped.abort()
      const late = setTimeout(() => givenUp.abort(), LAST_MS)
      await running
      if (!givenUp.signal.aborted && (await isDue().catch(() => false))) await save()
      clearTimeout(late)
    },
  }
}
