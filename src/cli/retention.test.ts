import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Retention, startRetention } from './retention.ts'

const NOW = Date.UTC(2026, 5, 30)
const DAY_MS = 86_400_000
let stop: (() => Promise<void>) | null = null
afterEach(() => stop?.())

/** Begins, and waits until it has run `runs` times. */
async function runTimes(runs: number, settings: Partial<Retention>, purge: Retention['store']['purgeExpired']) {
  const done: unknown[] = []
  const failures: unknown[] = []
  const asked: unknown[] = []
  let finished = 0
  stop = startRetention({
    trashDays: 30,
    versionsKeep: null,
    clock: () => NOW,
    onDone: (removed) => done.push(removed),
    onFailure: (error) => failures.push(error),
    wait: { firstMs: 1, everyMs: 1, agedMs: 1 },
    ...settings,
    store: {
      async finishDeletions() {
        finished++
        if (finished >= 5 && settings.trashDays === null) asked.push('finished')
      },
      async purgeExpired(limits, signal) {
        asked.push(limits)
        return await purge(limits, signal)
      },
    },
  })
  while (asked.length < runs) await sleep(1)
  return { done, failures, asked }
}

describe('startRetention', () => {
  it('only finishes what was begun where everything is kept, again and again', async () => {
    const { asked } = await runTimes(1, { trashDays: null }, async () => ({ items: 0, versions: 0 }))
    expect(asked).toEqual(['finished'])
  })

  it('asks for what is too old again and again, and says what went', async () => {
    let first = true
    const { done, asked } = await runTimes(3, { versionsKeep: 5 }, async () => {
      const removed = { items: first ? 2 : 0, versions: 0 }
      first = false
      return removed
    })
    expect(asked[0]).toEqual({ trashBefore: new Date(NOW - 30 * DAY_MS).toISOString(), versionsKeep: 5 })
    expect(done).toEqual([{ items: 2, versions: 0 }])
  })

  it('tells of a failure, and goes on', async () => {
    const { failures, asked } = await runTimes(2, {}, async () => {
      throw new Error('disk full')
    })
    expect(failures[0]).toMatchObject({ message: 'disk full' })
    expect(asked.length).toBeGreaterThanOrEqual(2)
  })

  it('ends what goes on when it is stopped', async () => {
    let signal: AbortSignal | undefined
    await runTimes(1, {}, async (_, given) => {
      signal = given
      return { items: 0, versions: 0 }
    })
    await stop?.()
    expect(signal?.aborted).toBe(true)
  })
})
