import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CompiledQuery, sql } from 'kysely'
import { afterEach, beforeEach } from 'vitest'
import type { User } from '../../src/domain/items/items.ts'
import type { Random } from '../../src/domain/ports/environment.ts'
import type { LibraryFile, OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { writeEmptyLibrary } from './library-file.ts'
import { createDatabase } from './postgres.ts'

/** An engine the store's contract suite runs on. */
export interface Engine {
  readonly name: string
  /** A database of its own, perhaps migrated already, unless `isEmpty`. `open` opens it again, as another process would. */
  create(options?: { readonly isEmpty?: boolean }): Promise<{ open(): OpenDatabase; remove(): Promise<void> }>
  /** All that is kept, as text: the files where they are ours, else every row of every table. */
  readEverything(database: OpenDatabase): Promise<string>
  /** Columns that refer to another table and that no index begins with, as `table.column`. */
  findUnindexedReferences(database: OpenDatabase): Promise<string[]>
  /** Whether a query reads by an index and sorts nothing. */
  isServedByIndex(database: OpenDatabase, query: CompiledQuery): Promise<boolean>
}

/** All there are: for what goes from one to another, where there is a server. */
export const EVERY_ENGINE: readonly Engine[] = [
  {
    name: 'sqlite',
    async create({ isEmpty = false } = {}) {
      const folder = mkdtempSync(join(tmpdir(), 'commonplace-store-'))
      const path = join(folder, 'library.db')
      if (!isEmpty) await writeEmptyLibrary(path)
      return {
        open: () => openSqlite(path),
        remove: async () => rmSync(folder, { recursive: true, force: true }),
      }
    },
    async readEverything(database) {
      const { rows } = await sql<{ file: string }>`select file from pragma_database_list`.execute(database.reader)
      const path = rows[0]?.file ?? ''
      return `${readFileSync(path, 'latin1')}${readFileSync(`${path}-wal`, 'latin1')}`
    },
    async findUnindexedReferences(database) {
      const { rows } = await sql<{ place: string }>`
        select tables.name || '.' || keys."from" as place
        from sqlite_master as tables, pragma_foreign_key_list(tables.name) as keys
        where tables.type = 'table'
          and not exists (select 1 from pragma_table_info(tables.name) as columns where columns.name = keys."from" and columns.pk = 1)
          and not exists (
            select 1 from pragma_index_list(tables.name) as indexes, pragma_index_info(indexes.name) as parts
            where parts.seqno = 0 and parts.name = keys."from")`.execute(database.reader)
      return rows.map(({ place }) => place)
    },
    async isServedByIndex(database, query) {
      const plan = await database.reader.executeQuery({ ...query, sql: `explain query plan ${query.sql}` })
      const text = JSON.stringify(plan.rows)
      return /USING (COVERING )?INDEX/.test(text) && !/TEMP B-TREE/.test(text)
    },
  },
  {
    name: 'postgresql',
    async create(options) {
      const { url, remove } = await createDatabase(options)
      return { open: () => openPostgres(url, { readers: 4 }), remove }
    },
    async readEverything(database) {
      return await readEveryRow(database, 'select tablename as name from pg_tables where schemaname = current_schema()')
    },
    async findUnindexedReferences(database) {
      const { rows } = await sql<{ place: string }>`
        select keys.conrelid::regclass || '.' || columns.attname as place
        from pg_constraint as keys
        join pg_attribute as columns on columns.attrelid = keys.conrelid and columns.attnum = keys.conkey[1]
        where keys.contype = 'f'
          and not exists (select 1 from pg_index as indexes where indexes.indrelid = keys.conrelid and indexes.indkey[0] = keys.conkey[1])`.execute(
        database.reader,
      )
      return rows.map(({ place }) => place)
    },
    isServedByIndex: (database, query) =>
      database.transact(async (db) => {
        // A table of five rows is read whole and sorted otherwise.
        for (const way of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort']) await sql`set local ${sql.ref(way)} = off`.execute(db)
        const plan = await db.executeQuery({ ...query, sql: `explain ${query.sql}` })
        const text = JSON.stringify(plan.rows)
        return /Index (Only )?Scan/.test(text) && !/Sort/.test(text)
      }),
  },
]

/** The engines of this run: those TEST_ENGINES names, or all. Another engine is another row above. */
export const ENGINES = EVERY_ENGINE.filter(({ name }) => process.env['TEST_ENGINES']?.split(',').includes(name) ?? true)

async function readEveryRow({ reader }: OpenDatabase, tables: string): Promise<string> {
  const texts: string[] = []
  for (const { name } of (await sql<{ name: string }>`${sql.raw(tables)}`.execute(reader)).rows) {
    const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(reader)
    texts.push(...rows.map((row) => Object.values(row).join('\n')))
  }
  return texts.join('\n')
}

/** A library's database, past the program that uses it. */
export function openAt(databaseUrl: string): OpenDatabase {
  return databaseUrl.startsWith('sqlite:') ? openSqlite(databaseUrl.replace('sqlite:', '')) : openPostgres(databaseUrl, { readers: 1 })
}

/** Every cell of a library's database, as text. */
export async function readEverything(databaseUrl: string): Promise<string> {
  const database = openAt(databaseUrl)
  const tables = databaseUrl.startsWith('sqlite:')
    ? "select name from sqlite_master where type = 'table'"
    : 'select tablename as name from pg_tables where schemaname = current_schema()'
  try {
    return await readEveryRow(database, tables)
  } finally {
    await database.close()
  }
}

/** Randomness that counts, so that what a test makes can be told apart. */
export function countingRandom(): Random {
  let count = 0
  return {
    id: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`,
    letters: (length) => String(++count).padStart(length, 'x'),
    fraction: () => 0,
  }
}

/** A database with parts of its file replaced. A server gets a file that does nothing else. */
export function replaceInFile(database: OpenDatabase, replaced: Partial<LibraryFile>): OpenDatabase {
  const none: LibraryFile = {
    path: '',
    copyTo: async () => {},
    emptyLog: async () => true,
    releaseRoom: async () => {},
    compact: async () => {},
    requireRoom() {},
  }
  return { ...database, file: { ...none, ...database.file, ...replaced } }
}

/** Accounts of a suite's library, with the visibility that their items have by default. */
const PEOPLE = { Ada: 'private', ben: 'public' } as const

/**
 * A store for each test of a suite, over a database of its own; members are there once the test begins.
 * @param people made before each test, in this order
 * @param outside parts of the world. Default: a clock that moves on by a second at each look, and randomness that counts
 */
export function useStore(
  engine: Engine,
  people: readonly (keyof typeof PEOPLE)[] = [],
  outside: Partial<Parameters<typeof createStore>[1]> = {},
) {
  let now = Date.UTC(2026, 0, 1)
  const world = { clock: () => (now += 1000), random: countingRandom(), ...outside }
  const place = {} as Awaited<ReturnType<Engine['create']>>
  const database = {} as OpenDatabase
  const store = {} as LibraryStore
  const users = { Ada: {} as User, ben: {} as User }
  beforeEach(async () => {
    Object.assign(place, await engine.create())
    Object.assign(database, place.open())
    Object.assign(store, await createStore(database, world))
    for (const username of people) {
      Object.assign(users[username], await store.people.createUser({ username, defaultVisibility: PEOPLE[username] }))
    }
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })
  return { place, database, store, ada: users.Ada, ben: users.ben, clock: world.clock }
}
