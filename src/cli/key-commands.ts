import type { Command } from 'commander'
import { z } from 'zod'
import { createApiKey, hashApiKey } from '../auth/api-key.ts'
import { keyNameField } from '../domain/people/account.ts'
import { actorOf, DEFAULT_SCOPES, SCOPES, type Scope } from '../domain/people/actor.ts'
import { AppError } from '../errors.ts'
import { describeKey, readWithin } from '../operations/account/keys.ts'
import { EXISTING, parseDuration, requireAccount, type WithApp } from './operator.ts'
import { print, printError } from './print.ts'
import { JSON_OPTION, printList } from './print-list.ts'
import { suggest } from './program-name.ts'

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
