import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MAX_KEYS, MAX_PROGRAMS } from '../../src/domain/people/account.ts'
import {
  addressBack,
  callMcp,
  MCP_ADDRESS,
  type Program,
  program,
  RETURN_ADDRESS,
  register,
  type Tokens,
} from '../support/oauth-program.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const ORIGIN = 'http://127.0.0.1:3000'
const log: string[] = []

let test: TestApp
let ada: Visitor
let one: Program
beforeEach(async () => {
  log.length = 0
  test = await testApp({}, {}, null, {}, { write: (line) => log.push(line) })
  ada = await signUp(test, 'ada')
  one = await program(test)
})
afterEach(() => test.close())

const save = { method: 'tools/call', params: { name: 'save_prompt', arguments: { title: 'By a program', content: 'Hello' } } }
const codeFields = (code: string, verifier: string) => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: RETURN_ADDRESS,
  code_verifier: verifier,
  resource: MCP_ADDRESS,
})
const challengeIn = (response: Response) => response.headers.get('www-authenticate')

describe('a program that signed in', () => {
  it('acts for the person, as the log says', async () => {
    const { access_token, scope, expires_in } = await one.signIn(ada)
    expect([scope.split(' ').toSorted(), expires_in]).toEqual([['offline_access', 'read', 'write'], 3600])
    expect(await readJson(await callMcp(test, access_token, save))).toMatchObject({
      result: { structuredContent: { prompt: { title: 'By a program', author: 'ada' } } },
    })
    const activity = (await ada.get('/settings/activity')).html
    expect(activity).toContain('Program connected')
    expect(activity).toContain('A program')
  })

  it('is asked for at /mcp and all of its parts, and nowhere else', async () => {
    for (const path of ['/mcp', '/mcp/@ada', '/mcp/tags/x', '/mcp/categories/y', '/mcp/collections/z']) {
      const refused = await callMcp(test, null, undefined, path)
      expect([refused.status, challengeIn(refused)], path).toEqual([
        401,
        `Bearer resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource${path}", scope="read write improve"`,
      ])
      expect((await test.fetch(path)).status, path).toBe(401)
      const described = await test.fetch(`/.well-known/oauth-protected-resource${path}`)
      expect(await readJson(described)).toMatchObject({ resource: `${ORIGIN}${path}`, authorization_servers: [ORIGIN] })
    }
    expect((await callMcp(test, null, undefined, '/api/mcp')).status).toBe(200)
    const { key } = await test.user('bob')
    expect((await callMcp(test, key)).status).toBe(200)
    const { access_token } = await one.signIn(ada)
    expect((await callMcp(test, access_token, undefined, '/mcp/tags/x')).status).toBe(200)
  })

  it('is refused everywhere else, like every bearer value that is no key', async () => {
    const { access_token } = await one.signIn(ada)
    for (const token of [access_token, 'eyJhbGciOi.x.y']) {
      for (const path of ['/api/mcp', '/api/prompts', '/api/skills', '/private/marketplace.json', '/prompts.json']) {
        const headers = { authorization: `Bearer ${token}` }
        const refused = path === '/api/mcp' ? await callMcp(test, token, undefined, path) : await test.fetch(path, { headers })
        expect(refused.status, `${path} ${token}`).toBe(401)
        const described = path === '/api/mcp' ? path : '/mcp'
        if (path.startsWith('/api/')) {
          expect(challengeIn(refused), path).toContain(`resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource${described}"`)
        }
      }
    }
    expect((await callMcp(test, 'cpo_unknown')).status).toBe(401)
    expect(challengeIn(await callMcp(test, 'cpo_unknown'))).toContain('error="invalid_token"')
  })

  it('signs in at /api/mcp too, for that address alone, and for its parts', async () => {
    const resource = `${ORIGIN}/api/mcp`
    for (const path of ['/api/mcp', '/api/mcp/@ada']) {
      const described = await readJson(await test.fetch(`/.well-known/oauth-protected-resource${path}`))
      expect(described).toMatchObject({ resource: `${ORIGIN}${path}`, authorization_servers: [ORIGIN] })
    }
    expect(await readJson(await test.fetch('/.well-known/oauth-protected-resource'))).toMatchObject({ resource: MCP_ADDRESS })
    const code = (await one.askPerson(ada, {}, { resource })).get('code') ?? ''
    const { access_token } = await readJson(await one.exchange({ ...codeFields(code, one.verifier), resource }))
    expect(await readJson(await callMcp(test, access_token, save, '/api/mcp/@ada'))).toMatchObject({
      result: { structuredContent: { prompt: { author: 'ada' } } },
    })
    expect((await callMcp(test, access_token, save)).status).toBe(401)
    expect((await callMcp(test, 'cpo_unknown', undefined, '/api/mcp')).status).toBe(401)
  })

  it('goes on with its session after it asked for more, and nobody else does', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    const { access_token: first } = await one.signIn(ada, { scopes: ['read'] })
    const session = (await callMcp(test, first, { method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
    const saveBy = async (token: string) => {
      const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': session, accept: 'application/json, text/event-stream' }
      return (
        await test.fetch('/mcp', {
          ...json('POST', { jsonrpc: '2.0', id: 2, ...save }),
          headers: { 'content-type': 'application/json', ...headers },
        })
      ).status
    }
    expect(await saveBy(first)).toBe(403)
    expect(await saveBy((await one.signIn(ada)).access_token)).toBe(200)
    const another = await program(test)
    expect(await saveBy((await another.signIn(ada)).access_token)).toBe(404)
    expect(await saveBy((await one.signIn(await signUp(test, 'ben'))).access_token)).toBe(404)
  })

  it('has room of its own beside the keys: another one ends the one unused longest', async () => {
    const { userId } = (await test.user('ada')).actor
    const make = (n: number, clientId: string | null) =>
      test.app.store.keys.createKey({
        ...{ name: `${n}`, userId, sha256: `${clientId} ${n}`, scopes: ['read'], expiresAt: null },
        connection: clientId === null ? null : { id: `${clientId} ${n}`, clientId, madeBy: null },
      })
    for (let n = 0; n < MAX_PROGRAMS; n++) await make(n, 'client')
    await test.app.store.keys.touchKey('client 0')
    await make(MAX_PROGRAMS, 'client')
    const over = await test.app.store.keys.findOverKeys(['client 0', 'client 1', 'client 2'])
    expect(over).toEqual(['client 1'])
    // One that signs in all the time ends its own connections, however long another was unused.
    await make(0, 'quiet')
    for (let n = 0; n < MAX_PROGRAMS; n++) await make(n, 'loud')
    expect(await test.app.store.keys.findOverKeys(['quiet 0'])).toEqual([])
    for (let n = 0; n < MAX_KEYS - 1; n++) await make(n, null)
    await expect(make(MAX_KEYS, null)).rejects.toThrow('keys that work')
    expect((await ada.post('/settings/access', { do: 'disconnect-all' })).to).toContain('done=program-disconnected')
    expect(await test.app.store.keys.findOverKeys(['client 0', 'client 2'])).toEqual(['client 0', 'client 2'])
  })

  it('is told which permission it lacks, and may ask for it', async () => {
    const { access_token } = await one.signIn(ada, { scopes: ['read'] })
    const refused = await callMcp(test, access_token, save)
    expect([refused.status, challengeIn(refused)]).toEqual([
      403,
      `Bearer error="insufficient_scope", resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp", scope="read write"`,
    ])
    const wider = await one.signIn(ada, { scopes: ['read', 'write'] })
    expect((await callMcp(test, wider.access_token, save)).status).toBe(200)
  })

  it('sees no more than what it was narrowed to', async () => {
    const { actor } = await test.user('ada')
    await test.call(actor, 'create_team', { team: 'crew' })
    await test.call(actor, 'save_prompt', { title: 'Kept by the team', content: 'team text', owner: 'crew', visibility: 'private' })
    await test.call(actor, 'save_prompt', { title: 'My own', content: 'own text', visibility: 'private' })
    const { access_token } = await one.signIn(ada, { reach: 'team crew' })
    const listed = JSON.stringify(await readJson(await callMcp(test, access_token, { method: 'prompts/list' })))
    expect(listed).toContain('Kept by the team')
    expect(listed).not.toContain('My own')
    expect((await ada.get('/settings/access')).html).toContain('only @crew')
  })

  it('stops at once when it is disconnected, and cannot refresh', async () => {
    const { access_token, refresh_token } = await one.signIn(ada)
    const page = (await ada.get('/settings/access')).html
    expect(page).toContain('A program')
    const id = /name="id" value="([^"]+)"/.exec(page)?.[1] ?? ''
    await ada.post('/settings/access', { do: 'disconnect', id })
    const refused = await callMcp(test, access_token, save)
    expect([refused.status, challengeIn(refused)]).toEqual([401, expect.stringContaining('error="invalid_token"')])
    const again = await one.refresh(refresh_token)
    expect([again.status, Object(await again.json())['error']]).toEqual([400, 'invalid_grant'])
    expect((await ada.get('/settings/activity')).html).toContain('Program disconnected')
  })

  it('stops when the person is suspended, leaves, or deletes the account', async () => {
    const eve = await signUp(test, 'eve')
    const { access_token, refresh_token } = await one.signIn(eve)
    await ada.post('/admin/people/eve', { do: 'suspend' })
    expect((await callMcp(test, access_token)).status).toBe(401)
    expect((await one.refresh(refresh_token)).status).toBe(400)
    await ada.post('/admin/people/eve', { do: 'unsuspend' })
    expect((await callMcp(test, access_token)).status).toBe(200)
    await eve.post('/sign-in', { name: 'eve', password: PASSWORD })
    await eve.post('/settings/data', { do: 'delete', username: 'eve', password: PASSWORD })
    expect((await callMcp(test, access_token)).status).toBe(401)
    expect(await test.readEverything()).not.toContain(one.verifier)
  })

  it('keeps working when the browser signs out', async () => {
    const { access_token, refresh_token } = await one.signIn(ada)
    await ada.post('/sign-out', {})
    expect((await callMcp(test, access_token)).status).toBe(200)
    expect((await one.refresh(refresh_token)).status).toBe(200)
  })
})

