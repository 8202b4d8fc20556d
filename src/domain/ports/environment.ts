/** The time, as milliseconds since 1970 (UTC). */
export type Clock = () => number

/** Randomness, passed in so that tests can fix it. */
export interface Random {
  /** A new id: a random UUID. */
  id(): string
  /** `length` random characters of `a-z 0-9`. */
  letters(length: number): string
  /** From 0 to less than 1. */
  fraction(): number
}

/** Where a request came from. */
export interface ClientOfRequest {
  /** Its network address; empty where there is no socket. */
  readonly address: string
  /** The address that its requests are counted for, or the network of one where a machine has a whole network. */
  readonly caller: string
  readonly userAgent: string | null
  /** The Cookie header. */
  readonly cookies: string
}
