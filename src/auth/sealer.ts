import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals small texts into tokens that can be neither read nor changed by whoever carries them (AES-256-GCM).
 * A token opens only under the purpose it was sealed for (additional authenticated data).
 * @param key 32 bytes in hex; all instances of one service share it
 */
export function createSealer(key: string): {
  seal(purpose: string, text: string): string
  open(purpose: string, token: string): string | null
} {
  const secret = Buffer.from(key, 'hex')
  return {
    seal(purpose, text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, secret, iv)
      cipher.setAAD(Buffer.from(purpose))
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open(purpose, token) {
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
