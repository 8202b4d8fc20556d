import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { WholeLibrary } from '../../domain/service/transfer.ts'
import { AppError } from '../../errors.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { MIGRATIONS, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { countRows, digestTable } from './table-rows.ts'
import { type CopiedTable, isDerived, readTables, type Scope, tablesOf } from './tables.ts'

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
