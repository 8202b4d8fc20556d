import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ProviderSettings, parseGroupMap } from '../../src/domain/sign-in/sign-in-ways.ts'
import { OIDC_CLIENT } from '../support/oidc-client.ts'
import { type OidcServer, startOidcServer } from '../support/oidc-server.ts'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const BACK = 'http://127.0.0.1:3000/sign-in/with/corp'
let server: OidcServer
let test: TestApp
const lines: string[] = []
/** Codes and states that came by: none may be in the log. */
const secrets: string[] = [OIDC_CLIENT.secret]

const provider = (more: Partial<ProviderSettings> = {}): ProviderSettings => ({
  key: 'corp',
  name: 'Corp',
  type: 'oidc',
  issuer: server.issuer,
  clientId: OIDC_CLIENT.id,
  clientSecret: OIDC_CLIENT.secret,
  scopes: 'openid profile email',
  nameClaim: 'preferred_username',
  groupsClaim: 'groups',
  groups: parseGroupMap('engineering=acme:editor, leads=acme:maintainer, ops=core, admins=admin'),
  allowsSignUp: true,
  allowedDomains: [],
  allowedGroups: [],
  ...more,
})
const open = (more: Partial<ProviderSettings> = {}, hasPasswords = true) =>
  testApp({}, {}, null, { signIn: { hasPasswords, providers: [provider(more)], proxy: null } }, { write: (line) => lines.push(line) })

/** Where the page between the form and the provider leads. */
function leadsTo(html: string): string {
  const url = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(html)?.[1]
  if (url === undefined) throw new Error(`No provider is led to: ${html.slice(0, 2_000)}`)
  return url.replaceAll('&amp;', '&')
}
/** Presses the button, signs in at the provider, and gives the address that leads back. */
async function goAndReturn(visitor: Visitor, account: string, to = '/'): Promise<string> {
  const { html, status } = await visitor.post('/sign-in/with/corp', { to })
  expect(status, html).toBe(200)
  const back = await server.signIn(leadsTo(html), account)
  const query = new URL(back).searchParams
  secrets.push(...['code', 'state'].flatMap((name) => query.get(name) ?? []))
  expect(back.startsWith(`${BACK}?`)).toBe(true)
  return back
}
const comeBack = (visitor: Visitor, back: string) => visitor.get(new URL(back).pathname + new URL(back).search)
const signInAs = async (visitor: Visitor, account: string, to?: string) => await comeBack(visitor, await goAndReturn(visitor, account, to))
const nameOf = async (visitor: Visitor) => /data-reader="([^"]+)"/.exec((await visitor.get('/search')).html)?.[1] ?? null
const teamsOf = async (name: string) => {
  const person = await test.app.store.people.findPersonByName(name)
  const teams = await test.app.store.teams.listTeamsOf(person?.id ?? '')
  return Object.fromEntries(teams.map((team) => [team.name, team.role]))
}

