import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { readApiKey, readBearerToken } from '../auth/credentials.ts'
import type { OAuthServer } from '../auth/oauth/oauth-server.ts'
import type { ProxySignIn } from '../auth/proxy-sign-in.ts'
import { toLangfuseError } from '../channels/langfuse.ts'
import { type Actor, strangerTo } from '../domain/people/actor.ts'
import type { ClientOfRequest } from '../domain/ports/environment.ts'
import { AppError, toAppError } from '../errors.ts'
import { type Answer, type AnswerHeaders, type Exchange, jsonAnswer } from '../exchange.ts'
import type { Admission, Place, Turns } from '../http/admission.ts'
import { type Compress, errorHeaders, HTTP_STATUS, toErrorAnswer } from '../http/answers.ts'
import { decodeBody, type ReadBytes } from '../http/body.ts'
import {
  type AccessRules,
  addCorsAndCaching,
  addIsolation,
  asksToSignIn,
  challengeOf,
  checkHost,
  checkOrigin,
  hasKeyHeader,
  hideFromStranger,
  isFromProgram,
  isRead,
  preflight,
  readsCookies,
  refuseStranger,
} from '../http/guards.ts'
import type { RequestCounts } from '../http/metrics.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import type { BodyLimit, BoundRoute, Call, RouteKind, Router } from '../http/route.ts'
import { isMcpCall } from '../mcp/endpoint.ts'
import { idOf, toErrorBody as toMcpErrorBody } from '../mcp/messages.ts'
import type { WorkMeter } from '../storage/store.ts'

/** The default content policy: the answer is not a page and must not be framed. */
const CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"
/** Bodies up to this size are free; each further piece of it costs a point. */
const FREE_BODY_BYTES = 256 * 1024
const BYTES_A_POINT = 64 * 1024
const NO_BODY = new Uint8Array()
/** Largest body that is read for the sake of its message's id. */
const MAX_REFUSED_BYTES = 64 * 1024

/** The page on which people set up a second factor. */
const FACTOR_PATH = '/settings/passkeys'

/** The parts of the pipeline. */
export interface PipelineParts {
  readonly router: Router<BoundRoute>
  readonly rules: AccessRules
  /** Whether the library is for members alone. */
  readonly isForMembers: boolean
  /** Whether such a library still shows everybody single public items. */
  readonly hasPublicItems: boolean
  readonly limits: RateLimits
  readonly admission: Admission
  /** For routes whose requests wait in line. */
  readonly queue: Admission
  readonly turns: Turns
  readonly readBytes: ReadBytes
  readonly compress: Compress
  /** Null without metrics. */
  readonly requests: RequestCounts | null
  readonly logger: Logger
  clientOf(exchange: Exchange): ClientOfRequest
  /** Runs it, and adds up what it takes. */
  meterWork<T>(meter: WorkMeter, work: () => T): T
  /** The actor of a key. @throws AppError `invalid_api_key` */
  authenticate(key: string): Promise<Actor>
  /** How programs sign in; null where they do not. */
  readonly oauth: Pick<OAuthServer, 'authenticate'> | null
  /** The maker of the install link of a token, and its scope; null when it does not work. */
  authenticateInstallLink(token: string): Promise<{ readonly id: string; readonly actor: Actor; readonly scope: string } | null>
  /** The actor of a browser's cookies; `cookies` renew its session. */
  authenticateBrowser(client: ClientOfRequest): Promise<{ actor: Actor | null; cookies: string[]; lacksFactor: boolean }>
  /** The actor that a reverse proxy signs in; null where none does. */
  readonly proxy: ProxySignIn | null
  /** A page that says what went wrong, when one was asked for. */
  toProblem(call: Call, error: AppError): Promise<Answer> | null
  /** Reports a fault of the service or of one it depends on. */
  onFault(error: AppError, requestId: string): void
}

/**
 * Answers one request and gives the answer to `send`, which resolves when the client has taken it or left. Until then the request counts as
 * open.
 */
export type Pipeline = (exchange: Exchange, send: (answer: Answer) => Promise<void>) => Promise<void>

