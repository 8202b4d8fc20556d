import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { useSharedService } from '../support/browser.ts'
import { listenHere } from '../support/children.ts'
import { codeAt, readSecret } from '../support/codes.ts'
import { authorizePath, registerAt } from '../support/oauth-program.ts'
import { PASSWORD } from '../support/visitor.ts'

const bench = useSharedService()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

it('a member adds codes and a passkey, and signs in by each of them and by a recovery code', async () => {
  const page = await bench.newMember('petra', { allowed: [/status of 401/] })
  // An authenticator that verifies its user at once.
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  })
  const enterPassword = async (from: Page) => {
    await from.goto('/sign-in?to=/library')
    await from.getByLabel('Username or email').fill('petra')
    await from.getByLabel('Password').fill(PASSWORD)
    await press(from, 'Sign in')
    await from.waitForURL('**/sign-in/code?to=%2Flibrary')
  }
  const signOut = async () => {
    await page.goto('/sign-out')
    await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**?done=signed-out')
  }

  await page.goto('/settings/security')
  await page.getByText('Set up an authenticator app').click()
  const secret = readSecret(await page.content())
  const usedAt = Date.now()
  await page.getByLabel('6-digit code').fill(await codeAt(secret, usedAt))
  await page.locator('#codes').getByLabel('Your password').fill(PASSWORD)
  await press(page, 'Turn on')
  await page.getByText('Keep these codes in a safe place').waitFor()
  const recovery = (await page.locator('.new-key pre').textContent())?.trim().split('\n') ?? []
  expect(recovery).toHaveLength(10)
  await page.goto('/settings/security')
  await page.getByLabel('Name of the passkey').fill('Virtual')
  await page.locator('form[data-passkey=add]').getByLabel('Your password').fill(PASSWORD)
  await press(page, 'Add a passkey')
  await page.waitForURL('**/settings/security?done=passkey-added')
  await page.getByText('Virtual').waitFor()

  await signOut()
  await page.goto('/sign-in?to=/library')
  await press(page, 'Use a passkey')
  await page.waitForURL((url) => url.pathname === '/library')
  await signOut()
  await enterPassword(page)
  await page.getByLabel('Code', { exact: true }).fill('000000')
  await press(page, 'Sign in')
  await page.getByText('Wrong code').waitFor()
  // The code of then was used to turn codes on.
  await page.getByLabel('Code', { exact: true }).fill(await codeAt(secret, usedAt, 1))
  await press(page, 'Sign in')
  await page.waitForURL((url) => url.pathname === '/library')

  // A sign-in in another browser is told of until it is known.
  const other = await bench.newPage()
  await enterPassword(other)
  await other.getByLabel('Code', { exact: true }).fill(recovery[0] ?? '')
  await press(other, 'Sign in')
  await other.waitForURL((url) => url.pathname === '/library')
  await page.goto('/')
  await page.getByText('New sign-in to your account').waitFor()
  await page.goto('/settings/security')
  await press(page, 'It was me')
  await page.goto('/')
  expect(await page.getByText('New sign-in to your account').count()).toBe(0)
})

it('a program is let in by somebody who signs in at a provider, and by nobody in a frame', async () => {
  const accounts = JSON.stringify({ a: { preferred_username: 'nora', groups: ['engineering'] } })
  expect((await fetch(`${bench.issuer}/accounts`, { method: 'PUT', body: accounts })).status).toBe(204)
  // The provider's own pages are another server's, and ask for a font elsewhere; the program is one of this machine.
  const allowed = [
    /fonts\.googleapis\.com/,
    /^(?:Another server was asked: )?http:\/\/127\.0\.0\.1:\d+\//,
    /favicon/,
    /cursor:/,
    /frame-ancestors|refused to connect/i,
  ]
  const returned = Promise.withResolvers<URLSearchParams>()
  let question = ''
  // A program's listener, and a page that shows the question in a frame.
  const elsewhere = createServer((asked, answer) => {
    const url = new URL(asked.url ?? '/', 'http://127.0.0.1')
    if (url.pathname === '/callback') returned.resolve(url.searchParams)
    const frame = `<iframe src="${question.replaceAll('&', '&amp;')}"></iframe>`
    answer
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Elsewhere</title>${url.pathname === '/frame' ? frame : ''}`)
  })
  const program = `http://127.0.0.1:${await listenHere(elsewhere)}`

  for (const hasScript of [false, true]) {
    // They sign in first, at the provider, and are in the team of their group.
    const page = await bench.newPage({ hasScript, allowed })
    await page.goto(await ask(`${program}/callback`))
    await press(page, 'Sign in with Corp')
    await page.waitForURL(`${bench.issuer}/interaction/**`)
    await page.locator('input[name="login"]').fill('a')
    await page.locator('input[name="password"]').fill('any')
    await page.locator('button[type="submit"]').click()
    await page.locator('button[type="submit"]', { hasText: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Let A program use this library?' }).waitFor()
    question = page.url()
    await press(page, 'Allow')
    await page.waitForURL(`${program}/callback?**`)
    const given = await returned.promise
    expect([given.get('state'), given.get('iss'), (given.get('code') ?? '').length > 20]).toEqual(['x', bench.baseUrl, true])
    await page.goto('/teams')
    expect(await page.getByRole('main').innerText()).toContain('acme')

    // An app with a scheme of its own is gone to by a link, also when it is refused.
    await page.goto(await ask('cursor://anysphere.cursor-mcp/oauth/callback'))
    expect(await page.getByRole('main').innerText()).toContain('Afterwards you go to the app that opens cursor: addresses.')
    await press(page, 'Do not allow')
    const link = page.getByRole('link', { name: 'Continue' })
    await link.click({ trial: true })
    const back = new URL((await link.getAttribute('href')) ?? '')
    expect([back.protocol, back.searchParams.get('error')]).toEqual(['cursor:', 'access_denied'])

    // The question is shown in no frame, where the person is signed in.
    const answered = page.waitForResponse(question)
    await page.goto(`${program}/frame`)
    expect((await (await answered).allHeaders())['content-security-policy']).toContain("frame-ancestors 'none'")
    const [frame] = page.frames().filter((one) => one !== page.mainFrame())
    await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/)
    expect(await frame?.getByRole('button', { name: 'Allow', exact: true }).count()).toBe(0)
  }
  elsewhere.closeAllConnections()
  elsewhere.close()
})

/** Registers a program, and gives the address that it opens in a browser. */
async function ask(back: string): Promise<string> {
  return authorizePath(bench.baseUrl, await registerAt(bench.baseUrl, 'A program', back), back)
}
