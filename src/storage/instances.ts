import { z } from 'zod'
import { AUDIENCES } from '../domain/items/visibility.ts'
import type { LibraryChange } from '../domain/service/instances.ts'
import { MAX_SIGNAL_BYTES, type OpenDatabase } from './dialects/dialect.ts'
import type { WriteContext } from './items/write-context.ts'

/** Retention of counts of past windows: long enough for clock differences. */
const KEPT_MS = 60 * 60_000

const changeShape = z.object({
  kind: z.enum(['prompt', 'skill']),
  ownerId: z.string(),
  audience: z.enum(AUDIENCES),
  isPurge: z.literal(true).optional(),
})
/** Tells other instances what changed. */
const signalShape = z.object({ tells: z.literal('changes'), from: z.string(), changes: z.array(changeShape).readonly() })
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
export function joinInstances(database: OpenDatabase, instance: string, context: WriteContext) {
  const { signals } = database
  return {
    /** This process among them. */
    instance,
    /** Whether there may be others that serve from this store. */
    isShared: signals !== null,
    /** Subscribes to changes by other instances; returns the unsubscribe function. */
    listen(onChange: (change: LibraryChange) => void): () => Promise<void> {
      if (!signals) return async () => {}
      const hear = (text: string | null): void => {
        const signal = text === null ? { from: '', changes: ANYTHING } : readSignal(text)
        if (signal && signal.from !== instance) for (const change of signal.changes) onChange(change)
      }
      return signals.listen(hear)
    },
    /**
     * Adds points, or subtracts them, to named counts of a time window that ends at `endsAt` (ISO 8601); returns the totals. Old windows are
     * deleted.
     */
    addPoints: (endsAt: string, points: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> =>
      context.sideTransaction(async (db) => {
        const before = new Date(context.clock() - KEPT_MS).toISOString()
        await db.deleteFrom('counter').where('ends_at', '<', before).execute()
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
