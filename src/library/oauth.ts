import type { Scope } from './actor.ts'
import type { ClientOfRequest } from './client-of-request.ts'

/** A connection that is not used for this long ends by itself. */
export const CONNECTION_SECONDS = 30 * 24 * 3600

/** What a program asks a person for. */
export interface ClientRequest {
  readonly clientId: string
  /** What the program calls itself, which nobody has checked. */
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

/** Programs that ask people to sign in (OAuth 2.1). A query is what the consent page was opened with, and is signed. */
export interface OAuthConsents {
  /** Null for a query that is no request of a program that is known. */
  describeRequest(query: string): Promise<ClientRequest | null>
  /**
   * Allows a request.
   * @returns where the person goes back to, and the id of the key that the program's tokens refer to. The caller makes that key
   * @throws AppError `invalid_input` for a query that is not, or no longer, good
   */
  allow(query: string, scopes: readonly Scope[], person: PersonAtBrowser): Promise<{ readonly to: string; readonly keyId: string }>
  /** Says no to a request, and gives where the person goes back to. @throws AppError as `allow` does */
  refuse(query: string, person: PersonAtBrowser): Promise<string>
}
