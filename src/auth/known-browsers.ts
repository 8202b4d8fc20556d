import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readCookie, writeCookie } from '../domain/sign-in/cookies.ts'

const COOKIE = 'commonplace.known'
const MAX_AGE_SECONDS = 365 * 24 * 3600
const NONCE_BYTES = 16
const SHAPE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Browsers with a device cookie from an earlier sign-in: failures of others at the account do not count against them (OWASP, "Slow Down
 * Online Guessing Attacks with Device Cookies"). The cookie signs nobody in, and reveals nothing without the id of the account.
 * @param settings.secret signs the cookies
 */
export function createKnownBrowsers({ secret, baseUrl }: { readonly secret: string; readonly baseUrl: string }) {
  const sign = (nonce: string, account: string) => createHmac('sha256', secret).update(`known browser ${nonce} ${account}`).digest()
  return {
    /** The name of this browser at this account, or null. */
    find(cookies: string, account: string): string | null {
      const [, nonce, mac] = SHAPE.exec(readCookie(COOKIE, cookies, baseUrl) ?? '') ?? []
      if (nonce === undefined || mac === undefined) return null
      return timingSafeEqual(Buffer.from(mac, 'base64url'), sign(nonce, account)) ? `${account} ${nonce}` : null
    },
    /** A Set-Cookie header for a browser that has just signed in to this account. */
    make(account: string): string {
      const nonce = randomBytes(NONCE_BYTES).toString('base64url')
      const value = `${nonce}.${sign(nonce, account).toString('base64url')}`
      return writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: MAX_AGE_SECONDS, sameSite: 'Lax' })
    },
  }
}
