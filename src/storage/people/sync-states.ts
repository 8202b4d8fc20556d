import type { Kysely } from 'kysely'
import type { SyncedPath } from '../../domain/service/sync.ts'
import { AppError } from '../../errors.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { findUserSeq } from './names.ts'

function selectStates(db: Kysely<Database>, userId: string, target: string) {
  return db
    .selectFrom('sync_state')
    .innerJoin('user', 'user.seq', 'sync_state.user_seq')
    .where('user.id', '=', userId)
    .where('target', '=', target)
    .select(['path', 'item_id', 'digest', 'library_digest', 'version'])
}

function toSynced(row: Awaited<ReturnType<ReturnType<typeof selectStates>['execute']>>[number]): SyncedPath {
  return { path: row.path, itemId: row.item_id, digest: row.digest, libraryDigest: row.library_digest, version: row.version }
}

function isSame(one: SyncedPath | null, other: SyncedPath | null): boolean {
  if (one === null || other === null) return one === other
  return one.itemId === other.itemId && one.digest === other.digest && one.libraryDigest === other.libraryDigest
}

/** The last synced states of folders. */
export function syncStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    async listSynced(userId: string, target: string): Promise<SyncedPath[]> {
      return (await selectStates(reader, userId, target).orderBy('path').execute()).map(toSynced)
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
        if (!isSame(row ? toSynced(row) : null, from?.path === path ? from : null)) {
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
