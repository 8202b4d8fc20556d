import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import { LRUCache } from 'lru-cache'
import type { Answer, Exchange } from '../exchange.ts'

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
