import { createAuthEndpoint } from '@better-auth/core/api'
import { APIError } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { z } from 'zod'

/**
 * Adds what starts a session for somebody who proved who they are elsewhere: at a provider or with a link. It has no path, so no request
 * reaches it.
 */
export function vouchedSessions() {
  const startSession = createAuthEndpoint.serverOnly({ method: 'POST', body: z.object({ userId: z.string() }) }, async (ctx) => {
    const { internalAdapter } = ctx.context
    const user = await internalAdapter.findUserById(ctx.body.userId)
    if (!user) throw new APIError('NOT_FOUND')
    const session = await internalAdapter.createSession(user.id, false)
    if (!session) throw new APIError('INTERNAL_SERVER_ERROR')
    await setSessionCookie(ctx, { session, user }, false)
    return ctx.json({ sessionId: session.id })
  })
  return { id: 'vouched-sessions', endpoints: { startSession } } as const
}
