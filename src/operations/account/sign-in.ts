import { z } from 'zod'
import { emailField, passwordFault, type Role, usernameFault } from '../../domain/people/account.ts'
import type { Invite, Person, SignUpState } from '../../domain/people/people.ts'
import { describeBrowser, type SignedIn } from '../../domain/sign-in/logins.ts'
import { passwordsOff } from '../../domain/sign-in/sign-in-ways.ts'
import { AppError, type ErrorDetail, invalidInput } from '../../errors.ts'
import { requirePerson } from '../admin/people.ts'
import { clientOf, defineProcedure, defineWrite, type Needs, requireUser } from '../core/procedure.ts'
import { revokeKeysInput } from './keys.ts'

const nameInput = z.string().min(1, 'is required').max(300, 'is too long')
const tokenInput = z.string().min(1).max(200)

/** Signs a browser in. */
export const signIn = defineWrite({
  scope: null,
  input: z.object({ name: nameInput, password: z.string().min(1, 'is required'), isRemembered: z.boolean().default(true) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, input) {
    const signedIn = await context.logins.signIn({ ...input, name: input.name.trim() }, clientOf(context))
    return { cookies: noteSignIn(context, signedIn), isPending: signedIn.isPending }
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
export const requestPasswordReset = defineWrite({
  scope: null,
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

const noReset = () => new AppError('not_found', 'This link is no longer valid. Request a new one.')

/** The person whose password a link sets. @throws AppError `not_found` */
async function requirePersonOfReset({ logins, store }: Needs<'people', 'logins'>, token: string): Promise<Person> {
  const userId = await logins.findResetToken(token)
  const person = userId === null ? null : await store.people.findPerson(userId)
  if (!person) throw noReset()
  return person
}

/** The person whose password a link sets; the link stays good. */
export const showPasswordReset = defineProcedure({
  scope: null,
  input: z.object({ token: tokenInput }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    return { username: (await requirePersonOfReset(context, token)).username }
  },
})

/** Sets a new password by a link, which is used up, and ends every session. */
export const resetPassword = defineWrite({
  scope: null,
  input: z.object({ token: tokenInput, password: z.string(), revokeKeys: revokeKeysInput }),
  async run(context: Needs<'keys' | 'people', 'logins'>, { token, password, revokeKeys }) {
    const person = await requirePersonOfReset(context, token)
    const fault = await passwordFault(password, [person.username, person.email ?? ''])
    if (fault) throw invalidInput('password', `The password ${fault}.`)
    if (!(await context.logins.resetPassword(token, password))) throw noReset()
    if (revokeKeys) await context.store.keys.revokeEverything(person.id)
  },
})

/** Counts a complete sign-in, and mails the person if the browser is unknown. The mail is not awaited: its server may be slow. @returns its cookies */
function noteSignIn(
  context: Needs<'people', 'sendMail' | 'baseUrl' | 'clock'>,
  { cookies, isPending, newBrowserOf }: SignedIn,
): SignedIn['cookies'] {
  if (!isPending) context.count('sign_in')
  const { sendMail, store, baseUrl, client } = context
  if (newBrowserOf === null || !sendMail) return cookies
  const send = async () => {
    const person = await store.people.findPerson(newBrowserOf)
    if (!person || person.email === null) return
    const from = [describeBrowser(client?.userAgent ?? null) ?? 'a browser', client?.address ? `at ${client.address}` : ''].join(' ').trim()
    const at = new Date(context.clock())
      .toISOString()
      .replace(/:\d\d\.\d+Z$/, ' UTC')
      .replace('T', ' ')
    const text = `Somebody signed in as ${person.username} at ${baseUrl} from a new browser: ${from}, ${at}.\n\nIf it was you, there is nothing to do. If not, sign out everywhere and change your password:\n${baseUrl}/settings/security\n`
    await sendMail({ to: person.email, subject: 'New sign-in', text })
  }
  send().catch((error: unknown) => context.onFault?.(error))
  return cookies
}

/** Whether a second step is due in this browser, and what it takes. */
export const showSecondStep = defineProcedure({
  scope: null,
  async run(context: Needs<never, 'logins'>) {
    const userId = await context.logins.findSecondStep(clientOf(context))
    if (userId === null) return { isDue: false, hasCodes: false, hasPasskeys: false }
    const { codes, passkeys } = await context.logins.factors.find(userId)
    return { isDue: true, hasCodes: codes !== null, hasPasskeys: passkeys.length > 0 }
  },
})

/** The second step: a code of the app, or a recovery code. */
export const finishSignIn = defineWrite({
  scope: null,
  input: z.object({ code: z.string().min(1, 'is required').max(100) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { code }) {
    return { cookies: noteSignIn(context, await context.logins.finishSignIn(code, clientOf(context))) }
  },
})

/** The options with which a browser signs in with a passkey. */
export const startPasskeySignIn = defineProcedure({
  scope: null,
  run: (context: Needs<never, 'logins'>) => context.logins.factors.startPasskeySignIn(clientOf(context)),
})

/** Signs in with a passkey, which is two factors in one. */
export const signInWithPasskey = defineWrite({
  scope: null,
  input: z.object({ answer: z.looseObject({}) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { answer }) {
    return { cookies: noteSignIn(context, await context.logins.signInWithPasskey(answer, clientOf(context))) }
  },
})

/** Sign-ins from browsers that were not known, but for this one: it may be the one that nobody expects. */
export const listNewSignIns = defineProcedure({
  scope: 'account',
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId, sessionId } = requireUser(actor)
    const sessions = await logins.listSessions(userId)
    return {
      sessions: sessions
        .filter(({ id, isUnseen }) => isUnseen && id !== sessionId)
        .map(({ userAgent, address, createdAt }) => ({ browser: describeBrowser(userAgent), address, createdAt })),
    }
  },
})

/** Note that you have seen the new sign-ins. */
export const dismissNewSignIns = defineWrite({
  scope: 'account',
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId, sessionId } = requireUser(actor)
    await logins.markSessionsSeen(userId, sessionId)
  },
})

/** The person of a link that is good. @throws AppError `not_found`, `forbidden` for a suspended account */
async function requirePersonOf({ store }: Needs<'people'>, userId: string | null): Promise<Person> {
  const person = userId === null ? null : await store.people.findPerson(userId)
  if (!person) throw new AppError('not_found', 'This link is no longer valid. It works once, within ten minutes.')
  if (person.suspendedAt !== null) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
  return person
}

/** A link that signs somebody in without a password or a provider: the way in when those do not work. */
export const createSignInLink = defineWrite({
  scope: 'admin',
  input: z.object({ username: z.string().max(64) }),
  async run({ store, logins, baseUrl }: Needs<'people' | 'arrivals', 'baseUrl' | 'logins'>, { username }) {
    const person = await requirePerson(store, username)
    if (person.suspendedAt !== null) throw new AppError('conflict', `The account of ${person.username} is suspended.`)
    await store.arrivals.ensureLogin(person.id)
    return { url: `${baseUrl}/sign-in/link?token=${await logins.createSignInToken(person.id)}` }
  },
})

/** The person whom a link signs in; it stays good. */
export const showSignInLink = defineProcedure({
  scope: null,
  input: z.object({ token: tokenInput }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const { username } = await requirePersonOf(context, await context.logins.findSignInToken(token))
    return { username }
  },
})

/** Signs in by a link, which is used up. */
export const useSignInLink = defineWrite({
  scope: null,
  input: z.object({ token: tokenInput }),
  async run(context: Needs<'people', 'logins'>, { token }) {
    const person = await requirePersonOf(context, await context.logins.useSignInToken(token))
    const session = await context.logins.startSession(person.id, clientOf(context))
    context.count('sign_in')
    return session
  },
})

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
