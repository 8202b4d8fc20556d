import type { Kysely, Selectable } from 'kysely'
import type { EmbedConfig, StoredEmbed } from '../../domain/embed/config.ts'
import { embedConfig } from '../../domain/embed/config.ts'
import { findUserSeq, seqOfUser } from '../people/names.ts'
import type { Database } from '../schema.ts'
import { countRows } from './item-rows.ts'
import type { WriteContext } from './write-context.ts'

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
