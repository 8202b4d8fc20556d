import type { App } from '../app.ts'
import type { User } from '../domain/items/items.ts'
import { ADMIN_RIGHTS, actorOf } from '../domain/people/actor.ts'
import { usernameFault } from '../domain/people/username.ts'
import { AppError } from '../errors.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { print, printError } from './print.ts'
import { suggest } from './program-name.ts'

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
