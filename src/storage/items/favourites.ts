import type { Kysely } from 'kysely'
import { withinOf } from '../../library/actor.ts'
import { isId } from '../../library/identifier.ts'
import type { ItemKind } from '../../library/items.ts'
import type { MarkStore } from '../../library/ports/marks.ts'
import { visibleSet } from '../../library/visibility.ts'
import { prepareLock } from '../dialects/row-locks.ts'
import { slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { countRows, readItemsInOrder } from './item-lists.ts'
import { findVisibleRow } from './item-queries.ts'
import { isInVisibleSet } from './item-rows.ts'
import type { WriteContext } from './write-context.ts'
import { findUserSeq } from './write-items.ts'

const lockUser = prepareLock<'user'>((db) => db.selectFrom('user').select('seq').where('id', '=', slot('id')))

/** The item of an id or slug, visible or not. */
function selectNamed(db: Kysely<Database>, kind: ItemKind, ref: string) {
  const items = db.selectFrom('item').where('item.kind', '=', kind)
  const named = isId(ref)
    ? items.where('item.id', '=', ref)
    : items.innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', ref)
  return named.select(['item.seq', 'item.id'])
}

/** What readers marked for themselves. A mark stays while its item is hidden from its reader, and is not shown meanwhile. */
export function favouriteStore(
  reader: Kysely<Database>,
  context: WriteContext,
): Pick<MarkStore, 'setFavourite' | 'listFavourites' | 'findFavourites'> {
  return {
    setFavourite: (actor, kind, ref, userId, isFavourite, most) =>
      context.transact(
        async (db) => {
          // How many somebody may have is counted under the lock.
          await lockUser(db, { id: userId })
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
            const { n } = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
            if (Number(n) >= most) return 'full'
            const at = new Date(context.clock()).toISOString()
            await db.insertInto('favourite').values({ item_seq: row.seq, user_seq: user, created_at: at }).execute()
          }
          return { id: row.id }
        },
        { isConcurrent: true },
      ),
    async listFavourites(actor, userId, { kind, limit, offset }) {
      const all = reader
        .selectFrom('item')
        .innerJoin('favourite', 'favourite.item_seq', 'item.seq')
        .innerJoin('user', 'user.seq', 'favourite.user_seq')
        .where('user.id', '=', userId)
        .where(isInVisibleSet(visibleSet(actor, 'list')))
      const marked = kind === null ? all : all.where('item.kind', '=', kind)
      const seqs = await marked
        .select('item.seq')
        .orderBy('favourite.created_at', 'desc')
        .orderBy('item.seq', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      return { items: await readItemsInOrder(reader, seqs), total: await countRows(marked) }
    },
    async findFavourites(actor, userId, ids) {
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
