import type { Arriving } from './arrivals.ts'
import type { ProviderSettings } from './sign-in-ways.ts'

/** What a browser keeps sealed between leaving for a provider and coming back. */
interface Journey {
  readonly state: string
  /** Null where the provider issues no ID tokens. */
  readonly nonce: string | null
  /** Of PKCE (RFC 7636). */
  readonly verifier: string
}

/** Sign-in by other services: OpenID Connect, and GitHub's OAuth. */
export interface Providers {
  readonly list: readonly ProviderSettings[]
  /**
   * The address at the provider to which a browser is sent.
   * @throws AppError `upstream_failed` when the provider cannot be reached, or is not what the settings say
   */
  begin(provider: ProviderSettings, redirectUri: string): Promise<{ readonly url: string; readonly journey: Journey }>
  /**
   * Checks the answer of a provider and reads who came. No token is kept.
   * @param answered the address to which the provider sent the browser back, with its query
   * @throws AppError `upstream_failed`, or `forbidden` when the provider or its settings let this person not in
   */
  finish(provider: ProviderSettings, answered: URL, journey: Journey): Promise<Arriving>
}
