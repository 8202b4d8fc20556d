import type { Kysely } from 'kysely'
import { isId } from '../../library/identifier.ts'
import type { ItemKind } from '../../library/items.ts'
import type { MarkStore } from '../../library/ports/marks.ts'
import { hasRight } from '../../library/teams.ts'
import { findRole } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'
import { keepChannelName } from './channel-names.ts'
import { favouriteStore } from './favourites.ts'
import { countRows, readItemsInOrder, toItems } from './item-lists.ts'
import { lockItem } from './item-locks.ts'
import { fileNewestVersion, type WriteNotes } from './item-parts.ts'
import { findVisibleRow } from './item-queries.ts'
import { readTags, selectItems } from './item-rows.ts'
import { findPublication, takeBackPublication } from './publications.ts'
import type { WriteContext } from './write-context.ts'
import { findUserSeq } from './write-items.ts'

/** Votes, favourites, and what administrators decide about items. */
export function markStore(reader: Kysely<Database>, context: WriteContext): MarkStore {
  const now = () => new Date(context.clock()).toISOString()
  /** Changes one item, beside changes of others. Null when there is none. */
  const change = <T>(ref: string, work: (db: Kysely<Database>, notes: WriteNotes) => Promise<T>) =>
    context.transact(async (db, notes) => ((await lockItem(db, ref)) ? await work(db, notes) : null), { isConcurrent: true })
  const findById = async (db: Kysely<Database>, kind: ItemKind, id: string) =>
    isId(id)
      ? await selectItems(db)
          .where('item.kind', '=', kind)
          .where('item.id', '=', id)
          .where('item.deleted_at', 'is', null)
          .executeTakeFirst()
      : undefined
  const favourites = favouriteStore(reader, context)
  return {
    ...favourites,
    async findMarks(actor, kind, ref) {
      const row = await findVisibleRow(reader, actor, kind, ref)
      if (!row) return null
      const userId = actor.kind === 'user' ? actor.userId : ''
      const owner = await reader.selectFrom('user').select(['username', 'is_team']).where('id', '=', row.owner_id).executeTakeFirstOrThrow()
      const role = await findRole(reader, userId, row.owner_id)
      const vote = await reader
        .selectFrom('vote')
        .innerJoin('user', 'user.seq', 'vote.user_seq')
        .select('vote.item_seq')
        .where('vote.item_seq', '=', row.seq)
        .where('user.id', '=', userId)
        .executeTakeFirst()
      return {
        id: row.id,
        owner: owner.username,
        isTeam: owner.is_team === 1,
        role,
        hasVoted: vote !== undefined,
        isFavourite: (await favourites.findFavourites(actor, userId, [row.id])).has(row.id),
        version: row.version,
        isFeatured: row.featured_at !== null,
        isHeld: row.held_at !== null,
        publicationUntil:
          row.visibility === 'public' && hasRight(role, 'publish')
            ? ((await findPublication(reader, row, userId, context.clock()))?.until ?? null)
            : null,
      }
    },
    setVote: (actor, kind, ref, userId, voted) =>
      change(ref, async (db, notes) => {
        const row = await findVisibleRow(db, actor, kind, ref)
        if (!row) return null
        const voter = await findUserSeq(db, userId)
        if (voted) {
          await db
            .insertInto('vote')
            .values({ item_seq: row.seq, user_seq: voter, created_at: new Date(context.clock()).toISOString() })
            .onConflict((c) => c.columns(['item_seq', 'user_seq']).doNothing())
            .execute()
        } else {
          await db.deleteFrom('vote').where('item_seq', '=', row.seq).where('user_seq', '=', voter).execute()
        }
        const { votes } = await db
          .updateTable('item')
          .set((eb) => ({
            votes: eb
              .selectFrom('vote')
              .select((v) => v.fn.countAll<number>().as('n'))
              .where('vote.item_seq', '=', row.seq),
          }))
          .where('item.seq', '=', row.seq)
          .returning('votes')
          .executeTakeFirstOrThrow()
        notes.index(row.seq, null)
        return { id: row.id, votes }
      }),
    takeBackPublication: (kind, id, userId) =>
      context.transact(async (db, notes) => {
        const row = await findById(db, kind, id)
        if (!row || !hasRight(await findRole(db, userId, row.owner_id), 'publish')) return null
        const publication = await findPublication(db, row, userId, context.clock())
        return publication && { slug: await takeBackPublication(db, notes, row, publication) }
      }),
    async setFeatured(kind, id, isFeatured) {
      const outcome = await change(id, async (db, notes) => {
        const row = await findById(db, kind, id)
        if (row?.visibility !== 'public') return false
        await db
          .updateTable('item')
          .set({ featured_at: isFeatured ? now() : null })
          .where('seq', '=', row.seq)
          .execute()
        if (isFeatured !== (row.featured_at !== null)) {
          const action = isFeatured ? 'item_featured' : 'item_unfeatured'
          notes.audit({ action, targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        }
        return true
      })
      return outcome ?? false
    },
    async setHeld(kind, id, isHeld) {
      const outcome = await change(id, async (db, notes) => {
        const row = await findById(db, kind, id)
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
              ? { held_at: now(), held_from: 'public', visibility: 'unlisted', featured_at: null }
              : { held_at: null, held_from: null, visibility: lifted },
          )
          .where('seq', '=', row.seq)
          .execute()
        await keepChannelName(db, row.seq)
        notes.index(row.seq, null)
        notes.changed({ kind, ownerId: row.owner_id, audience: 'everybody' })
        notes.audit({ action: isHeld ? 'item_held' : 'item_released', targetId: row.id, ownerId: row.owner_id, detail: { kind } })
        return true
      })
      return outcome ?? false
    },
    async listFeatured(limit) {
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
    async listHeld({ limit, offset }) {
      const held = reader
        .selectFrom('item')
        .where('held_at', 'is not', null)
        .where('visibility', '<>', 'private')
        .where('deleted_at', 'is', null)
      const seqs = await held.select('seq').orderBy('held_at', 'desc').orderBy('seq', 'desc').limit(limit).offset(offset).execute()
      return { items: await readItemsInOrder(reader, seqs), total: await countRows(held) }
    },
  }
}
