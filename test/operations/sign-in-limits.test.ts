import { afterEach, expect, it } from 'vitest'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const open: TestApp[] = []
async function start(settings: Parameters<typeof testApp>[0] = {}): Promise<TestApp> {
  const test = await testApp({ TRUST_PROXY: 1, ...settings })
  open.push(test)
  return test
}
afterEach(async () => {
  for (const test of open.splice(0)) await test.close()
})

const from = (address: string) => ({ 'x-forwarded-for': address })
async function tryAs(visitor: Visitor, name: string, password: string, address: string): Promise<number> {
  const starts = open.map((test) => ({ test, at: test.app.clock() }))
  const { status } = await visitor.post('/sign-in', { name, password }, from(address))
  // The tests' clock moves on at each reading: a hundred tries would outlast the ten minutes they are counted in.
  for (const { test, at } of starts) test.wait(at - test.app.clock())
  return status
}

it('nobody’s wrong passwords keep an owner out, and each address has few tries meanwhile', async () => {
  const test = await start()
  await signUp(test, 'ada')
  for (let n = 0; n < 100; n++) await tryAs(visit(test), 'ada', `wrong ${n}`, `192.0.2.${1 + (n % 4)}`)
  // Everybody beyond the hundred has three tries at an address.
  const others: number[] = []
  for (let n = 0; n < 4; n++) others.push(await tryAs(visit(test), 'ada', `wrong again ${n}`, '192.0.2.1'))
  expect(others).toEqual([401, 401, 401, 429])
  expect(await tryAs(visit(test), 'ada', PASSWORD, '192.0.2.1')).toBe(429)
  for (let n = 0; n < 5; n++) expect(await tryAs(visit(test), 'ada', PASSWORD, '198.51.100.7')).toBe(303)
})

it('a browser that was signed in before is not kept out by others at its own address', async () => {
  const test = await start()
  const owner = await signUp(test, 'ada')
  const known = owner.cookies()
  expect(known).toContain('commonplace.known=')
  const mallory = await signUp(test, 'mallory')
  for (let n = 0; n < 30; n++) await tryAs(visit(test), 'ada', `wrong ${n}`, '192.0.2.1')
  expect(await tryAs(visit(test), 'ada', PASSWORD, '192.0.2.1')).toBe(429)
  const browser = visit(test)
  browser.setCookies(known)
  expect(await tryAs(browser, 'ada', PASSWORD, '192.0.2.1')).toBe(303)
  // What makes a browser known at one account says nothing at another, nor does what is made up.
  for (const cookies of [
    mallory.cookies(),
    known.replace(/known=(.)/, (_, first) => `known=${first === 'x' ? 'y' : 'x'}`),
    'commonplace.known=x.y',
  ]) {
    const other = visit(test)
    other.setCookies(cookies)
    expect(await tryAs(other, 'ada', PASSWORD, '192.0.2.1')).toBe(429)
  }
  // A known browser has tries of its own, and they end.
  const guessing = visit(test)
  guessing.setCookies(known)
  const statuses: number[] = []
  for (let n = 0; n < 12; n++) statuses.push(await tryAs(guessing, 'ada', `guess ${n}`, '192.0.2.1'))
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
})

it('a password among the commonest is refused wherever one is chosen', async () => {
  const test = await start()
  const refused = await visit(test).post('/sign-up', { username: 'ada', password: 'Trustno1', setupCode: test.app.setupCode })
  expect([refused.status, refused.html.includes('most common passwords')]).toEqual([400, true])
  const ada = await signUp(test, 'ada')
  const changed = await ada.post('/settings/security', { do: 'password', password: PASSWORD, newPassword: 'iloveyou' })
  expect([changed.status, changed.html.includes('most common passwords')]).toEqual([400, true])
})

it('an old hash is renewed when its owner signs in, and not before', async () => {
  const test = await start({ PASSWORD_HASH: 'standard' })
  await signUp(test, 'ada')
  const [row] = await test.app.store.logins.findLoginRows('login_account', [], { limit: 1, offset: 0 })
  const old = String(row?.['password'])
  expect(old).toMatch(/^[0-9a-f]{32}:/)
  const strong = await start({ PASSWORD_HASH: 'owasp' })
  await signUp(strong, 'ada')
  const readHash = async () => {
    const [account] = await strong.app.store.logins.findLoginRows('login_account', [], { limit: 1, offset: 0 })
    return String(account?.['password'])
  }
  expect(await readHash()).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/)
  // As it was before the setting.
  await strong.app.store.logins.updateLoginRows('login_account', [], { password: old })
  expect(await tryAs(visit(strong), 'ada', 'a wrong password', '192.0.2.1')).toBe(401)
  expect(await readHash()).toBe(old)
  expect(await tryAs(visit(strong), 'ada', PASSWORD, '192.0.2.1')).toBe(303)
  expect(await readHash()).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$/)
  expect(await tryAs(visit(strong), 'ada', PASSWORD, '192.0.2.1')).toBe(303)
})
