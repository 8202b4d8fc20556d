import type { Kysely } from 'kysely'
import type { Actor } from '../../library/actor.ts'
import type { ItemKind } from '../../library/items.ts'
import type { SearchRequest } from '../../library/ports/search.ts'
import { visibleSet } from '../../library/visibility.ts'
import type { IndexFilter } from '../../search/index/select-items.ts'
import type { Database } from '../schema.ts'
import { applyFilter } from './item-filters.ts'

/**
 * Lists and counts read from the tables, as the index would give them. For the time until it is loaded: a list without a query waits for
 * nothing.
 */
export interface TableLists {
  findRows(
    actor: Actor,
    kind: ItemKind,
    filter: IndexFilter,
    page: Pick<SearchRequest, 'sort' | 'limit' | 'offset'>,
  ): Promise<{ seqs: number[]; total: number }>
  countItems(actor: Actor, kind: ItemKind, filter: IndexFilter): Promise<number>
  /** By the category's row number. */
  countByCategory(actor: Actor, kind: ItemKind): Promise<ReadonlyMap<number, number>>
}

/** Lists over one connection. */
export function createTableLists(db: Kysely<Database>): TableLists {
  const items = (actor: Actor, kind: ItemKind, filter: IndexFilter) =>
    applyFilter(db.selectFrom('item'), kind, filter, visibleSet(actor, 'list'))
  const countItems = async (actor: Actor, kind: ItemKind, filter: IndexFilter): Promise<number> => {
    const { total } = await items(actor, kind, filter)
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return Number(total)
  }
  return {
    countItems,
    async findRows(actor, kind, filter, { sort, limit, offset }) {
      const direction = sort === 'oldest' ? 'asc' : 'desc'
      const rows = await items(actor, kind, filter)
        .select('item.seq')
        .orderBy(sort === 'votes' ? 'item.votes' : 'item.created_at', direction)
        .orderBy('item.seq', direction)
        .limit(limit)
        .offset(offset)
        .execute()
      return { seqs: rows.map(({ seq }) => seq), total: await countItems(actor, kind, filter) }
    },
    async countByCategory(actor, kind) {
      const rows = await items(actor, kind, {})
        .select(['item.category_seq', (eb) => eb.fn.countAll<number>().as('count')])
        .where('item.category_seq', 'is not', null)
        .groupBy('item.category_seq')
        .execute()
      return new Map(rows.map(({ category_seq, count }) => [category_seq ?? 0, Number(count)]))
    },
  }
}
