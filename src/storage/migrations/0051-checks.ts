import type { Kysely } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'

/** What the check says of items, what somebody accepted of it, and what it may do. */
export async function createChecks(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  await db.schema.alterTable('item').addColumn('blocked_version', 'integer').execute()
  await db.schema
    .alterTable('version')
    .addColumn('is_blocked', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createTable('verdict')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey().references('item.seq').onDelete('cascade'))
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('rule_set', 'integer', (c) => c.notNull())
    .addColumn('high', 'integer', (c) => c.notNull())
    .addColumn('medium', 'integer', (c) => c.notNull())
    .addColumn('low', 'integer', (c) => c.notNull())
    .addColumn('waived', 'integer', (c) => c.notNull())
    .addColumn('rules', 'text', (c) => c.notNull())
    .addColumn('rules_before', 'text')
    .addColumn('is_due', 'integer', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('verdict_due').on('verdict').columns(['is_due', 'item_seq']).execute()
  await db.schema.createIndex('verdict_rule_set').on('verdict').columns(['rule_set', 'item_seq']).execute()
  await db.schema
    .createTable('waiver')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('rule', 'text', (c) => c.notNull())
    .addColumn('file', 'text', (c) => c.notNull())
    .addColumn('evidence', 'text', (c) => c.notNull())
    .addColumn('severity', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('user_seq', 'integer', (c) => c.references('user.seq').onDelete('set null'))
    .addColumn('until', 'text')
    .addColumn('made_at', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('waiver_item').on('waiver').columns(['item_seq', 'seq']).execute()
  await db.schema.createIndex('waiver_user').on('waiver').column('user_seq').execute()
  await db.schema
    .createTable('check_level')
    .addColumn('seq', 'integer', dialect.identity)
    .addColumn('owner_seq', 'integer', (c) => c.references('user.seq').onDelete('cascade'))
    .addColumn('rule', 'text', (c) => c.notNull())
    .addColumn('level', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('check_level_owner').on('check_level').columns(['owner_seq', 'rule']).execute()
}
