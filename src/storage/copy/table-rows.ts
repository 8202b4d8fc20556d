import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { CopiedTable } from './copied-tables.ts'

type Cell = string | number | null | Uint8Array
/** A row of any table, as the engine returns it. */
export type Row = Readonly<Record<string, Cell>>

/** The number of rows, and a digest of their content. */
export interface TableDigest {
  readonly rows: number
  /** Hex, of every cell of every row in the order of the key, in an encoding that is the same on every engine. */
  readonly sha256: string
}

/** The page of a table that follows a row; null: its first. */
export async function readPage(db: Kysely<Database>, { name, key, rowsAPage }: CopiedTable, after: Row | null): Promise<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const from = after ? sql`where (${columns}) > (${sql.join(key.map((column) => after[column]))})` : sql``
  const { rows } = await sql<Row>`select * from ${sql.table(name)} ${from} order by ${columns} limit ${rowsAPage}`.execute(db)
  return rows
}

/** The key of the last row; null when there is none. */
export async function readLastKey(db: Kysely<Database>, { name, key }: CopiedTable): Promise<Row | null> {
  const columns = key.map((column) => sql.ref(column))
  const order = columns.map((column) => sql`${column} desc`)
  const { rows } = await sql<Row>`select ${sql.join(columns)} from ${sql.table(name)} order by ${sql.join(order)} limit 1`.execute(db)
  return rows[0] ?? null
}

/** Writes rows as they are, at least one. */
export async function insertRows(db: Kysely<Database>, { name }: CopiedTable, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(db)
}

export async function countRows(db: Kysely<Database>, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Reads a whole table, a page at a time. */
export async function digestTable(db: Kysely<Database>, table: CopiedTable): Promise<TableDigest> {
  const hash = createHash('sha256')
  let rows = 0
  let last: Row | null = null
  for (;;) {
    const page: Row[] = await readPage(db, table, last)
    for (const row of page) for (const part of encodeRow(row)) hash.update(part)
    rows += page.length
    last = page.at(-1) ?? null
    if (page.length < table.rowsAPage) return { rows, sha256: hash.digest('hex') }
  }
}

/** Encodes each cell with its column, type and length, so that different rows never encode the same. Columns are sorted. */
function* encodeRow(row: Row): Generator<string | Uint8Array> {
  for (const column of Object.keys(row).toSorted()) {
    const cell = row[column] ?? null
    if (cell === null) yield `${column} null\n`
    else if (typeof cell === 'number') yield `${column} number ${cell}\n`
    else if (typeof cell === 'string') yield `${column} text ${Buffer.byteLength(cell)} ${cell}\n`
    else {
      yield `${column} bytes ${cell.length} `
      yield cell
      yield '\n'
    }
  }
  yield '\n'
}
