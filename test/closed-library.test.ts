import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../src/http/route.ts'
import { json, readJson, rpc, type TestApp, testApp } from './support/test-app.ts'
import { signUp, visit } from './support/visitor.ts'

/**
 * A library for members alone: every route × somebody without an account × items that are there and one that is not. Written out by hand from
 * the contract, and not from the table in the code.
 */

const MARKER = 'Zqclosed'
const NOBODY = 'nothing-here'
let test: TestApp
let key = ''
let refs: string[]

beforeAll(async () => {
  test = await testApp({ LIBRARY_ACCESS: 'members', METRICS_TOKEN: 'a-token-for-the-metrics' })
  const owner = await test.user('owner')
  key = owner.key
  refs = []
  for (const visibility of ['public', 'members', 'unlisted'] as const) {
    const common = { title: `${MARKER} ${visibility}`, tags: [MARKER], category: 'coding', visibility }
    const { prompt } = Object(await test.call(owner.actor, 'save_prompt', { ...common, content: MARKER }))
    const files = [{ filename: 'SKILL.md', content: `---\nname: ${MARKER.toLowerCase()}-${visibility}\ndescription: x\n---\n${MARKER}` }]
    const { skill } = Object(await test.call(owner.actor, 'save_skill', { ...common, files }))
    refs.push(prompt.id, prompt.slug, skill.id, skill.slug)
  }
})
afterAll(() => test.close())

/** Addresses that are open, as the contract lists them. */
const OPEN = new Set([
  '/healthz',
  '/readyz',
  '/metrics',
  '/static/{digest}/{name}',
  '/robots.txt',
  '/favicon.ico',
  '/sign-in',
  '/sign-up',
  '/sign-out',
  '/forgot-password',
  '/reset-password',
  '/archives/{token}/{file}',
])

/** What a stranger gets: a status, and for a browser the page it is led to. */
function expected({ method, path, kind }: Route): number {
  if (path.startsWith('/api/embed/') || path === '/api/oembed') return 404
  if (path.startsWith('/api/')) return 401
  if (path.includes('{git}')) return 401
  if (kind === 'page' || kind === 'download') return method === 'GET' || method === 'POST' ? 303 : 401
  return 404
}

function fill(path: string, ref: string): string {
  return path
    .replace('{scope}', ref === NOBODY ? `/skills/${NOBODY}` : `/skills/${ref}`)
    .replace('{git}', '.git')
    .replace('{collection}', 'prompts')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'version' ? '1' : ref))
}

const ask = async (path: string, options: RequestInit & { key?: string } = {}) => {
  const answer = await test.fetch(path, { redirect: 'manual', ...options })
  const text = (await answer.text()).replaceAll(/,?"requestId":"[^"]*"/g, '')
  return { status: answer.status, text, location: answer.headers.get('location'), challenge: answer.headers.get('www-authenticate') }
}

