import { PASSWORD_LENGTH } from '../domain/people/account.ts'
import { passwordsOff } from '../domain/sign-in/sign-in-ways.ts'
import { AppError } from '../errors.ts'
import type { LibraryStore } from '../storage/store.ts'
import type { Auth, LoginSettings } from './better-auth.ts'
import { createLimiter } from './limiter.ts'
import { isEqual } from './login-adapter.ts'
import type { LoginSessions } from './login-sessions.ts'

/** How long a link to set a new password is good, and how many are made for one account meanwhile. */
const RESET_MS = 3_600_000
const RESETS = 5

/** Passwords by better-auth on the library's own tables, and the links that set new ones. */
export function createPasswords(
  store: Pick<LibraryStore, 'logins' | 'instances' | 'inTransaction'>,
  auth: () => Promise<Auth>,
  sessions: Pick<LoginSessions, 'deleteSessions'>,
  settings: LoginSettings,
) {
  const resets = createLimiter('password links', { store: store.instances, clock: settings.clock }, RESETS, RESET_MS / 1000)
  const endResetLinks = async (userId: string, records: LibraryStore['logins'] = store.logins) => {
    await records.deleteLoginRows('login_verification', [isEqual('value', userId)], null)
  }
  const requirePasswords = () => {
    if (!settings.hasPasswords) throw passwordsOff()
  }
  /** Sets a password, also the first one, and ends what others may hold: sessions, and links that would undo it. */
  const setPassword = async (
    userId: string,
    password: string,
    { action, keptSessionId }: { action: 'password_changed' | 'password_reset'; keptSessionId: string | null },
  ) => {
    requirePasswords()
    const hash = await (await (await auth()).$context).password.hash(password)
    const account = [isEqual('user_id', userId), isEqual('provider_id', 'credential'), isEqual('account_id', userId)]
    const at = new Date().toISOString()
    const values = { password: hash, updated_at: at }
    await store.inTransaction(async (transaction) => {
      const changed = await transaction.logins.updateLoginRows('login_account', account, values, { action, userId })
      if (changed.length === 0) {
        const row = { id: crypto.randomUUID(), user_id: userId, provider_id: 'credential', account_id: userId, created_at: at, ...values }
        await transaction.logins.insertLoginRow('login_account', row, { action, userId })
      }
      await endResetLinks(userId, transaction.logins)
      await sessions.deleteSessions(transaction, userId, keptSessionId, false)
    })
  }

  const findPasswordHash = async (userId: string): Promise<string | null> => {
    const account = [isEqual('user_id', userId), isEqual('provider_id', 'credential')]
    const [row] = await store.logins.findLoginRows('login_account', account, { limit: 1, offset: 0 })
    const hash = row?.['password']
    return typeof hash === 'string' ? hash : null
  }
  const verify = async (userId: string, password: string): Promise<boolean> => {
    const hash = await findPasswordHash(userId)
    if (password.length > PASSWORD_LENGTH.max || hash === null) return false
    const { password: hasher } = await (await auth()).$context
    return await hasher.verify({ hash, password })
  }
  const renewHash = async (userId: string, password: string) => {
    const account = [isEqual('user_id', userId), isEqual('provider_id', 'credential')]
    const old = await findPasswordHash(userId)
    const { isWeakerHash } = await import('./password-hash.ts')
    if (old === null || !isWeakerHash(old, settings.passwordHash)) return
    const renewed = await (await (await auth()).$context).password.hash(password)
    // Not over a password that was set meanwhile.
    await store.logins.updateLoginRows('login_account', [...account, isEqual('password', old)], { password: renewed })
  }
  return {
    /** @throws AppError `forbidden` where people do not sign in with passwords */
    requirePasswords,
    findPasswordHash,
    /** Whether this is somebody's password. */
    verify,
    /** Rehashes a just verified password if its hash is weaker than the current setting. */
    renewHash,
    /** Ends the links for a new password that are out. A new password does so by itself. */
    endResetLinks: (userId: string): Promise<void> => endResetLinks(userId),
    async hashPassword(password: string): Promise<string> {
      requirePasswords()
      return await (await (await auth()).$context).password.hash(password)
    },
    hasPassword: async (userId: string): Promise<boolean> => settings.hasPasswords && (await findPasswordHash(userId)) !== null,
    /** Sets a password, and ends all sessions but `keptSessionId`. */
    setPassword: (userId: string, password: string, keptSessionId: string | null): Promise<void> =>
      setPassword(userId, password, { action: 'password_changed', keptSessionId }),
    /**
     * A token with which a new password can be set once, within an hour. `isAsked`: anybody may request it, so requests are limited.
     * @throws AppError `rate_limited`
     */
    async createResetToken(userId: string, isAsked: boolean): Promise<string> {
      requirePasswords()
      const retryAfterSeconds = isAsked ? await resets.count(userId) : null
      if (retryAfterSeconds !== null) {
        const message = 'Too many reset links for this account. Use one of them, or try again later.'
        throw new AppError('rate_limited', message, { retryAfterSeconds })
      }
      const { internalAdapter } = await (await auth()).$context
      const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
      const expiresAt = new Date(Date.now() + RESET_MS)
      await internalAdapter.createVerificationValue({ value: userId, identifier: toResetIdentifier(token), expiresAt })
      return token
    },
    /** The owner of a token, which stays good. */
    async findResetToken(token: string): Promise<string | null> {
      requirePasswords()
      const { internalAdapter } = await (await auth()).$context
      const found = await internalAdapter.findVerificationValue(toResetIdentifier(token))
      return found && found.expiresAt.getTime() > Date.now() ? found.value : null
    },
    /** Sets a password by a token, which is used up, and ends all sessions. False when the token is not, or no longer, good. */
    async resetPassword(token: string, password: string): Promise<boolean> {
      requirePasswords()
      const { internalAdapter } = await (await auth()).$context
      const found = await internalAdapter.consumeVerificationValue(toResetIdentifier(token))
      if (!found || found.expiresAt.getTime() <= Date.now()) return false
      await setPassword(found.value, password, { action: 'password_reset', keptSessionId: null })
      return true
    },
  }
}

function toResetIdentifier(token: string): string {
  return `reset-password:${token.slice(0, 200)}`
}
