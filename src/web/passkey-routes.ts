import { z } from 'zod'
import { AppError } from '../errors.ts'
import type { Answer } from '../exchange.ts'
import type { BoundRoute, Call, MakeContext } from '../http/call.ts'
import { addPasskey, startPasskey } from '../operations/account/factors.ts'
import { signInWithPasskey, startPasskeySignIn } from '../operations/account/sign-in.ts'
import { type CallOperation, callLocally } from '../operations/core/invoke.ts'
import { localPath, refuseForeignForm } from './forms.ts'
import type { Words } from './site.ts'

/** Largest body: what a browser says of a passkey, with room for long keys. */
const MAX_BODY = 32 * 1024
/** Points of a request: a signature is checked, and rows are written. */
const COST = 10
/** Points of one that hashes a password. */
const PASSWORD_COST = 50

const object = z.record(z.string(), z.unknown())
type Fields = z.infer<typeof object>

interface Entry {
  readonly path: string
  /** Default: that of a request without a password */
  readonly cost?: number
  /** Whether it is for people who are not signed in. */
  readonly isEntry?: true
  /** Gives options as JSON for the browser, or where it goes then. */
  answer(
    call: CallOperation,
    fields: Fields,
  ): Promise<{ readonly cookies: readonly string[] } & ({ readonly options: string } | { readonly to: string })>
}

const text = z.string().catch('')
const answered = object.catch({})

const ENTRIES: readonly Entry[] = [
  {
    path: '/sign-in/passkey/options',
    isEntry: true,
    answer: async (call) => await call(startPasskeySignIn, {}),
  },
  {
    path: '/sign-in/passkey',
    isEntry: true,
    async answer(call, { answer, to }) {
      const { cookies } = await call(signInWithPasskey, { answer: answered.parse(answer) })
      return { cookies, to: localPath(text.parse(to)) }
    },
  },
  {
    path: '/settings/passkeys/options',
    cost: PASSWORD_COST,
    answer: async (call, { password }) => await call(startPasskey, { password: text.parse(password) }),
  },
  {
    path: '/settings/passkeys/add',
    async answer(call, { answer, name, to }) {
      const { cookies } = await call(addPasskey, { answer: answered.parse(answer), name: text.parse(name) })
      const onward = text.parse(to)
      return { cookies, to: onward === '' ? '/settings/security?done=passkey-added' : localPath(onward) }
    },
  },
]

/** The addresses that the script of passkeys talks to, in JSON. */
export function passkeyRoutes(
  makeContext: MakeContext,
  onFault: (error: unknown, requestId: string) => void,
  baseUrl: string,
  wordsFor: (call: Call) => Words,
): BoundRoute[] {
  const limitBody = ({ isEntry }: Entry, call: Call) => {
    const { exchange, actor } = call
    refuseForeignForm(exchange, baseUrl, wordsFor(call))
    if (!isEntry && actor.kind === 'anonymous') throw new AppError('unauthenticated', wordsFor(call).errors.signInFirst)
    if (!/^application\/json\s*(?:;|$)/i.test(exchange.header('content-type') ?? '')) {
      throw new AppError('unsupported_media_type', 'Send the request as application/json.')
    }
    return { maxBytes: MAX_BODY }
  }
  const handle = async (entry: Entry, call: Call): Promise<Answer> => {
    const { actor, client, requestId } = call
    const context = () => ({ ...makeContext(actor), client, onFault: (error: unknown) => onFault(error, requestId) })
    const answer = await entry.answer(callLocally(context), readFields(call.body))
    call.cookies.push(...answer.cookies)
    const json = 'options' in answer ? answer.options : JSON.stringify({ to: answer.to })
    return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body: json }
  }
  return ENTRIES.map((entry) => ({
    method: 'POST',
    path: entry.path,
    kind: 'page',
    cost: entry.cost ?? COST,
    ...(entry.isEntry && { isEntry: true }),
    bodyLimit: (call) => limitBody(entry, call),
    handle: (call) => handle(entry, call),
  }))
}

/** @throws AppError `invalid_input` */
function readFields(bytes: Uint8Array): Fields {
  try {
    return object.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    throw new AppError('invalid_input', 'The request is no JSON object.', { cause: error })
  }
}
