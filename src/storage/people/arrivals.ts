import type { Kysely } from 'kysely'
import { arrivalNames } from '../../domain/people/account.ts'
import type { Person } from '../../domain/people/people.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import {
  type Arrival,
  type Arriving,
  type Grants,
  type Identity,
  type LinkedIdentity,
  PASSWORD_PROVIDER,
} from '../../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import { endNarrowedKeys } from './keys.ts'
import { hasLogins, insertIdentity, insertLogin, requirePerson } from './people.ts'
import { putMember, requireOtherMaintainer } from './team-rows.ts'
import { findUserSeq, hadName, insertUser, isNameFree } from './user-rows.ts'
import { refuseWithoutAdmin, revokeInvitesOf } from './users.ts'

/** Somebody whose rights follow their groups. */
interface Granted {
  readonly person: Person & { readonly seq: number }
  /** The source of the groups. */
  readonly provider: string
  readonly grants: Grants
  readonly at: string
  makeId(): string
}

/** Whether rights changed, and which could not, as sentences for the log. */
interface Outcome {
  hasNewRights: boolean
  readonly skipped: string[]
}

/**
 * Gives and takes the rights that groups decide about. Memberships and roles that somebody here or another provider gave stay as they are.
 * A team never loses its last maintainer this way, and the library not its last administrator.
 */
async function applyGrants(db: Kysely<Database>, notes: WriteNotes, granted: Granted): Promise<Outcome> {
  const outcome: Outcome = { hasNewRights: false, skipped: [] }
  const { grants } = granted
  const given = new Set<number>()
  for (const [name, role] of grants.teams) {
    const { team, fault } = await reserveTeam(db, notes, name, granted)
    if (fault !== null) outcome.skipped.push(fault)
    // Two names of one team: the first counts.
    if (!team || given.has(team.seq)) continue
    given.add(team.seq)
    await attempt(outcome, () => giveRole(db, notes, granted, team, role))
  }
  for (const name of grants.decidesTeams) {
    const team = await findTeamRow(db, name)
    if (team && !given.has(team.seq)) await attempt(outcome, () => takeRole(db, notes, granted, team))
  }
  await attempt(outcome, () => applyAdmin(db, notes, granted))
  return outcome
}

/**
 * The team of a name in a group map, made where nobody has the name. One that somebody here made is not filled before an administrator allows
 * it: its maintainers would get what the group's members save.
 */
async function reserveTeam(
  db: Kysely<Database>,
  notes: WriteNotes,
  name: string,
  making: Pick<Granted, 'at' | 'makeId'>,
): Promise<{ readonly team: TeamRow | null; readonly fault: string | null }> {
  const found = await findTeamRow(db, name)
  if (found?.filled_by_groups === 'bound') return { team: found, fault: null }
  if (!found) {
    const team = await createTeamRow(db, notes, making, name)
    return { team, fault: team ? null : `The team "${name}" of the group map cannot be created: the name is taken.` }
  }
  if (found.filled_by_groups === null)
    await db.updateTable('user').set({ filled_by_groups: 'asked' }).where('seq', '=', found.seq).execute()
  const fault = `The team "${name}" of the group map was made by somebody here, and is not filled before an administrator allows it: Administration, Teams.`
  return { team: null, fault }
}

/** Notes a change, or why there was none. */
async function attempt(outcome: Outcome, change: () => Promise<boolean>): Promise<void> {
  try {
    if (await change()) outcome.hasNewRights = true
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    outcome.skipped.push(error.message)
  }
}

interface TeamRow {
  readonly seq: number
  readonly id: string
  readonly filled_by_groups: 'bound' | 'asked' | null
}

async function findTeamRow(db: Kysely<Database>, name: string): Promise<TeamRow | undefined> {
  return await db
    .selectFrom('user')
    .select(['user.seq', 'user.id', 'user.filled_by_groups'])
    .where('user.is_team', '=', 1)
    .where('user.suspended_at', 'is', null)
    .where((eb) => eb.or([eb('user.username_key', '=', name.toLowerCase()), hadName(eb, name)]))
    .executeTakeFirst()
}

