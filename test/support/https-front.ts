import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { listenHere } from './children.ts'

/**
 * Serves a service of this machine as `https://HOST` to programs that refuse loopback addresses. They reach it by `HTTPS_PROXY`: the proxy opens a
 * tunnel to this one host, ends TLS itself and refuses every other, so that nothing here needs root, port 443 or an entry in /etc/hosts.
 */
export interface HttpsFront {
  /** What a program needs in its environment to reach the host and trust its certificate. */
  readonly env: Readonly<Record<string, string>>
  /** Where the service is, from now on. */
  setTarget(url: string): void
  close(): Promise<void>
}

/** Why no certificate can be made here, or null. */
export function findCertificateObstacle(): string | null {
  return spawnSync('openssl', ['version']).status === 0 ? null : 'it needs the program openssl to make a certificate'
}

/**
 * Starts the proxy on a free port.
 * @param folder where the key and the certificate go
 * @throws Error when openssl cannot make a certificate
 */
export async function startHttpsFront(host: string, folder: string): Promise<HttpsFront> {
  const key = join(folder, 'key.pem')
  const cert = join(folder, 'cert.pem')
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const named = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
  const made = spawnSync('openssl', ['req', ...kind, ...named, '-keyout', key, '-out', cert], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`)
  let target = new URL('http://127.0.0.1:9')
  const open = new Set<Socket>()
  const keep = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
  }
  const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert), ALPNProtocols: ['http/1.1'] }, (plain) => {
    const service = connect(Number(target.port), target.hostname)
    keep(service)
    pipeline(plain, service, plain, () => {})
  })
  const proxy = createServer((_, answer) => void answer.writeHead(403).end())
  proxy.on('connection', keep)
  proxy.on('connect', ({ url }, socket, head) => {
    if (url !== `${host}:443`) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    if (head.length > 0) socket.unshift(head)
    tls.emit('connection', socket)
  })
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${await listenHere(proxy)}`, NODE_EXTRA_CA_CERTS: cert },
    setTarget(url) {
      target = new URL(url)
    },
    async close() {
      proxy.close()
      for (const socket of open) socket.destroy()
      await once(proxy, 'close')
    },
  }
}
