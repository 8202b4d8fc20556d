import { afterAll, describe, expect, it } from 'vitest'
import { stopHighlighting } from './highlight.ts'
import { looksLikeMarkdown, renderMarkdown } from './markdown.ts'

const render = async (text: string) => (await renderMarkdown(text, { headingShift: 1 })) ?? ''

afterAll(stopHighlighting)

describe('renderMarkdown', () => {
  it('lets no HTML through, and no link that runs', async () => {
    const hostile = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[a](javascript:alert(1))',
      '[a](JaVaScRiPt:alert(1))',
      '[a](  javascript&colon;alert(1))',
      '[a](vbscript:x) [b](data:text/html,x) [c](file:///etc/passwd)',
      '[a](java\nscript:alert(1))',
      '[a]: javascript:alert(1)\n\n[a]',
      '<javascript:alert(1)>',
      '![x](javascript:alert(1))',
      '[x](https://a.b/"onmouseover="alert(1))',
      "[x](https://a.b '\"><script>')",
      '```"><script>alert(1)</script>\nx\n```',
      '# <b onclick=x>\n',
      '`<script>`',
      '|<i onclick=x>|\n|-|\n|<script>|',
      '![" onerror="x](https://a.b/c.png)',
    ]
    for (const text of hostile) {
      const html = await render(text)
      for (const [tag] of html.matchAll(/<[a-z][^>]*>/gi)) {
        expect(tag.replaceAll(/"[^"]*"/g, ''), text).toMatch(/^<(p|a|em|pre|code|h2|div|table|thead|tbody|tr|th|td|br)[ >/]/)
        expect(tag.replaceAll(/"[^"]*"/g, ''), text).not.toMatch(/\son\w+|\sstyle/)
        const [, href] = /href="([^"]*)"/.exec(tag) ?? []
        if (href !== undefined) expect(href, text).toMatch(/^(https?:|mailto:|#text-)/)
      }
    }
  })

  it('marks links that lead elsewhere, and loads no image', async () => {
    expect(await render('[a](https://a.b/c?d&e)')).toBe('<p><a href="https://a.b/c?d&amp;e" rel="nofollow noopener ugc">a</a></p>\n')
    expect(await render('![A cat](https://a.b/c.png)')).toBe('<p><a href="https://a.b/c.png" rel="nofollow noopener ugc">A cat</a></p>\n')
    expect(await render('[![A cat](https://a.b/c.png)](https://d.e)')).toBe(
      '<p><a href="https://d.e" rel="nofollow noopener ugc">A cat</a></p>\n',
    )
    expect(await render('see https://a.b/c, and example.com')).toContain('<a href="https://a.b/c" rel="nofollow noopener ugc">')
    expect(await render('see example.com')).not.toContain('<a')
  })

  it('aligns columns by class: the content policy of pages blocks a style attribute', async () => {
    const html = await render('|a|b|c|d|\n|-|:-|:-:|-:|\n|1|2|3|4|')
    expect(html).not.toContain('style=')
    expect(html).toContain('<th>a</th>\n<th>b</th>\n<th class="align-center">c</th>\n<th class="align-right">d</th>')
    expect(html).toContain('<td>1</td>\n<td>2</td>\n<td class="align-center">3</td>\n<td class="align-right">4</td>')
  })

  it('keeps the first heading for the page, and links to headings of the text', async () => {
    expect(await render('# One\n###### Six\n\n[to](#one)')).toBe(
      '<h2 id="text-one">One</h2>\n<h6 id="text-six">Six</h6>\n<p><a href="#text-one">to</a></p>\n',
    )
    expect(await render('# content\n# content')).toBe('<h2 id="text-content">content</h2>\n<h2 id="text-content-1">content</h2>\n')
  })

  it('follows relative links where the place knows them, and drops the others', async () => {
    const links = { key: 'a', find: (path: string) => (path === 'other.md' ? null : `?file=${encodeURIComponent(path)}`) }
    const html = await renderMarkdown('[a](docs/a%20b.md#x) [b](other.md) [c](/admin) [d](//evil.example)', { headingShift: 1, links })
    expect(html).toBe('<p><a href="?file=docs%2Fa%20b.md">a</a> b c d</p>\n')
  })

  it('draws the boxes of a task list, keeps line ends where asked, and loads the pictures that the place knows', async () => {
    expect(await render('- [ ] one\n- [x] two\n- [y] three')).toBe('<ul>\n<li>☐ one</li>\n<li>☑ two</li>\n<li>[y] three</li>\n</ul>\n')
    expect(await render('[ ] no item\nof a list')).toBe('<p>[ ] no item\nof a list</p>\n')
    expect(await renderMarkdown('a\nb', { headingShift: 1, keepsLines: true })).toBe('<p>a<br>\nb</p>\n')
    const links = { key: 'b', find: () => null, findImage: (path: string) => (path === 'a b.png' ? '/a"b.png' : null) }
    const html = await renderMarkdown('![A "cat"](a%20b.png) ![x](other.png) ![y](https://a.b/c.png)', { headingShift: 1, links })
    expect(html).toBe(
      '<p><img src="/a&quot;b.png" alt="A &quot;cat&quot;" loading="lazy"> x <a href="https://a.b/c.png" rel="nofollow noopener ugc">y</a></p>\n',
    )
  })

  it('is for texts with several blocks of Markdown, or one and emphasis', () => {
    for (const text of ['# A\n\n**b**', '- a\n- b\n- c', '1. a\n2. `b`', '```\na\n```\n# b', '|a|b|\n|-|-|\n|1|2|'])
      expect(looksLikeMarkdown(text), text).toBe(true)
    for (const text of ['Act as a **poet**.', 'A list:\n- one thing', 'a - b\nc # d', '{"a": "- b"}', '', '#hashtag\n#other\n#third'])
      expect(looksLikeMarkdown(text), text).toBe(false)
  })

  it('marks the blanks of a prompt where they stand', async () => {
    const text = '# For ${name}\n\n**${topic:the <weather>}** `${code}` $x\n\n```js\nconst a = ${b}\n```'
    const html = await renderMarkdown(text, { headingShift: 1, hasBlanks: true })
    expect([...(html ?? '').matchAll(/<mark data-blank="(.*?)">(.*?)<\/mark>/g)].map(([, name, blank]) => [name, blank])).toEqual([
      ['name', '${name}'],
      ['topic', '${topic:the &lt;weather&gt;}'],
      ['code', '${code}'],
      ['b', '${b}'],
    ])
    expect(await render('${name}')).toBe('<p>${name}</p>\n')
  })

  it('comes to an end with any text, and leaves what is too long', async () => {
    const pieces = [
      '>',
      '> ',
      '- ',
      '[',
      '![',
      '](',
      '*a **b ',
      '_a__ ',
      '`',
      '``a`',
      '<',
      'http://a.b/(((',
      '|a',
      '~a~~',
      '&amp',
      '[a]: b\n',
      '\\',
      '#',
      '```\n',
      '${',
      '${a:{',
    ]
    for (const piece of pieces) {
      const text = piece.repeat(Math.ceil(50_000 / piece.length)).slice(0, 50_000)
      expect(await renderMarkdown(text, { headingShift: 1, hasBlanks: true }), piece).not.toBeNull()
    }
    expect(await renderMarkdown('a'.repeat(50_001), { headingShift: 1 })).toBeNull()
  })

  it('gives all the code of a hostile text a second, and remembers what came of it', async () => {
    // 50 blocks that take seconds each, and all different.
    const block = (n: number) => `\`\`\`tf\n${'1e'.repeat(470)}${n}\n\`\`\``
    const text = Array.from({ length: 50 }, (_, n) => block(n)).join('\n\n')
    await renderMarkdown('```tf\na = 1\n```', { headingShift: 1 })
    const html = await render(text)
    expect(html.match(/<pre/g)?.length).toBe(50)
    expect(await render(text)).toBe(html)
    expect(await render('# Other\n\n```tf\nresource "a" "b" {}\n```')).toContain('class="t-')
  })

  it('makes a text once for readers who come together, and stops when they have left', async () => {
    const text = `# Together\n\n${Array.from({ length: 20 }, (_, n) => `\`\`\`ts\nconst a${n} = "${n}"\n\`\`\``).join('\n\n')}`
    const reader = new AbortController()
    const left = renderMarkdown(text, { headingShift: 1 }, reader.signal)
    const stays = renderMarkdown(text, { headingShift: 1 })
    reader.abort()
    expect(await left).toBeNull()
    expect((await stays)?.match(/>const</g)?.length).toBe(20)
  })
})