/** Null when somebody has the name. */
async function createTeamRow(
  db: Kysely<Database>,
  notes: WriteNotes,
  { at, makeId }: Pick<Granted, 'at' | 'makeId'>,
  name: string,
): Promise<TeamRow | null> {
  if (!(await isNameFree(db, name))) return null
  const team = await insertUser(db, { id: makeId(), username: name, created_at: at, is_team: 1, filled_by_groups: 'bound' })
  notes.audit({ action: 'team_created', targetId: team.id, ownerId: team.id, detail: { byGroup: true } })
  return team
}

async function findMembership(db: Kysely<Database>, team: TeamRow, { person }: Granted) {
  return await db
    .selectFrom('team_member')
    .select(['role', 'given_by'])
    .where('team_seq', '=', team.seq)
    .where('user_seq', '=', person.seq)
    .executeTakeFirst()
}

async function giveRole(db: Kysely<Database>, notes: WriteNotes, granted: Granted, team: TeamRow, role: TeamRole): Promise<boolean> {
  const { person, provider, at } = granted
  const member = await findMembership(db, team, granted)
  if (member && (member.given_by !== provider || member.role === role)) return false
  await putMember(db, team, person, member, { role, joined_at: at, given_by: provider })
  const action = member ? 'team_member_role_changed' : 'team_member_added'
  notes.audit({ action, targetId: person.id, ownerId: team.id, detail: { teamRole: role, byGroup: true } })
  return true
}

async function takeRole(db: Kysely<Database>, notes: WriteNotes, granted: Granted, team: TeamRow): Promise<boolean> {
  const { person, provider, at } = granted
  const member = await findMembership(db, team, granted)
  if (member?.given_by !== provider) return false
  if (member.role === 'maintainer') await requireOtherMaintainer(db, team.seq, person.seq)
  await db.deleteFrom('team_member').where('team_seq', '=', team.seq).where('user_seq', '=', person.seq).execute()
  await endNarrowedKeys(db, notes, team.id, person.id, at)
  notes.audit({ action: 'team_member_removed', targetId: person.id, ownerId: team.id, detail: { byGroup: true } })
  return true
}

async function applyAdmin(db: Kysely<Database>, notes: WriteNotes, { person, provider, grants, at }: Granted): Promise<boolean> {
  const { id } = person
  if (grants.isAdmin) {
    if (person.role === 'admin') return false
    await db.updateTable('user').set({ role: 'admin', role_given_by: provider }).where('id', '=', id).execute()
  } else {
    if (!grants.decidesAdmin || person.role !== 'admin') return false
    const row = await db.selectFrom('user').select('role_given_by').where('id', '=', id).executeTakeFirst()
    if (row?.role_given_by !== provider) return false
    await refuseWithoutAdmin(db, id)
    await db.updateTable('user').set({ role: 'user', role_given_by: null }).where('id', '=', id).execute()
    await revokeInvitesOf(db, notes, person, at)
  }
  notes.audit({ action: 'role_changed', targetId: id, ownerId: id, detail: { role: grants.isAdmin ? 'admin' : 'user', byGroup: true } })
  return true
}

/** Random characters that end the last name that is tried. */
const SUFFIX_LENGTH = 8

