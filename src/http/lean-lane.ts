import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readApiKey } from '../auth/authenticate.ts'
import { type AppError, toAppError } from '../errors.ts'
import { type Actor, ANONYMOUS } from '../library/actor.ts'

/** Largest body the lean lane takes, in bytes: what is larger comes in pieces, and is read with all care elsewhere. */
const MAX_BODY_BYTES = 64 * 1024
/** Paths that mean themselves: nothing in them is encoded, doubled, or leads up. */
const PLAIN_PATH = /^(?:\/|(?:\/[\w~-][\w.~-]*)+)$/
const PLAIN_HOST = /^[a-z0-9._-]+(?::\d{1,5})?$/
/** Headers that ask for more than a plain answer to a plain request, or say who is calling in a way that takes more to believe. */
const UNUSUAL_HEADERS = new Set([
  'content-encoding',
  'expect',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'origin',
  'range',
  'transfer-encoding',
  'upgrade',
])

/** A request as it came over the wire, with nothing unusual about it. */
interface LeanRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** With its question mark; empty without a query. */
  readonly search: string
  /** By name in lower case; each was given once. */
  readonly headers: ReadonlyMap<string, string>
  /** Of the socket. */
  readonly address: string
  /** Of a GET: empty. */
  readonly body: string
}

/** An answer that is there as a whole. */
export interface LeanAnswer {
  readonly status: number
  /** By name in lower case. */
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}

/** Who asks, and what the request is called in logs. */
export interface LeanCall {
  readonly actor: Actor
  readonly requestId: string
  /** Names of the operations that were called, for logs. */
  readonly operations: Set<string>
}

/** What answers one kind of plain request. */
export interface LeanHandler {
  /** How to answer a request; null for one that is not plain after all. Nothing may have happened then. */
  accept(request: LeanRequest): LeanWork | null | Promise<LeanWork | null>
  /** The answer to who is refused; null where the full lane knows it. */
  refuse(error: AppError, requestId: string): LeanAnswer | null
}

/** Answers one request. */
type LeanWork = (call: LeanCall) => Promise<LeanAnswer>

/** What the lane needs of the service: the same guards, counts and headers that every other request meets. */
export interface LeanRules {
  /** @throws AppError when this name is not one of the service's */
  checkHost(host: string): void
  /** Whom a request of this address is counted for. */
  callerOf(address: string, forwardedFor: string | null): string
  /** Who presents a key, and whom that is counted for. @throws AppError `invalid_api_key`, having counted it for the address */
  identify(key: string, addressCaller: string): Promise<{ actor: Actor; caller: string }>
  /** Counts a request and works on it. @throws AppError `rate_limited`, `unavailable` */
  admit(caller: string, work: () => Promise<LeanAnswer>): Promise<LeanAnswer>
  /** Gives an answer its last headers, in the smaller form where the client takes it, and writes down that it was given. */
  finish(request: LeanRequest, answer: LeanAnswer, told: LeanCall & { readonly startedMs: number }): LeanAnswer | Promise<LeanAnswer>
  /** Hears of what failed here. */
  onFault(error: AppError, requestId: string): void
}

/** Answers a plain request; null, at once or in a moment, for one that the full lane must answer. */
export type LeanLane = (request: LeanRequest) => Promise<LeanAnswer | null> | null

/**
 * The short way for plain requests: no Request, no Response, no router. Whatever is unusual about a request is not for this lane.
 * Its answers are those of the full lane, byte for byte.
 */
