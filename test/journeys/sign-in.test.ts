import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, useBrowser } from '../support/browser.ts'
import { OIDC_CLIENT } from '../support/oidc-client.ts'
import { type OidcServer, startOidcServer } from '../support/oidc-server.ts'
import { findFreePort } from '../support/postgres-server.ts'

const providerPort = await findFreePort()
const issuer = `http://127.0.0.1:${providerPort}`
const bench = useBrowser({
  env: {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: OIDC_CLIENT.id,
    OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
    OIDC_NAME: 'Corp',
    OIDC_GROUPS: 'engineering=acme:editor, staff=everyone:reader, admins=admin',
    OIDC_ONLY: 'true',
  },
})
// The provider's own pages are another server's, and ask for a font elsewhere.
const allowed = [/https:\/\/fonts\.googleapis\.com/, new RegExp(`^Another server was asked: ${issuer}/`), new RegExp(`^${issuer}/`)]
let server: OidcServer

beforeAll(async () => {
  server = await startOidcServer('http://127.0.0.1/sign-in/with/oidc', providerPort)
})
afterAll(() => server.stop())

/** Presses the button, signs in and consents at the provider, and is back. */
async function signInAtProvider(page: Awaited<ReturnType<typeof bench.newPage>>, account: string): Promise<void> {
  await page.goto('/sign-in?to=/teams')
  await page.getByRole('button', { name: 'Sign in with Corp' }).click()
  await page.waitForURL(`${issuer}/interaction/**`)
  await page.locator('input[name="login"]').fill(account)
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
  await page.locator('button[type="submit"]', { hasText: 'Continue' }).click()
  await page.waitForURL('**/teams')
}

describe('sign-in by a provider, without a script of ours', () => {
  it('brings people into their teams, follows their groups, and offers no password', async () => {
    await server.setAccounts({ a: { preferred_username: 'ada', groups: ['admins', 'engineering'] } })
    const page = await bench.newPage({ allowed, hasScript: false })
    await page.goto('/sign-in')
    expect(await page.locator('input[type="password"]').count()).toBe(0)
    await signInAtProvider(page, 'a')
    const text = await page.locator('main').innerText()
    expect(text).toContain('acme')
    expect(text.toLowerCase()).toContain('editor')
    expect((await page.goto('/admin'))?.status()).toBe(200)

    await server.setAccounts({ a: { preferred_username: 'ada', groups: ['admins', 'staff'] } })
    const again = await bench.newPage({ allowed })
    await signInAtProvider(again, 'a')
    const now = await again.locator('main').innerText()
    expect(now).toContain('everyone')
    expect(now).not.toContain('acme')
  })

  it('shows its pages without barriers', async () => {
    await server.setAccounts({ a: { preferred_username: 'ada', groups: ['admins'] } })
    const page = await bench.newPage({ allowed })
    await page.goto('/sign-in')
    expect(await lookForBarriers(page, '/sign-in')).toEqual([])
    await signInAtProvider(page, 'a')
    await page.goto('/settings/sign-in')
    expect(await page.locator('main').innerText()).toContain('Corp')
    expect(await lookForBarriers(page, '/settings/sign-in')).toEqual([])
    await page.goto('/sign-out')
    await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-out?done=signed-out')
    expect(await page.locator('main').innerText()).toContain('Corp may keep you signed in')
  })

  it('leaves the operator a way in', async () => {
    const { stdout, code } = await bench.place.commonplace(['sign-in-link', 'ada'], { env: { BASE_URL: bench.baseUrl } })
    expect(code).toBe(0)
    const page = await bench.newPage({ allowed: [...allowed, /404/] })
    await page.goto(stdout.trim())
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${bench.baseUrl}/`)
    expect((await page.goto('/admin'))?.status()).toBe(200)
    await page.goto(stdout.trim())
    expect(await page.locator('main').innerText()).toContain('This link is no longer valid')
  })
})
