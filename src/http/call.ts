import type { Actor } from '../domain/people/actor.ts'
import type { ClientOfRequest } from '../domain/people/client-of-request.ts'
import type { Answer, Exchange } from '../exchange.ts'
import type { Context } from '../operations/core/procedure.ts'
import type { WorkMeter } from '../storage/store.ts'
import type { Route, RouteKind } from './route.ts'

/** An authenticated request, as routes get it. */
export interface Call {
  readonly exchange: Exchange
  readonly kind: RouteKind
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** The id of the request in logs and errors. */
  readonly requestId: string
  readonly actor: Actor
  /** The caller that the request is counted for. */
  readonly caller: string
  /** Where it came from, as sign-in and forms see it. */
  readonly client: ClientOfRequest
  /** `Set-Cookie` headers that go with the answer. */
  readonly cookies: string[]
  /** Names of the operations that were called, for the log. */
  readonly operations: Set<string>
  /** Counts more points for the caller. @throws AppError `rate_limited` */
  charge(points: number): Promise<void>
  /** Gets the points of work that was measured; they are charged when the answer is sent. */
  readonly work: WorkMeter
  /** The body, where the route takes one. */
  readonly body: Uint8Array
  /** Waits for the caller's turn before work of this cost; null when it may go on at once. */
  takeTurn(cost: number): Promise<void> | null
}

/** Largest body of a request, in bytes, and the sentence for a larger one. */
export interface BodyLimit {
  readonly maxBytes: number
  readonly tooLarge?: string | undefined
}

/** A route with what answers it. */
export interface BoundRoute extends Route {
  /** The limit of its body, which is read before `handle` is called; it throws where none is to be read. Default: the route takes none */
  readonly bodyLimit?: number | ((call: Call) => BodyLimit)
  handle(call: Call): Promise<Answer> | Answer
}

/** Makes the operations' context for a request's caller. */
export type MakeContext = (actor: Actor) => Context
