import { Argument, type Command, Option } from 'commander'
import { z } from 'zod'
import type { App } from '../app.ts'
import { createApiKey, hashApiKey } from '../auth/api-key.ts'
import { AppError } from '../errors.ts'
import { keyNameField, ROLES, type Role } from '../library/account.ts'
import { type Actor, ADMIN_RIGHTS, ANONYMOUS, SCOPES, type Scope } from '../library/actor.ts'
import { PROXY_PROVIDER } from '../library/arrivals.ts'
import type { User } from '../library/items.ts'
import { PERSON_KINDS } from '../library/people.ts'
import { usernameFault } from '../library/username.ts'
import { resetFactors } from '../operations/account/factors.ts'
import { describeKey, readWithin } from '../operations/account/keys.ts'
import { createSignInLink } from '../operations/account/sign-in.ts'
import {
  createInvite,
  createResetLink,
  deletePerson,
  handOverItems,
  listPeople,
  setRole,
  setSuspended,
} from '../operations/admin/people.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { parseDuration } from './duration.ts'
import { warnOfGuessedUrl } from './guessed-url.ts'
import { plural, print, printError } from './print.ts'
import { JSON_OPTION, printList, readPages } from './print-list.ts'
import { suggest } from './program-name.ts'

/** Runs a command on the local library. With `mustExist`, a missing library is an error instead of being created. */
export type WithApp = (work: (app: App) => Promise<void>, options?: { mustExist?: boolean }) => Promise<void>

/** For commands that need an existing library, so that a mistyped DATABASE_URL is an error. */
export const EXISTING = { mustExist: true } as const

const DAY_MS = 24 * 3600 * 1000
/** Local commands run as an administrator. */
export const OPERATOR: Actor = { kind: 'user', userId: 'operator', username: 'operator', scopes: new Set(ADMIN_RIGHTS) }

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
      `--scopes must be one or more of ${SCOPES.join(', ')}, separated by commas; got "${text.slice(0, 80)}".`,
    )
  return [...new Set(parsed.data)]
}

async function countOwned(app: App, { id }: User): Promise<number> {
  const page = { visibility: null, limit: 1, offset: 0 }
  const counts = await Promise.all((['prompt', 'skill'] as const).map((kind) => app.store.own.listOwned(ANONYMOUS, id, { kind, ...page })))
  return counts.reduce((sum, { total }) => sum + total, 0)
}

