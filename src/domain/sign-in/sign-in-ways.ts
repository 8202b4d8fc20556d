import { AppError } from '../../errors.ts'
import type { GroupMap } from '../people/groups.ts'

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

/** Passwords alone. */
export const PASSWORDS_ALONE: SignInSettings = { hasPasswords: true, providers: [], proxy: null }

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
