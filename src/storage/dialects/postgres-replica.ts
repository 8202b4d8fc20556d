import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CompiledQuery, type DatabaseConnection, Kysely, type QueryResult } from 'kysely'
import pg from 'pg'
import type { RevisionScope } from '../../library/ports/store.ts'
import type { ReplicaState } from '../../library/service.ts'
import type { Database } from '../schema.ts'
import { shareNext } from '../share-next.ts'
import { type OnStatement, type Replica, watchStatements } from './dialect.ts'
import { createPool, createReader, toKysely, toResult, toValues } from './postgres-connections.ts'
import { faultOf } from './postgres-faults.ts'
import { EVERYBODY, findUnfit, type ReplicaPosition, readPrimaryPosition, readReplicaPosition, readServer } from './postgres-positions.ts'
import { createStatementNames } from './postgres-statements.ts'
import { createLag } from './replica-lag.ts'

/** Interval at which the replica is asked how far it is, also after a failure. */
const PROBE_MS = 5_000
/** Longest wait for where the replica is, and for a connection to it. */
const POSITION_MS = 1_000
/** How long somebody who asks for the state waits for a look. */
const STATE_MS = 500
/** Longest statement on the replica. Then the primary is asked. */
const STATEMENT_MS = 2_000
/** After so many that took too long, with none in between that did not, the replica is left alone for a while. */
const MOST_SLOW = 3
const REST_MS = 60_000
/** How long a connection is kept that nobody uses: a new one serves only requests that come after it. */
const IDLE_MS = 60_000
/** How long a request may use one look at the replica. */
const DECISION_MS = 1_000
/** A replica that lacks what the primary had this long ago is behind. */
const BEHIND_SECONDS = 1

/** The position of the replica, by one look at both servers. */
interface Look {
  readonly server: string
  /** When the replica was asked. Connections made later may lead to another state of it. */
  readonly at: number
  readonly revisions: Readonly<Record<RevisionScope, number>>
  /** Whose writes it lacks. */
  readonly waiting: ReadonlySet<string>
}

/** A request. */
interface Request {
  readonly caller: string
  isOnPrimary: boolean
  look: { readonly look: Look | null; readonly at: number } | null
  looking: Promise<unknown> | null
  /** What it has taken for the revision of what it reads. */
  readonly floors: Map<RevisionScope, number>
  /** Of the replica, where it read from there. */
  readonly lowest: Map<RevisionScope, number>
}

/** How a replica is used. */
interface ReplicaOptions {
  readonly config: pg.PoolConfig & { readonly connectionString: string }
  readonly primary: pg.Pool
  readonly onStatement?: OnStatement | undefined
  /** Called with a sentence for the log when the replica fails and when it can be used again. */
  readonly onReplica?: ((sentence: string) => void) | undefined
}

/**
 * Reads from a replica. Each request asks the replica where it is, and then the primary what the replica lacks: for this caller, and of what
 * narrowed what anybody may see. Requests that arrive during such a look share the next one. The replica only goes on from there, so what it
 * answers afterwards is at least as new. Whenever anything is unclear, the primary answers.
 */
