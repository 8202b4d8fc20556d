import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type DataTypeNode,
  type Driver,
  Kysely,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { prepareStatement } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type Dialect, type OnStatement, type OpenDatabase, type Signals, watchStatements } from './dialect.ts'
import { openVectorTable } from './pgvector.ts'
import { faultOf, isSettingRefused, toKnownError } from './postgres-faults.ts'
import { createStatementNames } from './postgres-statements.ts'

/** The one lock that everybody who writes holds until they commit: an arbitrary number, the same for all instances. */
const WRITE_LOCK = 4_715_223_901
/** Longest wait for another's transaction, or for a free connection, before the caller hears `unavailable`. */
const LOCK_WAIT_MS = 15_000
/** Longest a single statement may run, and a transaction may do nothing. */
const STATEMENT_MS = 30_000
const IDLE_MS = 60_000
/** After how much silence a connection is asked whether it is still there. */
const KEEP_ALIVE_MS = 10_000
/** Longest wait for a connection to be made. */
const CONNECT_MS = 10_000
/** How long a read, or the start of a write, is tried again while the server cannot be reached: as long as a restart takes. */
const PATIENCE_MS = 10_000
const FIRST_RETRY_MS = 100
const MOST_RETRY_MS = 2_000
/** Numbers of types (pg_type): int8 holds counts and sizes here, never near 2^53. */
const INT8 = 20
const BYTEA = 17
const UNIQUE_VIOLATION = '23505'
/** What instances listen to. */
const CHANNEL = 'commonplace'

