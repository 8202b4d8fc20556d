import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Actor, DEFAULT_SCOPES, type Scope } from '../../domain/people/actor.ts'
import type { ClientOfRequest, Clock } from '../../domain/ports/environment.ts'
import { type ClientRequest, CONNECTION_SECONDS, type PersonAtBrowser } from '../../domain/sign-in/keys.ts'
import { decodePart, isLoopback } from '../../domain/text/addresses.ts'
import { tryJson } from '../../domain/text/json.ts'
import { AppError } from '../../errors.ts'
import type { LibraryStore } from '../../storage/store.ts'
import { type Auth, ERROR_PATH, type OAuthSettings, toHeaders } from '../better-auth.ts'
import { actorOfKey, consentKey } from '../credentials.ts'
import { createLimiter } from '../limiter.ts'
import { hashToken, isEqual, replaceNul } from '../login-adapter.ts'
import type { Logins } from '../logins.ts'
import { readRegistration } from './clients.ts'

/** Programs that may register from one address in an hour. */
const REGISTRATIONS = 30
const REGISTRATIONS_SECONDS = 3600
const MAX_LABEL = 100
/** Scopes that ask who somebody is (OpenID Connect Core, section 5.4): programs name them from habit. */
const IDENTITY_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone'])

/** An answer of the authorization server: JSON, or an address to go to. */
export type OAuthAnswer =
  | { readonly to: string }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly json: string }

/** A request of a program: its body and the headers that identify it. */
interface OAuthPost {
  readonly type: string
  readonly authorization: string | undefined
  readonly body: string
}

/** The authorization server (OAuth 2.1), and the tokens it gave. */
export type OAuthServer = ReturnType<typeof createOAuthServer>

type Stores = Pick<LibraryStore, 'logins' | 'keys' | 'people' | 'instances'>

interface OAuthServerSettings {
  readonly baseUrl: string
  readonly clock: Clock
  readonly oauth: OAuthSettings
  /** Where a proxy signs people in, whose browsers have no session: starts one; null where browsers have their own. */
  readonly vouch: Pick<Logins, 'startSession' | 'signOut'> | null
}

