import { hash } from 'node:crypto'
import type { Answer, AnswerHeaders, Exchange } from '../exchange.ts'

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
