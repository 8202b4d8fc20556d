import type { Grants } from '../groups.ts'
import type { Person } from './people.ts'

/** The provider of identities that a reverse proxy vouches for. Those of others are addresses, and a password's is `credential`. */
export const PROXY_PROVIDER = 'proxy'
/** better-auth's name for a password. */
export const PASSWORD_PROVIDER = 'credential'

/** Who somebody is at a provider, for ever. */
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

/** What came of an arrival. */
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
interface LinkedIdentity extends Identity {
  readonly createdAt: string
}

/** People whom somebody else vouches for, and their identities. */
export interface ArrivalStore {
  /**
   * THE way in for sign-in providers and proxies: finds the account of an identity, or makes one under a free name, and gives
   * and takes rights by groups. Never attaches to a name that is reserved, taken, a placeholder's or a former one.
   * @throws AppError `forbidden` for a suspended account, and where no account may be created
   */
  arrive(arriving: Arriving): Promise<Arrival>
  /** Makes the teams that group maps name, before somebody else takes a name. @returns sentences about those that groups cannot fill */
  reserveTeams(names: readonly string[]): Promise<readonly string[]>
  /** Also that of a password. */
  listIdentities(userId: string): Promise<readonly LinkedIdentity[]>
  /**
   * Gives an account another identity; all its sessions but one end.
   * @throws AppError `conflict` when the identity is of another account, or the account has another one at the same provider
   */
  connectIdentity(userId: string, identity: Identity, keptSessionId: string | null): Promise<void>
  /**
   * Takes an identity from an account.
   * @param usable the providers by which people can sign in now
   * @throws AppError `not_found`, `conflict` for the last way in
   */
  disconnectIdentity(userId: string, provider: string, usable: readonly string[]): Promise<void>
  /** Lets a person without a login have sessions. Does nothing for one who has it. @throws AppError `not_found` */
  ensureLogin(userId: string): Promise<void>
}
