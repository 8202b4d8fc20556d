import { createServer } from 'node:net'
import { type DestinationStream, type Logger, pino } from 'pino'
import { type App, describeDatabase, type OpeningProgress, openApp } from '../app.ts'
import { type Config, describeSettings } from '../config/load-config.ts'
import { listRemovedSettings } from '../config/removed-settings.ts'
import { startServer } from '../server/start.ts'
import { loadStarter } from '../transfer/starter.ts'
import { toAppSettings } from './app-settings.ts'
import { needsDatabaseUrl, programName } from './program-name.ts'
import { requireFolder, type ScheduledBackups, startBackups, writeInProcess } from './scheduled-backups.ts'

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
