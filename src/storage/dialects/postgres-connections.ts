import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DataTypeNode,
  type Driver,
  type Dialect as KyselyDialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import { AppError } from '../../errors.ts'
import { createStatementNames, faultOf, isSettingRefused, toKnownError } from './postgres-statements.ts'

/** How long a read, or the start of a write, is retried while the server cannot be reached: as long as a restart takes. */
const RETRY_FOR_MS = 10_000
/** First and longest delay between attempts to reach the server. */
export const FIRST_RETRY_MS = 100
export const MOST_RETRY_MS = 2_000
/** Numbers of types (pg_type): int8 holds counts and sizes here, never near 2^53. */
const INT8 = 20
const BYTEA = 17
/** "in_failed_sql_transaction" */
const ABORTED = '25P02'

/** Parses counts as numbers, and bytea as a copy: pg gives a view of a larger buffer. */
function getTypeParser(type: number): (text: string) => unknown {
  if (type === INT8) return Number
  if (type === BYTEA) return (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
  return pg.types.getTypeParser(type)
}

/** A pool whose broken connections are replaced at their next use. */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, types: { getTypeParser } })
  // A break fails the statement in use, or is noticed at the next use; the event adds nothing.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Runs `work`, and again with growing delays while the server cannot be reached and `mayRetry`. @throws the last error */
export async function withRetry<T>(work: () => Promise<T>, mayRetry: () => boolean): Promise<T> {
  const deadline = performance.now() + RETRY_FOR_MS
  for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, MOST_RETRY_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!mayRetry() || faultOf(error) === 'statement' || performance.now() + delayMs > deadline) throw error
    }
    // Jitter, so that clients do not retry together.
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