/** The authorization server on better-auth's plugins. */
export function createOAuthServer(store: Stores, auth: () => Promise<Auth>, { baseUrl, clock, oauth, vouch }: OAuthServerSettings) {
  const limiters = { store: store.instances, clock }
  const registrations = createLimiter('programs registered', limiters, REGISTRATIONS, REGISTRATIONS_SECONDS)

  const ask = async (path: string, init: RequestInit): Promise<OAuthAnswer> => {
    const response = await (await auth()).handler(new Request(`${baseUrl}${path}`, { ...init, redirect: 'manual' }))
    const to = response.headers.get('location')
    if (to !== null && response.status >= 300 && response.status < 400) return { to }
    const headers = Object.fromEntries([...response.headers].filter(([name]) => name === 'www-authenticate' || name === 'cache-control'))
    return { status: response.status, headers, json: await response.text() }
  }
  const post = (path: string, { type, authorization, body }: OAuthPost) =>
    ask(path, { method: 'POST', body, headers: { 'content-type': type, ...(authorization !== undefined && { authorization }) } })

  /** The address that a token is for: those of its parts are parts of it. */
  const toResource = (named: string | null): string => {
    if (named === null || named === '') return oauth.resources[0]
    const text = URL.parse(named)?.href.replace(/\/$/, '') ?? named
    return oauth.resources.find((resource) => text === resource || text.startsWith(`${resource}/`)) ?? named
  }

  /** The browser of a person with a session for the plugin, which the browser itself never gets. */
  const withSession = async (client: ClientOfRequest, userId: string): Promise<ClientOfRequest> => {
    if (!vouch) return client
    const { cookies } = await vouch.startSession(userId, client)
    return { ...client, cookies: cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ') }
  }
  /**
   * Refuses a client that names a document nobody has asked a person about: strangers would choose what the service fetches. Those that
   * people allowed are known.
   */
  const refuseUnknown = async ({ authorization = '', body }: OAuthPost): Promise<OAuthAnswer | null> => {
    for (const clientId of clientsIn(new URLSearchParams(body), authorization)) {
      if (/^https:/i.test(clientId) && !(await readClient(clientId))) return refusal(401, 'invalid_client', 'This client is unknown here.')
    }
    return null
  }
  const readClient = async (clientId: string) => {
    const [row] = await store.logins.findLoginRows('oauth_client', [isEqual('client_id', replaceNul(clientId))], { limit: 1, offset: 0 })
    return row ?? null
  }
  const describeRequest = async (query: string): Promise<ClientRequest | null> => {
    const params = new URLSearchParams(query)
    const row = await readClient(params.get('client_id') ?? '')
    const returnsTo = params.get('redirect_uri')
    if (!row || returnsTo === null) return null
    const clientId = String(row['client_id'])
    const asked = (params.get('scope') ?? '').split(' ')
    return {
      clientId,
      name: toLabel(String(row['name'] ?? '')) || toLabel(clientId),
      publishedBy: clientId.startsWith('https:') ? (URL.parse(clientId)?.host ?? null) : null,
      returnsTo: nameTarget(returnsTo),
      scopes: DEFAULT_SCOPES.filter((scope) => asked.includes(scope)),
    }
  }
  /** Answers the request of a consent page. */
  const answerRequest = async (body: object, client: ClientOfRequest): Promise<string> => {
    const headers = toHeaders(client)
    headers.set('content-type', 'application/json')
    headers.set('origin', new URL(baseUrl).origin)
    const answer = await ask('/oauth2/consent', { method: 'POST', headers, body: JSON.stringify(body) })
    const url = 'to' in answer ? answer.to : consentAnswer.safeParse(tryJson(answer.json)).data?.url
    if (url === undefined || url.startsWith('/') || url.startsWith(`${baseUrl}/`)) {
      throw new AppError('invalid_input', 'This request is not valid any more. Start again from the program that sent you here.')
    }
    return url
  }

  return {
    /** Null for a query that is no request of a program that is known. */
    describeRequest,
    /**
     * Allows a request.
     * @returns where the person goes back to, and the id of the key that the program's tokens refer to. The caller makes that key
     * @throws AppError `invalid_input` for a query that is not, or no longer, good
     */
    async allow(
      query: string,
      scopes: readonly Scope[],
      { userId, client }: PersonAtBrowser,
    ): Promise<{ readonly to: string; readonly keyId: string }> {
      const keyId = randomUUID()
      // A program may refresh until it is disconnected, or is not used for a month.
      const scope = [...scopes, 'offline_access'].join(' ')
      // The session stays: the code is good only while it is there.
      const browser = await withSession(client, userId)
      const to = await consentKey.run(keyId, () => answerRequest({ accept: true, scope, oauth_query: query }, browser))
      return { to, keyId }
    },
    /** Says no to a request, and gives where the person goes back to. @throws AppError as `allow` does */
    refuse: async (query: string, { userId, client }: PersonAtBrowser): Promise<string> =>
      await answerRequest({ accept: false, oauth_query: query }, await withSession(client, userId)),
    /** Asks a person who is signed in. @throws AppError `invalid_input` for a request that cannot be answered to its program */
    async authorize(query: URLSearchParams, { userId, client }: PersonAtBrowser): Promise<OAuthAnswer> {
      const asked = new URLSearchParams(query)
      const named = asked.getAll('resource')
      asked.delete('resource')
      for (const one of new Set((named.length > 0 ? named : [null]).map(toResource))) asked.append('resource', one)
      // What other servers know of identities is left out, rather than refused.
      const scopes = (asked.get('scope') ?? '').split(' ').filter((scope) => scope !== '' && !IDENTITY_SCOPES.has(scope))
      const wanted = scopes.some((scope) => scope !== 'offline_access') ? scopes : [...DEFAULT_SCOPES]
      asked.set('scope', [...new Set([...wanted, 'offline_access'])].join(' '))
      // People are asked in any case, and sign in on pages of ours.
      for (const name of ['prompt', 'max_age']) asked.delete(name)
      const browser = await withSession(client, userId)
      const answer = await ask(`/oauth2/authorize?${asked}`, { headers: toHeaders(browser) })
      await vouch?.signOut(browser)
      const to = 'to' in answer ? answer.to : null
      if (to === null || to.startsWith(`${baseUrl}${ERROR_PATH}`)) {
        throw toRefusal(answer, oauth.readsDocuments ? (asked.get('client_id') ?? '') : '')
      }
      // Anybody can register any address: nobody is led to one elsewhere without having been asked (RFC 9700, section 4.11.2).
      if (!to.startsWith('/') && !isOfThisMachine(to)) throw toRefusal(answer, '')
      return { to }
    },
    /** Gives tokens for a code or a refresh token. */
    async exchange(sent: OAuthPost): Promise<OAuthAnswer> {
      const unknown = await refuseUnknown(sent)
      if (unknown) return unknown
      const form = new URLSearchParams(sent.body)
      const named = form.get('resource')
      if (named !== null) form.set('resource', toResource(named))
      const refreshed = form.get('refresh_token')
      const owner = refreshed === null ? null : await store.keys.findKeyOfToken(hashToken(refreshed))
      if (owner && (await store.keys.findOverKeys([owner.id])).length > 0) {
        return refusal(400, 'invalid_grant', 'This connection was ended. Sign in again.')
      }
      // Somebody has a copy of the token: this connection ends, where the plugin would end all that the person has with the program.
      if (owner?.isUsedUp) {
        await store.keys.revokeKey(owner.id)
        return refusal(400, 'invalid_grant', 'This refresh token was used before. The connection was ended; sign in again.')
      }
      const answer = await inTurn(refreshed, () => post('/oauth2/token', { ...sent, body: String(form) }))
      // RFC 7636, section 4.6; the plugin calls it a wrong request.
      if ('status' in answer && answer.status === 401 && /"error":"invalid_request"/.test(answer.json)) {
        return refusal(400, 'invalid_grant', 'The code verifier is not that of the request, or is missing.')
      }
      // A program would drop what it has, though only its document cannot be read just now.
      if (owner && 'status' in answer && /"error":"invalid_client"/.test(answer.json) && /^https:/i.test(form.get('client_id') ?? '')) {
        return refusal(503, 'temporarily_unavailable', 'The metadata document of the client cannot be read now. Try again later.')
      }
      if (owner && 'status' in answer && answer.status === 200) await store.keys.extendKey(owner.id, connectionEnd(clock()))
      return answer
    },
    /** Registers a program. @throws AppError `rate_limited` */
    async register(sent: OAuthPost, caller: string): Promise<OAuthAnswer> {
      const retryAfterSeconds = await registrations.count(caller)
      if (retryAfterSeconds !== null) {
        throw new AppError('rate_limited', 'Too many programs registered from your address. Try again in an hour.', { retryAfterSeconds })
      }
      const registration = readRegistration(tryJson(sent.body))
      if ('fault' in registration) return refusal(400, registration.error, registration.fault)
      const answer = await post('/oauth2/register', { ...sent, authorization: undefined, body: JSON.stringify(registration.body) })
      if (!('status' in answer) || answer.status >= 300) return answer
      const made = z.looseObject({ client_id: z.string() }).parse(tryJson(answer.json))
      if (registration.redirectUris !== null) {
        const values = { redirect_uris: JSON.stringify(registration.redirectUris) }
        await store.logins.updateLoginRows('oauth_client', [isEqual('client_id', made.client_id)], values)
      }
      const shown = registration.redirectUris === null ? made : { ...made, redirect_uris: registration.redirectUris }
      return { status: 201, headers: { 'cache-control': 'no-store' }, json: JSON.stringify(shown) }
    },
    async revoke(sent: OAuthPost): Promise<OAuthAnswer> {
      const token = new URLSearchParams(sent.body).get('token') ?? ''
      const owner = token === '' ? null : await store.keys.findKeyOfToken(hashToken(token))
      const unknown = await refuseUnknown(sent)
      if (unknown) return unknown
      const answer = await post('/oauth2/revoke', sent)
      // The plugin says yes to other programs, too, and leaves the token as it is (RFC 7009, section 2.2).
      const isGone = owner?.isRefresh === true && ((await store.keys.findKeyOfToken(hashToken(token)))?.isRevoked ?? true)
      if (owner && isGone) await store.keys.revokeKey(owner.id)
      return answer
    },
    /** RFC 8414. */
    async readMetadata(): Promise<Readonly<Record<string, unknown>>> {
      const answer = await ask('/.well-known/oauth-authorization-server', { method: 'GET' })
      const metadata = z.looseObject({}).parse('json' in answer ? tryJson(answer.json) : {})
      return Object.fromEntries(Object.entries(metadata).filter(([name]) => !NOT_SERVED.test(name)))
    },
    /** The actor of a token at a path. @throws AppError `invalid_api_key` for a token that does not work, or is for another address */
    async authenticate(token: string, path: string): Promise<Actor> {
      const found = await store.keys.findTokenKey(hashToken(token))
      if (!found) throw new AppError('invalid_api_key', 'The access token is unknown, expired or revoked.')
      if (!found.resources.includes(toResource(`${baseUrl}${path}`)))
        throw new AppError('invalid_api_key', 'The access token is for another address.')
      return actorOfKey({ ...found.key, scopes: found.scopes }, store.keys, store.people.noteSeen, clock)
    },
  }
}

const consentAnswer = z.object({ url: z.string() })

/** Metadata of endpoints that are not served. */
const NOT_SERVED = /^(?:introspection|dpop|backchannel|jwks|userinfo|end_session)_/

/** When a connection that is used now is over. */
function connectionEnd(nowMs: number): string {
  return new Date(nowMs + CONNECTION_SECONDS * 1000).toISOString()
}

function refusal(status: number, error: string, description: string): OAuthAnswer {
  return { status, headers: { 'cache-control': 'no-store' }, json: JSON.stringify({ error, error_description: description }) }
}

const refusedAnswer = z.object({ error: z.string().default(''), error_description: z.string() })

/** Why a request could not be answered to its program. `clientId`: where its metadata document is, if it is an address */
function toRefusal(answer: OAuthAnswer, clientId: string): AppError {
  const given = 'to' in answer ? Object.fromEntries(new URL(answer.to).searchParams) : tryJson(answer.json)
  const { error, error_description: said } = refusedAnswer.safeParse(given).data ?? { error: '', error_description: '' }
  const reason = toLabel(said.replaceAll('_', ' '))
  const ending = reason === '' ? '.' : `: ${reason}.`
  // Programs keep the name they registered with, and registrations that nobody allows end after a day.
  if (error === 'invalid_client' && !clientId.startsWith('https:')) {
    return new AppError(
      'invalid_input',
      'This library does not know the program that sent you here. Sign out of the library in that program, or remove it there, and connect it again.',
    )
  }
  const publisher = clientId.startsWith('https:') && error === 'invalid_client' ? URL.parse(clientId)?.host : undefined
  if (publisher === undefined) {
    return new AppError('invalid_input', `The program that sent you here asked in a way that is not understood${ending}`)
  }
  return new AppError(
    'invalid_input',
    `The program that sent you here is described by a document at ${toLabel(publisher)}, which could not be used${ending} Start again from the program. If this happens again, ask whoever runs this library whether it can reach ${toLabel(publisher)}.`,
  )
}

/** Every client that a request says it is of: in its body, by HTTP Basic, and in an assertion, whose signature the plugin checks. */
function clientsIn(form: URLSearchParams, authorization: string): string[] {
  const basic = /^basic\s+([A-Za-z0-9+/]+=*)\s*$/i.exec(authorization)?.[1]
  const name = basic === undefined ? '' : (Buffer.from(basic, 'base64').toString('utf8').split(':', 1)[0] ?? '')
  const claims = Buffer.from(form.get('client_assertion')?.split('.')[1] ?? '', 'base64url').toString('utf8')
  const named = z.object({ iss: z.string().optional(), sub: z.string().optional() }).safeParse(tryJson(claims)).data
  return [...form.getAll('client_id'), name, decodePart(name), named?.iss ?? '', named?.sub ?? ''].filter((clientId) => clientId !== '')
}

/** Whether an address is of a program that listens on the reader's own machine. An app is opened only when somebody has been asked. */
function isOfThisMachine(address: string): boolean {
  const url = URL.parse(address)
  return url?.protocol === 'http:' && isLoopback(url.hostname)
}

/** A stranger's text as a short label: one line, without characters that hide or reorder others. */
function toLabel(text: string): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return line.length > MAX_LABEL ? `${line.slice(0, MAX_LABEL - 1)}…` : line
}

/** Where an address leads, in short. An app of its own scheme has no host that means anything. */
function nameTarget(address: string): string {
  const url = URL.parse(address)
  if (!url) return ''
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol
}

/** Refreshes under way, by token. */
const refreshing = new Map<string, Promise<unknown>>()

/** Waits for the refreshes of the same token before it: they leave the answer that all of them get. */
async function inTurn<T>(token: string | null, work: () => Promise<T>): Promise<T> {
  if (token === null) return await work()
  const before = refreshing.get(token)
  const own = (before ?? Promise.resolve()).then(work, work)
  refreshing.set(token, own)
  try {
    return await own
  } finally {
    if (refreshing.get(token) === own) refreshing.delete(token)
  }
}
