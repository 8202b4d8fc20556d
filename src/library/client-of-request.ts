/** Where a request came from. */
export interface ClientOfRequest {
  /** Its network address; empty where there is no socket. */
  readonly address: string
  /** Whom its requests are counted for: the address, or the network of one where a machine has a whole network. */
  readonly caller: string
  readonly userAgent: string | null
  /** The Cookie header. */
  readonly cookies: string
}
