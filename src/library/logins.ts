import type { AuditAction } from './audit.ts'
import type { ClientOfRequest } from './client-of-request.ts'
import type { Factors } from './factors.ts'

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

/** What happens to rows of logins, by its name in the audit log. */
export type LoginAction = Extract<
  AuditAction,
  | 'sign_in_link_created'
  | 'signed_in'
  | 'second_step_failed'
  | 'sessions_ended'
  | 'password_changed'
  | 'password_reset'
  | 'reset_link_created'
  | 'factor_added'
  | 'factor_removed'
  | 'factors_reset'
  | 'recovery_code_used'
  | 'recovery_codes_renewed'
  | 'passkey_added'
  | 'passkey_removed'
>

/** What a change of rows is recorded as, when there were any. */
export interface LoginEvent {
  readonly action: LoginAction
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

/** What came of a sign-in. `cookies` are Set-Cookie headers. */
export interface SignedIn {
  readonly cookies: string[]
  /** Whether a second step is due: there is no session yet. */
  readonly isPending: boolean
  /** Whose session was opened from a browser that was not known; null for a known one. */
  readonly newBrowserOf: string | null
}

/** Passwords and the sessions of browsers. `cookies` are Set-Cookie headers to send. */
export interface Logins {
  hashPassword(password: string): Promise<string>
  /**
   * Counts a sign-up.
   * @throws AppError `rate_limited`
   */
  countSignUp(client: ClientOfRequest): Promise<void>
  /** Signs in after sign-up, regardless of failures from the same address. No cookies if it failed. */
  signInNew(login: { name: string; password: string }, client: ClientOfRequest): Promise<{ cookies: string[] }>
  /** @throws AppError `unauthenticated` in the same words and time whatever is wrong, `rate_limited` after too many failures */
  signIn(login: { name: string; password: string; isRemembered: boolean }, client: ClientOfRequest): Promise<SignedIn>
  /** Whose password was right in this browser a moment ago; null when no second step is due. */
  findSecondStep(client: ClientOfRequest): Promise<string | null>
  /** @throws AppError `unauthenticated` in the same words whatever is wrong with the code, `rate_limited`, `forbidden` for a suspended account */
  finishSignIn(code: string, client: ClientOfRequest): Promise<SignedIn>
  /** @throws AppError `unauthenticated`, `rate_limited`, `forbidden` for a suspended account */
  signInWithPasskey(answer: object, client: ClientOfRequest): Promise<SignedIn>
  /** Signs in somebody whom a provider, a link or a proxy vouches for. The caller has refused suspended accounts. */
  startSession(userId: string, client: ClientOfRequest): Promise<{ cookies: string[] }>
  /** Whether somebody can confirm who they are by a password. */
  hasPassword(userId: string): Promise<boolean>
  /** Whether a session was begun within FRESH_MINUTES. */
  isFreshSession(userId: string, sessionId: string | undefined): Promise<boolean>
  /** A token that signs somebody in once, within ten minutes. It is stored as a hash. */
  createSignInToken(userId: string): Promise<string>
  /** Whose token this is; it stays good. */
  findSignInToken(token: string): Promise<string | null>
  /** Whose token this was; it is used up. */
  useSignInToken(token: string): Promise<string | null>
  signOut(client: ClientOfRequest): Promise<{ cookies: string[] }>
  hasPassword(userId: string): Promise<boolean>
  /** Whether a session was opened moments ago. */
  isFreshSession(userId: string, sessionId: string | undefined): Promise<boolean>
  /** @throws AppError `rate_limited` */
  isPasswordOf(userId: string, password: string): Promise<boolean>
  /** Sets a password, and ends all sessions but `keptSessionId`. */
  setPassword(userId: string, password: string, keptSessionId: string | null): Promise<void>
  /**
   * A token with which a new password can be set once, within an hour. `isAsked`: anybody may request it, so requests are limited.
   * @throws AppError `rate_limited`
   */
  createResetToken(userId: string, isAsked: boolean): Promise<string>
  /** Whose token this is; it stays good. */
  findResetToken(token: string): Promise<string | null>
  /** Sets a password by a token, which is used up, and ends all sessions. False when the token is not, or no longer, good. */
  resetPassword(token: string, password: string): Promise<boolean>
  listSessions(userId: string): Promise<BrowserSession[]>
  /** Notes that the person saw the notices of all sessions but `sessionId`, which may be the one they warn of. */
  markSessionsSeen(userId: string, sessionId: string | undefined): Promise<void>
  /** Ends one session of a user, or all but `keptSessionId`, with what they made; that stays at a pause. Felt on the next request. */
  endSession(userId: string, sessionId: string): Promise<boolean>
  endSessions(userId: string, keptSessionId: string | null, isPause?: boolean): Promise<void>
  /** Ends the links for a new password that are out. A new password does so by itself. */
  endResetLinks(userId: string): Promise<void>
  /** Call when the rights of a session changed in another way; notifies the other instances. */
  forgetSessions(): Promise<void>
  readonly factors: Factors
}
