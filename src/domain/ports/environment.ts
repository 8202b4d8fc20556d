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
