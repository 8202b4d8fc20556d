import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookForBarriers, useBrowser } from '../support/browser.ts'

const KEY = 'cpb_not_a_key'

describe('the API reference in a browser', () => {
  const bench = useBrowser()
  let key = ''
  beforeAll(async () => {
    key = await bench.createKey('Ada')
    await bench.save(key, 'prompt', { title: 'Review of code', content: 'Look at ${code}.' })
  })

  /** The section of a route, with its form open. */
  async function openForm(page: Page, anchor: string) {
    await page.goto(`/docs/api#${anchor}`)
    const route = page.locator('.route', { has: page.locator(`#${anchor}`) })
    await route.getByText('Try it').click()
    return { route, send: () => route.getByRole('button', { name: 'Send' }).click(), status: route.getByRole('status') }
  }

  it('sends a request and shows status, headers and body', async () => {
    const page = await bench.newPage()
    const { route, send, status } = await openForm(page, 'get-apisearchprompts')
    expect(await route.getByLabel('query').inputValue()).toBe('code review')
    await route.getByLabel('limit').fill('1')
    await send()
    await expect.poll(() => status.textContent()).toMatch(/^200 OK · \d+ ms$/)
    const answer = (await route.locator('pre[data-answer]').textContent()) ?? ''
    expect(answer).toContain('content-type: application/json')
    expect(answer).toContain('"title": "Review of code"')
    // The address has nothing of it.
    expect(new URL(page.url()).search).toBe('')
  })

  it('sends a body with a key, which is kept nowhere', async () => {
    const page = await bench.newPage({ allowed: [/status of 401/] })
    const { route, send, status } = await openForm(page, 'post-apiprompts')
    await route.getByLabel('API key').fill(KEY)
    await send()
    await expect.poll(() => status.textContent()).toMatch(/^401/)
    await route.getByLabel('API key').fill(key)
    await route.getByLabel('JSON body').fill('{"title": "Made here", "content": "Text"}')
    await send()
    await expect.poll(() => status.textContent()).toMatch(/^201/)
    // Typed once, it is in the other forms too.
    expect(await page.locator('#get-apisearchprompts-key').inputValue()).toBe(key)
    await page.reload()
    expect(await page.locator('#get-apisearchprompts-key').inputValue()).toBe('')
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]))
    expect(stored).not.toContain(key)
  })

  it('asks for what a route needs, and puts it into the path', async () => {
    const page = await bench.newPage({ allowed: [/status of 404/] })
    const { route, send, status } = await openForm(page, 'get-apipromptsid')
    await send()
    expect(await status.textContent()).toBe('')
    await route.getByLabel('id', { exact: true }).fill('a/b')
    const asked = page.waitForRequest('**/api/prompts/a%2Fb')
    await send()
    await asked
    await expect.poll(() => status.textContent()).toMatch(/^404/)
  })

  it('says so when an answer is not text, and when none comes', async () => {
    const page = await bench.newPage({ allowed: [/ERR_FAILED/] })
    const { route, send, status } = await openForm(page, 'get-apiembedimagefile')
    await route.getByLabel('file', { exact: true }).fill('review-of-code.png')
    await send()
    await expect.poll(() => route.locator('pre[data-answer]').textContent()).toContain('The response is not text and cannot be shown.')
    await page.route('**/api/embed/image/**', (call) => call.abort())
    await send()
    await expect.poll(() => status.textContent()).toBe('No response. Check the connection and try again.')
  })

  it('has no barriers with its parts open', async () => {
    const page = await bench.newPage()
    const { route, send, status } = await openForm(page, 'get-apisearchprompts')
    await send()
    await expect.poll(() => status.textContent()).toMatch(/^200/)
    await route.getByText('Response 200').click()
    await openForm(page, 'post-apiskills')
    expect(await lookForBarriers(page, '/docs/api, open')).toEqual([])
  })

  it('is used with keys alone', async () => {
    const page = await bench.newPage()
    await page.goto('/docs/api')
    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'List tags' }).focus()
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).hash).toBe('#get-apitags')
    const isAt = (selector: string) => page.evaluate((one) => document.activeElement?.matches(one), selector)
    for (let count = 0; count < 6 && !(await isAt('.try > summary')); count++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await isAt('#get-apitags-page')).toBe(true)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.route:has(#get-apitags) output').textContent()).toMatch(/^200/)
  })

  it('has its examples without a script, and no form', async () => {
    const page = await bench.newPage({ hasScript: false })
    await page.goto('/docs/api')
    expect(await page.getByText('GET /api/search/prompts').isVisible()).toBe(true)
    expect(await page.getByText(`curl '${bench.baseUrl}/api/search/prompts?query=code+review'`).isVisible()).toBe(true)
    expect(await page.getByText('Try it').first().isVisible()).toBe(false)
  })
})
