import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, type TestApp, testApp } from './support/test-app.ts'
import { signUp, visit } from './support/visitor.ts'

const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;\${name:<b>}`
const STATES = ['public', 'unlisted', 'private', 'deleted'] as const

/** The page at a path, as a browser without a script asks for it. */
async function read(service: TestApp, path: string): Promise<{ status: number; html: string; headers: Headers }> {
  const answer = await service.fetch(path, { headers: { Accept: 'text/html,application/xhtml+xml' } })
  return { status: answer.status, html: await answer.text(), headers: answer.headers }
}

describe('pages', () => {
  let service: TestApp
  let key = ''
  const save = async (kind: 'prompts' | 'skills', body: Record<string, unknown>): Promise<{ id: string; slug: string }> => {
    const answer = await service.fetch(`/api/${kind}`, { ...json('POST', body), key })
    expect(answer.status).toBe(201)
    const saved = (await answer.json()) as Record<'prompt' | 'skill', { id: string; slug: string }>
    return saved[kind === 'prompts' ? 'prompt' : 'skill']
  }
  beforeAll(async () => {
    service = await testApp()
    key = (await service.user('Ada')).key
  })
  afterAll(() => service.close())

  it('are given to browsers, and the description of the service to programs', async () => {
    const { status, html, headers } = await read(service, '/')
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).toMatch(/^<!doctype html><html lang="en">/)
    const program = await service.fetch('/')
    expect(program.headers.get('content-type')).toContain('application/json')
    // A cache between must keep the two apart.
    for (const answer of [headers, program.headers, (await service.fetch('/nothing')).headers])
      expect(answer.get('vary')).toContain('Accept')
    expect(await program.json()).toMatchObject({ openapi: expect.stringContaining('/api/openapi.json') })
  })

  it('show what is public by id and slug, what is unlisted by id, and nothing else, as if it were not there', async () => {
    const missing = (await read(service, '/prompts/no-such-prompt')).html.replace(/<p class="quiet">[^<]*<\/p>/, '')
    for (const kind of ['prompts', 'skills'] as const) {
      for (const state of STATES) {
        const marker = `marker${kind}${state}`
        const content = kind === 'prompts' ? { content: marker } : { files: [{ filename: 'SKILL.md', content: `# ${marker}` }] }
        const visibility = state === 'deleted' ? 'public' : state
        const { id, slug } = await save(kind, { title: marker, visibility, ...content })
        if (state === 'deleted') expect((await service.fetch(`/api/${kind}/${id}`, { method: 'DELETE', key })).status).toBe(200)
        for (const [ref, isShown] of [
          [id, state === 'public' || state === 'unlisted'],
          [slug, state === 'public'],
        ] as const) {
          const { status, html } = await read(service, `/${kind}/${ref}`)
          expect([status, html.includes(marker)], `${kind} ${state} ${ref}`).toEqual(isShown ? [200, true] : [404, false])
          if (!isShown) expect(html.replace(/<p class="quiet">[^<]*<\/p>/, '')).toBe(missing)
          if (isShown && state === 'unlisted') expect(html).toContain('<meta name="robots" content="noindex"/>')
        }
        for (const path of ['/', `/${kind}`, `/${kind}?q=${marker}`, `/${kind}?author=Ada`]) {
          const { html } = await read(service, path)
          expect(html.includes(`>${marker}<`) || html.includes(`/${kind}/${slug}`), `${kind} ${state} in ${path}`).toBe(state === 'public')
        }
      }
    }
  })

  it('let no text out of its place', async () => {
    const prompt = await save('prompts', {
      title: HOSTILE,
      description: HOSTILE,
      content: HOSTILE,
      tags: ['<i>tag</i>'],
      visibility: 'public',
    })
    const files = [
      { filename: 'SKILL.md', content: HOSTILE },
      { filename: '<img onerror=x>.md', content: HOSTILE },
    ]
    const skill = await save('skills', { title: HOSTILE, description: HOSTILE, files, visibility: 'public' })
    const query = encodeURIComponent(HOSTILE)
    for (const path of [
      '/',
      `/prompts?q=${query}`,
      `/prompts?tag=${query}&author=${query}`,
      `/skills?q=${query}`,
      `/prompts/${prompt.id}`,
      `/skills/${skill.id}`,
      `/skills/${skill.id}?file=${query}`,
      `/${query}`,
      `/prompts/${prompt.id}/fill`,
    ]) {
      const { html, headers } = path.endsWith('/fill') ? await visit(service).post(path, { 'v.name': HOSTILE }) : await read(service, path)
      for (const [tag] of html.matchAll(/<[a-zA-Z][^>]*>/g)) {
        expect(tag.replaceAll(/"[^"]*"/g, ''), path).not.toMatch(/^<script>|^<img|^<b>|^<i>|\son\w+|\sstyle|'/)
      }
      // One script, from here; nothing of it in the page.
      expect(html.match(/<script[^>]*>[^<]/g), path).toBeNull()
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy, path).toContain("script-src 'self'")
      expect(policy, path).toContain("frame-ancestors 'none'")
      expect(policy, path).not.toContain('unsafe')
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
    }
  })

  it('fill in a prompt by submit, in one pass, and say what is still empty', async () => {
    const content = 'Write to ${name} about ${topic:the weather}. ${name}!'
    const { slug } = await save('prompts', { title: 'Letter', content, visibility: 'public' })
    const plain = await read(service, `/prompts/${slug}`)
    expect(plain.html).toContain('<mark>${name}</mark>')
    expect(plain.html).toContain('name="v.name"')
    expect(plain.html).toContain('placeholder="the weather"')
    const stranger = visit(service)
    const filled = await stranger.post(`/prompts/${slug}/fill`, { 'v.name': '$& ${topic}', 'v.topic': '' })
    expect(filled.html).toContain('Write to $&amp; ${topic} about the weather. $&amp; ${topic}!')
    expect(filled.html).toContain('<meta name="robots" content="noindex"/>')
    const empty = await stranger.post(`/prompts/${slug}/fill`, { 'v.name': '' })
    expect(empty.html).toContain('Write to ${name} about the weather. ${name}!')
    expect(empty.html).toContain('Missing values: name.')
    // Values come in the body alone.
    expect((await read(service, `/prompts/${slug}?v.name=Bo&fill=1`)).html).not.toContain('Bo')
  })

  it('fill in long values of many lines, and say when they are too long', async () => {
    const { slug } = await save('prompts', { title: 'Notes', content: 'A: ${a}\nB: ${b}\nEnd', visibility: 'public' })
    const stranger = visit(service)
    const a = `first\nsecond ${'x'.repeat(9_000)}`
    const b = 'ü'.repeat(9_999)
    const filled = await stranger.post(`/prompts/${slug}/fill`, { 'v.a': a.replaceAll('\n', '\r\n'), 'v.b': b })
    expect([filled.status, filled.html.includes(`A: ${a}\nB: ${b}\nEnd`)]).toEqual([200, true])
    // The values stay in their fields.
    expect(filled.html).toContain(`\n${a}</textarea>`)
    const refused = await stranger.post(`/prompts/${slug}/fill`, { 'v.a': 'Kept', 'v.b': 'x'.repeat(10_001) })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('variables.b has 10001 characters; the limit is 10000.')
    expect(refused.html).toContain('\nKept</textarea>')
    const large = await stranger.post(`/prompts/${slug}/fill`, { 'v.a': 'x'.repeat(4 * 1024 * 1024) })
    expect([large.status, large.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8'])
    expect(large.html).toContain('The values exceed 4 MiB in total.')
    const foreign = await stranger.post(`/prompts/${slug}/fill`, { 'v.a': 'x' }, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  it('open a prompt elsewhere with its defaults', async () => {
    const content = 'Release ${version:1.0} of ${product}${end:}'
    const { slug } = await save('prompts', { title: 'Release', content, visibility: 'public' })
    const { html } = await read(service, `/prompts/${slug}`)
    expect(html).toContain(`href="https://chatgpt.com/?q=${encodeURIComponent('Release 1.0 of ${product}')}"`)
    expect(html).toContain('<mark>${version:1.0}</mark>')
    const huge = await save('prompts', { title: 'Huge', content: `\${a:${'x'.repeat(50_000)}}${'${a}'.repeat(100)}`, visibility: 'public' })
    const page = await read(service, `/prompts/${huge.slug}`)
    expect([page.status, page.html.includes('data-open-in'), page.html.includes('data-names')]).toEqual([200, false, false])
  })

  it('offer a mistyped query put right, mark what was found, and keep filters in plain links', async () => {
    await save('prompts', { title: 'Kaleidoscope maker', content: 'Builds kaleidoscopes', visibility: 'public', category: 'coding' })
    const { html } = await read(service, '/prompts?q=kaleidoscpoe+&category=coding')
    expect(html).toContain('<a href="/prompts?q=kaleidoscope+&amp;category=coding">')
    expect(html).toContain('Kaleidoscope')
    expect(html).toContain('<mark>Kaleidoscope</mark> maker')
    expect(html).toContain('Builds <mark>kaleidoscopes</mark>')
    await save('skills', {
      title: 'Debugging javascript',
      files: [{ filename: 'SKILL.md', content: '# Debug' }],
      visibility: 'public',
    })
    expect((await read(service, '/skills?q=javscript')).html).toContain('Debugging <mark>javascript</mark>')
    const found = await read(service, '/prompts?q=kaleidoscope')
    expect(found.html).toContain('<mark>Kaleidoscope</mark> maker')
    expect(found.html).toContain('href="/prompts?q=kaleidoscope&amp;sort=newest"')
  })

  it('mark hits that are near in meaning alone, and say so when there are no others', async () => {
    const sentence = 'No item holds these words; these are near in meaning.'
    await save('prompts', { title: 'Veterinarian on call', content: 'Sick animals', visibility: 'public' })
    const near = await read(service, '/prompts?q=vet+')
    expect(near.html).toContain('<a href="/prompts/veterinarian-on-call">')
    expect(near.html.match(/<li>near in meaning<\/li>/g)).toHaveLength(1)
    expect(near.html).toContain(sentence)
    await save('prompts', { title: 'Ask a vet', content: 'About dogs', visibility: 'public' })
    const both = await read(service, '/prompts?q=vet+')
    expect(both.html).toContain('Ask a <mark>vet</mark>')
    expect(both.html.match(/<li>near in meaning<\/li>/g)).toHaveLength(1)
    expect(both.html).not.toContain(sentence)
    for (const path of ['/prompts', '/prompts?q=kaleidoscope', '/prompts?q=xqzwvk'])
      expect((await read(service, path)).html).not.toContain('near in meaning')
  })

  it('say that there is no such page, and what is wrong with an address, with its status', async () => {
    for (const path of ['/nothing', '/prompts/a/b', '/static/0/site.css']) {
      const { status, html } = await read(service, path)
      expect([status, html.includes('Page not found')], path).toEqual([404, true])
    }
    expect((await service.fetch('/nothing')).headers.get('content-type')).toContain('application/json')
    await save('prompts', { title: 'Has an author', content: 'x', visibility: 'public' })
    for (const path of ['/prompts', '/skills', '/users/Ada']) {
      for (const page of ['0', '-1', '01', '1.5', '1e0', '0x1', '%202', 'two', '']) {
        const bad = await read(service, `${path}?page=${page}`)
        expect([bad.status, bad.html.includes('page must be at least 1')], `${path} ${page}`).toEqual([400, true])
      }
      const beyond = await read(service, `${path}?page=1000001`)
      expect([beyond.status, beyond.html.includes('page must be at most 1000000')], path).toEqual([400, true])
    }
    const wrongMethod = await service.fetch('/prompts', { method: 'POST', headers: { Accept: 'text/html' } })
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await read(service, '/prompts?type=NOPE')).status).toBe(400)
  })

  it('of a skill that was saved meanwhile show what differs, in its files and in its fields', async () => {
    const cora = await signUp(service, 'cora')
    const form = new FormData()
    for (const [name, value] of Object.entries({ do: 'save', title: 'Tidy', skillMd: '# Tidy\n\nOne.\n' })) form.set(name, value)
    const path = (await cora.send('/new/skill', form)).to?.split('?')[0] ?? ''
    const send = (fields: Record<string, string>) => cora.post(path, { baseVersion: '1', filename: 'SKILL.md', ...fields })
    expect((await send({ do: 'file', content: '# Tidy\n\nTwo.\n' })).status).toBe(303)
    const file = await send({ do: 'file', content: '# Tidy\n\nThree.\n' })
    expect([file.status, file.html]).toEqual([409, expect.stringContaining('<del>- Two.\n</del><ins>+ Three.\n</ins>')])
    expect(file.html).toContain('value="overwrite"')
    const details = await send({ do: 'details', title: 'Tidier', tags: 'a, b' })
    expect(details.status).toBe(409)
    expect(details.html).toContain('<dt>Title</dt><dd><del>Tidy</del><ins>Tidier</ins></dd>')
    expect(details.html).toContain('<dt>Tags</dt><dd><ins>a, b</ins></dd>')
  })

  it('are small, ask nobody else for anything, and name their files by what is in them', async () => {
    const { html } = await read(service, '/')
    const files = [...html.matchAll(/(?:href|src)="(\/static\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(files.map((path) => path.split('/').at(-1)).toSorted()).toEqual([
      'favicon.svg',
      'literata-latin-wght-normal.woff2',
      'site.css',
      'site.js',
    ])
    let bytes = gzipSync(html).length
    for (const path of files) {
      const file = await service.fetch(path)
      expect([file.status, file.headers.get('cache-control')], path).toEqual([200, 'public, max-age=31536000, immutable'])
      const body = Buffer.from(await file.arrayBuffer())
      if (!path.endsWith('.woff2')) bytes += gzipSync(body).length
      if (path.endsWith('.css')) {
        for (const [, url = ''] of body.toString().matchAll(/url\("([^"]+)"\)/g)) expect((await service.fetch(url)).status, url).toBe(200)
      }
    }
    expect(bytes).toBeLessThan(30 * 1024)
    for (const [, url = ''] of html.matchAll(/(?:src|href)="(https?:[^"]+)"/g)) expect(new URL(url).host).toBe('127.0.0.1:3000')
  })

  it('do not speak of MCP where it is off', async () => {
    const without = await testApp({ MCP_ENABLED: false })
    try {
      for (const path of ['/', '/prompts', '/skills', '/nothing']) {
        const { html } = await read(without, path)
        expect(html.toLowerCase(), path).not.toMatch(/mcp|\/docs\/connect/)
      }
      expect((await read(without, '/docs/connect')).status).toBe(404)
      expect((await read(service, '/docs/connect')).html).toContain('http://127.0.0.1:3000/api/mcp')
    } finally {
      await without.close()
    }
  })
})
