import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** Runs of tests of versions, as runners report them, with the result of each case; and what a label asks of them. */
export async function createEvals(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema
    .createTable('eval_run')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('text_digest', 'text', (c) => c.notNull())
    .addColumn('format', 'text', (c) => c.notNull())
    .addColumn('runner', 'text')
    .addColumn('model', 'text')
    .addColumn('is_partial', 'integer', (c) => c.notNull())
    .addColumn('passed', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('started_at', 'text')
    .addColumn('reported_at', 'text', (c) => c.notNull())
    .addColumn('user_seq', 'integer', (c) => c.references('user.seq').onDelete('set null'))
    .execute()
  await db.schema.createIndex('eval_run_item').on('eval_run').columns(['item_seq', 'seq']).execute()
  await db.schema.createIndex('eval_run_user').on('eval_run').column('user_seq').execute()
  await db.schema
    .createTable('eval_result')
    .addColumn('run_seq', 'integer', (c) => c.notNull().references('eval_run.seq').onDelete('cascade'))
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('result', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('eval_result_key', ['run_seq', 'position'])
    .execute()
  await db.schema
    .createTable('label_gate')
    .addColumn('owner_seq', 'integer', (c) => c.notNull().references('user.seq').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('min_percent', 'integer')
    .addColumn('max_days', 'integer')
    .addColumn('max_drop', 'integer')
    .addColumn('needs_check', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('label_gate_key', ['owner_seq', 'name'])
    .execute()
  await db.schema
    .alterTable('label_move')
    .addColumn('is_override', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
}
