import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpLibrary, restoreLibrary } from '../../src/app.ts'
import { ADMIN_RIGHTS } from '../../src/domain/people/actor.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { codeAt, readSecret } from '../support/codes.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const ORIGIN = 'http://127.0.0.1:3000'
const PAGE = '/settings/security'
/** The page that those who lack a factor are held on. */
const ALONE = '/settings/passkeys'

const log: string[] = []
let test: TestApp
let ada: Visitor
const start = async (settings: Parameters<typeof testApp>[0] = {}) => {
  log.length = 0
  // The clock stands still unless a test moves it: codes are of steps of 30 seconds.
  test = await testApp({ TRUST_PROXY: 1, ...settings }, {}, null, {}, { write: (line) => log.push(line) }, 0)
  ada = await signUp(test, 'ada')
}
afterEach(() => test.close())

const code = (secret: string, later = 0) => codeAt(secret, test.app.clock(), later)
/** Turns codes on, and gives the secret and the recovery codes. The next code is of a later step. */
async function turnOn(visitor: Visitor, page = PAGE): Promise<{ secret: string; recovery: string[] }> {
  const { html } = await visitor.get(page)
  const secret = readSecret(html)
  const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const answer = await visitor.postOn(page, { do: 'codes-on', token, code: await code(secret), password: PASSWORD })
  expect(answer.html).toContain('The authenticator app is on.')
  test.wait(60_000)
  return { secret, recovery: readRecovery(answer.html) }
}
/** Codes stand alone; a part of an id may look like one. */
const readRecovery = (html: string) => html.match(/(?<![\w-])[a-z2-7]{4}(?:-[a-z2-7]{4}){3}(?![\w-])/g) ?? []
const knock = async (visitor: Visitor, name = 'ada') => await visitor.post('/sign-in', { name, password: PASSWORD })
/** Somebody whose password was right in a browser that was never here. */
async function atSecondStep(name = 'ada'): Promise<Visitor> {
  const visitor = visit(test)
  const { status, to } = await knock(visitor, name)
  expect([status, to]).toEqual([303, '/sign-in/code?to=%2F'])
  return visitor
}
const enter = async (visitor: Visitor, typed: string, headers = {}) =>
  await visitor.post('/sign-in/code', { code: typed, to: '/library' }, headers)
const isSignedIn = async (visitor: Visitor) => (await visitor.get('/settings')).status === 200
const idOf = async (name: string) => (await test.app.store.people.findPersonByName(name))?.id ?? ''
const actionsOf = async () =>
  (await test.app.store.audit.listEvents({ kind: 'anonymous' }, { limit: 100 })).map(({ action }) => action).toReversed()

