import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { base32 } from '@better-auth/utils/base32'
import { createOTP } from '@better-auth/utils/otp'
import { RECOVERY_CODES } from '../../domain/sign-in/factors.ts'

/** Seconds for which an app shows one code (RFC 6238, section 5.2). */
const STEP_SECONDS = 30
/** Steps by which the clock of a telephone may be wrong. */
const SKEW_STEPS = 1
/** 128 bits, the least that RFC 4226 allows in section 4. */
const SECRET_BYTES = 16
/** 80 bits: nobody finds a code from its SHA-256. */
const RECOVERY_BYTES = 10
const CODE = /^\d{6}$/
const RECOVERY_CODE = /^[a-z2-7]{16}$/

/** A new secret. It is letters: the library signs with the bytes of a text. */
export function makeSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** A secret as people type it into an app, and the address that apps read from a picture. */
export function showSecret(secret: string, issuer: string, account: string): { readonly secret: string; readonly uri: string } {
  return { secret: base32.encode(secret, { padding: false }), uri: createOTP(secret).url(issuer, account) }
}

/** A typed code without spaces and hyphens. */
export function readCode(typed: string): { readonly kind: 'code' | 'recovery'; readonly value: string } | null {
  const value = typed.replaceAll(/[\s-]/g, '').toLowerCase()
  if (CODE.test(value)) return { kind: 'code', value }
  return RECOVERY_CODE.test(value) ? { kind: 'recovery', value } : null
}

/** The step that a code is of, or null. One step before and after now will do. */
export async function findStep(secret: string, code: string, nowMs: number): Promise<number | null> {
  const otp = createOTP(secret)
  const now = Math.floor(nowMs / 1000 / STEP_SECONDS)
  let found: number | null = null
  // All are looked at, so that the time does not tell which one it was.
  for (let step = now - SKEW_STEPS; step <= now + SKEW_STEPS; step++) {
    if (timingSafeEqual(Buffer.from(await otp.hotp(step)), Buffer.from(code))) found = step
  }
  return found
}

/** New recovery codes, as they are shown. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = base32.encode(randomBytes(RECOVERY_BYTES), { padding: false }).toLowerCase()
    return text.replaceAll(/.{4}(?=.)/g, '$&-')
  })
}

/** The stored form of a recovery code without hyphens. */
export function hashRecoveryCode(value: string): string {
  return createHash('sha256').update(`recovery code ${value}`).digest('hex')
}
