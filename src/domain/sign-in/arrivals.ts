import type { Grants } from '../people/groups.ts'
import type { Person } from '../people/people.ts'

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
