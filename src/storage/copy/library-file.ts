import { closeSync, existsSync, openSync, realpathSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { openSqlite, readSqliteFile, sqliteDialect } from '../dialects/sqlite.ts'
import { COMPANIONS, checkSqliteFile, copySqliteFile, foldLog, removeFile, syncFile, temporaryName } from '../dialects/sqlite-copy.ts'
import { MIGRATIONS, migrate, readMigrations } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { checkRows } from './check-rows.ts'
import {
  describeLibrary,
  findDifferences,
  type Manifest,
  readManifest,
  readSchemaName,
  removeCategories,
  writeManifest,
} from './copy-library.ts'
import { copyTables, readTables, type Scope, tablesOf } from './table-rows.ts'

/** How a whole-library file is written. */
export interface FileOptions {
  /** Whether a file of this name may be replaced. Default: there is no way to */
  readonly replaces?: boolean
  readonly now: Date
}

/** The migration since which every library of a schema has the same tables and columns. */
const FROZEN = '0011-frozen-schema'

/**
 * Copies a library file, of any schema, while others write to it; the library is only read.
 * @throws AppError `conflict` when the target exists, or is the library; `not_found` for a missing folder; `unavailable` for a damaged
 * library
 */
export async function backUpFile(path: string, target: string, options: FileOptions): Promise<Manifest> {
  refuseTarget(target, options, path)
  return await explain(`${target} could not be written`, async () => {
    let manifest: Manifest | undefined
    await copySqliteFile(path, target, async (copy) => {
      manifest = await readSqliteFile(copy, (db) => describeLibrary(db, sqliteDialect, 'everything', options.now.toISOString()))
      await addManifest(copy, manifest)
      return true
    })
    if (!manifest) throw new AppError('internal', 'A backup without a manifest')
    return manifest
  })
}

/**
 * Writes a library as of one moment to a new file, row by row: all of it, or only what a file without logins has.
 * @throws AppError as {@link backUpFile}, and `unavailable` when the library is not up to date, or an import would refuse the file
 */
export async function writeLibraryFile(from: OpenDatabase, target: string, scope: Scope, options: FileOptions): Promise<Manifest> {
  refuseTarget(target, options, from.file?.path ?? null)
  const temporary = temporaryName(target)
  return await explain(`${target} could not be written`, async () => {
    try {
      const manifest = await from.readSnapshot(async (db) => {
        const said = await describeLibrary(db, from.dialect, scope, options.now.toISOString())
        if (said.schema !== MIGRATIONS.at(-1)?.name) {
          throw new AppError('unavailable', 'The library is from another version. Start the service with it once, then back up.')
        }
        if (scope === 'content') await refuseRemovals(db)
        const check = scope === 'content' ? checkRows : undefined
        await fillFile(temporary, async (to) => {
          await copyTables({ db, dialect: from.dialect }, to, sqliteDialect, await tablesOf(scope, db, from.dialect), { check })
        })
        const different = await readSqliteFile(temporary, (copy) => findDifferences(copy, sqliteDialect, said))
        if (different.length > 0) throw new AppError('unavailable', `The copy differs from the library in: ${different.join(', ')}.`)
        return said
      })
      await addManifest(temporary, manifest)
      checkSqliteFile(temporary)
      syncFile(temporary)
      renameSync(temporary, target)
      syncFile(dirname(target))
      return manifest
    } finally {
      removeFile(temporary)
    }
  })
}

/**
 * Copies the rows of a whole-library file, also a stranger's, into a new file of the same schema that this program makes: nothing else of the
 * file comes along.
 * @throws AppError `unavailable` when it is no library that this program knows
 */
export async function rebuildFile(source: string, target: string): Promise<void> {
  await explain(`${source} cannot be used`, () =>
    readSqliteFile(source, async (from) => {
      const schema = await readSchemaName(from, sqliteDialect)
      await fillFile(target, (to) => copySameSchema({ db: from, dialect: sqliteDialect }, to, schema), schema)
    }),
  )
}

/**
 * Copies a library on a server, of any schema, as of one moment to a file of the same schema, and compares the two.
 * @param first number of a migration; a library that has it is not copied
 * @throws AppError `unavailable` when no sound copy could be made
 */
async function copyServer(from: OpenDatabase, target: string, first: string): Promise<void> {
  const temporary = temporaryName(target)
  try {
    const isCopied = await from.readSnapshot(async (db) => {
      const schema = await readSchemaName(db, from.dialect)
      if (schema >= first) return false
      await fillFile(temporary, (to) => copySameSchema({ db, dialect: from.dialect }, to, schema), schema)
      const said = await describeLibrary(db, from.dialect, 'everything', new Date().toISOString())
      const different = await readSqliteFile(temporary, (copy) => findDifferences(copy, sqliteDialect, said))
      if (different.length > 0) throw new AppError('unavailable', `The copy differs from the library in: ${different.join(', ')}.`)
      await addManifest(temporary, said)
      return true
    })
    if (!isCopied) return
    checkSqliteFile(temporary)
    syncFile(temporary)
    renameSync(temporary, target)
    syncFile(dirname(target))
  } finally {
    removeFile(temporary)
  }
}

/** Copies the rows of every table that a file of this schema has. */
async function copySameSchema(
  from: { readonly db: Kysely<Database>; readonly dialect: Pick<Dialect, 'readColumns' | 'readKey' | 'readIdentity'> },
  to: Kysely<Database>,
  schema: string,
): Promise<void> {
  const { rows: triggers } = await sql<{ name: string; sql: string }>`select name, sql from sqlite_master where type = 'trigger'`.execute(
    to,
  )
  for (const { name } of triggers) await sql`drop trigger ${sql.id(name)}`.execute(to)
  // Earlier schemas are not in the order of references.
  await sql`pragma defer_foreign_keys = on`.execute(to)
  const columns = await sqliteDialect.readColumns(to)
  const names = new Set(Array.from(columns, (place) => place.split('.')[0] ?? '').filter((name) => !name.startsWith('sqlite_')))
  const expected = await readTables(to, sqliteDialect, [...names])
  const found = new Map((await readTables(from.db, from.dialect, [...names])).map((table) => [table.name, table]))
  for (const table of expected) {
    const there = found.get(table.name)
    const missing = table.columns.filter((column) => !there?.columns.includes(column))
    if (schema >= FROZEN && missing.length > 0)
      throw new AppError('unavailable', `It lacks ${missing.map((name) => `${table.name}.${name}`).join(', ')}.`)
    const copied = { ...table, columns: table.columns.filter((column) => !missing.includes(column)) }
    if (!there) continue
    // Migrations begin some tables with rows of their own.
    await sql`delete from ${sql.table(table.name)}`.execute(to)
    await copyTables(from, to, sqliteDialect, [copied])
  }
  for (const { sql: text } of triggers) await sql.raw(text).execute(to)
}

/** Makes a new library file, readable by its owner alone from the first byte, and fills it in one transaction. */
export async function fillFile(path: string, fill: (to: Kysely<Database>) => Promise<void>, through?: string): Promise<void> {
  closeSync(openSync(path, 'wx', 0o600))
  const file = openSqlite(path)
  try {
    await migrate(file, through === undefined ? {} : { through })
    await file.transact(
      async (to) => {
        await removeCategories(to)
        await fill(to)
      },
      { isLong: true },
    )
  } finally {
    await file.close()
  }
  foldLog(path)
}

async function refuseRemovals(db: Kysely<Database>): Promise<void> {
  const leaving = await db.selectFrom('user').select('seq').where('removal', 'is not', null).limit(1).executeTakeFirst()
  if (leaving) throw new AppError('unavailable', 'Somebody is being removed from the library at the moment; try again later.')
}

async function addManifest(copy: string, manifest: Manifest): Promise<void> {
  const file = openSqlite(copy)
  try {
    await file.transact((db) => writeManifest(db, manifest))
  } finally {
    await file.close()
  }
  foldLog(copy)
}

function refuseTarget(target: string, { replaces }: FileOptions, library: string | null): void {
  const folder = dirname(target)
  if (!existsSync(folder)) throw new AppError('not_found', `Folder ${folder} for the file does not exist.`)
  const real = join(realpathSync(folder), basename(target))
  if (library !== null && existsSync(library)) {
    const file = realpathSync(library)
    if (['', ...COMPANIONS].some((suffix) => real === `${file}${suffix}`)) {
      throw new AppError('conflict', `${target} is the library itself. Use another name.`)
    }
  }
  const remedy = replaces === undefined ? '' : ', or --force to replace it'
  if (existsSync(target) && !replaces) throw new AppError('conflict', `${target} exists. Use another name${remedy}.`)
}

/** Names the file in errors. */
async function explain<T>(start: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
    throw new AppError(error instanceof AppError ? error.code : 'unavailable', `${start}: ${reason}.`, { cause: error })
  }
}

