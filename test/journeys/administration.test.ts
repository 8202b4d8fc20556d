import { describe, expect, it } from 'vitest'
import { lookForBarriers, signUpInBrowser, useBrowser, VIEWPORTS } from '../support/browser.ts'

describe('an administrator', () => {
  const bench = useBrowser()

  it('takes back nothing by one click, with a script and without', async () => {
    const page = await bench.newPage()
    await signUpInBrowser(page, 'grace')
    const state = await page.context().cookies()
    for (const hasScript of [true, false]) {
      const reader = await bench.newPage({ hasScript, viewport: 'phone' })
      await reader.context().addCookies(state)
      await reader.goto('/settings/keys')
      await reader.getByLabel('Key name').fill('laptop')
      await reader.getByRole('button', { name: 'Create key' }).click()
      await reader.waitForURL('**/settings/keys')
      await reader.goto('/settings/keys')
      const active = reader.locator('.entries > li:not(.over)')
      expect(await active.count()).toBe(1)
      const revoke = reader.getByRole('button', { name: 'Revoke laptop' })
      expect(await revoke.isVisible()).toBe(false)
      await active.locator('summary').click()
      expect(await active.textContent()).toContain('Programs that use it stop working at once.')
      await revoke.click()
      await reader.waitForURL('**?done=key-revoked')
      expect(await active.count()).toBe(0)
    }
  })

  it('sees what was counted, as pictures, in words and as a table', async () => {
    const page = await bench.newPage()
    await page.goto('/sign-in')
    await page.getByLabel('Username').fill('grace')
    await page.getByLabel('Password').fill('a horse that reads')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/')
    await page.goto('/new')
    await page.getByLabel('Title').fill('Walrus')
    await page.getByLabel('Text', { exact: true }).fill('About a walrus.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL('**/prompts/**')
    await page.goto('/admin')
    const chart = page.getByRole('img', { name: 'New items by day' })
    expect(await chart.locator('desc').textContent()).toMatch(/^Most on \w+ \d+: 1\.$/)
    const bar = await chart.locator('rect').boundingBox()
    const frame = await chart.boundingBox()
    // Today is at the end, and as tall as the chart.
    expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeGreaterThan((frame?.x ?? 0) + (frame?.width ?? 0) * 0.95)
    expect(bar?.height).toBeGreaterThan((frame?.height ?? 0) * 0.9)
    expect(await page.getByRole('img', { name: 'MCP calls by day' }).locator('desc').textContent()).toBe('None.')
    await page.getByText('As a table').click()
    expect(await page.locator('.day-table tbody tr').count()).toBe(1)
    for (const viewport of Object.values(VIEWPORTS)) {
      await page.setViewportSize(viewport)
      expect(await lookForBarriers(page, '/admin')).toEqual([])
    }
  })
})

describe('copying', () => {
  const bench = useBrowser()

  it('is told to the service once for each copy, without the text', async () => {
    const key = await bench.createKey('Ada')
    const { id, slug } = await bench.save(key, 'prompt', { title: 'Walrus', content: 'About ${topic}.' })
    const page = await bench.newPage()
    await page.goto(`/prompts/${slug}`)
    await page.getByRole('textbox', { name: 'topic' }).fill('a secret')
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/copied')),
      page.getByRole('button', { name: 'Copy', exact: true }).click(),
    ])
    expect([answer.status(), new URL(answer.url()).pathname, answer.request().postData()]).toEqual([204, `/prompts/${id}/copied`, null])
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('About a secret.')
  })
})
