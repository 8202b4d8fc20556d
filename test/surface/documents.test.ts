import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MCP_PATH } from '../../src/http/guards.ts'
import { KEY_HEADER } from '../../src/web/clients.ts'
import { ALL_DOCUMENTS, chooseParts } from '../../src/web/documents.ts'
import { addressesOfPages } from '../support/page-addresses.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

const HTML = { headers: { Accept: 'text/html' } }

async function readPage(service: TestApp, path: string): Promise<{ status: number; html: string }> {
  const answer = await service.fetch(path, HTML)
  return { status: answer.status, html: await answer.text() }
}

/** Not within a word: keys of forms are chosen at random, and may hold these letters. */
const OF_MCP = /(?<![a-z\d])mcp(?:servers)?(?![a-z\d])|model context protocol|\/docs\/connect/i

describe('documents', () => {
  let service: TestApp
  let without: TestApp
  beforeAll(async () => {
    service = await testApp()
    without = await testApp({ MCP_ENABLED: false })
  })
  afterAll(async () => {
    await service.close()
    await without.close()
  })

  it('agree with server.json about the address, the key and the version', () => {
    const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
    const { name, description, version, remotes } = read('server.json')
    expect(version).toBe(read('package.json').version)
    expect(name).toMatch(/^[a-z0-9.-]+\/[a-z0-9.-]+$/)
    expect(description.length).toBeLessThanOrEqual(100)
    // Rules of the schema that it names, 2025-12-11: each transport, and what a template in an address may name.
    for (const { type, url, variables, headers } of remotes) {
      expect(['streamable-http', 'sse']).toContain(type)
      expect(url).toMatch(/^https?:\/\/[^\s]+$/)
      expect([...url.matchAll(/\{(\w+)\}/g)].map(([, variable]) => variable)).toEqual(Object.keys(variables))
      for (const input of [...Object.values(variables), ...headers]) {
        const fields = ['name', 'description', 'format', 'isRequired', 'isSecret', 'default', 'placeholder', 'value', 'choices']
        expect(fields).toEqual(expect.arrayContaining(Object.keys(Object(input))))
      }
    }
    expect([remotes[0].url, remotes[0].headers[0].name]).toEqual([`https://{host}${MCP_PATH}`, KEY_HEADER])
  })

  it('show every file there is for readers', () => {
    const files = ['', 'reference/'].flatMap((folder) =>
      readdirSync(new URL(`../../docs/${folder}`, import.meta.url))
        .filter((name) => name.endsWith('.md'))
        .map((name) => folder + name),
    )
    // What was tried with which client, and what the program is made of, is for those who work on it or audit it.
    expect(files.filter((file) => !ALL_DOCUMENTS.some((one) => one.file === file))).toEqual(['clients.md', 'dependencies.md'])
  })

  it('lead to each other, and to places that are there, with MCP and without', async () => {
    for (const [app, count] of [
      [service, ALL_DOCUMENTS.length],
      [without, ALL_DOCUMENTS.filter((one) => !one.isOfMcp).length],
    ] as const) {
      const index = (await readPage(app, '/docs')).html
      const names = new Set([...index.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, path]) => path ?? ''))
      expect(names.size).toBe(count)
      const pages = new Map<string, string>()
      // A Set gives what is added while it is read: the parts of the API reference.
      for (const name of names) {
        const { status, html } = await readPage(app, name)
        expect(status, name).toBe(200)
        expect(html, name).toMatch(/<h1>[^<]+<\/h1>/)
        pages.set(name, html)
        for (const [, part = ''] of html.matchAll(/href="(\/docs\/api\/[a-z]+)/g)) names.add(part)
      }
      let links = 0
      for (const [name, html] of pages) {
        for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
          const [path, anchor] = href.split('#')
          expect(href, `${name} links to ${href}`).not.toMatch(/\.md\b/)
          if (!href.startsWith('#') && !href.startsWith('/docs/')) continue
          const target = pages.get(path || name)
          expect(target, `${name} links to ${href}`).toBeDefined()
          if (anchor !== undefined && anchor !== 'content') expect(target, `${name} links to ${href}`).toContain(`id="${anchor}"`)
          links++
        }
      }
      expect(links).toBeGreaterThan(100)
    }
  })

  it('give the address of the service, but to a proxy the one it listens at', async () => {
    const site = { baseUrl: 'https://prompts.example.org', hasMcp: true }
    const text = 'curl http://127.0.0.1:3000/api/prompts\nproxy_pass http://127.0.0.1:3000;\n'
    expect(chooseParts(text, site)).toBe('curl https://prompts.example.org/api/prompts\nproxy_pass http://127.0.0.1:3000;\n')
  })

  it('leave out what is not for this service', () => {
    const text = ['a<!-- mcp --> b<!-- /mcp -->', 'c <!-- mcp line -->', '<!-- repository -->', 'd', '<!-- /repository -->', 'e', ''].join(
      '\n',
    )
    expect(chooseParts(text, { baseUrl: '', hasMcp: true })).toBe('a b\nc \n\ne\n')
    expect(chooseParts(text, { baseUrl: '', hasMcp: false })).toBe('a\n\ne\n')
  })

  it('are texts, whatever is written in them', async () => {
    for (const { name } of ALL_DOCUMENTS) {
      const { html } = await readPage(service, `/docs/${name}`)
      expect(html, name).not.toMatch(/<script(?! src="\/static\/)|\sstyle=|\son\w+=|&lt;!--/)
      expect(html, name).not.toMatch(/\]\([^)]*\.md/)
    }
  })

  it('are listed by what their reader wants to do', async () => {
    const { html } = await readPage(service, '/docs')
    expect([...html.matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, heading]) => heading)).toEqual(['Use', 'Share', 'Run', 'Reference'])
    expect(html).not.toContain('OpenAPI (JSON)')
  })

  it('show where they are among all, and lead to the ones before and after', async () => {
    const paths = ALL_DOCUMENTS.map(({ name }) => `/docs/${name}`)
    for (const place of [0, 1, paths.length - 1]) {
      const path = paths[place] ?? ''
      const { html } = await readPage(service, path)
      const index = html.match(/<details class="docs-index">.*?<\/details>/s)?.[0] ?? ''
      expect([...index.matchAll(/href="([^"]+)"/g)].map(([, to]) => to)).toEqual(paths)
      expect([...index.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, to]) => to)).toEqual([path])
      expect([html.match(/<a href="([^"]+)" rel="prev">/)?.[1], html.match(/<a href="([^"]+)" rel="next">/)?.[1]]).toEqual([
        paths[place - 1],
        paths[place + 1],
      ])
    }
    expect((await readPage(service, '/docs/settings')).html).toContain(
      '<td data-label="Default"><code>3000</code></td>\n<td data-label="Meaning">Port to listen on',
    )
    expect((await readPage(service, '/docs/search')).html).toMatch(
      /<h2 id="([^"]+)">([^<]+) <a class="anchor" href="#\1" aria-label="Link to “\2”">#<\/a><\/h2>/,
    )
  })

  it('say nothing of MCP where it is off, and neither does anything else that is served', async () => {
    const writer = await signUp(without, 'Ada')
    const made = await writer.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read', 'write'] })
    const key = /cpb_\w+/.exec(made.html)?.[0] ?? ''
    expect(made.html).not.toMatch(OF_MCP)
    const save = async (kind: string, body: unknown): Promise<string> => {
      const answer = await without.fetch(`/api/${kind}s`, { ...json('POST', body), key })
      const saved = JSON.parse(await answer.text())
      return saved[kind].slug
    }
    const prompt = await save('prompt', { title: 'Letter', content: 'Dear ${name}', tags: ['review'], visibility: 'public' })
    const files = [{ filename: 'SKILL.md', content: '# Tidy' }]
    const skill = await save('skill', { title: 'Tidy', files, visibility: 'public' })
    const collection = await save('collection', { title: 'Set', visibility: 'public' })
    const pages = addressesOfPages({ prompt, skill, collection, user: 'Ada' })
    const others = ['/robots.txt', '/sitemap.xml', '/feed.xml', '/llms.txt', '/favicon.svg', '/prompts?q=nothing', '/nothing']
    const paths = [...pages.map((page) => page.address), ...others, '/api/openapi.json', '/api/nothing', '/api/mcp']
    for (const path of paths) {
      const forBrowsers = await without.fetch(path, HTML)
      const forPrograms = await without.fetch(path)
      for (const answer of [forBrowsers, forPrograms]) {
        const text = (await answer.text()) + JSON.stringify([...answer.headers])
        expect(text, path).not.toMatch(OF_MCP)
      }
      expect((await writer.get(path)).html, path).not.toMatch(OF_MCP)
      const page = pages.find((one) => one.address === path)
      if (page) expect(forBrowsers.status < 400, path).toBe(!page.isOfMcp)
    }
    expect(pages.length).toBeGreaterThan(15)
  })
})
