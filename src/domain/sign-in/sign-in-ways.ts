import { AppError } from '../../errors.ts'
import { usernameFault } from '../people/account.ts'
import type { Person } from '../people/people.ts'
import { TEAM_ROLES, type TeamRole } from '../people/teams.ts'

/** The kinds of providers with settings of their own; `oidc` is any other that speaks OpenID Connect. */
export const PROVIDER_TYPES = ['oidc', 'google', 'microsoft', 'gitlab', 'github'] as const
export type ProviderType = (typeof PROVIDER_TYPES)[number]

/** A provider that people sign in with, as the settings have it. */
export interface ProviderSettings {
  /** In addresses of this service: `[a-z0-9-]`. */
  readonly key: string
  /** On the button. */
  readonly name: string
  readonly type: ProviderType
  /** The issuer of identities. GitHub has none of its own; its address of OAuth stands for it. */
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | null
  readonly scopes: string
  readonly nameClaim: string
  readonly groupsClaim: string
  readonly groups: GroupMap
  /** Whether a new person gets an account. */
  readonly allowsSignUp: boolean
  /** Domains of verified addresses, in lower case; empty: any person. */
  readonly allowedDomains: readonly string[]
  /** Groups of which a person must have one; empty: any person. */
  readonly allowedGroups: readonly string[]
}

/** A reverse proxy that signs people in. */
export interface ProxySettings {
  /** Names of headers, in lower case; null: there is none. */
  readonly header: string
  readonly nameHeader: string | null
  readonly emailHeader: string | null
  readonly groupsHeader: string | null
  readonly groups: GroupMap
  /** Addresses and networks (CIDR) of the proxy. */
  readonly trusted: readonly string[]
  /** Where the proxy ends its own session. */
  readonly signOutUrl: string | null
}

/** How people sign in. */
export interface SignInSettings {
  readonly hasPasswords: boolean
  readonly providers: readonly ProviderSettings[]
  /** Time for each answer of a provider. Default: 5 */
  readonly timeoutSeconds?: number
  readonly proxy: ProxySettings | null
}

/** The prefix of session ids of people whom a proxy signs in: they have no session that is kept. */
export const PROXY_SESSION = 'proxy'

/** How long ago somebody must have signed in to change how they sign in, where no password proves who they are. */
export const FRESH_MINUTES = 10

/** The error where people sign in by a provider or a proxy alone. */
export function passwordsOff(): AppError {
  return new AppError('forbidden', 'Passwords are turned off here. Sign in the way the sign-in page offers.')
}

/** Names of the teams that the groups of some ways to sign in fill. */
export function listMappedTeams({ providers, proxy }: SignInSettings): string[] {
  const maps = [...providers.map(({ groups }) => groups), proxy?.groups ?? []]
  return maps.flat().flatMap(({ team }) => team?.name ?? [])
}

/** The provider of identities that a reverse proxy vouches for. Those of others are addresses, and a password's is `credential`. */
export const PROXY_PROVIDER = 'proxy'
/** better-auth's name for a password. */
export const PASSWORD_PROVIDER = 'credential'

/** The permanent identity of a person at a provider. */
export interface Identity {
  /** The issuer's address, or {@link PROXY_PROVIDER}. A name from the settings is none: people outlive a renamed provider. */
  readonly provider: string
  readonly subject: string
}

/** Somebody whom a sign-in provider, a proxy or a directory vouches for. */
export interface Arriving extends Identity {
  /** The name to give them; it becomes a legal one, and a free one. */
  readonly name: string
  readonly displayName: string | null
  /** In lower case; only an address the provider has verified. */
  readonly email: string | null
  /** Null: their groups are not known, and their rights stay as they are. */
  readonly grants: Grants | null
  /** Whether an account may be created. */
  readonly allowsNew: boolean
  /** Whether somebody who is no administrator may come first. Default: false */
  readonly allowsFirst?: boolean
}

/** The result of a sign-in by a provider. */
export interface Arrival {
  readonly person: Person
  readonly isNew: boolean
  /** Whether the identity now belongs to an account that was there, because both sides verified its address. Its sessions have ended. */
  readonly isJoined: boolean
  /** Whether rights changed, so that cached sessions are void. */
  readonly hasNewRights: boolean
  /** Whether another account has the address, so that the new one has none. */
  readonly isEmailTaken: boolean
  /** Rights that could not be given or taken away, as sentences for the log. */
  readonly skipped: readonly string[]
}

