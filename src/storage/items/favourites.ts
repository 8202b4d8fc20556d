import type { Kysely } from 'kysely'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { withinOf } from '../../domain/people/actor.ts'
import { isId } from '../../domain/text/identifier.ts'
import { findUserSeq } from '../people/names.ts'
import type { Database } from '../schema.ts'
import { findVisibleRow } from './item-queries.ts'
import { countRows, isInVisibleSet, listItems } from './item-rows.ts'
import type { WriteContext } from './write-context.ts'

/** The item of an id or slug, visible or not. */
function selectNamed(db: Kysely<Database>, kind: ItemKind, ref: string) {
  const items = db.selectFrom('item').where('item.kind', '=', kind)
  const named = isId(ref)
    ? items.where('item.id', '=', ref)
    : items.innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', ref)
  return named.select(['item.seq', 'item.id'])
}

/** The favourites of readers. A mark stays while its item is hidden from its reader, and is not shown meanwhile. */
export function favouriteStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /**
     * Marks an item the actor may see as a favourite of the user, or removes the mark, also from an item that the actor may no longer see.
     * Null when it neither may see the item nor removes a mark; `full` when the user has `most`.
     */
    setFavourite: (
      actor: Actor,
      kind: ItemKind,
      ref: string,
      userId: string,
      isFavourite: boolean,
      most: number,
    ): Promise<{ id: string } | 'full' | null> =>
      context.transact(async (db) => {
        const user = await findUserSeq(db, userId)
        const mine = db.selectFrom('favourite').where('user_seq', '=', user)
        const visible = await findVisibleRow(db, actor, kind, ref)
        // Who marked an item may take the mark back when the item is hidden. Nobody else learns that it is there.
        if (!isFavourite) {
          const marked = selectNamed(db, kind, ref).where('item.seq', 'in', mine.select('item_seq'))
          const row = visible ?? (withinOf(actor) === null ? await marked.executeTakeFirst() : null)
          if (!row) return null
          await db.deleteFrom('favourite').where('item_seq', '=', row.seq).where('user_seq', '=', user).execute()
          return { id: row.id }
        }
        const row = visible
        if (!row) return null
        if (!(await mine.select('item_seq').where('item_seq', '=', row.seq).executeTakeFirst())) {
          const n = await countRows(mine)
          if (n >= most) return 'full'
          const at = context.now()
          await db.insertInto('favourite').values({ item_seq: row.seq, user_seq: user, created_at: at }).execute()
        }
        return { id: row.id }
      }),
    /** The user's favourites, of one kind unless it is null, that the actor may list, the last marked first. */
    async listFavourites(
      actor: Actor,
      userId: string,
      { kind, ...page }: { kind: ItemKind | null; limit: number; offset: number },
    ): Promise<SearchResult<Item>> {
      const all = reader
        .selectFrom('item')
        .innerJoin('favourite', 'favourite.item_seq', 'item.seq')
        .innerJoin('user', 'user.seq', 'favourite.user_seq')
        .where('user.id', '=', userId)
        .where(isInVisibleSet(visibleSet(actor, 'list')))
      const marked = kind === null ? all : all.where('item.kind', '=', kind)
      return await listItems(reader, marked.select('item.seq').orderBy('favourite.created_at', 'desc').orderBy('item.seq', 'desc'), page)
    },
    /** Which of these items are the user's favourites, by id, among those the actor may see. */
    async findFavourites(actor: Actor, userId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
      if (ids.length === 0) return new Set()
      const rows = await reader
        .selectFrom('favourite')
        .innerJoin('user', 'user.seq', 'favourite.user_seq')
        .innerJoin('item', 'item.seq', 'favourite.item_seq')
        .select('item.id')
        .where('user.id', '=', userId)
        .where('item.id', 'in', ids)
        .where(isInVisibleSet(visibleSet(actor, 'id')))
        .execute()
      return new Set(rows.map(({ id }) => id))
    },
  }
}
