import { z } from 'zod'
import { describeBrowser } from '../../library/browser-names.ts'
import type { SignedIn } from '../../library/logins.ts'
import { defineOperation, type Needs, requireUser } from '../core/define-operation.ts'
import { clientOf } from './client-of.ts'

const cookies = z.array(z.string()).describe('Set-Cookie headers')

/** Mails the owner of an account that was opened from a browser nobody knew. Not waited for: the mail server may be slow. */
export function mailNewBrowser(context: Needs<'people', 'sendMail' | 'baseUrl' | 'clock'>, { newBrowserOf }: SignedIn): void {
  const { sendMail, store, baseUrl, client } = context
  if (newBrowserOf === null || !sendMail) return
  const send = async () => {
    const person = await store.people.findPerson(newBrowserOf)
    if (!person || person.email === null) return
    const from = [describeBrowser(client?.userAgent ?? null) ?? 'a browser', client?.address ? `at ${client.address}` : ''].join(' ').trim()
    const at = new Date(context.clock())
      .toISOString()
      .replace(/:\d\d\.\d+Z$/, ' UTC')
      .replace('T', ' ')
    const text = `Somebody signed in as ${person.username} at ${baseUrl} from a new browser: ${from}, ${at}.\n\nIf it was you, there is nothing to do. If not, sign out everywhere and change your password:\n${baseUrl}/settings/sessions\n`
    await sendMail({ to: person.email, subject: 'New sign-in', text })
  }
  send().catch((error: unknown) => context.onFault?.(error))
}

/** Whether a second step is due in this browser, and what it takes. */
export const showSecondStep = defineOperation({
  name: 'show_second_step',
  title: 'What the second step takes',
  summary: 'Whether a second step of signing in is due in this browser, and whether it takes a code.',
  scope: null,
  surfaces: {},
  input: z.object({}),
  output: z.object({ isDue: z.boolean(), hasCodes: z.boolean(), hasPasskeys: z.boolean() }),
  async run(context: Needs<never, 'logins'>) {
    const userId = await context.logins.findSecondStep(clientOf(context))
    if (userId === null) return { isDue: false, hasCodes: false, hasPasskeys: false }
    const { codes, passkeys } = await context.logins.factors.find(userId)
    return { isDue: true, hasCodes: codes !== null, hasPasskeys: passkeys.length > 0 }
  },
})

/** The second step: a code of the app, or a recovery code. */
export const finishSignIn = defineOperation({
  name: 'finish_sign_in',
  title: 'Sign in with a code',
  summary: 'Finish signing in with a code of the app, or a recovery code.',
  scope: null,
  writes: true,
  surfaces: {},
  input: z.object({ code: z.string().min(1, 'is required').max(100) }),
  output: z.object({ cookies }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { code }) {
    const signedIn = await context.logins.finishSignIn(code, clientOf(context))
    mailNewBrowser(context, signedIn)
    context.count('sign_in')
    return { cookies: signedIn.cookies }
  },
})

export const startPasskeySignIn = defineOperation({
  name: 'start_passkey_sign_in',
  title: 'Begin to sign in with a passkey',
  summary: 'What a browser needs to sign in with a passkey.',
  scope: null,
  surfaces: {},
  input: z.object({}),
  output: z.object({ options: z.string().describe('JSON'), cookies }),
  run: (context: Needs<never, 'logins'>) => context.logins.factors.startPasskeySignIn(clientOf(context)),
})

/** Signs in with a passkey, which is two factors in one. */
export const signInWithPasskey = defineOperation({
  name: 'sign_in_with_passkey',
  title: 'Sign in with a passkey',
  summary: 'Sign in with the passkey that a browser presents.',
  scope: null,
  writes: true,
  surfaces: {},
  input: z.object({ answer: z.looseObject({}) }),
  output: z.object({ cookies }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { answer }) {
    const signedIn = await context.logins.signInWithPasskey(answer, clientOf(context))
    mailNewBrowser(context, signedIn)
    context.count('sign_in')
    return { cookies: signedIn.cookies }
  },
})

/** Sign-ins from browsers that were not known, but for this one: it may be the one that nobody expects. */
export const listNewSignIns = defineOperation({
  name: 'list_new_sign_ins',
  title: 'New sign-ins',
  summary: 'Sessions that were opened from browsers that were not known, and that you have not seen yet.',
  scope: 'account',
  surfaces: {},
  input: z.object({}),
  output: z.object({
    sessions: z.array(
      z.object({ browser: z.string().nullable(), address: z.string().nullable(), createdAt: z.string().meta({ format: 'date-time' }) }),
    ),
  }),
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

export const dismissNewSignIns = defineOperation({
  name: 'dismiss_new_sign_ins',
  title: 'Dismiss the notice of new sign-ins',
  summary: 'Note that you have seen the new sign-ins.',
  scope: 'account',
  writes: true,
  surfaces: {},
  input: z.object({}),
  output: z.object({ success: z.literal(true) }),
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId, sessionId } = requireUser(actor)
    await logins.markSessionsSeen(userId, sessionId)
    return { success: true as const }
  },
})
