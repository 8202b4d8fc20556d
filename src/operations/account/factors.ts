import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { requireLogin } from '../admin/people.ts'
import { clientOf, defineProcedure, defineWrite, type Needs, requireUser, type UserActor } from '../core/procedure.ts'
import { requireProof, usableWays } from './provider-sign-in.ts'

const passwordInput = z.string().default('').describe('The password; without one, a session that was opened moments ago will do')
/** The longest name of a passkey. */
const nameInput = z.string().trim().min(1, 'is required').max(100)

/** The caller. Factors are changed by their owner alone, not by whoever finds a browser open. @throws AppError as {@link requireProof} */
async function requireOwner(context: Needs<never, 'logins'>, password: string): Promise<UserActor> {
  const user = requireUser(context.actor)
  await requireProof(context, user, password, 'Sign out and sign in again first: this needs a session of the last ten minutes.')
  return user
}

/** Your passkeys, and whether signing in with your password takes a code. */
export const showFactors = defineProcedure({
  scope: 'account',
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId } = requireUser(actor)
    const [hasPassword, { codes, passkeys }] = await Promise.all([logins.hasPassword(userId), logins.factors.find(userId)])
    return { hasPassword, codes, passkeys: [...passkeys] }
  },
})

/** A new secret for an app that shows codes. Nothing is kept until confirm_codes. */
export const startCodes = defineProcedure({
  scope: 'account',
  input: z.object({ token: z.string().max(1_000).default('').describe('Of an earlier answer: the same secret again') }),
  async run({ actor, logins }: Needs<never, 'logins'>, { token }) {
    const { userId, username } = requireUser(actor)
    return logins.factors.startCodes(userId, username, token)
  },
})

/** From now on, signing in with the password takes a code of the app. */
export const confirmCodes = defineWrite({
  scope: 'account',
  input: z.object({ token: z.string().max(1_000), code: z.string().max(40), password: passwordInput }),
  async run(context: Needs<never, 'logins'>, { token, code, password }) {
    const user = requireUser(context.actor)
    const { logins } = context
    if (!(await logins.hasPassword(user.userId))) throw new AppError('conflict', 'Codes go with a password, and this account has none.')
    await requireOwner(context, password)
    return { recoveryCodes: await logins.factors.confirmCodes(user.userId, token, code) }
  },
})

/** New recovery codes; the old ones stop working. */
export const renewRecoveryCodes = defineWrite({
  scope: 'account',
  input: z.object({ password: passwordInput }),
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = await requireOwner(context, password)
    return { recoveryCodes: await context.logins.factors.renewRecoveryCodes(user.userId) }
  },
})

/** Signing in takes the password alone again. Recovery codes stop working. */
export const removeCodes = defineWrite({
  scope: 'account',
  input: z.object({ password: passwordInput }),
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = await requireOwner(context, password)
    await context.logins.factors.removeCodes(user.userId)
  },
})

/** The options with which a browser makes a passkey. */
export const startPasskey = defineProcedure({
  scope: 'account',
  input: z.object({ password: passwordInput }),
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = await requireOwner(context, password)
    return await context.logins.factors.startPasskey(user, clientOf(context))
  },
})

/** Add the passkey that a browser made. */
export const addPasskey = defineWrite({
  scope: 'account',
  input: z.object({ answer: z.looseObject({}), name: nameInput }),
  async run(context: Needs<never, 'logins'>, { answer, name }) {
    requireUser(context.actor)
    return await context.logins.factors.addPasskey(answer, name, clientOf(context))
  },
})

/** Remove one of your passkeys. The last one of an account without a password stays. */
export const removePasskey = defineWrite({
  scope: 'account',
  input: z.object({ id: z.string().max(255), password: passwordInput }),
  async run(context: Needs<'arrivals', 'logins' | 'ways'>, { id, password }) {
    const { logins, store, ways } = context
    const user = await requireOwner(context, password)
    const { passkeys } = await logins.factors.find(user.userId)
    const usable = usableWays(ways)
    const hasOther = (await store.arrivals.listIdentities(user.userId)).some(({ provider }) => usable.includes(provider))
    if (passkeys.length === 1 && passkeys[0]?.id === id && !hasOther) {
      throw new AppError('conflict', 'This passkey is your only way to sign in. Add another one first.')
    }
    if (!(await logins.factors.removePasskey(user.userId, id))) throw new AppError('not_found', 'Passkey not found.')
  },
})

/** Takes the factors of somebody away who lost them. */
export const resetFactors = defineWrite({
  scope: 'admin',
  input: z.object({ username: z.string().max(64) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl'>, { username }) {
    const { store, logins, sendMail, baseUrl } = context
    const person = await requireLogin(store, username)
    if (!(await logins.factors.reset(person.id))) throw new AppError('conflict', `${person.username} has no passkeys, and codes are off.`)
    if (sendMail && person.email !== null) {
      const text = `An administrator removed the passkeys and codes of ${person.username} at ${baseUrl}. Your password alone signs you in until you set up others:\n${baseUrl}/settings/security\n\nIf you did not ask for this, tell an administrator.\n`
      sendMail({ to: person.email, subject: 'Your passkeys and codes were removed', text }).catch((error: unknown) =>
        context.onFault?.(error),
      )
    }
  },
})
