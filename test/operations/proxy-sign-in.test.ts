import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../../src/cli/operator.ts'
import { parseGroupMap } from '../../src/domain/sign-in/sign-in-ways.ts'
import { answerRequest } from '../support/exchange.ts'
import { addressBack, callMcp, MCP_ADDRESS, program, RETURN_ADDRESS } from '../support/oauth-program.ts'
import { useTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/visitor.ts'

const ORIGIN = 'http://127.0.0.1:3000'
const PROXY = '10.1.2.3'
const ADMIN = { 'remote-user': 'boss', 'remote-groups': 'admins' }
const test = useTestApp({}, {}, null, {
  signIn: {
    hasPasswords: false,
    providers: [],
    proxy: {
      header: 'remote-user',
      nameHeader: 'remote-name',
      emailHeader: 'remote-email',
      groupsHeader: 'remote-groups',
      groups: parseGroupMap('eng=acme:editor, sec=secops:editor, admins=admin'),
      trusted: ['10.0.0.0/8', 'fd00::/8', '192.0.2.7'],
      signOutUrl: 'https://auth.example.org/logout',
    },
  },
})

interface Sent {
  readonly from?: string
  readonly method?: string
  readonly fields?: Readonly<Record<string, string>>
}
const ask = async (path: string, headers: Readonly<Record<string, string>>, { from = PROXY, method = 'GET', fields }: Sent = {}) => {
  const request = new Request(new URL(path, ORIGIN), {
    method,
    headers: {
      host: '127.0.0.1:3000',
      accept: 'text/html',
      ...(fields ? { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN } : {}),
      ...headers,
    },
    ...(fields ? { body: new URLSearchParams(fields).toString() } : {}),
  })
  const response = await answerRequest(test.pipeline, request, from)
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const nameIn = (html: string) => /data-reader="([^"]+)"/.exec(html)?.[1] ?? null
const nameFor = async (headers: Readonly<Record<string, string>>, from?: string) =>
  nameIn((await ask('/search', headers, from === undefined ? {} : { from })).text)

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  it('makes an account at the first arrival, with what the proxy says; the first one must be an administrator', async () => {
    const early = await ask('/search', { 'remote-user': 'early' })
    expect([early.status, early.text.includes('The first account must be the administrator')]).toEqual([403, true])
    expect(await nameFor({ ...ADMIN, 'remote-name': 'Bö B.', 'remote-email': 'Boss@example.org' })).toBe('boss')
    expect(await test.app.store.people.findPersonByName('boss')).toMatchObject({ role: 'admin', email: 'boss@example.org' })
    expect((await ask('/admin', ADMIN)).status).toBe(200)
  })

  it('reads UTF-8, and never takes an existing or a reserved name', async () => {
    await test.app.store.people.createUser({ username: 'kept', defaultVisibility: 'private' })
    expect(await nameFor({ 'remote-user': 'kept' })).toBe('kept-2')
    expect(await nameFor({ 'remote-user': 'kept' })).toBe('kept-2')
    expect(await nameFor({ 'remote-user': 'settings' })).toBe('settings-2')
    expect(await nameFor({ 'remote-user': Buffer.from('Zoë').toString('latin1') })).toBe('Zoe')
    // Another person for a proxy whose names have upper case.
    expect(await nameFor({ 'remote-user': 'BOSS' })).toBe('BOSS-2')
  })

  describe('the header', () => {
    it.each(['203.0.113.9', '127.0.0.1', '::1', '', '192.0.2.8', '::ffff:203.0.113.9', 'not an address'])(
      'of %j is ignored',
      async (from) => {
        expect(await nameFor(ADMIN, from)).toBeNull()
        expect(await nameFor({ ...ADMIN, 'x-forwarded-for': PROXY, forwarded: `for=${PROXY}` }, from)).toBeNull()
      },
    )

    it.each([PROXY, '::ffff:10.9.9.9', 'fd00::1', '192.0.2.7'])('of %s counts', async (from) => {
      expect(await nameFor(ADMIN, from)).toBe('boss')
    })

    it.each(['boss, eve', 'eve,boss', ',', 'a;b', 'a\tb', '<b>', 'a"b', 'x'.repeat(256), '\u00ff\u00fe'])(
      '%j names nobody and is refused',
      async (value) => {
        const before = await test.app.store.people.countPeople(null)
        const answer = await ask('/search', { 'remote-user': value })
        expect([answer.status, answer.text.includes('The proxy must send one name in the header remote-user')]).toEqual([403, true])
        expect(await test.app.store.people.countPeople(null)).toEqual(before)
      },
    )

    it.each<Record<string, string>>([{}, { 'remote-user': '' }, { 'remote-user': '  ' }, { 'x-remote-user': 'boss' }])(
      'that is absent leaves the reader anonymous: %j',
      async (headers) => {
        expect(await nameFor({ ...headers, 'remote-groups': 'admins' })).toBeNull()
        expect((await ask('/sign-in', headers)).text).toContain('The proxy in front of this service signs you in')
      },
    )

    it.each([
      '/api/prompts',
      '/api/mcp',
      '/healthz',
      '/.well-known/agent-skills/index.json',
      '/library.git/info/refs?service=git-upload-pack',
    ])('counts for nothing at %s', async (path) => {
      const plain = await ask(path, { accept: '*/*' })
      const proxied = await ask(path, { ...ADMIN, accept: '*/*' })
      expect([proxied.status, proxied.headers.get('cache-control')]).toEqual([plain.status, plain.headers.get('cache-control')])
      // Nothing there is made for the person.
      expect((await ask(path, { 'remote-user': 'a, b', accept: '*/*' })).status).toBe(plain.status)
    })

    it('keeps keys and what they see below /api apart', async () => {
      const { key } = await test.user('robot')
      const response = await ask('/api/keys/none', { ...ADMIN, accept: '*/*', 'x-api-key': 'cpb_wrong' })
      expect(response.status).toBe(401)
      expect((await ask('/api/prompts', { 'remote-user': 'a, b', accept: '*/*', 'x-api-key': key })).status).toBe(200)
    })
  })

  it('is not answered from, nor put into, the cache of anonymous pages', async () => {
    expect(nameIn((await ask('/prompts', {})).text)).toBeNull()
    const own = await ask('/prompts', ADMIN)
    expect([nameIn(own.text), own.headers.get('cache-control')]).toEqual(['boss', 'private, no-store'])
    expect(nameIn((await ask('/prompts', {})).text)).toBeNull()
  })

  it('takes forms of its own pages alone', async () => {
    const fields = { do: 'profile', displayName: 'Changed', bio: '', website: '', defaultVisibility: 'private' }
    const foreign = await ask('/settings', { ...ADMIN, origin: 'https://evil.example.org' }, { method: 'POST', fields })
    expect(foreign.status).toBe(403)
    const sameSite = await ask('/settings', { ...ADMIN, 'sec-fetch-site': 'cross-site' }, { method: 'POST', fields })
    expect(sameSite.status).toBe(403)
    expect((await ask('/settings', ADMIN, { method: 'POST', fields })).status).toBe(303)
  })

  it('follows groups, and what administrators decide, at once', async () => {
    const eng = { 'remote-user': 'gil', 'remote-groups': 'eng, other' }
    expect(await nameFor(eng)).toBe('gil')
    const person = await test.app.store.people.findPersonByName('gil')
    const teams = async () => (await test.app.store.teams.listTeamsOf(person?.id ?? '')).map(({ name, role }) => [name, role])
    expect(await teams()).toEqual([['acme', 'editor']])
    await nameFor({ 'remote-user': 'gil', 'remote-groups': '' })
    expect(await teams()).toEqual([])
    await test.call(OPERATOR, 'set_suspended', { username: 'gil', isSuspended: true })
    const refused = await ask('/search', eng)
    expect([refused.status, refused.text.includes('This account is suspended')]).toEqual([403, true])
  })

  it('takes a right away when the groups are again what they were', async () => {
    const statuses: number[] = []
    for (const groups of ['', 'admins', '']) statuses.push((await ask('/admin', { 'remote-user': 'eve', 'remote-groups': groups })).status)
    expect(statuses).toEqual([403, 200, 403])
  })

  it('has no passwords, and says how people sign out', async () => {
    expect((await ask('/sign-in', {})).text).not.toContain('type="password"')
    expect((await ask('/sign-in', {}, { method: 'POST', fields: { name: 'boss', password: PASSWORD } })).status).toBe(403)
    const page = await ask('/sign-out', ADMIN)
    expect(page.text).toContain('will sign you in again')
    expect(page.text).toContain('href="https://auth.example.org/logout"')
  })

  it('is joined to an account that was there by an administrator', async () => {
    const kept = await test.app.store.people.findPersonByName('kept')
    await test.app.store.arrivals.ensureLogin(kept?.id ?? '')
    await test.app.store.arrivals.connectIdentity(kept?.id ?? '', { provider: 'proxy', subject: 'kept@corp' }, null)
    expect(await nameFor({ 'remote-user': 'kept@corp' })).toBe('kept')
  })

  it('lets a sign-in link in where the proxy names nobody', async () => {
    const boss = await test.app.store.people.findPersonByName('boss')
    const token = await test.app.logins.createSignInToken(boss?.id ?? '')
    expect((await ask(`/sign-in/link?token=${token}`, {})).text).toContain('This link signs you in as boss')
    const used = await ask('/sign-in/link', {}, { method: 'POST', fields: { token } })
    const cookie = used.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    expect(used.status).toBe(303)
    expect(nameIn((await ask('/search', { cookie })).text)).toBe('boss')
    // What the proxy says counts more.
    expect(nameIn((await ask('/search', { cookie, 'remote-user': 'kept@corp' })).text)).toBe('kept')
    expect((await ask('/sign-in/link', {}, { method: 'POST', fields: { token } })).status).toBe(404)
  })

  it('fills no team that somebody made before an administrator allows it, and takes the name of one from the start', async () => {
    const { store } = test.app
    const mallory = await test.user('mallory')
    const squat = { name: 'secops', displayName: null, description: null, defaultVisibility: 'private' } as const
    const create = (name: string) => store.teams.createTeam({ userId: mallory.actor.userId, isAdmin: false }, { ...squat, name })
    await create('secops')
    expect(await store.arrivals.reserveTeams(['secops', 'ops', 'kept'])).toEqual([
      expect.stringMatching(/^The team "secops" .* made by somebody here, and is not filled before an administrator allows it/),
      'The team "kept" of the group map cannot be created: the name is taken.',
    ])
    await expect(create('ops')).rejects.toMatchObject({ code: 'conflict' })
    const sue = { 'remote-user': 'sue', 'remote-groups': 'sec' }
    const rolesOfSue = async () => {
      await nameFor(sue)
      const { id = '' } = (await store.people.findPersonByName('sue')) ?? {}
      return (await store.teams.listTeamsOf(id)).map(({ name, role }) => `${name}:${role}`)
    }
    expect(await rolesOfSue()).toEqual([])
    expect((await ask('/admin/teams', ADMIN)).text).toContain('name="bound" value="secops"')
    expect((await ask('/admin/teams', ADMIN, { method: 'POST', fields: { do: 'bind', bound: 'secops' } })).status).toBe(303)
    expect(await rolesOfSue()).toEqual(['secops:editor'])
  })

  it('signs programs in without giving the browser a session, and has no passkeys', async () => {
    const person = { 'remote-user': 'prog', 'remote-groups': 'admins' }
    await ask('/search', person)
    const two = await program(test)
    const asked = await ask(two.authorizeAt(), person)
    expect([asked.status, asked.headers.getSetCookie()]).toEqual([302, []])
    const to = asked.headers.get('location') ?? ''
    expect(to).toMatch(/^\/oauth2\/consent\?/)
    const fields = { query: to.slice(to.indexOf('?') + 1), do: 'allow', scopes: 'read' }
    const answered = await ask('/oauth2/consent', person, { method: 'POST', fields })
    expect(answered.headers.getSetCookie()).toEqual([])
    const code = addressBack(answered.text).searchParams.get('code') ?? ''
    const given = await two.exchange({
      grant_type: 'authorization_code',
      code,
      redirect_uri: RETURN_ADDRESS,
      code_verifier: two.verifier,
      resource: MCP_ADDRESS,
    })
    expect(given.status).toBe(200)
    expect((await callMcp(test, Object(await given.json())['access_token'])).status).toBe(200)
    for (const path of ['/sign-in/passkey/options', '/sign-in/passkey']) {
      const request = new Request(new URL(path, ORIGIN), {
        method: 'POST',
        headers: { host: '127.0.0.1:3000', origin: ORIGIN, 'content-type': 'application/json' },
        body: '{"answer":{"id":"x"}}',
      })
      expect((await answerRequest(test.pipeline, request, '192.0.2.1')).status, path).toBe(403)
    }
  })
})