describe('refresh tokens', () => {
  it('rotate, answer a repeated use the same for a moment, and end all when an old one comes back', async () => {
    const first = await one.signIn(ada)
    const second: Tokens = Object(await (await one.refresh(first.refresh_token)).json())
    expect(second.refresh_token).not.toBe(first.refresh_token)
    const repeated: Tokens = Object(await (await one.refresh(first.refresh_token)).json())
    expect(repeated.refresh_token).toBe(second.refresh_token)
    const at = await Promise.all(Array.from({ length: 8 }, () => one.refresh(second.refresh_token)))
    const answers = await Promise.all(at.map(async (answer) => Object(await answer.json()).refresh_token))
    expect([at.map(({ status }) => status), new Set(answers).size]).toEqual([Array(8).fill(200), 1])
    const third: Tokens = Object(await (await one.refresh(second.refresh_token)).json())
    expect((await callMcp(test, third.access_token)).status).toBe(200)
  })

  it('end their connection when one comes back that was used long ago, and no other of the same program', async () => {
    const [first, other] = [await one.signIn(ada), await one.signIn(ada)]
    const second: Tokens = Object(await (await one.refresh(first.refresh_token)).json())
    const used = [{ field: 'revoked', operator: 'ne', value: null, connector: 'AND' }] as const
    await test.app.store.logins.updateLoginRows('oauth_refresh_token', used, { rotation_replay_expires_at: '2026-01-01T00:00:00.000Z' })
    const again = await one.refresh(first.refresh_token)
    expect([again.status, Object(await again.json())['error']]).toEqual([400, 'invalid_grant'])
    expect((await callMcp(test, second.access_token)).status).toBe(401)
    expect((await one.refresh(second.refresh_token)).status).toBe(400)
    expect((await callMcp(test, other.access_token)).status).toBe(200)
    expect((await one.refresh(other.refresh_token)).status).toBe(200)
  })

  it('are revoked by their own program alone', async () => {
    const { access_token, refresh_token } = await one.signIn(ada)
    const two = await program(test)
    const revoke = (clientId: string) =>
      test.fetch('/oauth2/revoke', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token: refresh_token, client_id: clientId }).toString(),
      })
    await revoke(two.clientId)
    expect((await callMcp(test, access_token)).status).toBe(200)
    await revoke(one.clientId)
    expect((await callMcp(test, access_token)).status).toBe(401)
  })

  it('are given to no client whose document nobody asked a person about', async () => {
    for (const [_name, fields, headers] of [
      ['the body', { client_id: 'https://programs.example.org/a' }, {}],
      ['HTTP Basic', {}, { authorization: `Basic ${Buffer.from('https%3A%2F%2Fprograms.example.org%2Fa:x').toString('base64')}` }],
      [
        'an assertion',
        { client_assertion: `x.${Buffer.from(JSON.stringify({ sub: 'https://programs.example.org/a' })).toString('base64url')}.x` },
        {},
      ],
    ] as const) {
      for (const path of ['/oauth2/token', '/token', '/oauth2/revoke']) {
        const answer = await test.fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', token: 'x', ...fields }).toString(),
        })
        expect([answer.status, Object(await answer.json())['error_description']], path).toEqual([401, 'This client is unknown here.'])
      }
    }
  })

  it('are of one program alone', async () => {
    const { refresh_token } = await one.signIn(ada)
    const two = await program(test)
    const answer = await two.refresh(refresh_token)
    expect([answer.status, Object(await answer.json())['error']]).toEqual([400, 'invalid_grant'])
  })

  it('may ask for less, and not for more', async () => {
    const { refresh_token } = await one.signIn(ada)
    const more = await one.exchange({ grant_type: 'refresh_token', refresh_token, scope: 'read write improve' })
    expect([more.status, Object(await more.json())['error']]).toEqual([400, 'invalid_scope'])
    const less = await one.exchange({ grant_type: 'refresh_token', refresh_token, scope: 'read' })
    const { access_token }: Tokens = Object(await less.json())
    expect((await callMcp(test, access_token)).status).toBe(200)
    expect((await callMcp(test, access_token, save)).status).toBe(403)
  })
})

