import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialects/dialect.ts'
import type { Database } from '../schema.ts'
import type { CopiedTable } from './tables.ts'

type Cell = string | number | null | Uint8Array
/** A row of any table, as the engine returns it. */
export type Row = Readonly<Record<string, Cell>>

/** The number of rows, and a digest of their content. */
export interface TableDigest {
  readonly rows: number
  /** Hex, of every cell of every row in the order of the key, in an encoding that is the same on every engine. */
  readonly sha256: string
}

/** Progress of one table: rows copied, of those in the source. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly ofRows: number
}

/** Every row of a table in the order of its key, a page at a time. */
export async function* readPages(db: Kysely<Database>, table: CopiedTable): AsyncGenerator<Row[]> {
  const { name, columns, key, rowsAPage, condition = sql`true` } = table
  const order = sql.join(key.map((column) => sql.ref(column)))
  const selected = sql.join(columns.map((column) => sql.ref(column)))
  for (let last: Row | undefined; ; ) {
    const after = last ? sql`(${order}) > (${sql.join(key.map((column) => last?.[column]))})` : sql`true`
    const page = await sql<Row>`
      select ${selected} from ${sql.table(name)} where ${after} and ${condition} order by ${order} limit ${rowsAPage}`.execute(db)
    if (page.rows.length > 0) yield page.rows
    last = page.rows.at(-1)
    if (page.rows.length < rowsAPage) return
  }
}

/** Writes rows as they are, at least one. */
export async function insertRows(db: Kysely<Database>, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(db)
}

export async function countRows(db: Kysely<Database>, { name, condition = sql`true` }: CopiedTable): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)} where ${condition}`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** Where rows are copied from, and how its engine numbers them. */
export interface RowSource {
  readonly db: Kysely<Database>
  readonly dialect: Pick<Dialect, 'readIdentity'>
}

/**
 * Copies the rows of tables, each after those it refers to, and continues their numbers: those of deleted rows are not given again, as what
 * still names them would mean another row.
 * @param options.check called with each page before it is written
 */
export async function copyTables(
  from: RowSource,
  to: Kysely<Database>,
  dialect: Dialect,
  tables: readonly CopiedTable[],
  options: {
    readonly check?: ((table: string, rows: readonly Row[]) => void) | undefined
    readonly onProgress?: ((progress: CopyProgress) => unknown) | undefined
  } = {},
): Promise<void> {
  const { check = () => {}, onProgress = () => {} } = options
  for (const table of tables) {
    const ofRows = await countRows(from.db, table)
    let rows = 0
    for await (const page of readPages(from.db, table)) {
      check(table.name, page)
      await insertRows(to, table.name, page)
      rows += page.length
      if (rows < ofRows) await onProgress({ table: table.name, rows, ofRows })
    }
    if (isNumbered(table)) {
      const last = Math.max(await from.dialect.readIdentity(from.db, table.name), await dialect.readIdentity(to, table.name))
      await dialect.setIdentity(to, table.name, last)
    }
    await onProgress({ table: table.name, rows, ofRows })
  }
}

/** Whether the engine numbers the rows of a table. */
export function isNumbered({ key }: Pick<CopiedTable, 'key'>): boolean {
  return key.join() === 'seq'
}

/** Reads a whole table, a page at a time. */
export async function digestTable(db: Kysely<Database>, table: CopiedTable): Promise<TableDigest> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const page of readPages(db, table)) {
    for (const row of page) for (const part of encodeRow(row)) hash.update(part)
    rows += page.length
  }
  return { rows, sha256: hash.digest('hex') }
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
