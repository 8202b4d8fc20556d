import { z } from 'zod'
import type { ClientOfRequest } from '../../domain/ports/environment.ts'
import { MAX_PASSKEYS } from '../../domain/sign-in/logins.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { type Auth, isRefusal, toHeaders } from '../better-auth.ts'
import { isEqual } from '../login-adapter.ts'

/** The part of a browser's answer that is looked at here; the plugin reads the others. */
const answerShape = z.looseObject({ id: z.string().min(1).max(2_000) })
const part = z.string().max(4_000)
const signInShape = z.object({
  id: part,
  rawId: part,
  type: z.literal('public-key'),
  response: z.object({ clientDataJSON: part, authenticatorData: part, signature: part, userHandle: part.exactOptional() }),
  clientExtensionResults: z.object({}),
})
const refusalShape = z.object({ statusCode: z.number(), body: z.object({ code: z.string().optional() }).optional() })
const codeOf = (error: unknown) => refusalShape.safeParse(error).data?.body?.code
const statusOf = (error: unknown) => refusalShape.safeParse(error).data?.statusCode

/** A sign-in with a passkey. */
export interface PasskeySignIn {
  readonly userId: string
  readonly sessionId: string
  readonly cookies: string[]
}

/** Passkeys, by better-auth's plugin. */
export type Passkeys = ReturnType<typeof createPasskeys>

export function createPasskeys({ logins }: Pick<LibraryStore, 'logins'>, auth: () => Promise<Auth>) {
  const of = (userId: string) => isEqual('user_id', userId)
  return {
    /**
     * The options with which a browser makes a passkey, as JSON.
     * @throws AppError `conflict` for somebody with too many
     */
    async startPasskey(
      { userId, username }: { userId: string; username: string },
      client: ClientOfRequest,
    ): Promise<{ options: string; cookies: string[] }> {
      if ((await logins.countLoginRows('login_passkey', [of(userId)])) >= MAX_PASSKEYS) {
        throw new AppError('conflict', `An account has at most ${MAX_PASSKEYS} passkeys. Remove one first.`)
      }
      const { headers, response } = await (await auth()).api.generatePasskeyRegistrationOptions({
        headers: toHeaders(client),
        query: { name: username },
        returnHeaders: true,
      })
      const user = { ...response.user, name: username, displayName: username }
      return { options: JSON.stringify({ ...response, user }), cookies: headers.getSetCookie() }
    },
    /** @throws AppError `invalid_input` for what is not what was asked for */
    async addPasskey(answer: unknown, name: string, client: ClientOfRequest): Promise<{ cookies: string[] }> {
      const refused = () => invalidInput('answer', 'The passkey was not added: the answer is not the one that was asked for. Try again.')
      const { data } = answerShape.safeParse(answer)
      if (!data) throw refused()
      const known = isEqual('credential_id', data.id)
      if ((await logins.countLoginRows('login_passkey', [known])) > 0) throw refused()
      try {
        const { headers } = await (await auth()).api.verifyPasskeyRegistration({
          headers: toHeaders(client),
          body: { response: answer, name },
          returnHeaders: true,
        })
        return { cookies: headers.getSetCookie() }
      } catch (error) {
        // The plugin calls whatever it cannot verify a fault of its own.
        if (isRefusal(error) || codeOf(error) === 'FAILED_TO_VERIFY_REGISTRATION') throw refused()
        throw error
      }
    },
    /** False when the person has no such passkey. */
    async removePasskey(userId: string, id: string): Promise<boolean> {
      const own = isEqual('id', id)
      const removed = await logins.deleteLoginRows('login_passkey', [of(userId), own], null, { action: 'passkey_removed', userId })
      return removed.length > 0
    },
    /** The options with which a browser signs in with a passkey, as JSON. */
    async startPasskeySignIn(client: ClientOfRequest): Promise<{ options: string; cookies: string[] }> {
      // Without the session there may be: whoever signs in may be somebody else.
      const { headers, response } = await (await auth()).api.generatePasskeyAuthenticationOptions({
        headers: toHeaders({ ...client, cookies: '' }),
        returnHeaders: true,
      })
      return { options: JSON.stringify({ ...response, userVerification: 'required' }), cookies: headers.getSetCookie() }
    },
    /** Opens a session for the owner of a passkey; null when the answer proves nothing. @throws AppError `forbidden` for a suspended account */
    async signIn(answer: object, client: ClientOfRequest): Promise<PasskeySignIn | null> {
      const { data } = signInShape.safeParse(answer)
      if (!data) return null
      try {
        const { headers, response } = await (await auth()).api.verifyPasskeyAuthentication({
          headers: toHeaders(client),
          body: { response: data },
          returnHeaders: true,
        })
        const { session } = response
        return { userId: session.userId, sessionId: session.id, cookies: headers.getSetCookie() }
      } catch (error) {
        if (statusOf(error) === 403) throw new AppError('forbidden', 'This account is suspended. Ask an administrator.')
        if (isRefusal(error)) return null
        throw error
      }
    },
  }
}
