import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Retention, startRetention } from './start.ts'

const NOW = Date.UTC(2026, 5, 30)
const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS).toISOString()
let stop: (() => Promise<void>) | undefined
afterEach(async () => await stop?.())

type Store = Retention['store']

/** Begins with a store that notes what it is asked, and waits until `isDone` says so of that. */
async function run(
  settings: Partial<Retention>,
  isDone: (asked: readonly unknown[]) => boolean,
  given: Partial<Store['purges'] & Store['audit'] & Store['usage'] & Store['logins']> = {},
) {
  const asked: unknown[] = []
  const purged: unknown[] = []
  const failures: unknown[] = []
  stop = startRetention({
    trashDays: null,
    versionsKeep: null,
    auditDays: null,
    clock: () => NOW,
    onPurged: (removed) => purged.push(removed),
    onFailure: (error) => failures.push(error),
    wait: { firstMs: 1, everyMs: 1, agedMs: 3 },
    ...settings,
    store: {
      purges: {
        async finishDeletions() {
          asked.push('finish')
          await given.finishDeletions?.()
        },
        async purgeExpired(limits, signal) {
          asked.push(limits)
          return (await given.purgeExpired?.(limits, signal)) ?? { items: 0, versions: 0 }
        },
      },
      audit: {
        async removeEvents(oldest, limit) {
          asked.push([oldest, limit])
          return (await given.removeEvents?.(oldest, limit)) ?? 0
        },
      },
      logins: { removeOldGrants: async () => await given.removeOldGrants?.() },
      checks: { checkNext: async () => 0 },
      usage: { removeUses: async (before) => (await given.removeUses?.(before)) ?? 0 },
    },
  })
  while (!isDone(asked)) await nextTurn()
  return { asked, purged, failures }
}
const times = (count: number) => (asked: readonly unknown[]) => asked.length >= count

describe('startRetention', () => {
  it('deletes what programs left when they signed in', async () => {
    let times = 0
    const removeOldGrants = async () => {
      times++
    }
    await run({}, () => times > 1, { removeOldGrants })
    expect(times).toBeGreaterThan(1)
  })

  it('only finishes what was begun where everything is kept, again and again', async () => {
    expect((await run({}, times(4))).asked.slice(0, 4)).toEqual(['finish', 'finish', 'finish', 'finish'])
  })

  it('asks for what is too old at the first look, then less often, and says what went', async () => {
    const { asked, purged } = await run({ trashDays: 30, versionsKeep: 5 }, times(6), {
      purgeExpired: async () => ({ items: 2, versions: 0 }),
    })
    const limits = { trashBefore: daysAgo(30), versionsKeep: 5 }
    expect(asked.slice(0, 6)).toEqual(['finish', limits, 'finish', 'finish', 'finish', limits])
    expect(purged[0]).toEqual({ items: 2, versions: 0 })
  })

  it('keeps the trash where only versions are counted', async () => {
    const { asked } = await run({ versionsKeep: 1 }, times(2))
    expect(asked[1]).toEqual({ trashBefore: null, versionsKeep: 1 })
  })

  it('removes events until there are no more', async () => {
    const left = [500, 500, 20]
    const { asked } = await run({ auditDays: 7 }, times(4), { removeEvents: async () => left.shift() ?? 0 })
    expect(asked.slice(0, 4)).toEqual(['finish', [daysAgo(7), 500], [daysAgo(7), 500], [daysAgo(7), 500]])
  })

  it('removes counts of items after 90 days, and totals after 400', async () => {
    const removed: unknown[] = []
    await run({}, () => removed.length > 0, { removeUses: async (before) => removed.push(before) })
    expect(removed[0]).toEqual({ details: daysAgo(90).slice(0, 10), totals: daysAgo(400).slice(0, 10) })
  })

  it('tells of a failure, and goes on with the rest', async () => {
    const { failures, asked } = await run({ trashDays: 1, auditDays: 1 }, times(3), {
      async finishDeletions() {
        throw new Error('disk full')
      },
      async purgeExpired() {
        throw new Error('locked')
      },
    })
    expect(failures.slice(0, 2)).toMatchObject([{ message: 'disk full' }, { message: 'locked' }])
    expect(asked[2]).toEqual([daysAgo(1), 500])
  })

  it('ends what goes on when it is stopped', async () => {
    let given: AbortSignal | undefined
    await run({ trashDays: 1 }, times(2), {
      async purgeExpired(_, signal) {
        given = signal
        return { items: 0, versions: 0 }
      },
    })
    await stop?.()
    expect(given?.aborted).toBe(true)
  })
})
