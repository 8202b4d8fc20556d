import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { Prompt, Skill } from '../../library/items.ts'
import type { Database } from '../schema.ts'
import { type ItemRow, selectItems, toPrompts, toSkills } from './item-rows.ts'

/** Rows of either kind as items, in their order. */
export async function toItems(db: Kysely<Database>, rows: readonly ItemRow[]): Promise<(Prompt | Skill)[]> {
  const items = [
    ...(await toPrompts(
      db,
      rows.filter((row) => row.kind === 'prompt'),
    )),
    ...(await toSkills(
      db,
      rows.filter((row) => row.kind === 'skill'),
    )),
  ]
  const byId = new Map(items.map((item) => [item.id, item]))
  return rows.flatMap((row) => byId.get(row.id) ?? [])
}

/** Items by row number, in the order asked for: sorting numbers over an index is cheap, sorting texts is not. */
export async function readItemsInOrder(db: Kysely<Database>, found: readonly { seq: number }[]): Promise<(Prompt | Skill)[]> {
  const seqs = found.map(({ seq }) => seq)
  if (seqs.length === 0) return []
  const rows = new Map((await selectItems(db).where('item.seq', 'in', seqs).execute()).map((row) => [row.seq, row]))
  return await toItems(
    db,
    seqs.flatMap((seq) => rows.get(seq) ?? []),
  )
}

/** How many rows a query has, whatever it selects. */
export async function countRows<Tables extends keyof Database>(query: SelectQueryBuilder<Database, Tables, object>): Promise<number> {
  const { n } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n)
}