/** A Kysely dialect over one driver. */
export function toKysely(createDriver: () => Driver): KyselyDialect {
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

/** Replaces NUL in lookup parameters, which PostgreSQL refuses. No stored text can contain it. */
const NUL_PLACEHOLDER = `\uffff${randomUUID()}`

/** Parameters in a form the server takes. */
function toValues({ sql: text, parameters }: CompiledQuery): unknown[] {
  // Inserted text is never altered.
  if (text.startsWith('insert')) return [...parameters]
  return parameters.map((value) => (typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', NUL_PLACEHOLDER) : value))
}

const noStreams = (): never => {
  throw new AppError('internal', 'Rows are read a page at a time')
}
const noTransactions = async (): Promise<never> => {
  throw new AppError('internal', 'This connection only reads')
}

/** A driver for single reads: any connection of the pool serves each, and each may be retried. */
export function createReader(pool: pg.Pool): Driver {
  const names = createStatementNames()
  const run = async (text: string, values: unknown[]) => {
    const name = names.nameOf(text)
    try {
      return await pool.query(name === undefined ? { text, values } : { name, text, values })
    } catch (error) {
      const isRefused = isSettingRefused(error)
      // A pooler refuses settings on shared connections.
      if (isRefused) pool.options.statement_timeout = false
      else if (name === undefined || !names.isToBlame(error)) throw error
      return await pool.query({ text, values })
    }
  }
  const connection: DatabaseConnection = {
    async executeQuery(query) {
      try {
        return toResult(
          await withRetry(
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

/** Sends what is asked in one tick by one system call, which costs as much as a short statement does. */
function sendTogether({ connection: { stream } }: pg.PoolClient): void {
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** How often, and in which intervals, the outcome of a commit is looked up after its connection broke. */
const OUTCOME_LOOKS = 20
const OUTCOME_DELAY_MS = 250

/** Whether a transaction committed, when its connection broke during the commit. null: that cannot be found out. */
async function findOutcome(pool: pg.Pool, xid: string): Promise<boolean | null> {
  for (let look = 0; look < OUTCOME_LOOKS; look++) {
    const found = await withRetry(
      () => pool.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [xid]),
      () => !pool.ending,
    ).catch(() => null)
    const status = found?.rows[0]?.status
    if (status === 'committed') return true
    if (status === 'aborted') return false
    // The server has not noticed yet that the connection is gone.
    if (status !== 'in progress') return null
    await sleep(OUTCOME_DELAY_MS)
  }
  return null
}

/**
 * A driver for transactions, which are not retried.
 * @param begin statements that open one; the last may give its number as `xid`
 * @param options.isPooled whether a pooler shares its connections: another one may not know a statement by its name, and a transaction cannot
 * go on after such a failure
 * @param options.lookUp finds out whether a transaction was committed whose connection broke meanwhile
 */
export function createWriter(pool: pg.Pool, begin: string, { isPooled, lookUp }: { isPooled: boolean; lookUp: pg.Pool }): Driver {
  interface Leased extends DatabaseConnection {
    readonly client: pg.PoolClient
    isBroken: boolean
    xid: string | null
    /** The last error that is not the consequence of an earlier one. */
    reason: unknown
  }
  /** Kysely hands back what it acquired. */
  const leaseOf = (connection: DatabaseConnection) => connection as Leased
  const names = createStatementNames()
  const ask = async (one: Leased, text: string, values?: unknown[]) => {
    // Only what has parameters is prepared: commands may be several in one text.
    const name = !isPooled && values && values.length > 0 ? names.nameOf(text) : undefined
    sendTogether(one.client)
    try {
      return await one.client.query(name === undefined ? { text, values: values ?? [] } : { name, text, values: values ?? [] })
    } catch (error) {
      // Of statements sent together, those after one that failed fail as well.
      if (error instanceof pg.DatabaseError && error.code === ABORTED) throw one.reason ?? error
      one.reason = error
      // The transaction is over; the next goes without names.
      names.isToBlame(error)
      one.isBroken ||= error instanceof Error && error.message === 'Query read timeout'
      throw error
    }
  }
  const rollback = async (one: Leased) => {
    // A connection that timed out is not reused.
    if (one.isBroken) return
    try {
      await one.client.query('rollback')
    } catch {
      // The caller gets the first error; this connection is not reused.
      one.isBroken = true
    }
  }
  return {
    async init() {},
    async acquireConnection() {
      const client = await pool.connect()
      const one: Leased = {
        client,
        isBroken: false,
        xid: null,
        reason: null,
        executeQuery: async (query) => toResult(await ask(one, query.sql, toValues(query))),
        streamQuery: noStreams,
      }
      return one
    },
    async beginTransaction(connection) {
      const one = leaseOf(connection)
      try {
        const answer: pg.QueryResult<{ xid?: string }> | pg.QueryResult<{ xid?: string }>[] = await ask(one, begin)
        one.xid = [answer].flat().at(-1)?.rows[0]?.xid ?? null
      } catch (error) {
        await rollback(one)
        throw error
      }
    },
    commitTransaction: async (connection) => {
      const one = leaseOf(connection)
      try {
        const { command } = await ask(one, 'commit')
        // What the server answers when a statement failed whose answer nobody awaited.
        if (command === 'ROLLBACK') throw new Error('the transaction had failed before its commit')
      } catch (error) {
        if (one.xid === null || !(one.isBroken || faultOf(error) === 'unreachable')) throw error
        one.isBroken = true
        const isCommitted = await findOutcome(lookUp, one.xid)
        if (isCommitted === true) return
        const message =
          isCommitted === false
            ? 'The database connection broke and the change was not made. Try again.'
            : 'The database connection broke during a change. Check whether the change was made before you try again.'
        throw new AppError('unavailable', message, { cause: error, retryAfterSeconds: 2, fault: 'unreachable' })
      }
    },
    rollbackTransaction: (connection) => rollback(leaseOf(connection)),
    async releaseConnection(connection) {
      const one = leaseOf(connection)
      one.client.release(one.isBroken)
    },
    async destroy() {},
  }
}
