import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type BrowserBench, type OwnBench, signIn } from './browser.ts'
import type { SigningClient } from './signing-clients.ts'
import { readJson, rpc } from './test-app.ts'

/** What a browser may say when a program of this machine has sent it on and takes it back. */
const AT_PROGRAMS = [/^Another server was asked: http:\/\/(?:localhost|127\.0\.0\.1):\d+\//, /favicon\.ico/]

/** A person at a browser of their own, who lets a program in that opened an address there. Gives what the consent page says. */
export async function allowProgram(bench: BrowserBench, username: string, address: string): Promise<string> {
  const page = await bench.newPage({ allowed: AT_PROGRAMS })
  await signIn(page, username)
  await page.goto(address)
  const said = await page.getByRole('main').innerText()
  await page.getByLabel('Create and edit').check()
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  await page.waitForURL((url) => url.origin !== bench.baseUrl)
  await page.context().close()
  return said
}

/** Ends every connection in the settings. */
async function disconnectPrograms(bench: BrowserBench, username: string): Promise<void> {
  const page = await bench.newPage()
  await signIn(page, username)
  await page.goto('/settings/access')
  const active = page.locator('#programs .entries > li:not(.over)')
  expect(await active.count()).toBe(1)
  await active.locator('summary', { hasText: 'Disconnect' }).click()
  await active.getByRole('button', { name: 'Disconnect' }).last().click()
  await page.waitForURL('**/settings/access?done=program-disconnected')
  expect(await active.count()).toBe(0)
  await page.context().close()
}

/** Titles of a person's prompts that have a word in them. */
async function readTitles(bench: BrowserBench, username: string, word: string): Promise<string[]> {
  const headers = { 'x-api-key': await bench.createKey(username) }
  const found = await readJson(await fetch(`${bench.baseUrl}/api/prompts?q=${word}&perPage=100`, { headers }))
  return found.prompts.map(({ title }: { title: string }) => title).filter((title: string) => title.startsWith(word))
}

/**
 * A program signs in at the browser of a person, saves a prompt, and is disconnected: its next call is refused, with the address of the metadata.
 * @returns what the consent page said
 */
export async function proveSignIn(bench: OwnBench, username: string, client: SigningClient, model: string): Promise<string> {
  const id = randomBytes(4).toString('hex')
  const endpoint = `${bench.baseUrl}/mcp`
  const call = (token: string) =>
    fetch(endpoint, { ...rpc('tools/list'), headers: { ...rpc('tools/list').headers, authorization: `Bearer ${token}` } })
  let said = ''
  const signed = await client.signIn({
    endpoint,
    home: join(bench.place.folder, id),
    model,
    allow: async (address) => {
      said = await allowProgram(bench, username, address)
    },
  })
  try {
    await signed.save(`before${id}`)
    expect(await readTitles(bench, username, `before${id}`)).toEqual([`before${id}`])
    // Programs refresh by themselves, so this is read last.
    const token = signed.readAccessToken()
    expect((await call(token)).status).toBe(200)
    await disconnectPrograms(bench, username)
    const refused = await call(token)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", resource_metadata="${bench.baseUrl}/.well-known/oauth-protected-resource/mcp", scope="read write improve"`,
    ])
    // Programs say so in ways of their own, or end well without having saved anything.
    await signed.save(`after${id}`).catch(() => {})
    expect(await readTitles(bench, username, `after${id}`)).toEqual([])
  } finally {
    await signed.close()
  }
  return said
}
