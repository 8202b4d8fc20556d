import { z } from 'zod'
import { describeBrowser } from '../../library/browser-names.ts'
import type { SignedIn } from '../../library/logins.ts'
import { clientOf, defineProcedure, type Needs, requireUser } from '../core/procedure.ts'

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
export const finishSignIn = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ code: z.string().min(1, 'is required').max(100) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { code }) {
    const signedIn = await context.logins.finishSignIn(code, clientOf(context))
    mailNewBrowser(context, signedIn)
    context.count('sign_in')
    return { cookies: signedIn.cookies }
  },
})

/** What a browser needs to sign in with a passkey. */
export const startPasskeySignIn = defineProcedure({
  scope: null,
  run: (context: Needs<never, 'logins'>) => context.logins.factors.startPasskeySignIn(clientOf(context)),
})

/** Signs in with a passkey, which is two factors in one. */
export const signInWithPasskey = defineProcedure({
  scope: null,
  writes: true,
  input: z.object({ answer: z.looseObject({}) }),
  async run(context: Needs<'people', 'logins' | 'sendMail' | 'baseUrl' | 'clock'>, { answer }) {
    const signedIn = await context.logins.signInWithPasskey(answer, clientOf(context))
    mailNewBrowser(context, signedIn)
    context.count('sign_in')
    return { cookies: signedIn.cookies }
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
export const dismissNewSignIns = defineProcedure({
  scope: 'account',
  writes: true,
  async run({ actor, logins }: Needs<never, 'logins'>) {
    const { userId, sessionId } = requireUser(actor)
    await logins.markSessionsSeen(userId, sessionId)
  },
})
