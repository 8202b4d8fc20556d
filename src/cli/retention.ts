import { setTimeout as sleep } from 'node:timers/promises'
import type { PurgeStore } from '../library/ports.ts'

const DAY_MS = 86_400_000
/** How long after the start it is first looked for: the first requests go first. */
const FIRST_MS = 1_000
/** How often after that. */
const EVERY_MS = 6 * 3_600_000

/** What is deleted for good by time and number. */
export interface Retention {
  /** Days in the trash; null keeps it. */
  readonly trashDays: number | null
  /** Versions of each item; null keeps all. */
  readonly versionsKeep: number | null
  readonly store: Pick<PurgeStore, 'purgeExpired'>
  readonly clock: () => number
  readonly onDone: (removed: { readonly items: number; readonly versions: number }) => void
  readonly onFailure: (error: unknown) => void
  /** Default: a second, then six hours. */
  readonly wait?: { readonly firstMs: number; readonly everyMs: number }
}

/** Begins to delete what the settings no longer keep; returns how to stop. Null when they keep everything. */
export function startRetention(retention: Retention): (() => Promise<void>) | null {
  const { trashDays, versionsKeep, store, clock, wait = { firstMs: FIRST_MS, everyMs: EVERY_MS } } = retention
  if (trashDays === null && versionsKeep === null) return null
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    for (let waitMs = wait.firstMs; ; waitMs = wait.everyMs) {
      await sleep(waitMs, undefined, { signal, ref: false })
      try {
        const trashBefore = trashDays === null ? null : new Date(clock() - trashDays * DAY_MS).toISOString()
        const removed = await store.purgeExpired({ trashBefore, versionsKeep }, signal)
        if (removed.items + removed.versions > 0) retention.onDone(removed)
      } catch (error) {
        retention.onFailure(error)
      }
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