describe('codes of an app', () => {
  beforeEach(() => start())

  it('are asked for after the password, and only then is there a session', async () => {
    const { secret } = await turnOn(ada)
    const before = await actionsOf()
    const other = await atSecondStep()
    expect(await isSignedIn(other)).toBe(false)
    expect((await actionsOf()).length).toBe(before.length)
    expect((await other.get('/sign-in/code')).html).toContain('name="code"')
    const { status, to } = await enter(other, await code(secret))
    expect([status, to]).toEqual([303, '/library'])
    expect(await isSignedIn(other)).toBe(true)
    expect((await actionsOf()).slice(before.length)).toEqual(['signed_in'])
    expect(other.cookies()).not.toContain('second-step')
  })

  it('work once, and with a clock that is wrong by one step', async () => {
    const { secret } = await turnOn(ada)
    expect((await enter(await atSecondStep(), await code(secret, -1))).status).toBe(303)
    expect((await enter(await atSecondStep(), await code(secret, 1))).status).toBe(303)
    // No step up to the last one is taken again.
    for (const later of [1, 0, -1]) expect((await enter(await atSecondStep(), await code(secret, later))).status).toBe(401)
    test.wait(120_000)
    for (const later of [-2, 2]) expect((await enter(await atSecondStep(), await code(secret, later))).status).toBe(401)
    const used = await code(secret)
    const both = await Promise.all([await atSecondStep(), await atSecondStep()].map((visitor) => enter(visitor, used)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 401])
  })

  it('can be replaced by recovery codes, each once, which can be renewed', async () => {
    const { recovery } = await turnOn(ada)
    expect(new Set(recovery).size).toBe(10)
    const [first = '', second = '', third = ''] = recovery
    expect((await enter(await atSecondStep(), first.toUpperCase().replaceAll('-', ' '))).status).toBe(303)
    expect((await enter(await atSecondStep(), first)).status).toBe(401)
    const both = await Promise.all([await atSecondStep(), await atSecondStep()].map((visitor) => enter(visitor, second)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 401])
    expect((await ada.get(PAGE)).html).toContain('8 recovery codes are left')
    const renewed = readRecovery((await ada.postOn(PAGE, { do: 'renew', password: PASSWORD })).html)
    expect(renewed).toHaveLength(10)
    expect((await enter(await atSecondStep(), third)).status).toBe(401)
    expect((await enter(await atSecondStep(), renewed[0] ?? '')).status).toBe(303)
    expect(await actionsOf()).toEqual(
      expect.arrayContaining(['factor_added', 'recovery_code_used', 'recovery_codes_renewed', 'second_step_failed']),
    )
  })

  it('are guessed in vain, from however many addresses', async () => {
    const { secret } = await turnOn(ada)
    const statuses: number[] = []
    for (let n = 0; n < 12; n++) {
      const visitor = await atSecondStep()
      statuses.push((await enter(visitor, '000000', { 'x-forwarded-for': `192.0.2.${n}` })).status)
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])
    expect((await enter(await atSecondStep(), await code(secret), { 'x-forwarded-for': '198.51.100.1' })).status).toBe(429)
    // The owner's own browser is not kept out.
    await ada.post('/sign-out', {})
    await knock(ada)
    expect((await enter(ada, await code(secret))).status).toBe(303)
  })

  it('are refused in the same words whatever is wrong', async () => {
    await turnOn(ada)
    const texts = new Set<string>()
    for (const typed of ['000000', 'abcd-efgh-ijkl-mnop', 'x', '９９９９９９', `${'1'.repeat(100)}`]) {
      const { status, html } = await enter(await atSecondStep(), typed)
      expect(status).toBe(401)
      texts.add(/role="alert">([^<]+)</.exec(html)?.[1] ?? '')
    }
    expect([...texts]).toEqual(['Wrong code. Each code works once: wait for the next one.'])
  })

  it('are for the person whose password was right, within five minutes', async () => {
    const { secret } = await turnOn(ada)
    await signUp(test, 'bob')
    const { secret: bobs } = await turnOn(await signedIn('bob'))
    expect((await enter(await atSecondStep('bob'), await code(secret))).status).toBe(401)
    expect((await enter(await atSecondStep('bob'), await code(bobs))).status).toBe(303)
    const forged = visit(test)
    forged.setCookies((await atSecondStep()).cookies().replace(/second-step=(.)/, (_, first) => `second-step=${first === 'x' ? 'y' : 'x'}`))
    expect((await enter(forged, await code(secret))).to).toContain('/sign-in?')
    expect((await enter(visit(test), await code(secret))).to).toContain('/sign-in?')
    const late = await atSecondStep()
    test.wait(301_000)
    expect((await enter(late, await code(secret))).to).toContain('/sign-in?')
    expect((await late.get('/sign-in/code')).to).toContain('done=step-over')
    const replaced = await atSecondStep()
    await ada.post('/settings/security', { do: 'password', password: PASSWORD, newPassword: 'another horse that reads' })
    expect((await enter(replaced, await code(secret))).to).toContain('/sign-in?')
  })

  it('keep a suspended person out', async () => {
    await signUp(test, 'bob')
    const { secret } = await turnOn(await signedIn('bob'))
    const waiting = await atSecondStep('bob')
    await test.call({ ...admin(), userId: await idOf('ada') }, 'set_suspended', { username: 'bob', isSuspended: true })
    expect((await enter(waiting, await code(secret))).status).toBe(403)
    expect((await knock(visit(test), 'bob')).status).toBe(403)
  })

  it('stay on after a new password, and go with the password, a reset or the account', async () => {
    await turnOn(ada)
    const link = await test.app.logins.createResetToken(await idOf('ada'), false)
    await test.app.logins.resetPassword(link, PASSWORD)
    await atSecondStep()
    const { html } = await ada.post(PAGE, { do: 'codes-off', password: 'not it' })
    expect(html).not.toContain('The authenticator app is off')
    await test.call({ ...admin(), userId: await idOf('ada') }, 'reset_factors', { username: 'ada' })
    expect((await knock(visit(test))).to).toBe('/')
    const again = visit(test)
    await knock(again)
    await turnOn(again)
    expect((await again.postOn(PAGE, { do: 'codes-off', password: PASSWORD })).html).toContain('The authenticator app is off')
    expect((await knock(visit(test))).to).toBe('/')
    expect(await actionsOf()).toEqual(expect.arrayContaining(['factor_removed', 'factors_reset']))
    await turnOn(again)
    await test.app.store.people.createInvite({ sha256: 'x', username: null, role: 'admin', expiresAt: '2099-01-01T00:00:00Z' })
    await again.post('/settings/data', { do: 'delete', username: 'ada', password: PASSWORD })
    const left = await test.app.store.logins.countLoginRows('login_factor', [])
    expect([left, await test.app.store.logins.countLoginRows('login_recovery_code', [])]).toEqual([0, 0])
  })

  it('are set up with a code and the password, from a form of one’s own', async () => {
    const { html } = await ada.get(PAGE)
    const secret = readSecret(html)
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const confirm = async (visitor: Visitor, fields: Record<string, string>) =>
      await visitor.post(PAGE, { do: 'codes-on', token, code: await code(secret), password: PASSWORD, ...fields })
    const wrong = await confirm(ada, { code: '000000' })
    expect(wrong.status).toBe(400)
    // The app has read the picture: it stays the same.
    expect(readSecret(wrong.html)).toBe(secret)
    expect((await confirm(ada, { password: 'not it' })).status).toBe(400)
    expect((await confirm(await signUp(test, 'bob'), {})).status).toBe(409)
    expect((await confirm(ada, { token: 'made up' })).status).toBe(409)
    expect((await confirm(ada, {})).status).toBe(303)
    expect((await confirm(ada, {})).status).toBe(409)
    expect((await ada.post(PAGE, { do: 'codes-on' }, { origin: 'https://evil.example' })).status).toBe(403)
  })

  it('appear in no log, no export and no cell of the database', async () => {
    const { secret, recovery } = await turnOn(ada)
    const kept = `${await test.readEverything()} ${log.join()}`
    for (const text of [secret, ...recovery, ...recovery.map((one) => one.replaceAll('-', ''))]) expect(kept).not.toContain(text)
  })

  it('come back with a backup', async () => {
    const { secret } = await turnOn(ada)
    const copy = `${test.libraryFile}.copy`
    await backUpLibrary(test.databaseUrl, copy)
    const databaseUrl = `sqlite:${test.libraryFile}.restored`
    await restoreLibrary(copy, databaseUrl, { revokesKeys: false })
    const original = test
    // Closing it deletes its folder.
    test = await testApp({ TRUST_PROXY: 1 }, {}, null, { databaseUrl }, null, 0)
    test.wait(original.app.clock() - test.app.clock())
    expect((await enter(await atSecondStep(), await code(secret))).status).toBe(303)
    await test.close()
    test = original
  })
})

