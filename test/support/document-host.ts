import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Stands for hosts of the internet that describe programs: a server on port 443 of this machine, which one process takes for them. */
export interface DocumentHost {
  /** Its address, which a service must be allowed to fetch from. */
  readonly address: string
  /** What the service needs to trust it. */
  readonly env: Readonly<Record<string, string>>
  /** The command that runs the service in a mount namespace, with a hosts file of its own. */
  readonly wrapper: readonly string[]
  /** The paths that were asked for, each after its host. */
  readonly asked: readonly string[]
  start(): Promise<void>
  close(): Promise<void>
}

/** Why no such host can be made here, or null. */
export function findNamespaceObstacle(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux for a mount namespace and port 443'
  if (spawnSync('openssl', ['version']).status !== 0) return 'it needs the program openssl to make certificates'
  const tried = spawnSync('unshare', ['--mount', 'sh', '-c', 'mount --bind /etc/hosts /etc/hosts'])
  return tried.status === 0 ? null : 'it may make no mount namespace'
}

/** How a host answers. */
export type Answering = (asked: IncomingMessage, answer: ServerResponse) => void

/**
 * Prepares hosts with an authority of their own that certifies them.
 * @param hosts what the host of each name answers
 * @param forbidden names of hosts that answer alike, at an address that the service may not fetch from
 * @param uncertified names of the same server that its certificate does not have
 */
export function createDocumentHost(
  hosts: Readonly<Record<string, Answering>>,
  { forbidden, uncertified }: { readonly forbidden: readonly string[]; readonly uncertified: readonly string[] },
): DocumentHost {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-hosts-'))
  const file = (name: string) => join(folder, name)
  // Each run has an address of its own, so that several find port 443 free.
  const network = `127.${[64, 254].map((most) => 1 + Math.floor(Math.random() * most)).join('.')}`
  const [address, other] = [`${network}.1`, `${network}.2`]
  const names = Object.keys(hosts)
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl failed: ${stderr}`)
  }
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...kind, '-days', '2', '-subj', '/CN=Test authority', '-keyout', file('ca.key'), '-out', file('ca.pem'))
  openssl('req', ...kind, '-subj', '/CN=hosts', '-keyout', file('key.pem'), '-out', file('request.pem'))
  writeFileSync(file('names'), `subjectAltName=${[...names, ...forbidden].map((name) => `DNS:${name}`).join(',')}`)
  const signing = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', file('names')]
  openssl('x509', '-req', '-in', file('request.pem'), ...signing, '-out', file('cert.pem'))
  const lines = [...names, ...uncertified].map((name) => `${address} ${name}`)
  for (const name of forbidden) lines.push(`${other} ${name}`)
  writeFileSync(file('hosts'), `127.0.0.1 localhost\n${lines.join('\n')}\n`)
  const asked: string[] = []
  const certified = { key: readFileSync(file('key.pem')), cert: readFileSync(file('cert.pem')) }
  const respond: Answering = (request, answer) => {
    const host = request.headers.host ?? ''
    asked.push(`${host}${request.url}`)
    const answering = hosts[host]
    if (answering) answering(request, answer)
    else answer.writeHead(404).end()
  }
  const servers = [createServer(certified, respond), createServer(certified, respond)]
  return {
    address,
    env: { NODE_EXTRA_CA_CERTS: file('ca.pem'), OAUTH_CLIENT_ADDRESSES: address },
    wrapper: ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', file('hosts')],
    asked,
    async start() {
      for (const [place, server] of servers.entries()) {
        server.listen(443, [address, other][place])
        await once(server, 'listening')
      }
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
