import { describe, expect, it } from 'vitest'
import { createStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'

/** What callers spent on improving prompts, on every engine. */

for (const engine of ENGINES) {
  describe(engine.name, () => {
    const ADA = 'key 1'
    const spend = (caller: string, day: string, characters: number) => ({ caller, day, characters })

    it('is known after the library was closed and opened again, and to two that have it open at once', async () => {
      const database = await engine.create()
      const outside = { clock: () => 0, random: countingRandom() }
      const first = await createStore(database.open(), outside)
      const second = await createStore(database.open(), outside)
      const budget = { requests: 10, characters: null }
      const all = await Promise.all(
        Array.from({ length: 15 }, (_, n) =>
          (n % 2 === 0 ? first : second).budgets.spendImproveBudget(spend(ADA, '2026-01-01', 1), budget),
        ),
      )
      expect(all.filter(Boolean).length).toBe(10)
      await first.close()
      await second.close()
      const third = await createStore(database.open(), outside)
      expect(await third.budgets.spendImproveBudget(spend(ADA, '2026-01-01', 1), budget)).toBe(false)
      expect(await third.budgets.spendImproveBudget(spend(ADA, '2026-01-01', 1), { requests: null, characters: null })).toBe(true)
      await third.close()
      await database.remove()
    })
  })
}