const anyItem = prepareStatement(sql`select title, content from item order by seq desc limit 1`)
const recovery = prepareStatement(sql`select pg_is_in_recovery() as "inRecovery"`)
const databaseSize = prepareStatement(sql`select pg_database_size(current_database()) as bytes`)

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
  async raiseRevision(db, scope, tables) {
    // Once a transaction: the setting ends with it.
    await sql`create function raise_revision() returns trigger language plpgsql as $$
      begin
        if coalesce(current_setting('commonplace.raised', true), '') <> tg_argv[0] then
          update revision set value = value + 1 where scope = tg_argv[0];
          perform set_config('commonplace.raised', tg_argv[0], true);
        end if;
        return null;
      end $$`.execute(db)
    for (const { table, columns } of tables) {
      const changed = columns ? sql`update of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql`update`
      await sql`create trigger ${sql.id(`revision_${table}`)} after insert or delete or ${changed} on ${sql.table(table)}
        for each row execute function raise_revision(${sql.lit(scope)})`.execute(db)
    }
  },
  openVectors: openVectorTable,
  findFaults: async () => null,
  async readColumns(db) {
    const { rows } = await sql<{ place: string }>`
      select table_name || '.' || column_name as place from information_schema.columns where table_schema = current_schema()`.execute(db)
    return new Set(rows.map(({ place }) => place))
  },
  isUniqueViolation: (error) => error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION,
}

/** The sequence that numbers the rows of a table. */
const sequenceOf = (table: string) => sql`pg_get_serial_sequence(${`"${table}"`}, 'seq')::regclass`

/** Takes the lock of writers first. A process that vanishes half-way gives it back when the server notices. */
const BEGIN = `begin; set local lock_timeout = ${LOCK_WAIT_MS}; set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${IDLE_MS}; select pg_advisory_xact_lock(${WRITE_LOCK})`
/** For what takes as long as it takes: bringing a database up to date. */
const BEGIN_LONG = `begin; select pg_advisory_xact_lock(${WRITE_LOCK})`
/** For records beside the library: no lock. */
const BEGIN_BESIDE = `begin; set local statement_timeout = ${STATEMENT_MS}`
const COMMIT = 'commit'
/** Everything as it is at one moment. */
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'
/** Connections for them. */
const BESIDE = 2

/** How a process uses its server. */
export interface PostgresOptions {
  /** Connections to read with; one to write with, two for what stands beside the library, and one to listen on come on top. */
  readonly readers: number
  /** Where to listen for other instances when `url` leads to a pooler, which would pass that connection to others. Default: `url`. */
  readonly listenUrl?: string | null
  readonly onStatement?: OnStatement | undefined
}

/** Opens a library on a server. Nothing is connected to before the first statement. */
export function openPostgres(url: string, options: PostgresOptions): OpenDatabase {
  const connection: pg.PoolConfig = {
    connectionString: url,
    application_name: 'commonplace',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser },
  }
  // The server ends what takes too long; should it not answer at all, this process does, a little later.
  const reading = createPool({
    ...connection,
    max: options.readers,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
  })
  // Writers take turns anyway: here first, so that those who wait hold no connection.
  const writing = createPool({ ...connection, max: 1, connectionTimeoutMillis: LOCK_WAIT_MS, query_timeout: LOCK_WAIT_MS + STATEMENT_MS })
  // Bringing a database up to date takes what it takes.
  const long = createPool({ ...connection, max: 1 })
  const watched = watchStatements(options.onStatement)
  const reader = new Kysely<Database>({ dialect: toKysely(() => createReader(reading)), ...watched })
  const writer = new Kysely<Database>({ dialect: toKysely(() => createWriter(writing, BEGIN, COMMIT)), ...watched })
  const beside = createPool({ ...connection, max: BESIDE, query_timeout: STATEMENT_MS })
  const besideWriter = new Kysely<Database>({ dialect: toKysely(() => createWriter(beside, BEGIN_BESIDE, COMMIT)), ...watched })
  const longWriter = new Kysely<Database>({ dialect: toKysely(() => createWriter(long, BEGIN_LONG, COMMIT)), ...watched })
  const snapshots = new Kysely<Database>({ dialect: toKysely(() => createWriter(long, BEGIN_SNAPSHOT, COMMIT)), ...watched })
  return {
    dialect: postgresDialect,
    writer,
    reader,
    file: null,
    async transact(work, { isLong = false } = {}) {
      let hasStarted = false
      try {
        return await patiently(
          () =>
            (isLong ? longWriter : writer).transaction().execute(async (transaction) => {
              hasStarted = true
              return await work(transaction)
            }),
          () => !hasStarted,
        )
      } catch (error) {
        if (hasStarted && faultOf(error) === 'unreachable') {
          const message = 'The connection to the database broke during a change: look whether it was made before you try again.'
          throw new AppError('unavailable', message, { cause: error })
        }
        throw toKnownError(error)
      }
    },
    async readSnapshot(work) {
      try {
        return await snapshots.transaction().execute(work)
      } catch (error) {
        throw toKnownError(error)
      }
    },
    async sideTransaction(work) {
      try {
        return await patiently(
          () => besideWriter.transaction().execute(work),
          () => true,
        )
      } catch (error) {
        throw toKnownError(error)
      }
    },
    // Deleted rows lie in pages and logs of the server until it cleans up, which is its operator's to set.
    // Autovacuum does.
    async compact() {},
    emptyLog: async () => true,
    async releaseRoom() {},
    signals: createSignals({ ...connection, connectionString: options.listenUrl ?? url }),
    async check() {
      await anyItem(reader, {})
    },
    async checkWrite() {
      const [row] = await recovery(reader, {})
      if (z.object({ inRecovery: z.boolean() }).parse(row).inRecovery)
        throw new AppError('unavailable', 'The database is a standby, which nobody can write to.')
    },
    async measure() {
      const [row] = await databaseSize(reader, {})
      const { bytes } = z.object({ bytes: z.number() }).parse(row)
      return { engine: 'PostgreSQL', place: new URL(url).host, bytes, logBytes: null, beside: [] }
    },
    readUsage() {
      const sum = (read: (pool: pg.Pool) => number) => read(reading) + read(writing) + read(long) + read(beside)
      const idle = sum((pool) => pool.idleCount)
      return { busy: sum((pool) => pool.totalCount) - idle, idle, waiting: sum((pool) => pool.waitingCount) }
    },
    async close() {
      for (const pool of [reading, writing, long, beside]) await pool.end()
    },
  }
}

function getTypeParser(type: number): (text: string) => unknown {
  if (type === INT8) return Number
  // Copied: what pg gives is a part of a larger buffer, which would be kept along.
  if (type === BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
  return pg.types.getTypeParser(type)
}

function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  // A connection that breaks while nobody uses it is replaced at the next use, one in use fails the statement: the event itself says nothing new.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Runs `work`, and again after a while when that may help and `mayRetry`. @throws what it threw at last */
async function patiently<T>(work: () => Promise<T>, mayRetry: () => boolean): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, MOST_RETRY_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!mayRetry() || faultOf(error) === 'statement' || performance.now() + delayMs > deadline) throw error
    }
    // Not all at the same moment.
    await sleep(delayMs * (0.5 + Math.random()))
  }
}

/** Texts compare by their bytes, as they do in SQLite: an order that no server's language changes. */
export class BytewiseCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node)
    if (node.dataType === 'text') this.append(' collate "C"')
  }
}

function toKysely(createDriver: () => Driver): KyselyDialect {
  return {
    createDriver,
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new BytewiseCompiler(),
  }
}

/** Kysely types the rows by the query; pg knows nothing of them. */
function toResult({ rows, rowCount }: pg.QueryResult): QueryResult<never> {
  return { rows: rows as never[], ...(rowCount === null ? {} : { numAffectedRows: BigInt(rowCount) }) }
}

/** What stands for NUL where something is looked for: PostgreSQL keeps no text with NUL, and refuses to look for one. Nobody could have written this. */
const NOWHERE = `\uffff${randomUUID()}`

/** Parameters as the server takes them. */
function toValues({ sql: text, parameters }: CompiledQuery): unknown[] {
  // What is inserted must be right as it is.
  if (text.startsWith('insert')) return [...parameters]
  return parameters.map((value) => (typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', NOWHERE) : value))
}

const noStreams = (): never => {
  throw new AppError('internal', 'Rows are read a page at a time')
}
const noTransactions = async (): Promise<never> => {
  throw new AppError('internal', 'This connection only reads')
}

/** For single statements that read: any connection of the pool serves each, and each may be run again. */
function createReader(pool: pg.Pool): Driver {
  const names = createStatementNames()
  const run = async (text: string, values: unknown[]) => {
    const name = names.nameOf(text)
    try {
      return await pool.query(name === undefined ? { text, values } : { name, text, values })
    } catch (error) {
      const isRefused = isSettingRefused(error)
      // A pooler sets nothing on connections that others use, too.
      if (isRefused) pool.options.statement_timeout = false
      else if (name === undefined || !names.isToBlame(error)) throw error
      return await pool.query({ text, values })
    }
  }
  const connection: DatabaseConnection = {
    async executeQuery(query) {
      try {
        return toResult(
          await patiently(
            () => run(query.sql, toValues(query)),
            () => !pool.ending,
          ),
        )
      } catch (error) {
        throw toKnownError(error)
      }
    },
    streamQuery: noStreams,
  }
  return {
    async init() {},
    acquireConnection: async () => connection,
    beginTransaction: noTransactions,
    commitTransaction: noTransactions,
    rollbackTransaction: noTransactions,
    async releaseConnection() {},
    async destroy() {},
  }
}

/** For transactions, and what must not be run twice. */
function createWriter(pool: pg.Pool, begin: string, commit: string): Driver {
  interface Held extends DatabaseConnection {
    readonly client: pg.PoolClient
    isBroken: boolean
  }
  const held = new WeakMap<DatabaseConnection, Held>()
  const heldBy = (connection: DatabaseConnection): Held => {
    const one = held.get(connection)
    if (!one) throw new AppError('internal', 'A connection of another pool')
    return one
  }
  const ask = async (one: Held, text: string, values?: unknown[]) => {
    try {
      return await one.client.query(text, values)
    } catch (error) {
      one.isBroken ||= error instanceof Error && error.message === 'Query read timeout'
      throw error
    }
  }
  const rollback = async (one: Held) => {
    // A connection that does not answer is not asked again.
    if (one.isBroken) return
    try {
      await one.client.query('rollback')
    } catch {
      // What went wrong first is what the caller hears; this connection is not used again.
      one.isBroken = true
    }
  }
  return {
    async init() {},
    async acquireConnection() {
      const client = await pool.connect()
      const one: Held = {
        client,
        isBroken: false,
        executeQuery: async (query) => toResult(await ask(one, query.sql, toValues(query))),
        streamQuery: noStreams,
      }
      held.set(one, one)
      return one
    },
    async beginTransaction(connection) {
      const one = heldBy(connection)
      try {
        await ask(one, begin)
      } catch (error) {
        await rollback(one)
        throw error
      }
    },
    commitTransaction: async (connection) => {
      await ask(heldBy(connection), commit)
    },
    rollbackTransaction: (connection) => rollback(heldBy(connection)),
    async releaseConnection(connection) {
      const one = heldBy(connection)
      one.client.release(one.isBroken)
    },
    async destroy() {},
  }
}

/** What instances tell each other, over a connection of its own that is made again whenever it breaks. */
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
            await client.query(`listen ${CHANNEL}`)
            delayMs = FIRST_RETRY_MS
            // Nobody knows what was missed until now.
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
