import { type Insertable, type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/** The tables an import writes, each after those it refers to. */
const TABLES = [
  'category',
  'user',
  'team_member',
  'former_name',
  'retired_slug',
  'purge',
  'item',
  'slug',
  'item_tag',
  'blob',
  'skill_file',
  'version',
  'version_file',
  'vote',
  'item_source',
  'favourite',
  'collection',
  'collection_slug',
  'collection_item',
  'shared_change',
] as const
type Table = (typeof TABLES)[number]

/** Values of one statement; engines limit them to some tens of thousands. */
const VALUES_A_STATEMENT = 10_000
/** Size of the buffer. Bytes of file contents, and roughly of texts. */
const MAX_ROWS = 2_000
const MAX_BYTES = 8 * 1024 * 1024

/** Buffers rows, and writes many with one statement. */
export interface RowBuffer {
  add<T extends Table>(table: T, row: Insertable<Database[T]>): void
  addBlob(sha256: string, bytes: Uint8Array): void
  /** The size of each of these contents that is there, or waits. */
  findBlobs(digests: readonly string[]): Promise<readonly { readonly sha256: string; readonly size: number }[]>
  flushWhenFull(): Promise<void>
  flush(): Promise<void>
}

/** Must be called inside a transaction. */
export function createRowBuffer(db: Kysely<Database>): RowBuffer {
  const waiting = new Map<Table, Record<string, unknown>[]>()
  const blobs = new Map<string, number>()
  let rowCount = 0
  let byteCount = 0
  const insert = async (table: Table, rows: readonly Record<string, unknown>[]) => {
    const columns = Object.keys(rows[0] ?? {})
    const most = Math.floor(VALUES_A_STATEMENT / Math.max(1, columns.length))
    for (let at = 0; at < rows.length; at += most) {
      const values = rows.slice(at, at + most).map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
      await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(
        db,
      )
    }
  }
  const flush = async () => {
    for (const table of TABLES) {
      const rows = waiting.get(table)
      if (rows) await insert(table, rows)
    }
    waiting.clear()
    blobs.clear()
    rowCount = 0
    byteCount = 0
  }
  const add: RowBuffer['add'] = (table, row) => {
    const rows = waiting.get(table) ?? []
    rows.push(row)
    waiting.set(table, rows)
    rowCount++
    for (const value of Object.values(row)) {
      if (typeof value === 'string' || value instanceof Uint8Array) byteCount += value.length
    }
  }
  return {
    add,
    addBlob(sha256, bytes) {
      add('blob', { sha256, bytes })
      blobs.set(sha256, bytes.length)
    },
    async findBlobs(digests) {
      const found = digests.flatMap((sha256) => {
        const size = blobs.get(sha256)
        return size === undefined ? [] : [{ sha256, size }]
      })
      const others = digests.filter((sha256) => !blobs.has(sha256))
      if (others.length === 0) return found
      const rows = await db
        .selectFrom('blob')
        .select(['sha256', sql<number>`length(bytes)`.as('size')])
        .where('sha256', 'in', others)
        .execute()
      return [...found, ...rows]
    },
    async flushWhenFull() {
      if (rowCount >= MAX_ROWS || byteCount >= MAX_BYTES) await flush()
    },
    flush,
  }
}
