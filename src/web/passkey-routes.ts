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
  readonly cost: number
  /** Whether it is for people who are not signed in. */
  readonly isEntry: boolean
  answer(call: CallOperation, fields: Fields): Promise<{ readonly cookies: readonly string[]; readonly json: string }>
}

const ENTRIES: readonly Entry[] = [
  {
    path: '/sign-in/passkey/options',
    cost: COST,
    isEntry: true,
    async answer(call) {
      const { options, cookies } = await call(startPasskeySignIn, {})
      return { cookies, json: options }
    },
  },
  {
    path: '/sign-in/passkey',
    cost: COST,
    isEntry: true,
    async answer(call, { answer, to }) {
      const { cookies } = await call(signInWithPasskey, { answer: object.catch({}).parse(answer) })
      return { cookies, json: JSON.stringify({ to: localPath(z.string().catch('').parse(to)) }) }
    },
  },
  {
    path: '/settings/passkeys/options',
    cost: PASSWORD_COST,
    isEntry: false,
    async answer(call, { password }) {
      const { options, cookies } = await call(startPasskey, { password: z.string().catch('').parse(password) })
      return { cookies, json: options }
    },
  },
  {
    path: '/settings/passkeys/add',
    cost: COST,
    isEntry: false,
    async answer(call, { answer, name, to }) {
      const { cookies } = await call(addPasskey, { answer: object.catch({}).parse(answer), name: z.string().catch('').parse(name) })
      const onward = z.string().catch('').parse(to)
      return { cookies, json: JSON.stringify({ to: onward === '' ? '/settings/security?done=passkey-added' : localPath(onward) }) }
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
    const { cookies, json } = await entry.answer(callLocally(context), readFields(call.body))
    call.cookies.push(...cookies)
    return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body: json }
  }
  return ENTRIES.map((entry) => ({
    method: 'POST',
    path: entry.path,
    kind: 'page',
    cost: entry.cost,
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
