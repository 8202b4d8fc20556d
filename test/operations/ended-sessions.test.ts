import { afterEach, beforeEach, expect, it } from 'vitest'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

/** A process beside the one of the test, on the same library, that hears no signals: as behind a pooler of connections. */
let other: Awaited<ReturnType<TestApp['reopen']>>
let test: TestApp
let ada: Visitor
let bob: Visitor
let thereAsBob: Visitor

beforeEach(async () => {
  // The clock stands still: nothing is looked at anew because time went by.
  test = await testApp({}, {}, null, { instances: 1 }, null, 0)
  other = await test.reopen()
  ada = await signUp(test, 'ada')
  bob = await signUp(test, 'bob')
  thereAsBob = visit({ ...test, fetch: other.fetch })
  thereAsBob.setCookies(bob.cookies())
  expect((await thereAsBob.get('/settings')).status).toBe(200)
})
afterEach(async () => {
  await other.close()
  await test.close()
})

const admin = async () => {
  const { actor } = await test.user('ada')
  return { ...actor, scopes: new Set(['read', 'write', 'account', 'admin'] as const) }
}

it('a session ends in every process before the sign-out is answered', async () => {
  expect((await bob.post('/sign-out', {})).status).toBe(303)
  expect((await thereAsBob.get('/settings')).to).toBe('/sign-in?to=%2Fsettings')
})

it('a new password ends it', async () => {
  const here = visit(test)
  await here.post('/sign-in', { name: 'bob', password: PASSWORD })
  const changed = await here.post('/settings/sessions', { do: 'password', password: PASSWORD, newPassword: 'another good one' })
  expect(changed.to).toBe('/settings/sessions?done=password-changed')
  expect((await thereAsBob.get('/settings')).to).toBe('/sign-in?to=%2Fsettings')
})

it('a suspension ends it', async () => {
  await test.call(await admin(), 'set_suspended', { username: 'bob', isSuspended: true })
  expect((await thereAsBob.get('/settings')).to).toBe('/sign-in?to=%2Fsettings')
})

it('a role is felt at the next request', async () => {
  expect((await thereAsBob.get('/admin')).status).toBe(403)
  await test.call(await admin(), 'set_role', { username: 'bob', role: 'admin' })
  expect((await thereAsBob.get('/admin')).status).toBe(200)
  await test.call(await admin(), 'set_role', { username: 'bob', role: 'user' })
  expect((await thereAsBob.get('/admin')).status).toBe(403)
  expect((await ada.get('/admin')).status).toBe(200)
})
