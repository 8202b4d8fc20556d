import { z } from 'zod'
import { PASSWORD_PROVIDER, PROXY_PROVIDER } from '../../library/arrivals.ts'
import type { SignInSettings } from '../../library/sign-in-ways.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { requireProof } from './proof.ts'

/** The providers by which people can sign in now. */
export function usableWays({ hasPasswords, providers, proxy }: SignInSettings): string[] {
  return [...(hasPasswords ? [PASSWORD_PROVIDER] : []), ...(proxy ? [PROXY_PROVIDER] : []), ...providers.map(({ issuer }) => issuer)]
}

/** The ways in which the caller can sign in. */
export const listIdentities = defineOperation({
  name: 'list_identities',
  title: 'List how you sign in',
  summary: 'Whether you have a password, the sign-in providers your account is connected to, and those it could be.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({
    hasPassword: z.boolean(),
    identities: z.array(
      z.object({
        provider: z.string().describe('Address of the issuer, or proxy'),
        name: z.string().nullable().describe('Null: nobody can sign in with it any more'),
        subject: z.string(),
        connectedAt: z.string().meta({ format: 'date-time' }),
      }),
    ),
    others: z.array(z.object({ key: z.string(), name: z.string() })),
  }),
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

export const disconnectProvider = defineOperation({
  name: 'disconnect_provider',
  title: 'Disconnect a sign-in provider',
  summary: 'Take a sign-in provider off your account; never the last way in. Needs the password, or a sign-in of the last ten minutes.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ provider: z.string().max(2_000).describe('As list_identities names it'), password: z.string().optional() }),
  output: z.object({ success: z.literal(true) }),
  async run(context: Needs<'arrivals', 'logins' | 'ways'>, { provider, password }) {
    const user = requireUser(context.actor)
    await requireProof(context, user, password ?? '')
    await context.store.arrivals.disconnectIdentity(user.userId, provider, usableWays(context.ways))
    return { success: true as const }
  },
})
