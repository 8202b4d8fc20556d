import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Which moves of a label an item's former owner made: they passed no gate of the present one. */
export async function markFormerMoves(db: Kysely<Database>): Promise<void> {
  await db.schema
    .alterTable('label_move')
    .addColumn('is_former', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
