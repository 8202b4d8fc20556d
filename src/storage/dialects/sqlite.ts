import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import type { ItemKind } from '../../library/items.ts'
import type { ParsedQuery } from '../../library/search.ts'
import { prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { Dialect, OpenDatabase } from './dialect.ts'

/** Result codes of SQLite (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
/** IOERR, FULL, READONLY: faults of the disk, not of the statement. */
const DISK_FAULTS = new Set([10, 13, 8])
const SQLITE_CONSTRAINT_UNIQUE = 2067
const SQLITE_CONSTRAINT_PRIMARYKEY = 1555
/** Longest wait for another process's transaction before the caller hears `unavailable`. */
const LOCK_WAIT_MS = 15_000
/** Prepared statements kept per connection. */
const MAX_STATEMENTS = 300
/** Column weights of title, description, tags and content in the ranking. */
const WEIGHTS = sql`10.0, 4.0, 4.0, 1.0`

/** The full-text tables of each kind: `open` for what everybody may find, `own` for the rest. A table's word statistics rank its rows. */
const TEXT_TABLES: Record<ItemKind, { readonly open: TextTable; readonly own: TextTable }> = {
  prompt: { open: textTable('prompt_text'), own: textTable('prompt_text_own') },
  skill: { open: textTable('skill_text'), own: textTable('skill_text_own') },
}

type TextTable = ReturnType<typeof textTable>

function textTable(name: string) {
  const table = sql.table(name)
  return {
    name,
    create: sql`create virtual table ${table} using fts5(title, description, tags, content, content='', contentless_delete=1,
      tokenize="porter unicode61 remove_diacritics 2", prefix='2 3')`,
    remove: prepareStatement(sql`delete from ${table} where rowid = ${slot('seq')}`),
    insert: prepareStatement(sql`insert into ${table} (rowid, title, description, tags, content)
      values (${slot('seq')}, ${slot('title')}, ${slot('description')}, ${slot('tags')}, ${slot('content')})`),
    /** Ranked by BM25 over the table's own statistics. */
    match: (query: string) => sql`select rowid as seq, bm25(${table}, ${WEIGHTS}) as rank from ${table} where ${table} match ${query}`,
    /** Ranked by where the words stand and nothing else: one owner's results say nothing of the words in another's items. */
    matchPlainly: (query: string) => {
      const standsIn = (column: string) => sql`(rowid in (select rowid from ${table} where ${table} match ${`{${column}} : (${query})`}))`
      return sql`select rowid as seq, -(8.0 * ${standsIn('title')} + 3.0 * ${standsIn('description')} + 3.0 * ${standsIn('tags')} + 1.0) as rank
        from ${table} where ${table} match ${query}`
    },
  }
}

const sqliteDialect: Dialect = {
  blobType: 'blob',
  identity: (column) => column.primaryKey().autoIncrement(),
  async createTextIndex(db) {
    for (const { open, own } of Object.values(TEXT_TABLES)) {
      await open.create.execute(db)
      await own.create.execute(db)
    }
  },
  async indexText(db, kind, seq, text) {
    const { open, own } = TEXT_TABLES[kind]
    await open.remove(db, { seq })
    await own.remove(db, { seq })
    if (!text) return
    const { title, description, tags, content } = text
    await (text.isPublic ? open : own).insert(db, { seq, title, description, tags, content })
  },
  matchText(kind, query, words, among) {
    const { open, own } = TEXT_TABLES[kind]
    const text = toFts5(query, words)
    return among === 'public' ? sql`(${open.match(text)})` : sql`(${open.match(text)} union all ${own.matchPlainly(text)})`
  },
  isUniqueViolation: (error) => [SQLITE_CONSTRAINT_UNIQUE, SQLITE_CONSTRAINT_PRIMARYKEY].includes(resultCode(error)),
}

/** A parsed query in FTS5's syntax: every word a quoted string, so that no text in it can be an operator. */
function toFts5(query: ParsedQuery, words: 'all' | 'any'): string {
  const terms = query.terms.map((term) => `"${term.join(' ').replaceAll('"', '""')}"`)
  if (query.prefixLast) terms.push(`${terms.pop()}*`)
  return terms.join(words === 'all' ? ' AND ' : ' OR ')
}

function resultCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0
}

/**
 * Opens (or makes) a library file: WAL, foreign keys, every commit on the disk before it is acknowledged.
 * Two connections, because Kysely's SQLite driver is one connection behind a lock: reads never wait for a write.
 */
export function openSqlite(path: string): OpenDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const isNew = !existsSync(path)
  const writing = new DatabaseSync(path, { timeout: LOCK_WAIT_MS })
  // It holds everybody's private items: nobody else on this machine reads it unless its owner says so.
  if (isNew) chmodSync(path, 0o600)
  writing.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const reading = new DatabaseSync(path, { timeout: 1000 })
  reading.exec('pragma foreign_keys = on; pragma query_only = on; pragma cache_size = -16000')
  const writer = new Kysely<Database>({ dialect: new SqliteDialect({ database: adapt(writing) }) })
  const reader = new Kysely<Database>({ dialect: new SqliteDialect({ database: adapt(reading) }) })
  return {
    dialect: sqliteDialect,
    writer,
    reader,
    async transact(work) {
      // The driver would wait for a lock by blocking the whole process: wait a moment there, the rest out here.
      writing.exec('pragma busy_timeout = 20')
      const deadline = performance.now() + LOCK_WAIT_MS
      for (let delayMs = 5; ; delayMs = Math.min(delayMs * 2, 200)) {
        let hasStarted = false
        try {
          return await writer.transaction().execute(async (transaction) => {
            hasStarted = true
            return await work(transaction)
          })
        } catch (error) {
          if (DISK_FAULTS.has(resultCode(error) & 0xff)) {
            throw new AppError('unavailable', 'The library cannot be written to: its disk is full or failing.', { cause: error })
          }
          if (hasStarted || resultCode(error) !== SQLITE_BUSY) throw error
          if (performance.now() > deadline) {
            throw new AppError('unavailable', 'Another process has been writing to the library file for too long; try again.', {
              cause: error,
            })
          }
          await sleep(delayMs)
        }
      }
    },
    async close() {
      await reader.destroy()
      await writer.destroy()
      for (const connection of [reading, writing]) if (connection.isOpen) connection.close()
    },
  }
}

/**
 * What Kysely's driver needs, over `node:sqlite`. A transaction takes the write lock at its start ("begin immediate"):
 * one that read first and wrote later could find that another process had written between.
 */
function adapt(connection: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => connection.close(),
    prepare(text) {
      const query = text === 'begin' ? 'begin immediate' : text
      // After some faults SQLite has rolled back by itself; a second rollback would hide what went wrong.
      if (query === 'rollback' && !connection.isTransaction) return NOTHING
      const known = statements.get(query)
      if (known) return known
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      const statement = adaptStatement(connection.prepare(query))
      statements.set(query, statement)
      return statement
    },
  }
}

/** A statement that does nothing. */
const NOTHING: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bind(parameters)),
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  }
}

function bind(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value
    if (value instanceof Uint8Array) return value
    throw new TypeError(`A ${typeof value} cannot be stored`)
  })
}
