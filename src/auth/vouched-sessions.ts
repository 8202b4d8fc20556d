import { createAuthEndpoint } from '@better-auth/core/api'
import { APIError } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'

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
