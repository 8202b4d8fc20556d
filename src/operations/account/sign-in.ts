import { z } from 'zod'
import { AppError, invalidInput } from '../../errors.ts'
import { passwordFault } from '../../library/password.ts'
import { passwordsOff } from '../../library/sign-in-ways.ts'
import { clientOf, defineProcedure, type Needs } from '../core/procedure.ts'
import { revokeKeysInput } from './keys.ts'
import { mailNewBrowser } from './second-step.ts'

const nameInput = z.string().min(1, 'is required').max(300, 'is too long')
const tokenInput = z.string().min(1).max(200)

/** Signs a browser in. */
export const signIn = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ name: nameInput, password: z.string().min(1, 'is required'), isRemembered: z.boolean().default(true) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, input) {
    const signedIn = await context.logins.signIn({ ...input, name: input.name.trim() }, clientOf(context))
    mailNewBrowser(context, signedIn)
    const { cookies: made, isPending } = signedIn
    if (!isPending) context.count('sign_in')
    return { cookies: made, isPending }
  },
})

/** Signs a browser out; felt on the next request. */
export const signOut = defineProcedure({
  scope: null,
  run: (context) => context.logins.signOut(clientOf(context)),
})

/** Whether password reset links go out by email. */
export const showPasswordHelp = defineProcedure({
  scope: null,
  async run({ sendMail }: Needs<never, 'sendMail'>) {
    return { sendsMail: sendMail !== null }
  },
})

/** Sends a link to set a new password, where mail leaves from here; the answer never tells whether there is such an account. */
export const requestPasswordReset = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ name: nameInput }),
  async run(context: Needs<'people', 'baseUrl' | 'logins' | 'sendMail' | 'ways'>, input) {
    if (!context.ways.hasPasswords) throw passwordsOff()
    const { sendMail, store, logins, baseUrl } = context
    if (!sendMail) return { isMailed: false }
    const name = input.name.trim()
    const person = name.includes('@') ? await store.people.findPersonByEmail(name.toLowerCase()) : await store.people.findPersonByName(name)
    const email = person?.email
    if (person && email) {
      // Not waited for: how long it takes would tell whether there is such an account.
      const send = async () => {
        const link = `${baseUrl}/reset-password?token=${await logins.createResetToken(person.id, true)}`
        const text = `Someone, probably you, requested a password reset for ${person.username} at ${baseUrl}.\n\nSet a new password within an hour:\n${link}\n\nIf it was not you, ignore this email.\n`
        await sendMail({ to: email, subject: 'Set a new password', text })
      }
      send().catch((error: unknown) => context.onFault?.(error))
    }
    return { isMailed: true }
  },
})

/** Whose password a link sets; the link stays good. */
export const showPasswordReset = defineProcedure({
  scope: null,
  input: z.object({ token: tokenInput }),
  async run({ logins, store }: Needs<'people', 'logins'>, { token }) {
    const userId = await logins.findResetToken(token)
    const person = userId === null ? null : await store.people.findPerson(userId)
    if (!person) throw new AppError('not_found', 'This link is no longer valid. Request a new one.')
    return { username: person.username }
  },
})

/** Sets a new password by a link, which is used up, and ends every session. */
export const resetPassword = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ token: tokenInput, password: z.string(), revokeKeys: revokeKeysInput }),
  async run({ logins, store }: Needs<'keys' | 'people', 'logins'>, { token, password, revokeKeys }) {
    const userId = await logins.findResetToken(token)
    const person = userId === null ? null : await store.people.findPerson(userId)
    if (!person) throw new AppError('not_found', 'This link is no longer valid. Request a new one.')
    const fault = await passwordFault(password, [person.username, person.email ?? ''])
    if (fault) throw invalidInput('password', `The password ${fault}.`)
    if (!(await logins.resetPassword(token, password))) {
      throw new AppError('not_found', 'This link is no longer valid. Request a new one.')
    }
    if (revokeKeys) await store.keys.revokeEverything(person.id)
  },
})
