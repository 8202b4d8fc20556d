import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import { LRUCache } from 'lru-cache'
import { createTally } from '../domain/service/running-work.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { type Answer, type AnswerHeaders, type Exchange, jsonAnswer } from '../exchange.ts'

/** HTTP status of each error code. */
export const HTTP_STATUS = {
  invalid_input: 400,
  unauthenticated: 401,
  invalid_api_key: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  upstream_failed: 502,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>

/** Headers that go with an error: how to authenticate on 401, when to try again on 429 and 503. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    ...(HTTP_STATUS[error.code] === 401 ? { 'www-authenticate': 'Bearer realm="commonplace"' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  }
}

/** An error in the one shape that REST shows (contract, "REST"). */
export function toErrorBody(error: AppError, requestId: string) {
  return {
    error: error.code,
    message: error.message,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    requestId,
  }
}

/** An error as a REST answer. */
export function toErrorAnswer(error: AppError, requestId: string, headers: AnswerHeaders = {}): Answer {
  return jsonAnswer(toErrorBody(error, requestId), HTTP_STATUS[error.code], {
    'cache-control': 'no-store',
    ...errorHeaders(error),
    ...headers,
  })
}

/** ETags of bytes that may be sent again: those of answers that are cached are the same object each time, and never change. */
const etags = new WeakMap<Uint8Array, string>()

/** The strong ETag of a text. */
export function makeEtag(text: string | Uint8Array): string {
  const cached = typeof text === 'string' ? undefined : etags.get(text)
  if (cached !== undefined) return cached
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 27)}"`
  if (typeof text !== 'string') etags.set(text, etag)
  return etag
}

/** Whether a request has the text of this ETag already (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}

/** An answer with the ETag of its bytes, or of `etag`; 304 to who has them. */
export function answerWithEtag(
  { header }: Exchange,
  headers: AnswerHeaders,
  body: string | Uint8Array,
  { etag = makeEtag(body), status = 200 }: { readonly etag?: string; readonly status?: number } = {},
): Answer {
  const all = { ...headers, etag }
  return matchesEtag(header('if-none-match'), etag) ? { status: 304, headers: all, body: null } : { status, headers: all, body }
}

/** The codings answers are given in, the better first. */
export const CODINGS = ['br', 'gzip'] as const

/** A way to make an answer smaller. */
export type Coding = (typeof CODINGS)[number]

/** Below this, in bytes, an answer fits into one packet anyway. */
const MIN_BYTES = 1024
/** Texts; a stream of events must not wait in a compressor. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream\b)|application\/(?:[\w.+-]+\+)?(?:json|xml|javascript)\b|image\/svg\+xml)/i
/** Private responses may contain a secret that compression next to foreign text would leak (BREACH). */
const FOR_ONE_READER = /\b(?:no-store|private|no-transform)\b/i
/** Size of the cache of compressed answers, in bytes: lists and searches that are asked for again and again. */
const MAX_CACHE_BYTES = 4 * 1024 * 1024
/** Up to this many bytes the hand-over to another thread and back costs as much as it spares. */
const MAX_SYNC_BYTES = 64 * 1024
/** The quickest: a list of 50 KB takes 0.3 ms in br and 0.6 ms in gzip, and to save a tenth more bytes would double that. */
const GZIP = { level: 1 }
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 } }

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)

/** Compresses once and for good, as small as it gets: for files that are served often. */
export async function compressFile(bytes: Uint8Array, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
  const packed =
    coding === 'gzip'
      ? await gzipAsync(bytes, { level: 9 })
      : await brotliAsync(bytes, {
          params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        })
  return new Uint8Array(packed)
}

/** The first offered coding that the client accepts; null for none (RFC 9110, 12.5.3). */
export function chooseCoding(acceptEncoding: string | null, offered: readonly Coding[]): Coding | null {
  if (acceptEncoding === null) return null
  const weights = new Map(parseAccept(acceptEncoding).map(({ type, q }) => [type.toLowerCase(), q]))
  return offered.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0) ?? null
}

/** Compresses an answer when its client takes that. */
export type Compress = (exchange: Exchange, answer: Answer) => Answer | Promise<Answer>

