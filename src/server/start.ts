import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { App } from '../app.ts'
import type { Config } from '../config/load-config.ts'
import { splitCounts, toDay, type UseCounter } from '../domain/people/usage.ts'
import { AppError } from '../errors.ts'
import { jsonAnswer } from '../exchange.ts'
import { errorHeaders, HTTP_STATUS, toErrorBody } from '../http/errors.ts'
import { isMcpPath } from '../http/sign-in-challenge.ts'
import { toErrorBody as toMcpErrorBody } from '../mcp/errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import { createHttpApp, type HttpApp, type HttpOptions, type ServerSettings } from './http-app.ts'
import { type Front, listen } from './listen.ts'
import type { Pipeline } from './pipeline.ts'
import { startRetention } from './retention.ts'

/** How long open requests may take after a stop is requested, and how long their work may then continue. */
const DRAIN_MS = 5_000
const FINISH_MS = 1_500
/** Interval at which idle connections are closed meanwhile. */
const CLOSE_IDLE_MS = 100
/** Interval between two writes of counted uses: what a killed process loses at most. */
const WRITE_USES_MS = 60_000

/** The answers before the library is open: alive, not ready. */
const STARTING: Pipeline = async ({ path }, send) => {
  if (path === '/healthz') return await send(jsonAnswer({ status: 'ok' }))
  if (path === '/readyz') return await send(jsonAnswer({ status: 'starting' }, 503))
  const error = new AppError('unavailable', 'The service is starting. Try again in a moment.', { retryAfterSeconds: 2 })
  const requestId = randomUUID()
  const headers = { ...errorHeaders(error), 'cache-control': 'no-store', 'x-request-id': requestId }
  const body = isMcpPath(path) ? toMcpErrorBody(error, requestId) : toErrorBody(error, requestId)
  await send(jsonAnswer(body, HTTP_STATUS[error.code], headers))
}

/** Starts listening. @throws AppError `unavailable` when the port is taken or not allowed */
export async function startServer(address: { host: string; port: number }, logger: Logger) {
  let isReady = true
  let http: HttpApp | null = null
  let stopListening = async () => {}
  let opened: App | null = null
  let stopRetention = async () => {}
  let stopWritingUses = async () => {}
  const front: Front = { pipeline: STARTING, noteConnection: () => {}, isStopping: false }
  const server = await listen(address, front)
  return {
    /** Starts serving a library. Until then every request gets `unavailable`. */
    open(
      app: App,
      settings: ServerSettings & Pick<Config, 'TRASH_DAYS' | 'VERSIONS_KEEP' | 'AUDIT_DAYS'>,
      options: Pick<HttpOptions, 'extras' | 'backups' | 'settings'> = {},
    ) {
      http = createHttpApp(app, settings, logger, { ...options, isReady: () => isReady })
      front.noteConnection = http.turns.noteConnection
      front.pipeline = http.pipeline
      opened = app
      stopListening = app.listen()
      stopRetention = startRetention({
        trashDays: settings.TRASH_DAYS,
        versionsKeep: settings.VERSIONS_KEEP,
        auditDays: settings.AUDIT_DAYS,
        purges: app.store.purges,
        audit: app.store.audit,
        usage: app.store.usage,
        logins: app.store.logins,
        checks: app.store.checks,
        clock: app.clock,
        onPurged: (removed) => logger.info(removed, 'Deleted items and versions past TRASH_DAYS or VERSIONS_KEEP'),
        onFailure: (error) => logger.warn({ err: error }, 'Deleting expired data failed; will retry'),
      })
      if (app.uses) {
        stopWritingUses = startWritingUses(app.uses, app.store.usage, app.clock, (error) =>
          logger.warn({ err: error }, 'Writing usage counts failed; will retry'),
        )
      }
      // Warms up search. Errors are reported by the first search. Encoding starts afterwards, so that the first answer does not wait for it.
      const startEncoding = () => app.itemEncoding?.start((message) => logger.warn(message))
      app.store.service.loadSearch().then(startEncoding, startEncoding)
    },
    /** Ends streams, lets open requests finish for a moment, and waits for their work. */
    async close() {
      isReady = false
      front.isStopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeSilent()
      const closing = setInterval(() => server.closeSilent(), CLOSE_IDLE_MS)
      const giveUp = new AbortController()
      await opened?.itemEncoding?.stop()
      await stopRetention()
      await http?.close()
      await Promise.race([closed, sleep(DRAIN_MS, undefined, { signal: giveUp.signal }).catch(() => {})])
      giveUp.abort()
      clearInterval(closing)
      server.closeAllConnections()
      await closed
      // Requests of disconnected clients may still be working, and must not find the library closed.
      await Promise.race([Promise.all(server.underWay()), sleep(FINISH_MS, undefined, { ref: false })])
      await stopWritingUses()
      await stopListening()
    },
  }
}

/**
 * Starts to write counted uses once a minute, on the minute, so that a day's counts are written when it ends. Uses count for the day on
 * which their minute began. Those that cannot be written are counted again. Returns a function that stops it and writes what is left.
 */
export function startWritingUses(
  counter: UseCounter,
  usage: Pick<LibraryStore['usage'], 'addUses'>,
  clock: () => number,
  onFailure: (error: unknown) => void,
  everyMs: number = WRITE_USES_MS,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  let day = toDay(clock())
  const write = async () => {
    const uses = counter.take()
    const began = day
    day = toDay(clock())
    if (uses.length === 0) return
    try {
      await usage.addUses(began, splitCounts(uses))
    } catch (error) {
      for (const use of uses) counter.add(use, use.count)
      onFailure(error)
    }
  }
  const run = async () => {
    for (;;) {
      await sleep(everyMs - (clock() % everyMs), undefined, { signal, ref: false })
      await write()
    }
  }
  // Runs until it is stopped.
  const running = run().catch((error) => {
    if (!signal.aborted) onFailure(error)
  })
  return async () => {
    stopping.abort()
    await running
    await write()
  }
}
