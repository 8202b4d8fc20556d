import type { Kysely } from 'kysely'
import type { RecordOf } from '../../library/history-records.ts'
import type { Database } from '../schema.ts'
import { SMALL_ROWS, walk, walkTexts } from './pages.ts'

/** Collections with their slugs and items, and the slugs of deleted ones. */
export async function* readCollections(db: Kysely<Database>): AsyncGenerator<RecordOf<'collection'> | RecordOf<'retiredCollectionSlug'>> {
  const page = async (after: number) =>
    await db
      .selectFrom('collection')
      .innerJoin('user as owner', 'owner.seq', 'collection.owner_seq')
      .selectAll('collection')
      .select('owner.username as owner')
      .where('collection.seq', '>', after)
      .orderBy('collection.seq')
      .limit(SMALL_ROWS)
      .execute()
  for await (const row of walk(page)) {
    const slugs = await db.selectFrom('collection_slug').select('slug').where('collection_seq', '=', row.seq).orderBy('slug').execute()
    const items = await db
      .selectFrom('collection_item')
      .innerJoin('item', 'item.seq', 'collection_item.item_seq')
      .select('item.id')
      .where('collection_item.collection_seq', '=', row.seq)
      .orderBy('collection_item.position')
      .orderBy('item.seq')
      .execute()
    yield {
      record: 'collection',
      id: row.id,
      slug: row.slug,
      slugs: slugs.map(({ slug }) => slug),
      title: row.title,
      description: row.description,
      visibility: row.visibility,
      owner: row.owner,
      wasPublic: row.was_public === 1,
      version: row.version,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      items: items.map(({ id }) => id),
    }
  }
  const retired = async (after: string) =>
    await db
      .selectFrom('collection_slug')
      .select('slug')
      .where('collection_seq', 'is', null)
      .where('slug', '>', after)
      .orderBy('slug')
      .limit(SMALL_ROWS)
      .execute()
  for await (const { slug } of walkTexts(retired, (row) => row.slug)) yield { record: 'retiredCollectionSlug', slug }
}
