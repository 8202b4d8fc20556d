import type { Scope } from '../people/actor.ts'
import type { ClientOfRequest } from '../people/client-of-request.ts'

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
