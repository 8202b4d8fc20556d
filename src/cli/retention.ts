import { setTimeout as sleep } from 'node:timers/promises'
import type { PurgeStore } from '../library/ports.ts'

const DAY_MS = 86_400_000
/** How long after the start it is first looked for what is to be done, and how often after that: the first requests go first. */
const FIRST_MS = 1_000
const EVERY_MS = 5 * 60_000
/** How often what is too old is looked for. */
const AGED_MS = 6 * 3_600_000

/** What is deleted for good by time and number, and what is finished. */
export interface Retention {
  /** Days in the trash; null keeps it. */
  readonly trashDays: number | null
  /** Versions of each item; null keeps all. */
  readonly versionsKeep: number | null
  readonly store: Pick<PurgeStore, 'purgeExpired' | 'finishDeletions'>
  readonly clock: () => number
  readonly onDone: (removed: { readonly items: number; readonly versions: number }) => void
  readonly onFailure: (error: unknown) => void
  /** Default: a second, then five minutes; what is too old every six hours. */
  readonly wait?: { readonly firstMs: number; readonly everyMs: number; readonly agedMs: number }
}

/** Begins to finish what deletions left, such as a log that somebody read, and to delete what the settings no longer keep; returns how to stop. */
export function startRetention(retention: Retention): () => Promise<void> {
  const { trashDays, versionsKeep, store, clock, wait = { firstMs: FIRST_MS, everyMs: EVERY_MS, agedMs: AGED_MS } } = retention
  const isLimited = trashDays !== null || versionsKeep !== null
  const stopping = new AbortController()
  const { signal } = stopping
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      retention.onFailure(error)
    }
  }
  const removeAged = async () => {
    const trashBefore = trashDays === null ? null : new Date(clock() - trashDays * DAY_MS).toISOString()
    const removed = await store.purgeExpired({ trashBefore, versionsKeep }, signal)
    if (removed.items + removed.versions > 0) retention.onDone(removed)
  }
  const run = async () => {
    let sinceAgedMs = Number.POSITIVE_INFINITY
    for (let waitMs = wait.firstMs; ; waitMs = wait.everyMs) {
      await sleep(waitMs, undefined, { signal, ref: false })
      await attempt(() => store.finishDeletions())
      sinceAgedMs += waitMs
      if (!isLimited || sinceAgedMs < wait.agedMs) continue
      sinceAgedMs = 0
      await attempt(removeAged)
    }
  }
  const running = run().catch((error) => {
    if (!signal.aborted) retention.onFailure(error)
  })
  return async () => {
    stopping.abort()
    await running
  }
}
