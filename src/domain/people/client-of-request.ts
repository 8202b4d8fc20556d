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
