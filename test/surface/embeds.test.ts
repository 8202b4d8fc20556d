import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EMBED_EXAMPLES, MAX_EMBED_QUERY } from '../../src/domain/embed/config.ts'
import { writeEmbedQuery } from '../../src/web/embed/addresses.ts'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

/** Largest embed, with its sheet and its script, compressed. */
const MAX_BYTES = 15 * 1024
const ATTACK = `</style></title></textarea>--><script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;`

describe('/embed', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await testApp()
  })
  afterAll(() => service.close())

  const read = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await service.fetch(path, { headers: { accept: 'text/html', ...headers } })
    return { status: answer.status, headers: answer.headers, html: await answer.text() }
  }
  const TAGS =
    /<\/?(?:html|head|meta|title|link|style|body|main|h1|h2|header|footer|section|div|p|pre|code|span|a|b|i|ul|li|mark|button|ins|del|svg|path|bdi)(?: (?:lang|charset|name|content|rel|href|target|class|id|tabindex|role|aria-label|aria-labelledby|aria-hidden|data-controls|data-embed|data-name|data-copy|type|viewBox|d|hidden)="[^"<>]*")*\/?>/g
  /** Every sign of markup is of an element and an attribute that we wrote. */
  const expectSafe = (html: string, label: string) => {
    const rest = html
      .replace('<!doctype html>', '')
      .replace(/<script src="\/static\/\w+\/embed\.js" type="module"><\/script>/, '')
      .replace(/<!-- [\w #:;,()-]+ -->/, '')
      .replaceAll(TAGS, '')
    expect(rest, label).not.toMatch(/[<>]/)
    for (const [, href] of html.matchAll(/<a href="([^"]*)"/g)) expect(href, label).toMatch(/^https?:\/\//)
    expect(html.match(/<style>/g), label).toHaveLength(1)
  }

  it('shows every field', async () => {
    const { html, status } = await read(
      `/embed?${writeEmbedQuery({
        prompt: 'Read @src/a.ts\nas ${reader:a guest}',
        context: '@src/a.ts, #b.png, https://example.org/c, docs/',
        model: 'A Model',
        mode: 'plan',
        thinking: true,
        reasoning: true,
        planning: true,
        fast: true,
        filetree: 'z.md\nsrc/a.ts',
        showFiletree: true,
        showDiff: true,
        diffFilename: 'src/a.ts',
        diffOldText: 'one\ntwo',
        diffNewText: 'one\n2',
        flashButton: 'accept',
        lightColor: '#112233',
        darkColor: '#ddeeff',
        themeMode: 'dark',
        mcpTools: 'github:create_issue',
        showMcpTools: true,
      })}`,
    )
    expect(status).toBe(200)
    expect(html).toContain('Read <mark class="mention">@src/a.ts</mark>\nas <mark class="variable given" data-name="reader">a guest</mark>')
    expect(html).toMatch(/<button type="button" class="button" data-copy="Copied" hidden="">Copy<\/button>/)
    expect(html).toContain('<a href="https://example.org/c" target="_blank" rel="nofollow noopener">')
    for (const text of ['A Model', '<b>Plan</b>', 'Thinking', 'Reasoning', 'Planning', 'Fast', '<b>github</b>:create_issue']) {
      expect(html).toContain(text)
    }
    expect(html.indexOf('>src<')).toBeLessThan(html.indexOf('>z.md<'))
    expect(html).toContain('<del><i>2</i>- two</del><ins><i>2</i>+ 2</ins>')
    expect(html).toContain('<span class="button accept flash">Accept</span>')
    expect(html).toContain('color-scheme:dark')
    expect(html).toContain('--accent:light-dark(#112233,#ddeeff)')
  })

  it('counts no lines where there is nothing to compare, and copies no part of a prompt', async () => {
    expect((await read('/embed?prompt=x&showDiff=true')).html).not.toContain('class="counts"')
    expect((await read('/embed?prompt=x&showDiff=true&diffNewText=y')).html).toContain('>+1</ins>')
    const { actor } = await service.user('cut')
    const long = { title: 'Long', content: 'long '.repeat(3_000), visibility: 'public' }
    const { id } = Object(Object(await service.call(actor, 'save_prompt', long))['prompt'])
    expect([(await read(`/embed/${id}`)).html.includes('data-copy'), (await read('/embed')).html.includes('data-copy')]).toEqual([
      false,
      false,
    ])
  })

  it('may be framed, is in no index, reads no cookie, and loads two files of ours', async () => {
    const signedIn = await signUp(service, 'ada')
    const { headers, html } = await read('/embed?prompt=x', { cookie: `${signedIn.cookies()}; theme=dark` })
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'self' 'sha256-[\w+/]{43}='; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self' \* file:$/,
    )
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
    expect(html).toContain('<meta name="robots" content="noindex, nofollow"')
    expect([headers.get('set-cookie'), headers.get('x-frame-options')]).toEqual([null, null])
    expect(headers.get('vary')).not.toContain('Cookie')
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(html).not.toContain('ada')
    expect(html).toBe((await read('/embed?prompt=x')).html)
    // Everything else stays where nobody may frame it.
    expect((await read('/prompts')).headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect((await read(`/embed?prompt=x`, { 'if-none-match': headers.get('etag') ?? '' })).status).toBe(304)
    const strict = await testApp({ EMBED_FRAME_ANCESTORS: 'https://blog.example.org' })
    const framed = (await strict.fetch('/embed?prompt=x')).headers.get('content-security-policy')
    expect(framed).toContain("frame-ancestors 'self' https://blog.example.org")
    await strict.close()
  })

  it('is small: every example, and the largest address of any kind', async () => {
    const files = await Promise.all(
      ['embed.css', 'embed.js'].map(async (name) => {
        const { html } = await read('/embed')
        return Buffer.from(await (await service.fetch(new RegExp(`/static/\\w+/${name}`).exec(html)?.[0] ?? '')).arrayBuffer())
      }),
    )
    const shared = files.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0)
    const sizes: Record<string, number> = {}
    for (const { value, config } of EMBED_EXAMPLES) {
      sizes[value] = shared + gzipSync((await read(`/embed?${writeEmbedQuery(config)}`)).html).length
    }
    const repeat = (part: string) => part.repeat(Math.floor((MAX_EMBED_QUERY - 200) / encodeURIComponent(part).length)).slice(0, 9_000)
    const noise = Array.from({ length: 7_500 }, (_, index) => ((index * 7919) ** 2 % 36).toString(36)).join('')
    for (const [field, text] of [
      ['prompt', noise],
      ['prompt', repeat('@a ')],
      ['prompt', repeat('${a}')],
      ['context', repeat('@a.b,').slice(0, 4000)],
      ['filetree', repeat('a/b\n')],
      ['filetree', 'a/'.repeat(2000)],
      ['diffNewText', repeat('x\n')],
      ['mcpTools', repeat('a:b\n').slice(0, 4000)],
    ] as const) {
      const query = new URLSearchParams({ [field]: text, showFiletree: 'true', showDiff: 'true', showMcpTools: 'true' })
      const { html, status } = await read(`/embed?${query}`)
      expect(status).toBe(200)
      sizes[`${field} ${text.slice(0, 8)}`] = shared + gzipSync(html).length
    }
    expect(Math.max(...Object.values(sizes)), JSON.stringify(sizes)).toBeLessThan(MAX_BYTES)
    expect(gzipSync(files[1] ?? '').length).toBeLessThan(1024)
    expect(files[1]?.length).toBeLessThan(1536)
  })

  it('takes addresses up to 8 KB, and says where longer ones go', async () => {
    const { status, html, headers } = await read(`/embed?prompt=${'x'.repeat(MAX_EMBED_QUERY)}`)
    expect([status, html]).toEqual([413, expect.stringContaining('too long for an embed')])
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self' *")
    expect((await read(`/embed?prompt=${'x'.repeat(MAX_EMBED_QUERY - 7)}`)).status).toBe(200)
  })

  it('escapes whatever stands in any field', async () => {
    const fields = 'prompt context model mode filetree diffFilename diffOldText diffNewText mcpTools lightColor themeMode'.split(' ')
    const on = { showFiletree: 'true', showDiff: 'true', showMcpTools: 'true' }
    const { html, status } = await read(
      `/embed?${new URLSearchParams({ ...Object.fromEntries(fields.map((field) => [field, ATTACK])), ...on })}`,
    )
    expect(status).toBe(200)
    expectSafe(html, 'all fields')
    const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
    for (const name of names) {
      const one = await read(
        `/embed?mode=${name}&model=${name}&themeMode=${name}&${name}=x&context=${name}&filetree=${name}/${name}&showFiletree=true`,
      )
      expect(one.status).toBe(200)
      expect(one.html).toContain(`<b>${name}</b>`)
    }
  })

  it('answers any query with a page or a plain refusal', async () => {
    const more = ['mcpTools', 'showMcpTools', 'showDiff', 'diffNewText', 'flashButton', '__proto__']
    const fields = [...Object.keys(EMBED_EXAMPLES[0]?.config ?? {}), ...more]
    const piece = fc.oneof(
      fc.constantFrom('true', ATTACK, '%zz', '%ff%fe', '%00', '+', '=', '&', '#112233', '${', '@{', '\n', '../', '\ud800', '-->', ']]>'),
      fc.string({ unit: 'binary' }),
    )
    const parameter = fc
      .tuple(fc.constantFrom(...fields), fc.array(piece, { maxLength: 6 }), fc.boolean())
      .map(([field, pieces, isEncoded]) => {
        const text = pieces.join('').toWellFormed()
        return `${field}=${isEncoded ? encodeURIComponent(text) : text.replaceAll('#', '%23')}`
      })
    const query = fc.array(parameter, { maxLength: 12 }).map((parts) => [...parts, 'showFiletree=true', 'showDiff=true'].join('&'))
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const { status, html } = await read(`/embed?${text}`)
        expect([200, 413]).toContain(status)
        expectSafe(html, text)
      }),
    )
  })
})