/** An identity of an account. */
export interface LinkedIdentity extends Identity {
  readonly createdAt: string
}

/** Entries of one map, and groups of one person that are looked at. */
const MAX_MAPPED = 500
const MAX_GROUPS = 2_000
const MAX_GROUP_NAME = 300
/** In a map: the role of administrators, where others name a team. */
const ADMIN = 'admin'

/** The right that a group of a sign-in provider gives: a role in a team, or the role of administrators. */
interface MappedGroup {
  readonly group: string
  /** Null: the role of administrators. */
  readonly team: { readonly name: string; readonly role: TeamRole } | null
}

/** The rights that groups of a sign-in provider, a proxy or a directory give. */
export type GroupMap = readonly MappedGroup[]

/** The rights that somebody's groups give, and those that the map decides about: what it names and does not give is taken away. */
export interface Grants {
  /** By name. */
  readonly teams: ReadonlyMap<string, TeamRole>
  readonly isAdmin: boolean
  readonly decidesTeams: readonly string[]
  readonly decidesAdmin: boolean
}

/** The right of a group, from `TEAM:ROLE`, `TEAM` (a reader of it) or `admin`. @throws AppError `invalid_input`, a clause without a full stop */
function readMeaning(text: string): MappedGroup['team'] {
  if (text === ADMIN) return null
  const [, name = '', role = 'reader'] = /^([^:]*)(?::(.*))?$/.exec(text) ?? []
  const known = TEAM_ROLES.find((one) => one === role)
  if (known === undefined) throw new AppError('invalid_input', `has the role "${role.slice(0, 40)}"; use ${TEAM_ROLES.join(', ')}`)
  const fault = usernameFault(name)
  if (fault !== null) throw new AppError('invalid_input', `has the team "${name.slice(0, 80)}", whose name ${fault}`)
  return { name, role: known }
}

/**
 * A map from pairs of a group and its meanings.
 * @throws AppError `invalid_input`: a clause that ends a sentence which begins with the name of the setting
 */
export function toGroupMap(pairs: readonly (readonly [group: string, meaning: string])[]): GroupMap {
  if (pairs.length > MAX_MAPPED) throw new AppError('invalid_input', `has ${pairs.length} entries; the most are ${MAX_MAPPED}`)
  return pairs.map(([group, meaning]) => {
    if (group === '' || group.length > MAX_GROUP_NAME) {
      throw new AppError('invalid_input', `must name a group of 1 to ${MAX_GROUP_NAME} characters before each =`)
    }
    return { group, team: readMeaning(meaning) }
  })
}

/** A map as a setting has it: `engineering=acme:editor, library-admins=admin`. @throws AppError as {@link toGroupMap} */
export function parseGroupMap(text: string): GroupMap {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  const pairs = entries.map((entry): [string, string] => {
    const at = entry.lastIndexOf('=')
    if (at < 1) throw new AppError('invalid_input', 'must be pairs such as engineering=acme:editor, library-admins=admin')
    return [entry.slice(0, at).trim(), entry.slice(at + 1).trim()]
  })
  return toGroupMap(pairs)
}

/** The rights of somebody in these groups. Of several roles in one team the highest counts. */
export function toGrants(map: GroupMap, groups: readonly string[]): Grants {
  const own = new Set(groups.slice(0, MAX_GROUPS))
  const teams = new Map<string, TeamRole>()
  let isAdmin = false
  for (const { group, team } of map) {
    if (!own.has(group)) continue
    if (team === null) isAdmin = true
    else {
      const held = teams.get(team.name)
      if (held === undefined || TEAM_ROLES.indexOf(team.role) > TEAM_ROLES.indexOf(held)) teams.set(team.name, team.role)
    }
  }
  return {
    teams,
    isAdmin,
    decidesTeams: [...new Set(map.flatMap(({ team }) => (team ? [team.name] : [])))],
    decidesAdmin: map.some(({ team }) => team === null),
  }
}

/** The groups of a claim or a header, whatever its form: a list of texts, or one text with commas. */
export function readGroups(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  return texts.flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : [])).slice(0, MAX_GROUPS)
}
