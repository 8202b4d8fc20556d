import { z } from 'zod'
import { PASSWORD_PROVIDER, PROXY_PROVIDER } from '../../domain/sign-in/arrivals.ts'
import { FRESH_MINUTES, type SignInSettings } from '../../domain/sign-in/sign-in-ways.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'

/**
 * Has a signed-in person prove who they are once more: by the password, or where they have none, by having signed in just now.
 * @throws AppError `invalid_input` naming the field, `forbidden`, `rate_limited`
 */
export async function requireProof(
  { logins }: Needs<never, 'logins'>,
  user: UserActor,
  password: string,
  refusal = `This needs a sign-in of the last ${FRESH_MINUTES} minutes. Sign out, sign in again, and come back.`,
): Promise<void> {
  if (await logins.hasPassword(user.userId)) {
    if (!(await logins.isPasswordOf(user.userId, password))) throw invalidInput('password', 'Wrong password.')
    return
  }
  if (await logins.isFreshSession(user.userId, user.sessionId)) return
  throw new AppError('forbidden', refusal)
}

/** The providers by which people can sign in now. */
export function usableWays({ hasPasswords, providers, proxy }: SignInSettings): string[] {
  return [...(hasPasswords ? [PASSWORD_PROVIDER] : []), ...(proxy ? [PROXY_PROVIDER] : []), ...providers.map(({ issuer }) => issuer)]
}

/** The ways in which the caller can sign in. */
export const listIdentities = defineProcedure({
  scope: 'account',
  async run({ actor, store, logins, ways }: Needs<'arrivals', 'logins' | 'ways'>) {
    const { userId } = requireUser(actor)
    const identities = (await store.arrivals.listIdentities(userId)).filter(({ provider }) => provider !== PASSWORD_PROVIDER)
    const nameOf = (provider: string) => ways.providers.find(({ issuer }) => issuer === provider)?.name
    return {
      hasPassword: await logins.hasPassword(userId),
      identities: identities.map(({ provider, subject, createdAt }) => ({
        provider,
        name: nameOf(provider) ?? (provider === PROXY_PROVIDER && ways.proxy ? PROXY_PROVIDER : null),
        subject,
        connectedAt: createdAt,
      })),
      others: ways.providers
        .filter(({ issuer }) => !identities.some(({ provider }) => provider === issuer))
        .map(({ key, name }) => ({ key, name })),
    }
  },
})

/** Take a sign-in provider off your account; never the last way in. Needs the password, or a sign-in of the last ten minutes. */
export const disconnectProvider = defineWrite({
  scope: 'account',
  input: z.object({ provider: z.string().max(2_000).describe('As list_identities names it'), password: z.string().optional() }),
  async run(context: Needs<'arrivals', 'logins' | 'ways'>, { provider, password }) {
    const user = requireUser(context.actor)
    await requireProof(context, user, password ?? '')
    await context.store.arrivals.disconnectIdentity(user.userId, provider, usableWays(context.ways))
  },
})
