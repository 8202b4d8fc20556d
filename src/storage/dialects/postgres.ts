import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery, Kysely, sql } from 'kysely'
import pg from 'pg'
import { AppError } from '../../errors.ts'
import { prepareStatement, runDirectly } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type Dialect, type OnStatement, type OpenDatabase, type Signals, watchStatements } from './dialect.ts'
import { postgresFrozen } from './frozen-statements.ts'
import { createGroupCommit } from './group-commit.ts'
import { createPool, createReader, createWriter, FIRST_RETRY_MS, MOST_RETRY_MS, toKysely, withRetry } from './postgres-connections.ts'
import { toKnownError } from './postgres-statements.ts'
import { snapshotFile } from './snapshot-file.ts'

/** The channel instances listen to. */
const CHANNEL = 'commonplace'
/** The only statement of a connection that listens. */
const LISTEN = `listen ${CHANNEL}`

/** Signals between instances by LISTEN and NOTIFY, over a connection of its own that is reopened when it breaks. */
function createSignals(config: pg.ClientConfig): Signals {
  return {
    async send(db, text) {
      await db.executeQuery(CompiledQuery.raw('select pg_notify($1, $2)', [CHANNEL, text]))
    },
    listen(onSignal) {
      const stopping = new AbortController()
      const listen = async () => {
        for (let delayMs = FIRST_RETRY_MS; !stopping.signal.aborted; delayMs = Math.min(delayMs * 2, MOST_RETRY_MS)) {
          const client = new pg.Client(config)
          const ended = new Promise<void>((resolve) => {
            client.on('error', () => resolve())
            client.on('end', resolve)
            stopping.signal.addEventListener('abort', () => resolve(), { once: true })
          })
          try {
            await client.connect()
            client.on('notification', ({ payload }) => onSignal(payload ?? null))
            await client.query(LISTEN)
            delayMs = FIRST_RETRY_MS
            // Signals may have been missed until now.
            onSignal(null)
            await ended
          } catch {
            // Tried again below.
          }
          await client.end().catch(() => {})
          await sleep(delayMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
        }
      }
      const listening = listen()
      return async () => {
        stopping.abort()
        await listening
      }
    },
  }
}

/** The advisory lock of all writers: an arbitrary number, the same for all instances. */
const WRITE_LOCK = 4_715_223_901
/** Longest wait for another transaction, or for a free connection, before `unavailable`. */
const LOCK_WAIT_MS = 15_000
/** Longest run of one statement, and longest idle time within a transaction. */
const STATEMENT_MS = 30_000
const IDLE_MS = 10_000
/** After how much silence a connection is asked whether it is still there. */
const KEEP_ALIVE_MS = 10_000
/** Longest wait for a connection to be made. */
const CONNECT_MS = 10_000

export const postgresDialect: Dialect = {
  blobType: 'bytea',
  identity: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
  async readIdentity(db, table) {
    const { rows } = await sql<{ last: number | null }>`select pg_sequence_last_value(${sequenceOf(table)}) as last`.execute(db)
    return rows[0]?.last ?? 0
  },
  async setIdentity(db, table, last) {
    // No sequence stands at 0: one that gave no number yet stands at 1, not called.
    await sql`select setval(${sequenceOf(table)}, ${Math.max(1, last)}, ${last > 0 ? sql`true` : sql`false`})`.execute(db)
  },
  ...postgresFrozen,
  findFaults: async () => null,
  async readColumns(db) {
    const { rows } = await sql<{ place: string }>`
      select table_name || '.' || column_name as place from information_schema.columns where table_schema = current_schema()`.execute(db)
    return new Set(rows.map(({ place }) => place))
  },
  async readKey(db, table) {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
      where indrelid = ${`"${table}"`}::regclass and indisprimary order by array_position(indkey::int2[], attnum)`.execute(db)
    return rows.map(({ name }) => name)
  },
}

/** The sequence that numbers the rows of a table. */
const sequenceOf = (table: string) => sql`pg_get_serial_sequence(${`"${table}"`}, 'seq')::regclass`

const LIMITS = `set local lock_timeout = ${LOCK_WAIT_MS}; set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${IDLE_MS}`
/** Takes the write lock, which the server releases when a process disappears, and says the number of the transaction. */
const LOCK = `select pg_advisory_xact_lock(${WRITE_LOCK}); select pg_current_xact_id()::text as xid`
const BEGIN = `begin; ${LIMITS}; ${LOCK}`
/** Without time limits, for migrations and imports. Triggers of earlier schemas run at once: a table that they wait for cannot be altered. */
const BEGIN_LONG = `begin; set constraints all immediate; ${LOCK}`
/** A consistent snapshot. */
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

/** Sends commands that have no result, without waiting for one before the next. */
function command(...texts: readonly string[]): (transaction: Kysely<Database>) => Promise<void> {
  const commands = texts.map((text) => prepareStatement(sql.raw(text)))
  return async (transaction) => {
    await Promise.all(commands.map((run) => run(transaction, {})))
  }
}

/** How a process uses its server. */
export interface PostgresOptions {
  /** Connections for reads. One for writes, one for what takes long and one to listen on come on top. */
  readonly readers: number
  /** Where to listen for other instances when `url` is a pooler, which shares connections. Default: `url`. */
  readonly listenUrl?: string | null
  /** Beside which path the snapshot of the search index is. Default: nowhere */
  readonly snapshotPath?: string | null
  /** The schema this program works with, which other processes find in the name of its connections. */
  readonly schema?: string | undefined
  readonly onStatement?: OnStatement | undefined
}

/** Runs work in a transaction whose prepared queries go to the connection itself. */
async function directly<T>(transaction: Kysely<Database>, work: (transaction: Kysely<Database>) => Promise<T>): Promise<T> {
  const connection = await transaction.getExecutor().provideConnection(async (one) => one)
  const stop = runDirectly(transaction, async (text, parameters) => {
    const { rows } = await connection.executeQuery<unknown>(CompiledQuery.raw(text, [...parameters]))
    return rows
  })
  try {
    return await work(transaction)
  } finally {
    stop()
  }
}

/** Opens a library on a server; connects with the first statement. */
export function openPostgres(url: string, options: PostgresOptions): OpenDatabase {
  const name = `commonplace ${options.schema ?? ''}`.trim()
  const connection: pg.PoolConfig = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  // The server ends slow statements. If it does not answer at all, this process does, a little later.
  const reading = createPool({
    ...connection,
    max: options.readers,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
  })
  const writing = createPool({
    ...connection,
    max: 1,
    // Statements begun together are sent together.
    pipeline: true,
    connectionTimeoutMillis: LOCK_WAIT_MS,
    query_timeout: LOCK_WAIT_MS + STATEMENT_MS,
  })
  // For migrations and snapshots, without time limits.
  const long = createPool({ ...connection, max: 1 })
  const pools = [reading, writing, long]
  const watched = watchStatements(options.onStatement)
  const isPooled = (options.listenUrl ?? url) !== url
  const reader = new Kysely<Database>({ dialect: toKysely(() => createReader(reading)), ...watched })
  const open = (pool: pg.Pool, begin: string) =>
    new Kysely<Database>({ dialect: toKysely(() => createWriter(pool, begin, { isPooled, lookUp: reading })), ...watched })
  const writer = open(writing, BEGIN)
  const longWriter = open(long, BEGIN_LONG)
  const snapshots = open(long, BEGIN_SNAPSHOT)
  const transactOn = async <T>(on: Kysely<Database>, work: (transaction: Kysely<Database>) => Promise<T>): Promise<T> => {
    let hasStarted = false
    try {
      return await withRetry(
        () =>
          on.transaction().execute(async (transaction) => {
            hasStarted = true
            return await directly(transaction, work)
          }),
        () => !hasStarted,
      )
    } catch (error) {
      throw toKnownError(error)
    }
  }
  const commitInGroups = createGroupCommit({
    run: (work) => transactOn(writer, work),
    savepoint: { begin: command('savepoint job'), release: command('release job'), rollback: command('rollback to job', 'release job') },
    // A connection that is gone fails the rollback, and so the whole group.
    isOpen: () => true,
    explain: toKnownError,
  })
  return {
    dialect: postgresDialect,
    writer,
    reader,
    file: null,
    transact: async (work, { isLong = false, caller = '' } = {}) =>
      isLong ? await transactOn(longWriter, work) : await commitInGroups(work, caller),
    readSnapshot: (work) => transactOn(snapshots, work),
    snapshots: options.snapshotPath ? snapshotFile(options.snapshotPath) : null,
    signals: createSignals({ ...connection, connectionString: options.listenUrl ?? url }),
    async countOtherVersions() {
      const { rows } = await sql<{ n: number }>`
        select count(*)::integer as n from pg_stat_activity
        where datname = current_database() and query = ${LISTEN} and application_name <> ${name}`.execute(reader)
      return rows[0]?.n ?? 0
    },
    async check() {
      await reader.selectFrom('item').select(['title', 'content']).orderBy('seq', 'desc').limit(1).execute()
    },
    async checkWrite() {
      const { rows } = await sql<{ inRecovery: boolean }>`select pg_is_in_recovery() as "inRecovery"`.execute(reader)
      if (rows[0]?.inRecovery !== false) throw new AppError('unavailable', 'The database is a standby and cannot be written to.')
    },
    async measure() {
      const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(reader)
      return { engine: 'PostgreSQL', place: new URL(url).host, bytes: rows[0]?.bytes ?? 0, logBytes: null, freeBytes: null, beside: [] }
    },
    readUsage() {
      const sum = (read: (pool: pg.Pool) => number) => pools.reduce((all, pool) => all + read(pool), 0)
      const idle = sum((pool) => pool.idleCount)
      return { busy: sum((pool) => pool.totalCount) - idle, idle, waiting: sum((pool) => pool.waitingCount) }
    },
    async close() {
      for (const pool of pools) await pool.end()
    },
  }
}
