import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { LibraryChange } from '../domain/items/changes.ts'
import { AUDIENCES } from '../domain/items/visibility.ts'
import type { LibraryFigures } from '../domain/service/service.ts'
import { tryJson } from '../domain/text/json.ts'
import { MAX_SIGNAL_BYTES, type OpenDatabase } from './dialects/dialect.ts'
import { countRows } from './items/item-rows.ts'
import { listLargestOwners } from './items/owner-usage.ts'
import type { WriteContext } from './items/write-context.ts'
import { addValue, dropValue, putValue, readValue } from './kept-values.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Database } from './schema.ts'
import { removeUnusedWords } from './search/item-words.ts'
import type { SearchReader } from './search/search-reader.ts'

/** The service's secrets and its address. */
export function secretStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** The secret from which keys are derived, made by `make` on first use and kept. */
    async ensureSecret(make: () => string): Promise<string> {
      const known = await readValue(reader, 'sealing_key')
      if (known !== null) return known
      return await context.transact(async (db, notes) => {
        const made = make()
        const secret = await addValue(db, 'sealing_key', made)
        if (secret === made) notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: 'sealing_key' } })
        return secret
      })
    },
    /** The address at which the service was last reached, or null when it never listened. */
    findServiceUrl: () => readValue(reader, 'service_url'),
    /** Notes the address at which the service is reached from now on. */
    async keepServiceUrl(url: string): Promise<void> {
      if ((await readValue(reader, 'service_url')) === url) return
      await context.transact(async (db, notes) => {
        await putValue(db, 'service_url', url)
        notes.audit({ action: 'setting_changed', targetId: null, ownerId: null, detail: { setting: 'service_url' } })
      })
    },
  }
}

/** Owners that are named: those who keep most. */
const MAX_OWNERS = 5

/** Figures of a library for operators. */
export function figureStore({ reader, measure }: OpenDatabase, search: SearchReader) {
  return {
    /** Counts rows over an index, so whoever asks often keeps the answer for a while. At the start it waits until search has read the library. */
    async readFigures(): Promise<LibraryFigures> {
      const isReady = search.isReady()
      // The index has what is not in the trash: counting that in the table would read every row with its text.
      const { countItems } = await search.current()
      const [prompts, skills] = [countItems('prompt'), countItems('skill')]
      const [items, users, logins, database, owners] = await Promise.all([
        countRows(reader.selectFrom('item')),
        countRows(reader.selectFrom('user').where('is_team', '=', 0)),
        countRows(reader.selectFrom('login')),
        measure(),
        listLargestOwners(reader, MAX_OWNERS),
      ])
      return {
        prompts,
        skills,
        // Somebody may have written between the two counts.
        inTrash: Math.max(0, items - prompts - skills),
        users,
        logins,
        schema: MIGRATIONS.at(-1)?.name ?? '',
        database,
        search: { isReady, items: prompts + skills },
        owners,
      }
    },
  }
}

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
  return signalShape.safeParse(tryJson(text)).data ?? null
}

/** Marks, in the transaction that deletes something, that a sweep is due. @param at ISO 8601 */
export async function markSweepDue(db: Kysely<Database>, at: string): Promise<void> {
  await putValue(db, 'sweep_due', at)
  await dropValue(db, 'search_epoch')
}

/** Removes the snapshot of the index, removes deleted text from the words and the log, and frees its space. False when a reader keeps the log. */
export async function sweep(
  database: Pick<OpenDatabase, 'snapshots' | 'reader' | 'file'>,
  transact: WriteContext['transact'],
): Promise<boolean> {
  const due = await readValue(database.reader, 'sweep_due')
  const transactUnseen = <T>(work: (db: Kysely<Database>) => Promise<T>) => transact(work, { isUnseen: true })
  await database.snapshots?.remove()
  await removeUnusedWords(database.reader, transactUnseen)
  // One that was begun before has the words.
  await database.snapshots?.remove()
  // A server frees deleted rows by itself.
  await database.file?.releaseRoom()
  if (database.file && !(await database.file.emptyLog())) return false
  // The next sweep removes what was deleted meanwhile.
  if (due !== null) await transactUnseen((db) => db.deleteFrom('secret').where('name', '=', 'sweep_due').where('value', '=', due).execute())
  return true
}
