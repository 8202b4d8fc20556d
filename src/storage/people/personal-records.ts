import type { Kysely, Selectable } from 'kysely'
import { type EmbedConfig, embedConfig, type StoredEmbed } from '../../domain/embed/config.ts'
import { DRAFT_KINDS, type DraftKind } from '../../domain/people/people.ts'
import type { SyncedPath } from '../../domain/service/transfer.ts'
import { AppError } from '../../errors.ts'
import { countRows } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { findUserSeq, seqOfUser } from './user-rows.ts'

/** Drafts that pages keep for the next request. */
export function formDraftStore(reader: Kysely<Database>, context: WriteContext) {
  const timeAt = (ms: number) => new Date(ms).toISOString()
  const oldest = (kind: DraftKind) => timeAt(context.clock() - DRAFT_KINDS[kind].keptMs)
  return {
    /** The id of the draft. Removes what is over, and all but the newest of the person and the kind. */
    saveFormDraft: (userId: string, kind: DraftKind, body: string): Promise<string> =>
      context.sideTransaction(async (db) => {
        const seq = await findUserSeq(db, userId)
        for (const one of Object.keys(DRAFT_KINDS) as DraftKind[]) {
          await db.deleteFrom('form_draft').where('kind', '=', one).where('created_at', '<', oldest(one)).execute()
        }
        const own = db.selectFrom('form_draft').select('id').where('owner_seq', '=', seq).where('kind', '=', kind)
        const newest = own
          .orderBy('created_at', 'desc')
          .orderBy('id')
          .limit(DRAFT_KINDS[kind].most - 1)
        await db.deleteFrom('form_draft').where('id', 'in', own).where('id', 'not in', newest).execute()
        const row = { id: context.random.id(), owner_seq: seq, kind, body, created_at: timeAt(context.clock()) }
        await db.insertInto('form_draft').values(row).execute()
        return row.id
      }),
    async findFormDraft(userId: string, kind: DraftKind, id: string): Promise<string | null> {
      const row = await reader
        .selectFrom('form_draft')
        .innerJoin('user', 'user.seq', 'form_draft.owner_seq')
        .select('form_draft.body')
        .where('form_draft.id', '=', id)
        .where('form_draft.kind', '=', kind)
        .where('user.id', '=', userId)
        .where('form_draft.created_at', '>=', oldest(kind))
        .executeTakeFirst()
      return row?.body ?? null
    },
    removeFormDraft: (userId: string, id: string): Promise<void> =>
      context.transact(async (db) => {
        const own = db.deleteFrom('form_draft').where('owner_seq', '=', await seqOfUser(db, userId))
        await own.where('id', '=', id).execute()
      }),
  }
}

function selectStates(db: Kysely<Database>, userId: string, target: string) {
  return db
    .selectFrom('sync_state')
    .innerJoin('user', 'user.seq', 'sync_state.user_seq')
    .where('user.id', '=', userId)
    .where('target', '=', target)
    .select(['path', 'item_id as itemId', 'digest', 'library_digest as libraryDigest', 'version'])
}

function isSame(one: SyncedPath | null, other: SyncedPath | null): boolean {
  if (one === null || other === null) return one === other
  return one.itemId === other.itemId && one.digest === other.digest && one.libraryDigest === other.libraryDigest
}

/** The last synced states of folders. */
export function syncStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    async listSynced(userId: string, target: string): Promise<SyncedPath[]> {
      return await selectStates(reader, userId, target).orderBy('path').execute()
    },
    /**
     * Replaces the state of one path.
     * @param from the state that was read, null for none
     * @param to null: removes it
     * @throws AppError `conflict` when the state is no longer `from`: another sync of this folder runs
     */
    saveSynced: (userId: string, target: string, from: SyncedPath | null, to: SyncedPath | null): Promise<void> =>
      context.transact(async (db) => {
        const path = (to ?? from)?.path
        if (path === undefined) return
        const user = await findUserSeq(db, userId)
        const row = await selectStates(db, userId, target).where('path', '=', path).executeTakeFirst()
        if (!isSame(row ?? null, from?.path === path ? from : null)) {
          throw new AppError('conflict', `${path} was synced by another process meanwhile.`)
        }
        await db.deleteFrom('sync_state').where('user_seq', '=', user).where('target', '=', target).where('path', '=', path).execute()
        if (to === null) return
        const { itemId, digest, libraryDigest, version } = to
        await db
          .insertInto('sync_state')
          .values({ user_seq: user, target, path, item_id: itemId, digest, library_digest: libraryDigest, version })
          .execute()
      }),
  }
}

function toEmbed(row: Selectable<Database['embed']>): StoredEmbed {
  return { id: row.id, config: embedConfig.parse(JSON.parse(row.config)), createdAt: row.created_at }
}

/** Saved embeds. */
export function embedStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** null when the person keeps `most` already. */
    saveEmbed: (userId: string, config: EmbedConfig, most: number): Promise<StoredEmbed | null> =>
      context.transact(async (db, notes) => {
        const seq = await findUserSeq(db, userId)
        const count = await countRows(db.selectFrom('embed').where('owner_seq', '=', seq))
        if (count >= most) return null
        const row = {
          id: context.random.id(),
          owner_seq: seq,
          config: JSON.stringify(config),
          created_at: context.now(),
        }
        await db.insertInto('embed').values(row).execute()
        notes.audit({ action: 'embed_saved', targetId: row.id, ownerId: userId })
        return toEmbed(row)
      }),
    async findEmbed(id: string): Promise<StoredEmbed | null> {
      const row = await reader.selectFrom('embed').selectAll().where('id', '=', id).executeTakeFirst()
      return row ? toEmbed(row) : null
    },
    /** The newest first. */
    async listEmbeds(userId: string): Promise<StoredEmbed[]> {
      const rows = await reader
        .selectFrom('embed')
        .selectAll()
        .where('owner_seq', '=', await seqOfUser(reader, userId))
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
      return rows.map(toEmbed)
    },
    /** Whether there was one of theirs. */
    deleteEmbed: (userId: string, id: string): Promise<boolean> =>
      context.transact(async (db, notes) => {
        const own = db.deleteFrom('embed').where('owner_seq', '=', await seqOfUser(db, userId))
        const { numDeletedRows } = await own.where('id', '=', id).executeTakeFirst()
        if (numDeletedRows > 0n) notes.audit({ action: 'embed_deleted', targetId: id, ownerId: userId })
        return numDeletedRows > 0n
      }),
  }
}
