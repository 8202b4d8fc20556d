import { unzipSync } from 'fflate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PROCEDURES } from '../support/procedures.ts'
import { json, readJson, testApp, useFreshTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const test = useFreshTestApp()

const keyIn = (html: string) => /cpb_[A-Za-z0-9]{49}/.exec(html)?.[0] ?? ''
/** What a page says is wrong, in the order it says it. */
const faultsIn = (html: string) => [...html.matchAll(/class="fault[^>]*>([^<]+)</g)].map(([, text = '']) => text.replaceAll('&quot;', '"'))
describe('the first account', () => {
  it('needs the setup code, wherever the browser is', async () => {
    const visitor = visit(test)
    expect((await visitor.get('/sign-up')).html).toContain('name="setupCode"')
    const fields = { username: 'ada', password: PASSWORD }
    for (const setupCode of [undefined, '', 'x', `${test.app.setupCode}0`, test.app.setupCode.slice(1)]) {
      const refused = await visitor.post('/sign-up', { ...fields, ...(setupCode === undefined ? {} : { setupCode }) })
      expect(refused.status).toBe(400)
      expect(faultsIn(refused.html)).toContain('The first account needs the setup code printed by the service at startup.')
      expect(refused.html).toContain('value="ada"')
      expect(refused.html).not.toContain(PASSWORD)
    }
    expect(await test.app.store.people.hasLogins()).toBe(false)
    const made = await visitor.post('/sign-up', { ...fields, setupCode: test.app.setupCode })
    expect([made.status, made.to]).toEqual([303, '/settings/access?done=welcome'])
    expect((await visitor.get('/admin')).status).toBe(200)
  })

  it('needs it still when an operator made a link for somebody', async () => {
    const { id } = await test.app.store.people.createUser({ username: 'linked', defaultVisibility: 'private' })
    await test.app.store.arrivals.ensureLogin(id)
    expect((await visit(test).get('/sign-up')).html).toContain('name="setupCode"')
    const visitor = visit(test)
    const made = await visitor.post('/sign-up', { username: 'ada', password: PASSWORD, setupCode: test.app.setupCode })
    expect([made.status, (await visitor.get('/admin')).status]).toEqual([303, 200])
  })

  it('is there when an operator made an administrator and a link', async () => {
    const { id } = await test.app.store.people.createUser({ username: 'boss', defaultVisibility: 'private' })
    await test.app.store.arrivals.ensureLogin(id)
    await test.app.store.people.setRole('boss', 'admin')
    expect(await test.app.store.people.hasLogins()).toBe(true)
    const arriving = { provider: 'oidc', subject: '1', name: 'zed', displayName: null, email: null, grants: null, allowsNew: true }
    expect((await test.app.store.arrivals.arrive(arriving)).person).toMatchObject({ username: 'zed', role: 'user' })
  })

  it('is one even when two ask at the same moment', async () => {
    const [one, two] = await Promise.all(
      ['ada', 'eve'].map((username) => visit(test).post('/sign-up', { username, password: PASSWORD, setupCode: test.app.setupCode })),
    )
    expect([one?.status, two?.status].toSorted()).toEqual([303, 403])
  })
})

describe('an invite before there is an administrator', () => {
  const invite = async (role: 'user' | 'admin') => {
    const { token, sha256 } = test.app.contextFor({ kind: 'anonymous' }, 'rest').secrets.makeToken()
    const expiresAt = new Date(test.app.clock() + 86_400_000).toISOString()
    await test.app.store.people.createInvite({ sha256, username: null, role, expiresAt })
    return token
  }

  it('makes nobody one, unless it is for one', async () => {
    const [plain, forAdmin] = [await invite('user'), await invite('admin')]
    const refused = await visit(test).post('/sign-up', { username: 'eve', password: PASSWORD, invite: plain })
    expect([refused.status, refused.html]).toEqual([403, expect.stringContaining('setup code')])
    expect((await visit(test).post('/sign-up', { username: 'ada', password: PASSWORD, invite: forAdmin })).status).toBe(303)
    expect((await visit(test).post('/sign-up', { username: 'eve', password: PASSWORD, invite: plain })).status).toBe(303)
    const { items } = await test.app.store.people.listPeople({ limit: 10, offset: 0, matching: null })
    expect(items.map(({ username, role }) => `${username} ${role}`).toSorted()).toEqual(['ada admin', 'eve user'])
  })
})

describe('signing up', () => {
  it('refuses what cannot be an account, and says which field', async () => {
    const admin = await signUp(test, 'ada')
    await admin.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
    const made = await admin.postOn('/admin/invites', { do: 'create', role: 'user' })
    const invite = /invite=([\w-]+)/.exec(made.html)?.[1] ?? ''
    for (const [fields, fault] of [
      [{ username: 'a b' }, 'The username may contain only a-z, A-Z, 0-9, dot, hyphen and underscore.'],
      [{ username: 'ADA' }, 'The name "ADA" is taken; choose another.'],
      [{ password: 'short' }, 'The password must have at least 8 characters.'],
      [{ username: 'longenough', password: 'LONGENOUGH' }, 'The password must not be the username or the email address.'],
      [{ email: 'no address' }, 'This is not an email address.'],
      [{ email: 'ADA@example.org' }, 'An account with this email address already exists.'],
    ] as const) {
      const refused = await visit(test).post('/sign-up', { username: 'bob', password: PASSWORD, invite, ...fields })
      expect([refused.status, faultsIn(refused.html).slice(1)]).toEqual([400, [fault]])
      expect(refused.html).toContain('Please correct 1 field:')
      expect((await test.app.store.people.listInvites({ limit: 1, offset: 0 })).items[0]?.usedAt).toBeNull()
    }
  })

  it('reports every fault at once', async () => {
    await signUp(test, 'ada')
    const open = await testApp({ ALLOW_SIGNUP: true })
    onTestFinished(() => open.close())
    const fields = { username: 'zoë', password: 'short', email: 'no address', setupCode: 'wrong' }
    const { status, html } = await visit(open).post('/sign-up', fields)
    expect([status, ...faultsIn(html).slice(1)]).toEqual([
      400,
      expect.stringContaining('"ë" is not allowed.'),
      'The password must have at least 8 characters.',
      'This is not an email address.',
      expect.stringContaining('setup code'),
    ])
    expect(html).toContain('Please correct 4 fields: <a href="#field-username">Username</a>, ')
  })

  it('is open to everybody only where the settings say so', async () => {
    await signUp(test, 'ada')
    expect((await visit(test).get('/sign-up')).html).toContain('You need an invite')
    expect((await visit(test).get('/sign-in')).html).not.toContain('/sign-up')
    expect((await visit(test).post('/sign-up', { username: 'bob', password: PASSWORD })).status).toBe(403)
    const open = await testApp({ ALLOW_SIGNUP: true })
    onTestFinished(() => open.close())
    await signUp(open, 'ada')
    const bob = visit(open)
    expect((await bob.post('/sign-up', { username: 'bob', password: PASSWORD })).status).toBe(303)
    expect((await bob.get('/admin')).status).toBe(403)
  })

  it('takes an invite once, for its name alone, until it expires or is revoked', async () => {
    const admin = await signUp(test, 'ada')
    const inviteFor = async (username: string) => {
      const made = await admin.postOn('/admin/invites', { do: 'create', username, role: 'user' })
      return /invite=([\w-]+)/.exec(made.html)?.[1] ?? ''
    }
    const tryInvite = async (invite: string, username: string) => {
      const answer = await visit(test).post('/sign-up', { username, password: PASSWORD, invite })
      return [answer.status, faultsIn(answer.html).at(-1)]
    }
    const forBob = await inviteFor('bob')
    expect(await tryInvite(forBob, 'eve')).toEqual([400, 'This invite is for the name "bob".'])
    expect(await tryInvite(forBob, 'BOB')).toEqual([303, undefined])
    expect(await tryInvite(forBob, 'bob')).toEqual([403, 'This invite has already been used. Ask for a new one.'])
    const late = await inviteFor('')
    test.wait(7 * 86_400_000)
    expect(await tryInvite(late, 'late')).toEqual([403, 'This invite has expired. Ask for a new one.'])
    const revoked = await inviteFor('')
    const newest = (await test.app.store.people.listInvites({ limit: 1, offset: 0 })).items[0]?.id ?? ''
    await admin.post('/admin/invites', { do: 'revoke', id: newest })
    expect(await tryInvite(revoked, 'gone')).toEqual([403, 'Invite not found. Ask for a new one.'])
    expect(await tryInvite('made-up', 'gone')).toEqual([403, 'Invite not found. Ask for a new one.'])
    expect(
      (await test.app.store.people.listPeople({ limit: 10, offset: 0, matching: null })).items.map(({ username }) => username),
    ).toEqual(['ada', 'BOB'])
  })

  it('gives a kept name, or a contributor’s, only to who is invited under it', async () => {
    const admin = await signUp(test, 'ada')
    await test.user('kept')
    const placeholder = await test.app.store.people.ensurePlaceholder('Grace')
    const anyName = await admin.postOn('/admin/invites', { do: 'create', role: 'user' })
    const invite = /invite=([\w-]+)/.exec(anyName.html)?.[1] ?? ''
    for (const username of ['kept', 'grace']) {
      expect(faultsIn((await visit(test).post('/sign-up', { username, password: PASSWORD, invite })).html).at(-1)).toMatch(
        /^The name ".*" is reserved\. Ask an administrator for an invite for it \(users invite /,
      )
    }
    const forGrace = await admin.postOn('/admin/invites', { do: 'create', username: 'grace', role: 'user' })
    const grace = visit(test)
    const token = /invite=([\w-]+)/.exec(forGrace.html)?.[1] ?? ''
    expect((await grace.post('/sign-up', { username: 'Grace', password: PASSWORD, invite: token })).status).toBe(303)
    const held = { id: placeholder.id, hasLogin: true, isPlaceholder: false }
    expect(await test.app.store.people.findPersonByName('grace')).toMatchObject(held)
    // What names her in a file from now on stands for somebody else.
    expect((await test.app.store.people.ensurePlaceholder('Grace')).id).not.toBe(placeholder.id)
  })
})

describe('signing in', () => {
  it('goes by name or e-mail address, in any case, and tells no more than that something is wrong', async () => {
    const ada = await signUp(test, 'Ada')
    await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
    for (const name of ['ada', ' ADA ', 'Ada@Example.org']) {
      expect((await visit(test).post('/sign-in', { name, password: PASSWORD })).to, name).toBe('/')
    }
    const faults = new Set<string>()
    for (const [name, password] of [
      ['ada', 'wrong password'],
      ['nobody', PASSWORD],
      ['no@example.org', PASSWORD],
      ['ada', 'x'.repeat(10_000)],
    ] as const) {
      const refused = await visit(test).post('/sign-in', { name, password })
      expect(refused.status).toBe(401)
      faults.add(faultsIn(refused.html).join('|'))
    }
    expect([...faults]).toEqual(['Wrong username or password.'])
  })

  it('leads on to a page of this service alone', async () => {
    await signUp(test, 'ada')
    for (const [to, expected] of [
      ['/settings?x=1', '/settings?x=1'],
      ['//evil.example/', '/'],
      ['javascript:alert(1)', '/'],
      ['/\t/evil.example', '/'],
    ]) {
      expect((await visit(test).post('/sign-in', { name: 'ada', password: PASSWORD, to: to ?? '' })).to, to).toBe(expected)
    }
  })

  it('sends cookies no script and no other site gets to see', async () => {
    await signUp(test, 'ada')
    const answer = await visit(test).post('/sign-in', { name: 'ada', password: PASSWORD, isRemembered: 'true' })
    const [cookie, known, ...others] = answer.headers.getSetCookie()
    expect(others).toEqual([])
    expect(known).toMatch(/^commonplace\.known=[\w.-]+; Path=\/; Max-Age=31536000; SameSite=Lax; HttpOnly$/)
    expect(cookie).toMatch(/^commonplace\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('keeps cookies to this host where the service is reached by https', async () => {
    const secure = await testApp({}, {}, null, { baseUrl: 'https://prompts.example.org' })
    onTestFinished(() => secure.close())
    const host = { host: 'prompts.example.org', origin: 'https://prompts.example.org' }
    const fields = { username: 'ada', password: PASSWORD, setupCode: secure.app.setupCode }
    const answer = await visit(secure).post('/sign-up', fields, host)
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-commonplace\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    const pair = cookie.split(';')[0] ?? ''
    const get = async (cookies: string) =>
      (await secure.fetch('/settings', { redirect: 'manual', headers: { accept: 'text/html', host: host.host, cookie: cookies } })).status
    expect(await get(pair)).toBe(200)
    // A sibling domain can plant these names.
    expect(await get(pair.replace('__Host-', '__Secure-'))).toBe(303)
    expect(await get(pair.replace('__Host-', ''))).toBe(303)
    const ada = visit(secure)
    ada.setCookies(pair)
    const theme = (await ada.post('/settings', { do: 'theme', theme: 'dark' }, host)).headers.getSetCookie()[0] ?? ''
    expect(theme).toBe('__Host-theme=dark; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly; Secure')
    expect((await ada.get('/', { host: host.host })).html).toContain('data-theme="dark"')
    const made = await ada.post('/settings/access', { do: 'create', name: 'laptop', scopes: ['read'] }, host)
    expect(made.headers.getSetCookie()[0]).toMatch(/^__Host-flash=[\w-]+; Path=\/; Max-Age=60; SameSite=Strict; HttpOnly; Secure$/)
    expect((await ada.get('/settings/access', { host: host.host })).html).toMatch(/cpb_\w{49}/)
    const signedOut = await ada.post('/sign-out', {}, host)
    expect(signedOut.headers.getSetCookie()[0]).toMatch(/^__Host-commonplace\.session_token=; Max-Age=0; Path=\/.*; Secure/)
    expect(
      (await visit(secure).post('/sign-in', { name: 'ada', password: PASSWORD }, { ...host, origin: 'http://evil.example' })).status,
    ).toBe(403)
  })
})

describe('sessions', () => {
  it('end at once: by signing out, from elsewhere, and with a new password', async () => {
    const first = await signUp(test, 'ada')
    const thief = visit(test)
    thief.setCookies(first.cookies())
    expect((await thief.get('/settings')).status).toBe(200)
    expect((await first.post('/sign-out', {})).status).toBe(303)
    expect((await thief.get('/settings')).to).toBe('/sign-in?to=%2Fsettings')

    const [here, elsewhere] = [visit(test), visit(test)]
    for (const browser of [here, elsewhere]) await browser.post('/sign-in', { name: 'ada', password: PASSWORD })
    expect((await elsewhere.get('/settings')).status).toBe(200)
    await here.post('/settings/security', { do: 'end-others' })
    expect((await elsewhere.get('/settings')).status).toBe(303)
    expect((await here.get('/settings')).status).toBe(200)

    await elsewhere.post('/sign-in', { name: 'ada', password: PASSWORD })
    const changed = await here.post('/settings/security', { do: 'password', password: PASSWORD, newPassword: 'another good one' })
    expect(changed.to).toBe('/settings/security?done=password-changed')
    expect([(await elsewhere.get('/settings')).status, (await here.get('/settings')).status]).toEqual([303, 200])
    expect((await visit(test).post('/sign-in', { name: 'ada', password: PASSWORD })).status).toBe(401)
  })

  it('of somebody else cannot be ended', async () => {
    const ada = await signUp(test, 'ada')
    const eve = await signUp(test, 'eve')
    const person = await test.app.store.people.findPersonByName('ada')
    const [session] = await test.app.logins.listSessions(person?.id ?? '')
    expect((await eve.post('/settings/security', { do: 'end', id: session?.id ?? '' })).status).toBe(404)
    expect((await ada.get('/settings')).status).toBe(200)
  })

  it('are nothing to the interfaces of programs', async () => {
    const ada = await signUp(test, 'ada')
    await ada.post('/new', { title: 'Mine', content: 'secret', visibility: 'private' })
    const answer = await test.fetch('/api/prompts', { headers: { cookie: ada.cookies() } })
    expect([answer.status, (await readJson(answer)).total]).toEqual([200, 0])
    const { headers, ...write } = json('POST', { title: 'x', content: 'x' })
    const written = await test.fetch('/api/prompts', { ...write, headers: { ...headers, cookie: ada.cookies() } })
    expect(written.status).toBe(401)
  })

  it('are kept as hashes: nothing in the database signs anybody in', async () => {
    const ada = await signUp(test, 'ada')
    const made = await ada.postOn('/settings/access', { do: 'create', name: 'laptop', scopes: ['read'] })
    const invite = /invite=([\w-]+)/.exec((await ada.postOn('/admin/invites', { do: 'create', role: 'user' })).html)?.[1] ?? ''
    const reset = /token=([\w-]+)/.exec((await ada.postOn('/admin/people/ada', { do: 'reset' })).html)?.[1] ?? ''
    const token = decodeURIComponent(/session_token=([^;]+)/.exec(ada.cookies())?.[1] ?? '')
    const secrets = [token.split('.')[0] ?? '', token.split('.')[1] ?? '', keyIn(made.html), invite, reset, PASSWORD, test.app.setupCode]
    const stored = await test.readEverything()
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(9)
      expect(stored.includes(secret)).toBe(false)
    }
  })
})

describe('forms', () => {
  it('are taken from pages of this service alone', async () => {
    const ada = await signUp(test, 'ada')
    for (const [headers, status] of [
      [{ origin: 'http://evil.example' }, 403],
      [{ origin: 'http://localhost:3000' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'cross-site' }, 403],
      [{ origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-origin' }, 303],
    ] as const) {
      const answer = await ada.post('/settings', { do: 'profile', displayName: 'Changed', defaultVisibility: 'private' }, headers)
      expect(answer.status).toBe(status)
      const person = await test.app.store.people.findPersonByName('ada')
      expect(person?.displayName).toBe(status === 303 ? 'Changed' : null)
    }
  })

  it('of settings that were merged lead on', async () => {
    const ada = await signUp(test, 'ada')
    for (const name of ['keys', 'programs', 'install-links', 'sign-in', 'sessions', 'passkeys']) {
      const to = /sign-in|sessions|passkeys/.test(name) ? '/settings/security' : '/settings/access'
      expect((await ada.get(`/settings/${name}?scope=x`)).to, name).toBe(`${to}?scope=x`)
    }
    // Sections are behind one button, and signing out is in the menu alone.
    const { html } = await ada.get('/settings/security')
    expect(html).toContain('<details class="section-menu"><summary>Settings</summary>')
    expect(html.match(/action="\/sign-out"/g)).toHaveLength(1)
  })

  it('of every page need a session, and lead to signing in without one', async () => {
    await signUp(test, 'ada')
    for (const path of ['/settings', '/trash', '/admin/people/ada']) {
      expect((await visit(test).get(path)).to, path).toBe(`/sign-in?to=${encodeURIComponent(path)}`)
      expect((await visit(test).post(path, { do: 'role' })).to, path).toBe(`/sign-in?to=${encodeURIComponent(path)}`)
    }
  })
})

describe('secrets that are shown once', () => {
  it.each([
    ['/settings/access', { do: 'create', name: 'laptop', scopes: ['read'] }, /cpb_\w{49}/],
    ['/admin/people/ada', { do: 'reset' }, /\?token=[\w-]{43}/],
  ])('%s shows what its form made on the next page, and to nobody else', async (path, fields, secret) => {
    const ada = await signUp(test, 'ada')
    const thief = visit(test)
    const elsewhere = visit(test)
    await elsewhere.post('/sign-in', { name: 'ada', password: PASSWORD })
    const made = await ada.post(path, fields)
    expect([made.status, made.to, made.html]).toEqual([303, path, ''])
    const flash = made.headers.getSetCookie().find((cookie) => cookie.startsWith('flash=')) ?? ''
    expect(flash).toMatch(/^flash=[\w-]+; Path=\/; Max-Age=60; SameSite=Strict; HttpOnly$/)
    const stolen = flash.split(';')[0] ?? ''
    // Sealed for this session and this page.
    thief.setCookies(stolen)
    expect((await thief.get(path)).status).toBe(303)
    elsewhere.setCookies(`${elsewhere.cookies()}; ${stolen}`)
    expect((await elsewhere.get(path)).html).not.toMatch(secret)
    expect((await ada.get('/settings')).html).not.toMatch(secret)
    const shown = await ada.get(path)
    expect([shown.status, shown.headers.get('cache-control'), shown.html]).toEqual([
      200,
      'private, no-store',
      expect.stringMatching(secret),
    ])
    const found = secret.exec(shown.html)?.[0] ?? ''
    expect(Buffer.from(stolen.slice('flash='.length), 'base64url').includes(found)).toBe(false)
    // A reload shows and makes nothing.
    expect((await ada.get(path)).html).not.toMatch(secret)
    expect(ada.cookies()).not.toContain('flash')
  })

  it('are lost a minute later', async () => {
    const ada = await signUp(test, 'ada')
    await ada.post('/settings/access', { do: 'create', name: 'laptop', scopes: ['read'] })
    test.wait(61_000)
    expect((await ada.get('/settings/access')).html).not.toMatch(/cpb_\w{49}/)
  })
})

describe('keys', () => {
  it('are made, used, and revoked', async () => {
    const ada = await signUp(test, 'ada')
    const made = await ada.postOn('/settings/access', { do: 'create', name: 'laptop', scopes: ['read', 'write'], expiresInDays: '30' })
    const key = keyIn(made.html)
    expect(made.headers.get('cache-control')).toBe('private, no-store')
    expect((await ada.get('/settings/access')).html).not.toContain(key)
    const save = () => test.fetch('/api/prompts', { ...json('POST', { title: 'T', content: 'C' }), key })
    expect((await save()).status).toBe(201)
    const [stored] = await test.app.store.keys.listKeys('ada')
    expect(stored).toMatchObject({ name: 'laptop', scopes: ['read', 'write'] })
    await ada.post('/settings/access', { do: 'revoke', id: stored?.id ?? '' })
    expect((await save()).status).toBe(401)
  })

  it('say whose they are and what they may do, to whoever holds them', async () => {
    const { actor, key } = await test.user('wim', ['improve'])
    const ask = async (sent?: string) => {
      const answer = await test.fetch('/api/me', sent === undefined ? {} : { key: sent })
      return [answer.status, await readJson(answer)]
    }
    const own = { name: 'test', scopes: ['improve'], narrowedTo: null, program: null, expiresAt: null, state: 'active' }
    expect(await ask(key)).toEqual([
      200,
      { username: 'wim', displayName: null, role: 'user', scopes: ['improve'], key: expect.objectContaining({ id: actor.keyId, ...own }) },
    ])
    const signedIn = { ...actor, scopes: new Set(['read', 'write', 'account'] as const) }
    await test.call(signedIn, 'create_team', { team: 'crew' })
    const narrowed = await test.call(signedIn, 'create_key', { name: 'n', scopes: ['read'], team: 'crew', expiresInDays: 1 })
    expect(await ask(String(narrowed['key']))).toEqual([
      200,
      expect.objectContaining({ key: { ...Object(narrowed['record']), lastUsedAt: null } }),
    ])
    expect(Object(narrowed['record']).narrowedTo).toEqual(['@crew'])
    expect(await ask()).toEqual([401, expect.objectContaining({ error: 'unauthenticated' })])
    expect(await ask(key.slice(0, -1))).toEqual([401, expect.objectContaining({ error: 'invalid_api_key' })])
    const { keyId: _, ...operator } = actor
    expect(await test.call(operator, 'whoami', {})).toMatchObject({ username: 'wim', key: null })
  })

  it('of somebody else are neither listed nor revoked', async () => {
    const ada = await signUp(test, 'ada')
    const key = keyIn((await ada.postOn('/settings/access', { do: 'create', name: 'of ada', scopes: ['read'] })).html)
    const eve = await signUp(test, 'eve')
    const [stored] = await test.app.store.keys.listKeys('ada')
    expect((await eve.post('/settings/access', { do: 'revoke', id: stored?.id ?? '' })).status).toBe(404)
    expect((await eve.get('/settings/access')).html).not.toContain('of ada')
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
  })

  it('need a name, a scope and days to come', async () => {
    const ada = await signUp(test, 'ada')
    for (const [fields, fault] of [
      [{ name: '', scopes: ['read'] }, /name/],
      [{ name: 'x', scopes: [] }, /scopes/],
      [{ name: 'x', scopes: ['account'] }, /scopes/],
      [{ name: 'x', scopes: ['read'], expiresInDays: '0' }, /Expires must be/],
    ] as const) {
      const refused = await ada.postOn('/settings/access', { do: 'create', ...fields })
      expect(refused.status).toBe(400)
      expect(faultsIn(refused.html).join(' ')).toMatch(fault)
      expect(await test.app.store.keys.listKeys('ada')).toEqual([])
    }
  })

  it('never make, list or end what only a person may', async () => {
    const { actor } = await test.user('bot')
    const ofPersons = [...PROCEDURES].filter(([, { scope }]) => scope === 'account' || scope === 'admin')
    expect(ofPersons.length).toBeGreaterThan(80)
    for (const [name, { surfaces }] of ofPersons) {
      await expect(test.call(actor, name, {}), name).rejects.toMatchObject({ code: 'forbidden' })
      await expect(test.call({ kind: 'anonymous' }, name, {}), name).rejects.toMatchObject({ code: 'unauthenticated' })
      expect(surfaces, name).toBeUndefined()
    }
  })
})

describe('administrators', () => {
  it('alone do what administrators do', async () => {
    await signUp(test, 'ada')
    const bob = await signUp(test, 'bob')
    for (const path of ['/admin', '/admin/people', '/admin/invites']) expect((await bob.get(path)).status, path).toBe(403)
    const tried = await Promise.all([
      bob.post('/admin/people/bob', { do: 'role', role: 'admin' }),
      bob.postOn('/admin/people/ada', { do: 'reset' }),
      bob.postOn('/admin/invites', { do: 'create', role: 'admin' }),
      bob.post('/admin/categories', { do: 'create', name: 'Mine' }),
    ])
    expect(tried.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(tried.some(({ html }) => /token=|invite=/.test(html))).toBe(false)
  })

  it('are never none', async () => {
    const ada = await signUp(test, 'ada')
    await signUp(test, 'bob')
    expect((await ada.post('/admin/people/ada', { do: 'role', role: 'user' })).status).toBe(409)
    expect((await ada.post('/settings/data', { do: 'delete', username: 'ada', password: PASSWORD })).status).toBe(409)
    expect((await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })).status).toBe(303)
    expect((await ada.post('/admin/people/ada', { do: 'role', role: 'user' })).status).toBe(303)
    expect((await ada.get('/admin')).status).toBe(403)
  })
})

describe('a forgotten password', () => {
  it('is set anew by a link, once, which ends every session', async () => {
    const ada = await signUp(test, 'ada')
    const made = await ada.postOn('/admin/people/ada', { do: 'reset' })
    const token = /token=([\w-]+)/.exec(made.html)?.[1] ?? ''
    const visitor = visit(test)
    expect((await visitor.get(`/reset-password?token=${token}`)).html).toContain('New password for ada')
    expect((await visitor.post('/reset-password', { token, password: 'short' })).status).toBe(400)
    expect((await visitor.post('/reset-password', { token, password: 'a new good one' })).to).toBe('/sign-in?done=password-set')
    expect((await visitor.post('/reset-password', { token, password: 'once more, please' })).status).toBe(404)
    expect((await ada.get('/settings')).status).toBe(303)
    expect((await visitor.post('/sign-in', { name: 'ada', password: 'a new good one' })).status).toBe(303)
  })

  const linkFor = async (admin: Visitor, username: string) =>
    /token=([\w-]+)/.exec((await admin.postOn(`/admin/people/${username}`, { do: 'reset' })).html)?.[1] ?? ''
  const isGood = async (token: string) => !(await visit(test).get(`/reset-password?token=${token}`)).html.includes('no longer valid')

  it('ends all other links: with the first that is used, with a new password in the settings, and with a new address', async () => {
    const ada = await signUp(test, 'ada')
    const bob = await signUp(test, 'bob')
    const links = [await linkFor(ada, 'bob'), await linkFor(ada, 'bob')]
    const ofAda = await linkFor(ada, 'ada')
    expect((await visit(test).post('/reset-password', { token: links[0] ?? '', password: 'a new good one' })).status).toBe(303)
    expect([await isGood(links[1] ?? ''), await isGood(ofAda)]).toEqual([false, true])

    await bob.post('/sign-in', { name: 'bob', password: 'a new good one' })
    const second = await linkFor(ada, 'bob')
    expect(
      (await bob.post('/settings/security', { do: 'password', password: 'a new good one', newPassword: 'another good one' })).status,
    ).toBe(303)
    expect(await isGood(second)).toBe(false)

    const third = await linkFor(ada, 'bob')
    expect((await bob.post('/settings', { do: 'email', email: 'bob@example.org', password: 'another good one' })).status).toBe(303)
    expect([await isGood(third), await isGood(ofAda)]).toEqual([false, true])
  })

  it('can revoke all keys of the account with it', async () => {
    const ada = await signUp(test, 'ada')
    const keyOf = (html: string) => /cpb_[0-9A-Za-z]{49}/.exec(html)?.[0] ?? ''
    const make = async () => keyOf((await ada.postOn('/settings/access', { do: 'create', name: 'k', scopes: 'read' })).html)
    const works = async (key: string) => (await test.fetch('/api/prompts', { key })).status
    const [kept] = [await make()]
    await visit(test).post('/reset-password', { token: await linkFor(ada, 'ada'), password: 'a new good one' })
    expect(await works(kept ?? '')).toBe(200)
    await ada.post('/sign-in', { name: 'ada', password: 'a new good one' })
    await visit(test).post('/reset-password', { token: await linkFor(ada, 'ada'), password: 'another good one', revokeKeys: 'on' })
    expect(await works(kept ?? '')).toBe(401)
    await ada.post('/sign-in', { name: 'ada', password: 'another good one' })
    const other = await make()
    const changed = { password: 'another good one', newPassword: 'one more good one', revokeKeys: 'on' }
    await ada.post('/settings/security', { do: 'password', ...changed })
    expect(await works(other)).toBe(401)
  })

  it('says the same whether there is such an account or not', async () => {
    await signUp(test, 'ada')
    const answers = await Promise.all(['ada', 'nobody', 'x@example.org'].map((name) => visit(test).post('/forgot-password', { name })))
    expect(new Set(answers.map(({ to }) => to))).toEqual(new Set(['/forgot-password']))
    // Without mail, the page says so before anybody types a name.
    const { html } = await visit(test).get('/forgot-password')
    expect([html.includes('This service does not send email.'), html.includes('name="name"')]).toEqual([true, false])
    expect((await visit(test).get('/reset-password?token=made-up')).html).toContain('no longer valid')
  })
})

describe('what a credential made', () => {
  it('ends with it, and with everything that the person gave', async () => {
    const ada = await signUp(test, 'ada')
    const there = visit(test)
    await there.post('/sign-in', { name: 'ada', password: PASSWORD })
    const newKey = async () =>
      keyIn((await ada.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read', 'write'], expiresInDays: '30' })).html)
    const linkBy = async (key: string) => {
      const { url, link } = await readJson(await test.fetch('/api/install-links', { ...json('POST', { name: 'by a key' }), key }))
      return { path: new URL(url).pathname, days: (Date.parse(link.expiresAt) - Date.parse(link.createdAt)) / 86_400_000 }
    }
    const linkIn = async (browser: Visitor) => {
      const fields = { do: 'create-link', name: 'by a browser', scope: '', expiresInDays: '30' }
      const { html } = await browser.postOn('/settings/access', fields)
      return { path: /\/install\/[\w-]+/.exec(html)?.[0] ?? '' }
    }
    const [byKey, here, elsewhere] = [await linkBy(await newKey()), await linkIn(ada), await linkIn(there)]
    const statuses = (links: readonly { path: string }[]) =>
      Promise.all(links.map(async ({ path }) => (await test.fetch(`${path}/.well-known/agent-skills/index.json`)).status))
    // A link works for 90 days, where its key does.
    expect(byKey.days).toBeLessThan(31)
    expect(await statuses([byKey, here, elsewhere])).toEqual([200, 200, 200])
    const [{ id = '' } = {}] = await test.app.store.keys.listKeys('ada')
    await ada.post('/settings/access', { do: 'revoke', id })
    expect(await statuses([byKey, here, elsewhere])).toEqual([404, 200, 200])
    await ada.post('/settings/security', { do: 'end-others' })
    expect(await statuses([byKey, here, elsewhere])).toEqual([404, 200, 404])
    const again = await linkBy(await newKey())
    const fields = { password: PASSWORD, newPassword: 'another good one', revokeKeys: 'on' }
    await ada.post('/settings/security', { do: 'password', ...fields })
    expect(await statuses([again, here])).toEqual([404, 404])
  })
})

describe('writing', () => {
  it('offers every category, in a library that has nothing in any yet', async () => {
    const ada = await signUp(test, 'ada')
    for (const path of ['/new', '/new/skill'])
      expect((await ada.get(path)).html, path).toContain('<option value="code-review">— Code review</option>')
    expect((await ada.get('/admin/categories')).html).toContain('href="/admin/categories/code-review"')
  })

  it('keeps the line ends a text had, which no field on a page can', async () => {
    const ada = await signUp(test, 'ada')
    const key = keyIn((await ada.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read', 'write'] })).html)
    const save = json('POST', { title: 'T', content: 'a\r\nb' })
    const { prompt } = await readJson(await test.fetch('/api/prompts', { ...save, key }))
    const form = (await ada.get(`/prompts/${prompt.id}/edit`)).html
    const lineEnds = /name="lineEnds" value="(\w+)"/.exec(form)?.[1] ?? ''
    const fields = { do: 'save', title: 'T', content: 'a\r\nb\r\nc', lineEnds, baseVersion: '1' }
    expect((await ada.post(`/prompts/${prompt.id}/edit`, fields)).status).toBe(303)
    expect((await readJson(await test.fetch(`/api/prompts/${prompt.id}`, { key }))).content).toBe('a\r\nb\r\nc')
    const plain = (await ada.post('/new', { title: 'U', content: 'a\r\nb' })).to?.split('?')[0] ?? ''
    const id = plain.split('/').at(-1) ?? ''
    expect((await readJson(await test.fetch(`/api/prompts/${id}`, { key }))).content).toBe('a\nb')
  })
})

describe('lists of one’s own, and of administrators', () => {
  it('have no page that is no number', async () => {
    const ada = await signUp(test, 'ada')
    for (const path of ['/library', '/admin/people']) {
      expect((await ada.get(`${path}?page=1`)).status, path).toBe(200)
      for (const page of ['0', 'two', '1e0', '']) {
        const { status, html } = await ada.get(`${path}?page=${page}`)
        expect([status, html.includes('Page must be at least 1.')], `${path} ${page}`).toEqual([400, true])
      }
      const beyond = await ada.get(`${path}?page=9&q=ada`)
      expect([beyond.status, beyond.to], path).toEqual([302, `${path}?q=ada`])
    }
  })
})

describe('leaving', () => {
  it('takes everything along as a library that can be imported', async () => {
    const ada = await signUp(test, 'ada')
    await ada.post('/new', { title: 'Mine', content: 'Hello ${name}', visibility: 'private' })
    await test.app.store.categories.createCategory({ slug: 'ours', name: 'Ours', parent: 'coding' })
    const form = new FormData()
    form.set('do', 'save')
    form.set('title', 'Skill')
    form.set('skillMd', '---\nname: one\ndescription: Two.\n---\n')
    expect((await ada.send('/new/skill', form)).status).toBe(303)
    const id = (await ada.post('/embeds', { do: 'save', prompt: 'Framed ${name}', themeMode: 'dark' })).to?.split(/embed=|&/)[1]
    await (await signUp(test, 'bob')).post('/embeds', { do: 'save', prompt: 'Framed by Bob' })
    const own = await ada.get('/library')
    const slug = /href="\/prompts\/(mine-[a-z0-9]+)"/.exec(own.html)?.[1] ?? ''
    await ada.post(`/prompts/${slug}`, { do: 'favourite' })
    const answer = await test.fetch('/settings/data/export.zip', { headers: { cookie: ada.cookies() } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip'])
    const files = unzipSync(new Uint8Array(await answer.arrayBuffer()))
    const text = (name: string) => new TextDecoder().decode(files[name])
    const [skill] = JSON.parse(text('skills.json'))
    const names = ['account.json', 'categories.json', 'favourites.json', 'prompts.jsonl', 'skills.json', `skills/${skill.folder}/SKILL.md`]
    expect(Object.keys(files).toSorted()).toEqual(names)
    expect(JSON.parse(text('categories.json'))).toContainEqual({ slug: 'ours', name: 'Ours', parent: 'coding' })
    expect(JSON.parse(text('favourites.json'))).toEqual([
      { id: expect.any(String), kind: 'prompt', slug, title: 'Mine', author: 'ada', url: `http://127.0.0.1:3000/prompts/${slug}` },
    ])
    expect(JSON.parse(text('prompts.jsonl'))).toMatchObject({ title: 'Mine', content: 'Hello ${name}', visibility: 'private' })
    expect(JSON.parse(text('account.json'))).toMatchObject({
      username: 'ada',
      role: 'admin',
      keys: [],
      embeds: [
        {
          id,
          config: { prompt: 'Framed ${name}', themeMode: 'dark' },
          createdAt: expect.any(String),
          url: `http://127.0.0.1:3000/e/${id}`,
        },
      ],
    })
    expect(text('account.json')).not.toContain('Framed by Bob')
    expect((await test.fetch('/settings/data/export.zip', { headers: { accept: 'text/html' } })).status).toBe(303)
  })

  it('removes everything, gives no address away again, and keeps what is others’', async () => {
    const ada = await signUp(test, 'ada')
    const bob = await signUp(test, 'bob')
    const key = keyIn((await bob.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read'] })).html)
    const saved = await bob.post('/new', { title: 'Only of Bob', content: 'a text unlike any other', visibility: 'public' })
    const path = saved.to?.split('?')[0] ?? ''
    const trashed = await bob.post('/new', { title: 'Thrown away', content: 'quite another text', visibility: 'private' })
    await bob.post(trashed.to?.split('?')[0] ?? '', { do: 'delete' })
    const others = await ada.post('/new', { title: 'Of Ada', content: 'x', visibility: 'public' })
    const otherPath = others.to?.split('?')[0] ?? ''
    await bob.post(otherPath, { do: 'vote' })
    expect((await readJson(await test.fetch(`/api${otherPath}`))).votes).toBe(1)

    expect((await bob.post('/settings/data', { do: 'delete', username: 'bob', password: 'wrong one' })).status).toBe(400)
    expect((await bob.post('/settings/data', { do: 'delete', username: 'bo', password: PASSWORD })).status).toBe(400)
    expect((await bob.post('/settings/data', { do: 'delete', username: 'bob', password: PASSWORD })).to).toBe('/?done=account-deleted')
    expect((await bob.get('/settings')).status).toBe(303)
    expect((await test.fetch('/api/prompts', { key })).status).toBe(401)
    expect((await test.fetch(`/api${path}`)).status).toBe(404)
    expect((await readJson(await test.fetch('/api/prompts?q=unlike'))).total).toBe(0)
    expect((await readJson(await test.fetch(`/api${otherPath}`))).votes).toBe(0)
    const stored = await test.readEverything()
    for (const text of ['unlike any other', 'quite another text', 'Only of Bob']) expect(stored.includes(text), text).toBe(false)
    // The slug led to something once: it never leads to something else.
    const again = await ada.post('/new', { title: 'Only of Bob', content: 'x', visibility: 'public' })
    expect(again.to?.split('?')[0]).toMatch(/^\/prompts\/only-of-bob-/)
  })
})
