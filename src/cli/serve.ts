import { execFile } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type DestinationStream, type Logger, pino } from 'pino'
import { type App, describeDatabase, listBackups, nameBackup, type OpeningProgress, openApp } from '../app.ts'
import { type Config, describeSettings, listRemovedSettings } from '../config/load-config.ts'
import { AppError } from '../errors.ts'
import { startServer } from '../server/start.ts'
import { loadStarter } from '../transfer/library-folder.ts'
import { needsDatabaseUrl, programName, toAppSettings } from './operator.ts'

/** Longest wait before a backup that failed is tried again. */
const RETRY_MS = 600_000
/** Longest wait at once: the clock may be set meanwhile. */
const MAX_SLEEP_MS = 60_000
/** When what a killed backup left is removed. */
const LEFT_OVER_MS = 86_400_000
const LEFT_OVER = /^\.commonplace-\d{8}T\d{6}Z\.db\.[0-9a-f]{8}\.tmp/

/** When and where backups are made. */
export interface Schedule {
  readonly folder: string
  readonly everyMs: number
  /** How many stay. */
  readonly keep: number
  readonly clock: () => number
  /** Writes a backup to a file that does not exist. */
  readonly write: (file: string, signal: AbortSignal) => Promise<void>
  readonly onDone: (file: string) => void
  readonly onFailure: (error: unknown) => void
}

/** Backups that are made by themselves. */
type ScheduledBackups = ReturnType<typeof startBackups>

/** @throws AppError `invalid_input` when the folder does not exist */
function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  throw new AppError('invalid_input', `BACKUP_DIR must be an existing folder; ${folder} is not.`)
}

/** Begins to make backups. The folder says when the last one was made, so that a restart makes none too many. */
export function startBackups(schedule: Schedule) {
  const { folder, everyMs, keep, clock } = schedule
  const stopping = new AbortController()
  let failures = 0
  const makeOne = async () => {
    const name = nameBackup(clock())
    removeLeftOvers(folder, clock())
    await schedule.write(join(folder, name), stopping.signal)
    for (const old of listBackups(folder).slice(0, -keep)) rmSync(join(folder, old.name), { force: true })
    schedule.onDone(join(folder, name))
  }
  const run = async () => {
    let retryAt = 0
    for (;;) {
      const newest = findNewest(folder)
      // A time to come is no reason to wait for it: a clock that was wrong made that name.
      const due = newest === null || newest > clock() ? retryAt : Math.max(newest + everyMs, retryAt)
      if (due > clock()) await sleep(Math.min(due - clock(), MAX_SLEEP_MS), undefined, { signal: stopping.signal, ref: false })
      else {
        try {
          await makeOne()
        } catch (error) {
          stopping.signal.throwIfAborted()
          failures++
          retryAt = clock() + Math.min(everyMs, RETRY_MS)
          schedule.onFailure(error)
        }
      }
    }
  }
  // Ends by being stopped alone.
  const running = run().catch((error) => {
    if (!stopping.signal.aborted) schedule.onFailure(error)
  })
  return {
    /** When the newest one was made; null when there is none. */
    lastBackup(): Date | null {
      const newest = findNewest(folder)
      return newest === null ? null : new Date(newest)
    },
    /** How many could not be made, since the start. */
    failures: () => failures,
    /** Ends with the one that is being written, which is dropped. */
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

/** Runs `backup` in a process of its own: SQLite copies in one step, which would hold up this one. */
async function writeInProcess(program: string, file: string, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [program, 'backup', file], { signal }, (error, _, stderr) => {
      if (error) reject(new Error(stderr.trim() || error.message))
      else resolve()
    })
  })
}

function findNewest(folder: string): number | null {
  try {
    return listBackups(folder).at(-1)?.at ?? null
  } catch {
    // The folder may come back: the next backup says what is wrong with it.
    return null
  }
}

function removeLeftOvers(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((one) => LEFT_OVER.test(one))) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: now }
    if (now - mtimeMs > LEFT_OVER_MS) rmSync(join(folder, name), { force: true })
  }
}

/** How much of a slow statement is logged, in characters. */
const MAX_LOGGED_SQL = 2_000

