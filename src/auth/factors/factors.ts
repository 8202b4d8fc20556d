import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { base32 } from '@better-auth/utils/base32'
import { createOTP } from '@better-auth/utils/otp'
import { z } from 'zod'
import type { Clock } from '../../domain/ports/environment.ts'
import { type LoginCondition, RECOVERY_CODES, type SecondFactorRule, type SignInFactors } from '../../domain/sign-in/logins.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { isEqual } from '../login-adapter.ts'
import type { Sealer } from '../sealer.ts'
import type { Passkeys } from './passkeys.ts'

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
function makeRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const text = base32.encode(randomBytes(RECOVERY_BYTES), { padding: false }).toLowerCase()
    return text.replaceAll(/.{4}(?=.)/g, '$&-')
  })
}

/** The stored form of a recovery code without hyphens. */
function hashRecoveryCode(value: string): string {
  return createHash('sha256').update(`recovery code ${value}`).digest('hex')
}

/** How long the form with a new secret can be sent. */
const NEW_CODES_MS = 30 * 60_000
/** Rows of passkeys that are read: more than anybody has. */
const MAX_ROWS = 100

const factorRow = z.object({ secret: z.string(), created_at: z.string() })
const passkeyRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  created_at: z.string().nullable(),
  used_at: z.string().nullable(),
})
const newCodes = z.object({ secret: z.string(), until: z.number() })

/** The settings that factors use. */
export interface FactorSettings {
  readonly sealer: Sealer
  readonly clock: Clock
  /** The people who must have one. */
  readonly secondFactor: SecondFactorRule
  /** The name by which apps show the codes of this library. */
  readonly issuer: string
}

/** A new secret for an app: as text, as the address that apps read from a picture, and sealed for the form that turns codes on. */
interface NewCodes {
  readonly secret: string
  readonly uri: string
  readonly token: string
}

/** Codes of apps (TOTP, RFC 6238) and passkeys (WebAuthn). `cookies` are Set-Cookie headers. */
export type FactorService = ReturnType<typeof createFactors>

/** Whether somebody has a factor. */
export function hasFactor({ codes, passkeys }: SignInFactors): boolean {
  return codes !== null || passkeys.length > 0
}

type FactorStore = Pick<LibraryStore, 'logins' | 'inTransaction'>

