import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { OPERATOR_ORIGIN } from '../../domain/service/audit.ts'
import { AppError } from '../../errors.ts'
import { writeEntries } from '../audit-log.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { dropValue } from '../kept-values.ts'
import { migrate } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { type CopyProgress, copyTables, countRows, digestTable, type TableDigest } from './table-rows.ts'
import { type CopiedTable, tablesOf } from './tables.ts'

/** The comparison of source and target after the last row was written. */
export interface CopyReport {
  readonly tables: readonly { readonly name: string; readonly from: TableDigest; readonly to: TableDigest }[]
  /** Why nothing was copied; null when the target is the library now. */
  readonly fault: string | null
}

/**
 * Copies a library into an empty database, row for row, in one transaction: all of it or nothing. Both are migrated first. The copy is of one
 * moment; the source is read again before the commit, and one that was written to meanwhile is refused.
 * @throws AppError `not_found` when the source holds no library, `conflict` when the target holds something else, `unavailable`
 */
export async function copyLibrary(
  from: OpenDatabase,
  to: OpenDatabase,
  onProgress: (progress: CopyProgress) => unknown = () => {},
): Promise<CopyReport> {
  // Naming an empty database as the source must not create a library in it.
  if (!(await from.dialect.readColumns(from.reader)).has('migration.name')) {
    throw new AppError('not_found', 'The source has no library. Check its address.')
  }
  await migrate(from)
  await migrate(to)
  if ((await identifyLibrary(from.reader)) === (await identifyLibrary(to.reader))) {
    throw new AppError('conflict', 'The source and the target are the same library.')
  }
  const tables = await tablesOf('everything', from.reader, from.dialect)
  let report: CopyReport = { tables: [], fault: null }
  const work = async (db: Kysely<Database>): Promise<void> => {
    await requireEmpty(db, tables)
    await removeCategories(db)
    await from.readSnapshot((source) => copyTables({ db: source, dialect: from.dialect }, db, to.dialect, tables, { onProgress }))
    const compared = await from.readSnapshot((source) => compare(source, db, tables))
    const different = compared.filter((table) => table.from.sha256 !== table.to.sha256).map(({ name }) => name)
    if (different.length > 0) {
      const fault = `The copy differs from the source in: ${different.join(', ')}. Stop what writes to the source, and run this again.`
      report = { tables: compared, fault }
      // Undoes the copy.
      throw new AppError('conflict', fault)
    }
    report = { tables: compared, fault: null }
    await dropValue(db, 'search_epoch')
    await writeEntries(db, OPERATOR_ORIGIN, [{ action: 'library_copied', targetId: null, ownerId: null }], Date.now())
  }
  await to.transact(work, { isLong: true }).catch((error) => {
    if (report.fault === null) throw error
  })
  return report
}

/** Removes the categories a new library comes with. */
export async function removeCategories(db: Kysely<Database>): Promise<void> {
  await db.deleteFrom('category').where('parent_seq', 'is not', null).execute()
  await db.deleteFrom('category').execute()
}

/** A digest that identifies a library wherever it is: of its creation time and its first users. Writes do not change it. */
export async function identifyLibrary(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ applied_at: string }>`select applied_at from migration order by name limit 1`.execute(db)
  const first = await db.selectFrom('user').select('id').orderBy('seq').limit(1).executeTakeFirst()
  return createHash('sha256')
    .update(JSON.stringify([rows[0]?.applied_at, first?.id ?? null]))
    .digest('hex')
}

async function requireEmpty(db: Kysely<Database>, tables: readonly CopiedTable[]): Promise<void> {
  for (const table of tables) {
    // The categories of a new library are replaced.
    if (table.name === 'category' || (await countRows(db, table)) === 0) continue
    throw new AppError('conflict', `The target is not empty: its table "${table.name}" has rows. Use a new database.`)
  }
}

async function compare(from: Kysely<Database>, to: Kysely<Database>, tables: readonly CopiedTable[]): Promise<CopyReport['tables']> {
  const compared: CopyReport['tables'][number][] = []
  for (const table of tables) {
    const [ofSource, ofTarget] = await Promise.all([digestTable(from, table), digestTable(to, table)])
    compared.push({ name: table.name, from: ofSource, to: ofTarget })
  }
  return compared
}
