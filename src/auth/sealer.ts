import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts small texts such as cursors, so that their bearer can neither read nor change them. */
export type Sealer = ReturnType<typeof createSealer>

/**
 * Seals small texts into tokens that can be neither read nor changed by whoever carries them (AES-256-GCM).
 * A token opens only under the purpose it was sealed for (additional authenticated data).
 * @param key 32 bytes in hex; all instances of one service share it
 */
export function createSealer(key: string) {
  const secret = Buffer.from(key, 'hex')
  return {
    /** A key of its own for a purpose, in hex: the same as long as the service keeps its key. */
    keyFor: (purpose: string): string => createHmac('sha256', secret).update(purpose).digest('hex'),
    /** @param purpose what the token is for: it opens for nothing else */
    seal(purpose: string, text: string): string {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, secret, iv)
      cipher.setAAD(Buffer.from(purpose))
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    /** The sealed text, or null when the token is not one of ours. */
    open(purpose: string, token: string): string | null {
      if (!/^[A-Za-z0-9_-]+$/.test(token)) return null
      const bytes = Buffer.from(token, 'base64url')
      if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== token) return null
      const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        return null
      }
    },
  }
}