describe('/embed/{ref}', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await testApp()
  })
  afterAll(() => service.close())

  it('follows edits, and takes the rest of what it shows from the address', async () => {
    const { actor } = await service.user('bob')
    const { id } = Object(
      (await service.call(actor, 'save_prompt', { title: 'Mine', content: 'One text', visibility: 'public' }))['prompt'],
    )
    const path = `/embed/${id}?model=A+Model&mode=plan&prompt=Not+this&themeMode=dark`
    const first = await service.fetch(path)
    const html = await first.text()
    for (const text of ['One text', 'A Model', '<b>Plan</b>', 'by bob', 'color-scheme:dark']) expect(html).toContain(text)
    expect(html).not.toContain('Not this')
    await service.call(actor, 'update_prompt', { id, content: 'Another text' })
    const again = await service.fetch(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
    expect([again.status, (await again.text()).includes('Another text')]).toEqual([200, true])
    await service.call(actor, 'update_prompt', { id, content: `${'long '.repeat(4000)}` })
    expect(await (await service.fetch(path)).text()).toContain('Read the full prompt')
  })
})

describe('examples over REST', () => {
  it('are a bare array, whole or of one category', async () => {
    const service = await testApp()
    expect(await readJson(await service.fetch('/api/embed/examples'))).toEqual(EMBED_EXAMPLES)
    const some = await readJson(await service.fetch('/api/embed/examples?category=quick+actions'))
    expect(some.map(({ category }: { category: string }) => category)).toEqual(['quick actions', 'quick actions', 'quick actions'])
    expect(await readJson(await service.fetch('/api/embed/examples?category=nothing'))).toEqual([])
    await service.close()
    const without = await testApp({ MCP_ENABLED: false })
    expect(await (await without.fetch('/api/embed/examples')).text()).not.toMatch(/mcp/i)
    // What an address gives is shown all the same.
    expect(await (await without.fetch('/embed?mcpTools=a:b&showMcpTools=true')).text()).toContain('<b>a</b>:b')
    await without.close()
  })
})
