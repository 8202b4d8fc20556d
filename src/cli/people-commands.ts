import { Argument, type Command, Option } from 'commander'
import { z } from 'zod'
import type { App } from '../app.ts'
import { createApiKey, hashApiKey } from '../auth/credentials.ts'
import type { User } from '../domain/items/items.ts'
import { keyNameField, ROLES, type Role, usernameFault } from '../domain/people/account.ts'
import { ANONYMOUS, actorOf, DEFAULT_SCOPES, SCOPES, type Scope } from '../domain/people/actor.ts'
import { PERSON_KINDS } from '../domain/people/people.ts'
import { PROXY_PROVIDER } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
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
import { createTeam, listAllTeams, setTeamMember } from '../operations/teams/teams.ts'
import { asOperator, callAsOperator, EXISTING, parseDuration, printLink, requireAccount, suggest, type WithApp } from './operator.ts'
import { JSON_OPTION, plural, print, printError, printList, readPages } from './terminal.ts'

const DAY_MS = 24 * 3600 * 1000

async function countOwned(app: App, { id }: User): Promise<number> {
  const page = { visibility: null, limit: 1, offset: 0 }
  const counts = await Promise.all((['prompt', 'skill'] as const).map((kind) => app.store.own.listOwned(ANONYMOUS, id, { kind, ...page })))
  return counts.reduce((sum, { total }) => sum + total, 0)
}

