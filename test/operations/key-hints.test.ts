import { describe, expect, it } from 'vitest'
import { json, readJson, rpc, useTestApp } from '../support/test-app.ts'

const test = useTestApp()

describe('a missing key', () => {
  it('is named as each way of calling takes it', async () => {
    const rest = await readJson(await test.fetch('/api/prompts', json('POST', { title: 'T', content: 'C' })))
    expect(rest.message).toBe('save_prompt needs an API key: send one in the X-API-Key header.')
    const ask = async (headers: Record<string, string>) => {
      const request = rpc('tools/call', { name: 'save_prompt', arguments: {} })
      const response = await test.fetch('/api/mcp', { ...request, headers: { 'content-type': 'application/json', ...headers } })
      return JSON.parse((await readJson(response)).result.content[0].text)
    }
    const plain = await ask({})
    expect(plain.error).toMatch(/PROMPTS_API_KEY or X-API-Key header\.$/)
    for (const header of ['X-Forwarded-For', 'Via', 'Forwarded', 'X-Real-IP']) {
      const { error, code } = await ask({ [header]: '192.0.2.1' })
      expect([code, error], header).toEqual(['unauthenticated', expect.stringMatching(/X-API-Key header\..*proxy.*underscores/)])
    }
  })
})
