import type { Kysely } from 'kysely'
import { DRAFT_KINDS, type DraftKind } from '../../domain/people/form-drafts.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { findUserSeq, seqOfUser } from './names.ts'

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
