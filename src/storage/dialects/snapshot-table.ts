import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { SnapshotDraft, SnapshotPlace, SnapshotSource } from './snapshot-place.ts'

const PART_BYTES = 2 ** 20
/** The first part has the header, and little else. */
const FIRST_PART_BYTES = 2 ** 12
/** A writer that added no part for so long is gone, and the next one takes its place. */
const STALE = sql`now() - interval '1 minute'`

/**
 * Creates the tables of the snapshot. They are unlogged: no write-ahead log, nothing on standbys, and empty after a crash of the server. A
 * snapshot refers to the row of the epoch, so whoever deletes that row deletes the snapshot in the same transaction; there is one finished
 * snapshot, and one writer. Part of migration 0037: not to be edited.
 */
export async function createSnapshotTables(db: Kysely<Database>): Promise<void> {
  await sql`create unlogged table index_snapshot (
    id text primary key,
    epoch_name text not null default 'search_epoch' references secret (name) on delete cascade,
    is_whole boolean not null default false,
    renewed_at timestamptz not null default now(),
    unique (epoch_name, is_whole))`.execute(db)
  await sql`create unlogged table index_snapshot_part (
    snapshot_id text not null references index_snapshot (id) on delete cascade,
    part integer not null,
    bytes bytea not null,
    primary key (snapshot_id, part))`.execute(db)
  await sql`alter table index_snapshot_part alter column bytes set storage external`.execute(db)
}

/** Runs reads or a change in a transaction of its own. */
type Transact = <T>(work: (db: Kysely<Database>) => Promise<T>) => Promise<T>

/**
 * Keeps others from the snapshots until the transaction ends: those who finish one, remove it, or end the epoch. False when there is no
 * epoch, and so no snapshot.
 */
async function lockEpoch(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql`select 1 from secret where name = 'search_epoch' for update`.execute(db)
  return rows.length > 0
}

/** Null after the last one. Base64 is a third shorter than the form in which the driver gets bytes. */
async function readPart(db: Kysely<Database>, id: string, part: number): Promise<Buffer | null> {
  const { rows } = await sql<{ text: string }>`
    select encode(bytes, 'base64') as text from index_snapshot_part where snapshot_id = ${id} and part = ${part}`.execute(db)
  return rows[0] ? Buffer.from(rows[0].text, 'base64') : null
}

/** @param readsAhead whether the server prepares the next part while this one is used */
function readFrom(db: Kysely<Database>, id: string, readsAhead: boolean): SnapshotSource {
  let part = 0
  let left: Buffer = Buffer.alloc(0)
  let ahead: Promise<Buffer | null> | null = null
  const readNext = () => readPart(db, id, part++)
  /** Whether there are bytes left, from the next part when this one is used up. */
  const fill = async (): Promise<boolean> => {
    if (left.length > 0) return true
    const next = await (ahead ?? readNext())
    ahead = next && readsAhead ? readNext() : null
    // Who stops reading does not wait for it.
    ahead?.catch(() => {})
    left = next ?? left
    return left.length > 0
  }
  const take = (length: number): Buffer => {
    const taken = left.subarray(0, length)
    left = left.subarray(length)
    return taken
  }
  return {
    id,
    async read(length) {
      if (length <= left.length) return take(length)
      const whole = Buffer.allocUnsafe(length)
      for (let at = 0; at < length; ) {
        if (!(await fill())) throw new RangeError('The snapshot is cut off.')
        at += take(length - at).copy(whole, at)
      }
      return whole
    },
    isAtEnd: async () => !(await fill()),
  }
}

function writeTo(transact: Transact, id: string): SnapshotDraft {
  let part = 0
  let used = 0
  let buffer = Buffer.allocUnsafe(PART_BYTES)
  /** Adds a part where the draft is still there; who removes it waits for that, and removes the part too. */
  const flush = async (): Promise<boolean> => {
    const bytes = buffer.subarray(0, used)
    const isKept = await transact(async (db) => {
      const { rows } = await sql`
        with renewed as (update index_snapshot set renewed_at = now() where id = ${id} and not is_whole returning id)
        insert into index_snapshot_part (snapshot_id, part, bytes) select id, ${part}::int, ${bytes}::bytea from renewed
        returning part`.execute(db)
      return rows.length > 0
    })
    part++
    used = 0
    return isKept
  }
  return {
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const room = part === 0 ? FIRST_PART_BYTES : PART_BYTES
        const count = Math.min(room - used, bytes.length - at)
        buffer.set(bytes.subarray(at, at + count), used)
        used += count
        at += count
        if (used === room && !(await flush())) return false
      }
      return true
    },
    async finish() {
      const isKept = used === 0 || (await flush())
      buffer = Buffer.alloc(0)
      return (
        isKept &&
        (await transact(async (db) => {
          if (!(await lockEpoch(db))) return false
          const { rows } = await sql`select 1 from index_snapshot where id = ${id}`.execute(db)
          if (rows.length === 0) return false
          await sql`delete from index_snapshot where is_whole`.execute(db)
          await sql`update index_snapshot set is_whole = true where id = ${id}`.execute(db)
          return true
        }))
      )
    },
    async discard() {
      await transact(async (db) => {
        await sql`delete from index_snapshot where id = ${id} and not is_whole`.execute(db)
      })
    },
  }
}

/**
 * The snapshot in a table of the library.
 * @param transact a short change, beside those of the library
 * @param readAtOnce reads in one snapshot of the database, on no connection that answers wait for
 */
export function snapshotTable(reader: Kysely<Database>, transact: Transact, readAtOnce: Transact): SnapshotPlace {
  return {
    async identify() {
      const { rows } = await sql<{ place: string }>`
        select pg_database.oid || ' ' || 'index_snapshot'::regclass::oid as place from pg_database where datname = current_database()`.execute(
        reader,
      )
      return rows[0]?.place ?? ''
    },
    async read(extent, work) {
      const readIt = async (db: Kysely<Database>) => {
        const { rows } = await sql<{ id: string }>`select id from index_snapshot where is_whole`.execute(db)
        return rows[0] ? await work(readFrom(db, rows[0].id, extent === 'all')) : null
      }
      return extent === 'head' ? await readIt(reader) : await readAtOnce(readIt)
    },
    async draft() {
      const id = randomUUID()
      const isFirst = await transact(async (db) => {
        const epoch = await sql`select 1 from secret where name = 'search_epoch' for update skip locked`.execute(db)
        if (epoch.rows.length === 0) return false
        await sql`delete from index_snapshot where not is_whole and renewed_at < ${STALE}`.execute(db)
        const { rows } = await sql`insert into index_snapshot (id) values (${id}) on conflict do nothing returning id`.execute(db)
        return rows.length > 0
      })
      return isFirst ? writeTo(transact, id) : null
    },
    async remove(id) {
      await transact(async (db) => {
        if (!(await lockEpoch(db))) return
        await sql`delete from index_snapshot where ${id === undefined ? sql`true` : sql`id = ${id}`}`.execute(db)
      })
    },
    async removeUnfinished() {
      await transact(async (db) => {
        await sql`delete from index_snapshot where not is_whole and renewed_at < ${STALE}`.execute(db)
      })
    },
  }
}
