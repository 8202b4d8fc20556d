import type { Command } from 'commander'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { Grants } from '../library/groups.ts'
import type { Person } from '../library/ports/people.ts'
import { deletePerson, handOverPerson, setSuspended } from '../operations/admin/people.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { OPERATOR, type WithApp } from './people-commands.ts'
import { plural } from './plural.ts'
import { print, printError } from './print.ts'
import { createInputReader } from './read-input.ts'
import { type Provision, readProvisions } from './read-provisions.ts'

/** Who gave what a list gives, in the place of a sign-in provider. Only that is taken away again. */
const LIST_PROVIDER = 'list'

interface ProvisionOptions {
  readonly dryRun?: true
  readonly suspendMissing?: true
  readonly byName?: true
}

/** `users apply`: accounts as a list of the company has them. */
export function addProvisionCommand(users: Command, withApp: WithApp): void {
  users
    .command('apply <file>')
    .description(
      'Make accounts what a list says: CSV with a header, or a JSON array, with name, displayName, email, provider, subject, role, teams, state and handOverTo. Applying a list again changes nothing.',
    )
    .option('--suspend-missing', 'suspend accounts of the providers in the list that it does not have')
    .option('--by-name', 'entries without provider and subject may mean accounts that somebody signs in to already')
    .option('--dry-run', 'only show what would change')
    .action((file: string, options: ProvisionOptions) =>
      withApp(async (app) => {
        const text = String(await createInputReader(process.stdin).read({ name: 'file', kind: 'text' }, file === '-' ? '-' : `@${file}`))
        await apply(app, readProvisions(text), options)
      }),
    )
}

async function apply(app: App, provisions: readonly Provision[], options: ProvisionOptions): Promise<void> {
  const call = callLocally(() => app.contextFor(OPERATOR, 'cli'))
  const isDry = options.dryRun === true
  let changes = 0
  let failures = 0
  const say = (name: string, done: readonly string[]) => {
    if (done.length === 0) return
    changes++
    print(`${name}: ${isDry ? 'would be ' : ''}${done.join(', ')}\n`)
  }
  /** Names of accounts that are there and in the list. */
  const kept = new Set<string>()
  for (const provision of provisions) {
    try {
      const person = await findPerson(app, provision, options)
      const { username, done, isThere } = isDry
        ? { username: person?.username ?? provision.name, done: foresee(provision, person), isThere: person !== null }
        : await applyOne(app, call, provision, person)
      if (isThere) kept.add(username.toLowerCase())
      say(username, done)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failures++
      printError(`Account ${provision.at}, ${provision.name}: ${error.message}\n`)
    }
  }
  // A list with faults may miss people only because of them.
  if (options.suspendMissing && failures === 0) {
    const providers = new Set(provisions.flatMap(({ identity }) => identity?.provider ?? []))
    for (const username of await app.store.arrivals.listNamesAt([...providers])) {
      if (kept.has(username.toLowerCase())) continue
      try {
        if (!isDry) await call(setSuspended, { username, isSuspended: true })
        say(username, ['suspended'])
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        failures++
        printError(`${username}: ${error.message}\n`)
      }
    }
  }
  const verb = isDry ? 'would change' : 'changed'
  print(`${plural(provisions.length, 'account')} in the list, ${changes} ${verb}.\n`)
  if (failures > 0) throw new AppError('invalid_input', `${plural(failures, 'account')} could not be applied, see above. The others were.`)
}

async function findPerson(app: App, { identity, name }: Provision, { byName }: ProvisionOptions): Promise<Person | null> {
  if (identity) return await app.store.arrivals.findByIdentity(identity)
  const user = await app.store.people.findUser(name)
  if (user?.isTeam) throw new AppError('conflict', 'A team has this name.')
  if (user?.isPlaceholder) throw new AppError('conflict', 'This is the name of an imported author; invite them by it instead.')
  const person = await app.store.people.findPersonByName(name)
  if (person?.hasLogin && !byName) {
    throw new AppError('conflict', 'Somebody signs in to the account of this name already. Add provider and subject, or --by-name.')
  }
  return person
}

