import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressBack } from '../support/oauth-program.ts'
import { createDatabaseNow } from '../support/postgres.ts'
import { createPlace, type Served } from '../support/processes.ts'
import { readJson, rpc } from '../support/test-app.ts'
import { PASSWORD } from '../support/visitor.ts'

/** Two processes on one database sign programs in together: each request goes to the other one. */

const BACK = 'http://127.0.0.1:40123/callback'
const place = createPlace(createDatabaseNow)
let served: Served
let cookie = ''
let turn = 0

beforeAll(async () => {
  served = await place.serve({ instances: 2 })
  const setupCode = /sign-up\?code=([0-9a-f]+)/.exec(served.stdout)?.[1] ?? ''
  const joined = await post('/sign-up', { username: 'ada', password: PASSWORD, setupCode })
  cookie = joined.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
}, 120_000)
afterAll(() => place.remove())

/** A request to one instance, as the proxy would pass it on. */
const at = (instance: string | undefined, path: string, options: RequestInit = {}) =>
  fetch(`${instance}${path}`, { redirect: 'manual', ...options, headers: { 'x-forwarded-for': '192.0.2.7', ...Object(options.headers) } })
/** A request to the instance after the one of the last request. */
const next = (path: string, options?: RequestInit) => at(served.ownUrls[turn++ % served.ownUrls.length], path, options)
const post = (path: string, fields: Record<string, string> | [string, string][], headers: Record<string, string> = {}) =>
  next(path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', origin: served.url, ...headers },
    body: new URLSearchParams(fields),
  })
const call = (instance: string | undefined, token: string) => {
  const { headers, ...request } = rpc('tools/list')
  return at(instance, '/mcp', { ...request, headers: { ...Object(headers), authorization: `Bearer ${token}` } })
}
const statusesOf = async (token: string) => await Promise.all(served.ownUrls.map(async (url) => (await call(url, token)).status))

/** Signs a program in, each step at another instance than the one before. */
async function signIn() {
  const verifier = randomBytes(32).toString('base64url')
  const registered = await next('/oauth2/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'A program', redirect_uris: [BACK], token_endpoint_auth_method: 'none' }),
  })
  expect(registered.status).toBe(201)
  const { client_id: clientId } = await readJson(registered)
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: BACK,
    state: 'x',
    scope: 'read write',
    resource: `${served.url}/mcp`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const to = (await next(`/oauth2/authorize?${new URLSearchParams(asked)}`, { headers: { cookie } })).headers.get('location') ?? ''
  const query = new URL(to, served.url).search.slice(1)
  const allowed = [
    ['query', query],
    ['do', 'allow'],
    ['scopes', 'read'],
    ['scopes', 'write'],
    ['reach', ''],
  ] satisfies [string, string][]
  const back = addressBack(await (await post('/oauth2/consent', allowed, { cookie })).text())
  expect(back.searchParams.get('iss')).toBe(served.url)
  const code = { grant_type: 'authorization_code', code: back.searchParams.get('code') ?? '', redirect_uri: BACK, code_verifier: verifier }
  const exchange = (fields: Record<string, string>) => post('/oauth2/token', { client_id: clientId, ...fields })
  const given = await exchange(code)
  expect(given.status).toBe(200)
  return { clientId, code, exchange, tokens: await readJson(given) }
}

it('a program registers, is allowed, exchanges, calls and refreshes at either, and is revoked at both', async () => {
  const { exchange, tokens } = await signIn()
  expect(await statusesOf(tokens.access_token)).toEqual([200, 200])
  const refreshed = await readJson(await exchange({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }))
  // The other instance gives the same answer to a client that lost it.
  const repeated = await readJson(await exchange({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token }))
  expect(repeated.refresh_token).toBe(refreshed.refresh_token)
  expect(await statusesOf(refreshed.access_token)).toEqual([200, 200])
  const page = await (await next('/settings/programs', { headers: { cookie, accept: 'text/html' } })).text()
  const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
  expect((await post('/settings/programs', { id }, { cookie })).status).toBe(303)
  for (const url of served.ownUrls) {
    const refused = await call(url, refreshed.access_token)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${served.url}/.well-known/oauth-protected-resource/mcp"`)
  }
  const again = await exchange({ grant_type: 'refresh_token', refresh_token: refreshed.refresh_token })
  expect([again.status, (await readJson(again)).error]).toEqual([400, 'invalid_grant'])
})

it('a code is good once, whichever of them it comes to, and its second use ends what it gave', async () => {
  const { code, exchange, tokens } = await signIn()
  const again = await exchange(code)
  expect([again.status, (await readJson(again)).error]).toEqual([400, 'invalid_grant'])
  expect(await statusesOf(tokens.access_token)).toEqual([401, 401])
})

it('a program ends its own connection at both', async () => {
  const { clientId, tokens } = await signIn()
  expect((await post('/oauth2/revoke', { token: tokens.refresh_token, client_id: clientId })).status).toBe(200)
  expect(await statusesOf(tokens.access_token)).toEqual([401, 401])
})