/** `users`, `keys` and `sign-in-link`. */
export function addPeopleCommands(program: Command, withApp: WithApp): Command {
  program
    .command('sign-in-link <name>')
    .description('Create a link that signs somebody in without a password or a provider, once within ten minutes, and print it')
    .action((name: string) =>
      withApp(async (app) => {
        const { url } = await callAsOperator(app)(createSignInLink, { username: name })
        printError(`Sign-in link for ${name}, valid once within ten minutes. It is not shown again:\n`)
        print(`${url}\n`)
        warnOfGuessedUrl(app)
      }, EXISTING),
    )
  const users = program.command('users').description('Manage users, who own prompts and skills')
  users
    .command('create <name>')
    .description(
      'Create a user. The name is 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen; signing up under it takes an invite for it.',
    )
    .option('--public-by-default', 'new items of this user are public by default')
    .addOption(new Option('--members-by-default', 'new items of this user are for members by default').conflicts('publicByDefault'))
    .action((name: string, options: { publicByDefault?: true; membersByDefault?: true }) =>
      withApp(async (app) => {
        const fault = usernameFault(name)
        if (fault) throw new AppError('invalid_input', `The username "${name.slice(0, 80)}" ${fault}.`)
        const user = await app.store.people.createUser({
          username: name,
          defaultVisibility: options.publicByDefault ? 'public' : options.membersByDefault ? 'members' : 'private',
        })
        print(`Created user "${user.username}". Create a key ${suggest(`keys create --user ${user.username} --name "my laptop"`)}\n`)
      }),
    )
  users
    .command('list')
    .description('List accounts: those that somebody signs in to (login), and then those that nobody signs in to yet (reserved)')
    .option('--all', 'also list authors of imported items, who have no account (placeholder)')
    .option(...JSON_OPTION)
    .action((options: { all?: true; json?: true }) =>
      withApp(async (app) => {
        const call = callAsOperator(app)
        const kinds = PERSON_KINDS.filter((kind) => options.all || kind !== 'placeholder')
        const users = await Promise.all(
          kinds.map((kind) =>
            readPages(async (page) => {
              const { people, totalPages } = await call(listPeople, { ...page, kind })
              return { rows: people, totalPages }
            }),
          ),
        )
        printList('users', { users: users.flat() }, options)
      }, EXISTING),
    )

  users
    .command('invite [name]')
    .description(
      'Create an invite link for one account and print it. A name limits the invite to that name; reserved and imported names need one.',
    )
    .option('--admin', 'make the account an administrator')
    .option('--expires <duration>', 'lifetime of the link, such as 2d (at most 90d)', '7d')
    .action((name: string | undefined, options: { admin?: true; expires: string }) =>
      withApp(async (app) => {
        const expiresInDays = Math.max(1, Math.round(parseDuration(options.expires) / DAY_MS))
        const { url } = await callAsOperator(app)(createInvite, { username: name, role: options.admin ? 'admin' : 'user', expiresInDays })
        printError(`Invite${name === undefined ? '' : ` for ${name}`} created. The link works once and is not shown again:\n`)
        print(`${url}\n`)
        warnOfGuessedUrl(app)
      }),
    )
  users
    .command('reset-link <name>')
    .description('Create a password reset link, valid once within one hour, and print it')
    .action((name: string) =>
      withApp(async (app) => {
        const { url } = await callAsOperator(app)(createResetLink, { username: name })
        printError(`Password reset link for ${name}, valid for one hour. It is not shown again:\n`)
        print(`${url}\n`)
        warnOfGuessedUrl(app)
      }, EXISTING),
    )
  users
    .command('connect <name>')
    .description('Let an account sign in through the proxy of AUTH_PROXY_HEADER; its sessions end')
    .requiredOption('--proxy <value>', 'what the proxy sends for this person')
    .action((name: string, { proxy: subject }: { proxy: string }) =>
      withApp(async (app) => {
        const user = await requireAccount(app, name)
        await app.store.arrivals.ensureLogin(user.id)
        await app.store.arrivals.connectIdentity(user.id, { provider: PROXY_PROVIDER, subject }, null)
        await app.logins.forgetSessions()
        print(`${user.username} is now who the proxy names "${subject}".\n`)
      }, EXISTING),
    )
  users
    .command('reset-factors <name>')
    .description('Remove the passkeys and codes of an account, for somebody who lost them; the password alone signs in afterwards')
    .action((name: string) =>
      withApp(async (app) => {
        await callAsOperator(app)(resetFactors, { username: name })
        print(`Removed the passkeys and codes of ${name}.\n`)
      }, EXISTING),
    )
  users
    .command('role <name>')
    .description('Set the role of a user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action((name: string, role: Role) =>
      withApp(async (app) => {
        const person = await callAsOperator(app)(setRole, { username: name, role })
        print(`${person.username} is now ${role === 'admin' ? 'an administrator' : 'a user'}.\n`)
      }, EXISTING),
    )

  for (const isSuspended of [true, false]) {
    users
      .command(`${isSuspended ? 'suspend' : 'unsuspend'} <name>`)
      .description(
        isSuspended ? 'Suspend an account: its sessions end and its keys stop working; its items stay' : 'End the suspension of an account',
      )
      .action((name: string) =>
        withApp(async (app) => {
          const person = await callAsOperator(app)(setSuspended, { username: name, isSuspended })
          print(`${person.username} is ${isSuspended ? 'suspended' : 'not suspended'} now.\n`)
        }, EXISTING),
      )
  }

  users
    .command('hand-over <name> <to>')
    .description('Give all items of a suspended account to a user or team, with their versions and addresses')
    .action((name: string, to: string) =>
      withApp(async (app) => {
        const { items } = await callAsOperator(app)(handOverItems, { username: name, to })
        print(`${plural(items, 'item')} of ${name} handed over to ${to}.\n`)
      }, EXISTING),
    )

  users
    .command('remove <name>')
    .description('Delete an account and everything it owns for good; without --yes, only show what would be deleted')
    .option('--yes', 'delete without asking again')
    .option('--hand-over-to <name>', 'user or team that gets the items, with their versions and addresses')
    .action((name: string, options: { yes?: true; handOverTo?: string }) =>
      withApp(async (app) => {
        const user = await requireAccount(app, name)
        if (!options.yes) {
          const owned = await countOwned(app, user)
          if (options.handOverTo !== undefined) {
            print(
              `Would delete ${user.username} for good, and hand ${plural(owned, 'item')} and the trash to ${options.handOverTo}. Add --yes to do so.\n`,
            )
            return
          }
          print(
            `Would delete ${user.username} for good, with ${plural(owned, 'item')} and the trash. Backups and other copies of the library will still contain them; see "purge --backups". Add --yes to delete.\n`,
          )
          return
        }
        await callAsOperator(app)(deletePerson, { username: user.username, confirm: user.username, handOverTo: options.handOverTo })
        print(
          options.handOverTo === undefined
            ? `Deleted ${user.username} and everything they owned.\n`
            : `Deleted ${user.username}. Their items are of ${options.handOverTo} now.\n`,
        )
      }, EXISTING),
    )

  const keys = program.command('keys').description('Manage API keys')
  keys
    .command('create')
    .description('Create a key and print only the key on stdout. It is not shown again; only its hash is stored.')
    .requiredOption('--user <name>', 'owner of the key')
    .requiredOption('--name <text>', 'name of the key, such as the computer that uses it')
    .option('--scopes <list>', `permissions: ${SCOPES.join(', ')}`, SCOPES.join(','))
    .option('--expires <duration>', 'when it expires, such as 90d (default: never)')
    .option('--team <name>', 'a team of the owner: the key sees nothing but its items')
    .option('--collections <list>', 'collections, as slugs or ids: the key sees nothing but what is in them', (list) => list.split(','))
    .action((options: { user: string; name: string; scopes: string; expires?: string; team?: string; collections?: string[] }) =>
      withApp(async (app) => {
        const scopes = readScopes(options.scopes)
        const name = keyNameField.safeParse(options.name)
        if (!name.success) throw new AppError('invalid_input', `--name ${name.error.issues[0]?.message}.`)
        const expiresAt = options.expires === undefined ? null : new Date(app.clock() + parseDuration(options.expires)).toISOString()
        const user = await requireAccount(app, options.user)
        const within = await readWithin(
          app.store,
          { kind: 'user', userId: user.id, username: user.username, scopes: new Set(SCOPES) },
          options,
        )
        const key = createApiKey()
        const stored = await app.store.keys.createKey({
          name: name.data,
          userId: user.id,
          sha256: hashApiKey(key),
          scopes,
          expiresAt,
          within,
        })
        printError(
          `Key ${stored.id} for ${user.username} (${scopes.join(', ')}), ${expiresAt ? `expires ${expiresAt}` : 'never expires'}. It is not shown again:\n`,
        )
        print(`${key}\n`)
      }, EXISTING),
    )
  keys
    .command('list')
    .description('List keys, without the keys themselves, and then programs that signed in, which hold keys of their own')
    .option('--user <name>', 'only this user')
    .option(...JSON_OPTION)
    .action((options: { user?: string; json?: true }) =>
      withApp(async (app) => {
        const stored = await app.store.keys.listKeys(options.user ?? null)
        const keys = await Promise.all(
          stored.map(async (key) => {
            const { userId, username, clientId } = key
            const owner: Actor = { kind: 'user', userId, username, scopes: new Set(SCOPES) }
            return { username, kind: clientId === null ? 'key' : 'program', ...(await describeKey(app, owner, key)) }
          }),
        )
        printList('keys', { keys: keys.toSorted((a, b) => a.kind.localeCompare(b.kind)) }, options)
      }, EXISTING),
    )
  keys
    .command('revoke <id>')
    .description('Revoke a key by its id (see `keys list`). Its next request is rejected.')
    .action((id: string) =>
      withApp(async (app) => {
        const key = await app.store.keys.revokeKey(id)
        if (!key) throw new AppError('not_found', `Key ${id.slice(0, 80)} not found. List the ids ${suggest('keys list')}`)
        print(`Revoked key "${key.name}" of ${key.username}.\n`)
      }, EXISTING),
    )
  return users
}
