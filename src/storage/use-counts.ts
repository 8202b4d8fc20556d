import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { DayUses, UseCount } from '../domain/people/usage.ts'
import type { ImproveBudget } from '../domain/ports/models.ts'
import { readCounts } from './items/item-rows.ts'
import type { WriteContext } from './items/write-context.ts'
import { batches } from './prepared.ts'
import type { Database } from './schema.ts'

/** Rows written by one statement, which blocks the process while it runs. */
const ROWS_A_STATEMENT = 200
/** The id where there is no item or key: a primary key may hold no null. */
const NONE = ''

/** Rows in an order that is the same for every instance: those that write the same rows wait for each other, and never in a circle. */
function sortUses(counts: readonly UseCount[]): UseCount[] {
  const named = counts.map((use) => ({ use, name: `${use.kind} ${use.surface} ${use.itemId} ${use.version} ${use.keyId}` }))
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ use }) => use)
}

function sumUses(db: Kysely<Database>, since: string) {
  return db
    .selectFrom('use_count')
    .select(['day', 'kind', 'surface', (eb) => eb.fn.sum<number>('count').as('count')])
    .where('day', '>=', since)
    .groupBy(['day', 'kind', 'surface'])
    .orderBy('day')
}

/** The rows whose item and key are there still: those of removed ones went with them, and do not come back. */
async function keepKnown<Row extends { readonly item_id: string; readonly key_id: string }>(
  db: Kysely<Database>,
  rows: readonly Row[],
): Promise<Row[]> {
  const [itemIds, keyIds] = [rows.map((row) => row.item_id), rows.map((row) => row.key_id)]
  const items = await db.selectFrom('item').select('id').where('id', 'in', itemIds).execute()
  const keys = await db.selectFrom('api_key').select('id').where('id', 'in', keyIds).execute()
  const known = new Set([NONE, ...items.map(({ id }) => id), ...keys.map(({ id }) => id)])
  return rows.filter((row) => known.has(row.item_id) && known.has(row.key_id))
}

/** Counts of uses. */
export function usageStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** Adds to what is there, so that instances add up. All or nothing. */
    addUses: (day: string, counts: readonly UseCount[]): Promise<void> =>
      context.sideTransaction(async (db) => {
        const rows = sortUses(counts).map(({ kind, surface, itemId, version, keyId, count }) => ({
          day,
          kind,
          surface,
          item_id: itemId ?? NONE,
          version: version ?? 0,
          key_id: keyId ?? NONE,
          count,
        }))
        for (const part of batches(rows, ROWS_A_STATEMENT)) {
          const known = await keepKnown(db, part)
          if (known.length === 0) continue
          await db
            .insertInto('use_count')
            .values(known)
            .onConflict((conflict) =>
              conflict
                .columns(['day', 'kind', 'surface', 'item_id', 'version', 'key_id'])
                .doUpdateSet({ count: sql<number>`use_count.count + excluded.count` }),
            )
            .execute()
          await nextTurn()
        }
      }),
    /** Totals of the library. */
    async listUses(since: string): Promise<DayUses[]> {
      return await readCounts(sumUses(reader, since).where('item_id', '=', NONE).where('key_id', '=', NONE))
    },
    async listItemUses(itemId: string, since: string): Promise<DayUses[]> {
      return await readCounts(sumUses(reader, since).where('item_id', '=', itemId))
    },
    async listKeyUses(keyIds: readonly string[], since: string): Promise<(DayUses & { readonly keyId: string })[]> {
      if (keyIds.length === 0) return []
      return await readCounts(sumUses(reader, since).where('key_id', 'in', keyIds).select('key_id as keyId').groupBy('key_id'))
    },
    /** New items by day; those in the trash count too. */
    async countNewItems(since: string): Promise<{ readonly day: string; readonly count: number }[]> {
      const day = sql<string>`substr(created_at, 1, 10)`
      const byDay = reader
        .selectFrom('item')
        .select([day.as('day'), (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy(day)
      return await readCounts(byDay.where('created_at', '>=', since))
    },
    /** Removes old counts; gives how many rows. */
    removeUses: ({ details, totals }: { readonly details: string; readonly totals: string }): Promise<number> =>
      context.sideTransaction(async (db) => {
        const isDetail = sql<boolean>`(item_id <> ${NONE} or key_id <> ${NONE})`
        const old = await db.deleteFrom('use_count').where('day', '<', totals).executeTakeFirst()
        const single = await db.deleteFrom('use_count').where('day', '<', details).where(isDetail).executeTakeFirst()
        return Number(old.numDeletedRows + single.numDeletedRows)
      }),
  }
}

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
