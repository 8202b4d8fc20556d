import type { Scope, Within } from '../people/actor.ts'
import type { ClientOfRequest } from '../ports/environment.ts'

/** An API key, or an install link, as stored: everything but the key or the token. */
export interface StoredKey {
  readonly id: string
  readonly name: string
  readonly userId: string
  readonly username: string
  readonly scopes: readonly Scope[]
  /** Its restriction; null for all that its owner sees. */
  readonly within: Within | null
  /** The program that holds it by OAuth; null for a key that a person holds. */
  readonly clientId: string | null
  /** Of an install link: the path of its scope, empty for everything its maker may see. Null for a key. */
  readonly path: string | null
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
export interface TokenKey {
  readonly key: StoredKey
  readonly scopes: readonly Scope[]
  /** The addresses it is for. */
  readonly resources: readonly string[]
}

/** A token, and whose it is. */
export interface OwnedToken {
  /** Of the key. */
  readonly id: string
  readonly isRefresh: boolean
  readonly isRevoked: boolean
  /** Of a refresh token that was used, longer ago than its answer may be repeated. */
  readonly isUsedUp: boolean
}

/** A connection that is not used for this long ends by itself. */
export const CONNECTION_SECONDS = 30 * 24 * 3600

/** The request of a program to a person. */
export interface ClientRequest {
  readonly clientId: string
  /** The name that the program gives itself, which nobody has checked. */
  readonly name: string
  /** The host of the document that describes the program; null for one that registered itself. */
  readonly publishedBy: string | null
  /** Where the person is sent back to: an origin, or the scheme of an app. */
  readonly returnsTo: string
  readonly scopes: readonly Scope[]
}

/** A person, and the browser they sit at. */
export interface PersonAtBrowser {
  readonly userId: string
  readonly client: ClientOfRequest
}
