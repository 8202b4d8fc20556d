import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { LeanAnswer } from './lean-lane.ts'

/** The codings answers are given in, the better first. */
export const CODINGS = ['br', 'gzip'] as const

/** A way to make an answer smaller. */
export type Coding = (typeof CODINGS)[number]

/** Below this, in bytes, an answer fits into one packet anyway. */
const MIN_BYTES = 1024
/** Texts; a stream of events must not wait in a compressor. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream\b)|application\/(?:[\w.+-]+\+)?(?:json|xml|javascript)\b|image\/svg\+xml)/i
/** Answers for one reader may hold a secret, whose length would tell of it beside a text of somebody else's (BREACH). */
const FOR_ONE_READER = /\b(?:no-store|private|no-transform)\b/i
/** How much of compressed answers is remembered, in bytes: lists and searches that are asked for again and again. */
const MAX_REMEMBERED_BYTES = 4 * 1024 * 1024
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
          params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
        })
  return new Uint8Array(packed)
}

/** The first of some codings that the client takes; null when it takes none (RFC 9110, 12.5.3). */
export function chooseCoding(acceptEncoding: string | null, offered: readonly Coding[]): Coding | null {
  if (acceptEncoding === null) return null
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
        const weight = parameters.find((text) => text.startsWith('q='))
        return [name, weight === undefined ? 1 : Number(weight.slice(2))] as const
      }),
  )
  return offered.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0) ?? null
}

/** Makes answers smaller for clients that take it. */
export interface Compression {
  compressAnswer(request: Request, answer: Response): Promise<Response>
  /** The same for an answer of the lean lane to a GET. */
  compressLean(acceptEncoding: string | null, answer: LeanAnswer): LeanAnswer | Promise<LeanAnswer>
}

/** Compresses texts that are the same for everybody; an answer that is compressed already, or is for one reader, stays as it is. */
export function createCompression(): Compression {
  const remembered = new Map<string, Uint8Array<ArrayBuffer>>()
  let rememberedBytes = 0
  const remember = (key: string, bytes: Uint8Array<ArrayBuffer>): void => {
    rememberedBytes += bytes.length - (remembered.get(key)?.length ?? 0)
    remembered.set(key, bytes)
    for (const [oldest, old] of remembered) {
      if (rememberedBytes <= MAX_REMEMBERED_BYTES) break
      remembered.delete(oldest)
      rememberedBytes -= old.length
    }
  }

  const pack = async (bytes: Uint8Array, coding: Coding, key: string | null): Promise<Uint8Array<ArrayBuffer>> => {
    const packed = new Uint8Array(await compressText(bytes, coding))
    if (key !== null) remember(key, packed)
    return packed
  }

  return {
    async compressAnswer(request, answer) {
      const { headers } = answer
      if (!isCompressible(headers.get('Content-Type'), headers.get('Cache-Control'))) return answer
      headers.append('Vary', 'Accept-Encoding')
      if (headers.has('Content-Encoding')) return answer
      const coding = chooseCoding(request.headers.get('Accept-Encoding'), CODINGS)
      if (coding === null) return answer
      const etag = headers.get('ETag')
      if (etag !== null) headers.set('ETag', toWeak(etag))
      if (answer.body === null || request.method === 'HEAD' || answer.status !== 200) return answer

      const key = etag === null ? null : `${coding} ${etag}`
      const known = key === null ? undefined : remembered.get(key)
      if (known) {
        await answer.body.cancel()
        return toAnswer(known, coding, answer)
      }
      const bytes = new Uint8Array(await answer.arrayBuffer())
      if (bytes.length < MIN_BYTES) return new Response(bytes, { status: answer.status, headers })
      return toAnswer(await pack(bytes, coding, key), coding, answer)
    },
    compressLean(acceptEncoding, answer) {
      const { status, body } = answer
      if (!isCompressible(answer.headers['content-type'] ?? null, answer.headers['cache-control'] ?? null)) return answer
      const headers: Record<string, string> = { ...answer.headers, vary: `${answer.headers['vary']}, Accept-Encoding` }
      const coding = chooseCoding(acceptEncoding, CODINGS)
      const etag = headers['etag']
      if (coding === null) return { status, headers, body }
      if (etag !== undefined) headers['etag'] = toWeak(etag)
      if (status !== 200) return { status, headers, body }
      const toSmaller = (packed: Uint8Array): LeanAnswer => ({ status, headers: { ...headers, 'content-encoding': coding }, body: packed })
      const key = etag === undefined ? null : `${coding} ${etag}`
      const known = key === null ? undefined : remembered.get(key)
      if (known) return toSmaller(known)
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      return bytes.length < MIN_BYTES ? { status, headers, body } : pack(bytes, coding, key).then(toSmaller)
    },
  }
}

function isCompressible(type: string | null, caching: string | null): boolean {
  return COMPRESSIBLE.test(type ?? '') && !FOR_ONE_READER.test(caching ?? '')
}

/** The bytes differ by coding, so what names them must not say that they are these very bytes (RFC 9110, 8.8.1). */
function toWeak(etag: string): string {
  return etag.startsWith('"') ? `W/${etag}` : etag
}

/** Compresses quickly: for what is made for each request. */
async function compressText(bytes: Uint8Array, coding: Coding): Promise<Uint8Array> {
  if (bytes.length <= MAX_SYNC_BYTES) return coding === 'gzip' ? gzipSync(bytes, GZIP) : brotliCompressSync(bytes, BROTLI)
  return coding === 'gzip' ? await gzipAsync(bytes, GZIP) : await brotliAsync(bytes, BROTLI)
}

function toAnswer(bytes: Uint8Array<ArrayBuffer>, coding: Coding, { status, headers }: Response): Response {
  const smaller = new Headers(headers)
  smaller.set('Content-Encoding', coding)
  smaller.delete('Content-Length')
  return new Response(bytes, { status, headers: smaller })
}
