import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { SKILL_TEMPLATE } from '../../src/web/strings/messages.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, visit } from '../support/visitor.ts'

const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&amp;\${name:<b>}`

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
      `/prompts/${prompt.id}?view=rendered`,
      `/prompts/${prompt.id}/versions`,
      '/@Ada',
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

  it('show literals as they are copied', async () => {
    const { slug } = await save('prompts', { title: 'Literal', content: 'A \\${x} B ${y} C', visibility: 'public' })
    expect((await read(service, `/prompts/${slug}`)).html).toContain('>A ${x} B <mark data-blank="y">${y}</mark> C')
  })

  it('fill in a prompt by submit, in one pass, and say what is still empty', async () => {
    const content = 'Write to ${name} about ${topic:the weather}. ${name}!'
    const { slug } = await save('prompts', { title: 'Letter', content, visibility: 'public' })
    const plain = await read(service, `/prompts/${slug}`)
    expect(plain.html).toContain('<mark data-blank="name">${name}</mark>')
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
    expect(large.html).toContain('The values exceed 2 MiB in total.')
    const foreign = await stranger.post(`/prompts/${slug}/fill`, { 'v.a': 'x' }, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  it('open a prompt elsewhere with its defaults', async () => {
    const content = 'Release ${version:1.0} of ${product}${end:}'
    const { slug } = await save('prompts', { title: 'Release', content, visibility: 'public' })
    const { html } = await read(service, `/prompts/${slug}`)
    expect(html).toContain(`href="https://chatgpt.com/?q=${encodeURIComponent('Release 1.0 of ${product}')}"`)
    expect(html).toContain('<mark data-blank="version">${version:1.0}</mark>')
    const huge = await save('prompts', { title: 'Huge', content: `\${a:${'x'.repeat(50_000)}}${'${a}'.repeat(100)}`, visibility: 'public' })
    const page = await read(service, `/prompts/${huge.slug}`)
    expect([page.status, page.html.includes('href="https://chatgpt.com/"')]).toEqual([200, true])
    // A script that filled it in would be busy for minutes.
    expect(page.html).toContain('&quot;blanks&quot;:[]')
    expect(html).not.toContain('&quot;blanks&quot;:[]')
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

  it('show the passage with a word that stands further on in a text', async () => {
    const content = `${'Some other words here. '.repeat(40)}\nAsk a **taxidermist** about it.`
    await save('prompts', { title: 'Stuffed', content, visibility: 'public' })
    const { html } = await read(service, '/prompts?q=taxidermist+')
    expect(html).toContain('<p class="first-words" dir="auto">… Ask a <mark>taxidermist</mark> about it.</p>')
    // Also when it stands where a row is cut.
    await save('prompts', { title: 'Cut', content: `${'Some other words here. '.repeat(7)}Ask a quokka.`, visibility: 'public' })
    expect((await read(service, '/prompts?q=quokka+')).html).toMatch(/<p class="first-words" dir="auto">… [^<]{1,40}<mark>quokka<\/mark>/)
  })

  it('mark similar hits, and count them apart from matches', async () => {
    const sentence = 'No item matches these words; these are similar.'
    await save('prompts', { title: 'Veterinarian on call', content: 'Sick animals', visibility: 'public' })
    const near = await read(service, '/prompts?q=vet+')
    expect(near.html).toContain('<a href="/prompts/veterinarian-on-call">')
    expect(near.html.match(/<li>similar<\/li>/g)).toHaveLength(1)
    expect(near.html).toContain(sentence)
    await save('prompts', { title: 'Ask a vet', content: 'About dogs', visibility: 'public' })
    const both = await read(service, '/prompts?q=vet+')
    expect(both.html).toContain('Ask a <mark>vet</mark>')
    expect(both.html.match(/<li>similar<\/li>/g)).toHaveLength(1)
    expect(both.html).not.toContain(sentence)
    expect(both.html).toContain('<p class="quiet">1 match, 1 similar</p>')
    for (const path of ['/prompts', '/prompts?q=kaleidoscope', '/prompts?q=xqzwvk'])
      expect((await read(service, path)).html).not.toContain('<li>similar<')
  })

  it('say that there is no such page, and what is wrong with an address, with its status', async () => {
    for (const path of ['/nothing', '/prompts/a/b', '/static/0/site.css']) {
      const { status, html } = await read(service, path)
      expect([status, html.includes('Page not found')], path).toEqual([404, true])
    }
    expect((await service.fetch('/nothing')).headers.get('content-type')).toContain('application/json')
    await service.call((await service.user('Zoe')).actor, 'save_prompt', { title: 'Has an author', content: 'x', visibility: 'public' })
    for (const path of ['/prompts', '/skills', '/@Zoe']) {
      for (const page of ['0', '01', 'two', '']) {
        const bad = await read(service, `${path}?page=${page}`)
        expect([bad.status, bad.html.includes('Page must be at least 1.')], `${path} ${page}`).toEqual([400, true])
      }
      const beyond = await read(service, `${path}?author=Zoe&sort=oldest&page=999`)
      expect([beyond.status, beyond.headers.get('location')], path).toEqual([302, `${path}?author=Zoe&sort=oldest`])
    }
    const wrongMethod = await service.fetch('/prompts', { method: 'POST', headers: { Accept: 'text/html' } })
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'GET'])
    for (const [query, choices] of [
      ['type=NOPE', 'Choose Text, Structured, Image, Video, or Audio.'],
      ['sort=best', 'Choose Best match, Newest, Oldest, or Most voted.'],
    ] as const) {
      const { status, html } = await read(service, `/prompts?${query}`)
      expect([status, html.includes(choices), html.includes('TEXT')], query).toEqual([400, true, false])
    }
  })

  it('lead on from an address that was not found, without telling what is hidden', async () => {
    await save('prompts', { title: 'Walrus grooming handbook', content: 'x', visibility: 'public' })
    await save('prompts', { title: 'Walrus grooming handbook for experts', content: 'x', visibility: 'private' })
    const link = '<a href="/prompts/walrus-grooming-handbook">Walrus grooming handbook</a>'
    for (const path of [
      '/prompts/walrus-groming-handbook',
      '/prompts/walrus-grooming-hand',
      '/skills/walrus-grooming-handbook).',
      '/prompts/WALRUS-grooming-handbok/edit',
    ]) {
      const { status, html } = await read(service, path)
      expect([status, html.includes(link), html.includes('for experts')], path).toEqual([404, true, false])
    }
    for (const path of ['/prompts/zebra', '/prompts/%ff', '/nothing', '/@walrus-grooming-handbook', `/prompts/${'walrus-'.repeat(30)}`]) {
      const { status, html } = await read(service, path)
      expect([status >= 400 && status < 500, html.includes('Did you mean'), html.includes('action="/search"')], path).toEqual([
        true,
        false,
        true,
      ])
      expect(html).toMatch(/Reference: <code data-text="true">[0-9a-f-]{36}<\/code>/)
    }
  })

  it('find prompts and skills together, with how many there are of each', async () => {
    const files = [{ filename: 'SKILL.md', content: '# Ocelot' }]
    for (let n = 0; n < 12; n++) await save('prompts', { title: `Ocelot ${n}`, content: 'x', visibility: 'public' })
    await save('skills', { title: 'Ocelot keeping', files, visibility: 'public' })
    const { html } = await read(service, '/search?q=ocelot')
    expect(html).toContain('<h1 class="list-head">Results for “ocelot”</h1>')
    expect(html).toContain('<a href="/search?q=ocelot" aria-current="page">All')
    expect(html).toContain('<a href="/prompts?q=ocelot">Prompts <span class="count">12</span></a>')
    expect(html).toContain('<a href="/skills?q=ocelot">Skills <span class="count">1</span></a>')
    // One field: that of the header searches the list that is shown, and keeps its filters.
    const list = await read(service, '/prompts?q=ocelot&type=TEXT')
    expect(list.html.match(/<input type="search"/g)).toHaveLength(1)
    expect(list.html).toMatch(/<form class="find" action="\/prompts"[^>]*><input type="search" name="q" value="ocelot"/)
    expect(list.html).toContain('<input type="hidden" name="type" value="TEXT"/>')
    expect(list.html).toContain('<a href="/prompts?q=ocelot" aria-current="page">Prompts')
    expect(html.match(/data-row="prompts"/g)).toHaveLength(10)
    expect(html.match(/data-row="skills"/g)).toHaveLength(1)
    expect(html).toContain('<a href="/prompts?q=ocelot">All 12 prompts</a>')
    expect(html).not.toContain('/skills?q=ocelot">All')
    const nothing = await read(service, '/search?q=%21%21')
    expect([nothing.status, nothing.html.includes('No results found.')]).toEqual([200, true])
    expect((await read(service, '/search')).html).toContain('Keyboard shortcuts')
    expect((await read(service, `/search?q=${'x'.repeat(10_001)}`)).status).toBe(400)
  })

  it('offer filters that find something, with their counts for the result', async () => {
    await save('prompts', {
      title: 'Numbat one',
      content: 'numbat ${a} ${b:c}',
      tags: ['mammal', 'small'],
      category: 'editing',
      visibility: 'public',
    })
    await save('prompts', { title: 'Numbat two', content: 'numbat', tags: ['mammal'], type: 'IMAGE', visibility: 'public' })
    await save('prompts', { title: 'Numbat three', content: 'numbat', tags: ['secret'], type: 'VIDEO', visibility: 'private' })
    const { html } = await read(service, '/prompts?q=numbat+')
    expect(html).toContain('<a href="/prompts?q=numbat+&amp;tag=mammal">mammal <span class="count">2</span></a>')
    expect(html).toContain('<a href="/prompts?q=numbat+&amp;type=IMAGE">Image <span class="count">1</span></a>')
    expect(html).toContain('<a href="/prompts?q=numbat+&amp;category=writing">Writing <span class="count">1</span></a>')
    for (const hidden of ['secret', 'type=VIDEO', 'type=AUDIO', 'category=coding']) expect(html, hidden).not.toContain(hidden)
    // The other filters apply; a chosen one shows what could be chosen instead.
    const image = (await read(service, '/prompts?q=numbat+&type=IMAGE')).html
    expect(image).toContain('tag=mammal">mammal <span class="count">1</span></a>')
    expect(image).toContain('type=TEXT">Text <span class="count">1</span></a>')
    expect(image).toContain('<summary>Filter (1)</summary>')
    expect(image).toContain('<a href="/prompts?q=numbat+">Clear filters</a>')
    expect(image).not.toContain('category=')
    // Of skills, tags that only prompts have lead nowhere (and the other way round).
    expect((await read(service, '/skills')).html).not.toContain('tag=mammal')
    expect(html).toContain('<li>2 blanks</li>')
    expect(html).toMatch(/<time datetime="2026[^"]*" title="Jan 1, 2026, 00:\d\d UTC" data-ago="true">Jan 1, 2026<\/time>/)
    expect(html.match(/<li class="kind">/g)).toHaveLength(1)
  })

  it('of an empty library say what to do next', async () => {
    const empty = await testApp()
    onTestFinished(() => empty.close())
    const stranger = await read(empty, '/prompts')
    expect(stranger.html).toContain('No prompts yet.')
    expect(stranger.html).not.toMatch(/No results|Clear filters/)
    expect(stranger.html).toContain('class="button first" href="/sign-in"')
    // Nobody has an account yet: the setup code comes first.
    for (const path of ['/', '/sign-in']) expect((await read(empty, path)).html).toContain('This library has no administrator yet.')
    const ada = await signUp(empty, 'ada')
    expect((await read(empty, '/sign-in')).html).not.toContain('no administrator')
    expect((await ada.get('/prompts')).html).toContain('<a class="button first" href="/new">')
    expect((await ada.get('/')).html).toContain('<a class="button first" href="/new">')
    expect((await ada.get('/skills')).html).toContain('<a class="button first" href="/new/skill">')
    expect((await ada.get('/prompts?q=x')).html).toContain('No results found.')
  })

  it('have a menu for strangers, members and administrators', async () => {
    const other = await testApp()
    onTestFinished(() => other.close())
    const admin = await signUp(other, 'boss')
    const member = await signUp(other, 'ada')
    const menu = (html: string) =>
      [...(/<header.*<\/header>/.exec(html)?.[0] ?? '').matchAll(/ (?:href|action)="([^"]+)"/g)].map(([, to]) => to)
    const open = ['/', '/search', '/prompts', '/skills', '/collections', '/connect', '/docs']
    const own = [...open, '/library', '/new', '/new/skill', '/import', '/favourites', '/teams', '/settings', '/settings/access']
    expect(menu((await visit(other).get('/')).html)).toEqual([...open, '/sign-in'])
    expect(menu((await member.get('/docs')).html)).toEqual([...own.map((to) => (to === '/search' ? '/docs' : to)), '/sign-out'])
    expect(menu((await admin.get('/nothing')).html)).toEqual([...own, '/admin', '/sign-out'])
    expect((await member.get('/admin')).html).toContain('Only administrators can open this page.')
    expect((await member.post('/sign-out', {})).to).toBe('/?done=signed-out')
  })

  it('keep what was typed beside a preview, also of what cannot be saved yet', async () => {
    const writer = await signUp(service, 'fay')
    const fields = { title: 'Half', description: 'A "draft"', content: 'See **this**, ${name}.', tags: 'a, b', visibility: 'unlisted' }
    const { html } = await writer.postOn('/new', { do: 'preview', ...fields })
    expect(html).toMatch(/<section id="preview">.*See \*\*this\*\*, .*<\/section>/s)
    expect(html).toContain('value="Half"')
    expect(html).toContain('A &quot;draft&quot;')
    expect(html).toMatch(/<textarea[^>]*>\s*See \*\*this\*\*, \$\{name\}\.<\/textarea>/)
    expect(html).toMatch(/value="a, b"/)
    expect(html).toMatch(/value="unlisted"[^>]*(?:checked|selected)/)
    // Without a title, too.
    const untitled = await writer.postOn('/new', { do: 'preview', ...fields, title: '' })
    expect([untitled.status, untitled.html.includes('<section id="preview">')]).toEqual([200, true])
  })

  it('save an edit together with another of other fields, and refuse one of the same', async () => {
    const dora = await signUp(service, 'dorothy')
    const { to } = await dora.post('/new', { title: 'Shared', content: 'one', visibility: 'private' })
    const path = to?.split('?')[0] ?? ''
    const edit = (fields: Record<string, string>) => dora.post(`${path}/edit`, { do: 'save', title: 'Shared', content: 'one', ...fields })
    expect((await edit({ title: 'Of both', baseVersion: '1' })).to).toContain('?done=saved')
    const second = await edit({ content: 'two', baseVersion: '1' })
    expect(second.to).toContain('?done=saved-together')
    const { html } = await dora.get(second.to ?? '')
    expect([html.includes('<h1 dir="auto">Of both</h1>'), html.includes('>two</div>')]).toEqual([true, true])
    expect((await edit({ content: 'three', baseVersion: '1' })).status).toBe(409)
  })

  it('of a prompt that was saved meanwhile is refused', async () => {
    const dora = await signUp(service, 'dora')
    const path = (await dora.post('/new', { do: 'save', title: 'Notes', content: 'One.' })).to?.split('?')[0] ?? ''
    const send = (content: string) => dora.post(`${path}/edit`, { do: 'save', title: 'Notes', content, baseVersion: '1' })
    expect((await send('Two.')).status).toBe(303)
    const refused = await send('Three.')
    expect([refused.status, refused.html]).toEqual([409, expect.stringContaining('value="overwrite"')])
  })

  it('of a skill that was saved meanwhile show what differs, in its files and in its fields', async () => {
    const cora = await signUp(service, 'cora')
    const form = new FormData()
    for (const [name, value] of Object.entries({ do: 'save', title: 'Tidy', skillMd: SKILL_TEMPLATE })) form.set(name, value)
    expect(await cora.send('/new/skill', form)).toMatchObject({ status: 400, html: expect.stringContaining('This is still the example.') })
    for (const [name, value] of Object.entries({ do: 'save', title: 'Tidy', skillMd: '# Tidy\n\nOne.\n' })) form.set(name, value)
    const path = (await cora.send('/new/skill', form)).to?.split('?')[0] ?? ''
    const send = (fields: Record<string, string>) => cora.post(path, { baseVersion: '1', filename: 'SKILL.md', ...fields })
    expect((await send({ do: 'file', content: '# Tidy\n\nTwo.\n' })).status).toBe(303)
    const file = await send({ do: 'file', content: '# Tidy\n\nThree.\n' })
    const lines = '<ol class="old" start="3"><li><del>Two.</del></li></ol><ol class="new" start="3"><li><ins>Three.</ins></li></ol>'
    expect([file.status, file.html]).toEqual([409, expect.stringContaining(lines)])
    expect(file.html).toContain('value="overwrite"')
    const details = await send({ do: 'details', title: 'Tidier', tags: 'a, b' })
    expect(details.status).toBe(409)
    expect(details.html).toContain('<dt>Title</dt><dd><del>Tidy</del><ins>Tidier</ins></dd>')
    expect(details.html).toContain('<dt>Tags</dt><dd><ins>a, b</ins></dd>')
    // The preview is the owner's alone, and the file stays as it is.
    const live = await send({ do: 'live', content: '# Shown <b>soon</b>' })
    expect([live.status, live.html]).toEqual([200, expect.stringContaining('Shown &lt;b&gt;soon&lt;/b&gt;')])
    expect(live.html).not.toContain('<textarea')
    const eve = await signUp(service, 'eve')
    const refused = await eve.post(path, { do: 'live', filename: 'SKILL.md', content: '# Shown' })
    expect([refused.status, refused.html.includes('data-preview')]).toEqual([404, false])
    expect((await cora.get(path)).html).not.toContain('Shown')
  })

  it('are small, ask nobody else for anything, and name their files by what is in them', async () => {
    const { html } = await read(service, '/')
    const files = [...html.matchAll(/(?:href|src)="(\/static\/[^"]+)"/g)].map(([, path]) => path ?? '')
    expect(files.map((path) => path.split('/').at(-1)).toSorted()).toEqual([
      'favicon.svg',
      'find.js',
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
        for (const [, url = ''] of body.toString().matchAll(/url\("(?!data:)([^"]+)"\)/g))
          expect((await service.fetch(url)).status, url).toBe(200)
      }
    }
    expect(bytes).toBeLessThan(30 * 1024)
    const island = await service.fetch(files.find((path) => path.endsWith('/find.js')) ?? '')
    expect(gzipSync(Buffer.from(await island.arrayBuffer())).length).toBeLessThanOrEqual(6 * 1024)
    for (const [, url = ''] of html.matchAll(/(?:src|href)="(https?:[^"]+)"/g)) expect(new URL(url).host).toBe('127.0.0.1:3000')
  })
})
