import { type Kysely, sql } from 'kysely'
import { BULK_DRAFT, type FormDraftStore } from '../../library/ports/embeds.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'

/** Forms that people are still writing. */
export function formDraftStore(reader: Kysely<Database>, context: WriteContext): FormDraftStore {
  return {
    saveFormDraft: (userId, body, { most, oldest }) =>
      context.transact(async (db) => {
        const { seq } = await db.selectFrom('user').select('seq').where('id', '=', userId).executeTakeFirstOrThrow()
        const row = { id: context.random.id(), owner_seq: seq, body, created_at: new Date(context.clock()).toISOString() }
        await db.deleteFrom('form_draft').where('created_at', '<', oldest).execute()
        const isAlike = sql<boolean>`(substr(body, 1, ${BULK_DRAFT.length}) = ${BULK_DRAFT}) = ${sql.lit(body.startsWith(BULK_DRAFT))}`
        const newest = db
          .selectFrom('form_draft')
          .select('id')
          .where('owner_seq', '=', seq)
          .where(isAlike)
          .orderBy('created_at', 'desc')
          .orderBy('id')
          .limit(most - 1)
        await db.deleteFrom('form_draft').where('owner_seq', '=', seq).where(isAlike).where('id', 'not in', newest).execute()
        await db.insertInto('form_draft').values(row).execute()
        return row.id
      }),
    async findFormDraft(userId, id, oldest) {
      const row = await reader
        .selectFrom('form_draft')
        .innerJoin('user', 'user.seq', 'form_draft.owner_seq')
        .select('form_draft.body')
        .where('form_draft.id', '=', id)
        .where('user.id', '=', userId)
        .where('form_draft.created_at', '>=', oldest)
        .executeTakeFirst()
      return row?.body ?? null
    },
  }
}
