import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { findTool } from '../../scripts/setup-tools.ts'
import { signUpInBrowser, useBrowser } from '../support/browser.ts'
import { untilPrinted } from '../support/children.ts'
import { allowProgram } from '../support/consent.ts'
import { makeFolder } from '../support/folders.ts'
import { registerAt } from '../support/oauth-program.ts'
import { findFreePort } from '../support/postgres-server.ts'
import { run } from '../support/processes.ts'

/**
 * The official conformance suite against the authorization server. Its scenarios `auth/…` are about clients, with a server of the suite's own;
 * of its scenarios about MCP servers, none is about signing in.
 */

const SUITE = findTool('@modelcontextprotocol/conformance/dist/index.js')
const checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }))
const results = makeFolder()

const bench = useBrowser()
beforeAll(async () => {
  await signUpInBrowser(await bench.newPage(), 'ada')
})

it('runs every scenario there is for authorization servers', async () => {
  const listed = (await run(process.execPath, [SUITE, 'list'])).stdout
  const scenarios = listed.slice(listed.indexOf('Authorization server scenarios')).matchAll(/^ {2}- (\S+)/gm)
  expect([...scenarios].map(([, name]) => name)).toEqual(['authorization-server-metadata-endpoint', 'authorization-code-grant'])
})

it.each([
  ['for a resource', '/mcp'],
  ['for a part of it', '/mcp/tags/review'],
  ['without a resource', null],
])('the authorization server conforms, %s', async (_name, resource) => {
  const port = await findFreePort()
  const clientId = await registerAt(bench.baseUrl, 'Conformance', `http://127.0.0.1:${port}/callback`)
  const folder = mkdtempSync(join(results, 'run-'))
  const named = resource === null ? [] : ['--resource', `${bench.baseUrl}${resource}`]
  const suite = spawn(
    process.execPath,
    [SUITE, 'authorization', '--url', bench.baseUrl, '--client-id', clientId, '--port', `${port}`, '--output-dir', folder, ...named],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 },
  )
  let printed = ''
  for (const stream of [suite.stdout, suite.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const ended = once(suite, 'close')
  await untilPrinted(suite, /Waiting up to/)
  await allowProgram(bench, 'ada', /^http\S+\/oauth2\/authorize\?\S+$/m.exec(printed)?.[0] ?? '')
  const [code] = await ended
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('checks.json'))
    .flatMap((path) => checks.parse(JSON.parse(readFileSync(join(folder, path), 'utf8'))))
  // A warning counts as a fault, and so does a check that was skipped.
  expect(found.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
  expect(found.map(({ id }) => id).toSorted()).toEqual([
    'authorization-code-grant',
    'authorization-server-metadata',
    'authorization-server-metadata-cimd',
  ])
  expect(code, printed).toBe(0)
})
