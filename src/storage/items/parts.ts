import { type Kysely, sql } from 'kysely'
import type { Item } from '../../domain/items/items.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { MAX_PARTS, partsOf } from '../../domain/prompts/parts.ts'
import type { Database } from '../schema.ts'
import type { NextState } from './item-parts.ts'
import { isInVisibleSet, readItemsInOrder } from './item-rows.ts'

/** Keeps which prompts the newest text of a prompt takes in. Names without a prompt get no row. */
export async function writePartRefs(
  db: Kysely<Database>,
  item: { readonly seq: number; readonly ownerSeq: number; readonly isNew: boolean },
  next: NextState,
): Promise<void> {
  const refs = next.kind === 'prompt' ? partsOf(next).slice(0, MAX_PARTS) : []
  if (!item.isNew) await db.deleteFrom('item_part').where('item_seq', '=', item.seq).execute()
  if (refs.length === 0) return
  const names = [...new Set(refs.map(({ ref }) => ref))]
  const found = await db
    .selectFrom('item')
    .leftJoin('slug', 'slug.item_seq', 'item.seq')
    .select(['item.seq', 'item.id', 'slug.slug', 'item.api_name', 'item.owner_seq', 'item.deleted_at'])
    .where('item.kind', '=', 'prompt')
    .where((eb) =>
      eb.or([
        eb('item.id', 'in', names),
        eb('slug.slug', 'in', names),
        eb.and([eb('item.api_name', 'in', names), eb('item.owner_seq', '=', item.ownerSeq)]),
      ]),
    )
    .execute()
  // What the owner calls so comes before what has the name as its address.
  const parts = names.flatMap((name) => {
    const own = found.filter((one) => one.api_name === name && one.owner_seq === item.ownerSeq)
    const live = own.find(({ deleted_at: deletedAt }) => deletedAt === null)
    // One in the trash may come back.
    return live ?? found.find(({ id, slug }) => id === name || slug === name) ?? own[0] ?? []
  })
  if (parts.length === 0) return
  await db
    .insertInto('item_part')
    .values([...new Set(parts.map(({ seq }) => seq))].map((seq) => ({ item_seq: item.seq, part_seq: seq })))
    .execute()
}

/** Prompts that take others in. */
export function readParts(db: Kysely<Database>) {
  return {
    /** Prompts whose newest text takes this one in, as far as the actor finds them in lists or owns them, in the order they were made. */
    async listDependants(actor: Actor, itemId: string, limit: number): Promise<Item[]> {
      const rows = await db
        .selectFrom('item_part')
        .innerJoin('item', 'item.seq', 'item_part.item_seq')
        .select('item.seq')
        .where('item_part.part_seq', '=', sql<number>`(select part.seq from item as part where part.id = ${itemId})`)
        .where(isInVisibleSet(visibleSet(actor, 'list')))
        .orderBy('item.seq')
        .limit(limit)
        .execute()
      return await readItemsInOrder(db, rows)
    },
  }
}