describe('codes', () => {
  it('are good once: a second use ends what the first one gave', async () => {
    const code = (await one.askPerson(ada)).get('code') ?? ''
    const first: Tokens = Object(await (await one.exchange(codeFields(code, one.verifier))).json())
    expect((await callMcp(test, first.access_token)).status).toBe(200)
    const again = await one.exchange(codeFields(code, one.verifier))
    expect([again.status, Object(await again.json())['error']]).toEqual([400, 'invalid_grant'])
    expect((await callMcp(test, first.access_token)).status).toBe(401)
  })

  it('are refused as RFC 7636 says for another verifier, and permissions that do not exist before anybody is asked', async () => {
    const code = (await one.askPerson(ada)).get('code') ?? ''
    const refused = await one.exchange({ ...codeFields(code, one.verifier), code_verifier: 'x'.repeat(43) })
    expect([refused.status, (await readJson(refused)).error]).toEqual([400, 'invalid_grant'])
    expect(new URL(String((await ada.get(one.authorizeAt({ scope: 'admin' }))).to), ORIGIN).searchParams.get('error')).toBe('invalid_scope')
    expect((await ada.get(one.authorizeAt({ scope: 'openid profile' }))).to).toContain('/oauth2/consent')
  })

  it('are refused with anything else than what they were given for', async () => {
    for (const [_name, changes, error] of [
      ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid'],
      ['no verifier', { code_verifier: '' }, 'invalid'],
      ['another address back', { redirect_uri: 'http://127.0.0.1:40123/other' }, 'invalid'],
      ['another resource', { resource: `${ORIGIN}/api/mcp` }, 'invalid'],
      ['no resource of ours', { resource: `${ORIGIN}/api` }, 'invalid'],
      ['a made-up code', { code: 'made up' }, 'invalid'],
    ] as const) {
      const code = (await one.askPerson(ada)).get('code') ?? ''
      const answer = await one.exchange({ ...codeFields(code, one.verifier), ...changes })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expect(Object(await answer.json())['error']).toContain(error)
    }
  })

  it('come back with the issuer and the state, and with neither code nor consent after a no', async () => {
    const yes = await one.askPerson(ada)
    expect([yes.get('iss'), yes.get('state')]).toEqual([ORIGIN, 'a state'])
    const no = await one.askPerson(ada, { do: 'refuse' })
    expect([no.get('error'), no.get('iss'), no.get('state'), no.get('code')]).toEqual(['access_denied', ORIGIN, 'a state', null])
  })

  it('leave no trace in the database or the log', async () => {
    const code = (await one.askPerson(ada)).get('code') ?? ''
    const tokens: Tokens = Object(await (await one.exchange(codeFields(code, one.verifier))).json())
    await one.refresh(tokens.refresh_token)
    const everything = `${await test.readEverything()}\n${log.join('\n')}`
    for (const secret of [code, one.verifier, tokens.access_token, tokens.refresh_token]) expect(everything).not.toContain(secret)
  })
})