describe('to strangers, a library for members', () => {
  it('answers no route but those that bring people in, and tells nothing of what is there', async () => {
    let asked = 0
    for (const route of test.routes) {
      if (OPEN.has(route.path)) continue
      const options = {
        method: route.method,
        headers: { accept: 'text/html', origin: 'http://127.0.0.1:3000', 'content-type': 'application/x-www-form-urlencoded' },
        ...(route.method === 'GET' ? {} : { body: 'title=x' }),
      }
      const missing = await ask(fill(route.path, NOBODY), options)
      const cell = `${route.method} ${route.path}`
      expect(missing.status, cell).toBe(expected(route))
      for (const ref of route.path.includes('{') ? refs : []) {
        const target = fill(route.path, ref)
        const answer = await ask(target, options)
        asked++
        expect([answer.status, answer.text.includes(MARKER), answer.challenge], `${cell} of ${target}`).toEqual([
          missing.status,
          false,
          missing.challenge,
        ])
        expect(answer.text.replaceAll(ref, NOBODY), cell).toBe(missing.text)
        expect(answer.location?.replaceAll(ref, NOBODY), cell).toBe(missing.location?.replaceAll(ref, NOBODY))
        if (answer.status === 303) expect(answer.location).toMatch(/^\/sign-in\?to=/)
      }
    }
    expect(asked).toBeGreaterThan(500)
  })

  it('is the same where there is no route', async () => {
    for (const [path, status] of [
      ['/nothing', 401],
      ['/prompts/a/b/c', 401],
      ['/api/nothing', 401],
      ['/e/x/y', 404],
      ['/.well-known/oauth-protected-resource', 404],
      ['/static/x', 404],
    ] as const)
      expect((await ask(path)).status, path).toBe(status)
  })

  it('refuses MCP in its own words, whatever the method', async () => {
    for (const path of ['/api/mcp', '/api/mcp/@owner', '/api/mcp?users=owner']) {
      const junk = { headers: { authorization: 'Bearer junk' } }
      for (const options of [{}, junk, { method: 'DELETE' }, { ...junk, method: 'PUT' }, rpc('tools/list'), rpc('prompts/list')]) {
        const { status, text } = await ask(path, options)
        expect([status, JSON.parse(text)], path).toEqual([
          401,
          { jsonrpc: '2.0', id: null, error: expect.objectContaining({ data: { code: 'unauthenticated' } }) },
        ])
      }
    }
  })

  it('asks Git for a password, and knows no other channel', async () => {
    const refused = await ask('/library.git/info/refs?service=git-upload-pack')
    expect([refused.status, refused.challenge]).toEqual([401, expect.stringContaining('Basic')])
    for (const path of [
      '/prompts.json',
      '/prompts.csv',
      '/marketplace.json',
      '/.well-known/agent-skills/index.json',
      '/sitemap.xml',
      '/feed.xml',
    ])
      expect((await ask(path)).status, path).toBe(404)
  })

  it('opens the doors', async () => {
    for (const path of ['/healthz', '/readyz', '/robots.txt', '/sign-in', '/sign-up', '/forgot-password']) {
      const { status, text } = await ask(path, { headers: { accept: 'text/html' } })
      expect([status, text.includes(MARKER)], path).toEqual([200, false])
    }
    const style = /\/static\/[^"]+\.css/.exec((await ask('/sign-in', { headers: { accept: 'text/html' } })).text)?.[0]
    expect((await ask(style ?? '')).status).toBe(200)
  })
})

describe('to its members, a library for members', () => {
  it('is open with a key, over REST, MCP and channels', async () => {
    const other = (await test.user('other')).key
    const { prompts } = await readJson(await test.fetch('/api/prompts', { key: other }))
    expect(prompts.map(({ title }: { title: string }) => title).toSorted()).toEqual([`${MARKER} members`, `${MARKER} public`])
    const listed = await test.fetch('/api/mcp', { ...rpc('prompts/list'), key: other })
    expect((await readJson(listed)).result.prompts).toHaveLength(2)
    const index = await readJson(await test.fetch('/.well-known/agent-skills/index.json', { key: other }))
    expect(index.skills.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      `${MARKER.toLowerCase()}-members`,
      `${MARKER.toLowerCase()}-public`,
    ])
    const basic = { authorization: `Basic ${Buffer.from(`u:${other}`).toString('base64')}` }
    expect((await ask('/library.git/info/refs?service=git-upload-pack', { headers: basic })).status).toBe(200)
    expect((await ask('/api/prompts', { key: `${other}x` })).status).toBe(401)
  })

  it('is open to who signs in, and to an install link', async () => {
    expect((await visit(test).get('/prompts')).to).toBe('/sign-in?to=%2Fprompts')
    const person = await signUp(test, 'newcomer')
    const { html } = await person.get('/prompts')
    expect([html.includes(`${MARKER} members`), html.includes(`${MARKER} public`), html.includes(`${MARKER} unlisted`)]).toEqual([
      true,
      true,
      false,
    ])
    expect(html).not.toContain('/feed.xml')
    expect(html).not.toContain('/embeds')
    expect((await person.get('/new')).html).toContain('Public: everyone who is signed in')
    // A key that may not read is no stranger: it finds what is public here.
    const writer = await readJson(await test.fetch('/api/prompts', { key: (await test.user('other', ['write'])).key }))
    expect(writer.prompts.map(({ title }: { title: string }) => title)).toEqual([`${MARKER} public`])
    const connect = (await person.get('/connect')).html
    expect([connect.includes('value="key"'), connect.includes('name="access" value="public"')]).toEqual([true, false])
    const skill = (await person.get(`/skills/${refs[3]}`)).html
    expect([skill.includes('/download/skills/'), skill.includes('npx skills add'), skill.includes('$COMMONPLACE_KEY')]).toEqual([
      true,
      false,
      true,
    ])
    expect((await person.get('/tags/zqclosed')).html).not.toContain('npx skills add')
    const { url, link } = await readJson(await test.fetch('/api/install-links', { ...json('POST', { name: 'x' }), key }))
    const path = `${new URL(url).pathname}/.well-known/agent-skills/index.json`
    expect((await ask(path)).status).toBe(200)
    await test.fetch(`/api/install-links/${link.id}`, { method: 'DELETE', key })
    expect((await ask(path)).status).toBe(404)
  })
})
