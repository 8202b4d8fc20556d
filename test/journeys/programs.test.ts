import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lookForBarriers, signIn, signUpInBrowser, useBrowser } from '../support/browser.ts'
import { listenForReturn } from '../support/signing-clients.ts'

describe('a program that asks to be let in', () => {
  const bench = useBrowser()
  beforeAll(async () => {
    await signUpInBrowser(await bench.newPage(), 'ada')
  })

  /** Registers a program, and gives the address that it opens in a browser. */
  async function ask(back: string): Promise<string> {
    const registered = await fetch(`${bench.baseUrl}/oauth2/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'A program', redirect_uris: [back], token_endpoint_auth_method: 'none' }),
    })
    const { client_id } = z.object({ client_id: z.string() }).parse(await registered.json())
    const asked = {
      response_type: 'code',
      client_id,
      redirect_uri: back,
      state: 'x',
      resource: `${bench.baseUrl}/mcp`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    }
    return `/oauth2/authorize?${new URLSearchParams(asked)}`
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  it.each([true, false])('is answered at a listener of this machine (with a script: %s)', async (hasScript) => {
    const listener = await listenForReturn('/callback')
    const page = await bench.newPage({ hasScript, allowed: [/^Another server was asked: http:\/\/127\.0\.0\.1:\d+\//, /favicon/] })
    await page.goto(await ask(listener.address))
    // They sign in first.
    await page.getByLabel('Username or email').fill('ada')
    await page.getByLabel('Password').fill('a horse that reads')
    await press(page, 'Sign in')
    await page.getByRole('heading', { name: 'Let A program use this library?' }).waitFor()
    await press(page, 'Allow')
    await page.waitForURL(`${listener.address}?**`)
    const given = await listener.returned
    expect([given.get('state'), given.get('iss'), (given.get('code') ?? '').length > 20]).toEqual(['x', bench.baseUrl, true])
    listener.close()
  })

  it.each([true, false])('is answered at an app with a scheme of its own (with a script: %s)', async (hasScript) => {
    // Nothing opens the scheme here: the browser may say so.
    const page = await bench.newPage({ hasScript, allowed: [/cursor:/] })
    await signIn(page, 'ada')
    await page.goto(await ask('cursor://anysphere.cursor-mcp/oauth/callback'))
    expect(await page.getByRole('main').innerText()).toContain('Afterwards you go to the app that opens cursor: addresses.')
    await press(page, 'Do not allow')
    const link = page.getByRole('link', { name: 'Go on' })
    await link.click({ trial: true })
    const back = new URL((await link.getAttribute('href')) ?? '')
    expect([back.protocol, back.searchParams.get('error')]).toEqual(['cursor:', 'access_denied'])
  })

  it('cannot have its question shown in a frame, also where the person is signed in', async () => {
    const page = await bench.newPage({ allowed: [/frame-ancestors|refused to connect|X-Frame-Options|Another server was asked/i] })
    await signIn(page, 'ada')
    await page.goto(await ask('http://127.0.0.1:40123/callback'))
    const question = page.url()
    const elsewhere = createServer((_, answer) => {
      answer.writeHead(200, { 'content-type': 'text/html' })
      answer.end(`<!doctype html><title>Elsewhere</title><iframe src="${question.replaceAll('&', '&amp;')}"></iframe>`)
    })
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const address = elsewhere.address()
    const answered = page.waitForResponse(question)
    // Another port of the same host: the browser sends the cookies along.
    await page.goto(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`)
    expect((await (await answered).allHeaders())['content-security-policy']).toContain("frame-ancestors 'none'")
    const [frame] = page.frames().filter((one) => one !== page.mainFrame())
    await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/)
    expect(await frame?.getByRole('button', { name: 'Allow', exact: true }).count()).toBe(0)
    elsewhere.closeAllConnections()
    elsewhere.close()
  })

  it('has pages without barriers', async () => {
    const page = await bench.newPage({ allowed: [/cursor:/, /status of 400/] })
    await signIn(page, 'ada')
    await page.goto(await ask('cursor://anysphere.cursor-mcp/oauth/callback'))
    const found = await lookForBarriers(page, 'the question')
    await press(page, 'Allow')
    await page.getByRole('link', { name: 'Go on' }).waitFor()
    found.push(...(await lookForBarriers(page, 'the way back')))
    await page.goto('/settings/programs')
    await page.getByText('Disconnect…').last().click()
    found.push(...(await lookForBarriers(page, 'connected programs')))
    await page.goto('/oauth2/authorize?client_id=unknown')
    found.push(...(await lookForBarriers(page, 'an unknown program')))
    expect(found).toEqual([])
  })
})
