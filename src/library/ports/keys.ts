import type { Scope, Within } from '../actor.ts'

/** An API key as stored: everything but the key. */
export interface StoredKey {
  readonly id: string
  readonly name: string
  readonly userId: string
  readonly username: string
  readonly scopes: readonly Scope[]
  /** What it is narrowed to; null for all that its owner sees. */
  readonly within: Within | null
  /** The program that holds it by OAuth; null for a key that a person holds. */
  readonly clientId: string | null
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  /** Whether its owner's account is suspended: no key of theirs works meanwhile. */
  readonly isSuspended: boolean
  /** The day on which its owner was last seen. */
  readonly seenOn: string | null
}

/** A key as one token of a program may use it. */
interface TokenKey {
  readonly key: StoredKey
  readonly scopes: readonly Scope[]
  /** The addresses it is for. */
  readonly resources: readonly string[]
}

/** A token, and whose it is. */
interface OwnedToken {
  /** Of the key. */
  readonly id: string
  readonly isRefresh: boolean
  readonly isRevoked: boolean
  /** Of a refresh token that was used, longer ago than its answer may be repeated. */
  readonly isUsedUp: boolean
}

/** API keys. Only their digests are stored. */
export interface KeyStore {
  /** Forgets keys that were over for more than 30 days. A connection beyond MAX_PROGRAMS ends one of the program with most of them, the one unused longest. @throws AppError `not_found`, `conflict` for somebody with MAX_KEYS keys that work */
  createKey(key: {
    name: string
    userId: string
    sha256: string
    scopes: readonly Scope[]
    expiresAt: string | null
    /** Default: null */
    within?: Within | null
    /** For what a program holds by OAuth: its client, the id that its tokens refer to, and the session that allowed it. Default: null */
    connection?: { readonly id: string; readonly clientId: string; readonly madeBy: string | null } | null
  }): Promise<StoredKey>
  findKey(sha256: string): Promise<StoredKey | null>
  /** The key that an access token acts for; null for a token that is unknown or over. */
  findTokenKey(sha256: string): Promise<TokenKey | null>
  /** What an access or refresh token is, whether it works or not. */
  findKeyOfToken(sha256: string): Promise<OwnedToken | null>
  /** Sets when a key ends that has not ended. */
  extendKey(id: string, expiresAt: string): Promise<void>
  /** Everybody's, or one person's in the order they were made: at most 200, those that work and then the newest. */
  listKeys(username: string | null): Promise<StoredKey[]>
  /** With what it made: links, and programs. */
  revokeKey(id: string): Promise<StoredKey | null>
  /** Ends a person's keys, programs and install links. */
  revokeEverything(userId: string): Promise<void>
  /** Ends the links and programs that keys or sessions of these ids made. */
  endGrantsOf(makers: readonly string[]): Promise<void>
  /** Those of these keys that are revoked, expired, of a suspended account, or not there. */
  findOverKeys(ids: readonly string[]): Promise<string[]>
  /** Notes that a key was used now. */
  touchKey(id: string): Promise<void>
}
