import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { CounterStore, InstanceListener, Instances, LibraryChange } from '../library/ports/instances.ts'

import { MAX_SIGNAL_BYTES, type OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-items.ts'
import type { Database } from './schema.ts'

/** How often mail is looked for without a signal: where signals do not arrive, such as behind a pooler. */
const LOOK_MS = 1_000
/** When mail that nobody read, and counts of a stretch that is over, go: late enough for clocks that do not quite agree. */
const KEPT_MS = 60 * 60_000
/** How often that is looked at. */
const PRUNE_MS = 10 * 60_000

const changeShape = z.object({
  kind: z.enum(['prompt', 'skill']),
  ownerId: z.string(),
  isPublic: z.boolean(),
  isPurge: z.literal(true).optional(),
})
/** What instances tell each other. */
const signalShape = z.discriminatedUnion('tells', [
  z.object({ tells: z.literal('changes'), from: z.string(), changes: z.array(changeShape).readonly() }),
  z.object({ tells: z.literal('logins'), from: z.string() }),
  z.object({ tells: z.literal('mail'), to: z.string() }),
])
type Signal = z.infer<typeof signalShape>

/** What is told when it is not known, or would take too long to say, what changed. */
const ANYTHING: readonly LibraryChange[] = [
  { kind: 'prompt', ownerId: '', isPublic: true, isPurge: true },
  { kind: 'skill', ownerId: '', isPublic: true, isPurge: true },
]

/** The signal of a transaction's changes, each told once. */
export function toChangeSignal(from: string, changes: readonly LibraryChange[]): string {
  const distinct = new Map(changes.map((change) => [`${change.kind} ${change.isPublic} ${change.isPurge} ${change.ownerId}`, change]))
  const write = (all: readonly LibraryChange[]) => JSON.stringify({ tells: 'changes', from, changes: all } satisfies Signal)
  const text = write([...distinct.values()])
  return Buffer.byteLength(text) > MAX_SIGNAL_BYTES ? write(ANYTHING) : text
}

/** The other processes that share the database, where the engine lets there be any. */
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
      // One look at a time keeps the order; a signal during one asks for another.
      const look = (): Promise<void> => {
        if (reading) {
          isAgain = true
          return reading
        }
        const readAll = async () => {
          do {
            isAgain = false
            // What cannot be read now is read at the next look.
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
      // What could not be removed now is removed later.
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
      await signals?.send(context.reader, JSON.stringify({ tells: 'logins', from: instance } satisfies Signal))
    },
    addPoints: (endsAt, points) =>
      context.sideTransaction(async (db) => {
        await removeOld(db)
        if (points.size === 0) return new Map()
        // In one order always: two that add to the same counts would wait for each other.
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

/** Others may send on the same channel, or be of another version. */
function readSignal(text: string): Signal | null {
  try {
    return signalShape.parse(JSON.parse(text))
  } catch {
    return null
  }
}