/** Compresses texts that are the same for everybody. An answer that is compressed already, streamed or for one reader stays as it is. */
export function createCompression(): Compress {
  const cache = new LRUCache<string, Uint8Array<ArrayBuffer>>({ maxSize: MAX_CACHE_BYTES, sizeCalculation: ({ length }) => length })
  const pack = async (bytes: Uint8Array, coding: Coding, key: string | null): Promise<Uint8Array<ArrayBuffer>> => {
    const packed = new Uint8Array(await compressText(bytes, coding))
    if (key !== null) cache.set(key, packed)
    return packed
  }
  return (exchange, answer) => {
    const { status, headers, body } = answer
    if (!isCompressible(headers['content-type'], headers['cache-control'])) return answer
    headers['vary'] = `${headers['vary']}, Accept-Encoding`
    if (headers['content-encoding'] !== undefined) return answer
    const coding = chooseCoding(exchange.header('accept-encoding') ?? null, CODINGS)
    if (coding === null) return answer
    const etag = typeof headers['etag'] === 'string' ? headers['etag'] : undefined
    if (etag !== undefined) headers['etag'] = toWeak(etag)
    if (body === null || body instanceof ReadableStream || status !== 200) return answer
    const toSmaller = (packed: Uint8Array): Answer => ({ status, headers: { ...headers, 'content-encoding': coding }, body: packed })
    const key = etag === undefined ? null : `${coding} ${etag}`
    const cached = key === null ? undefined : cache.get(key)
    if (cached) return toSmaller(cached)
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    return bytes.length < MIN_BYTES ? answer : pack(bytes, coding, key).then(toSmaller)
  }
}

function isCompressible(type: string | string[] | undefined, caching: string | string[] | undefined): boolean {
  return COMPRESSIBLE.test(String(type ?? '')) && !FOR_ONE_READER.test(String(caching ?? ''))
}

/** Bytes differ by coding, so the ETag must be weak (RFC 9110, 8.8.1). */
function toWeak(etag: string): string {
  return etag.startsWith('"') ? `W/${etag}` : etag
}

/** Compresses quickly: for what is made for each request. */
async function compressText(bytes: Uint8Array, coding: Coding): Promise<Uint8Array> {
  if (bytes.length <= MAX_SYNC_BYTES) return coding === 'gzip' ? gzipSync(bytes, GZIP) : brotliCompressSync(bytes, BROTLI)
  return coding === 'gzip' ? await gzipAsync(bytes, GZIP) : await brotliAsync(bytes, BROTLI)
}

/** Headers of bytes for saving, never for showing: whatever they are, a browser neither renders nor sniffs them (contract, "REST"). */
export function downloadHeaders(type: string, filename: string): AnswerHeaders {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  }
}

/** Downloads in pieces that one caller may have open. */
const MAX_OPEN = 4
/** Time limit of a download; slower readers must retry. */
const MAX_MS = 10 * 60_000

/** Answers a caller with bytes that are still being made. @throws AppError `rate_limited` when too many are being sent to them */
export type SendPieces = (
  caller: string,
  pieces: Iterator<Uint8Array, unknown> | AsyncIterator<Uint8Array, unknown>,
  headers: AnswerHeaders,
) => Answer

/** Sends pieces as they are made, others served between them. One caller has only a few of these open at once, and none without end. */
export function createPieceSender(): SendPieces {
  const open = createTally()
  return (caller, pieces, headers) => {
    if (open.of(caller) >= MAX_OPEN) {
      throw new AppError('rate_limited', `You already have ${MAX_OPEN} running downloads. Wait for one to finish.`, {
        retryAfterSeconds: 5,
      })
    }
    const release = open.add(caller)
    const end = new AbortController()
    const timer = setTimeout(() => end.abort(new Error('The download timed out')), MAX_MS).unref()
    const finish = () => {
      clearTimeout(timer)
      release()
    }
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        end.signal.addEventListener('abort', () => {
          finish()
          stream.error(end.signal.reason)
          void pieces.return?.(undefined)
        })
      },
      async pull(stream) {
        await setImmediate()
        try {
          const { done, value } = await pieces.next()
          if (end.signal.aborted) return
          if (!done) return stream.enqueue(value)
          finish()
          stream.close()
        } catch (error) {
          finish()
          throw error
        }
      },
      async cancel() {
        finish()
        await pieces.return?.(undefined)
      },
    })
    return { status: 200, headers, body }
  }
}
