import { CompiledQuery, Kysely, sql } from 'kysely'
import pg from 'pg'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { prepareQuery, prepareStatement, runDirectly } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { type Dialect, eventOf, type OnStatement, type OpenDatabase, type RevisedTable, watchStatements } from './dialect.ts'
import { createGroupCommit, finishing } from './group-commit.ts'
import { openVectorTable } from './pgvector.ts'
import { createPool, createReader, createWriter, toKysely, withRetry } from './postgres-connections.ts'
import { faultOf, toKnownError } from './postgres-faults.ts'
import { markTransactions } from './postgres-marks.ts'
import { openReplica } from './postgres-replica.ts'
import { createSignals } from './postgres-signals.ts'
import { createSnapshotTables, snapshotTable } from './snapshot-table.ts'

/** The advisory lock of all writers, which concurrent ones share: an arbitrary number, the same for all instances. */
const WRITE_LOCK = 4_715_223_901
/** Longest wait for another transaction, or for a free connection, before `unavailable`. */
const LOCK_WAIT_MS = 15_000
/** Longest run of one statement, and longest idle time within a transaction. */
const STATEMENT_MS = 30_000
const IDLE_MS = 60_000
/** After how much silence a connection is asked whether it is still there. */
const KEEP_ALIVE_MS = 10_000
/** Longest wait for a connection to be made. */
const CONNECT_MS = 10_000
const UNIQUE_VIOLATION = '23505'

