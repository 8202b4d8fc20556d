import { createHash } from 'node:crypto'
import {
  type DatabaseConnection,
  Kysely,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  PostgresIntrospector,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Dialect } from '../dialects/dialect.ts'
import { postgresDialect } from '../dialects/postgres.ts'
import { BytewiseCompiler } from '../dialects/postgres-connections.ts'
import { sqliteDialect } from '../dialects/sqlite.ts'
import type { Database } from '../schema.ts'
import { MIGRATIONS } from './index.ts'

/** What a migration of rows reads, so that what it does with them is part of its digest. */
const SKILL_MD = new TextEncoder().encode('---\nname: tidy\ndescription: Tidy a room.\n---\n')

const VECTOR = new Uint8Array(Float32Array.of(0.5, -0.25).buffer)

/** Notes each statement with its values. Nothing is there; what is inserted gets a number, and one skill and one vector are found. */
function createRecorder(statements: string[]): KyselyDialect['createDriver'] {
  const connection: DatabaseConnection = {
    async executeQuery(query) {
      statements.push(JSON.stringify([query.sql, query.parameters]))
      if (/ returning "seq"$/.test(query.sql)) return { rows: [{ seq: statements.length }] as never[] }
      if (/ join embedding_vector /.test(query.sql))
        return { rows: [{ seq: 1, item_seq: 1, model: 'm', digest: 'd', vector: VECTOR }] as never[] }
      return { rows: (/^select .* from "skill_file"/.test(query.sql) ? [{ item_seq: 1, bytes: SKILL_MD }] : []) as never[] }
    },
    streamQuery() {
      throw new Error('nothing is streamed')
    },
  }
  const nothing = async () => {}
  return () => ({
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  })
}

const ENGINES: readonly ((createDriver: KyselyDialect['createDriver']) => { db: Kysely<Database>; dialect: Dialect })[] = [
  (createDriver) => ({
    dialect: sqliteDialect,
    db: new Kysely({
      dialect: {
        createDriver,
        createAdapter: () => new SqliteAdapter(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    }),
  }),
  (createDriver) => ({
    dialect: postgresDialect,
    db: new Kysely({
      dialect: {
        createDriver,
        createAdapter: () => new PostgresAdapter(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new BytewiseCompiler(),
      },
    }),
  }),
]

describe('migrations', () => {
  // Red: a landed migration does something else than in the databases that have it. Write a new one instead.
  it.each(MIGRATIONS)('$name does what it did when it landed', async ({ up, digest }) => {
    const statements: string[] = []
    for (const open of ENGINES) {
      const { db, dialect } = open(createRecorder(statements))
      // With everything to be mended.
      await up(db, { ...dialect, readColumns: async () => new Set() })
    }
    expect(statements.length).toBeGreaterThan(0)
    expect(createHash('sha256').update(statements.join('\n')).digest('hex')).toBe(digest)
  })

  it('are numbered without a gap', () => {
    expect(MIGRATIONS.map(({ name }) => name.slice(0, 4))).toEqual(MIGRATIONS.map((_, index) => String(index + 1).padStart(4, '0')))
  })
})
