import type { Command } from 'commander'
import { z } from 'zod'
import type { App } from '../app.ts'
import { createApiKey, hashApiKey } from '../auth/api-key.ts'
import { AppError } from '../errors.ts'
import { keyNameField, ROLES, roleField } from '../library/account.ts'
import { type Actor, ADMIN_RIGHTS, SCOPES, type Scope } from '../library/actor.ts'
import type { User } from '../library/items.ts'
import type { Person } from '../library/ports/people.ts'
import { usernameFault } from '../library/username.ts'
import { createInvite, createResetLink, deletePerson, setRole } from '../operations/admin/people.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { parseDuration } from './duration.ts'
import { tellOfGuessedUrl } from './guessed-url.ts'
import { plural } from './plural.ts'
import { suggest } from './program-name.ts'
import { printTable } from './table.ts'

/** Runs a command's work on the local library; with `mustExist` a missing one is refused instead of made. */
export type WithApp = (work: (app: App) => Promise<void>, options?: { mustExist?: boolean }) => Promise<void>

/** For commands that only make sense on a library that is there: a mistyped DATABASE_URL is noticed. */
export const EXISTING = { mustExist: true } as const

const PAGE = 500
const DAY_MS = 24 * 3600 * 1000
/** Whoever can run commands on the library administers it. */
export const OPERATOR: Actor = { kind: 'user', userId: 'operator', username: 'operator', scopes: new Set(ADMIN_RIGHTS) }

/** @throws AppError `not_found`, `invalid_input` for a placeholder */
export async function requireAccount(app: App, username: string): Promise<User> {
  const user = await app.store.people.findUser(username)
  if (!user) {
    const remedy = usernameFault(username) === null ? ` Make one ${suggest(`users create ${username}`)}` : ''
    throw new AppError('not_found', `There is no user "${username.slice(0, 80)}".${remedy}`)
  }
  if (user.isPlaceholder)
    throw new AppError('invalid_input', `"${user.username}" stands for a contributor of imported items and cannot act.`)
  return user
}

function callAsOperator(app: App): CallOperation {
  return callLocally(() => app.contextFor(OPERATOR, 'cli'))
}

function readScopes(text: string): Scope[] {
  const parsed = z
    .array(z.enum(SCOPES))
    .min(1)
    .safeParse(text.split(',').map((part) => part.trim()))
  if (!parsed.success)
    throw new AppError(
      'invalid_input',
      `--scopes must be one or more of ${SCOPES.join(', ')}, separated by commas; it is "${text.slice(0, 80)}".`,
    )
  return [...new Set(parsed.data)]
}

async function countOwned(app: App, { id }: User): Promise<number> {
  const page = { visibility: null, limit: 1, offset: 0 }
  const counts = await Promise.all((['prompt', 'skill'] as const).map((kind) => app.store.marks.listOwned(id, { kind, ...page })))
  return counts.reduce((sum, { total }) => sum + total, 0)
}

function describePerson({ username, role, isPlaceholder, hasLogin, defaultVisibility, createdAt }: Person): string[] {
  const kind = isPlaceholder ? 'placeholder' : role === 'admin' ? 'administrator' : 'user'
  return [username, kind, hasLogin ? 'login' : 'no login', `new items ${defaultVisibility}`, `since ${createdAt}`]
}