export function createLeanLane(handlers: readonly LeanHandler[], rules: LeanRules): LeanLane {
  const answer = async (
    request: LeanRequest,
    key: string | null,
    { refuse }: LeanHandler,
    work: (call: LeanCall) => Promise<LeanAnswer>,
  ) => {
    const requestId = randomUUID()
    const startedMs = performance.now()
    const operations = new Set<string>()
    let actor: Actor = ANONYMOUS
    let answered: LeanAnswer | null
    try {
      let caller = rules.callerOf(request.address, request.headers.get('x-forwarded-for') ?? null)
      if (key !== null) ({ actor, caller } = await rules.identify(key, caller))
      const call = { actor, requestId, operations }
      answered = await rules.admit(caller, () => work(call))
    } catch (thrown) {
      const error = toAppError(thrown)
      rules.onFault(error, requestId)
      answered = refuse(error, requestId)
    }
    return answered && (await rules.finish(request, answered, { actor, requestId, operations, startedMs }))
  }
  return (request) => {
    try {
      rules.checkHost(request.headers.get('host') ?? '')
      const key = readApiKey({ get: (name) => request.headers.get(name.toLowerCase()) ?? null })
      for (const handler of handlers) {
        const accepted = handler.accept(request)
        if (accepted instanceof Promise) {
          // What could not be looked up here fails in the full lane too, which says so.
          return accepted.then(
            (work) => work && answer(request, key, handler, work),
            () => null,
          )
        }
        if (accepted) return answer(request, key, handler, accepted)
      }
      return null
    } catch {
      // Whoever is refused hears it from the full lane.
      return null
    }
  }
}

/** The headers of a request that has nothing unusual about it; null for any other. */
export function readPlainHeaders(rawHeaders: readonly string[]): Map<string, string> | null {
  const headers = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (headers.has(name) || UNUSUAL_HEADERS.has(name)) return null
    headers.set(name, rawHeaders[at + 1] ?? '')
  }
  return PLAIN_HOST.test(headers.get('host') ?? '') ? headers : null
}

type FullLane = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

/** What a server calls with each request: the lean lane for plain ones, the full lane for the rest. */
export function takeLeanLane(lane: LeanLane, fullLane: FullLane): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const send = (answer: LeanAnswer, outgoing: ServerResponse) => {
    const { status, headers, body } = answer
    // An answer that says nothing is new has no length of its own.
    if (status !== 304) headers['content-length'] = String(Buffer.byteLength(body))
    outgoing.writeHead(status, headers)
    outgoing.end(body)
  }
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  const answer = (request: LeanRequest, incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const answering = lane(request)
    if (!answering) fullLane(incoming, outgoing)
    else {
      answering.then(
        (answered) => (answered ? send(answered, outgoing) : fullLane(incoming, outgoing)),
        () => outgoing.destroy(),
      )
    }
  }
  return (incoming, outgoing) => {
    const head = readHead(incoming)
    if (!head) fullLane(incoming, outgoing)
    else if (head.method === 'GET') answer({ ...head, body: '' }, incoming, outgoing)
    else {
      // A body that came along with the head is all here by the loop's next turn. One that did not is waited for elsewhere.
      setImmediate(() => {
        const bytes: unknown = incoming.complete ? incoming.read() : null
        // Where node-server looks for a body that was read already.
        if (bytes instanceof Uint8Array) Object.assign(incoming, { rawBody: bytes })
        const body = bytes instanceof Uint8Array ? decode(utf8, bytes) : null
        if (body === null) fullLane(incoming, outgoing)
        else answer({ ...head, body }, incoming, outgoing)
      })
    }
  }
}

/** What is before the body, of a request that may be plain; null for others. */
function readHead({ method, url = '', httpVersion, rawHeaders, socket }: IncomingMessage): Omit<LeanRequest, 'body'> | null {
  if ((method !== 'GET' && method !== 'POST') || httpVersion !== '1.1') return null
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const headers = PLAIN_PATH.test(path) ? readPlainHeaders(rawHeaders) : null
  if (!headers) return null
  const length = Number(headers.get('content-length') ?? 0)
  if (method === 'GET' ? headers.has('content-length') : !(length > 0 && length <= MAX_BODY_BYTES)) return null
  return { method, path, search: mark === -1 ? '' : url.slice(mark), headers, address: socket.remoteAddress ?? '' }
}

/** Null for bytes that are no UTF-8. */
function decode(utf8: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes)
  } catch {
    return null
  }
}