const anyItem = prepareStatement(sql`select title, content from item order by seq desc limit 1`)
const numberLock = prepareQuery((db) => db.selectFrom('revision').select('value').where('scope', '=', 'library').forUpdate())
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
    await addRevisionTriggers(db, scope, tables)
  },
  addRevisionTriggers,
  async addTrigger(db, trigger) {
    await sql`create function ${sql.id(trigger.name)}() returns trigger language plpgsql as $$
      begin perform 1 from revision where scope = ${sql.lit(trigger.locks)} for update; ${sql.raw(trigger.body)} return null; end $$`.execute(
      db,
    )
    const when = trigger.when === undefined ? sql`` : sql`when (${sql.raw(trigger.when)})`
    await sql`create trigger ${sql.id(trigger.name)} after ${eventOf(trigger)} on ${sql.table(trigger.table)}
      for each row ${when} execute function ${sql.id(trigger.name)}()`.execute(db)
  },
  async lockNumbers(db) {
    await numberLock(db, {})
  },
  async deferTriggers(db) {
    await sql`do $$
      declare found record;
      begin
        for found in
          select tgname, tgrelid::regclass as place, pg_get_triggerdef(pg_trigger.oid) as definition
          from pg_trigger join pg_class on pg_class.oid = tgrelid
          where not tgisinternal and relnamespace = current_schema()::regnamespace
          and (tgname like 'revision\\_%' or tgname like 'public\\_%') and relname <> 'public_change'
          order by relname, tgname
        loop
          execute format('drop trigger %I on %s', found.tgname, found.place);
          execute replace(replace(found.definition, 'CREATE TRIGGER', 'CREATE CONSTRAINT TRIGGER'),
            ' FOR EACH ROW', ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW');
        end loop;
      end $$`.execute(db)
  },
  createSnapshotTables,
  markTransactions,
  async dropForeignMarks(db) {
    // What this server committed has a number below the end of the snapshot.
    await sql`delete from read_mark where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`.execute(db)
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

/** One trigger a table, which calls the function that `raiseRevision` makes. */
async function addRevisionTriggers(db: Kysely<Database>, scope: string, tables: readonly RevisedTable[]): Promise<void> {
  for (const { table, columns } of tables) {
    const changed = columns ? sql`update of ${sql.join(columns.map((column) => sql.ref(column)))}` : sql`update`
    await sql`create trigger ${sql.id(`revision_${table}`)} after insert or delete or ${changed} on ${sql.table(table)}
        for each row execute function raise_revision(${sql.lit(scope)})`.execute(db)
  }
}

/** The sequence that numbers the rows of a table. */
const sequenceOf = (table: string) => sql`pg_get_serial_sequence(${`"${table}"`}, 'seq')::regclass`

/** Each run is planned for the tables as they are: a plan kept from when they were small can cost a thousand times as much. */
const BEGIN_PLANNED = 'begin; set local plan_cache_mode = force_custom_plan'
/** Rows are found by keys, by plans made once. Tables that were small when they were made must not be read whole when they have grown. */
const BY_KEYS = 'set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off'
const LIMITS = `set local lock_timeout = ${LOCK_WAIT_MS}; set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${IDLE_MS}`
/** Takes the write lock first. The server releases it when a process disappears. */
const BEGIN = `${BEGIN_PLANNED}; ${LIMITS}; select pg_advisory_xact_lock(${WRITE_LOCK})`
/** Shares it with other concurrent writes. */
const BEGIN_CONCURRENT = `begin; ${BY_KEYS}; ${LIMITS}; select pg_advisory_xact_lock_shared(${WRITE_LOCK})`
/** Without time limits, for migrations and imports. Triggers run at once: a table that they wait for cannot be altered. */
const BEGIN_LONG = `${BEGIN_PLANNED}; select pg_advisory_xact_lock(${WRITE_LOCK}); set constraints all immediate`
/** For side transactions: no lock. */
const BEGIN_SIDE = `${BEGIN_PLANNED}; set local statement_timeout = ${STATEMENT_MS}`
/** Deferred triggers run for each row, and find what they need by keys: planning them each time would take longer than they do. */
const COMMIT_BY_KEYS = `${BY_KEYS}; commit`
const COMMIT = 'commit'
/** A consistent snapshot. */
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'
/** Connections for side transactions. */
const SIDE_CONNECTIONS = 2
/** Connections for writes: while one waits for the server, the other has it work. */
const WRITE_CONNECTIONS = 2
/** Longest wait of a write for a lock of another group of writes: long enough for a statement that is just over. */
const BRIEF_WAIT_MS = 2
/** Besides of a unique key: deadlock, serialization failure, lock timeout. */
const COLLISIONS = new Set([UNIQUE_VIOLATION, '40P01', '40001', '55P03'])

/** Sends commands that have no result, without waiting for one before the next. */
function command(...texts: readonly string[]): (transaction: Kysely<Database>) => Promise<void> {
  const commands = texts.map((text) => prepareStatement(sql.raw(text)))
  return async (transaction) => {
    await Promise.all(commands.map((run) => run(transaction, {})))
  }
}

const waitLong = command(`set local lock_timeout = ${LOCK_WAIT_MS}`)
const waitBriefly = command(`set local lock_timeout = ${BRIEF_WAIT_MS}`)

/** How a process uses its server. */
export interface PostgresOptions {
  /** Connections for reads. Two for writes, two for side transactions and one to listen on come on top. */
  readonly readers: number
  /** Where to listen for other instances when `url` is a pooler, which shares connections. Default: `url`. */
  readonly listenUrl?: string | null
  /** A server that follows this one and answers reads where it may. Default: none */
  readonly readUrl?: string | null
  readonly onStatement?: OnStatement | undefined
  /** Called with a sentence for the log when the replica fails and when it can be used again. */
  readonly onReplica?: ((sentence: string) => void) | undefined
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
  const connection: pg.PoolConfig = {
    connectionString: url,
    application_name: 'commonplace',
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
    max: WRITE_CONNECTIONS,
    // Statements begun together are sent together.
    pipeline: true,
    connectionTimeoutMillis: LOCK_WAIT_MS,
    query_timeout: LOCK_WAIT_MS + STATEMENT_MS,
  })
  // For migrations and snapshots, without time limits.
  const long = createPool({ ...connection, max: 1 })
  const watched = watchStatements(options.onStatement)
  const isPooled = (options.listenUrl ?? url) !== url
  const reader = new Kysely<Database>({ dialect: toKysely(() => createReader(reading)), ...watched })
  const writer = new Kysely<Database>({ dialect: toKysely(() => createWriter(writing, BEGIN, COMMIT_BY_KEYS, isPooled)), ...watched })
  const side = createPool({ ...connection, max: SIDE_CONNECTIONS, query_timeout: STATEMENT_MS })
  const concurrentWriter = new Kysely<Database>({
    dialect: toKysely(() => createWriter(writing, BEGIN_CONCURRENT, COMMIT, isPooled)),
    ...watched,
  })
  const sideWriter = new Kysely<Database>({ dialect: toKysely(() => createWriter(side, BEGIN_SIDE, COMMIT_BY_KEYS, isPooled)), ...watched })
  const longWriter = new Kysely<Database>({ dialect: toKysely(() => createWriter(long, BEGIN_LONG, COMMIT, isPooled)), ...watched })
  const snapshots = new Kysely<Database>({ dialect: toKysely(() => createWriter(long, BEGIN_SNAPSHOT, COMMIT, isPooled)), ...watched })
  // Not on the long connection, which an export may hold.
  const loads = new Kysely<Database>({ dialect: toKysely(() => createWriter(side, BEGIN_SNAPSHOT, COMMIT, isPooled)), ...watched })
  const runOn =
    (on: Kysely<Database>) =>
    async <T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> => {
      try {
        return await on.transaction().execute(work)
      } catch (error) {
        throw toKnownError(error)
      }
    }
  const transactAlone = async <T>(work: (transaction: Kysely<Database>) => Promise<T>, on: Kysely<Database>): Promise<T> => {
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
      if (hasStarted && faultOf(error) === 'unreachable') {
        const message = 'The database connection broke during a change. Check whether the change was made before you try again.'
        throw new AppError('unavailable', message, { cause: error })
      }
      throw toKnownError(error)
    }
  }
  const { readUrl, onStatement, onReplica } = options
  const replica = readUrl
    ? openReplica({
        config: { ...connection, connectionString: readUrl, max: options.readers },
        primary: reading,
        onStatement,
        onReplica,
      })
    : null
  const pools = [reading, writing, long, side, ...(replica ? [replica.pool] : [])]
  const commitInGroups = createGroupCommit({
    lanes: WRITE_CONNECTIONS,
    run: (work, isConcurrent) => transactAlone(work, isConcurrent ? concurrentWriter : writer),
    savepoint: { begin: command('savepoint job'), release: command('release job'), rollback: command('rollback to job', 'release job') },
    // A connection that is gone fails the rollback, and so the whole group.
    isOpen: () => true,
    setPatience: async (transaction, waits) => await (waits ? waitLong : waitBriefly)(transaction),
    isCollision: (error) => error instanceof pg.DatabaseError && COLLISIONS.has(error.code ?? ''),
    explain: toKnownError,
  })
  return {
    dialect: postgresDialect,
    writer,
    reader,
    replica,
    file: null,
    transact: async (work, { isLong = false, caller = '', isConcurrent = false, finish, finishMs } = {}) =>
      isLong
        ? await transactAlone(finishing(work, finish), longWriter)
        : await commitInGroups(work, { caller, isConcurrent, finish, finishMs }),
    readSnapshot: runOn(snapshots),
    async sideTransaction(work) {
      try {
        return await withRetry(
          () => sideWriter.transaction().execute(work),
          () => true,
        )
      } catch (error) {
        throw toKnownError(error)
      }
    },
    // The server's autovacuum frees deleted rows.
    async compact() {},
    requireRoom() {},
    emptyLog: async () => true,
    async releaseRoom() {},
    snapshots: snapshotTable(reader, runOn(sideWriter), runOn(loads)),
    signals: createSignals({ ...connection, connectionString: options.listenUrl ?? url }),
    async check() {
      await anyItem(reader, {})
    },
    async checkWrite() {
      const [row] = await recovery(reader, {})
      if (z.object({ inRecovery: z.boolean() }).parse(row).inRecovery)
        throw new AppError('unavailable', 'The database is a standby and cannot be written to.')
    },
    async measure() {
      const [row] = await databaseSize(reader, {})
      const { bytes } = z.object({ bytes: z.number() }).parse(row)
      return { engine: 'PostgreSQL', place: new URL(url).host, bytes, logBytes: null, beside: [] }
    },
    readUsage() {
      const sum = (read: (pool: pg.Pool) => number) => pools.reduce((all, pool) => all + read(pool), 0)
      const idle = sum((pool) => pool.idleCount)
      return { busy: sum((pool) => pool.totalCount) - idle, idle, waiting: sum((pool) => pool.waitingCount) }
    },
    async close() {
      await replica?.close()
      for (const pool of [reading, writing, long, side]) await pool.end()
    },
  }
}
