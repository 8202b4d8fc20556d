import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Item } from '../../domain/items/items.ts'
import type { OwnItemsCounts, OwnItemsFilter, OwnItemsPage, SearchResult } from '../../domain/items/search.ts'
import { slugifyTag } from '../../domain/items/slug.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { OwnerQuota, OwnerUsage } from '../../domain/people/usage.ts'
import { seqOfUser } from '../people/user-rows.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { findCategories } from './item-filters.ts'
import type { ItemQueries } from './item-queries.ts'
import { countRows, readCounts, readItemsInOrder, seqOf } from './item-rows.ts'
import { readUsage } from './owner-usage.ts'

/** Most hits of a query among the items of one person. */
const MAX_HITS = 5_000
/** How many of the most used tags or labels are counted. */
const MAX_COUNTED = 20

type Field = 'visibility' | 'category' | 'tag' | 'label'

/** The result of a filter: a query over the person's items, and the hits of its words, best first. */
interface Narrowed {
  readonly items: SelectQueryBuilder<Database, 'item', object>
  readonly hits: readonly number[] | null
}

/** Lists of what a person or a team owns. Rows come from the tables; the search index finds words alone, never what is near in meaning. */
export function ownItemStore(db: Kysely<Database>, queries: Pick<ItemQueries, 'findRows'>, quota: OwnerQuota) {
  const findHits = async (actor: Actor, ownerId: string, { kind, query = null }: OwnItemsFilter): Promise<readonly number[] | null> => {
    if (query === null) return null
    const { seqs, scores } = await queries.findRows(actor, kind, {
      query,
      filter: { ownerId },
      sort: 'relevance',
      limit: MAX_HITS,
      offset: 0,
    })
    return seqs.filter((_, place) => !scores[place]?.isApproximate)
  }
  const narrow = async (ownerId: string, filter: OwnItemsFilter, hits: readonly number[] | null, without?: Field) => {
    const { kind, visibility = null, category, tag, label } = filter
    let items = db
      .selectFrom('item')
      .where('item.owner_seq', '=', await seqOfUser(db, ownerId))
      .where('item.kind', '=', kind)
      .where('item.deleted_at', 'is', null)
    if (visibility !== null && without !== 'visibility') items = items.where('item.visibility', '=', visibility)
    if (category !== undefined && without !== 'category') {
      items = items.where(isOneOf('item.category_seq', [...(await findCategories(db, [category]))]))
    }
    if (tag !== undefined && without !== 'tag') {
      items = items.where('item.seq', 'in', (eb) => eb.selectFrom('item_tag').select('item_seq').where('slug', '=', slugifyTag(tag)))
    }
    if (label !== undefined && without !== 'label') {
      items = items.where('item.seq', 'in', (eb) => eb.selectFrom('label').select('item_seq').where('name', '=', label))
    }
    return hits === null ? items : items.where(isOneOf('item.seq', hits))
  }
  const narrowed = async (actor: Actor, ownerId: string, filter: OwnItemsFilter): Promise<Narrowed> => {
    const hits = await findHits(actor, ownerId, filter)
    return { hits, items: await narrow(ownerId, filter, hits) }
  }
  const readPage = async ({ items, hits }: Narrowed, { sort = 'updated', limit, offset }: OwnItemsPage) => {
    if (sort === 'relevance' && hits !== null) {
      const left = new Set((await items.select('item.seq').execute()).map(seqOf))
      return hits
        .filter((seq) => left.has(seq))
        .slice(offset, offset + limit)
        .map((seq) => ({ seq }))
    }
    const ordered =
      sort === 'title'
        ? items.orderBy(sql`lower(trim(item.title))`).orderBy('item.seq')
        : items
            .orderBy(sort === 'newest' ? 'item.created_at' : sort === 'votes' ? 'item.votes' : 'item.updated_at', 'desc')
            .orderBy('item.seq', 'desc')
    return await ordered.select('item.seq').limit(limit).offset(offset).execute()
  }
  return {
    async listOwned(actor: Actor, ownerId: string, page: OwnItemsPage): Promise<SearchResult<Item>> {
      const found = await narrowed(actor, ownerId, page)
      return { items: await readItemsInOrder(db, await readPage(found, page)), total: await countRows(found.items) }
    },
    /** The ids of a page of such a list. */
    async listOwnedIds(actor: Actor, ownerId: string, page: OwnItemsPage): Promise<readonly string[]> {
      const seqs = (await readPage(await narrowed(actor, ownerId, page), page)).map(seqOf)
      const rows = await db.selectFrom('item').select(['seq', 'id']).where(isOneOf('item.seq', seqs)).execute()
      const ids = new Map(rows.map(({ seq, id }) => [seq, id]))
      return seqs.flatMap((seq) => ids.get(seq) ?? [])
    },
    async countOwned(actor: Actor, ownerId: string, filter: OwnItemsFilter): Promise<OwnItemsCounts> {
      const hits = await findHits(actor, ownerId, filter)
      const visibilities = (await narrow(ownerId, filter, hits, 'visibility'))
        .select(['item.visibility', (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy('item.visibility')
      const categories = (await narrow(ownerId, filter, hits, 'category'))
        .innerJoin('category', 'category.seq', 'item.category_seq')
        .select(['category.slug', (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy('category.slug')
        .orderBy('category.slug')
      const tags = (await narrow(ownerId, filter, hits, 'tag'))
        .innerJoin('item_tag', 'item_tag.item_seq', 'item.seq')
        .select(['item_tag.slug', (eb) => eb.fn.min('item_tag.name').as('name'), (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy('item_tag.slug')
        .orderBy('count', 'desc')
        .orderBy('item_tag.slug')
        .limit(MAX_COUNTED)
      const labels = (await narrow(ownerId, filter, hits, 'label'))
        .innerJoin('label', 'label.item_seq', 'item.seq')
        .select(['label.name', (eb) => eb.fn.count<number>('item.seq').distinct().as('count')])
        .groupBy('label.name')
        .orderBy('count', 'desc')
        .orderBy('label.name')
        .limit(MAX_COUNTED)
      return {
        visibilities: await readCounts(visibilities),
        categories: await readCounts(categories),
        tags: await readCounts(tags),
        labels: await readCounts(labels),
      }
    },
    /** The usage of an owner, and its limits. */
    async readUsage(ownerId: string): Promise<{ readonly used: OwnerUsage; readonly quota: OwnerQuota }> {
      return { used: await readUsage(db, await seqOfUser(db, ownerId)), quota }
    },
    /** How many words of an item are not indexed, as its owner's quota is used up. */
    async countLeftOut(itemId: string): Promise<number> {
      const words = db.selectFrom('item_words').innerJoin('item', 'item.seq', 'item_words.item_seq').where('item.id', '=', itemId)
      return (await words.select('item_words.left_out').executeTakeFirst())?.left_out ?? 0
    },
  }
}