beforeAll(async () => {
  server = await startOidcServer('http://127.0.0.1/sign-in/with/corp')
  test = await open()
  await signUp(test, 'root')
})
afterAll(async () => {
  await test.close()
  await server.stop()
})
afterEach(() => {
  const log = lines.join('')
  for (const secret of secrets) expect(log).not.toContain(secret)
})

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  describe('sign-in by a provider', () => {
    it('has a button, makes an account, and goes where the reader was going', async () => {
      await server.setAccounts({
        u1: { preferred_username: 'ada', name: 'Ada L.', email: 'Ada@Example.org', email_verified: true, groups: ['engineering'] },
      })
      const visitor = visit(test)
      const page = await visitor.get('/sign-in?to=/skills')
      expect(page.html).toContain('Sign in with Corp')
      const answer = await signInAs(visitor, 'u1', '/skills?sort=newest')
      expect([answer.status, answer.to]).toEqual([302, '/skills?sort=newest'])
      expect(await nameOf(visitor)).toBe('ada')
      expect(await test.app.store.people.findPersonByName('ada')).toMatchObject({
        displayName: 'Ada L.',
        email: 'ada@example.org',
        role: 'user',
      })
      expect(await teamsOf('ada')).toEqual({ acme: 'editor' })
      const everything = await test.readEverything()
      expect(everything).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)
    })

    it('leads to no other site', async () => {
      await server.setAccounts({ u1: {} })
      expect((await signInAs(visit(test), 'u1', '//evil.example.org')).to).toBe('/')
    })

    it('says so when the address is another account’s', async () => {
      await signUp(test, 'owner')
      const owner = await test.app.store.people.findPersonByName('owner')
      await test.app.store.people.changeProfile(owner?.id ?? '', { email: 'owner@example.org' })
      await server.setAccounts({ u3: { preferred_username: 'owner', email: 'owner@example.org', email_verified: true } })
      const visitor = visit(test)
      const { to } = await signInAs(visitor, 'u3')
      expect(to).toBe('/settings/security?note=address-taken')
      expect((await visitor.get(to ?? '')).html).toContain('Another account here has your email address')
    })
  })

  describe('an answer', () => {
    it('works once', async () => {
      await server.setAccounts({ u1: {} })
      const visitor = visit(test)
      const back = await goAndReturn(visitor, 'u1')
      const cookies = visitor.cookies()
      expect((await comeBack(visitor, back)).status).toBe(302)
      const thief = visit(test)
      thief.setCookies(cookies)
      const answer = await comeBack(thief, back)
      expect([answer.status, await nameOf(thief)]).toEqual([403, null])
      expect(answer.html).toContain('This answer of the provider was used already')
    })

    it('is refused in another browser, with another state, and after ten minutes', async () => {
      const visitor = visit(test)
      const back = new URL(await goAndReturn(visitor, 'u1'))
      const answers = [await comeBack(visit(test), back.href)]
      const other = new URL(back)
      other.searchParams.set('state', 'another')
      answers.push(await comeBack(visitor, other.href))
      const twice = new URL(back)
      twice.searchParams.append('state', 'another')
      answers.push(await comeBack(visitor, twice.href))
      test.wait(601_000)
      answers.push(await comeBack(visitor, back.href))
      for (const { status, html } of answers) {
        expect(status).toBe(403)
        expect(html).toContain('This sign-in was not begun in this browser, or more than ten minutes ago')
        expect(html).toContain('Sign in with Corp')
      }
      expect(await nameOf(visitor)).toBeNull()
    })

    it('of another issuer is refused (RFC 9207)', async () => {
      const visitor = visit(test)
      const back = new URL(await goAndReturn(visitor, 'u1'))
      back.searchParams.set('iss', 'https://evil.example.org')
      const answer = await comeBack(visitor, back.href)
      expect(answer.status).toBe(502)
      expect(answer.html).toContain('class="fault notice"')
      expect(await nameOf(visitor)).toBeNull()
    })

    it('with another code is refused, and the log says so', async () => {
      const visitor = visit(test)
      const back = new URL(await goAndReturn(visitor, 'u1'))
      back.searchParams.set('code', 'guessed')
      lines.length = 0
      const answer = await comeBack(visitor, back.href)
      expect(answer.html).toContain('Corp does not accept its own code any more')
      expect(lines.join('')).toContain('A sign-in by Corp was refused')
    })

    it('that says the person cancelled is said', async () => {
      const visitor = visit(test)
      const back = new URL(await goAndReturn(visitor, 'u1'))
      back.searchParams.delete('code')
      back.searchParams.set('error', 'access_denied')
      back.searchParams.set('error_description', '<b>no</b>')
      const answer = await comeBack(visitor, back.href)
      expect([answer.status, answer.html.includes('The sign-in at Corp was cancelled')]).toEqual([403, true])
      expect(answer.html).not.toContain('<b>no</b>')
    })
  })

  it('is begun from pages of this site alone', async () => {
    const answer = await visit(test).post('/sign-in/with/corp', { to: '/' }, { origin: 'https://evil.example.org' })
    expect(answer.status).toBe(403)
    expect((await visit(test).get('/sign-in/with/corp')).to).toBe('/sign-in')
    expect((await visit(test).post('/sign-in/with/unknown', {})).status).toBe(404)
  })

  describe('connecting a provider', () => {
    const connect = async (visitor: Visitor, account: string, password = PASSWORD) => {
      const { html, status } = await visitor.post('/settings/security', { do: 'connect', provider: 'corp', password })
      if (status !== 200) return { status, to: null, html }
      return await comeBack(visitor, await server.signIn(leadsTo(html), account))
    }

    it('takes the password, ends other sessions, and signs in to the same account from then on', async () => {
      const visitor = await signUp(test, 'local')
      const elsewhere = visit(test)
      await elsewhere.post('/sign-in', { name: 'local', password: PASSWORD })
      expect((await connect(visitor, 'u5', 'wrong password')).status).toBe(400)
      await server.setAccounts({ u5: { preferred_username: 'other', groups: ['engineering'] } })
      expect((await connect(visitor, 'u5')).to).toBe('/settings/security?done=connected')
      expect([await nameOf(visitor), await nameOf(elsewhere)]).toEqual(['local', null])
      expect(await teamsOf('local')).toEqual({ acme: 'editor' })
      const again = visit(test)
      await signInAs(again, 'u5')
      expect(await nameOf(again)).toBe('local')
      expect((await visitor.get('/settings/security')).html).toContain('Corp')
    })

    it('is taken back, but not as the last way in', async () => {
      const visitor = visit(test)
      await visitor.post('/sign-in', { name: 'local', password: PASSWORD })
      expect((await visitor.post('/settings/security', { do: 'disconnect', provider: server.issuer, password: PASSWORD })).to).toBe(
        '/settings/security?done=disconnected',
      )
      await server.setAccounts({ u6: { preferred_username: 'onlyoidc' } })
      const only = visit(test)
      await signInAs(only, 'u6')
      const answer = await only.post('/settings/security', { do: 'disconnect', provider: server.issuer })
      expect([answer.status, answer.html.includes('This is your only way to sign in')]).toEqual([409, true])
      // A first password, with a session that was begun just now.
      expect((await only.post('/settings/security', { do: 'password', newPassword: 'a zebra that sings' })).to).toBe(
        '/settings/security?done=password-changed',
      )
      expect(
        (await only.post('/settings/security', { do: 'disconnect', provider: server.issuer, password: 'a zebra that sings' })).to,
      ).toBe('/settings/security?done=disconnected')
      expect((await visit(test).post('/sign-in', { name: 'onlyoidc', password: 'a zebra that sings' })).to).toBe('/')
    })
  })

  describe('who may come', () => {
    it.each([
      ['no new accounts', { allowsSignUp: false }, 'You have no account here yet'],
      ['another domain', { allowedDomains: ['corp.example'] }, 'no verified address of a domain'],
      ['another group', { allowedGroups: ['staff'] }, 'in no group that may sign in here'],
    ])('is decided by the settings: %s', async (_, more, sentence) => {
      await server.setAccounts({ n1: { preferred_username: 'newcomer', email: 'n@example.org', email_verified: true, groups: ['admins'] } })
      const strict = await open(more)
      onTestFinished(() => strict.close())
      const visitor = visit(strict)
      const { html } = await visitor.post('/sign-in/with/corp', { to: '/' })
      const answer = await comeBack(visitor, await server.signIn(leadsTo(html), 'n1'))
      expect([answer.status, answer.html.includes(sentence)]).toEqual([403, true])
      expect(await strict.app.store.people.hasLogins()).toBe(false)
    })
  })

  describe('OIDC_ONLY', () => {
    it('refuses every way to use or set a password, and keeps sessions', async () => {
      const only = await open({}, false)
      onTestFinished(() => only.close())
      await server.setAccounts({
        a1: { preferred_username: 'boss', email: 'boss@example.org', email_verified: true, groups: ['admins'] },
      })
      const boss = visit(only)
      const { html } = await boss.post('/sign-in/with/corp', { to: '/' })
      await comeBack(boss, await server.signIn(leadsTo(html), 'a1'))
      expect((await boss.get('/admin')).status).toBe(200)
      const page = await visit(only).get('/sign-in')
      expect(page.html).not.toContain('type="password"')
      expect((await visit(only).get('/sign-up')).html).not.toContain('type="password"')
      expect((await boss.get('/settings/security')).html).not.toContain('type="password"')
      const actor = { kind: 'anonymous' } as const
      const refused = 'Passwords are turned off here.'
      for (const [path, fields] of [
        ['/sign-in', { name: 'boss', password: PASSWORD }],
        ['/sign-up', { username: 'x', password: PASSWORD, setupCode: only.app.setupCode }],
        ['/forgot-password', { name: 'boss' }],
        ['/reset-password', { token: 'x', password: PASSWORD }],
      ] as const) {
        const answer = await visit(only).post(path, fields)
        expect([path, answer.status]).toEqual([path, 403])
      }
      for (const [name, input] of [
        ['sign_in', { name: 'boss', password: PASSWORD }],
        ['sign_up', { username: 'x', password: PASSWORD }],
        ['request_password_reset', { name: 'boss' }],
        ['show_password_reset', { token: 'x' }],
        ['reset_password', { token: 'x', password: PASSWORD }],
      ] as const) {
        await expect(only.call(actor, name, input), name).rejects.toMatchObject({
          code: 'forbidden',
          message: expect.stringContaining(refused),
        })
      }
      const set = await boss.post('/settings/security', { do: 'password', newPassword: 'a zebra that sings' })
      expect([set.status, set.html.includes(refused)]).toEqual([403, true])
      const person = await only.app.store.people.findPersonByName('boss')
      await expect(only.app.logins.createResetToken(person?.id ?? '', false)).rejects.toMatchObject({ code: 'forbidden' })
      expect((await boss.get('/admin')).status).toBe(200)
    })
  })

  describe('a provider that is down', () => {
    it('is said on the sign-in page, and asked again by the next person', async () => {
      const port = Number(new URL(server.issuer).port)
      const cold = await open()
      onTestFinished(() => cold.close())
      await server.stop()
      const visitor = visit(cold)
      const answer = await visitor.post('/sign-in/with/corp', { to: '/' })
      expect([answer.status, /Corp cannot be reached \(ECONNREFUSED\)/.test(answer.html)]).toEqual([502, true])
      server = await startOidcServer('http://127.0.0.1/sign-in/with/corp', port)
      expect((await visitor.post('/sign-in/with/corp', { to: '/' })).status).toBe(200)
    })
  })
})
