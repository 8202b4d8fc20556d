import { type ColumnMetadata, sql } from 'kysely'
import { insertRows, type Row, readTables, TABLES } from '../../src/storage/copy/table-rows.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'

/** Texts and names that engines might order, or keep, in ways of their own; one for each row of a table. */
const TEXTS = ['', ' ', 'a', 'B', 'é', 'e\u0301', '\uffff', '\u{10ffff}', '\ufeff', "it's\r\n\t\\x00 \\ % _ $1", '𝒳', 'İ', '\u0001']
const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte)
/** What opening the library would act upon. */
const PINNED: ReadonlySet<string> = new Set(['user.removal'])

/** A cell of a row. References by text find the row of the same number, which has the same text. */
function makeCell({ name, dataType, isNullable }: ColumnMetadata, row: number): Row[string] {
  if (isNullable && row % 3 === 1) return null
  if (name.endsWith('_seq')) return row + 1
  if (/^(blob|bytea)$/i.test(dataType)) return EVERY_BYTE.subarray(row)
  if (/^(bigint|int8)$/i.test(dataType)) return row % 2 === 0 ? 2 ** 40 + row : -(2 ** 40) - row
  return /^int/i.test(dataType) ? 2 ** 31 - 1 - row : (TEXTS[row] ?? null)
}

/** Fills every table of an empty library past all rules, with what is hard to copy; the last numbers belong to rows that are gone. */
export async function fillEveryTable(database: OpenDatabase): Promise<void> {
  const columns = new Map((await database.reader.introspection.getTables()).map((table) => [table.name, table.columns]))
  await database.transact(async (db) => {
    for (const table of await readTables(db, database.dialect, Object.keys(TABLES))) {
      // The engine numbers rows itself; a file takes keys for what may be null.
      const filled = (columns.get(table.name) ?? [])
        .filter(({ name }) => name !== 'seq')
        .map((column) => ({ ...column, isNullable: column.isNullable && !table.key.includes(column.name) && column.name !== 'id' }))
      const cell = (column: ColumnMetadata, row: number) => (PINNED.has(`${table.name}.${column.name}`) ? null : makeCell(column, row))
      const rows = TEXTS.map((_, row) => Object.fromEntries(filled.map((column) => [column.name, cell(column, row)])))
      if (filled.length > 0) await insertRows(db, table.name, rows)
      else await sql`insert into ${sql.table(table.name)} default values`.execute(db)
    }
    await db.deleteFrom('word').where('seq', '=', TEXTS.length).execute()
  })
}
