import type { BudgetStore } from '../../library/ports/models.ts'
import type { WriteContext } from '../items/write-items.ts'

/** What callers spent on improving prompts. */
export function budgetStore(context: WriteContext): BudgetStore {
  return {
    spendImproveBudget: ({ caller, day, characters }, budget) =>
      context.transact(async (db) => {
        await db.deleteFrom('improve_usage').where('day', '<', day).execute()
        const spent = await db
          .selectFrom('improve_usage')
          .select(['requests', 'characters'])
          .where('caller', '=', caller)
          .where('day', '=', day)
          .executeTakeFirst()
        const now = { requests: (spent?.requests ?? 0) + 1, characters: (spent?.characters ?? 0) + characters }
        if (now.requests > (budget.requests ?? Number.POSITIVE_INFINITY)) return false
        if (now.characters > (budget.characters ?? Number.POSITIVE_INFINITY)) return false
        await db
          .insertInto('improve_usage')
          .values({ caller, day, ...now })
          .onConflict((conflict) => conflict.columns(['caller', 'day']).doUpdateSet(now))
          .execute()
        return true
      }),
  }
}
