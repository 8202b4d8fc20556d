import { expect, it } from 'vitest'
import { expectCopied, savePrompt, signUpInBrowser, useBrowser } from '../support/browser.ts'
import { rpc } from '../support/test-app.ts'

/** A library in which nobody has an account yet. */
const bench = useBrowser()

it('the first administrator signs up, connects clients by keys, sees the figures and revokes the key', async () => {
  const page = await bench.newPage()
  await signUpInBrowser(page, 'ada')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = (await page.locator('.new-key [data-text]').first().textContent())?.trim() ?? ''
  expect(key).toMatch(/^cpb_[A-Za-z0-9]{49}$/)
  await page.locator('.new-key [data-copy]').first().click()
  await expectCopied(page).toBe(key)
  expect(await page.locator('.new-key').textContent()).toContain(`--header "PROMPTS_API_KEY: ${key}"`)
  await page.getByLabel('Cursor', { exact: true }).check()
  const added = new URL((await page.getByRole('link', { name: 'Add to Cursor' }).getAttribute('href')) ?? '')
  expect([added.protocol, added.pathname, added.searchParams.get('name')]).toEqual(['cursor:', '/mcp/install', 'commonplace'])
  expect(JSON.parse(Buffer.from(added.searchParams.get('config') ?? '', 'base64').toString())).toEqual({
    url: `${bench.baseUrl}/api/mcp`,
    headers: { PROMPTS_API_KEY: key },
  })

  // The page waits for the first call with the key.
  const search = async () => {
    const params = { name: 'search_prompts', arguments: { query: 'greeting' } }
    const headers = { 'content-type': 'application/json', PROMPTS_API_KEY: key }
    const response = await fetch(`${bench.baseUrl}/api/mcp`, { ...rpc('tools/call', params), headers })
    return { status: response.status, text: await response.text() }
  }
  expect(await page.locator('[data-first-call]').textContent()).toBe('Waiting for the first call with this key…')
  expect((await search()).status).toBe(200)
  await page.getByText('First call received ✓').waitFor()
  await page.reload()
  expect(new URL(page.url()).pathname).toBe('/settings/access')
  expect(await page.locator('.new-key').count()).toBe(0)

  // A private prompt is found by the key, and by nobody else.
  await page.locator('header').getByText('New', { exact: true }).click()
  await page.getByRole('link', { name: 'New prompt' }).click()
  await page.getByLabel('Text', { exact: true }).fill('Greet ${name} in ${language:English}.')
  await expect.poll(() => page.locator('[data-variables] li').allTextContents()).toEqual(['name required', 'language default: English'])
  await savePrompt(page, 'A greeting', 'Greet ${name} in ${language:English}.')
  expect(await page.locator('.notice').textContent()).toBe('Saved · private')
  expect(await search()).toMatchObject({ status: 200, text: expect.stringContaining('A greeting') })
  expect((await (await fetch(`${bench.baseUrl}/api/prompts`)).text()).includes('A greeting')).toBe(false)

  // The figures are a picture, words and a table: today is at the end, as tall as the chart.
  await page.goto('/admin')
  const chart = page.getByRole('img', { name: 'New items by day' })
  expect(await chart.locator('desc').textContent()).toMatch(/^Most on \w+ \d+: 1\.$/)
  const [bar, frame] = [await chart.locator('rect').boundingBox(), await chart.boundingBox()]
  expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeGreaterThan((frame?.x ?? 0) + (frame?.width ?? 0) * 0.95)
  expect(bar?.height).toBeGreaterThan((frame?.height ?? 0) * 0.9)
  await page.getByText('As a table').click()
  expect(await page.locator('.day-table tbody tr').first().isVisible()).toBe(true)

  // Times are the reader's own, with UTC at hand.
  await page.goto('/admin/status')
  const started = page.locator('time[data-moment]').first()
  expect([await started.getAttribute('title'), await started.textContent()]).toEqual([
    expect.stringMatching(/ UTC$/),
    expect.not.stringContaining('UTC'),
  ])

  // A key is revoked by two clicks, and shown once: reloading its page made no other.
  await page.goto('/settings/access')
  expect(await page.locator('main').textContent()).not.toContain(key)
  expect(await page.locator('.entries > li').count()).toBe(1)
  const revoke = page.getByRole('button', { name: 'Revoke My laptop' })
  expect(await revoke.isVisible()).toBe(false)
  await page.locator('summary', { hasText: 'Revoke' }).click()
  expect(await page.locator('.entries').textContent()).toContain('Programs that use it stop working immediately.')
  await revoke.click()
  await page.getByText('Key revoked.').waitFor()
  expect(await search()).toMatchObject({ status: 400, text: expect.stringContaining('invalid_api_key') })

  // The chosen client is still chosen when a key is there, and its first call is waited for.
  await page.goto('/connect')
  await page.getByLabel('Gemini CLI', { exact: true }).check()
  await page.getByLabel('API key', { exact: true }).check()
  await page.getByRole('button', { name: 'Create a key and fill it in' }).click()
  await page.waitForURL('**/connect?access=key&client=gemini-cli')
  const { httpUrl, headers } = JSON.parse((await page.locator('.client pre:visible').textContent()) ?? '').mcpServers.commonplace
  const called = await fetch(httpUrl, { ...rpc('tools/list'), headers: { ...headers, 'content-type': 'application/json' } })
  expect(called.status).toBe(200)
  await page.getByText('First call received ✓').waitFor()
  await page.getByLabel('Codex', { exact: true }).check()
  expect(await page.locator('.client pre:visible').textContent()).toContain(headers.PROMPTS_API_KEY)
  await page.reload()
  expect(await page.locator('main').textContent()).not.toContain(headers.PROMPTS_API_KEY)
})
