import type { EncodedQuery, ItemText } from '../domain/ports/encoder.ts'

/** The data of the thread: the file, and the name of the model that it must have. */
export interface ThreadData {
  readonly file: string
  readonly model: string
}

/** A text for the thread. A query that waited until `endsAt` (ms since 1970) is not worth encoding. */
export type Request =
  | { readonly number: number; readonly query: string; readonly endsAt: number }
  | { readonly number: number; readonly item: ItemText }

/** The thread's news: it is ready, it cannot load the model, or it has the answer to a request; null when it was too late. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'query'; readonly number: number; readonly answer: EncodedQuery | null }
  | { readonly kind: 'item'; readonly number: number; readonly answer: Int8Array }