describe('a request to sign in', () => {
  it('goes back with an error when it asks for what is not given', async () => {
    for (const [_name, changes, error] of [
      ['without PKCE', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['for another resource', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
      ['with a request object', { request: 'eyJ' }, 'request_not_supported'],
      ['for a resource that begins alike', { resource: `${MCP_ADDRESS}-evil` }, 'invalid_target'],
    ] as const) {
      expect((await one.askPerson(ada, {}, changes)).get('error')).toBe(error)
    }
  })

  it('goes nowhere with another address than those registered: a page says why', async () => {
    for (const [_name, changes] of [
      ['an address that was not registered', { redirect_uri: 'https://evil.example/callback' }],
      ['another path', { redirect_uri: 'http://127.0.0.1:40123/other' }],
      ['credentials in the address', { redirect_uri: 'http://a:b@127.0.0.1:40123/callback' }],
      ['a script as address', { redirect_uri: 'javascript:alert(1)' }],
      ['no address', { redirect_uri: null }],
    ] as const) {
      const answer = await ada.get(one.authorizeAt(changes))
      expect([answer.status, answer.to]).toEqual([400, null])
      expect(answer.html).toContain('The program that sent you here asked in a way that is not understood')
    }
  })

  it('says what to do when the program is unknown', async () => {
    for (const clientId of ['unknown', 'a\0b', 'https:'.padEnd(2000, 'x')] as const) {
      const answer = await ada.get(one.authorizeAt({ client_id: clientId }))
      expect([answer.status, answer.to]).toEqual([400, null])
      if (!clientId.startsWith('https:')) expect(answer.html).toContain('This library does not know the program that sent you here.')
      const consent = await ada.get(`/oauth2/consent?${new URLSearchParams({ client_id: clientId, redirect_uri: RETURN_ADDRESS })}`)
      expect(consent.status).toBe(404)
    }
  })

  it('names the document of a program that cannot be used', async () => {
    for (const [_name, address, host] of [
      ['of this machine', 'https://localhost/client.json', 'localhost'],
      ['of a private network', 'https://10.0.0.1:8443/client.json', '10.0.0.1:8443'],
      ['of an IPv6 address for this machine', 'https://[::ffff:127.0.0.1]/client.json', '[::ffff:7f00:1]'],
      ['with credentials', 'https://a:b@programs.example.org/client.json', 'programs.example.org'],
    ] as const) {
      const answer = await ada.get(one.authorizeAt({ client_id: address }))
      expect([answer.status, answer.to]).toEqual([400, null])
      expect(answer.html).toContain(`is described by a document at ${host}, which could not be used: `)
    }
  })

  it('leads nobody to an address elsewhere without having asked, whatever is wrong with it', async () => {
    const elsewhere = 'https://app.example.org/back'
    const made = Object(await (await register(test, { redirect_uris: [elsewhere] })).json())
    const two = await program(test, { clientId: String(made['client_id']) })
    for (const changes of [
      { code_challenge: null },
      { resource: 'https://evil.example/mcp' },
      { scope: 'read', code_challenge_method: 'plain' },
    ]) {
      const answer = await ada.get(two.authorizeAt({ redirect_uri: elsewhere, ...changes }))
      expect([answer.status, answer.to], JSON.stringify(changes)).toEqual([400, null])
    }
    const asked = await ada.get(two.authorizeAt({ redirect_uri: elsewhere, max_age: '0', prompt: 'login' }))
    expect(asked.to).toMatch(/^\/oauth2\/consent\?/)
  })

  it('takes any port of this machine, as programs listen where there is room (RFC 8252, 7.3)', async () => {
    expect((await ada.get(one.authorizeAt({ redirect_uri: 'http://127.0.0.1:50999/callback' }))).to).toContain('/oauth2/consent?')
  })

  it('lets a person sign in first, and comes back', async () => {
    const address = one.authorizeAt()
    expect((await visit(test).get(address)).to).toBe(`/sign-in?to=${encodeURIComponent(address)}`)
    expect((await visit(test).get(address.replace('/oauth2/authorize', '/authorize'))).status).toBe(302)
  })

  it('shows who asks, and where it returns to, as text', async () => {
    const name = '<b>Claude</b>\u202e\u0000 Code\n'.padEnd(180, 'x')
    const made = Object(await (await register(test, { client_name: name, logo_uri: 'https://evil.example/x.png' })).json())
    const two = await program(test, { clientId: String(made['client_id']) })
    const page = await ada.get((await ada.get(two.authorizeAt())).to ?? '')
    expect(page.status).toBe(200)
    expect(page.html).toContain('&lt;b>Claude&lt;/b>'.replaceAll('>', '&gt;'))
    expect(page.html).not.toMatch(/\u202e|evil\.example|<b>Claude/)
    expect(page.html).toContain('http://127.0.0.1:40123')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('private, no-store')
  })

  it('cannot be answered by another site, without signing in, or with changes', async () => {
    const to = (await ada.get(one.authorizeAt())).to ?? ''
    const query = to.split('?')[1] ?? ''
    const fields = { query, do: 'allow', scopes: ['read'] }
    expect((await ada.post('/oauth2/consent', fields, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await visit(test).post('/oauth2/consent', fields)).to).toMatch(/^\/sign-in/)
    const changed = [
      query.replace('read+write', 'read+write+improve'),
      query.replace('40123', '40124'),
      query.replace(/sig=[^&]+/, 'sig=AAAA'),
      query.replace(/exp=\d+/, 'exp=99999999999'),
    ]
    for (const one of changed) {
      expect(one).not.toBe(query)
      const answer = await ada.post('/oauth2/consent', { ...fields, query: one })
      expect([answer.status, answer.html.includes('http-equiv="refresh"')]).toEqual([400, false])
    }
    expect((await ada.post('/oauth2/consent', { ...fields, scopes: ['improve'] })).status).toBe(400)
    expect((await ada.get('/settings/access')).html).toContain('No program is connected.')
  })

  it('of one person is not answered with the session of another', async () => {
    const eve = await signUp(test, 'eve')
    const to = (await ada.get(one.authorizeAt())).to ?? ''
    const answered = await eve.post('/oauth2/consent', { query: to.split('?')[1] ?? '', do: 'allow', scopes: ['read', 'write'] })
    const code = addressBack(answered.html).searchParams.get('code')
    // What she allows is hers alone.
    const tokens: Tokens = Object(await (await one.exchange(codeFields(code ?? '', one.verifier))).json())
    expect(await readJson(await callMcp(test, tokens.access_token, save))).toMatchObject({
      result: { structuredContent: { prompt: { author: 'eve' } } },
    })
    expect((await ada.get('/settings/access')).html).toContain('No program is connected.')
  })
})

describe('registration (RFC 7591)', () => {
  it('answers 201 with what was registered, also for editors with schemes of their own', async () => {
    const addresses = ['cursor://anysphere.cursor-mcp/oauth/callback', 'http://localhost:3118/callback', 'https://app.example.org/back']
    const answer = await register(test, { redirect_uris: addresses })
    expect(answer.status).toBe(201)
    const made = Object(await answer.json())
    expect(made).toMatchObject({ redirect_uris: addresses, token_endpoint_auth_method: 'none' })
    const editor = await program(test, { clientId: String(made['client_id']) })
    const page = await ada.get((await ada.get(editor.authorizeAt({ redirect_uri: addresses[0] ?? '' }))).to ?? '')
    expect(page.html).toContain('the app that opens cursor: addresses.')
  })

  it('gives a secret, which the token endpoint wants', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
      const made = Object(await (await register(test, { token_endpoint_auth_method: method })).json())
      const [id, secret] = [String(made['client_id']), String(made['client_secret'])]
      const two = await program(test, { clientId: id })
      const attempt = async (given: string) => {
        const code = (await two.askPerson(ada)).get('code') ?? ''
        const fields = { ...codeFields(code, two.verifier), ...(method === 'client_secret_post' ? { client_secret: given } : {}) }
        const basic = { authorization: `Basic ${Buffer.from(`${id}:${given}`).toString('base64')}` }
        return await two.exchange(fields, method === 'client_secret_basic' ? basic : {})
      }
      expect((await attempt('wrong')).status).toBeGreaterThanOrEqual(400)
      expect((await attempt(secret)).status).toBe(200)
      expect(await test.readEverything()).not.toContain(secret)
    }
  })

  it('refuses bad metadata with a sentence', async () => {
    for (const [_name, metadata] of [
      ['no addresses', { redirect_uris: [] }],
      ['a script', { redirect_uris: ['javascript:alert(1)//'] }],
      ...['search-ms:query=x', 'ms-msdt:/id', 'tel:1', 'chrome:x', 'filesystem:x', 'unknown-app://x'].map(
        (address) => ['an app that nobody names', { redirect_uris: [address] }] as const,
      ),
      ['a fragment', { redirect_uris: ['https://app.example.org/#x'] }],
      ['plain http elsewhere', { redirect_uris: ['http://app.example.org/back'] }],
      ['too many addresses', { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://app.example.org/${n}`) }],
      ['a name that is too long', { client_name: 'x'.repeat(201) }],
      ['a name that is no text', { client_name: { toString: 'x' } }],
    ] as const) {
      const answer = await register(test, metadata)
      expect(answer.status).toBe(400)
      expect(Object(await answer.json())).toMatchObject({
        error: expect.stringContaining('invalid_'),
        error_description: expect.any(String),
      })
    }
  })

  it('refuses what is no JSON, what is too large, and the many', async () => {
    const post = (body: string) => test.fetch('/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect((await post('{')).status).toBe(400)
    expect((await post(`{"client_name":"${'x'.repeat(40_000)}"}`)).status).toBe(413)
    const statuses = new Set<number>()
    for (let n = 0; n < 31; n++) statuses.add((await register(test)).status)
    expect([...statuses]).toEqual([201, 429])
  })
})

describe('metadata', () => {
  it('names the endpoints that are served, for the issuer (RFC 8414)', async () => {
    const response = await test.fetch('/.well-known/oauth-authorization-server', { headers: { origin: 'https://app.example.org' } })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const metadata = Object(await response.json())
    expect(metadata).toMatchObject({
      issuer: ORIGIN,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(['none', 'client_secret_basic', 'client_secret_post']),
      scopes_supported: ['read', 'write', 'improve', 'offline_access'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
    })
    const served = new Set(test.routes.map(({ path }) => `${ORIGIN}${path}`))
    const named = Object.entries(metadata).flatMap(([name, value]) => (name.endsWith('_endpoint') ? [String(value)] : []))
    expect(named.length).toBe(4)
    for (const endpoint of named) expect(served).toContain(endpoint)
  })

  it('lets programs register alone, where documents are not read', async () => {
    const other = await testApp({ OAUTH_CLIENT_DOCUMENTS: false })
    const member = await signUp(other, 'ada')
    const metadata = Object(await (await other.fetch('/.well-known/oauth-authorization-server')).json())
    expect(metadata['client_id_metadata_document_supported']).toBeUndefined()
    expect(metadata['registration_endpoint']).toBe(`${ORIGIN}/oauth2/register`)
    const two = await program(other)
    const refused = await member.get(two.authorizeAt({ client_id: 'https://programs.example.org/client.json' }))
    expect([refused.status, refused.html.includes('is described by')]).toEqual([400, false])
    expect((await callMcp(other, (await two.signIn(member)).access_token)).status).toBe(200)
    await other.close()
  })

  it('is not there while OAuth or MCP is off', async () => {
    for (const [settings, more] of [
      [{ OAUTH_ENABLED: false }, {}],
      [{ MCP_ENABLED: false }, {}],
      [{}, { baseUrl: 'http://prompts.example.org' }],
    ] as const) {
      const other = await testApp(settings, {}, null, more)
      for (const path of [
        '/mcp',
        '/.well-known/oauth-authorization-server',
        '/.well-known/oauth-protected-resource',
        '/oauth2/authorize',
        '/oauth2/consent',
      ]) {
        expect((await other.fetch(path)).status, path).toBe(404)
      }
      // A bearer value of another scheme is somebody else's.
      const elsewhere = await other.fetch('/api/prompts', { headers: { authorization: 'Bearer eyJ.x' } })
      expect(elsewhere.status).toBe(200)
      await other.close()
    }
  })

  it('and signing in are open while the library is for members alone', async () => {
    const closed = await testApp({ LIBRARY_ACCESS: 'members' })
    const member = await signUp(closed, 'ada')
    expect((await closed.fetch('/.well-known/oauth-protected-resource/mcp')).status).toBe(200)
    expect((await closed.fetch('/.well-known/oauth-authorization-server')).status).toBe(200)
    const { access_token } = await (await program(closed)).signIn(member)
    expect((await callMcp(closed, access_token)).status).toBe(200)
    await closed.close()
  })
})