/** What would be done to an account, as far as one look tells: not its rights. */
function foresee({ state, handOverTo }: Provision, person: Person | null): string[] {
  if (state === 'removed') return person ? ['removed'] : []
  if (!person) return state === 'active' ? ['created'] : []
  if (state === 'suspended') return [...(person.suspendedAt === null ? ['suspended'] : []), ...(handOverTo === null ? [] : ['handed over'])]
  return person.suspendedAt === null ? [] : ['unsuspended']
}

async function applyOne(
  app: App,
  call: CallOperation,
  provision: Provision,
  found: Person | null,
): Promise<{ username: string; done: string[]; isThere: boolean }> {
  const { state, name, handOverTo } = provision
  const username = found?.username ?? name
  if (state === 'removed') {
    if (!found) return { username, done: [], isThere: false }
    await call(deletePerson, { username, confirm: username, handOverTo: handOverTo ?? undefined })
    return { username, done: ['removed'], isThere: false }
  }
  if (state === 'suspended') return { username, done: found ? await suspend(call, found, handOverTo) : [], isThere: found !== null }
  const done: string[] = []
  if (found && found.suspendedAt !== null) {
    await call(setSuspended, { username, isSuspended: false })
    done.push('unsuspended')
  }
  const person = found ?? (await create(app, provision))
  if (!found) done.push(person.username === name ? 'created' : `created, as ${person.username}: the name ${name} was not free`)
  if (await applyProfile(app, provision, person)) done.push('profile changed')
  const grants = await readGrants(app, provision, person)
  if (grants) {
    const { hasNewRights, skipped } = await app.store.arrivals.grant(person.id, provision.identity?.provider ?? LIST_PROVIDER, grants)
    if (hasNewRights) {
      await app.logins.forgetSessions()
      done.push('rights changed')
    }
    for (const reason of skipped) printError(`${person.username}: ${reason}\n`)
  }
  return { username: person.username, done, isThere: true }
}

async function suspend(call: CallOperation, { username, suspendedAt }: Person, handOverTo: string | null): Promise<string[]> {
  const done: string[] = []
  if (suspendedAt === null) {
    await call(setSuspended, { username, isSuspended: true })
    done.push('suspended')
  }
  if (handOverTo !== null) {
    const { items } = await call(handOverPerson, { username, to: handOverTo })
    if (items > 0) done.push(`${plural(items, 'item')} handed over to ${handOverTo}`)
  }
  return done
}

async function create(app: App, { identity, name, displayName, email, role }: Provision): Promise<Person> {
  if (identity) {
    const isAdmin = role === 'admin'
    const grants: Grants = { teams: new Map(), isAdmin, decidesTeams: [], decidesAdmin: role !== null }
    return (await app.store.arrivals.arrive({ ...identity, name, displayName, email, grants, allowsNew: true, allowsFirst: true })).person
  }
  const user = await app.store.people.createUser({ username: name, defaultVisibility: 'private' })
  const person = await app.store.people.findPerson(user.id)
  if (!person) throw new AppError('not_found', 'The account was removed meanwhile.')
  return person
}

/** Whether something of the profile was not as the list has it. An address needs a login. */
async function applyProfile(app: App, { displayName, email }: Provision, person: Person): Promise<boolean> {
  const change = {
    ...(displayName !== null && displayName !== person.displayName && { displayName }),
    ...(email !== null && person.hasLogin && email !== person.email && { email }),
  }
  if (Object.keys(change).length === 0) return false
  try {
    await app.store.people.changeProfile(person.id, change)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Another account may have the address, which proves nothing: the rest of the entry holds.
    printError(`${person.username}: ${error.message}\n`)
    return false
  }
  return true
}

/** What the list gives, and decides about: the teams somebody is in, so that what it gave before is taken back. */
async function readGrants(app: App, { teams, role }: Provision, { id }: Person): Promise<Grants | null> {
  if (teams === null && role === null) return null
  const own = teams === null ? [] : (await app.store.teams.listTeamsOf(id)).map(({ name }) => name)
  return {
    teams: teams ?? new Map(),
    isAdmin: role === 'admin',
    decidesTeams: teams === null ? [] : [...new Set([...teams.keys(), ...own])],
    decidesAdmin: role !== null,
  }
}