/** Somebody who signs in with the password alone. */
async function signedIn(name: string): Promise<Visitor> {
  const visitor = visit(test)
  expect((await knock(visitor, name)).to).toBe('/')
  return visitor
}
const admin = () => ({ kind: 'user', userId: '', username: 'ada', scopes: new Set(ADMIN_RIGHTS) }) as const

describe('a passkey', () => {
  beforeEach(() => start())

  const post = async (visitor: Visitor, path: string, body: unknown, headers = {}) => {
    const jar = visitor.cookies()
    const response = await test.fetch(path, {
      ...json('POST', body),
      headers: { 'content-type': 'application/json', origin: ORIGIN, cookie: jar, ...headers },
    })
    const kept = new Map(jar.split('; ').map((one): [string, string] => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]))
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') kept.delete(name)
      else kept.set(name, value)
    }
    visitor.setCookies(
      [...kept]
        .filter(([name]) => name !== '')
        .map((pair) => pair.join('='))
        .join('; '),
    )
    return { status: response.status, body: await readJson(response) }
  }
  const add = async (visitor: Visitor, device: ReturnType<typeof createAuthenticator>, quirks = {}) => {
    const options = await post(visitor, `${ALONE}/options`, { password: PASSWORD })
    expect(options.status).toBe(200)
    return await post(visitor, `${ALONE}/add`, { answer: device.register(options.body, quirks), name: 'My key' })
  }
  const present = async (visitor: Visitor, device: ReturnType<typeof createAuthenticator>, quirks = {}) => {
    const options = await post(visitor, '/sign-in/passkey/options', {})
    return await post(visitor, '/sign-in/passkey', { answer: device.authenticate(options.body, quirks), to: '/library' })
  }

  it('signs in without a name, with codes on too, and is listed and removed', async () => {
    const device = createAuthenticator(ORIGIN)
    expect((await add(ada, device)).status).toBe(200)
    await turnOn(ada)
    const other = visit(test)
    expect(await present(other, device)).toEqual({ status: 200, body: { to: '/library' } })
    expect(await isSignedIn(other)).toBe(true)
    const { html } = await ada.get(PAGE)
    expect(html).toContain('My key')
    const id = /name="id" value="([^"]+)"/.exec(html)?.[1] ?? ''
    await ada.post(PAGE, { do: 'remove-passkey', id, password: 'not it' })
    expect((await ada.get(PAGE)).html).toContain('My key')
    await ada.post(PAGE, { do: 'remove-passkey', id, password: PASSWORD })
    expect((await ada.get(PAGE)).html).not.toContain('My key')
    expect((await present(visit(test), device)).status).toBe(401)
    expect(await actionsOf()).toEqual(expect.arrayContaining(['passkey_added', 'signed_in', 'passkey_removed']))
  })

  it('asks the browser to verify its user, at this host alone', async () => {
    const { body: made } = await post(ada, `${ALONE}/options`, { password: PASSWORD })
    expect(made).toMatchObject({
      rp: { id: '127.0.0.1' },
      user: { name: 'ada', displayName: 'ada' },
      authenticatorSelection: { userVerification: 'required', residentKey: 'required' },
    })
    const { body: asked } = await post(visit(test), '/sign-in/passkey/options', {})
    expect(asked).toMatchObject({ rpId: '127.0.0.1', userVerification: 'required' })
    expect(asked.allowCredentials).toBeUndefined()
  })

  it('is refused for another origin, host or challenge, and for a user that was not verified', async () => {
    const device = createAuthenticator(ORIGIN)
    await add(ada, device)
    for (const quirks of [{ origin: 'https://evil.example' }, { rpId: 'evil.example' }, { isVerified: false }, { challenge: 'AAAA' }]) {
      expect((await add(ada, createAuthenticator(ORIGIN), quirks)).status).toBe(400)
      const other = visit(test)
      expect((await present(other, device, quirks)).status).toBe(401)
      expect(await isSignedIn(other)).toBe(false)
    }
    expect(await test.app.store.logins.countLoginRows('login_passkey', [])).toBe(1)
  })

  it('is refused with a counter that goes back, an answer that was given before, and one of nobody', async () => {
    const device = createAuthenticator(ORIGIN)
    await add(ada, device)
    expect((await present(visit(test), device, { counter: 7 })).status).toBe(200)
    expect((await present(visit(test), device, { counter: 7 })).status).toBe(401)
    expect((await present(visit(test), device, { counter: 3 })).status).toBe(401)
    expect((await present(visit(test), device, { counter: 8 })).status).toBe(200)
    const thief = visit(test)
    const { body } = await post(thief, '/sign-in/passkey/options', {})
    const held = thief.cookies()
    const answer = device.authenticate(body, { counter: 9 })
    expect((await post(thief, '/sign-in/passkey', { answer })).status).toBe(200)
    const again = visit(test)
    again.setCookies(held)
    expect((await post(again, '/sign-in/passkey', { answer })).status).toBe(401)
    expect((await present(visit(test), createAuthenticator(ORIGIN))).status).toBe(401)
    // The key of one with the id of another.
    expect((await present(visit(test), createAuthenticator(ORIGIN), { id: device.id, counter: 50 })).status).toBe(401)
  })

  it('is nobody else’s: one that is known is not added again', async () => {
    const device = createAuthenticator(ORIGIN)
    await add(ada, device)
    const bob = await signUp(test, 'bob')
    expect((await add(bob, createAuthenticator(ORIGIN), { id: device.id })).status).toBe(400)
    const options = await post(bob, `${ALONE}/options`, { password: PASSWORD })
    // The challenge of one person in the browser of another.
    expect((await post(ada, `${ALONE}/add`, { answer: createAuthenticator(ORIGIN).register(options.body), name: 'x' })).status).toBe(400)
    const { body } = await post(bob, '/sign-in/passkey/options', {})
    expect((await post(bob, `${ALONE}/add`, { answer: createAuthenticator(ORIGIN).register(body), name: 'x' })).status).toBe(400)
    expect(await test.app.store.logins.countLoginRows('login_passkey', [])).toBe(1)
  })

  it('takes the password to add, a page of this service, and little JSON', async () => {
    expect((await post(ada, `${ALONE}/options`, { password: 'not it' })).status).toBe(400)
    expect((await post(visit(test), `${ALONE}/options`, { password: PASSWORD })).status).toBe(401)
    for (const path of [`${ALONE}/options`, `${ALONE}/add`, '/sign-in/passkey', '/sign-in/passkey/options']) {
      expect((await post(ada, path, {}, { origin: 'https://evil.example' })).status, path).toBe(403)
      expect((await post(ada, path, { answer: 'x'.repeat(40_000) })).status, path).toBe(413)
      expect((await post(ada, path, [])).status, path).toBe(400)
      expect((await post(ada, path, {}, { 'content-type': 'text/plain' })).status, path).toBe(415)
    }
    for (const answer of [{}, { id: {} }, { id: 'x', response: null }, 'x', null]) {
      await post(ada, '/sign-in/passkey/options', {})
      expect((await post(ada, '/sign-in/passkey', { answer })).status).toBeOneOf([400, 401])
      await post(ada, `${ALONE}/options`, { password: PASSWORD })
      expect((await post(ada, `${ALONE}/add`, { answer, name: 'x' })).status).toBe(400)
    }
  })

  it('is the second step where one is required and codes are off, and no step where none is', async () => {
    await test.close()
    await start({ SECOND_FACTOR: 'everybody' })
    const device = createAuthenticator(ORIGIN)
    await add(ada, device)
    const other = await atSecondStep()
    const { html } = await other.get('/sign-in/code')
    expect(html).toContain('data-passkey="sign-in"')
    expect(html).not.toContain('name="code"')
    expect((await enter(other, '000000')).status).toBe(401)
    expect((await present(other, device)).status).toBe(200)
    expect((await other.get('/library')).status).toBe(200)
  })

  it('is the last way in of whoever has no password, who adds one in a fresh session alone', async () => {
    const device = createAuthenticator(ORIGIN)
    await add(ada, device)
    const { logins } = test.app.store
    const ofAda = [{ field: 'user_id', operator: 'eq', value: await idOf('ada'), connector: 'AND' }] as const
    await logins.deleteLoginRows('login_account', ofAda, null)
    const shown = await ada.get(PAGE)
    expect(shown.html).toContain('An authenticator app goes with a password')
    const id = /name="id" value="([^"]+)"/.exec(shown.html)?.[1] ?? ''
    expect((await ada.post(PAGE, { do: 'remove-passkey', id })).status).toBe(409)
    expect((await ada.post(PAGE, { do: 'codes-on', code: '000000' })).status).toBe(409)
    await add(ada, createAuthenticator(ORIGIN))
    await logins.updateLoginRows('login_session', ofAda, { created_at: new Date(Date.now() - 16 * 60_000).toISOString() })
    expect((await post(ada, `${ALONE}/options`, {})).status).toBe(403)
    expect((await ada.post(PAGE, { do: 'remove-passkey', id })).status).toBe(403)
    const fresh = visit(test)
    expect((await present(fresh, device)).status).toBe(200)
    expect((await fresh.post(PAGE, { do: 'remove-passkey', id })).status).toBe(303)
  })

  it('is asked for a hundred times in ten minutes from one address', async () => {
    const statuses = new Map<number, number>()
    for (let n = 0; n < 102; n++) {
      const { status } = await post(visit(test), '/sign-in/passkey/options', {}, { 'x-forwarded-for': '192.0.2.7' })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    expect([...statuses]).toEqual([
      [200, 100],
      [429, 2],
    ])
    expect((await post(visit(test), '/sign-in/passkey/options', {}, { 'x-forwarded-for': '192.0.2.8' })).status).toBe(200)
  })

  it('leads nowhere else, and keeps a suspended person out', async () => {
    const device = createAuthenticator(ORIGIN)
    const bob = await signUp(test, 'bob')
    await add(bob, device)
    const visitor = visit(test)
    const { body } = await post(visitor, '/sign-in/passkey/options', {})
    const answered = await post(visitor, '/sign-in/passkey', { answer: device.authenticate(body), to: 'https://evil.example/' })
    expect(answered.body).toEqual({ to: '/' })
    await test.call({ ...admin(), userId: await idOf('ada') }, 'set_suspended', { username: 'bob', isSuspended: true })
    const signedInBefore = (await actionsOf()).filter((action) => action === 'signed_in').length
    expect((await present(visit(test), device)).status).toBe(403)
    expect((await actionsOf()).filter((action) => action === 'signed_in').length).toBe(signedInBefore)
  })
})

