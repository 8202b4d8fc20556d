import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Cases that are kept beside a version; runs that are made here, with the answers of models; the keys whose reports a gate counts. */
export async function createTestCases(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('case_set')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('files', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('case_set_key', ['item_seq', 'version'])
    .execute()
  await db.schema
    .createTable('model_answer')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('digest', 'text', (c) => c.notNull())
    .addColumn('answer', 'text', (c) => c.notNull())
    .addColumn('input_tokens', 'integer', (c) => c.notNull())
    .addColumn('output_tokens', 'integer', (c) => c.notNull())
    .addColumn('duration_ms', 'integer', (c) => c.notNull())
    .addColumn('answered_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('model_answer_key', ['item_seq', 'digest'])
    .execute()
  await db.schema
    .createTable('test_usage')
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('day', 'text', (c) => c.notNull())
    .addColumn('tokens', 'bigint', (c) => c.notNull())
    .addColumn('micro_usd', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('test_usage_key', ['owner_seq', 'day'])
    .execute()
  for (const column of ['state', 'key_id', 'cases_digest', 'progress_at'] as const)
    await db.schema.alterTable('eval_run').addColumn(column, 'text').execute()
  await db.schema.alterTable('eval_run').addColumn('total', 'integer').execute()
  await db.schema
    .alterTable('label_gate')
    .addColumn('keys', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute()
}
