import type { AuditAction } from '../service/audit.ts'

/** The tables better-auth keeps its rows in. */
export const LOGIN_TABLES = [
  'login',
  'login_account',
  'login_session',
  'login_verification',
  'login_factor',
  'login_recovery_code',
  'login_passkey',
  'oauth_client',
  'oauth_resource',
  'oauth_client_resource',
  'oauth_refresh_token',
  'oauth_access_token',
  'oauth_consent',
  'oauth_client_assertion',
] as const
export type LoginTable = (typeof LOGIN_TABLES)[number]

/** A row of one of them, by column. */
export type LoginRow = Readonly<Record<string, string | number | null>>

/** Narrows rows; conditions joined by OR are alternatives of each other. */
export interface LoginCondition {
  readonly field: string
  readonly operator: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'not_in'
  readonly value: string | number | null | readonly (string | number)[]
  readonly connector: 'AND' | 'OR'
}

/** The event of a change of rows, when there were any. */
export interface LoginEvent {
  readonly action: AuditAction
  readonly userId: string
}

/** Sends a mail of plain text. @throws AppError `upstream_failed` */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<void>

/** A browser that is signed in. */
export interface BrowserSession {
  readonly id: string
  readonly userAgent: string | null
  readonly address: string | null
  readonly createdAt: string
  /** Renewed once a day while it is used. */
  readonly updatedAt: string
  readonly expiresAt: string
  /** Whether it was opened from a browser that was not known, and the person has not seen the notice. */
  readonly isUnseen: boolean
}

/** The result of a sign-in. `cookies` are Set-Cookie headers. */
export interface SignedIn {
  readonly cookies: string[]
  /** Whether a second step is due: there is no session yet. */
  readonly isPending: boolean
  /** The person whose session was opened from an unknown browser; null for a known one. */
  readonly newBrowserOf: string | null
}

/** The people who must have a second factor. */
export type SecondFactorRule = 'optional' | 'admins' | 'everybody'

/** Recovery codes that a person gets at once. */
export const RECOVERY_CODES = 10
/** Passkeys one person may have. */
export const MAX_PASSKEYS = 20
/** A passkey, without its key. */
interface Passkey {
  readonly id: string
  readonly name: string | null
  readonly createdAt: string | null
  readonly usedAt: string | null
}

/** The proofs of a person beside a password. */
export interface SignInFactors {
  /** The codes of an app; null where they are off. */
  readonly codes: { readonly since: string; readonly recoveryCodesLeft: number } | null
  readonly passkeys: readonly Passkey[]
}

/** A part of a user agent, and the name of its browser: the first that matches, as most also name the ones they derive from. */
const BROWSERS = [
  [/\bEdgi?A?(?:OS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const
const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
] as const
/** Longest piece of a user agent that is shown as it is. */
const MAX_SHOWN = 40

/** A browser in words, such as "Firefox on Linux"; null when it did not say what it is. */
export function describeBrowser(userAgent: string | null): string | null {
  if (userAgent === null || userAgent === '') return null
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? userAgent.slice(0, MAX_SHOWN)
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}

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