describe('a second factor that is required', () => {
  it.each(['everybody', 'admins'] as const)('of %s holds back whoever has none, on every page', async (secondFactor) => {
    await start({ SECOND_FACTOR: secondFactor })
    const bob = await signUp(test, 'bob')
    const html = { accept: 'text/html' }
    for (const path of ['/', '/library', '/settings', '/settings/access', '/admin', '/settings/data/export.zip', '/nothing']) {
      expect((await ada.get(path, html)).to, path).toBe(`${ALONE}?to=${encodeURIComponent(path)}`)
    }
    expect((await ada.post('/settings/access', { do: 'create', name: 'x' })).to).toBe(`${ALONE}?to=%2F`)
    expect((await test.fetch('/settings/data/export.zip', { headers: { cookie: ada.cookies() } })).status).toBe(403)
    expect((await bob.get('/library')).status).toBe(secondFactor === 'admins' ? 200 : 303)
    expect((await visit(test).get('/')).status).toBe(200)
    const { key } = await test.user('ada')
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    // Nothing but factors can be changed there.
    expect((await ada.post(`${ALONE}?to=%2F`, { do: 'end-others' })).status).toBe(400)
    await turnOn(ada, `${ALONE}?to=%2F`)
    expect((await ada.get('/library')).status).toBe(200)
    expect((await ada.get(ALONE)).to).toBe(PAGE)
    await ada.post(PAGE, { do: 'codes-off', password: PASSWORD })
    expect((await ada.get('/library')).status).toBe(303)
    expect((await ada.post('/sign-out', {})).to).toBe('/?done=signed-out')
  })

  it('is not asked of whom a provider vouches for', async () => {
    await start({ SECOND_FACTOR: 'everybody' })
    const { cookies } = await test.app.logins.startSession(await idOf('ada'), { address: '', caller: '', userAgent: null, cookies: '' })
    const visitor = visit(test)
    visitor.setCookies(cookies.map((cookie) => cookie.split(';')[0]).join('; '))
    expect((await visitor.get('/library')).status).toBe(200)
  })
})

