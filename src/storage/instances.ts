import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { CounterStore, InstanceListener, Instances, LibraryChange } from '../library/ports/instances.ts'
import { AUDIENCES } from '../library/visibility.ts'
import { MAX_SIGNAL_BYTES, type OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-context.ts'
import { raiseLoginsRevision, readLoginsRevision } from './revisions.ts'
import type { Database } from './schema.ts'

/** Poll interval for mail, for setups where signals do not arrive, such as behind a pooler. */
const LOOK_MS = 1_000
/** Retention of unread mail and of counts of past windows: long enough for clock differences. */
const KEPT_MS = 60 * 60_000
/** Prune interval. */
const PRUNE_MS = 10 * 60_000

const changeShape = z.object({
  kind: z.enum(['prompt', 'skill']),
  ownerId: z.string(),
  audience: z.enum(AUDIENCES),
  isPurge: z.literal(true).optional(),
})
/** Signals between instances. */
const signalShape = z.discriminatedUnion('tells', [
  z.object({ tells: z.literal('changes'), from: z.string(), changes: z.array(changeShape).readonly() }),
  z.object({ tells: z.literal('logins'), from: z.string() }),
  z.object({ tells: z.literal('mail'), to: z.string() }),
])
type Signal = z.infer<typeof signalShape>

/** Sent when the changes are unknown, or too many for one signal. */
const ANYTHING: readonly LibraryChange[] = [
  { kind: 'prompt', ownerId: '', audience: 'everybody', isPurge: true },
  { kind: 'skill', ownerId: '', audience: 'everybody', isPurge: true },
]

/** The signal of a transaction's distinct changes. */
export function toChangeSignal(from: string, changes: readonly LibraryChange[]): string {
  const distinct = new Map(changes.map((change) => [`${change.kind} ${change.audience} ${change.isPurge} ${change.ownerId}`, change]))
  const write = (all: readonly LibraryChange[]) => JSON.stringify({ tells: 'changes', from, changes: all } satisfies Signal)
  const text = write([...distinct.values()])
  return Buffer.byteLength(text) > MAX_SIGNAL_BYTES ? write(ANYTHING) : text
}

/** The instances that share the database. */
export function joinInstances(database: OpenDatabase, instance: string, context: WriteContext): Instances & CounterStore {
  const { signals } = database
  const at = (ms: number) => new Date(ms).toISOString()
  const removeOld = async (db: Kysely<Database>): Promise<void> => {
    const longAgo = at(context.clock() - KEPT_MS)
    await db.deleteFrom('instance_mail').where('created_at', '<', longAgo).execute()
    await db.deleteFrom('counter').where('ends_at', '<', longAgo).execute()
  }
  const readMail = async (listener: InstanceListener): Promise<void> => {
    const mail = await context.sideTransaction((db) =>
      db.deleteFrom('instance_mail').where('instance', '=', instance).returning(['seq', 'body']).execute(),
    )
    for (const { body } of mail.toSorted((a, b) => a.seq - b.seq)) listener.onMail(body)
  }
  return {
    instance,
    isShared: signals !== null,
    listen(listener) {
      if (!signals) return async () => {}
      let isStopped = false
      let reading: Promise<void> | null = null
      let isAgain = false
      // One poll at a time preserves order; a signal during a poll triggers another.
      const look = (): Promise<void> => {
        if (reading) {
          isAgain = true
          return reading
        }
        const readAll = async () => {
          do {
            isAgain = false
            // Retried at the next poll.
            await readMail(listener).catch(() => {})
          } while (isAgain && !isStopped)
        }
        reading = readAll().finally(() => {
          reading = null
        })
        return reading
      }
      const hear = (text: string | null): void => {
        if (text === null) {
          for (const change of ANYTHING) listener.onChange(change)
          listener.onLoginsChanged()
          void look()
          return
        }
        const signal = readSignal(text)
        if (signal?.tells === 'mail' && signal.to === instance) void look()
        if (signal?.tells === 'logins' && signal.from !== instance) listener.onLoginsChanged()
        if (signal?.tells === 'changes' && signal.from !== instance) for (const change of signal.changes) listener.onChange(change)
      }
      const timer = setInterval(() => void look(), LOOK_MS)
      timer.unref()
      // Removed at the next interval.
      const pruning = setInterval(() => void context.sideTransaction(removeOld).catch(() => {}), PRUNE_MS)
      pruning.unref()
      const stop = signals.listen(hear)
      return async () => {
        isStopped = true
        clearInterval(timer)
        clearInterval(pruning)
        await stop()
        await reading
      }
    },
    async sendMail(to, body) {
      if (!signals) return
      await context.sideTransaction(async (db) => {
        await db
          .insertInto('instance_mail')
          .values({ instance: to, body, created_at: at(context.clock()) })
          .execute()
        await signals.send(db, JSON.stringify({ tells: 'mail', to } satisfies Signal))
      })
    },
    async tellLoginsChanged() {
      await context.sideTransaction(async (db) => {
        await raiseLoginsRevision(db)
        await signals?.send(db, JSON.stringify({ tells: 'logins', from: instance } satisfies Signal))
      })
    },
    readLoginsRevision: () => readLoginsRevision(context.reader),
    addPoints: (endsAt, points) =>
      context.sideTransaction(async (db) => {
        await removeOld(db)
        if (points.size === 0) return new Map()
        // Always in the same order, or two that add to the same counts could deadlock.
        const rows = [...points]
          .map(([name, added]) => ({ name, ends_at: endsAt, points: added }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        const counted = await db
          .insertInto('counter')
          .values(rows)
          .onConflict((conflict) =>
            conflict.columns(['name', 'ends_at']).doUpdateSet((eb) => ({ points: eb('counter.points', '+', eb.ref('excluded.points')) })),
          )
          .returning(['name', 'points'])
          .execute()
        return new Map(counted.map(({ name, points: total }) => [name, total]))
      }),
  }
}

/** Other programs or versions may send on the same channel. */
function readSignal(text: string): Signal | null {
  try {
    return signalShape.parse(JSON.parse(text))
  } catch {
    return null
  }
}
