import { Command, CommanderError } from 'commander'
import { type App, openApp } from '../app.ts'
import { KEY_HINTS } from '../auth/credentials.ts'
import { keyFromEnvironment, loadConfig, readProduct } from '../config/load-config.ts'
import { actorOf, SCOPES } from '../domain/people/actor.ts'
import { OPERATOR_ORIGIN } from '../domain/service/audit.ts'
import { AppError, toAppError } from '../errors.ts'
import { createDispatcher } from '../mcp/dispatcher.ts'
import { serveOverStdio } from '../mcp/stdio.ts'
import { type Invoke, invokeLocally } from '../operations/core/define-operation.ts'
import { OPERATIONS } from '../operations/index.ts'
import { addCheckCommand } from './check-command.ts'
import { addCompletionCommand } from './completion-command.ts'
import { addAuditCommand, addBackupCommands, addDataCommand, addDoctorCommand, addEncoderCommands } from './maintenance-commands.ts'
import { ACCOUNTS_GROUP, addOperationCommands, type OperationWork, type Target } from './operation-commands.ts'
import { EXISTING, requireAccount, toAppSettings, warnOfGuessedUrl } from './operator.ts'
import { addKeyCommands, addTeamCommands, addUserCommands } from './people-commands.ts'
import { addPurgeCommand } from './purge-command.ts'
import { invokeRemotely } from './remote-invoke.ts'
import { defaultBaseUrl, serve } from './serve.ts'
import { EXIT_CODES } from './start-process.ts'
import { printError } from './terminal.ts'
import { addSyncCommand, addTransferCommands } from './transfer-commands.ts'

/** Opens the library the settings name for one command, and closes it after. */
async function withApp(work: (app: App) => Promise<void>, options: { mustExist?: boolean } = {}): Promise<void> {
  const config = loadConfig()
  const settings = toAppSettings(config, config.BASE_URL ?? defaultBaseUrl(config.HOST, config.PORT))
  const app = await openApp({ ...settings, isBaseUrlGuessed: config.BASE_URL === null }, options)
  try {
    await app.store.audit.actingAs(OPERATOR_ORIGIN, () => work(app))
  } finally {
    await app.close()
  }
}

/** Runs an operation's command on the local library or on another server. */
async function withInvoke(options: Target, work: OperationWork): Promise<void> {
  if (options.url !== undefined) {
    if (options.user !== undefined)
      throw new AppError('invalid_input', '--user works on the local library only; with --url, the key identifies you.')
    return await work(invokeRemotely(OPERATIONS, options.url, keyFromEnvironment(), KEY_HINTS.remote), () => {})
  }
  await withApp(async (app) => {
    // Access to the library file grants the rights of its users.
    const actor =
      options.user === undefined ? await app.authenticate(keyFromEnvironment()) : actorOf(await requireAccount(app, options.user), SCOPES)
    const invoke = invokeLocally(app.operations, () => app.contextFor(actor, 'cli'))
    await work(invoke, (text) => {
      if (text.includes(`"url": "${app.baseUrl}/`)) warnOfGuessedUrl(app)
    })
  }, EXISTING)
}

async function serveMcp(options: { url?: string }): Promise<void> {
  const { name, title, version } = readProduct()
  const { buildServer } = createDispatcher(OPERATIONS, { name, title, version }, { announcesChanges: false })
  const run = (invoke: Invoke) =>
    serveOverStdio(buildServer, {
      invoke,
      filter: {},
      onInternalError: (error) => printError(`${toAppError(error.cause).message}\n`),
    })
  const key = keyFromEnvironment()
  if (options.url !== undefined) return await run(invokeRemotely(OPERATIONS, options.url, key, KEY_HINTS.stdio))
  await withApp(async (app) => {
    await app.authenticate(key)
    warnOfGuessedUrl(app)
    await run(invokeLocally(app.operations, async () => app.contextFor(await app.authenticate(key), 'stdio')))
  }, EXISTING)
}

/** The summary of a command, in a line. */
function summaryOf(command: Command): string {
  return command.summary() || (command.description().split(/\.(?: |$)/)[0] ?? '')
}

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('commonplace')
    .description('Store prompts and Agent Skills once; find them everywhere')
    .version(readProduct().version)
    // After a command, --version is the command's own.
    .enablePositionalOptions()
    // Commands take this over when they are added.
    .exitOverride()
    .configureOutput({ writeErr: printError })
    .showHelpAfterError('(use --help to see the options)')
    .configureHelp({ subcommandDescription: summaryOf })
  program
    .commandsGroup('Run the service:')
    .command('serve')
    .description('Run the service')
    .option('--starter', 'load the starter library into an empty database')
    .option('--create', 'create an empty library even if one existed before')
    .action(async (options: { starter?: true; create?: true }) => {
      await serve(loadConfig(), { starter: options.starter === true, create: options.create === true })
    })
  program
    .command('mcp')
    .description('Serve MCP over stdio, from the local library or another Commonplace server; reads the key from PROMPTS_API_KEY')
    .option('--url <address>', 'address of another Commonplace server')
    .action(serveMcp)
  addOperationCommands(program, OPERATIONS, withInvoke)
  addCheckCommand(program.commandsGroup('Check:'), withInvoke)
  program.commandsGroup(ACCOUNTS_GROUP)
  addUserCommands(program, withApp)
  addKeyCommands(program, withApp)
  addTeamCommands(program, withApp)
  addAuditCommand(program, withApp)
  program.commandsGroup('Import, export and sync:')
  addTransferCommands(program, withApp)
  addSyncCommand(program, withApp)
  program.commandsGroup('Back up and maintain:')
  addBackupCommands(program)
  addDoctorCommand(program)
  addPurgeCommand(program, withApp)
  addDataCommand(program)
  addEncoderCommands(program, withApp)
  addCompletionCommand(program.commandsGroup('This program:'))
  return program.helpCommand(true)
}

/** How long a command that failed may take to end. */
const LINGER_MS = 500

/** Runs one command line as the whole work of a process; the exit status says how it went. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // A closed output pipe (`… | head`) is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  if (await runCommandLine(argv)) return
  // A connection may have been left open: a server of PostgreSQL that was refused a password closes it after a minute.
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** Runs one command line and sets `process.exitCode`. False when it failed and may have left something open. */
export async function runCommandLine(argv: readonly string[]): Promise<boolean> {
  try {
    await createProgram().parseAsync([...argv])
    return true
  } catch (thrown) {
    // Commander has written what is wrong, or the help that was asked for.
    if (thrown instanceof CommanderError) {
      process.exitCode = thrown.exitCode === 0 ? 0 : EXIT_CODES.invalid_input
      return true
    }
    const error = toAppError(thrown)
    const cause = error.code === 'internal' && error.cause instanceof Error ? `: ${error.cause.stack ?? error.cause.message}` : ''
    printError(`${error.message}${cause}\n`)
    process.exitCode = EXIT_CODES[error.code]
    return false
  }
}
