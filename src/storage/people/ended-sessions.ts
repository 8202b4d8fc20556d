import type { Kysely } from 'kysely'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Most ended sessions that are remembered. A token of one beyond works again for its owner, to whom it grants nothing. */
const MAX_ENDED = 100_000

const endedById = prepareQuery((db) => db.selectFrom('ended_session').select('id').where('id', '=', slot('id')))

/** Ended sessions, by id. */
export function endedSessionStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** Ends a session for every process. @param endsAt when its token ends by itself, in milliseconds */
    endSession: (id: string, endsAt: number): Promise<void> =>
      context.sideTransaction(async (db) => {
        const at = (ms: number) => new Date(ms).toISOString()
        await db.deleteFrom('ended_session').where('ends_at', '<', at(context.clock())).execute()
        const surplus = db
          .selectFrom('ended_session')
          .select('id')
          .orderBy('ends_at', 'desc')
          .offset(MAX_ENDED - 1)
          .limit(MAX_ENDED)
        await db.deleteFrom('ended_session').where('id', 'in', surplus).execute()
        await db
          .insertInto('ended_session')
          .values({ id, ends_at: at(endsAt) })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute()
      }),
    /** Those of these sessions that were ended. */
    async findEndedSessions(ids: readonly string[]): Promise<string[]> {
      const [first, ...others] = ids
      if (first === undefined) return []
      const rows =
        others.length === 0
          ? await endedById(reader, { id: first })
          : await reader.selectFrom('ended_session').select('id').where('id', 'in', ids).execute()
      return rows.map(({ id }) => id)
    },
  }
}
