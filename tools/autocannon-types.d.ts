/** What is used of autocannon, which brings no types. */
declare module 'autocannon' {
  interface Client {
    setRequests(requests: readonly object[]): void
  }
  interface Options {
    readonly url: string
    readonly connections: number
    /** How many requests are sent, over all connections. */
    readonly amount: number
    /** In seconds. */
    readonly timeout: number
    /** How often it looks whether it is done, in milliseconds. */
    readonly sampleInt: number
    readonly setupClient: (client: Client) => void
    readonly verifyBody: (body: string) => boolean
  }
  interface Result {
    readonly errors: number
    readonly timeouts: number
    readonly mismatches: number
    readonly non2xx: number
    readonly '2xx': number
  }
  interface Run extends PromiseLike<Result> {
    /** Told of each answer with its time in milliseconds. */
    on(event: 'response', listener: (client: Client, status: number, bytes: number, ms: number) => void): this
  }
  export default function autocannon(options: Options): Run
}
