import type { Kysely } from 'kysely'
import type { SessionStore } from '../../library/ports/sessions.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Shortest interval between two updates of a session's last use. */
const TOUCH_EVERY_MS = 60_000
/** Most sessions ended at once to make room for one. */
const MAX_PRUNED = 10_000

const sessionByHash = prepareQuery((db) =>
  db.selectFrom('session').select(['owner', 'initialize', 'holder', 'seen_at']).where('sha256', '=', slot('sha256')),
)

/** Sessions of MCP clients. */
export function sessionStore(reader: Kysely<Database>, context: WriteContext): SessionStore {
  const at = (ms: number) => new Date(ms).toISOString()
  return {
    createSession: (session, limits) =>
      context.sideTransaction(async (db) => {
        const now = context.clock()
        const ended = await db
          .deleteFrom('session')
          .where('seen_at', '<', at(now - limits.idleMs))
          .returning(['sha256', 'holder'])
          .execute()
        // Beyond its quota a caller's oldest session ends; beyond all, the oldest of all.
        const newestFirst = db.selectFrom('session').select('seq').orderBy('seen_at', 'desc').orderBy('seq', 'desc').limit(MAX_PRUNED)
        const surplus = [newestFirst.where('quota', '=', session.quota).offset(limits.perQuota - 1), newestFirst.offset(limits.total - 1)]
        for (const rows of surplus)
          ended.push(...(await db.deleteFrom('session').where('seq', 'in', rows).returning(['sha256', 'holder']).execute()))
        const { sha256, owner, quota, initialize } = session
        await db
          .insertInto('session')
          .values({ sha256, owner, quota, initialize, holder: null, seen_at: at(now) })
          .execute()
        return ended
      }),
    async findSession(sha256, idleMs) {
      const [row] = await sessionByHash(reader, { sha256 })
      const now = context.clock()
      if (!row || row.seen_at < at(now - idleMs)) return null
      if (row.seen_at < at(now - TOUCH_EVERY_MS)) {
        // Best effort, as for keys: a busy disk must not stop a client.
        const seen = context.sideTransaction(async (db) => {
          await db
            .updateTable('session')
            .set({ seen_at: at(now) })
            .where('sha256', '=', sha256)
            .execute()
        })
        seen.catch(() => {})
      }
      return { owner: row.owner, initialize: row.initialize, holder: row.holder }
    },
    takeSession: (sha256, instance, expected) =>
      context.sideTransaction(async (db) => {
        const taken = await db
          .updateTable('session')
          // One statement: between two, the holder may release the session, and it would seem to be gone.
          .set((eb) => ({
            holder: eb
              .case()
              .when(eb.or([eb('holder', 'is', null), eb('holder', 'in', expected === null ? [instance] : [instance, expected])]))
              .then(instance)
              .else(eb.ref('holder'))
              .end(),
          }))
          .where('sha256', '=', sha256)
          .returning('holder')
          .executeTakeFirst()
        return taken?.holder ?? null
      }),
    releaseSession: (sha256, instance) =>
      context.sideTransaction(async (db) => {
        await db.updateTable('session').set({ holder: null }).where('sha256', '=', sha256).where('holder', '=', instance).execute()
      }),
    releaseSessions: (instance) =>
      context.sideTransaction(async (db) => {
        await db.updateTable('session').set({ holder: null }).where('holder', '=', instance).execute()
      }),
    deleteSession: (sha256) =>
      context.sideTransaction(async (db) => {
        const gone = await db.deleteFrom('session').where('sha256', '=', sha256).returning('holder').executeTakeFirst()
        return gone?.holder ?? null
      }),
  }
}