/** `users` and `keys`. */
export function addPeopleCommands(program: Command, withApp: WithApp): void {
  const users = program.command('users').description('People who own prompts and skills')
  users
    .command('create <name>')
    .description(
      'Make a user. The name is 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen, and nobody can sign up under it without an invite for it.',
    )
    .option('--public-by-default', 'what the user saves is public unless they say otherwise')
    .action((name: string, options: { publicByDefault?: true }) =>
      withApp(async (app) => {
        const fault = usernameFault(name)
        if (fault) throw new AppError('invalid_input', `The user name "${name.slice(0, 80)}" ${fault}.`)
        const user = await app.store.people.createUser({
          username: name,
          defaultVisibility: options.publicByDefault ? 'public' : 'private',
        })
        process.stdout.write(
          `Made the user ${user.username}. Make a key ${suggest(`keys create --user ${user.username} --name "my laptop"`)}\n`,
        )
      }),
    )
  users
    .command('list')
    .description(
      'List people: administrators, users, and placeholders of imported contributors; and who has a login, which is a password to sign in with',
    )
    .action(() =>
      withApp(async (app) => {
        const people: Person[] = []
        for (let page = PAGE; page === PAGE; ) {
          const { items } = await app.store.people.listPeople({ limit: PAGE, offset: people.length, matching: null })
          people.push(...items)
          page = items.length
        }
        printTable(people.map(describePerson))
      }, EXISTING),
    )

  users
    .command('invite [name]')
    .description(
      'Print a link with which one account can be made, within a week. With a name, it is for that name: a reserved one, or one an import brought.',
    )
    .option('--admin', 'the account will be an administrator')
    .option('--expires <duration>', 'how long the link is good, such as 2d (at most 90d)', '7d')
    .action((name: string | undefined, options: { admin?: true; expires: string }) =>
      withApp(async (app) => {
        const expiresInDays = Math.max(1, Math.round(parseDuration(options.expires) / DAY_MS))
        const { url } = await callAsOperator(app)(createInvite, { username: name, role: options.admin ? 'admin' : 'user', expiresInDays })
        process.stderr.write(`An invite${name === undefined ? '' : ` for ${name}`}. The link works once and is shown this once:\n`)
        process.stdout.write(`${url}\n`)
        tellOfGuessedUrl(app)
      }),
    )
  users
    .command('reset-link <name>')
    .description('Print a link with which somebody sets a new password, once, within an hour')
    .action((name: string) =>
      withApp(async (app) => {
        const { url } = await callAsOperator(app)(createResetLink, { username: name })
        process.stderr.write(`A link to set a new password for ${name}, good for an hour. It is shown this once:\n`)
        process.stdout.write(`${url}\n`)
        tellOfGuessedUrl(app)
      }, EXISTING),
    )
  users
    .command('role <name> <role>')
    .description(`Set what somebody is: ${ROLES.join(' or ')}`)
    .action((name: string, role: string) =>
      withApp(async (app) => {
        const parsed = roleField.safeParse(role)
        if (!parsed.success) throw new AppError('invalid_input', `The role must be ${ROLES.join(' or ')}; it is "${role.slice(0, 80)}".`)
        const person = await callAsOperator(app)(setRole, { username: name, role: parsed.data })
        process.stdout.write(`${person.username} is ${parsed.data === 'admin' ? 'an administrator' : 'a user'} now.\n`)
      }, EXISTING),
    )

  users
    .command('remove <name>')
    .description('Delete an account with everything it owns, for good; without --yes, say what would be deleted')
    .option('--yes', 'do it')
    .action((name: string, options: { yes?: true }) =>
      withApp(async (app) => {
        const user = await requireAccount(app, name)
        if (!options.yes) {
          const owned = await countOwned(app, user)
          process.stdout.write(
            `${user.username}, with ${plural(owned, 'item')} and the trash, would be deleted for good. Backups and other copies of the library will still hold them; see "purge --backups". Add --yes to do it.\n`,
          )
          return
        }
        await callAsOperator(app)(deletePerson, { username: user.username, confirm: user.username })
        process.stdout.write(`${user.username} is deleted, with everything they owned.\n`)
      }, EXISTING),
    )

  const keys = program.command('keys').description('API keys')
  keys
    .command('create')
    .description('Make a key and print it, alone, on stdout. It is shown this once; only its hash is kept.')
    .requiredOption('--user <name>', 'whose key it is')
    .requiredOption('--name <text>', 'what it is for, such as the machine it will live on')
    .option('--scopes <list>', `what it may do: ${SCOPES.join(', ')}`, SCOPES.join(','))
    .option('--expires <duration>', 'when it expires, such as 90d (default: never)')
    .action((options: { user: string; name: string; scopes: string; expires?: string }) =>
      withApp(async (app) => {
        const scopes = readScopes(options.scopes)
        const name = keyNameField.safeParse(options.name)
        if (!name.success) throw new AppError('invalid_input', `--name ${name.error.issues[0]?.message}.`)
        const expiresAt = options.expires === undefined ? null : new Date(app.clock() + parseDuration(options.expires)).toISOString()
        const user = await requireAccount(app, options.user)
        const key = createApiKey()
        const stored = await app.store.keys.createKey({ name: name.data, userId: user.id, sha256: hashApiKey(key), scopes, expiresAt })
        process.stderr.write(
          `Key ${stored.id} for ${user.username} (${scopes.join(', ')}), ${expiresAt ? `until ${expiresAt}` : 'never expires'}. It is shown this once:\n`,
        )
        process.stdout.write(`${key}\n`)
      }, EXISTING),
    )
  keys
    .command('list')
    .description('List keys: never the key itself')
    .option('--user <name>', 'only this user')
    .action((options: { user?: string }) =>
      withApp(async (app) => {
        const keys = await app.store.keys.listKeys(options.user ?? null)
        printTable(
          keys.map((key) => {
            const state = key.revokedAt ? `revoked ${key.revokedAt}` : key.expiresAt ? `until ${key.expiresAt}` : 'never expires'
            return [key.id, key.username, key.name, key.scopes.join(','), state, `last used ${key.lastUsedAt ?? 'never'}`]
          }),
        )
      }, EXISTING),
    )
  keys
    .command('revoke <id>')
    .description('Revoke a key by the id that `keys list` shows. Its next request is refused.')
    .action((id: string) =>
      withApp(async (app) => {
        const key = await app.store.keys.revokeKey(id)
        if (!key) throw new AppError('not_found', `There is no key ${id.slice(0, 80)}. See their ids ${suggest('keys list')}`)
        process.stdout.write(`Revoked ${key.name} of ${key.username}.\n`)
      }, EXISTING),
    )
}