/** People whom somebody else vouches for, and their identities. */
export function arrivalStore(reader: Kysely<Database>, context: WriteContext) {
  const { now } = context
  const connect = async (db: Kysely<Database>, notes: WriteNotes, userId: string, identity: Identity, keptSessionId: string | null) => {
    await insertIdentity(db, userId, { ...identity, id: context.random.id(), at: now() })
    const sessions = db.deleteFrom('login_session').where('user_id', '=', userId)
    await (keptSessionId === null ? sessions : sessions.where('id', '<>', keptSessionId)).execute()
    // A link that is out, perhaps in other hands, would outlive the sessions.
    await db.deleteFrom('login_verification').where('value', '=', userId).execute()
    notes.audit({ action: 'identity_connected', targetId: userId, ownerId: userId, actorId: userId })
  }
  const createPerson = async (db: Kysely<Database>, notes: WriteNotes, arriving: Arriving, email: string | null): Promise<Person> => {
    const { name, displayName, grants } = arriving
    if (!arriving.allowsNew) {
      throw new AppError(
        'forbidden',
        'You have no account here yet, and this provider may not create one. Ask an administrator for an invite.',
      )
    }
    if (!arriving.allowsFirst && !(await hasLogins(db)) && !grants?.isAdmin) {
      throw new AppError(
        'forbidden',
        'The first account must be the administrator’s. Create it with the setup code printed by the service at startup, or map a group to admin.',
      )
    }
    const id = context.random.id()
    const username = await findFreeName(db, name, context.random.letters(SUFFIX_LENGTH))
    await insertUser(db, { id, username, created_at: now(), display_name: displayName })
    await insertLogin(db, { id, name: username, email, isVerified: email !== null, at: now() })
    await insertIdentity(db, id, { ...arriving, id: context.random.id(), at: now() })
    notes.audit({ action: 'account_created', targetId: id, ownerId: id, actorId: id, detail: { role: 'user' } })
    return await requirePerson(db, id)
  }
  return {
    /**
     * THE way in for sign-in providers and proxies: finds the account of an identity, or makes one under a free name, and gives
     * and takes rights by groups. Never attaches to a name that is reserved, taken, a placeholder's or a former one.
     * @throws AppError `forbidden` for a suspended account, and where no account may be created
     */
    arrive: (arriving: Arriving): Promise<Arrival> =>
      context.transact(async (db, notes) => {
        const known = await findIdentity(db, arriving)
        const holder = known || arriving.email === null ? null : await findByEmail(db, arriving.email)
        if (holder?.isVerified && (await requirePerson(db, holder.id)).suspendedAt !== null) {
          throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
        }
        const joined = holder !== null && (await mayJoin(db, holder, arriving)) ? holder : null
        if (joined) await connect(db, notes, joined.id, arriving, null)
        const existing = known?.user_id ?? joined?.id
        const person =
          existing === undefined
            ? await createPerson(db, notes, arriving, holder === null ? arriving.email : null)
            : await requirePerson(db, existing)
        if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
        const { provider, grants } = arriving
        const rights =
          grants === null
            ? { hasNewRights: false, skipped: [] }
            : await applyGrants(db, notes, {
                person: { ...person, seq: await findUserSeq(db, person.id) },
                provider,
                grants,
                at: now(),
                makeId: () => context.random.id(),
              })
        return {
          person: rights.hasNewRights ? await requirePerson(db, person.id) : person,
          isNew: existing === undefined,
          isJoined: joined !== null,
          isEmailTaken: holder !== null && joined === null,
          ...rights,
        }
      }),
    /** Makes the teams that group maps name, before somebody else takes a name. @returns sentences about those that groups cannot fill */
    reserveTeams: (names: readonly string[]): Promise<readonly string[]> =>
      context.transact(async (db, notes) => {
        const faults: string[] = []
        for (const name of new Set(names)) {
          const { fault } = await reserveTeam(db, notes, name, { at: now(), makeId: () => context.random.id() })
          if (fault !== null) faults.push(fault)
        }
        return faults
      }),
    /** The account of an identity; null where it has none. */
    findAccount: async (identity: Identity): Promise<string | null> => (await findIdentity(reader, identity))?.user_id ?? null,
    /** Also that of a password. */
    async listIdentities(userId: string): Promise<readonly LinkedIdentity[]> {
      const rows = await reader
        .selectFrom('login_account')
        .select(['provider_id', 'account_id', 'created_at'])
        .where('user_id', '=', userId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map((row) => ({ provider: row.provider_id, subject: row.account_id, createdAt: row.created_at }))
    },
    /**
     * Gives an account another identity; all its sessions but one end.
     * @throws AppError `conflict` when the identity is of another account, or the account has another one at the same provider
     */
    connectIdentity: (userId: string, identity: Identity, keptSessionId: string | null): Promise<void> =>
      context.transact(async (db, notes) => {
        const holder = await findIdentity(db, identity)
        if (holder?.user_id === userId) return
        if (holder) {
          throw new AppError(
            'conflict',
            'Another account here is connected to this identity. Sign in with it, and disconnect it there first.',
          )
        }
        const other = await findProvider(db, userId, identity.provider)
        if (other) {
          throw new AppError('conflict', 'Your account is connected to another identity at this provider. Disconnect that one first.')
        }
        const person = await requirePerson(db, userId)
        if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
        await connect(db, notes, userId, identity, keptSessionId)
      }),
    /**
     * Takes an identity from an account.
     * @param usable the providers by which people can sign in now
     * @throws AppError `not_found`, `conflict` for the last way in
     */
    disconnectIdentity: (userId: string, provider: string, usable: readonly string[]): Promise<void> =>
      context.transact(async (db, notes) => {
        const rows = await db.selectFrom('login_account').select(['id', 'provider_id']).where('user_id', '=', userId).execute()
        const row = rows.find((one) => one.provider_id === provider)
        if (!row || provider === PASSWORD_PROVIDER) throw new AppError('not_found', 'Your account is not connected to this provider.')
        if (!rows.some((one) => one.id !== row.id && usable.includes(one.provider_id))) {
          throw new AppError('conflict', 'This is your only way to sign in. Connect another provider or set a password first.')
        }
        await db.deleteFrom('login_account').where('id', '=', row.id).execute()
        notes.audit({ action: 'identity_disconnected', targetId: userId, ownerId: userId })
      }),
    /** Lets a person without a login have sessions. Does nothing for one who has it. @throws AppError `not_found` */
    ensureLogin: (userId: string): Promise<void> =>
      context.transact(async (db, notes) => {
        const person = await requirePerson(db, userId)
        if (person.hasLogin) return
        if (person.isPlaceholder) throw new AppError('not_found', `"${person.username}" is an imported author without an account.`)
        await insertLogin(db, { id: userId, name: person.username, email: null, at: now() })
        notes.audit({ action: 'account_created', targetId: userId, ownerId: userId, detail: { role: person.role } })
      }),
  }
}

async function findIdentity(db: Kysely<Database>, { provider, subject }: Identity) {
  return await db
    .selectFrom('login_account')
    .select('user_id')
    .where('provider_id', '=', provider)
    .where('account_id', '=', subject)
    .executeTakeFirst()
}

async function findProvider(db: Kysely<Database>, userId: string, provider: string) {
  return await db
    .selectFrom('login_account')
    .select('id')
    .where('user_id', '=', userId)
    .where('provider_id', '=', provider)
    .executeTakeFirst()
}

interface EmailHolder {
  readonly id: string
  readonly isVerified: boolean
}

async function findByEmail(db: Kysely<Database>, email: string): Promise<EmailHolder | null> {
  const row = await db.selectFrom('login').select(['id', 'email_verified']).where('email', '=', email).executeTakeFirst()
  return row ? { id: row.id, isVerified: row.email_verified === 1 } : null
}

/**
 * Whether an identity joins the account that has its address: both sides have verified it. Not where the account has another identity at the
 * same provider: there the address was given to somebody else. An administrator's account is only joined from inside.
 */
async function mayJoin(db: Kysely<Database>, holder: EmailHolder, { provider }: Identity): Promise<boolean> {
  if (!holder.isVerified || (await findProvider(db, holder.id, provider))) return false
  return (await requirePerson(db, holder.id)).role !== 'admin'
}

async function findFreeName(db: Kysely<Database>, name: string, suffix: string): Promise<string> {
  for (const candidate of arrivalNames(name, suffix)) if (await isNameFree(db, candidate)) return candidate
  throw new AppError('conflict', 'No free name was found for the new account. Try again.')
}
