import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { DETAIL_DAYS, TOTAL_DAYS, toDay } from '../domain/people/usage.ts'
import type { LibraryStore } from '../storage/store.ts'

const DAY_MS = 86_400_000
/** Delay of the first run, so that the first requests go first, and the interval after that. */
const FIRST_MS = 1_000
const EVERY_MS = 5 * 60_000
/** Interval for expired data. */
const AGED_MS = 6 * 3_600_000
/** Events of one transaction, between which others write. */
const EVENTS_A_BATCH = 500
/** Items that are read at once to be checked. */
const ITEMS_A_BATCH = 20

/** The data that a service deletes automatically. */
export interface Retention {
  /** Days in the trash; null keeps it. */
  readonly trashDays: number | null
  /** Versions of each item; null keeps all. */
  readonly versionsKeep: number | null
  /** Days in the audit log; null keeps all events. */
  readonly auditDays: number | null
  readonly purges: Pick<LibraryStore['purges'], 'purgeExpired' | 'finishDeletions'>
  readonly audit: Pick<LibraryStore['audit'], 'removeEvents'>
  readonly usage: Pick<LibraryStore['usage'], 'removeUses'>
  readonly logins: Pick<LibraryStore['logins'], 'removeOldGrants'>
  readonly checks: Pick<LibraryStore['checks'], 'checkNext'>
  readonly clock: () => number
  readonly onPurged: (removed: { readonly items: number; readonly versions: number }) => void
  readonly onFailure: (error: unknown) => void
  /** Default: a second, then five minutes; what is too old every six hours. */
  readonly wait?: { readonly firstMs: number; readonly everyMs: number; readonly agedMs: number }
}

/**
 * Starts to finish interrupted deletions, such as those a reader of the log delayed, to delete expired data, and to check items under new rules. Every instance does.
 * Returns a function that stops it.
 */
export function startRetention(retention: Retention): () => Promise<void> {
  const { trashDays, versionsKeep, auditDays, purges, audit, usage, logins, checks, clock } = retention
  const { wait = { firstMs: FIRST_MS, everyMs: EVERY_MS, agedMs: AGED_MS } } = retention
  const stopping = new AbortController()
  const { signal } = stopping
  const daysAgo = (days: number) => new Date(clock() - days * DAY_MS).toISOString()
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      retention.onFailure(error)
    }
  }
  const purgeExpired = async () => {
    if (trashDays === null && versionsKeep === null) return
    const removed = await purges.purgeExpired({ trashBefore: trashDays === null ? null : daysAgo(trashDays), versionsKeep }, signal)
    if (removed.items + removed.versions > 0) retention.onPurged(removed)
  }
  const removeOldEvents = async () => {
    if (auditDays === null) return
    const oldest = daysAgo(auditDays)
    while (!signal.aborted && (await audit.removeEvents(oldest, EVENTS_A_BATCH)) === EVENTS_A_BATCH) await nextTurn()
  }
  const removeOldUses = async () => {
    const dayBefore = (days: number) => toDay(clock() - days * DAY_MS)
    await usage.removeUses({ details: dayBefore(DETAIL_DAYS), totals: dayBefore(TOTAL_DAYS) })
  }
  const checkItems = async () => {
    while (!signal.aborted && (await checks.checkNext(ITEMS_A_BATCH)) === ITEMS_A_BATCH) await nextTurn()
  }
  const run = async () => {
    let sinceAgedMs = Number.POSITIVE_INFINITY
    for (let waitMs = wait.firstMs; ; waitMs = wait.everyMs) {
      await sleep(waitMs, undefined, { signal, ref: false })
      await attempt(() => purges.finishDeletions())
      // Strangers can make them.
      await attempt(() => logins.removeOldGrants())
      await attempt(checkItems)
      sinceAgedMs += waitMs
      if (sinceAgedMs < wait.agedMs) continue
      sinceAgedMs = 0
      await attempt(purgeExpired)
      await attempt(removeOldEvents)
      await attempt(removeOldUses)
    }
  }
  // Runs until it is stopped.
  const running = run().catch((error) => {
    if (!signal.aborted) retention.onFailure(error)
  })
  return async () => {
    stopping.abort()
    await running
  }
}
