import type { Answer, AnswerHeaders } from '../exchange.ts'
import type { Call } from '../http/call.ts'
import { answerWithEtag } from '../http/etag.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'
/** How long others may keep a public answer: what is in it can be withdrawn (contract, "Keys"). */
const MAX_AGE = 'public, max-age=60'

/** Bytes of a channel, with an ETag; 304 to who has them. Answers to keys and links get their own caching on the way out. */
export function answerBytes({ exchange }: Call, bytes: Uint8Array, type: string, headers: AnswerHeaders = {}): Answer {
  return answerWithEtag(exchange, { 'content-type': type, 'cache-control': MAX_AGE, ...headers }, bytes)
}

/** A file for saving: no browser shows it as a page of this service. */
export function answerFile(call: Call, bytes: Uint8Array, type: string): Answer {
  return answerBytes(call, bytes, type, { 'content-disposition': 'attachment', 'content-security-policy': "default-src 'none'; sandbox" })
}