/** The address people use when no BASE_URL is set. */
export function defaultBaseUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** A free port. */
export async function findFreePort(host: string): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(0, host, resolve)
  })
  const address = probe.address()
  await new Promise((resolve) => probe.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

/** The outputs of a service, and the signal that ends it. */
export interface Terminal {
  write(text: string): void
  readonly log: DestinationStream
  /** Called when the service is ready, before it says so. Resolves when it is to stop. */
  untilStopped(): Promise<unknown>
}

/** The process: its output, and SIGINT or SIGTERM. */
const ofProcess = (): Terminal => ({
  write: (text) => process.stdout.write(text),
  log: pino.destination({ dest: 2, sync: false }),
  untilStopped() {
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
    return promise
  },
})

/** Runs the service until the terminal stops it. Resolves when everything is closed. */
export async function serve(config: Config, options: { starter: boolean; create: boolean }, terminal = ofProcess()): Promise<void> {
  // Links need the port before the service listens, so a free one is looked for first.
  const port = config.PORT === 0 ? await findFreePort(config.HOST) : config.PORT
  const address = config.BASE_URL ?? defaultBaseUrl(config.HOST, port)
  const logger = pino({ level: config.LOG_LEVEL, base: null }, terminal.log)
  const slowMs = config.SLOW_QUERY_MS
  const onStatement =
    slowMs === null
      ? undefined
      : (sql: string, durationMs: number) => {
          if (durationMs >= slowMs) logger.warn({ ms: Math.round(durationMs), sql: sql.slice(0, MAX_LOGGED_SQL) }, 'Slow query')
        }
  for (const sentence of listRemovedSettings()) logger.warn(sentence)
  if (config.BACKUP_DIR !== null) requireFolder(config.BACKUP_DIR)
  // Listen before opening the library, for health checks: an upgrade may take a while.
  const server = await startServer({ host: config.HOST, port }, logger)
  let app: App | undefined
  let backups: ScheduledBackups | null = null
  try {
    app = await openApp(
      { ...toAppSettings(config, address), countsUses: config.USAGE_COUNTS, onStatement },
      {
        service: { mayCreate: options.create },
        onProgress: logOpening((fields, text) => logger.info(fields, text)),
        onEncoderFault: (message) => logger.warn(message),
        onSnapshotFault: (sentence) => logger.warn(sentence),
        onWarning: (sentence) => logger.warn(sentence),
      },
    )
    const loaded = options.starter ? await loadStarter(app.store) : 0
    if (loaded > 0) terminal.write(`Loaded the starter library: ${loaded} prompts and skills.\n`)
    backups = scheduleBackups(config, logger)
    server.open(app, { ...config, PORT: port }, { backups: backups ?? undefined, settings: describeSettings() })
    await app.store.service.keepServiceUrl(address)
    const setupCode = (await app.store.people.hasLogins()) ? null : app.setupCode
    // Before the message: its reader may send a signal at once.
    const stopped = terminal.untilStopped()
    terminal.write(welcome(address, config, setupCode))
    await stopped
  } finally {
    await server.close()
    await backups?.stop()
    await app?.close()
  }
}

/** Starts scheduled backups; null when none are configured. */
function scheduleBackups(
  { BACKUP_DIR: folder, BACKUP_EVERY: everyMs, BACKUP_KEEP: keep }: Config,
  logger: Logger,
): ScheduledBackups | null {
  const [, program] = process.argv
  if (folder === null || program === undefined) return null
  return startBackups({
    folder,
    everyMs,
    keep,
    clock: Date.now,
    write: (file, signal) => writeInProcess(program, file, signal),
    onDone: (file) => logger.info({ file }, 'Backup created'),
    onFailure: (error) => logger.error({ reason: error instanceof Error ? error.message : String(error) }, 'Backup failed'),
  })
}

/** The startup message. `setupCode` is null once someone can sign in. */
function welcome(address: string, config: Config, setupCode: string | null): string {
  const lines = [
    '',
    `Commonplace is running at ${address}`,
    `  library   ${describeDatabase(config.DATABASE_URL)}`,
    `  REST      ${address}/api/prompts   (OpenAPI: ${address}/api/openapi.json)`,
  ]
  if (config.MCP_ENABLED) {
    const isForMembers = config.LIBRARY_ACCESS === 'members'
    const server = { type: 'http', url: `${address}/api/mcp`, ...(isForMembers ? { headers: { PROMPTS_API_KEY: 'cpb_…' } } : {}) }
    const configuration = { mcpServers: { commonplace: server } }
    lines.push(
      `  MCP       ${address}/api/mcp`,
      '',
      'Connect Claude Code:',
      `  claude mcp add --transport http commonplace ${address}/api/mcp${isForMembers ? ' --header "PROMPTS_API_KEY: cpb_…"' : ''}`,
      "Or add to .mcp.json, Cursor's mcp.json or similar:",
      ...JSON.stringify(configuration, null, 2)
        .split('\n')
        .map((line) => `  ${line}`),
      ...(isForMembers
        ? []
        : [
            'To use a key, add --header "PROMPTS_API_KEY: cpb_…" to the command, or this to the entry:',
            '  "headers": { "PROMPTS_API_KEY": "cpb_…" }',
          ]),
    )
  }
  if (setupCode !== null) {
    lines.push('', 'Create the administrator account:', `  ${address}/sign-up?code=${setupCode}`)
  }
  lines.push(
    '',
    `${setupCode === null ? 'Create' : 'Or create'} a key on the command line (shown once)${needsDatabaseUrl() ? ', with the same DATABASE_URL' : ''}:`,
    `  ${programName()} users create YOUR_NAME`,
    `  ${programName()} keys create --user YOUR_NAME --name "my laptop"`,
    '',
    'Stop with Ctrl-C.',
    '',
  )
  return `${lines.join('\n')}\n`
}

/** Interval between lines of one step. */
const LOG_EVERY_MS = 5_000

const SENTENCES: Readonly<Record<OpeningProgress['step'], string>> = {
  copying: 'Backing up the library before the upgrade',
  migrating: 'Upgrading the library',
  'reading words': 'Indexing items for search',
  'finishing removals': 'Finishing account deletions',
}

/** Logs each step of opening a library, at most one line per five seconds. @param clock monotonic, in milliseconds */
export function logOpening(
  write: (fields: Omit<OpeningProgress, 'step'>, text: string) => void,
  clock: () => number = () => performance.now(),
): (progress: OpeningProgress) => void {
  let last: { readonly step: string; readonly at: number } | null = null
  return ({ step, ...fields }) => {
    const at = clock()
    if (last?.step === step && at - last.at < LOG_EVERY_MS) return
    last = { step, at }
    write(fields, SENTENCES[step])
  }
}
