import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { finish } from '../../src/domain/service/running-work.ts'
import { readSkillArchiveInSteps } from '../../src/domain/skills/skill-archive.ts'
import { stopHighlighting } from '../../src/web/markup/highlight.ts'
import { json, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

type Saved = { readonly id: string; readonly slug: string }

describe('pages to read', () => {
  let service: TestApp
  let key = ''
  const send = async (path: string, options: RequestInit, status = 200): Promise<unknown> => {
    const answer = await service.fetch(path, { ...options, key })
    expect(answer.status, path).toBe(status)
    return answer.json()
  }
  const save = async (kind: 'prompts' | 'skills', body: Record<string, unknown>): Promise<Saved> => {
    const saved = (await send(`/api/${kind}`, json('POST', body), 201)) as Record<string, Saved>
    const item = saved[kind.slice(0, -1)]
    if (!item) throw new Error('nothing was saved')
    return item
  }
  const read = async (path: string) => {
    const answer = await service.fetch(path, { headers: { Accept: 'text/html,application/xhtml+xml' } })
    return { status: answer.status, html: await answer.text(), headers: answer.headers }
  }

  beforeAll(async () => {
    service = await testApp()
    key = (await service.user('Ada')).key
  })
  afterAll(async () => {
    stopHighlighting()
    await service.close()
  })

  it('show others only versions that were public', async () => {
    const { id, slug } = await save('prompts', { title: 'Twice', content: 'secretword here', visibility: 'private' })
    await send(`/api/prompts/${id}`, json('PATCH', { content: 'open word here', visibility: 'public', note: 'opened' }))
    await send(`/api/prompts/${id}`, json('PATCH', { content: 'open words here', note: 'more' }))
    const list = await read(`/prompts/${slug.length > 0 ? id : slug}/versions`)
    expect(list.html).toContain('/versions/2"')
    expect(list.html).not.toContain('/versions/1"')
    expect((await read(`/prompts/${id}/versions/1`)).status).toBe(404)
    expect((await read(`/prompts/${id}/versions/3?against=1`)).status).toBe(404)
    const second = await read(`/prompts/${id}/versions/2`)
    expect([second.status, second.html.includes('secretword')]).toEqual([200, false])
    // There is nothing that it is compared with.
    expect(second.html).not.toContain('Changes since version')
  })

  it('show what changed between versions, by words', async () => {
    const { id } = await save('prompts', { title: 'Old title', content: 'one two three', visibility: 'public' })
    await send(`/api/prompts/${id}`, json('PATCH', { title: 'New title', content: 'one 2 three', note: 'digits <b>' }))
    await send(`/api/prompts/${id}`, json('PATCH', { content: 'one 2 3' }))
    const second = await read(`/prompts/${id}/versions/2`)
    expect(second.html).toContain('one <del>two</del><ins>2</ins> three')
    expect(second.html).toContain('<del>Old</del><ins>New</ins> title')
    expect(second.html).toContain('digits &lt;b&gt;')
    expect(second.html).toContain('<meta name="robots" content="noindex"/>')
    const third = await read(`/prompts/${id}/versions/3?against=1`)
    expect(third.html).toContain('<del>two three</del><ins>2 3</ins>')
    const plain = await read(`/prompts/${id}/versions/3?view=text`)
    expect(plain.html).toContain('>one 2 3</div>')
    expect(plain.html).not.toMatch(/<ins>|<del>/)
    const lines = await read(`/prompts/${id}/versions/3?against=1&view=lines`)
    expect(lines.html).toContain('<li><del>one two three</del></li>')
    expect(lines.html).toContain('<li><ins>one 2 3</ins></li>')
    for (const path of ['versions/9', 'versions/x', 'versions/2?against=x', 'versions?before=x', 'versions?from=1&to=x'])
      expect((await read(`/prompts/${id}/${path}`)).status, path).toBe(404)
    // Nobody is offered what they may not do.
    expect(second.html).not.toContain('method="post" action="/prompts')
    const page = await read(`/prompts/${id}`)
    expect(page.html).toMatch(/href="\/prompts\/new-title[^"]*\/versions\/3"|href="\/prompts\/old-title[^"]*\/versions\/3"/)
  })

  it('offer any two versions to compare, and each older one with the newest', async () => {
    const { id } = await save('prompts', { title: 'Chosen', content: 'one', visibility: 'public' })
    for (const content of ['two', 'three']) await send(`/api/prompts/${id}`, json('PATCH', { content }))
    const { html } = await read(`/prompts/${id}/versions`)
    const path = html.match(/action="(\/prompts\/[^"]+\/versions)"/)?.[1]
    const options = (name: string) => {
      const list = html.match(new RegExp(`<select id="compare-${name}" name="${name}">(.*?)</select>`))?.[1] ?? ''
      return [...list.matchAll(/<option value="(\d+)"( selected="")?>/g)].map(([, value, chosen]) => `${value}${chosen ? '!' : ''}`)
    }
    expect([options('from'), options('to')]).toEqual([
      ['3', '2!', '1'],
      ['3!', '2', '1'],
    ])
    // With the time of day, without a script too.
    expect(html).toMatch(/<option value="1">Version 1 · \w+ \d+, \d{4}, \d\d:\d\d UTC<\/option>/)
    expect(html).toMatch(/data-ago="exact">\w+ \d+, \d{4}, \d\d:\d\d UTC<\/time>/)
    expect([...html.matchAll(/\/versions\/3\?against=(\d+)"/g)].map(([, older]) => older)).toEqual(['2', '1'])
    // Whichever is chosen first, the older one is the one before.
    for (const [from, to] of [
      [1, 3],
      [3, 1],
    ]) {
      const answer = await service.fetch(`${path}?from=${from}&to=${to}`, { headers: { Accept: 'text/html' }, redirect: 'manual' })
      expect([answer.status, answer.headers.get('location')]).toEqual([302, `${path}/3?against=1`])
    }
    const first = await read(`/prompts/${id}/versions/1`)
    expect(first.html).toContain(`href="${path}/3?against=1"`)
    expect(first.html).toContain('<select id="compare-to"')
  })

  it('show what changed in the files of a skill, line by line', async () => {
    const { id } = await save('skills', {
      title: 'Filed',
      visibility: 'public',
      files: [
        { filename: 'SKILL.md', content: 'a\nb\nc\n' },
        { filename: 'gone.txt', content: 'bye\n' },
        { filename: 'same.txt', content: 'same\n' },
      ],
    })
    await send(`/api/skills/${id}/files/SKILL.md`, json('PUT', { content: 'a\nB<i>\nc\n' }))
    await send(`/api/skills/${id}/files/gone.txt`, { method: 'DELETE' })
    const binary = { filename: 'bin', content: '/wE=', encoding: 'base64' }
    await send(`/api/skills/${id}/files`, json('POST', binary), 201)
    const { html } = await read(`/skills/${id}/versions/4?against=1`)
    expect(html).toContain(
      '<ol class="old" start="2"><li><del>b</del></li></ol><ol class="new" start="2"><li><ins>B&lt;i&gt;</ins></li></ol>',
    )
    expect(html).toContain('<ol class="old" start="1"><li><del>bye</del></li></ol>')
    expect(html).toContain('Binary file changed.')
    expect(html).toContain('1 file unchanged.')
    const one = await read(`/skills/${id}/versions/4?against=1&file=gone.txt`)
    expect([one.html.includes('<del>bye</del>'), one.html.includes('B&lt;i&gt;')]).toEqual([true, false])
  })

  it('render a prompt as Markdown with its blanks marked, and keep the text to copy', async () => {
    const content = '# Head\n\n**Write** to ${name} at <home>.\n\n```js\nconst a = 1\n```\n'
    const { slug } = await save('prompts', { title: 'Marked', content, visibility: 'public' })
    const raw = await read(`/prompts/${slug}?view=raw`)
    expect(raw.html).toContain('# Head\n\n**Write** to <mark data-blank="name">${name}</mark>')
    // Markdown is rendered unless its source is asked for.
    const { html } = await read(`/prompts/${slug}`)
    expect(html).toContain('<h2 id="text-head">Head</h2>')
    expect(html).toContain('<strong>Write</strong> to <mark data-blank="name">${name}</mark> at &lt;home&gt;.')
    expect(html).toContain('<span class="t-keyword">const</span>')
    expect(html).toMatch(/<div class="text" dir="auto" hidden="" data-text[^>]*># Head/)
    expect(html.match(/<h1/g)).toHaveLength(1)
    const filled = await visit(service).post(`/prompts/${slug}/fill`, { view: 'rendered', 'v.name': '**Bo**' })
    expect(filled.html).toContain('to <strong>Bo</strong> at')
    const long = await save('prompts', { title: 'Long', content: '# x '.repeat(40_000), visibility: 'public' })
    expect((await read(`/prompts/${long.slug}?view=rendered`)).html).not.toContain('<h2 id=')
  })

  it('show a skill with its tree, its frontmatter as a table, links between its files and its code in colours', async () => {
    const { id, slug } = await save('skills', {
      title: 'Treed',
      visibility: 'public',
      files: [
        {
          filename: 'SKILL.md',
          content:
            '---\nname: treed\nlicense: MIT <b>\nmeta:\n  a: 1\n---\n# Tree\n\n[guide](docs/guide.md) [none](docs/none.md) ![Map](docs/map.png)\n',
        },
        { filename: 'docs/guide.md', content: '[up](../SKILL.md)' },
        { filename: 'docs/map.png', content: 'iVBORw0KGgo=', encoding: 'base64' },
        ...['10', '2', '1'].map((name) => ({ filename: `a/deep/${name}.txt`, content: name })),
        { filename: 'run.py', content: '\ndef f():\n    return 1\n' },
        { filename: 'x.bin', content: Buffer.from([0xff, 0]).toString('base64'), encoding: 'base64' },
      ],
    })
    const { html } = await read(`/skills/${slug}`)
    expect(html).toContain('<th scope="row">license</th><td>MIT &lt;b&gt;</td>')
    expect(html).toContain('<td>a: 1</td>')
    // In the text to copy alone: the rendered body begins after it.
    expect(html.match(/license: MIT/g)).toHaveLength(1)
    expect(html).toContain(`<a href="/skills/${slug}?file=docs%2Fguide.md">guide</a> none`)
    expect(html).toContain('<h3 id="text-tree">Tree</h3>')
    expect(html).toContain('<summary>docs</summary>')
    expect(html.indexOf('>SKILL.md<')).toBeLessThan(html.indexOf('<summary>docs'))
    expect(html).toMatch(/<summary>a\/deep<\/summary>.*>1\.txt<.*>2\.txt<.*>10\.txt</s)
    const picture = `/api/skills/${id}/files/docs/map.png`
    expect(html).toContain(`<img src="${picture}" alt="Map" loading="lazy">`)
    const image = await service.fetch(picture)
    expect([image.headers.get('content-type'), image.headers.get('x-content-type-options')]).toEqual(['image/png', 'nosniff'])
    const raw = await read(`/skills/${slug}?view=raw`)
    expect(raw.html).toContain('---\nname: treed')
    const guide = await read(`/skills/${slug}?file=docs%2Fguide.md`)
    expect(guide.html).toContain(`<a href="/skills/${slug}">up</a>`)
    const code = await read(`/skills/${slug}?file=run.py`)
    expect(code.html).toContain('<span class="t-keyword">def</span>')
    // The parser drops the first line end of a pre; the file's own stays.
    expect(code.html).toMatch(/<pre class="file"[^>]*>\n\n<span/)
    expect((await read(`/skills/${slug}?file=x.bin`)).html).toContain('Binary file: no preview.')
    const zip = await service.fetch(`/api/skills/${slug}/zip`)
    expect([zip.headers.get('content-type'), zip.headers.get('content-disposition')]).toEqual([
      'application/zip',
      `attachment; filename*=UTF-8''${slug}.zip`,
    ])
    const bytes = new Uint8Array(await zip.arrayBuffer())
    expect(finish(readSkillArchiveInSteps(bytes)).files.map((file) => file.filename)).toEqual(
      expect.arrayContaining(['SKILL.md', 'docs/guide.md', 'run.py', 'x.bin']),
    )
    // Whoever only asks for the headers takes up no place among downloads.
    for (let n = 0; n < 6; n++) expect((await service.fetch(`/api/skills/${slug}/zip`, { method: 'HEAD' })).status).toBe(200)
  })

  it('name a prompt in a file, link its tags and author, and tell others what it is', async () => {
    const { id, slug } = await save('prompts', {
      title: 'Shared',
      description: 'For all.',
      content: 'Text ${x}',
      tags: ['C#'],
      visibility: 'public',
    })
    const file = await service.fetch(`/api/prompts/${id}/prompt.md`)
    expect(file.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''${slug}.prompt.md`)
    for (const [format, name, said] of [
      ['prompt.yml', `${slug}.prompt.yml`, '    content: Text {{x}}\n'],
      ['prompt.prompt', `${slug}.prompt`, '---\nText {{x}}\n'],
      ['prompt.prompty', `${slug}.prompty`, 'user:\nText {{x}}\n'],
      ['promptfooconfig.yaml', 'promptfooconfig.yaml', '    raw: Text {{x}}\n'],
    ]) {
      const other = await service.fetch(`/api/prompts/${id}/${format}?version=1`)
      expect(other.headers.get('content-disposition')).toBe(`attachment; filename*=UTF-8''${name}`)
      expect(await other.text()).toContain(said)
    }
    const text = await file.text()
    expect(parseDocument(text.split('---')[1] ?? '').toJS()).toEqual({
      name: slug,
      title: 'Shared',
      description: 'For all.',
      type: 'TEXT',
      author: 'Ada',
      tags: ['C#'],
    })
    expect(text).toMatch(/\n---\n\nText \$\{x\}$/)
    const { html } = await read(`/prompts/${slug}`)
    expect(html).toContain('<a href="/prompts?tag=csharp">C#</a>')
    expect(html).toContain('<a href="/@Ada">Ada</a>')
    expect(html).toContain('<meta property="og:type" content="article"/>')
    expect(html).toContain(`<meta property="og:url" content="http://127.0.0.1:3000/prompts/${slug}"/>`)
    expect((await read('/prompts?tag=csharp')).html).toContain('Tag: csharp')
  })
})

describe('what programs look for', () => {
  let service: TestApp
  let key = ''
  let owner: Visitor
  beforeAll(async () => {
    service = await testApp()
    owner = await signUp(service, 'Ada')
    key = (await service.user('Ada')).key
    for (const title of ['First & <best>', 'Bell\u0007 and ]]> \ufffe \u{1f600}'])
      await service.fetch('/api/prompts', {
        ...json('POST', { title, content: `<p>${title}</p>\n<p>A & B.</p>`, tags: ['a&b'], visibility: 'public' }),
        key,
      })
    await service.fetch('/api/prompts', { ...json('POST', { title: 'Hidden', content: 'x', visibility: 'private' }), key })
  })
  afterAll(() => service.close())

  it('is a feed that is XML, of public items alone, whoever asks', async () => {
    const answer = await service.fetch('/feed.xml', { key })
    const xml = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/rss+xml; charset=utf-8'])
    expect(xml).toContain('<title>First &amp; &lt;best&gt;</title>')
    expect(xml).toContain('<description>First &amp;amp; A &amp;amp; B.</description>')
    expect(xml).toContain('<title>Bell⟨U+0007⟩ and ]]&gt;  \u{1f600}</title>')
    expect(xml).toContain('<link>http://127.0.0.1:3000/prompts/first-best</link>')
    expect(xml).not.toContain('Hidden')
    // The owner sees it on pages, and even for the owner it is in nothing that is read by others, too.
    expect((await owner.get('/@Ada')).html).toContain('Hidden')
    expect((await owner.get('/feed.xml')).html).toBe(xml)
    expect((await owner.get('/sitemap.xml?part=prompts-1')).html).not.toContain('hidden')
    expect(xml.replaceAll(/[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')).toBe('')
    // Every tag that opens closes, in order.
    const open: string[] = []
    for (const [, slash, name = '', self] of xml.matchAll(/<(\/?)([\w:]+)[^>]*?(\/?)>/g)) {
      if (slash) expect(open.pop()).toBe(name)
      else if (!self) open.push(name)
    }
    expect(open).toEqual([])
    const etag = answer.headers.get('etag') ?? ''
    const again = await service.fetch('/feed.xml', { headers: { 'If-None-Match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('is a sitemap in parts, and robots.txt that names it', async () => {
    const robots = await (await service.fetch('/robots.txt')).text()
    expect(robots).toContain('Sitemap: http://127.0.0.1:3000/sitemap.xml')
    const index = await (await service.fetch('/sitemap.xml')).text()
    const parts = [...index.matchAll(/<loc>http:\/\/127\.0\.0\.1:3000([^<]+)<\/loc>/g)].map(([, path = '']) => path)
    expect(parts).toEqual(['/sitemap.xml?part=pages', '/sitemap.xml?part=prompts-1'])
    const urls: string[] = []
    for (const path of parts)
      for (const [, url = ''] of (await (await service.fetch(path)).text()).matchAll(/<loc>([^<]+)<\/loc>/g)) urls.push(url)
    expect(urls).toHaveLength(6)
    for (const url of urls) expect((await service.fetch(url.replace('http://127.0.0.1:3000', ''))).status, url).toBe(200)
    for (const part of ['prompts-2', 'skills-1', 'prompts-0', 'x', 'prompts-1e1'])
      expect((await service.fetch(`/sitemap.xml?part=${part}`)).status, part).toBe(404)
  })
})