export function openReplica({ config, primary, onStatement, onReplica = () => {} }: ReplicaOptions): Replica & {
  readonly pool: pg.Pool
  close(): Promise<void>
} {
  const pool = createPool({
    ...config,
    connectionTimeoutMillis: POSITION_MS,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: STATEMENT_MS,
  })
  // Whoever asks how far the replica is does not wait behind reads.
  const looks = createPool({ ...config, max: 1, connectionTimeoutMillis: POSITION_MS, query_timeout: POSITION_MS })
  const connectedAt = new WeakMap<pg.PoolClient, number>()
  const servers = new WeakMap<pg.PoolClient, string>()
  pool.on('connect', (client) => connectedAt.set(client, performance.now()))
  const requests = new AsyncLocalStorage<Request>()
  const names = createStatementNames()
  const lag = createLag()
  const counts = { replica: 0, primary: 0 }
  const place = new URL(config.connectionString).host
  /** Why the replica is not used; null when it is. */
  let fault: string | null = 'has not been asked yet'
  let hasReported = false
  let slow = 0
  let restsUntil = 0
  let isClosed = false
  let probing: NodeJS.Timeout | null = null

  const fail = (reason: string): void => {
    if (isClosed) return
    const isNews = fault === null || !hasReported
    fault = reason
    hasReported = true
    if (isNews) onReplica(`The replica ${place} ${reason}. The primary answers all reads.`)
  }
  const failBy = (error: unknown): void => fail(`does not answer: ${error instanceof Error ? error.message : String(error)}`)
  const recover = (): void => {
    if (performance.now() < restsUntil) return
    slow = 0
    if (fault !== null && hasReported) onReplica(`The replica ${place} can be used again.`)
    fault = null
  }

  const readPosition = async (): Promise<{ position: ReplicaPosition; at: number } | null> => {
    let client: pg.PoolClient | null = null
    try {
      client = await looks.connect()
      const at = performance.now()
      const position = await readReplicaPosition(client, POSITION_MS)
      client.release()
      return { position, at }
    } catch (error) {
      client?.release(true)
      failBy(error)
      return null
    }
  }
  let callers = new Set<string>()
  let isProbe = false
  const lookNext = shareNext(async (): Promise<Look | null> => {
    const asked = callers
    callers = new Set()
    // Requests that waited for this look do not wait for a replica that failed meanwhile.
    if (fault !== null && !isProbe) return null
    isProbe = false
    const found = await readPosition()
    if (!found) return null
    const { position, at } = found
    const there = await readPrimaryPosition(primary, [...asked], position)
    lag.note(position.replayed, there.written)
    const unfit = findUnfit(position, there)
    if (unfit !== null) {
      fail(unfit)
      return null
    }
    recover()
    return { server: position.server, at, revisions: position, waiting: new Set(there.waiting) }
  })
  /** A look that began after this call. */
  const look = async (caller: string): Promise<Look | null> => {
    callers.add(caller)
    // A failure of the primary is met by the read itself.
    return await lookNext().catch(() => null)
  }
  const probe = async (): Promise<Look | null> => {
    isProbe = true
    return await look(EVERYBODY)
  }
  const start = (): void => {
    if (probing || isClosed) return
    void probe()
    probing = setInterval(() => void probe(), PROBE_MS)
    probing.unref()
  }

  const meets = ({ floors }: Request, { revisions }: Look): boolean =>
    [...floors].every(([scope, revision]) => revisions[scope] >= revision)
  /** The look by which a request reads from the replica; null: it reads from the primary. */
  const choose = async (): Promise<Look | null> => {
    const request = requests.getStore()
    if (!request || request.isOnPrimary || fault !== null) return null
    const known = request.look
    const isOld = !known || performance.now() - known.at > DECISION_MS || (known.look !== null && !meets(request, known.look))
    if (isOld) {
      request.looking ??= look(request.caller)
        .then((found) => {
          const isFit = found !== null && !found.waiting.has(EVERYBODY) && !found.waiting.has(request.caller)
          request.look = { look: isFit ? found : null, at: found?.at ?? performance.now() }
        })
        .finally(() => {
          request.looking = null
        })
      await request.looking
    }
    const chosen = request.look?.look ?? null
    if (chosen === null || request.isOnPrimary || !meets(request, chosen)) return null
    for (const scope of ['library', 'public'] as const) {
      request.lowest.set(scope, Math.min(request.lowest.get(scope) ?? Number.POSITIVE_INFINITY, chosen.revisions[scope]))
    }
    return chosen
  }
  /** Whether a connection leads to the server that was asked, and did so then. */
  const isFit = async (client: pg.PoolClient, { server, at }: Look): Promise<boolean> => {
    if ((connectedAt.get(client) ?? Number.POSITIVE_INFINITY) > at) return false
    const its = servers.get(client) ?? (await readServer(client))
    servers.set(client, its)
    return its === server
  }
  /** What the replica answers; null where the primary must. */
  const ask = async (chosen: Look, query: CompiledQuery): Promise<QueryResult<never> | null> => {
    // Where all connections are busy, the primary helps out; where there is none to be had, the next look finds it.
    const client = await pool.connect().catch(() => null)
    if (!client) return null
    try {
      const isUsed = await isFit(client, chosen)
      const name = isUsed ? names.nameOf(query.sql) : undefined
      const asked = { text: query.sql, values: toValues(query), ...(name === undefined ? {} : { name }) }
      const result = isUsed ? await client.query(asked) : null
      client.release()
      slow = 0
      return result && toResult(result)
    } catch (error) {
      const isLate = error instanceof Error && error.message === 'Query read timeout'
      const isOfStatement = faultOf(error) !== 'unreachable' && !isLate
      names.isToBlame(error)
      client.release(!isOfStatement)
      if (isLate || isCanceled(error)) {
        const request = requests.getStore()
        if (request) request.isOnPrimary = true
        if (++slow < MOST_SLOW) return null
        restsUntil = performance.now() + REST_MS
        fail('takes too long to answer')
        return null
      }
      // The primary says whether the statement itself is wrong, or was in the way of what the replica replayed.
      if (!isOfStatement) failBy(error)
      return null
    }
  }
  const askPrimary = createReader(primary).acquireConnection()
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const chosen = await choose()
      const result = chosen && (await ask(chosen, query))
      if (result) {
        counts.replica++
        return result
      }
      counts.primary++
      return await (await askPrimary).executeQuery<R>(query)
    },
    streamQuery: () => {
      throw new Error('Rows are read a page at a time')
    },
  }
  const driver = { ...createReader(primary), acquireConnection: async () => connection }
  return {
    pool,
    reader: new Kysely<Database>({ dialect: toKysely(() => driver), ...watchStatements(onStatement) }),
    answer(userId, work) {
      start()
      const request: Request = {
        caller: userId ?? EVERYBODY,
        isOnPrimary: false,
        look: null,
        looking: null,
        floors: new Map(),
        lowest: new Map(),
      }
      // What goes on after the answer, or belongs to later ones, does not use this look.
      const end = () => {
        request.isOnPrimary = true
      }
      const result = requests.run(request, work)
      if (result instanceof Promise) result.then(end, end)
      else end()
      return result
    },
    stayOnPrimary() {
      const request = requests.getStore()
      if (request) request.isOnPrimary = true
    },
    requireRevision: (scope, revision) => void requests.getStore()?.floors.set(scope, revision),
    revisionOfReads: (scope, revision) => Math.min(revision, requests.getStore()?.lowest.get(scope) ?? revision),
    async readState(): Promise<ReplicaState> {
      if (fault === null || !probing) {
        start()
        const late = new AbortController()
        await Promise.race([probe(), sleep(STATE_MS, null, { signal: late.signal, ref: false }).catch(() => null)])
        late.abort()
      }
      if (fault !== null) return { place, state: 'unusable', bytes: null, seconds: null }
      const { bytes, seconds } = lag.read()
      return { place, state: seconds >= BEHIND_SECONDS ? 'behind' : 'current', bytes, seconds }
    },
    countReads: () => counts,
    async close() {
      isClosed = true
      if (probing) clearInterval(probing)
      await Promise.all([pool.end(), looks.end()])
    },
  }
}

/** Whether the server ended a statement that took too long. */
function isCanceled(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57014'
}
