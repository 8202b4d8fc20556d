import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { hashPassword, verifyPassword } from 'better-auth/crypto'
import pLimit from 'p-limit'
import { z } from 'zod'
import type { PasswordHash } from '../domain/people/account.ts'
import { AppError } from '../errors.ts'

/** OWASP: N = 2^17, r = 8, p = 1, which takes 128 MiB while it works; better-auth's 2^14, 16 and 1 take 32. */
const OWASP = { ln: 17, r: 8, p: 1 } as const
const KEY_BYTES = 32
const SALT_BYTES = 16
/** Highest cost accepted from a stored hash, so that a corrupt one cannot exhaust memory. */
const MAX_LN = 20

/** `$scrypt$ln=17,r=8,p=1$SALT$KEY`, as the PHC string format writes it (base64 without padding). */
const PHC = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/
const costShape = z.object({
  ln: z.coerce.number().int().min(1).max(MAX_LN),
  r: z.coerce.number().int().min(1).max(32),
  p: z.coerce.number().int().min(1).max(4),
})

function derive(password: string, salt: Buffer, { ln, r, p }: z.infer<typeof costShape>, length: number): Promise<Buffer> {
  const N = 2 ** ln
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key))
    scrypt(password.normalize('NFKC'), salt, length, { N, r, p, maxmem: 2 * 128 * N * r }, done)
  })
}

/** Bytes that hashing one password takes while it works. */
export function hashingMemory(kind: PasswordHash): number {
  return kind === 'owasp' ? 128 * 2 ** OWASP.ln * OWASP.r : 128 * 2 ** 14 * 16
}

/** Whether a hash is weaker than what is asked for now. */
export function isWeakerHash(hash: string, kind: PasswordHash): boolean {
  return kind === 'owasp' && !hash.startsWith('$scrypt$')
}

/** Makes hashes of one kind, and checks those of either, so that the setting may change at any time. */
export function passwordHasher(kind: PasswordHash): PasswordHasher {
  const verify = async ({ hash, password }: { hash: string; password: string }): Promise<boolean> => {
    const [, ln, r, p, salt = '', key = ''] = PHC.exec(hash) ?? []
    if (ln === undefined) return await verifyPassword({ hash, password })
    const expected = Buffer.from(key, 'base64')
    const derived = await derive(password, Buffer.from(salt, 'base64'), costShape.parse({ ln, r, p }), expected.length)
    return timingSafeEqual(derived, expected)
  }
  if (kind === 'standard') return { hash: hashPassword, verify }
  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      // Unknown users also cost one hash, so that the time reveals nothing.
      await hashPassword(password)
      const key = await derive(password, salt, OWASP, KEY_BYTES)
      const plain = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
      return `$scrypt$ln=${OWASP.ln},r=${OWASP.r},p=${OWASP.p}$${plain(salt)}$${plain(key)}`
    },
    async verify(attempt) {
      const isOld = isWeakerHash(attempt.hash, kind)
      if (!isOld) await hashPassword(attempt.password)
      const isRight = await verify(attempt)
      // A correct password is rehashed afterwards.
      if (isOld && !isRight) await derive(attempt.password, randomBytes(SALT_BYTES), OWASP, KEY_BYTES)
      return isRight
    },
  }
}

/** Memory for hashing, and most hashes at once: each also takes a core. */
const MAX_MEMORY = 128 * 2 ** 20
const MAX_AT_ONCE = 2
/** Those that may wait for each place; more get `unavailable`. */
const MAX_WAITING = 50

/** Makes and checks hashes of passwords. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  verify(attempt: { hash: string; password: string }): Promise<boolean>
}

/**
 * Hashes a few passwords at a time, in order, so that many sign-ins cost no more memory than a few. Its functions throw AppError
 * `unavailable` when too many wait.
 * @param memory bytes of one hash
 */
export function queueHashing(hasher: PasswordHasher, memory: number): PasswordHasher {
  const atOnce = Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(MAX_MEMORY / memory)))
  const limit = pLimit(atOnce)
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= MAX_WAITING * atOnce) {
      throw new AppError('unavailable', 'Too many people are signing in. Try again in a moment.', { retryAfterSeconds: 5 })
    }
    return await limit(work)
  }
  return {
    hash: (password) => inTurn(() => hasher.hash(password)),
    verify: (attempt) => inTurn(() => hasher.verify(attempt)),
  }
}
