import { once } from 'node:events'
import { request as ask, createServer } from 'node:http'
import { pipeline } from 'node:stream'
import { listenHere } from './children.ts'

/** A proxy that gives each request to the next of its servers, whoever asks. */
export interface RoundRobin {
  readonly url: string
  /** Where requests go from now on, in turn. */
  setTargets(urls: readonly string[]): void
  close(): Promise<void>
}

/** Starts a proxy on a free port of this machine; it buffers nothing. */
export async function startRoundRobin(): Promise<RoundRobin> {
  let targets: readonly string[] = []
  let turn = 0
  const proxy = createServer((incoming, outgoing) => {
    const target = targets[turn++ % targets.length]
    if (target === undefined) return void outgoing.writeHead(503).end()
    const { hostname, port } = new URL(target)
    const forwarded = ask({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress ?? '' },
      // A connection of its own for each request: none is kept where the next might follow it.
      agent: false,
    })
    forwarded.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      outgoing.flushHeaders()
      pipeline(answer, outgoing, () => {})
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    pipeline(incoming, forwarded, () => {})
  })
  return {
    url: `http://127.0.0.1:${await listenHere(proxy)}`,
    setTargets(urls) {
      targets = urls
    },
    async close() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
