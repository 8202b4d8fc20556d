import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { answerWithEvents, readJsonBody } from '../http/rest.ts'
import type { BoundRoute, Call, MakeContext } from '../http/route.ts'
import { addPasskey, startPasskey } from '../operations/account/factors.ts'
import { signInWithPasskey, startPasskeySignIn } from '../operations/account/sign-in.ts'
import { type CallOperation, callLocally } from '../operations/core/define-operation.ts'
import { COPIES_WITHIN_MS, countCopy, MAX_COPIES } from '../operations/usage.ts'
import { limitForm, localPath, readForm, refuseForeignForm } from './forms.ts'
import { improveForm } from './pages/writing/edit-prompt.tsx'
import type { Words } from './site.ts'

/** The parts of the service that scripts of pages call. */
interface Called {
  readonly makeContext: MakeContext
  readonly baseUrl: string
  /** Called with errors that occur after the response. */
  onFault(error: unknown, requestId: string): void
  wordsFor(call: Call): Words
}

/** The addresses that scripts of pages call. */
export function scriptRoutes(called: Called): BoundRoute[] {
  return [...copyRoutes(called), ...improveRoutes(called), ...passkeyRoutes(called)]
}

/** @throws AppError `forbidden` for a form of another site, `unauthenticated` where only members may send one */
function refuseOthers({ baseUrl, wordsFor }: Called, call: Call, isForMembers: boolean): void {
  refuseForeignForm(call.exchange, baseUrl, wordsFor(call))
  if (isForMembers && call.actor.kind === 'anonymous') throw new AppError('unauthenticated', wordsFor(call).errors.signInFirst)
}

/** Callers with their items that are remembered. */
const MAX_KNOWN = 10_000

/** Where the script of an item says that the text was copied. The answer is the same whether it counts or not. */
function copyRoutes(called: Called): BoundRoute[] {
  const known = new LRUCache<string, number>({ max: MAX_KNOWN, ttl: COPIES_WITHIN_MS, noUpdateTTL: true })
  return (['prompts', 'skills'] as const).map((collection) => ({
    method: 'POST',
    path: `/${collection}/{ref}/copied`,
    kind: 'page',
    cost: 3,
    async handle(call) {
      const { actor, caller, params } = call
      refuseOthers(called, call, false)
      const id = params['ref'] ?? ''
      const name = `${caller} ${id}`
      const copies = known.get(name) ?? 0
      if (copies < MAX_COPIES) {
        await callLocally(() => called.makeContext(actor))(countCopy, { collection, id, caller })
        known.set(name, copies + 1)
      }
      return { status: 204, headers: {}, body: null }
    },
  }))
}

/** The ending added to the address of an editor. */
const IMPROVE = '/improve'
/** Points of a form to improve, as of the editor's form; of a passkey: a signature is checked, and rows are written. */
const COST = 10

/**
 * Where the script of an editor sends its form to be improved. The answers are server-sent events: those of the REST call, but `result` has the
 * page that shows the suggestion: `{ to: string }`.
 */
function improveRoutes(called: Called): BoundRoute[] {
  return ['/new', '/prompts/{ref}/edit'].map((editor) => ({
    method: 'POST',
    path: `${editor}${IMPROVE}`,
    kind: 'page',
    cost: COST,
    bodyLimit(call) {
      refuseOthers(called, call, true)
      return limitForm(call, { words: called.wordsFor(call) })
    },
    async handle(call) {
      const { exchange, actor, client, requestId } = call
      const words = called.wordsFor(call)
      const form = await readForm(call, words)
      const path = exchange.path.slice(0, -IMPROVE.length)
      return await answerWithEvents(
        exchange.signal(),
        requestId,
        async (options) => {
          const context = () => ({ ...called.makeContext(actor), client, ...options })
          return { ...(await improveForm({ path, call: callLocally(context) }, form, words)) }
        },
        called.onFault,
      )
    },
  }))
}

/** Largest body: what a browser says of a passkey, with room for long keys. */
const MAX_BODY = 32 * 1024
/** Points of a request that hashes a password. */
const PASSWORD_COST = 50

interface PasskeyEntry {
  readonly path: string
  /** Default: that of a request without a password */
  readonly cost?: number
  /** Whether it is for people who are not signed in. */
  readonly isEntry?: true
  /** Gives options as JSON for the browser, or where it goes then. */
  answer(
    call: CallOperation,
    fields: Record<string, unknown>,
  ): Promise<{ readonly cookies: readonly string[] } & ({ readonly options: string } | { readonly to: string })>
}

const text = z.string().catch('')
const anyObject = z.record(z.string(), z.unknown()).catch({})

const PASSKEY_ENTRIES: readonly PasskeyEntry[] = [
  {
    path: '/sign-in/passkey/options',
    isEntry: true,
    answer: async (call) => await call(startPasskeySignIn, {}),
  },
  {
    path: '/sign-in/passkey',
    isEntry: true,
    async answer(call, { answer, to }) {
      const { cookies } = await call(signInWithPasskey, { answer: anyObject.parse(answer) })
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
      const { cookies } = await call(addPasskey, { answer: anyObject.parse(answer), name: text.parse(name) })
      const onward = text.parse(to)
      return { cookies, to: onward === '' ? '/settings/security?done=passkey-added' : localPath(onward) }
    },
  },
]

/** Where the script of passkeys signs in and adds one, in JSON. */
function passkeyRoutes(called: Called): BoundRoute[] {
  return PASSKEY_ENTRIES.map(({ path, cost = COST, isEntry, answer }) => ({
    method: 'POST',
    path,
    kind: 'page',
    cost,
    ...(isEntry && { isEntry }),
    bodyLimit(call) {
      refuseOthers(called, call, !isEntry)
      return { maxBytes: MAX_BODY }
    },
    async handle(call) {
      const { actor, client, requestId, cookies } = call
      const context = () => ({ ...called.makeContext(actor), client, onFault: (error: unknown) => called.onFault(error, requestId) })
      const answered = await answer(callLocally(context), readJsonBody(call))
      cookies.push(...answered.cookies)
      const json = 'options' in answered ? answered.options : JSON.stringify({ to: answered.to })
      return { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }, body: json }
    },
  }))
}