/** A call while it goes through the pipeline. */
type OpenCall = { -readonly [Name in keyof Call]: Call[Name] } & { isKnown: boolean; linkId: string | null; lacksFactor: boolean }

/** Whether somebody must set up a second factor before anything else, and asks for something else. */
function isHeldBack({ lacksFactor, exchange: { path } }: OpenCall): boolean {
  return lacksFactor && path !== FACTOR_PATH && !path.startsWith(`${FACTOR_PATH}/`) && path !== '/sign-out'
}

/** The path of every request: host, origin, identity, limits, admission, route, headers, compression, log. */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { router, rules, isForMembers, hasPublicItems, limits, admission, turns, requests, logger } = parts
  const isSecure = rules.baseUrl.startsWith('https:')
  const stranger = strangerTo(parts)
  const refusesOthers = parts.oauth !== null
  let lastHost: string | null = null

  const guardMethod = (kind: RouteKind, exchange: Exchange): void => {
    if (kind === 'mcp' && !isMcpCall(exchange)) {
      throw new AppError('method_not_allowed', 'This endpoint accepts POST; GET and DELETE need a session opened by initialize.')
    }
  }
  /** Checks host and origin. @throws AppError `forbidden`, `method_not_allowed` */
  const guard = ({ exchange, kind }: OpenCall): void => {
    const host = exchange.header('host') ?? ''
    // Most requests have the same host as the one before.
    if (host !== lastHost) {
      checkHost(host, rules)
      lastHost = host
    }
    if (exchange.method === 'OPTIONS') return
    // What programs sign in by takes no cookies.
    if (kind === 'mcp' || (kind !== 'oauth' && !isRead(exchange.method))) checkOrigin(exchange.header('origin') ?? null, rules)
  }

  /**
   * Authenticates the caller: by key below /api/ and on channels, by the token in the path of an install link, by cookies on pages. Keys,
   * links and people have their own limits; everybody else counts by address.
   */
  const identify = (call: OpenCall): Promise<void> | null => {
    const { exchange, client, kind } = call
    if (kind === 'channel') return identifyOnChannel(call)
    if (kind === 'mcp' && parts.oauth) return identifyProgram(call, parts.oauth)
    if (exchange.path.startsWith('/api/')) {
      if (!hasKeyHeader(exchange)) return null
      const key = readApiKey(keyHeaders(exchange), { takesBasic: kind === 'langfuse', refusesOthers })
      return key === null ? null : identifyKey(call, key)
    }
    if (!readsCookies(kind, exchange.path)) return null
    if (parts.proxy !== null) return identifyBehind(parts.proxy, call)
    return client.cookies !== '' ? identifyPerson(call) : null
  }
  /** A program that signed in, or a key. */
  const identifyProgram = (call: OpenCall, oauth: Pick<OAuthServer, 'authenticate'>): Promise<void> | null => {
    const { path } = call.exchange
    if (isFromProgram(call.exchange)) {
      return identifyKey(call, readBearerToken(call.exchange.header('authorization') ?? ''), (token) => oauth.authenticate(token, path))
    }
    const key = hasKeyHeader(call.exchange) ? readApiKey(keyHeaders(call.exchange), { refusesOthers: true }) : null
    if (key === null && !asksToSignIn(path)) return null
    if (key === null) throw new AppError('unauthenticated', 'Sign in first: this address is for programs that signed in, and for API keys.')
    return identifyKey(call, key)
  }
  const identifyOnChannel = (call: OpenCall): Promise<void> | null => {
    const { exchange, params } = call
    const scope = params['scope'] ?? ''
    const [, first, token] = scope.split('/')
    if (first === 'install' && token !== undefined) return identifyLink(call, token)
    const key = readApiKey(keyHeaders(exchange), { takesBasic: true, refusesOthers })
    if (first !== 'private') return key === null ? null : identifyKey(call, key)
    if (key === null) throw new AppError('unauthenticated', 'This address needs an API key, as the password of HTTP Basic or in a header.')
    call.params = { ...params, scope: scope.slice('/private'.length) }
    return identifyKey(call, key)
  }
  const identifyLink = async (call: OpenCall, token: string): Promise<void> => {
    const link = await parts.authenticateInstallLink(token)
    if (!link) throw new AppError('not_found', 'Nothing found at this address.')
    call.actor = link.actor
    call.caller = `link ${link.id}`
    call.isKnown = true
    call.linkId = link.id
    call.params = { ...call.params, scope: link.scope }
  }
  const identifyKey = async (call: OpenCall, key: string, prove = parts.authenticate): Promise<void> => setCaller(call, await prove(key))
  const identifyPerson = async (call: OpenCall): Promise<void> => {
    const { actor, cookies, lacksFactor } = await parts.authenticateBrowser(call.client)
    call.cookies.push(...cookies)
    call.lacksFactor = lacksFactor
    setCaller(call, actor)
  }
  /** The proxy's word counts more than a cookie; without it there may be the session of a sign-in link. */
  const identifyBehind = async (proxy: ProxySignIn, call: OpenCall): Promise<void> => {
    const report = (message: string) => parts.onFault(new AppError('upstream_failed', message), call.requestId)
    const actor = await proxy.identify(call.exchange, report)
    if (actor) setCaller(call, actor)
    else if (call.client.cookies !== '') await identifyPerson(call)
  }
  const setCaller = (call: OpenCall, actor: Actor | null): void => {
    if (actor?.kind !== 'user') return
    call.actor = actor
    call.caller = nameActor(actor)
    call.isKnown = true
  }

  const toCall = (exchange: Exchange): { call: OpenCall; route: BoundRoute | null; allowed: readonly string[] } => {
    const { kind, route, params, allowed } = router.find(exchange.method, exchange.path)
    const client = parts.clientOf(exchange)
    const call: OpenCall = {
      exchange,
      kind,
      params,
      requestId: randomUUID(),
      actor: stranger,
      caller: client.caller,
      client,
      cookies: [],
      operations: new Set(),
      isKnown: false,
      linkId: null,
      lacksFactor: false,
      work: { points: 0 },
      async charge(points) {
        await limits.count(call.caller, points)
      },
      body: NO_BODY,
      takeTurn: (cost) => turns.take(call.caller, cost),
    }
    return { call, route, allowed }
  }

  /** Reads a body, charges it and waits for the caller's turn: what follows is as dear as the request. */
  const readBody = async (call: OpenCall, cost: number, { maxBytes, tooLarge }: BodyLimit): Promise<Uint8Array> => {
    // A body with a length is charged before it is read, others afterwards.
    const declared = pointsOfBody(Math.min(maxBytes, Number(call.exchange.header('content-length') ?? 0)))
    if (declared > 0) await call.charge(declared)
    const bytes = await parts.readBytes(call.exchange, call, maxBytes).catch((error: unknown) => {
      const { code } = toAppError(error)
      throw tooLarge !== undefined && code === 'too_large' ? new AppError(code, tooLarge, { cause: error }) : error
    })
    const points = pointsOfBody(bytes.length) - declared
    if (points > 0) await call.charge(points)
    const turn = turns.take(call.caller, cost)
    if (turn) await turn
    return bytes
  }

  const respond = async (call: OpenCall, route: BoundRoute | null, allowed: readonly string[]): Promise<Answer> => {
    if (route) {
      const { bodyLimit: limit, cost } = route
      if (limit !== undefined) call.body = await readBody(call, cost, typeof limit === 'function' ? limit(call) : { maxBytes: limit })
      return route.handle(call)
    }
    const { method } = call.exchange
    if (allowed.length > 0) throw new AppError('method_not_allowed', `${method} is not supported here; use ${allowed.join(', ')}.`)
    throw new AppError('not_found', 'Nothing found at this address.')
  }

  const refuse = async (call: OpenCall, error: AppError, allowed: readonly string[], place: Place | null): Promise<Answer> => {
    parts.onFault(error, call.requestId)
    if (error.code === 'forbidden' && isHeldBack(call) && (call.exchange.header('accept') ?? '').includes('text/html')) {
      const to = isRead(call.exchange.method) ? `${call.exchange.path}${call.exchange.search}` : '/'
      const headers = { location: `${FACTOR_PATH}?to=${encodeURIComponent(to)}`, 'cache-control': 'no-store' }
      return { status: 303, headers, body: null }
    }
    if (call.kind === 'langfuse') return toLangfuseError(error, allowed)
    if (call.kind === 'channel' && HTTP_STATUS[error.code] === 401) {
      return toErrorAnswer(error, call.requestId, { 'www-authenticate': 'Basic realm="commonplace", charset="UTF-8"' })
    }
    const challenge = parts.oauth && HTTP_STATUS[error.code] === 401 ? challengeOf(call.exchange, rules.baseUrl) : {}
    if (call.kind === 'mcp') {
      const body = toMcpErrorBody(
        error,
        call.requestId,
        await readMessageId(call, error, () => readBody(call, 1, { maxBytes: MAX_REFUSED_BYTES })),
      )
      // Clients answer 401 by looking for a place to sign in, and never show what is wrong with the key.
      const isBadKey = error.code === 'invalid_api_key' && !asksToSignIn(call.exchange.path) && !isFromProgram(call.exchange)
      if (isBadKey) return jsonAnswer(body, 400)
      const headers = { ...errorHeaders(error), ...challenge, ...(error.code === 'method_not_allowed' ? { allow: 'POST, OPTIONS' } : {}) }
      return jsonAnswer(body, HTTP_STATUS[error.code], headers)
    }
    if (error.code === 'method_not_allowed') return toErrorAnswer(error, call.requestId, { allow: allowed.join(', ') })
    // Pages are expensive: a request refused here gets plain text, or is led to sign in.
    const isPageDue = place !== null || error.code === 'unauthenticated'
    // Channels are for programs, and never read cookies.
    const page = isPageDue && call.kind !== 'channel' ? await parts.toProblem(call, error) : null
    return page ?? toErrorAnswer(error, call.requestId, challenge)
  }

  const finish = (call: OpenCall, answer: Answer, startedMs: number): Answer | Promise<Answer> => {
    const { exchange, kind, requestId, cookies, actor } = call
    const headers: AnswerHeaders = { ...answer.headers, 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
    if (exchange.method !== 'OPTIONS') {
      addCorsAndCaching(headers, exchange, kind, rules, isPersonal(call))
    }
    addIsolation(headers, kind, isSecure)
    if (readsCookies(kind, exchange.path) && (actor.kind === 'user' || cookies.length > 0)) {
      headers['cache-control'] = 'private, no-store'
      delete headers['access-control-allow-origin']
    }
    if (cookies.length > 0) headers['set-cookie'] = cookies
    headers['content-security-policy'] ??= CONTENT_POLICY
    const { status } = answer
    const durationMs = performance.now() - startedMs
    requests?.count(kind, exchange.path, status, durationMs)
    if (logger.isLevelEnabled('info')) {
      logger.info({
        requestId,
        method: exchange.method,
        path: maskSecrets(exchange.path),
        status,
        ms: Math.round(durationMs),
        client: call.client.address,
        caller: call.linkId === null ? nameActor(actor) : `link ${call.linkId}`,
        ...(call.operations.size > 0 ? { operations: [...call.operations] } : {}),
      })
    }
    return parts.compress(exchange, { ...answer, headers })
  }

  /** Authenticates the caller, charges the request, and waits for admission and its turn. */
  const admit = async (call: OpenCall, route: BoundRoute | null): Promise<Place> => {
    const { exchange } = call
    const cost = route?.cost ?? 1
    try {
      const identified = identify(call)
      if (identified) await identified
    } catch (error) {
      // A wrong key counts for its address.
      await limits.count(call.client.caller)
      throw error
    }
    if (isHeldBack(call)) throw new AppError('forbidden', 'Set up a passkey or codes first: this library asks for a second factor.')
    const counted = limits.count(call.caller, cost)
    if (counted) await counted
    if (isForMembers && call.actor.kind === 'anonymous') {
      const refusal = refuseStranger({ kind: call.kind, path: exchange.path, route, hasPublicItems })
      if (refusal) throw refusal
    }
    // Who calls comes first, so that clients which begin with GET see what is wrong with their key.
    guardMethod(call.kind, exchange)
    const entering = (route?.queues ? parts.queue : admission).enter(call.caller, call.isKnown, exchange.signal)
    const place = entering instanceof Promise ? await entering : entering
    const turn = turns.take(call.caller, cost)
    if (turn) await turn
    return place
  }

  return async (exchange, send) => {
    const startedMs = performance.now()
    const { call, route, allowed } = toCall(exchange)
    let place: Place | null = null
    let answer: Answer | undefined
    try {
      try {
        if (call.kind !== 'probe') {
          try {
            guard(call)
          } catch (error) {
            await limits.count(call.caller)
            throw error
          }
          if (exchange.method !== 'OPTIONS') place = await admit(call, route)
        }
        if (exchange.hasLeft()) answer = CLIENT_LEFT
        else if (exchange.method === 'OPTIONS' && call.kind !== 'probe') answer = preflight(exchange, call.kind, rules)
        else answer = await parts.meterWork(call.work, () => respond(call, route, allowed))
        holdAnswer(place, answer)
      } catch (thrown) {
        dropBody(answer)
        const error = toAppError(thrown)
        const isOutside = isForMembers && call.actor.kind === 'anonymous'
        answer = exchange.hasLeft() ? CLIENT_LEFT : await refuse(call, isOutside ? hideFromStranger(error, route) : error, allowed, place)
      }
      const finished = finish(call, answer, startedMs)
      answer = finished instanceof Promise ? await finished : finished
      await send(answer)
    } catch (error) {
      dropBody(answer)
      throw error
    } finally {
      place?.leave()
      if (call.work.points > 0) await limits.settle(call.caller, Math.ceil(call.work.points))
    }
  }
}