export function createFactors(store: FactorStore, passkeys: Passkeys, settings: FactorSettings) {
  const { sealer, clock, secondFactor, issuer } = settings
  const purposeOf = (userId: string) => `codes of ${userId}`
  const newPurposeOf = (userId: string) => `new codes of ${userId}`
  const now = () => new Date(clock()).toISOString()

  /** The secret in the token of a form; null when it is too old, or no token of this person. */
  const openNew = (userId: string, token: string): string | null => {
    const opened = sealer.open(newPurposeOf(userId), token)
    if (opened === null) return null
    const { secret, until } = newCodes.parse(JSON.parse(opened))
    return until < clock() ? null : secret
  }
  const findFactor = async (userId: string) => {
    const [row] = await store.logins.findLoginRows('login_factor', [isEqual('user_id', userId)], { limit: 1, offset: 0 })
    return row ? factorRow.parse(row) : null
  }
  /** New recovery codes in the place of all others. */
  const putRecoveryCodes = async ({ logins }: Pick<LibraryStore, 'logins'>, userId: string): Promise<string[]> => {
    const codes = makeRecoveryCodes()
    await logins.deleteLoginRows('login_recovery_code', [isEqual('user_id', userId)], null)
    for (const code of codes) {
      const sha256 = hashRecoveryCode(code.replaceAll('-', ''))
      await logins.insertLoginRow('login_recovery_code', { id: crypto.randomUUID(), user_id: userId, sha256 })
    }
    return codes
  }
  const areOff = () => new AppError('conflict', 'Codes are not turned on for this account.')
  const areOn = () => new AppError('conflict', 'Codes are turned on already. Turn them off first to use another app.')

  return {
    ...passkeys,
    /** Whether somebody of this role has to have a factor. */
    isRequiredOf: (role: 'admin' | 'user'): boolean => secondFactor === 'everybody' || (secondFactor === 'admins' && role === 'admin'),
    async find(userId: string): Promise<SignInFactors> {
      const [factor, recoveryCodesLeft, rows] = await Promise.all([
        findFactor(userId),
        store.logins.countLoginRows('login_recovery_code', [isEqual('user_id', userId)]),
        store.logins.findLoginRows('login_passkey', [isEqual('user_id', userId)], {
          limit: MAX_ROWS,
          offset: 0,
          sortBy: { field: 'created_at', direction: 'asc' },
        }),
      ])
      return {
        codes: factor ? { since: factor.created_at, recoveryCodesLeft } : null,
        passkeys: rows.map((row) => {
          const { id, name, created_at: createdAt, used_at: usedAt } = passkeyRow.parse(row)
          return { id, name, createdAt, usedAt }
        }),
      }
    },
    /** A new secret, or that of a token that is still good; nothing is kept. */
    startCodes(userId: string, account: string, token: string): NewCodes {
      const secret = openNew(userId, token) ?? makeSecret()
      const sealed = sealer.seal(newPurposeOf(userId), JSON.stringify({ secret, until: clock() + NEW_CODES_MS }))
      return { ...showSecret(secret, issuer, account), token: sealed }
    },
    /**
     * Turns codes on with a first one.
     * @returns the recovery codes, which are not shown again
     * @throws AppError `invalid_input` naming the field, `conflict` when they are on
     */
    async confirmCodes(userId: string, token: string, typed: string): Promise<string[]> {
      const secret = openNew(userId, token)
      if (secret === null) throw new AppError('conflict', 'This form is too old. Scan the new picture, and enter a code.')
      const code = readCode(typed)
      const step = code?.kind === 'code' ? await findStep(secret, code.value, clock()) : null
      if (step === null) throw invalidInput('code', 'Wrong code. Enter the six digits that the app shows now.')
      const row = {
        id: crypto.randomUUID(),
        user_id: userId,
        secret: sealer.seal(purposeOf(userId), secret),
        last_step: step,
        created_at: now(),
      }
      try {
        return await store.inTransaction(async (transaction) => {
          await transaction.logins.insertLoginRow('login_factor', row, { action: 'factor_added', userId })
          return await putRecoveryCodes(transaction, userId)
        })
      } catch (error) {
        // Each person has one at most.
        throw (await findFactor(userId)) ? areOn() : error
      }
    },
    /** @throws AppError `conflict` when codes are off */
    async renewRecoveryCodes(userId: string): Promise<string[]> {
      return await store.inTransaction(async (transaction) => {
        const event = { action: 'recovery_codes_renewed', userId } as const
        const kept = { user_id: userId }
        const factors = await transaction.logins.updateLoginRows('login_factor', [isEqual('user_id', userId)], kept, event)
        if (factors.length === 0) throw areOff()
        return await putRecoveryCodes(transaction, userId)
      })
    },
    /** @throws AppError `conflict` when codes are off */
    async removeCodes(userId: string): Promise<void> {
      await store.inTransaction(async ({ logins }) => {
        const removed = await logins.deleteLoginRows('login_factor', [isEqual('user_id', userId)], null, {
          action: 'factor_removed',
          userId,
        })
        if (removed.length === 0) throw areOff()
        await logins.deleteLoginRows('login_recovery_code', [isEqual('user_id', userId)], null)
      })
    },
    /** Takes all factors of somebody away; false when there were none. */
    async reset(userId: string): Promise<boolean> {
      return await store.inTransaction(async ({ logins }) => {
        const owned = [isEqual('user_id', userId)]
        const codes = await logins.countLoginRows('login_factor', owned)
        const event = { action: 'factors_reset', userId } as const
        const removed = await logins.deleteLoginRows('login_factor', owned, null, event)
        const keys = await logins.deleteLoginRows('login_passkey', owned, null, codes === 0 ? event : undefined)
        await logins.deleteLoginRows('login_recovery_code', owned, null)
        return removed.length + keys.length > 0
      })
    },
    /** Whether the code, or the recovery code, is this person's; it is used up. */
    async useCode(userId: string, typed: string): Promise<boolean> {
      const code = readCode(typed)
      if (!code) return false
      if (code.kind === 'recovery') {
        const found = [isEqual('user_id', userId), isEqual('sha256', hashRecoveryCode(code.value))]
        const event = { action: 'recovery_code_used', userId } as const
        return (await store.logins.deleteLoginRows('login_recovery_code', found, null, event)).length > 0
      }
      const factor = await findFactor(userId)
      const secret = factor && sealer.open(purposeOf(userId), factor.secret)
      if (factor && secret === null) {
        throw new AppError(
          'conflict',
          'The codes of this account were made with another SECRET_KEY. Use a recovery code or ask an administrator.',
        )
      }
      const step = secret ? await findStep(secret, code.value, clock()) : null
      if (step === null) return false
      // Of two that come with the same code, one finds the row.
      const unused: LoginCondition = { field: 'last_step', operator: 'lt', value: step, connector: 'AND' }
      return (await store.logins.updateLoginRows('login_factor', [isEqual('user_id', userId), unused], { last_step: step })).length > 0
    },
  }
}
