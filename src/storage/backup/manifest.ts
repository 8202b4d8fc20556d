import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { COPIED_TABLES } from '../copy/copied-tables.ts'
import { isFillingName } from '../copy/filling.ts'
import { countRows, digestTable } from '../copy/table-rows.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { MIGRATIONS, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'

/** Derived tables, rebuilt when missing: counted, but not in the digest. */
const DERIVED = new Set(['word', 'word_removal', 'item_words', 'owner_usage', 'embedding', 'embedding_vector', 'item_vector'])
/** The one row of the table that only a backup has. */
const TABLE = 'backup_manifest'
const FORMAT = 1

const manifestSchema = z.object({
  /** Version of this record; a newer one is refused. */
  format: z.literal(FORMAT),
  /** The newest migration of the library, such as `0011-frozen-schema`. */
  schema: z.string(),
  createdAt: z.string(),
  /** Rows of each table, and their digest where the table is part of it. */
  tables: z.record(z.string(), z.object({ rows: z.number().int(), sha256: z.string().nullable() })),
  /** Hex SHA-256 over the digests of the tables, by name. */
  sha256: z.string(),
})

/** What a backup says it holds, so that a restore can check it. */
export type Manifest = z.infer<typeof manifestSchema>

/**
 * Reads a whole library and describes it.
 * @throws AppError `unavailable` when it holds no library, or one this program must not use
 */
export async function describeLibrary(db: Kysely<Database>, dialect: Pick<Dialect, 'readColumns'>, createdAt: string): Promise<Manifest> {
  const applied = [...(await readMigrations(db, dialect))].toSorted()
  const schema = applied.filter((name) => !isFillingName(name)).at(-1)
  if (schema === undefined) throw new AppError('unavailable', 'It contains no library.')
  if (applied.some(isFillingName)) throw new AppError('unavailable', 'It is an incomplete copy by migrate-data.')
  const unknown = applied.find((name) => !MIGRATIONS.some((migration) => migration.name === name))
  if (unknown !== undefined) throw new AppError('unavailable', `It was written by a newer version (it has "${unknown}").`)
  const columns = await dialect.readColumns(db)
  const tables: Manifest['tables'] = {}
  for (const table of COPIED_TABLES) {
    // Earlier schemas have fewer tables.
    if (!columns.has(`${table.name}.${table.key[0]}`)) continue
    tables[table.name] = DERIVED.has(table.name) ? { rows: await countRows(db, table), sha256: null } : await digestTable(db, table)
  }
  return { format: FORMAT, schema, createdAt, tables, sha256: digestTables(tables) }
}

function digestTables(tables: Manifest['tables']): string {
  const names = Object.keys(tables).filter((name) => tables[name]?.sha256 !== null)
  const lines = names.toSorted().map((name) => `${name} ${tables[name]?.rows} ${tables[name]?.sha256}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** Writes it into the copy it describes. */
export async function writeManifest(db: Kysely<Database>, manifest: Manifest): Promise<void> {
  await sql`create table ${sql.table(TABLE)} (manifest text not null)`.execute(db)
  await sql`insert into ${sql.table(TABLE)} (manifest) values (${JSON.stringify(manifest)})`.execute(db)
}

export async function dropManifest(db: Kysely<Database>): Promise<void> {
  await sql`drop table if exists ${sql.table(TABLE)}`.execute(db)
}

/**
 * The manifest of a copy; null for one that another tool made.
 * @throws AppError `unavailable` for one of a newer version
 */
export async function readManifest(db: Kysely<Database>, dialect: Pick<Dialect, 'readColumns'>): Promise<Manifest | null> {
  if (!(await dialect.readColumns(db)).has(`${TABLE}.manifest`)) return null
  const { rows } = await sql<{ manifest: string }>`select manifest from ${sql.table(TABLE)}`.execute(db)
  const parsed = manifestSchema.safeParse(JSON.parse(rows[0]?.manifest ?? 'null'))
  if (!parsed.success) throw new AppError('unavailable', 'It was written by a newer version, or its manifest is damaged.')
  return parsed.data
}

/** The tables in which a library differs from a manifest. */
export function compareManifests(said: Manifest, found: Manifest): string[] {
  const names = new Set([...Object.keys(said.tables), ...Object.keys(found.tables)])
  return [...names].filter((name) => {
    const [one, other] = [said.tables[name], found.tables[name]]
    return one?.rows !== other?.rows || one?.sha256 !== other?.sha256
  })
}
