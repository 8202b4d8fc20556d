import { type Kysely, sql } from 'kysely'
import { type ItemMarks, requireMayAdd } from '../../domain/items/item-access.ts'
import type { Item, ItemKind } from '../../domain/items/items.ts'
import type { SearchResult } from '../../domain/items/search.ts'
import { audienceOf, visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, withinOf } from '../../domain/people/actor.ts'
import { findOwner, findUserSeq, ownersWith } from '../people/user-rows.ts'
import type { Database } from '../schema.ts'
import { keepChannelName } from '../slugs.ts'
import { fileNewestVersion } from './item-parts.ts'
import { findVisibleRow } from './item-queries.ts'
import { countRows, findLiveRow, isInVisibleSet, isNamed, listItems, readMarks, readTags, selectItems, toItems } from './item-rows.ts'
import { dropTakenNames } from './named-prompts.ts'
import type { WriteContext } from './write-context.ts'

/** The favourites of readers. A mark stays while its item is hidden from its reader, and is not shown meanwhile. */
function favouriteStore(reader: Kysely<Database>, context: WriteContext) {
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
          const named = db.selectFrom('item').select(['seq', 'id']).where(isNamed(ref)).where('kind', '=', kind)
          const marked = named.where('seq', 'in', mine.select('item_seq'))
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

/** Votes, favourites, and what administrators decide about items. */
export function markStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    ...favouriteStore(reader, context),
    /** Null for what the actor may not see. */
    async findMarks(actor: Actor, kind: ItemKind, ref: string): Promise<ItemMarks | null> {
      const row = await findVisibleRow(reader, actor, kind, ref)
      return row && (await readMarks(reader, actor, row))
    },
    /** Records or withdraws a vote on an item the actor may see; the count is that of the votes there are. Null when it may not. */
    setVote: (actor: Actor, kind: ItemKind, ref: string, userId: string, voted: boolean): Promise<{ id: string; votes: number } | null> =>
      context.transact(async (db, notes) => {
        const row = await findVisibleRow(db, actor, kind, ref)
        if (!row) return null
        const voter = await findUserSeq(db, userId)
        if (voted) {
          await db
            .insertInto('vote')
            .values({ item_seq: row.seq, user_seq: voter, created_at: context.now() })
            .onConflict((c) => c.columns(['item_seq', 'user_seq']).doNothing())
            .execute()
        } else {
          await db.deleteFrom('vote').where('item_seq', '=', row.seq).where('user_seq', '=', voter).execute()
        }
        const { votes } = await db
          .updateTable('item')
          .set({ votes: sql<number>`(select count(*) from vote where vote.item_seq = item.seq)` })
          .where('item.seq', '=', row.seq)
          .returning('votes')
          .executeTakeFirstOrThrow()
        notes.index(row.seq, null)
        return { id: row.id, votes }
      }),
    /** Puts a public item on the first page, or takes it off. False when the public sees no such item. */
    setFeatured: (kind: ItemKind, id: string, isFeatured: boolean): Promise<boolean> =>
      context.transact(async (db, notes) => {
        const row = await findLiveRow(db, id, kind)
        if (row?.visibility !== 'public') return false
        await db
          .updateTable('item')
          .set({ featured_at: isFeatured ? context.now() : null })
          .where('seq', '=', row.seq)
          .execute()
        if (isFeatured !== (row.featured_at !== null)) {
          const action = isFeatured ? 'item_featured' : 'item_unfeatured'
          notes.audit({ action, targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        }
        return true
      }),
    /** Takes a public item out of the lists, or lifts that, which makes it public again unless its owner chose another visibility meanwhile. False when there is nothing to do it to. */
    setHeld: (kind: ItemKind, id: string, isHeld: boolean): Promise<boolean> =>
      context.transact(async (db, notes) => {
        const row = await findLiveRow(db, id, kind)
        const isWanted = isHeld ? row?.visibility === 'public' : row?.held_at !== null
        if (!row || !isWanted) return false
        const lifted = row.held_from ?? row.visibility
        if (!isHeld) {
          const tags = (await readTags(db, [row.seq])).get(row.seq) ?? []
          const filed = { visibility: lifted, category: row.category_slug, tags }
          await fileNewestVersion(db, { seq: row.seq, version: row.version, ownerSeq: row.owner_seq }, filed, null)
        }
        await db
          .updateTable('item')
          .set(
            isHeld
              ? { held_at: context.now(), held_from: 'public', visibility: 'unlisted', featured_at: null }
              : { held_at: null, held_from: null, visibility: lifted },
          )
          .where('seq', '=', row.seq)
          .execute()
        await keepChannelName(db, row.seq)
        notes.index(row.seq, null)
        notes.changed({ kind, ownerId: row.owner_id, audience: 'everybody' })
        notes.audit({ action: isHeld ? 'item_held' : 'item_released', targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        return true
      }),
    /** Public items on the first page, the last one put there first. */
    async listFeatured(limit: number): Promise<Item[]> {
      const rows = await selectItems(reader)
        .where('item.featured_at', 'is not', null)
        .where('item.visibility', '=', 'public')
        .where('item.deleted_at', 'is', null)
        .orderBy('item.featured_at', 'desc')
        .orderBy('item.seq', 'desc')
        .limit(limit)
        .execute()
      return await toItems(reader, rows)
    },
    /** Items that administrators keep out of the lists, the newest first. */
    async listHeld(page: { limit: number; offset: number }): Promise<SearchResult<Item>> {
      const held = reader
        .selectFrom('item')
        .where('held_at', 'is not', null)
        .where('visibility', '<>', 'private')
        .where('deleted_at', 'is', null)
      return await listItems(reader, held.select('seq').orderBy('held_at', 'desc').orderBy('seq', 'desc'), page)
    },
  }
}

/** Moves items to the trash, and back. */
export function moveToTrash(context: WriteContext) {
  return (kind: ItemKind, ref: string, userId: string, deleted: boolean): Promise<{ id: string; slug: string; title: string } | null> =>
    context.transact(async (db, notes) => {
      const base = selectItems(db)
        .where('item.kind', '=', kind)
        .where('item.deleted_at', deleted ? 'is' : 'is not', null)
        .where('item.owner_seq', 'in', ownersWith(deleted ? 'delete' : 'edit', userId))
      const row = await base.where(isNamed(ref)).executeTakeFirst()
      if (!row) return null
      if (!deleted && row.owner_id !== userId) {
        // Whoever may not publish brings nothing back before others either.
        const owner = await findOwner(db, userId, { id: row.owner_id })
        if (owner) requireMayAdd(owner, kind, row.visibility)
      }
      const now = context.now()
      await db
        .updateTable('item')
        .set({ deleted_at: deleted ? now : null })
        .where('seq', '=', row.seq)
        .execute()
      if (!deleted) await dropTakenNames(db, [row.seq])
      notes.index(row.seq, null)
      notes.changed({ kind, ownerId: row.owner_id, audience: audienceOf(row.visibility) })
      notes.audit({ action: deleted ? 'item_deleted' : 'item_restored', targetId: row.id, ownerId: row.owner_id, detail: { kind } })
      return { id: row.id, slug: row.slug, title: row.title }
    })
}
