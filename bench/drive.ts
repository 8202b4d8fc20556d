import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from '../tools/autocannon.ts'
import { readProcessorTime } from './processor-time.ts'

/** One request to send. */
export interface Ask {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The body is sent in chunks, without its length. */
  readonly isChunked?: boolean
}

/** A process that answers at an address. */
export interface Target {
  readonly url: string
  readonly pid: number
}

/** What a number of requests took. */
export interface Measured {
  readonly perSecond: number
  /** Milliseconds from sending a request to the end of its answer. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the process that answered, in microseconds a request. */
  readonly cpuMicroseconds: number
}

/**
 * Sends `amount` requests over some connections, each going through the asks from a place of its own, so that no two ask the same at once.
 * @param asks these in turn, or what gives the next, which is then sent once
 * @throws Error when an answer is not 2xx, tells of an error, or does not come
 */
export async function drive(
  { url, pid }: Target,
  asks: readonly Ask[] | (() => Ask),
  connections: number,
  amount: number,
): Promise<Measured> {
  const times: number[] = []
  let begun = 0
  let strange = ''
  const cpuBefore = readProcessorTime(pid)
  const started = performance.now()
  const each = Math.ceil(amount / connections)
  const run = autocannon({
    url,
    connections,
    amount,
    timeout: 30,
    sampleInt: 50,
    setupClient(client) {
      const own = typeof asks === 'function' ? Array.from({ length: each }, asks) : takeFrom(asks, begun++ / connections, each)
      // A copy of each: it writes the request's headers and bytes into it.
      const requests: (Ask & { requestBuffer?: Buffer })[] = own.map((ask) => ({ ...ask }))
      client.setRequests(requests)
      for (const [place, ask] of own.entries()) {
        const request = requests[place]
        if (ask.isChunked && request) request.requestBuffer = toChunkedBytes(ask, new URL(url).host)
      }
    },
    verifyBody(body) {
      const isGood = body.length > 0 && !saysError(body)
      if (!isGood && strange === '') strange = body.slice(0, 300)
      return isGood
    },
  })
  let lastMs = 0
  run.on('response', (_client, _status, _bytes, ms) => {
    times.push(ms)
    lastMs = performance.now() - started
  })
  const result = await run
  const cpu = readProcessorTime(pid) - cpuBefore
  if (result['2xx'] !== amount || result.errors + result.timeouts + result.mismatches + result.non2xx > 0) {
    const { non2xx, errors, timeouts, mismatches } = result
    throw new Error(
      `${url}: of ${amount} requests ${result['2xx']} were answered 2xx, ${non2xx} were not, ${errors} failed, ${timeouts} took too long, ${mismatches} told of an error: ${strange}`,
    )
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
  return { perSecond: (amount / lastMs) * 1000, p50Ms: at(0.5), p99Ms: at(0.99), cpuMicroseconds: cpu / amount }
}

/** The asks from a place on, a share of the way through them. */
function takeFrom(asks: readonly Ask[], share: number, count: number): Ask[] {
  const from = Math.floor(share * asks.length)
  return Array.from({ length: Math.min(count, asks.length) }, (_, place) => asks[(from + place) % asks.length]).filter((ask) => !!ask)
}

/** A request with its body in one chunk, as autocannon cannot send it: with the same headers otherwise. */
function toChunkedBytes({ method, path, headers, body = '' }: Ask, host: string): Buffer {
  const lines = Object.entries({ ...headers, 'transfer-encoding': 'chunked' }).map(([name, value]) => `${name}: ${value}`)
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: keep-alive', ...lines].join('\r\n')
  return Buffer.from(`${head}\r\n\r\n${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`)
}

/** Whether an answer tells of an error. Within a text of JSON these marks have backslashes before their quotation marks. */
export function saysError(body: string): boolean {
  return body.includes('"isError":true') || /^\{(?:"jsonrpc":"2\.0",(?:"id":[^,]+,)?)?"error":/.test(body)
}

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

/** What the floor is asked: a body like those of MCP. */
export const FLOOR_ASKS: readonly Ask[] = [
  {
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_prompt', arguments: { id: 'writer' } } }),
  },
]

/** Starts the floor in a process of its own. */
export async function startFloor(): Promise<Target & { stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['--max-semi-space-size=4', fileURLToPath(new URL('floor.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [port] = child.stdout ? await once(child.stdout, 'data') : []
  return {
    url: `http://127.0.0.1:${String(port).trim()}`,
    pid: child.pid ?? 0,
    async stop() {
      child.stdin?.end()
      await once(child, 'exit')
    },
  }
}
