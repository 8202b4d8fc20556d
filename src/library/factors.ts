import type { ClientOfRequest } from './client-of-request.ts'

/** Who has to have a second factor. */
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

/** What a person proves beside a password. */
export interface SignInFactors {
  /** The codes of an app; null where they are off. */
  readonly codes: { readonly since: string; readonly recoveryCodesLeft: number } | null
  readonly passkeys: readonly Passkey[]
}

/** A new secret for an app: as text, as the address that apps read from a picture, and sealed for the form that turns codes on. */
interface NewCodes {
  readonly secret: string
  readonly uri: string
  readonly token: string
}

/** Codes of apps (TOTP, RFC 6238) and passkeys (WebAuthn). `cookies` are Set-Cookie headers. */
export interface Factors {
  find(userId: string): Promise<SignInFactors>
  /** A new secret, or that of a token that is still good; nothing is kept. */
  startCodes(userId: string, account: string, token: string): NewCodes
  /**
   * Turns codes on with a first one.
   * @returns the recovery codes, which are not shown again
   * @throws AppError `invalid_input` naming the field, `conflict` when they are on
   */
  confirmCodes(userId: string, token: string, code: string): Promise<string[]>
  /** @throws AppError `conflict` when codes are off */
  renewRecoveryCodes(userId: string): Promise<string[]>
  /** @throws AppError `conflict` when codes are off */
  removeCodes(userId: string): Promise<void>
  /** Takes all factors of somebody away; false when there were none. */
  reset(userId: string): Promise<boolean>
  /**
   * What a browser needs to make a passkey, as JSON.
   * @throws AppError `conflict` for somebody with too many
   */
  startPasskey(person: { userId: string; username: string }, client: ClientOfRequest): Promise<{ options: string; cookies: string[] }>
  /** @throws AppError `invalid_input` for what is not what was asked for */
  addPasskey(answer: unknown, name: string, client: ClientOfRequest): Promise<{ cookies: string[] }>
  /** False when the person has no such passkey. */
  removePasskey(userId: string, id: string): Promise<boolean>
  /** What a browser needs to sign in with a passkey, as JSON. */
  startPasskeySignIn(client: ClientOfRequest): Promise<{ options: string; cookies: string[] }>
}
