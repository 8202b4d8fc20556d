import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import { OPERATOR_ORIGIN } from '../../library/audit.ts'
import { writeEntries } from '../audit-log.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { migrate } from '../migrations/index.ts'
import { readRevision } from '../revisions.ts'
import type { Database } from '../schema.ts'
import { endIndexEpoch } from '../search/index-epoch.ts'
import { COPIED_TABLES, type CopiedTable } from './copied-tables.ts'
import { beginFilling, endFilling, identifyLibrary, readFilling } from './filling.ts'
import { countRows, digestTable, insertRows, readLastKey, readPage, type TableDigest } from './table-rows.ts'

/** Progress of one table: rows in the target, of those in the source. */
export interface CopyProgress {
  readonly table: string
  readonly rows: number
  readonly ofRows: number
}

/** The comparison of source and target after the last row was written. */
export interface CopyReport {
  readonly tables: readonly { readonly name: string; readonly from: TableDigest; readonly to: TableDigest }[]
  /** Whether it continued an earlier run. */
  readonly wasResumed: boolean
  /** Why the target cannot be used; null when it can. */
  readonly fault: string | null
}

/**
 * Copies a library into an empty database, row for row, and compares the two. Both are migrated first. Each page of rows is one transaction
 * and continues after the last copied row, so a later run resumes an interrupted one. Until both sides match, every other command refuses
 * the target.
 * @throws AppError `not_found` when the source holds no library, `conflict` when the target holds something else, `unavailable`
 */
export async function copyLibrary(
  from: OpenDatabase,
  to: OpenDatabase,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<CopyReport> {
  if (!(await holdsLibrary(from))) throw new AppError('not_found', 'The source has no library. Check its address.')
  await migrate(from)
  const source = await identifyLibrary(from.reader)
  const before = await readLastWrite(from.reader)
  await migrate(to, { mayBeFilling: true })
  const wasResumed = await claim(to, source)
  await copyRows(from.reader, from.dialect, to, onProgress)
  const tables: CopyReport['tables'][number][] = []
  for (const table of COPIED_TABLES) {
    const [ofSource, ofTarget] = await Promise.all([digestTable(from.reader, table), digestTable(to.reader, table)])
    tables.push({ name: table.name, from: ofSource, to: ofTarget })
  }
  const different = tables.filter((table) => table.from.sha256 !== table.to.sha256).map(({ name }) => name)
  const fault = await findFault(from, before, different)
  if (fault === null) {
    await to.transact(async (db) => {
      await endFilling(db, source)
      await endIndexEpoch(db)
      await writeEntries(db, OPERATOR_ORIGIN, [{ action: 'library_copied', targetId: null, ownerId: null }], Date.now())
    })
  }
  return { tables, wasResumed, fault }
}

/** Copies every row of a library into an empty one, or one that has the first rows already. */
export async function copyRows(
  from: Kysely<Database>,
  dialect: Dialect,
  to: OpenDatabase,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<void> {
  for (const table of COPIED_TABLES) await copyTable(from, to, table, onProgress)
  for (const { name } of COPIED_TABLES.filter(({ isNumbered }) => isNumbered)) {
    // Numbers of deleted rows are never reused: remaining references would mean another row.
    const last = await dialect.readIdentity(from, name)
    await to.transact((db) => to.dialect.setIdentity(db, name, last))
  }
}

/** Removes the categories a new library comes with. */
export async function removeCategories(db: Kysely<Database>): Promise<void> {
  await db.deleteFrom('category').where('parent_seq', 'is not', null).execute()
  await db.deleteFrom('category').execute()
}

async function findFault(from: OpenDatabase, before: string, different: readonly string[]): Promise<string | null> {
  const remedy = 'Stop what writes to the source, empty the target, and run this again.'
  if (different.length > 0) return `The copy differs from the source in: ${different.join(', ')}. ${remedy}`
  if ((await readLastWrite(from.reader)) !== before) return `The source changed while it was copied. ${remedy}`
  return null
}

/** A text that differs after a write to the library, or an event of its audit log. */
async function readLastWrite(db: Kysely<Database>): Promise<string> {
  const event = await db.selectFrom('audit_event').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst()
  return `${await readRevision(db, 'library')} ${event?.seq ?? 0}`
}

/** Naming an empty database as the source must not create a library in it. */
async function holdsLibrary({ reader }: OpenDatabase): Promise<boolean> {
  return (await reader.introspection.getTables()).some(({ name }) => name === 'migration')
}

/** Claims a database as the target; returns whether an earlier run had claimed it. */
async function claim(to: OpenDatabase, source: string): Promise<boolean> {
  return await to.transact(
    async (db) => {
      const filling = await readFilling(db)
      if (filling === source) return true
      if (filling !== null) {
        throw new AppError('conflict', 'The target has an incomplete copy of another library. Finish that copy, or empty the target.')
      }
      if ((await identifyLibrary(db)) === source) throw new AppError('conflict', 'The source and the target are the same library.')
      for (const table of COPIED_TABLES) {
        // The categories of a new library are replaced.
        if (table.name === 'category' || (await readLastKey(db, table)) === null) continue
        throw new AppError('conflict', `The target is not empty: its table "${table.name}" has rows. Use a new database.`)
      }
      await beginFilling(db, source)
      await removeCategories(db)
      return false
    },
    { isLong: true },
  )
}

async function copyTable(
  from: Kysely<Database>,
  to: OpenDatabase,
  table: CopiedTable,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const ofRows = await countRows(from, table)
  let rows = await countRows(to.reader, table)
  for (;;) {
    const copied = await to.transact(
      async (db) => {
        const page = await readPage(from, table, await readLastKey(db, table))
        if (page.length > 0) await insertRows(db, table, page)
        return page.length
      },
      { isLong: true },
    )
    rows += copied
    onProgress({ table: table.name, rows, ofRows })
    if (copied < table.rowsAPage) return
  }
}
