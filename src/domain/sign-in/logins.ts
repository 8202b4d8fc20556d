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
