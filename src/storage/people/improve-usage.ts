import { sql } from 'kysely'
import type { ImproveBudget } from '../../domain/ports/models.ts'
import type { WriteContext } from '../items/write-context.ts'

/** Caller budgets for improving prompts. */
export function budgetStore(context: WriteContext) {
  return {
    /** Counts one request of a caller on a day (`2026-01-31`) when it still fits, in one step; false, and nothing counted, when it does not. Earlier days are forgotten. */
    spendImproveBudget: (
      { caller, day, characters }: { caller: string; day: string; characters: number },
      budget: ImproveBudget,
    ): Promise<boolean> =>
      context.sideTransaction(async (db) => {
        await db.deleteFrom('improve_usage').where('day', '<', day).execute()
        if ((budget.requests ?? 1) < 1 || characters > (budget.characters ?? characters)) return false
        // One statement, so that two requests at once cannot both take the last of a budget.
        const spent = await db
          .insertInto('improve_usage')
          .values({ caller, day, requests: 1, characters })
          .onConflict((conflict) =>
            conflict
              .columns(['caller', 'day'])
              .doUpdateSet((eb) => ({
                requests: eb('improve_usage.requests', '+', 1),
                characters: eb('improve_usage.characters', '+', characters),
              }))
              .where(budget.requests === null ? sql<boolean>`1 = 1` : sql<boolean>`improve_usage.requests < ${budget.requests}`)
              .where(
                budget.characters === null
                  ? sql<boolean>`1 = 1`
                  : sql<boolean>`improve_usage.characters + ${characters} <= ${budget.characters}`,
              ),
          )
          .returning('requests')
          .executeTakeFirst()
        return spent !== undefined
      }),
  }
}
