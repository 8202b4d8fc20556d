import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * Items go to their next owner at once: open offers are declined. What pages keep for the next request has a kind, and imports are one: what
 * was kept of these for a day is dropped.
 */
export async function dropOffersAndLinks(db: Kysely<Database>): Promise<void> {
  await sql`
    insert into audit_event (at, surface, action, target_id, owner_id, detail)
    select migration.applied_at, 'service', 'item_offer_declined', item.id, owner.id, '{"kind":"' || item.kind || '"}'
    from item_offer join item on item.seq = item_offer.item_seq join "user" owner on owner.seq = item.owner_seq
    join migration on migration.name = '0045-drop-offers-and-links'
    where item_offer.expires_at > migration.applied_at`.execute(db)
  await db.schema.dropTable('item_offer').execute()
  await db.schema.dropTable('import_entry').execute()
  await db.schema.dropTable('import').execute()
  await db.schema
    .alterTable('form_draft')
    .addColumn('kind', 'text', (c) => c.notNull().defaultTo('form'))
    .execute()
  await sql`update form_draft set kind = 'bulk' where body like '{"bulk":%'`.execute(db)
}
