/** An HTTP request, as every route gets it. */
export interface Exchange {
  readonly method: string
  /** As it was sent, percent-encoded, with dot segments resolved. */
  readonly path: string
  /** With its question mark; empty without a query. */
  readonly search: string
  /** The socket's remote address; empty where there is no socket. */
  readonly remoteAddress: string
  /** A signal that is aborted when the client leaves before the answer was sent. */
  signal(): AbortSignal
  /** Whether the client has left, or the answer is sent. */
  hasLeft(): boolean
  /** A header by its name in lower case. One that was sent several times is joined by commas (RFC 9110, 5.3). */
  header(name: string): string | undefined
  /**
   * Hands over the body as it comes in, until `onChunk` gives false; may be called once. `onEnd` hears when no more comes, with an error
   * when the client broke it off.
   */
  readBody(onChunk: (chunk: Uint8Array) => boolean, onEnd: (error?: Error) => void): void
}

/** Header names in lower case. */
export type AnswerHeaders = Record<string, string | string[]>

/** An HTTP answer. A stream is sent as it comes; everything else is there as a whole. */
export interface Answer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | null
}

/** An answer in JSON. */
export function jsonAnswer(value: unknown, status = 200, headers: AnswerHeaders = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}
