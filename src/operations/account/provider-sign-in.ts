import { z } from 'zod'
import { readCookie, writeCookie } from '../../domain/sign-in/logins.ts'
import {
  type Arrival,
  type Arriving,
  FRESH_MINUTES,
  PASSWORD_PROVIDER,
  PROXY_PROVIDER,
  type ProviderSettings,
  type SignInSettings,
} from '../../domain/sign-in/sign-in-ways.ts'
import { AppError, invalidInput, toAppError } from '../../errors.ts'
import { clientOf, defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'

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

/** The sealed state that a browser carries to a provider and back. */
const COOKIE = 'commonplace.journey'
const PURPOSE = 'journey to a sign-in provider'
/** How long somebody may take at the provider. */
const JOURNEY_MS = 600_000
/** Longest answer of a provider in an address, in UTF-16 units. */
const MAX_QUERY = 8_000

const keyInput = z.string().max(32)
const pathInput = z.string().max(2_000)
const journeyShape = z.object({
  issuer: z.string(),
  state: z.string(),
  nonce: z.string().nullable(),
  verifier: z.string(),
  to: z.string(),
  /** The account that the identity is to be connected to; null: somebody signs in. */
  connects: z.string().nullable(),
  untilMs: z.number(),
})
type SealedJourney = z.infer<typeof journeyShape>

type Starting = Needs<'instances', 'baseUrl' | 'clock' | 'providers' | 'sealer'>

/** How people sign in here. */
export const showSignInWays = defineProcedure({
  scope: null,
  async run({ ways }: Needs<never, 'ways'>) {
    const providers = ways.providers.map(({ key, name }) => ({ key, name }))
    return { hasPasswords: ways.hasPasswords, hasProxy: ways.proxy !== null, signOutUrl: ways.proxy?.signOutUrl ?? null, providers }
  },
})

/** Sends a browser to a provider to sign in. */
export const beginProviderSignIn = defineProcedure({
  scope: null,
  input: z.object({ provider: keyInput, to: pathInput.describe('Path of this service to go to afterwards') }),
  run: (context, { provider, to }) => begin(context, provider, { to, connects: null }),
})

/** Sends a browser to a provider whose identity becomes one of the caller's. */
export const beginConnecting = defineProcedure({
  scope: 'account',
  input: z.object({ provider: keyInput, to: pathInput, password: z.string().optional() }),
  async run(context: Starting & Needs<'people', 'logins'>, { provider, to, password }) {
    const user = requireUser(context.actor)
    // An unknown provider costs no attempt at the password.
    findProvider(context, provider)
    await requireProof(context, user, password ?? '')
    return await begin(context, provider, { to, connects: user.userId })
  },
})

/** Signs in whom a provider sent back, or connects their identity. */
export const finishProviderSignIn = defineWrite({
  scope: null,
  input: z.object({ provider: keyInput, query: z.string().max(MAX_QUERY) }),
  async run(context: Starting & Needs<'arrivals', 'logins'>, { provider: key, query }) {
    const provider = findProvider(context, key)
    const journey = await takeJourney(context, provider, query)
    try {
      const answered = new URL(redirectUri(context, provider))
      answered.search = query
      const arriving = await context.providers.finish(provider, answered, journey)
      const arrival = await (journey.connects === null
        ? context.store.arrivals.arrive(arriving)
        : connect(context, arriving, journey.connects))
      reportSkipped(context, provider, arrival)
      const over = writeCookie(COOKIE, '', context.baseUrl, { maxAgeSeconds: 0, sameSite: 'Lax' })
      const { isNew, isEmailTaken } = arrival
      if (journey.connects !== null) return { to: journey.to, cookies: [over], isNew, isEmailTaken }
      const session = await context.logins.startSession(arrival.person.id, clientOf(context))
      context.count('sign_in')
      return { to: journey.to, cookies: [over, ...session.cookies], isNew, isEmailTaken }
    } catch (error) {
      reportRefusal(context, provider, error)
      throw error
    }
  },
})

/** @throws AppError `not_found` */
function findProvider({ providers }: Needs<never, 'providers'>, key: string): ProviderSettings {
  const provider = providers.list.find((one) => one.key === key)
  if (!provider) throw new AppError('not_found', 'Sign-in provider not found.')
  return provider
}

function redirectUri({ baseUrl }: Pick<Starting, 'baseUrl'>, { key }: ProviderSettings): string {
  return `${baseUrl}/sign-in/with/${key}`
}

async function begin(context: Starting, key: string, more: Pick<SealedJourney, 'to' | 'connects'>) {
  const { providers, sealer, clock, baseUrl } = context
  const provider = findProvider(context, key)
  const { url, journey } = await providers.begin(provider, redirectUri(context, provider)).catch((error: unknown) => {
    reportRefusal(context, provider, error)
    throw error
  })
  const sealed: SealedJourney = { issuer: provider.issuer, ...journey, ...more, untilMs: clock() + JOURNEY_MS }
  const value = sealer.seal(PURPOSE, JSON.stringify(sealed))
  return { url, cookies: [writeCookie(COOKIE, value, baseUrl, { maxAgeSeconds: JOURNEY_MS / 1000, sameSite: 'Lax' })] }
}

/**
 * The journey that this browser began, which ends here: a second answer with the same state is refused, at every instance.
 * @throws AppError `forbidden`
 */
async function takeJourney(context: Starting, provider: ProviderSettings, query: string): Promise<SealedJourney> {
  const { sealer, clock, baseUrl, store } = context
  const token = readCookie(COOKIE, clientOf(context).cookies, baseUrl)
  const text = token === null ? null : sealer.open(PURPOSE, token)
  const journey = text === null ? null : journeyShape.parse(JSON.parse(text))
  const states = new URLSearchParams(query).getAll('state')
  const isOwn = journey !== null && journey.issuer === provider.issuer && states.length === 1 && states[0] === journey.state
  if (!isOwn || journey.untilMs < clock()) {
    throw new AppError('forbidden', 'This sign-in was not begun in this browser, or more than ten minutes ago. Start again.')
  }
  const name = `journey ${journey.state}`
  const uses = await store.instances.addPoints(new Date(journey.untilMs).toISOString(), new Map([[name, 1]]))
  if ((uses.get(name) ?? 0) > 1) throw new AppError('forbidden', 'This answer of the provider was used already. Start again.')
  return journey
}

/** @throws AppError `forbidden` when the browser is signed in as somebody else by now */
async function connect(context: Needs<'arrivals'>, arriving: Arriving, userId: string): Promise<Arrival> {
  const { actor, store } = context
  if (actor.kind !== 'user' || actor.userId !== userId) {
    throw new AppError('forbidden', 'You are no longer signed in to the account that you were connecting. Start again.')
  }
  await store.arrivals.connectIdentity(userId, arriving, actor.sessionId ?? null)
  // The groups count from now on.
  return await store.arrivals.arrive({ ...arriving, allowsNew: false })
}

/** Logs why somebody could not sign in by a provider. */
function reportRefusal({ onFault }: Needs, { name }: ProviderSettings, error: unknown): void {
  const { code, message } = toAppError(error)
  if (code !== 'internal') onFault?.(new AppError('upstream_failed', `A sign-in by ${name} was refused: ${message}`))
}

/** Tells the operator which rights of the group map could not be given or taken. */
function reportSkipped({ onFault }: Needs, { name }: ProviderSettings, { person, skipped }: Arrival): void {
  for (const reason of skipped) onFault?.(new AppError('upstream_failed', `Groups of ${person.username} at ${name}: ${reason}`))
}
