import { z } from 'zod'
import { emailField, type Role } from '../../domain/people/account.ts'
import type { Invite, SignUpState } from '../../domain/people/people.ts'
import { usernameFault } from '../../domain/people/username.ts'
import { passwordFault } from '../../domain/sign-in/password.ts'
import { passwordsOff } from '../../domain/sign-in/sign-in-ways.ts'
import { AppError, type ErrorDetail, invalidInput } from '../../errors.ts'
import { clientOf, defineProcedure, defineWrite, type Needs } from '../core/procedure.ts'

/** Longest secret looked at. */
const secretInput = z.string().max(200)

/** The fault of an invite, as a sentence, or null. */
function inviteFault(invite: Invite | null, nowMs: number): string | null {
  if (!invite || invite.revokedAt !== null) return 'Invite not found. Ask for a new one.'
  if (invite.usedAt !== null) return 'This invite has already been used. Ask for a new one.'
  return Date.parse(invite.expiresAt) <= nowMs ? 'This invite has expired. Ask for a new one.' : null
}

const signUpInput = z.object({
  username: z.string(),
  password: z.string(),
  email: z.string().max(254).optional(),
  invite: secretInput.optional(),
  setupCode: secretInput.optional(),
})

/**
 * Decides who can create an account, and with which role: the first needs the code the service printed, everybody
 * after it an invite, unless sign-up is open. A name that is taken, or reserved, needs an invite for that name.
 */
function decideRole(context: Needs<never, 'clock' | 'signUp'>, input: z.infer<typeof signUpInput>, state: SignUpState): Role {
  const { holder, isFirst } = state
  const taken = invalidInput(
    'username',
    holder && !holder.hasLogin
      ? `The name "${input.username}" is reserved. Ask an administrator for an invite for it (users invite ${holder.username}).`
      : `The name "${input.username}" is taken; choose another.`,
  )
  // Checked last and only for allowed callers, as it reveals that an account exists.
  const checked = (role: Role): Role => {
    if (state.isEmailTaken) throw invalidInput('email', 'An account with this email address already exists.')
    return role
  }
  if (input.invite) {
    const fault = inviteFault(state.invite, context.clock())
    if (fault || !state.invite) throw new AppError('forbidden', fault ?? '')
    const { username, role } = state.invite
    if (username !== null && username.toLowerCase() !== input.username.toLowerCase()) {
      throw invalidInput('username', `This invite is for the name "${username}".`)
    }
    if (holder && (holder.hasLogin || username === null)) throw taken
    if (isFirst && role !== 'admin') {
      throw new AppError(
        'forbidden',
        "The first account must be the administrator's. Create it with the setup code printed by the service at startup; then this invite works.",
      )
    }
    return checked(role)
  }
  if (isFirst) {
    const isProved = input.setupCode !== undefined && context.signUp.isSetupCode(input.setupCode)
    if (!isProved) throw invalidInput('setupCode', 'The first account needs the setup code printed by the service at startup.')
    if (holder) throw taken
    return checked('admin')
  }
  if (!context.signUp.isOpen) throw new AppError('forbidden', 'You need an invite to create an account. Ask an administrator for one.')
  if (holder) throw taken
  return checked('user')
}

/** Whether and how one can create an account now. */
export const showSignUp = defineProcedure({
  scope: null,
  input: z.object({ invite: secretInput.optional() }),
  async run(context: Needs<'people', 'clock' | 'secrets' | 'signUp' | 'ways'>, input) {
    const isFirst = !(await context.store.people.hasLogins())
    const invite = input.invite ? await context.store.people.findInvite(context.secrets.hash(input.invite)) : null
    return {
      isFirst,
      hasPasswords: context.ways.hasPasswords,
      isOpen: context.ways.hasPasswords && (isFirst || context.signUp.isOpen),
      invite: input.invite
        ? { username: invite?.username ?? null, role: invite?.role ?? 'user', fault: inviteFault(invite, context.clock()) }
        : null,
    }
  },
})

/** Makes an account and signs it in. */
export const signUp = defineWrite({
  scope: null,
  input: signUpInput,
  async run(context: Needs<'people', 'clock' | 'logins' | 'secrets' | 'signUp' | 'ways'>, input) {
    if (!context.ways.hasPasswords) throw passwordsOff()
    const { username, password } = input
    const holder = await context.store.people.findPersonByName(username)
    const nameFault = holder ? null : usernameFault(username)
    const { data: email = null, error: emailFault } = emailField.optional().safeParse(input.email)
    const weakness = await passwordFault(password, email === null ? [username] : [username, email])
    const faults: ErrorDetail[] = []
    if (nameFault) faults.push({ path: 'username', message: `The username ${nameFault}.` })
    if (weakness) faults.push({ path: 'password', message: `The password ${weakness}.` })
    if (emailFault) faults.push({ path: 'email', message: `This ${emailFault.issues[0]?.message}.` })
    // Looked at before the password is hashed, which costs much, and once more inside the transaction.
    const invite = input.invite ? context.secrets.hash(input.invite) : null
    const isFirst = !(await context.store.people.hasLogins())
    const found = invite ? await context.store.people.findInvite(invite) : null
    const isEmailTaken = email !== null && (await context.store.people.findPersonByEmail(email)) !== null
    try {
      decideRole(context, input, { isFirst, invite: found, holder, isEmailTaken })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error
      faults.push(...error.details.filter(({ path }) => faults.every((one) => one.path !== path)))
    }
    if (faults.length > 0) throw new AppError('invalid_input', faults.map(({ message }) => message).join(' '), { details: faults })
    const client = clientOf(context)
    await context.logins.countSignUp(client)
    const passwordHash = await context.logins.hashPassword(password)
    const person = await context.store.people.createLogin({ username, email, passwordHash, inviteSha256: invite }, (state) =>
      decideRole(context, input, state),
    )
    const { cookies: made } = await context.logins.signInNew({ name: person.username, password }, client)
    return { username: person.username, cookies: made }
  },
})