/** `users` and `sign-in-link`. */
export function addUserCommands(program: Command, withApp: WithApp): void {
  const run = asOperator(withApp)
  program
    .command('sign-in-link <name>')
    .description('Create a link that signs somebody in without a password or a provider, once within ten minutes, and print it')
    .action((username: string) =>
      run(async (call, app) => {
        const { url } = await call(createSignInLink, { username })
        printLink(app, `Sign-in link for ${username}, valid once within ten minutes. It is`, url)
      }),
    )
  const users = program.command('users').description('Manage users, who own prompts and skills')
  users
    .command('create <name>')
    .description(
      'Create a user. The name is 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen; signing up with it requires an invite for that name.',
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
    .description('List accounts: first those with a sign-in (login), then reserved names')
    .option('--all', 'also list authors of imported items, who have no account (placeholder)')
    .option(...JSON_OPTION)
    .action((options: { all?: true; json?: true }) =>
      run(async (call) => {
        const kinds = PERSON_KINDS.filter((kind) => options.all || kind !== 'placeholder')
        const readKind = (kind: (typeof kinds)[number]) =>
          readPages((page) => call(listPeople, { ...page, kind }).then(({ people, totalPages }) => ({ rows: people, totalPages })))
        printList('users', { users: (await Promise.all(kinds.map(readKind))).flat() }, options)
      }),
    )
  users
    .command('invite [name]')
    .description(
      'Create an invite link for one account and print it. A name limits the invite to that name; reserved and imported names need one.',
    )
    .option('--admin', 'make the account an administrator')
    .option('--expires <duration>', 'lifetime of the link, such as 2d (at most 90d)', '7d')
    .action((username: string | undefined, options: { admin?: true; expires: string }) =>
      withApp(async (app) => {
        const expiresInDays = Math.max(1, Math.round(parseDuration(options.expires) / DAY_MS))
        const { url } = await callAsOperator(app)(createInvite, { username, role: options.admin ? 'admin' : 'user', expiresInDays })
        printLink(app, `Invite${username === undefined ? '' : ` for ${username}`} created. The link works once and is`, url)
      }),
    )
  users
    .command('reset-link <name>')
    .description('Create a password reset link, valid once within one hour, and print it')
    .action((username: string) =>
      run(async (call, app) => {
        const { url } = await call(createResetLink, { username })
        printLink(app, `Password reset link for ${username}, valid for one hour. It is`, url)
      }),
    )
  users
    .command('connect <name>')
    .description('Let an account sign in through the proxy of AUTH_PROXY_HEADER; its sessions end')
    .requiredOption('--proxy <value>', 'what the proxy sends for this person')
    .action((name: string, { proxy: subject }: { proxy: string }) =>
      run(async (_, app) => {
        const user = await requireAccount(app, name)
        await app.store.arrivals.ensureLogin(user.id)
        await app.store.arrivals.connectIdentity(user.id, { provider: PROXY_PROVIDER, subject }, null)
        print(`${user.username} is now who the proxy names "${subject}".\n`)
      }),
    )
  users
    .command('reset-factors <name>')
    .description('Remove the passkeys and codes of an account, for somebody who lost them; the password alone signs in afterwards')
    .action((username: string) =>
      run(async (call) => {
        await call(resetFactors, { username })
        print(`Removed the passkeys and codes of ${username}.\n`)
      }),
    )
  users
    .command('role <name>')
    .description('Set the role of a user')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action((name: string, role: Role) =>
      run(async (call) => {
        const { username } = await call(setRole, { username: name, role })
        print(`${username} is now ${role === 'admin' ? 'an administrator' : 'a user'}.\n`)
      }),
    )
  for (const isSuspended of [true, false]) {
    users
      .command(`${isSuspended ? 'suspend' : 'unsuspend'} <name>`)
      .description(
        isSuspended ? 'Suspend an account: its sessions end and its keys stop working; its items stay' : 'End the suspension of an account',
      )
      .action((name: string) =>
        run(async (call) => {
          const { username } = await call(setSuspended, { username: name, isSuspended })
          print(`${username} is ${isSuspended ? 'suspended' : 'not suspended'} now.\n`)
        }),
      )
  }
  users
    .command('hand-over <name> <to>')
    .description('Give all items of a suspended account to a user or team, with their versions and addresses')
    .action((username: string, to: string) =>
      run(async (call) => {
        const { items } = await call(handOverItems, { username, to })
        print(`${plural(items, 'item')} of ${username} handed over to ${to}.\n`)
      }),
    )
  users
    .command('remove <name>')
    .description('Delete an account and everything it owns for good; without --yes, only show what would be deleted')
    .option('--yes', 'delete without asking again')
    .option('--hand-over-to <name>', 'user or team that gets the items, with their versions and addresses')
    .action((name: string, { yes, handOverTo }: { yes?: true; handOverTo?: string }) =>
      run(async (call, app) => {
        const user = await requireAccount(app, name)
        const { username } = user
        if (yes) {
          await call(deletePerson, { username, confirm: username, handOverTo })
          const items = handOverTo === undefined ? ' and everything they owned' : `. Their items are of ${handOverTo} now`
          return print(`Deleted ${username}${items}.\n`)
        }
        const owned = plural(await countOwned(app, user), 'item')
        print(
          handOverTo === undefined
            ? `Would delete ${username} for good, with ${owned} and the trash. Backups and other copies of the library will still contain them; see "purge --backups". Add --yes to delete.\n`
            : `Would delete ${username} for good, and hand ${owned} and the trash to ${handOverTo}. Add --yes to do so.\n`,
        )
      }),
    )
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

/** `keys`. */
export function addKeyCommands(program: Command, withApp: WithApp): void {
  const keys = program.command('keys').description('Manage API keys')
  keys
    .command('create')
    .description('Create a key and print only the key on stdout. It is not shown again; only its hash is stored.')
    .requiredOption('--user <name>', 'owner of the key')
    .requiredOption('--name <text>', 'name of the key, such as the computer that uses it')
    .option('--scopes <list>', `permissions: ${SCOPES.join(', ')}`, DEFAULT_SCOPES.join(','))
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
        const within = await readWithin(app.store, actorOf(user, SCOPES), options)
        const key = createApiKey()
        const wanted = { name: name.data, userId: user.id, sha256: hashApiKey(key), scopes, expiresAt, within }
        const stored = await app.store.keys.createKey(wanted)
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
            const described = await describeKey(app, actorOf({ id: userId, username }, SCOPES), key)
            return { username, kind: clientId === null ? 'key' : 'program', ...described }
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
}

/** `teams`: what administrators do. Members use `create-team`, `list-teams` and so on, an operator for them with `--user NAME`. */
export function addTeamCommands(program: Command, withApp: WithApp): void {
  const run = asOperator(withApp)
  const teams = program
    .command('teams')
    .description(
      'Create teams for others, list all, and appoint maintainers. For what members do, see create-team and the commands after it.',
    )
  teams
    .command('list')
    .description('List every team with its maintainers; an orphaned one has no maintainer whose account can act')
    .option('--orphaned', 'only orphaned teams')
    .option(...JSON_OPTION)
    .action((options: { orphaned?: true; json?: true }) =>
      run(async (call) => {
        const found = await readPages(async (page) => {
          const { teams: rows, totalPages } = await call(listAllTeams, { ...page, orphaned: options.orphaned === true })
          return { rows, totalPages }
        })
        printList('teams', { teams: found }, options)
      }),
    )
  teams
    .command('create <name>')
    .description('Create a team for somebody, who maintains it')
    .requiredOption('--maintainer <name>', 'user who maintains it')
    .option('--description <text>', 'what it is for')
    .action((team: string, options: { maintainer: string; description?: string }) =>
      run(async (call) => {
        const { name } = await call(createTeam, { team, ...options })
        print(`Created team "${name}", maintained by ${options.maintainer}.\n`)
      }),
    )
  teams
    .command('appoint <team> <name>')
    .description('Appoint a user as maintainer of an orphaned team')
    .action((team: string, name: string) =>
      run(async (call) => {
        const { username } = await call(setTeamMember, { team, username: name, role: 'maintainer' })
        print(`${username} is now a maintainer of "${team}".\n`)
      }),
    )
}
