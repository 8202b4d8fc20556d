import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { lookForBarriers, signUpInBrowser, useBrowser } from '../support/browser.ts'
import { codeAt, readSecret } from '../support/codes.ts'
import { PASSWORD } from '../support/visitor.ts'

const PAGE = '/settings/passkeys'

/** Gives a page an authenticator that verifies its user at once. */
async function plugIn(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

async function turnOnCodes(page: Page): Promise<string> {
  const secret = readSecret(await page.content())
  await page.getByLabel('Code that the app shows now').fill(await codeAt(secret, Date.now()))
  await page.locator('form:has(.qr)').getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Turn codes on' }).click()
  await page.getByText('Keep these codes in a safe place').waitFor()
  return secret
}

async function enterPassword(page: Page, username: string): Promise<void> {
  await page.goto('/sign-in?to=/library')
  await page.getByLabel('Username or email').fill(username)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function signOut(page: Page): Promise<void> {
  await page.goto('/sign-out')
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/?done=signed-out')
}

describe('a library that asks everybody for a second factor', () => {
  const bench = useBrowser({ env: { HOST: 'localhost', SECOND_FACTOR: 'everybody' } })

  it('leads to the page where one is set up, and signs in with a code and with a passkey', async () => {
    const page = await bench.newPage({ allowed: [/status of 401/] })
    await plugIn(page)
    await page.goto('/sign-in')
    expect(new URL(page.url()).hostname).toBe('localhost')
    await signUpToBeHeld(page)
    expect(await lookForBarriers(page, 'setting up')).toEqual([])
    const secret = await turnOnCodes(page)
    expect(await lookForBarriers(page, 'recovery codes')).toEqual([])
    const recovery = (await page.locator('.new-key pre').textContent())?.trim().split('\n') ?? []
    expect(recovery).toHaveLength(10)
    await page.getByRole('link', { name: 'Go on' }).click()
    await page.waitForURL('**/settings/keys?done=welcome')

    await page.goto(PAGE)
    await page.getByLabel('Name of the passkey').fill('Virtual')
    await page.locator('form[data-passkey=add]').getByLabel('Your password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.waitForURL(`**${PAGE}?done=passkey-added`)
    await page.getByText('Virtual').waitFor()
    expect(await lookForBarriers(page, 'with a passkey')).toEqual([])

    await signOut(page)
    await page.goto('/sign-in?to=/library')
    expect(await lookForBarriers(page, 'signing in')).toEqual([])
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/library')

    await signOut(page)
    await enterPassword(page, 'grace')
    await page.waitForURL('**/sign-in/code?to=%2Flibrary')
    expect(await lookForBarriers(page, 'second step')).toEqual([])
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Wrong code').waitFor()
    // The code of now was used to turn codes on.
    await page.getByLabel('Code', { exact: true }).fill(await codeAt(secret, Date.now(), 1))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/library')

    const other = await bench.newPage()
    await enterPassword(other, 'grace')
    await other.getByLabel('Code', { exact: true }).fill(recovery[0] ?? '')
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.waitForURL('**/library')
    await page.goto('/')
    await page.getByText('New sign-in to your account').waitFor()
    expect(await lookForBarriers(page, 'new sign-in')).toEqual([])
    await page.goto('/settings/sessions')
    expect(await lookForBarriers(page, 'sessions')).toEqual([])
    await page.getByRole('button', { name: 'It was me' }).click()
    await page.goto('/')
    expect(await page.getByText('New sign-in to your account').count()).toBe(0)

    const reset = await bench.place.commonplace(['users', 'reset-factors', 'grace'])
    expect([reset.code, reset.stdout]).toEqual([0, 'Removed the passkeys and codes of grace.\n'])
    await signOut(page)
    await enterPassword(page, 'grace')
    await page.waitForURL(`**${PAGE}?to=%2Flibrary`)
  }, 300_000)

  /** The first account is made, and can do nothing else. */
  async function signUpToBeHeld(page: Page): Promise<void> {
    await signUpInBrowser(page, 'grace', `**${PAGE}?to=*`)
    await page.getByText('asks everyone who signs in with a password').waitFor()
    await page.goto('/library')
    expect(new URL(page.url()).pathname).toBe(PAGE)
    await page.goto(`${PAGE}?to=${encodeURIComponent('/settings/keys?done=welcome')}`)
  }
})
