import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchClientDocument } from './clients.ts'

const HOST = 'programs.example.org'
const at =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

describe('addresses of metadata documents', () => {
  it.each([
    ['this machine', ['127.0.0.1']],
    ['this machine, by IPv6', ['::1']],
    ['this machine, as IPv6', ['::ffff:127.0.0.1']],
    ['this machine, as IPv6 in hexadecimal', ['::ffff:7f00:1']],
    ['this network', ['0.0.0.0']],
    ['a private network', ['10.1.2.3']],
    ['a private network, as IPv6', ['::ffff:192.168.0.1']],
    ['a private network, by NAT64', ['64:ff9b::a00:1']],
    ['a private network, by 6to4', ['2002:a00:1::1']],
    ['a unique local address', ['fd00::1']],
    ['a link-local address', ['fe80::1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['a shared network', ['100.64.0.1']],
    ['a multicast group', ['224.0.0.1']],
    ['public and private addresses at once', ['93.184.215.14', '10.0.0.1']],
    ['private and public addresses at once', ['10.0.0.1', '93.184.215.14']],
    ['no address', []],
  ])('are refused: %s', async (_name, addresses) => {
    const fetched = fetchClientDocument([], at(...addresses))(`https://${HOST}/client.json`)
    await expect(fetched).rejects.toThrow('A metadata document must be at public addresses')
  })

  it('must begin with https', async () => {
    const fetched = fetchClientDocument([], at('93.184.215.14'))(`http://${HOST}/client.json`)
    await expect(fetched).rejects.toThrow('over https only')
  })
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
if (!hasOpenssl) process.stderr.write('\nSKIPPED: no metadata document is fetched, because openssl is missing.\n')

describe.skipIf(!hasOpenssl)('a metadata document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-document-'))
  const trusted = getCACertificates('default')
  const seen: string[] = []
  let server: Server
  let port = 0
  const read = (path: string, init?: RequestInit) =>
    fetchClientDocument(['127.0.0.1'], at('127.0.0.1'))(`https://${HOST}:${port}${path}`, init)
  const countConnections = () => new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))))

  beforeAll(async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    spawnSync('openssl', ['req', ...kind, '-subj', '/CN=x', '-addext', `subjectAltName=DNS:${HOST}`, '-keyout', key, '-out', cert])
    setDefaultCACertificates([readFileSync(cert, 'utf8')])
    server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (asked, answer) => {
      seen.push(`${asked.headers.host} ${asked.url}`)
      if (asked.url === '/redirect') return answer.writeHead(302, { location: '/client.json' }).write('moved')
      if (asked.url === '/missing') return answer.writeHead(404).write('x'.repeat(100_000))
      if (asked.url === '/unchanged') return answer.writeHead(304).end()
      answer.writeHead(200, { 'content-type': 'application/json' })
      if (asked.url === '/client.json') return answer.end('{"client_name":"A program"}')
      if (asked.url === '/silent') return answer.write('{')
      // Without an end.
      const more = setInterval(() => answer.write('x'.repeat(100_000)), 1)
      return answer.on('close', () => clearInterval(more))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    port = typeof address === 'object' && address ? address.port : 0
  })
  afterAll(() => {
    setDefaultCACertificates(trusted)
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('comes from the address that was checked, with its host by name', async () => {
    expect(await (await read('/client.json')).json()).toEqual({ client_name: 'A program' })
    expect(seen.at(-1)).toBe(`${HOST}:${port} /client.json`)
  })

  it.each([
    ['/redirect', 302],
    ['/missing', 404],
    ['/unchanged', 304],
  ])('at %s is not followed or read, and leaves no connection', async (path, status) => {
    const answer = await read(path)
    expect([answer.status, answer.redirected, await answer.text()]).toEqual([status, false, ''])
    expect(seen.at(-1)).toBe(`${HOST}:${port} ${path}`)
    await expect.poll(countConnections).toBe(0)
  })

  it('without an end is cut, and its connection closed', async () => {
    const text = await (await read('/endless')).text()
    expect(text.length).toBeGreaterThan(256 * 1024)
    expect(text.length).toBeLessThan(1024 * 1024)
    await expect.poll(countConnections).toBe(0)
  })

  it('that never comes ends with the patience of the caller', async () => {
    await expect(read('/silent', { signal: AbortSignal.timeout(200) })).rejects.toThrow(/abort/i)
    await expect.poll(countConnections).toBe(0)
  })

  it('of another name than its certificate says is refused', async () => {
    const other = fetchClientDocument(['127.0.0.1'], at('127.0.0.1'))(`https://other.example.org:${port}/client.json`)
    await expect(other).rejects.toThrow(/certificate/)
  })
})
