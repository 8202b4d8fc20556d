/** How long a cookie lives, and when browsers send it. It is never there for scripts. */
interface CookieRules {
  readonly maxAgeSeconds: number
  readonly sameSite: 'Lax' | 'Strict'
}

/** `__Host-` (RFC 6265bis, section 4.1.3.2): browsers take it from this host alone, so no sibling domain can plant or replace the cookie. */
function nameCookie(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name
}

/** A `Set-Cookie` header for all pages. An empty value removes the cookie. */
export function writeCookie(name: string, value: string, baseUrl: string, { maxAgeSeconds, sameSite }: CookieRules): string {
  const isSecure = baseUrl.startsWith('https:')
  const maxAge = value === '' ? 0 : maxAgeSeconds
  return `${nameCookie(name, isSecure)}=${value}; Path=/; Max-Age=${maxAge}; SameSite=${sameSite}; HttpOnly${isSecure ? '; Secure' : ''}`
}

/** The value of a cookie in a `Cookie` header, or null. */
export function readCookie(name: string, cookies: string, baseUrl: string): string | null {
  const start = `${nameCookie(name, baseUrl.startsWith('https:'))}=`
  const found = cookies.split(';').find((cookie) => cookie.trimStart().startsWith(start))
  return found?.trim().slice(start.length) ?? null
}
