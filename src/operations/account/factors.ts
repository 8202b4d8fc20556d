import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { MAX_PASSKEYS, RECOVERY_CODES } from '../../library/factors.ts'
import { defineOperation, type Needs, requireUser, type UserActor } from '../core/define-operation.ts'
import { clientOf } from './client-of.ts'
import { usableWays } from './identities.ts'

const when = z.string().meta({ format: 'date-time' })
const success = z.object({ success: z.literal(true) })
const cookies = z.array(z.string()).describe('Set-Cookie headers')
const passwordInput = z.string().default('').describe('The password; without one, a session that was opened moments ago will do')
const recoveryCodes = z.array(z.string()).length(RECOVERY_CODES).describe('Not shown again')
/** The longest name of a passkey. */
const nameInput = z.string().trim().min(1, 'is required').max(100)

/**
 * What decides who gets in is changed by its owner alone, not by whoever finds a browser open.
 * @throws AppError `invalid_input` naming the field, `forbidden`, `rate_limited`
 */
async function proveAgain({ logins }: Needs<never, 'logins'>, user: UserActor, password: string): Promise<void> {
  if (await logins.hasPassword(user.userId)) {
    if (!(await logins.isPasswordOf(user.userId, password))) throw invalidInput('password', 'Wrong password.')
  } else if (!(await logins.isFreshSession(user.userId, user.sessionId))) {
    throw new AppError('forbidden', 'Sign out and sign in again first: this needs a session of the last ten minutes.')
  }
}

export const showFactors = defineOperation({
  name: 'show_factors',
  title: 'Your second factors',
  summary: 'Your passkeys, and whether signing in with your password takes a code.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({
    hasPassword: z.boolean(),
    codes: z.object({ since: when, recoveryCodesLeft: z.number().int() }).nullable(),
    passkeys: z.array(z.object({ id: z.string(), name: z.string().nullable(), createdAt: when.nullable(), usedAt: when.nullable() })),
  }),
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId } = requireUser(actor)
    const [hasPassword, { codes, passkeys }] = await Promise.all([logins.hasPassword(userId), logins.factors.find(userId)])
    return { hasPassword, codes, passkeys: [...passkeys] }
  },
})

export const startCodes = defineOperation({
  name: 'start_codes',
  title: 'Begin to set up codes',
  summary: 'A new secret for an app that shows codes. Nothing is kept until confirm_codes.',
  scope: 'account',
  surfaces: {},
  input: z.object({ token: z.string().max(1_000).default('').describe('Of an earlier answer: the same secret again') }),
  output: z.object({ secret: z.string(), uri: z.string(), token: z.string() }),
  async run({ actor, logins }: Needs<never, 'logins'>, { token }) {
    const { userId, username } = requireUser(actor)
    return logins.factors.startCodes(userId, username, token)
  },
})

export const confirmCodes = defineOperation({
  name: 'confirm_codes',
  title: 'Turn codes on',
  summary: 'From now on, signing in with the password takes a code of the app.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ token: z.string().max(1_000), code: z.string().max(40), password: passwordInput }),
  output: z.object({ recoveryCodes }),
  async run(context: Needs<never, 'logins'>, { token, code, password }) {
    const user = requireUser(context.actor)
    const { logins } = context
    if (!(await logins.hasPassword(user.userId))) throw new AppError('conflict', 'Codes go with a password, and this account has none.')
    await proveAgain(context, user, password)
    return { recoveryCodes: await logins.factors.confirmCodes(user.userId, token, code) }
  },
})

export const renewRecoveryCodes = defineOperation({
  name: 'renew_recovery_codes',
  title: 'Renew recovery codes',
  summary: 'New recovery codes; the old ones stop working.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ password: passwordInput }),
  output: z.object({ recoveryCodes }),
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = requireUser(context.actor)
    await proveAgain(context, user, password)
    return { recoveryCodes: await context.logins.factors.renewRecoveryCodes(user.userId) }
  },
})

export const removeCodes = defineOperation({
  name: 'remove_codes',
  title: 'Turn codes off',
  summary: 'Signing in takes the password alone again. Recovery codes stop working.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ password: passwordInput }),
  output: success,
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = requireUser(context.actor)
    await proveAgain(context, user, password)
    await context.logins.factors.removeCodes(user.userId)
    return { success: true as const }
  },
})

export const startPasskey = defineOperation({
  name: 'start_passkey',
  title: 'Begin to add a passkey',
  summary: `What a browser needs to make a passkey. An account has at most ${MAX_PASSKEYS}.`,
  scope: 'account',
  surfaces: {},
  input: z.object({ password: passwordInput }),
  output: z.object({ options: z.string().describe('JSON'), cookies }),
  async run(context: Needs<never, 'logins'>, { password }) {
    const user = requireUser(context.actor)
    await proveAgain(context, user, password)
    return await context.logins.factors.startPasskey(user, clientOf(context))
  },
})

export const addPasskey = defineOperation({
  name: 'add_passkey',
  title: 'Add a passkey',
  summary: 'Add the passkey that a browser made.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ answer: z.looseObject({}), name: nameInput }),
  output: z.object({ cookies }),
  async run(context: Needs<never, 'logins'>, { answer, name }) {
    requireUser(context.actor)
    return await context.logins.factors.addPasskey(answer, name, clientOf(context))
  },
})

export const removePasskey = defineOperation({
  name: 'remove_passkey',
  title: 'Remove a passkey',
  summary: 'Remove one of your passkeys. The last one of an account without a password stays.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({ id: z.string().max(255), password: passwordInput }),
  output: success,
  async run(context: Needs<'arrivals', 'logins' | 'ways'>, { id, password }) {
    const user = requireUser(context.actor)
    const { logins, store, ways } = context
    await proveAgain(context, user, password)
    const { passkeys } = await logins.factors.find(user.userId)
    const usable = usableWays(ways)
    const hasOther = (await store.arrivals.listIdentities(user.userId)).some(({ provider }) => usable.includes(provider))
    if (passkeys.length === 1 && passkeys[0]?.id === id && !hasOther) {
      throw new AppError('conflict', 'This passkey is your only way to sign in. Add another one first.')
    }
    if (!(await logins.factors.removePasskey(user.userId, id))) throw new AppError('not_found', 'Passkey not found.')
    return { success: true as const }
  },
})

/** Takes the factors of somebody away who lost them. */
export const resetFactors = defineOperation({
  name: 'reset_factors',
  title: 'Reset the second factors of a person',
  summary: 'Remove the passkeys and codes of an account, for somebody who lost them. The password stays.',
  scope: 'admin',
  writes: true,
  surfaces: {},
  input: z.object({ username: z.string().max(64) }),
  output: success,
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl'>, { username }) {
    const { store, logins, sendMail, baseUrl } = context
    const person = await store.people.findPersonByName(username)
    if (!person?.hasLogin) throw new AppError('not_found', `"${username.slice(0, 64)}" has no account.`)
    if (!(await logins.factors.reset(person.id))) throw new AppError('conflict', `${person.username} has no passkeys, and codes are off.`)
    if (sendMail && person.email !== null) {
      const text = `An administrator removed the passkeys and codes of ${person.username} at ${baseUrl}. Your password alone signs you in until you set up others:\n${baseUrl}/settings/passkeys\n\nIf you did not ask for this, tell an administrator.\n`
      sendMail({ to: person.email, subject: 'Your passkeys and codes were removed', text }).catch((error: unknown) =>
        context.onFault?.(error),
      )
    }
    return { success: true as const }
  },
})
