import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** Prompts of messages, configs beside texts, how variables are written, and the names that programs know prompts by. */
export async function addPromptBodies(db: Kysely<Database>): Promise<void> {
  for (const table of ['item', 'version']) {
    await db.schema.alterTable(table).addColumn('messages', 'text').execute()
    await db.schema.alterTable(table).addColumn('config', 'text').execute()
    await db.schema
      .alterTable(table)
      .addColumn('syntax', 'integer', (c) => c.notNull().defaultTo(1))
      .execute()
  }
  await db.schema.alterTable('item').addColumn('api_name', 'text').execute()
  await db.schema.createIndex('item_api_name').on('item').columns(['owner_seq', 'api_name']).execute()
}
