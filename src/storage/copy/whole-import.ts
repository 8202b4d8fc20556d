import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { audienceOf, othersMaySee } from '../../domain/items/visibility.ts'
import type { Random } from '../../domain/ports/environment.ts'
import { OPERATOR_ORIGIN } from '../../domain/service/audit.ts'
import type { WholeLibrary } from '../../domain/service/transfer.ts'
import { AppError } from '../../errors.ts'
import { writeEntries } from '../audit-log.ts'
import { logOther } from '../change-log.ts'
import type { OpenDatabase } from '../dialects/dialect.ts'
import { openSqlite, sqliteDialect } from '../dialects/sqlite.ts'
import { removeFile, temporaryName } from '../dialects/sqlite-copy.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { dropValue, putValue } from '../kept-values.ts'
import { migrate } from '../migrations/index.ts'
import type { Database } from '../schema.ts'
import { checkRows, checkWhole } from './check-rows.ts'
import { describeLibrary, removeCategories, toWhole } from './copy-library.ts'
import { writeEarlierExport } from './earlier-export.ts'
import { checkLibraryFile, rebuildFile } from './library-file.ts'
import { type CopyProgress, copyTables, tablesOf } from './table-rows.ts'

/**
 * Fills an empty library with the content of a whole-library file, or of a whole export of 0.2.0. The file's rows are copied to a file of this
 * program first, which is brought up to date. Logins, keys and what else is people's own stay out. Items are indexed afterwards.
 * @throws AppError as `TransferStore.importWhole` says
 */
export async function importWhole(
  database: OpenDatabase,
  random: Random,
  path: string,
  onProgress: (progress: CopyProgress) => unknown,
): Promise<WholeLibrary & { readonly isNew: boolean }> {
  const folder = database.file ? null : mkdtempSync(join(tmpdir(), 'commonplace-import-'))
  const copy = temporaryName(folder === null ? `${database.file?.path}.importing` : join(folder, 'library.db'))
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) await writeEarlierExport(path, copy, random)
    else {
      await checkLibraryFile(path)
      await rebuildFile(path, copy)
    }
    const source = openSqlite(copy)
    try {
      await migrate(source)
      return await database.transact((db) => fill(source.reader, db, database, onProgress), { isLong: true })
    } finally {
      await source.close()
    }
  } finally {
    removeFile(copy)
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

async function fill(
  from: Kysely<Database>,
  db: Kysely<Database>,
  { dialect }: OpenDatabase,
  onProgress: (progress: CopyProgress) => unknown,
): Promise<WholeLibrary & { readonly isNew: boolean }> {
  const whole = toWhole(await describeLibrary(from, sqliteDialect, 'content', ''))
  if (!(await isNew(db))) {
    if ((await describeLibrary(db, dialect, 'content', '')).sha256 === whole.digest) return { ...whole, isNew: false }
    const message = 'A whole library is imported into an empty one, and this one has users or items. Use a new library.'
    throw new AppError('conflict', message)
  }
  await removeCategories(db)
  await db.deleteFrom('change').execute()
  const tables = await tablesOf('content', from, sqliteDialect)
  await copyTables({ db: from, dialect: sqliteDialect }, db, dialect, tables, { check: checkRows, onProgress })
  await checkWhole(db, dialect)
  if ((await describeLibrary(db, dialect, 'content', '')).sha256 !== whole.digest) {
    throw new AppError('invalid_input', 'The library cannot be imported: what was written is not what was read.')
  }
  await logOther(db, 'public', new Date().toISOString())
  await writeEntries(db, OPERATOR_ORIGIN, [{ action: 'library_copied', targetId: null, ownerId: null }], Date.now())
  await dropValue(db, 'search_epoch')
  await putValue(db, 'words_due', '')
  return { ...whole, isNew: true }
}

/** Whether the library is empty apart from categories. */
async function isNew(db: Kysely<Database>): Promise<boolean> {
  for (const table of ['user', 'item', 'retired_slug'] as const) {
    if (await db.selectFrom(table).selectAll().limit(1).executeTakeFirst()) return false
  }
  return true
}

/** Notifies listeners that there are items now. */
export async function notifyOfImport(db: Kysely<Database>, notes: Pick<WriteNotes, 'changed'>): Promise<void> {
  for (const kind of ['prompt', 'skill'] as const) {
    const row = await db
      .selectFrom('item')
      .innerJoin('user', 'user.seq', 'item.owner_seq')
      .select(['user.id', 'item.visibility'])
      .where('item.kind', '=', kind)
      .where('item.visibility', 'in', othersMaySee('member', 'list'))
      // Public before members: the widest audience.
      .orderBy((eb) => eb.case().when('item.visibility', '=', 'public').then(0).else(1).end())
      .where('item.deleted_at', 'is', null)
      .limit(1)
      .executeTakeFirst()
    if (row) notes.changed({ kind, ownerId: row.id, audience: audienceOf(row.visibility) })
  }
}
