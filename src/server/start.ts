import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { App } from '../app.ts'
import type { Config } from '../config/load-config.ts'
import { DETAIL_DAYS, splitCounts, TOTAL_DAYS, toDay, type UseCounter } from '../domain/people/usage.ts'
import { AppError } from '../errors.ts'
import { jsonAnswer } from '../exchange.ts'
import { errorHeaders, HTTP_STATUS, toErrorBody } from '../http/answers.ts'
import { isMcpPath } from '../http/guards.ts'
import { toErrorBody as toMcpErrorBody } from '../mcp/messages.ts'
import type { LibraryStore } from '../storage/store.ts'
import { createHttpApp, type HttpApp, type HttpOptions } from './http-app.ts'
import { type Front, listen } from './listen.ts'
import type { Pipeline } from './pipeline.ts'

const DAY_MS = 86_400_000
/** Delay of the first run, so that the first requests go first, and the interval after that. */
const FIRST_MS = 1_000
const EVERY_MS = 5 * 60_000
/** Interval for expired data. */
const AGED_MS = 6 * 3_600_000
/** Events of one transaction, between which others write. */
const EVENTS_A_BATCH = 500
/** Items that are read at once to be checked. */
const ITEMS_A_BATCH = 20

/** The data that a service deletes automatically. */
export interface Retention {
  /** Days in the trash; null keeps it. */
  readonly trashDays: number | null
  /** Versions of each item; null keeps all. */
  readonly versionsKeep: number | null
  /** Days in the audit log; null keeps all events. */
  readonly auditDays: number | null
  readonly store: {
    readonly purges: Pick<LibraryStore['purges'], 'purgeExpired' | 'finishDeletions'>
    readonly audit: Pick<LibraryStore['audit'], 'removeEvents'>
    readonly usage: Pick<LibraryStore['usage'], 'removeUses'>
    readonly logins: Pick<LibraryStore['logins'], 'removeOldGrants'>
    readonly checks: Pick<LibraryStore['checks'], 'checkNext'>
  }
  readonly clock: () => number
  readonly onPurged: (removed: { readonly items: number; readonly versions: number }) => void
  readonly onFailure: (error: unknown) => void
  /** Default: a second, then five minutes; what is too old every six hours. */
  readonly wait?: { readonly firstMs: number; readonly everyMs: number; readonly agedMs: number }
}

/**
 * Starts to finish interrupted deletions, such as those a reader of the log delayed, to delete expired data, and to check items under new rules. Every instance does.
 * Returns a function that stops it.
 */
export function startRetention(retention: Retention): () => Promise<void> {
  const { trashDays, versionsKeep, auditDays, store, clock, onFailure } = retention
  const { wait = { firstMs: FIRST_MS, everyMs: EVERY_MS, agedMs: AGED_MS } } = retention
  const daysAgo = (days: number) => new Date(clock() - days * DAY_MS).toISOString()
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      onFailure(error)
    }
  }
  const purgeExpired = async (signal: AbortSignal) => {
    if (trashDays === null && versionsKeep === null) return
    const removed = await store.purges.purgeExpired({ trashBefore: trashDays === null ? null : daysAgo(trashDays), versionsKeep }, signal)
    if (removed.items + removed.versions > 0) retention.onPurged(removed)
  }
  const removeOldEvents = async (signal: AbortSignal) => {
    if (auditDays === null) return
    const oldest = daysAgo(auditDays)
    while (!signal.aborted && (await store.audit.removeEvents(oldest, EVENTS_A_BATCH)) === EVENTS_A_BATCH) await nextTurn()
  }
  const removeOldUses = async () => {
    const dayBefore = (days: number) => toDay(clock() - days * DAY_MS)
    await store.usage.removeUses({ details: dayBefore(DETAIL_DAYS), totals: dayBefore(TOTAL_DAYS) })
  }
  const checkItems = async (signal: AbortSignal) => {
    while (!signal.aborted && (await store.checks.checkNext(ITEMS_A_BATCH)) === ITEMS_A_BATCH) await nextTurn()
  }
  return startLoop(onFailure, async (signal) => {
    let sinceAgedMs = Number.POSITIVE_INFINITY
    for (let waitMs = wait.firstMs; ; waitMs = wait.everyMs) {
      await sleep(waitMs, undefined, { signal, ref: false })
      await attempt(() => store.purges.finishDeletions())
      // Strangers can make them.
      await attempt(() => store.logins.removeOldGrants())
      await attempt(() => checkItems(signal))
      sinceAgedMs += waitMs
      if (sinceAgedMs < wait.agedMs) continue
      sinceAgedMs = 0
      await attempt(() => purgeExpired(signal))
      await attempt(() => removeOldEvents(signal))
      await attempt(removeOldUses)
    }
  })
}

/** Starts what runs until its signal is aborted. Returns a function that stops it and waits for it. */
function startLoop(onFailure: (error: unknown) => void, run: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = run(signal).catch((error) => {
    if (!signal.aborted) onFailure(error)
  })
  return async () => {
    stopping.abort()
    await running
  }
}

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
    open(app: App, settings: Config, options: Pick<HttpOptions, 'extras' | 'backups' | 'settings'> = {}) {
      http = createHttpApp(app, settings, logger, { ...options, isReady: () => isReady })
      front.noteConnection = http.turns.noteConnection
      front.pipeline = http.pipeline
      opened = app
      stopListening = app.listen()
      stopRetention = startRetention({
        trashDays: settings.TRASH_DAYS,
        versionsKeep: settings.VERSIONS_KEEP,
        auditDays: settings.AUDIT_DAYS,
        store: app.store,
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
  const stop = startLoop(onFailure, async (signal) => {
    for (;;) {
      await sleep(everyMs - (clock() % everyMs), undefined, { signal, ref: false })
      await write()
    }
  })
  return async () => {
    await stop()
    await write()
  }
}
