import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { OPERATOR_ORIGIN } from '../../domain/service/audit.ts'
import type { WholeLibrary } from '../../domain/service/transfer.ts'
import { AppError } from '../../errors.ts'
import { writeEntries } from '../audit-log.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { dropValue } from '../kept-values.ts'
import { MIGRATIONS, migrate, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import {
  type CopiedTable,
  type CopyProgress,
  copyTables,
  countRows,
  digestTable,
  isDerived,
  readTables,
  type Scope,
  type TableDigest,
  tablesOf,
} from './table-rows.ts'

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

/** The one row of the table that only a file has which is no library in use. */
const TABLE = 'backup_manifest'
const FORMAT = 1

const manifestSchema = z.object({
  /** Version of this record; a newer one is refused. */
  format: z.literal(FORMAT),
  /** The newest migration of the library, such as `0011-frozen-schema`. */
  schema: z.string(),
  createdAt: z.string(),
  /** Whether logins, keys and what is people's own are in the file. */
  hasLogins: z.boolean().default(true),
  /** Rows of each table, and their digest where the table is part of it. */
  tables: z.record(z.string(), z.object({ rows: z.number().int(), sha256: z.string().nullable() })),
  /** Hex SHA-256 over the digests of the tables, by name. */
  sha256: z.string(),
})

/** The manifest of a whole-library file, by which a reader checks its contents. */
export type Manifest = z.infer<typeof manifestSchema>

type Reader = Pick<Dialect, 'readColumns' | 'readKey'>

/**
 * The newest migration of a library.
 * @throws AppError `unavailable` when there is no library, or one this program must not use
 */
export async function readSchemaName(db: Kysely<Database>, dialect: Reader): Promise<string> {
  const applied = [...(await readMigrations(db, dialect))].toSorted()
  const unknown = applied.find((name) => !MIGRATIONS.some((migration) => migration.name === name))
  if (unknown !== undefined) throw new AppError('unavailable', `It was written by a newer version (it has "${unknown}").`)
  const schema = applied.at(-1)
  if (schema === undefined) throw new AppError('unavailable', 'It contains no library.')
  return schema
}

/**
 * Reads a library and describes it.
 * @param createdAt of the file that is to have the manifest
 * @throws AppError as {@link readSchemaName}
 */
export async function describeLibrary(db: Kysely<Database>, dialect: Reader, scope: Scope, createdAt: string): Promise<Manifest> {
  const schema = await readSchemaName(db, dialect)
  const tables = await describeTables(db, await tablesOf(scope, db, dialect))
  return { format: FORMAT, schema, createdAt, hasLogins: scope === 'everything', tables, sha256: digestTables(tables) }
}

/** The digest and the rows of a library described as content. */
export function toWhole({ sha256, tables }: Manifest): WholeLibrary {
  return { digest: sha256, counts: Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows])) }
}

async function describeTables(
  db: Kysely<Database>,
  tables: readonly CopiedTable[],
  isCounted: (name: string) => boolean = isDerived,
): Promise<Manifest['tables']> {
  const described: Manifest['tables'] = {}
  for (const table of tables) {
    described[table.name] = isCounted(table.name) ? { rows: await countRows(db, table), sha256: null } : await digestTable(db, table)
  }
  return described
}

function digestTables(tables: Manifest['tables']): string {
  const names = Object.keys(tables).filter((name) => tables[name]?.sha256 !== null)
  const lines = names.toSorted().map((name) => `${name} ${tables[name]?.rows} ${tables[name]?.sha256}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** Writes it into the file it describes. */
export async function writeManifest(db: Kysely<Database>, manifest: Manifest): Promise<void> {
  await sql`create table ${sql.table(TABLE)} (manifest text not null)`.execute(db)
  await sql`insert into ${sql.table(TABLE)} (manifest) values (${JSON.stringify(manifest)})`.execute(db)
}

/**
 * The manifest of a file; null for one that another tool made.
 * @throws AppError `unavailable` for one of a newer version
 */
export async function readManifest(db: Kysely<Database>, dialect: Reader): Promise<Manifest | null> {
  if (!(await dialect.readColumns(db)).has(`${TABLE}.manifest`)) return null
  const { rows } = await sql<{ manifest: string }>`select manifest from ${sql.table(TABLE)}`.execute(db)
  const parsed = manifestSchema.safeParse(JSON.parse(rows[0]?.manifest ?? 'null'))
  if (!parsed.success) throw new AppError('unavailable', 'It was written by a newer version, or its manifest is damaged.')
  return parsed.data
}

/** The tables in which a library differs from a manifest, which may name tables that later schemas do not have. */
export async function findDifferences(db: Kysely<Database>, dialect: Reader, said: Manifest): Promise<string[]> {
  const names = Object.keys(said.tables)
  const tables = said.hasLogins ? await readTables(db, dialect, names) : await tablesOf('content', db, dialect)
  const found = await describeTables(db, tables, (name) => said.tables[name]?.sha256 === null)
  return names.filter((name) => {
    const [one, other] = [said.tables[name], found[name]]
    return one?.rows !== other?.rows || one?.sha256 !== other?.sha256
  })
}
