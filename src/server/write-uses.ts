import { setTimeout as sleep } from 'node:timers/promises'
import { splitCounts, toDay, type UseCounter } from '../library/usage.ts'
import type { LibraryStore } from '../storage/store.ts'

/** Interval between two writes: what a killed process loses at most. */
const EVERY_MS = 60_000

/**
 * Starts to write counted uses once a minute, on the minute, so that a day's counts are written when it ends. Uses count for the day on
 * which their minute began. Those that cannot be written are counted again. Returns a function that stops it and writes what is left.
 */
export function startWritingUses(
  counter: UseCounter,
  usage: Pick<LibraryStore['usage'], 'addUses'>,
  clock: () => number,
  onFailure: (error: unknown) => void,
  everyMs: number = EVERY_MS,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  let day = toDay(clock())
  const write = async () => {
    const uses = counter.take()
    const began = day
    day = toDay(clock())
    if (uses.length === 0) return
    try {
      await usage.addUses(began, splitCounts(uses))
    } catch (error) {
      for (const use of uses) counter.add(use, use.count)
      onFailure(error)
    }
  }
  const run = async () => {
    for (;;) {
      await sleep(everyMs - (clock() % everyMs), undefined, { signal, ref: false })
      await write()
    }
  }
  // Runs until it is stopped.
  const running = run().catch((error) => {
    if (!signal.aborted) onFailure(error)
  })
  return async () => {
    stopping.abort()
    await running
    await write()
  }
}
