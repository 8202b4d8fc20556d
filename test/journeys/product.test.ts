import { once } from 'node:events'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { useBrowser } from '../support/browser.ts'

/** The product as a new user meets it: the built program, a browser, an MCP client. Everything else about them is tested in e2e/ and browser/. */

describe('the built program with the starter library', () => {
  const bench = useBrowser({ args: ['--starter'] })

  it('answers its probe', async () => {
    const response = await fetch(`${bench.baseUrl}/healthz`)
    expect(response.status).toBe(200)
  })

  it('shows a browser what a search finds, and the prompt', async () => {
    const page = await bench.newPage()
    await page.goto('/prompts')
    await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).pressSequentially('pull request')
    await page.waitForURL('**/prompts?q=pull+request')
    const first = page.getByRole('heading', { level: 3 }).first()
    const title = (await first.textContent())?.trim() ?? ''
    await first.getByRole('link').click()
    await page.waitForURL('**/prompts/*')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain(title)
    expect((await page.locator('[data-text]').first().textContent())?.length).toBeGreaterThan(20)
  })

  it('lets an MCP client search, and save with a key', async () => {
    const key = await bench.createKey('ada')
    const client = new Client({ name: 'test', version: '1' })
    const headers = { PROMPTS_API_KEY: key }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${bench.baseUrl}/api/mcp`), { requestInit: { headers } }))
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: args })
      const [block] = content
      return JSON.parse(block?.type === 'text' ? block.text : '')
    }
    expect((await call('search_prompts', { query: 'pull request' })).count).toBeGreaterThan(0)
    const { prompt } = await call('save_prompt', { title: 'Walrus letter', content: 'Write to ${who}.' })
    const found = await call('get_prompt', { id: prompt.id, variables: { who: 'Ada' } })
    expect(found.content).toBe('Write to Ada.')
    await client.close()
  })

  it('ends when it is told to, and frees its port', async () => {
    const place = bench.place
    const { url, child } = await place.serve({ instances: 1 })
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })
})
