import { AsyncLocalStorage } from 'node:async_hooks'

/** The prefixes of access and refresh tokens. They are found by their digest as a whole. */
export const ACCESS_TOKEN_PREFIX = 'cpo_'
export const REFRESH_TOKEN_PREFIX = 'cpr_'

/** Whether a bearer value means to be an access token of ours. */
export function looksLikeAccessToken(text: string): boolean {
  return text.startsWith(ACCESS_TOKEN_PREFIX)
}

/** The id of the key that a consent which is being given belongs to. */
export const consentKey = new AsyncLocalStorage<string>()