describe('a sign-in from a new browser', () => {
  beforeEach(() => start())

  it('is told of on the pages of others until it was seen, and not by itself', async () => {
    expect((await ada.get('/')).html).not.toContain('New sign-in')
    const other = visit(test)
    await other.post('/sign-in', { name: 'ada', password: PASSWORD }, { 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/140.0' })
    expect((await other.get('/')).html).not.toContain('New sign-in')
    await other.post('/settings/security', { do: 'seen' })
    for (const path of ['/', '/settings/security']) {
      const { html } = await ada.get(path)
      expect(html, path).toContain('New sign-in to your account')
      expect(html, path).toContain('Firefox on Linux')
    }
    await ada.post('/settings/security', { do: 'seen' })
    expect((await ada.get('/')).html).not.toContain('New sign-in')
    // It is known from now on.
    await other.post('/sign-out', {})
    await knock(other)
    expect((await ada.get('/')).html).not.toContain('New sign-in')
  })

  it('ends with all others, and with what programs hold', async () => {
    const other = await signedIn('ada')
    const { actor } = await test.user('ada')
    await test.app.store.keys.createKey({
      name: 'a program',
      userId: actor.userId,
      sha256: '0'.repeat(64),
      scopes: ['read'],
      expiresAt: null,
      connection: { id: crypto.randomUUID(), clientId: 'a program', madeBy: null },
    })
    const working = async () =>
      (await test.app.store.keys.listKeys('ada')).filter(({ revokedAt }) => revokedAt === null).map(({ name }) => name)
    await ada.post('/settings/security', { do: 'end-others' })
    expect([await isSignedIn(other), await isSignedIn(ada), await working()]).toEqual([false, true, expect.arrayContaining(['a program'])])
    await ada.post('/settings/security', { do: 'end-others', programs: 'true' })
    expect(await working()).toEqual(['test'])
  })
})
