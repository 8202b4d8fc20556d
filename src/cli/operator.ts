import { basename, isAbsolute, relative } from 'node:path'
import type { App, AppSettings } from '../app.ts'
import { type Config, isDefaultDatabase, launcherFromEnvironment, npmScriptFromEnvironment, readProduct } from '../config/load-config.ts'
import { readSignInSettings } from '../config/sign-in-settings.ts'
import type { User } from '../domain/items/items.ts'
import { usernameFault } from '../domain/people/account.ts'
import { ADMIN_RIGHTS, actorOf } from '../domain/people/actor.ts'
import { AppError } from '../errors.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import { print, printError } from './terminal.ts'

/** How a process was started. */
interface Start {
  /** The name of Node as it was typed. */
  readonly node: string
  /** Absolute path of the program. */
  readonly program: string
  readonly folder: string
  /** The script of this package that npm runs, if it does. */
  readonly npmScript: string | null
  /** The command that was typed, where something else started Node. */
  readonly launcher: string | null
}

/** Scripts of package.json that run the command line. */
const NPM_SCRIPTS = new Set(['start', 'commonplace'])

/** The words before a command, so that it runs as this process was started. */
export function nameProgram({ node, program, folder, npmScript, launcher }: Start): string {
  if (launcher !== null) return quote(launcher)
  if (npmScript !== null && NPM_SCRIPTS.has(npmScript)) return 'npm run -s commonplace --'
  if (basename(program) === 'commonplace') return 'commonplace'
  const near = relative(folder, program)
  return [node, near.startsWith('..') || isAbsolute(near) ? program : near].map(quote).join(' ')
}

/** A word as a shell takes it. */
function quote(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** How this process was started. */
export function programName(): string {
  const [, program = ''] = process.argv
  return nameProgram({
    node: process.argv0,
    program,
    folder: process.cwd(),
    npmScript: npmScriptFromEnvironment(readProduct().name),
    launcher: launcherFromEnvironment(),
  })
}

/** Whether commands need DATABASE_URL to find the library that this process uses. */
export function needsDatabaseUrl(): boolean {
  return !isDefaultDatabase()
}

/** A command to type next, as the end of a sentence: `with: commonplace keys list`. */
export function suggest(command: string): string {
  return `${needsDatabaseUrl() ? 'with the same DATABASE_URL' : 'with'}: ${programName()} ${command}`
}

/** Runs a command on the local library. With `mustExist`, a missing library is an error instead of being created. */
export type WithApp = (work: (app: App) => Promise<void>, options?: { mustExist?: boolean }) => Promise<void>

/** For commands that need an existing library, so that a mistyped DATABASE_URL is an error. */
export const EXISTING = { mustExist: true } as const

/** Local commands run as an administrator. */
export const OPERATOR = actorOf({ id: 'operator', username: 'operator' }, ADMIN_RIGHTS)

/** Calls what administrators call on the pages. */
export function callAsOperator(app: App): CallOperation {
  return callLocally(() => app.contextFor(OPERATOR, 'cli'))
}

/** Runs the work of an administrator on an existing library. */
export function asOperator(withApp: WithApp) {
  return (work: (call: CallOperation, app: App) => Promise<void>) => withApp((app) => work(callAsOperator(app), app), EXISTING)
}

/** @throws AppError `not_found`, `invalid_input` for a placeholder */
export async function requireAccount(app: App, username: string): Promise<User> {
  const user = await app.store.people.findUser(username)
  if (!user) {
    const remedy = usernameFault(username) === null ? ` Create it ${suggest(`users create ${username}`)}` : ''
    throw new AppError('not_found', `User "${username.slice(0, 80)}" not found.${remedy}`)
  }
  if (user.isTeam) throw new AppError('invalid_input', `"${user.username}" is a team; commands act as one of its members (--user NAME).`)
  if (user.isPlaceholder)
    throw new AppError('invalid_input', `"${user.username}" is an imported author without an account, so no command can act as it.`)
  return user
}

/** Warns on stderr when links use a guessed address. */
export function warnOfGuessedUrl(app: Pick<App, 'baseUrl' | 'isBaseUrlGuessed'>): void {
  if (!app.isBaseUrlGuessed) return
  printError(`The address of the service is unknown, so links start with ${app.baseUrl}. Start the service once or set BASE_URL.\n`)
}

/** Prints a link that is shown once: what it is for on stderr, and on stdout the link alone. */
export function printLink(app: App, text: string, link: string): void {
  printError(`${text} not shown again:\n`)
  print(`${link}\n`)
  warnOfGuessedUrl(app)
}

const UNITS_MS: Partial<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 }
const MAX_MS = 100 * 31_536_000_000

/** A duration such as `90d` in milliseconds. Units: h, d, w, y. @throws AppError `invalid_input` */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? []
  const ms = Number(count) * (UNITS_MS[unit ?? ''] ?? Number.NaN)
  if (!(ms > 0 && ms <= MAX_MS))
    throw new AppError(
      'invalid_input',
      `--expires must be a number followed by h, d, w or y (such as 90d), at most 100 years; got "${text.slice(0, 40)}".`,
    )
  return ms
}

/** The settings with which the library is opened. `address` is where people reach the service. */
export function toAppSettings(config: Config, address: string): AppSettings {
  return {
    ...config,
    databaseUrl: config.DATABASE_URL,
    databaseConnections: config.DATABASE_CONNECTIONS,
    dataFolder: config.DATA_DIR,
    databaseListenUrl: config.DATABASE_LISTEN_URL,
    copiesBeforeUpgrade: config.BACKUP_BEFORE_UPGRADE,
    baseUrl: address,
    signIn: readSignInSettings(config),
    mail: config.SMTP_URL === null || config.MAIL_FROM === null ? null : { url: config.SMTP_URL, from: config.MAIL_FROM },
    improve: {
      model: config.IMPROVE_MODEL,
      openaiBaseUrl: config.OPENAI_BASE_URL,
      openaiKey: config.OPENAI_API_KEY,
      anthropicKey: config.ANTHROPIC_API_KEY,
      googleKey: config.GOOGLE_GENERATIVE_AI_API_KEY,
      timeoutMs: config.IMPROVE_TIMEOUT_SECONDS * 1000,
      maxOutputTokens: config.IMPROVE_MAX_TOKENS,
      concurrency: config.IMPROVE_CONCURRENCY,
      budget: { requests: config.IMPROVE_DAILY_REQUESTS, characters: config.IMPROVE_DAILY_CHARACTERS },
      systemPromptFile: config.IMPROVE_SYSTEM_PROMPT_FILE,
    },
    tests: { models: config.TEST_MODELS, dailyTokens: config.TEST_DAILY_TOKENS, dailyUsd: config.TEST_DAILY_USD },
    encoder: config.ENCODER,
    embeddings:
      config.EMBEDDINGS_URL === null || config.EMBEDDINGS_MODEL === null
        ? null
        : { url: config.EMBEDDINGS_URL, model: config.EMBEDDINGS_MODEL, key: config.EMBEDDINGS_API_KEY },
  }
}
