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