function keyHeaders({ header }: Exchange) {
  return { get: (name: string) => header(name.toLowerCase()) ?? null }
}

/** Logged for a request whose client disconnected; 499 is nginx's status for it. */
const CLIENT_LEFT: Answer = { status: 499, headers: {}, body: null }

/** Cancels a stream that is not sent. */
function dropBody(answer: Answer | undefined): void {
  if (answer?.body instanceof ReadableStream && !answer.body.locked) void answer.body.cancel().catch(() => {})
}

/** The id of a message that is refused for its credentials (JSON-RPC 2.0, section 5); null for other errors and for what cannot be read. */
async function readMessageId(call: OpenCall, { code }: AppError, readBody: () => Promise<Uint8Array>): Promise<string | number | null> {
  if (call.exchange.method !== 'POST' || HTTP_STATUS[code] !== 401) return null
  try {
    return idOf(JSON.parse(decodeBody(await readBody())))
  } catch {
    return null
  }
}

/** Counts an answer until its client has taken it. @throws AppError `rate_limited`, `unavailable` */
function holdAnswer(place: Place | null, { body }: Answer): void {
  if (!place || body === null) return
  if (body instanceof ReadableStream) place.becomeStream()
  else place.holdAnswer(Buffer.byteLength(body))
}

/** Points of a body beside its request. */
function pointsOfBody(bytes: number): number {
  return Math.max(0, Math.ceil((bytes - FREE_BODY_BYTES) / BYTES_A_POINT)) || 0
}

/** The caller as the log names it. */
function nameActor(actor: Actor): string {
  if (actor.kind === 'anonymous') return 'anonymous'
  return actor.keyId === undefined ? `person ${actor.userId}` : `key ${actor.keyId}`
}

/** A path as logs may have it: the token of an install link or an archive is a secret. */
function maskSecrets(path: string): string {
  return path.replaceAll(/(\/|%2f)(install|archives)(?:\/|%2f)+[^/%]+/gi, '$1$2/…')
}

/** Whether the caller presented a key, an install link or the token of an archive. */
function isPersonal({ exchange, kind, actor, params }: OpenCall): boolean {
  return (
    hasKeyHeader(exchange) ||
    (kind === 'channel' && (actor.kind === 'user' || params['token'] !== undefined || exchange.path.startsWith('/install/')))
  )
}
