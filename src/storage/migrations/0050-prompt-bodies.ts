import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Prompts of messages, configs beside texts, how variables are written, which prompts take in which, and the names that programs know prompts by. */
export async function addPromptBodies(db: Kysely<Database>): Promise<void> {
  for (const table of ['item', 'version']) {
    await db.schema.alterTable(table).addColumn('messages', 'text').execute()
    await db.schema.alterTable(table).addColumn('config', 'text').execute()
    await db.schema
      .alterTable(table)
      .addColumn('syntax', 'integer', (c) => c.notNull().defaultTo(1))
      .execute()
  }
  await db.schema
    .createTable('item_part')
    .addColumn('item_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addColumn('part_seq', 'integer', (c) => c.notNull().references('item.seq').onDelete('cascade'))
    .addPrimaryKeyConstraint('item_part_key', ['item_seq', 'part_seq'])
    .execute()
  await db.schema.createIndex('item_part_part').on('item_part').columns(['part_seq', 'item_seq']).execute()
  await db.schema.alterTable('item').addColumn('api_name', 'text').execute()
  await db.schema.createIndex('item_api_name').on('item').columns(['owner_seq', 'api_name']).execute()
}
