import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The prefix of every key. */
const KEY_PREFIX = 'cpb_'
/** The prefix of the token of every install link, but of those that 0.2 made. */
export const LINK_PREFIX = 'cpl_'
const BODY_LENGTH = 43
const CHECK_LENGTH = 6
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_FORM = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECK_LENGTH}}$`)

/**
 * A new key: `cpb_`, 43 base62 characters of 32 random bytes, 6 of the CRC-32 of all that (contract, "Keys").
 * @param random 32 random bytes. Default: from the system
 */
export function createApiKey(random: Uint8Array = randomBytes(32)): string {
  const head = KEY_PREFIX + toBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), BODY_LENGTH)
  return head + toBase62(BigInt(crc32(head)), CHECK_LENGTH)
}

/** Whether a text has the form and check digits of a key, without a lookup. */
export function isWellFormedApiKey(text: string): boolean {
  if (!KEY_FORM.test(text)) return false
  const head = text.slice(0, -CHECK_LENGTH)
  return text.slice(-CHECK_LENGTH) === toBase62(BigInt(crc32(head)), CHECK_LENGTH)
}

/** The stored form of a key: its SHA-256, in hex. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Whether a bearer value means to be one of our keys, or the token of a link; others belong to somebody else's scheme. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(KEY_PREFIX) || text.startsWith(LINK_PREFIX)
}

function toBase62(number: bigint, length: number): string {
  let digits = ''
  for (let rest = number; rest > 0n; rest /= 62n) digits = BASE62.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}
