import { createAuthEndpoint } from '@better-auth/core/api'
import { passkey } from '@better-auth/passkey'
import { APIError } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'
import type { LibraryStore } from '../storage/store.ts'
import { isEqual } from './login-adapter.ts'

const body = z.object({
  userId: z.string(),
  isRemembered: z.boolean().default(true),
  openedBy: z.literal('provider').nullable().default(null),
})

/**
 * Adds what starts a session for somebody who was proved in another way than by the password alone. It has no path, so no request reaches it.
 * `openedBy`: a provider that answers for its own second factors.
 */
export function vouchedSessions() {
  const startSession = createAuthEndpoint.serverOnly({ method: 'POST', body }, async (ctx) => {
    const { userId, isRemembered, openedBy } = ctx.body
    const { internalAdapter } = ctx.context
    const user = await internalAdapter.findUserById(userId)
    if (!user) throw new APIError('NOT_FOUND')
    const session = await internalAdapter.createSession(user.id, !isRemembered, { openedBy })
    if (!session) throw new APIError('INTERNAL_SERVER_ERROR')
    await setSessionCookie(ctx, { session, user }, !isRemembered)
    return ctx.json({ sessionId: session.id })
  })
  return { id: 'vouched-sessions', endpoints: { startSession } } as const
}

/** The settings that the plugin uses. */
export interface PasskeySettings {
  readonly baseUrl: string
  isSuspended(userId: string): Promise<boolean>
}

/**
 * Passkeys on our tables. They stand for a password and a second factor at once, so whatever made one must have verified its user
 * (WebAuthn, section 6.1, flag UV), and must be found without a name.
 */
export function passkeyPlugin({ updateLoginRows, findLoginRows }: LibraryStore['logins'], { baseUrl, isSuspended }: PasskeySettings) {
  const { hostname, origin } = new URL(baseUrl)
  const requireVerified = (isVerified: boolean | undefined) => {
    if (isVerified !== true) throw new APIError('UNAUTHORIZED', { message: 'The user was not verified' })
  }
  return passkey({
    rpID: hostname,
    rpName: hostname,
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    registration: {
      afterVerification: async ({ verification }) => requireVerified(verification.registrationInfo?.userVerified),
    },
    authentication: {
      async afterVerification({ verification: { authenticationInfo } }) {
        requireVerified(authenticationInfo.userVerified)
        const owned = [isEqual('credential_id', authenticationInfo.credentialID)]
        const [row] = await findLoginRows('login_passkey', owned, { limit: 1, offset: 0 })
        if (await isSuspended(String(row?.['user_id']))) throw new APIError('FORBIDDEN', { message: 'The account is suspended' })
        await updateLoginRows('login_passkey', owned, { used_at: new Date().toISOString() })
      },
    },
    schema: {
      passkey: {
        modelName: 'login_passkey',
        fields: {
          userId: 'user_id',
          publicKey: 'public_key',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'backed_up',
          createdAt: 'created_at',
        },
      },
    },
    advanced: { webAuthnChallengeCookie: 'passkey' },
  })
}
