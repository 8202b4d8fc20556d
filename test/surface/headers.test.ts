import { beforeAll, describe, expect, it } from 'vitest'
import { json, testApp, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor } from '../support/visitor.ts'

const HTML = { accept: 'text/html' }
const test = useTestApp()
let reader: Visitor
let slug: string
beforeAll(async () => {
  reader = await signUp(test, 'ada')
  const { key } = await test.user('ada')
  const saved = await test.fetch('/api/prompts', { ...json('POST', { title: 'Letter', content: 'Hello', visibility: 'public' }), key })
  slug = JSON.parse(await saved.text()).prompt.slug
})

const headersOf = async (path: string, headers: Record<string, string> = {}) => (await test.fetch(path, { headers })).headers

describe('headers against other sites', () => {
  it('keep pages apart from windows and frames of others, and from devices', async () => {
    for (const headers of [
      await headersOf('/prompts', HTML),
      await headersOf(`/prompts/${slug}`, HTML),
      (await reader.get('/settings')).headers,
    ]) {
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('permissions-policy')).toBe('camera=(), geolocation=(), microphone=(), payment=(), usb=()')
    }
  })

  it('let other pages frame and load what is made for them', async () => {
    for (const path of ['/embed?prompt=x', `/embed/${slug}`, '/embed.js', '/api/embed/image?prompt=x', '/api/prompts', '/feed.xml']) {
      const headers = await headersOf(path)
      expect(headers.get('cross-origin-resource-policy'), path).not.toBe('same-origin')
      expect(headers.get('cross-origin-opener-policy'), path).toBeNull()
    }
  })

  it('let pages of others read what is public, and nothing of somebody who is signed in', async () => {
    for (const path of ['/prompts', '/api/prompts', '/feed.xml']) {
      expect((await headersOf(path, HTML)).get('access-control-allow-origin'), path).toBe('*')
    }
    for (const path of ['/prompts', '/library', '/settings']) {
      expect((await reader.get(path)).headers.get('access-control-allow-origin'), path).toBeNull()
    }
  })

  it('tell browsers to stay with https, where the service has it', async () => {
    expect((await headersOf('/prompts', HTML)).get('strict-transport-security')).toBeNull()
    const secure = await testApp({}, {}, null, { baseUrl: 'https://prompts.example.org' })
    for (const path of ['/prompts', '/api/prompts', '/embed?prompt=x', '/nothing']) {
      const headers = (await secure.fetch(path, { headers: { host: 'prompts.example.org' } })).headers
      expect(headers.get('strict-transport-security'), path).toBe('max-age=31536000')
    }
    await secure.close()
  })
})
