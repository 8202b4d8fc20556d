import type { LoginRow, Logins } from '../library/logins.ts'
import type { LibraryStore } from '../storage/store.ts'
import { hashToken, isEqual } from './login-adapter.ts'

/** How long a sign-in link is good. */
const SIGN_IN_LINK_MS = 600_000

/** Links that sign in once, without a password. */
export function createSignInLinks(
  records: LibraryStore['logins'],
): Pick<Logins, 'createSignInToken' | 'findSignInToken' | 'useSignInToken'> {
  const isSignInLink = (token: string) => [isEqual('identifier', toSignInIdentifier(token))]
  return {
    async createSignInToken(userId) {
      const now = new Date().toISOString()
      await records.deleteLoginRows('login_verification', [{ field: 'expires_at', operator: 'lt', value: now, connector: 'AND' }], null)
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
      const expiresAt = new Date(Date.now() + SIGN_IN_LINK_MS).toISOString()
      const row = { id: crypto.randomUUID(), identifier: toSignInIdentifier(token), value: userId, expires_at: expiresAt }
      const event = { action: 'sign_in_link_created', userId } as const
      await records.insertLoginRow('login_verification', { ...row, created_at: now, updated_at: now }, event)
      return token
    },
    async findSignInToken(token) {
      const found = await records.findLoginRows('login_verification', isSignInLink(token), { limit: 1, offset: 0 })
      return toUserOfLink(found)
    },
    async useSignInToken(token) {
      return toUserOfLink(await records.deleteLoginRows('login_verification', isSignInLink(token), 1))
    },
  }
}

/** The stored form of a sign-in link. */
function toSignInIdentifier(token: string): string {
  return `sign-in-link:${hashToken(token.slice(0, 200))}`
}

/** Whose link a row is; null for none, and for one that is over. */
function toUserOfLink([row]: readonly LoginRow[]): string | null {
  const userId = row?.['value']
  return typeof userId === 'string' && Date.parse(String(row?.['expires_at'])) > Date.now() ? userId : null
}