/**
 * Reads a whole-library file and compares it with its manifest. A library copied by any tool is accepted.
 * @returns the manifest; null for a file that another tool made, of which only the structure could be checked
 * @throws AppError `unavailable` when it is damaged, not a library, or of a newer version
 */
export async function checkLibraryFile(path: string): Promise<Manifest | null> {
  return await explain(`${path} cannot be used`, async () => {
    checkSqliteFile(path)
    return await readSqliteFile(path, async (db) => {
      const said = await readManifest(db, sqliteDialect)
      await readSchemaName(db, sqliteDialect)
      const different = said ? await findDifferences(db, sqliteDialect, said) : []
      if (different.length > 0) throw new AppError('unavailable', `It does not match its manifest in: ${different.join(', ')}.`)
      const faults = said ? null : await sqliteDialect.findFaults(db)
      const [fault] = [...(faults?.structure ?? []), ...(faults?.references ?? [])]
      if (fault !== undefined) throw new AppError('unavailable', `It is damaged: ${fault}.`)
      return said
    })
  })
}

/**
 * Copies a library to a file before its schema is changed. It replaces a copy of the same name from an interrupted upgrade. Another process
 * may have upgraded the library meanwhile: its own copy is kept, as this one would be of the upgraded library.
 * @param first number of the first migration that is pending
 * @throws AppError `unavailable` when no sound copy could be made; the library is as it was
 */
export async function copyBeforeUpgrade(database: OpenDatabase, target: string, first: string): Promise<void> {
  try {
    if (database.file) await database.file.copyTo(target, async (copy) => !(await hasMigration(copy, first)))
    else await copyServer(database, target, first)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const message = `The library was not upgraded, because it could not be copied to ${target} first: ${reason.replace(/\.$/, '')}. With BACKUP_BEFORE_UPGRADE=false no copy is made.`
    throw new AppError('unavailable', message, { cause: error })
  }
}

async function hasMigration(copy: string, number: string): Promise<boolean> {
  const applied = await readSqliteFile(copy, (db) => readMigrations(db, sqliteDialect))
  return [...applied].some((name) => name.startsWith(`${number}-`))
}
