import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { useSharedService } from '../support/browser.ts'

const bench = useSharedService()

it('the built program answers an MCP client, which saves a prompt, and a browser, which finds it', async () => {
  expect((await fetch(`${bench.baseUrl}/healthz`)).status).toBe(200)
  const client = new Client({ name: 'test', version: '1' })
  const headers = { PROMPTS_API_KEY: await bench.createKey('smoke') }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${bench.baseUrl}/api/mcp`), { requestInit: { headers } }))
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content } = await client.callTool({ name, arguments: args })
    const [block] = content
    return JSON.parse(block?.type === 'text' ? block.text : '')
  }
  // The starter library is there.
  expect((await call('search_prompts', { query: 'pull request' })).count).toBeGreaterThan(0)
  const { prompt } = await call('save_prompt', { title: 'Walrus letter', content: 'Write to ${who}.', visibility: 'public' })
  expect((await call('get_prompt', { id: prompt.id, variables: { who: 'Ada' } })).content).toBe('Write to Ada.')
  await client.close()

  const page = await bench.newPage()
  await page.goto('/prompts')
  await page.getByRole('searchbox', { name: 'Search prompts', exact: true }).pressSequentially('walrus letter')
  await page.waitForURL('**/prompts?q=walrus+letter')
  await page.getByRole('heading', { level: 3 }).first().getByRole('link').click()
  await page.waitForURL('**/prompts/walrus-letter')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Walrus letter')
  await page.getByLabel('Who').waitFor()
})
