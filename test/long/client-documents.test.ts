import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installClients } from '../../scripts/setup-tools.ts'
import { signIn, signUpInBrowser, useBrowser } from '../support/browser.ts'
import { proveSignIn } from '../support/consent.ts'
import { type Answering, createDocumentHost, findNamespaceObstacle } from '../support/document-host.ts'
import { authorizePath, RETURN_ADDRESS } from '../support/oauth-program.ts'
import { DOCUMENTED, findTerminalObstacle, sdk } from '../support/signing-clients.ts'
import { startToolCallingModel, type ToolCallingModel } from '../support/tool-calling-model.ts'

/**
 * Programs that are known by a metadata document sign in. The service fetches documents from a stub, which it takes for the hosts of the
 * internet by a hosts file and an authority of its own; the address of the stub is the one it is allowed to fetch from besides public ones.
 */

const OWN = 'https://programs.example.org'

/** A document as programs of a person's machine have it: their ports differ each time. */
function describeProgram(clientId: string, name: string, more: object = {}): string {
  return JSON.stringify({
    client_id: clientId,
    client_name: name,
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...more,
  })
}

const give = (answer: ServerResponse, text: string) => void answer.writeHead(200, { 'content-type': 'application/json' }).end(text)

/** A host that has one document. */
const hostOf =
  (clientId: string, name: string): Answering =>
  ({ url }, answer) =>
    url === new URL(clientId).pathname ? give(answer, describeProgram(clientId, name)) : void answer.writeHead(404).end()

/** How documents fail, by path, and what the page says. */
const FAULTS: Readonly<Record<string, { readonly answering: Answering; readonly reason: RegExp }>> = {
  '/missing.json': { answering: (_, answer) => void answer.writeHead(404).end('none'), reason: /HTTP 404/ },
  '/redirect.json': { answering: (_, answer) => void answer.writeHead(302, { location: '/good.json' }).end(), reason: /HTTP 302/ },
  '/large.json': {
    answering: (_, answer) => give(answer, describeProgram(`${OWN}/large.json`, 'x'.repeat(10 * 1024 * 1024))),
    reason: /exceeds 5KB/,
  },
  '/silent.json': { answering: () => {}, reason: /timed out/ },
  '/slow.json': {
    answering: (_, answer) => void answer.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    reason: /timed out/,
  },
  '/other.json': {
    answering: (_, answer) => give(answer, describeProgram(`${OWN}/good.json`, 'Other')),
    reason: /does not match the metadata document URL/,
  },
  '/page.json': {
    answering: (_, answer) => void answer.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'),
    reason: /must be JSON/,
  },
  '/broken.json': { answering: (_, answer) => give(answer, '{'), reason: /not valid JSON/ },
  '/secret.json': {
    answering: (_, answer) =>
      give(answer, describeProgram(`${OWN}/secret.json`, 'With a secret', { token_endpoint_auth_method: 'client_secret_basic' })),
    reason: /prohibited/,
  },
  '/script.json': {
    answering: (_, answer) => give(answer, describeProgram(`${OWN}/script.json`, 'Script', { redirect_uris: ['javascript:alert(1)'] })),
    reason: /redirect.uris/,
  },
}

const host = createDocumentHost(
  {
    'claude.ai': hostOf('https://claude.ai/oauth/claude-code-client-metadata', 'Claude Code'),
    'chatgpt.com': hostOf('https://chatgpt.com/oauth/codex/client.json', 'Codex'),
    'programs.example.org': (asked, answer) => {
      if (asked.url === '/good.json') return give(answer, describeProgram(`${OWN}/good.json`, 'SDK client'))
      return FAULTS[asked.url ?? '']?.answering(asked, answer)
    },
  },
  { forbidden: ['private.example.org'], uncertified: ['unknown.example.org'] },
)

const obstacle = findNamespaceObstacle() ?? findTerminalObstacle()
if (obstacle !== null) process.stderr.write(`\nSKIPPED: no program signs in by its metadata document, because ${obstacle}.\n`)

describe.skipIf(obstacle !== null)('a program with a metadata document', () => {
  const bench = useBrowser({ env: host.env, wrapper: host.wrapper })
  let model: ToolCallingModel
  beforeAll(async () => {
    installClients()
    await host.start()
    model = await startToolCallingModel()
    await signUpInBrowser(await bench.newPage(), 'ada')
  }, 600_000)
  afterAll(async () => {
    await model.close()
    await host.close()
  })

  for (const client of [...DOCUMENTED, sdk(`${OWN}/good.json`)]) {
    it(`signs in, saves, and is refused once it is disconnected: ${client.name}`, async () => {
      const { host: publisher, pathname } = new URL(client.document ?? '')
      const said = await proveSignIn(bench, 'ada', client, model.url)
      expect(said).toMatch(/^Let (?:Claude Code|Codex|SDK client) use this library\?/)
      expect(said).toContain(`It is described by a document at ${publisher}.`)
      expect(host.asked).toContain(`${publisher}${pathname}`)
    }, 120_000)
  }

  it('may register instead', async () => {
    expect(await proveSignIn(bench, 'ada', sdk(null), model.url)).toContain('It registered itself.')
  }, 120_000)

  it('is refused with a sentence when its document cannot be used', async () => {
    const page = await bench.newPage({ allowed: [/the server responded with a status of 400/] })
    await signIn(page, 'ada')
    const documents: [string, RegExp][] = Object.entries(FAULTS).map(([path, { reason }]) => [`${OWN}${path}`, reason])
    // Why a host cannot be reached is told to nobody: people could look around the network of the service.
    for (const name of ['private', 'unknown', 'nowhere']) documents.push([`https://${name}.example.org/client.json`, /Failed to fetch/])
    for (const [document, reason] of documents) {
      const answer = await page.goto(authorizePath(bench.baseUrl, document, RETURN_ADDRESS))
      expect(answer?.status(), document).toBe(400)
      const said = await page.getByRole('main').innerText()
      expect(said, document).toContain(`is described by a document at ${new URL(document).host}, which could not be used`)
      expect(said, document).toMatch(reason)
    }
    // A redirect is not followed, and an address that is not allowed is not asked.
    expect(host.asked.at(host.asked.indexOf('programs.example.org/redirect.json') + 1)).toBe('programs.example.org/large.json')
    expect(host.asked.filter((path) => /^(?:private|unknown)/.test(path))).toEqual([])
    await page.goto('/settings/access')
    expect(await page.locator('#programs .entries > li:not(.over)').count()).toBe(0)
  }, 120_000)
})
