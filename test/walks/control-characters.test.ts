import { beforeAll, describe, expect, it } from 'vitest'
import { json, readJson, rpc, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

/** Texts of others that would read otherwise than they are: control characters are marked where people and models see them, and kept where programs read. */

const RLO = '\u202e'
const ESC = '\u001b'
const CONTROL = /(?![\t\r\n])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
const TITLE = `Pay${RLO}lapyaP${ESC}[31m\u0085`
const MARKED =
  'Pay<bdi data-controls="202E">\u202e</bdi>lapyaP<bdi data-controls="001B">\u001b</bdi>[31m<bdi data-controls="0085">\u0085</bdi>'
const SHOWN = 'Pay⟨U+202E⟩lapyaP⟨U+001B⟩[31m⟨U+0085⟩'
const CONTENT = `Access ${RLO}level\u2066 for \${name:a${RLO}b}.\r\nOne\rline`
const FILENAME = `notes${RLO}dm.txt`

/** What is left of a page without marks and without values of fields. */
function withoutMarks(html: string): string {
  return html
    .replaceAll(/<bdi data-controls="[^"]+">[^<]*<\/bdi>/g, '')
    .replaceAll(/(<textarea[^>]*>)[^<]*/g, '$1')
    .replaceAll(/ (?:value|data-[a-z]+)="[^"]*"/g, '')
}

describe('control characters in texts of others', () => {
  const test = useTestApp()
  let ada: Visitor
  let key = ''
  const saved = { prompt: '', skill: '', promptId: '' }
  beforeAll(async () => {
    ada = await signUp(test, 'ada')
    key = (await test.user('ada')).key
    const common = { title: TITLE, description: `About ${TITLE}`, tags: [`tag${RLO}gat`], visibility: 'public' }
    const prompt = await test.fetch('/api/prompts', { ...json('POST', { ...common, content: CONTENT }), key })
    const files = [
      {
        filename: 'SKILL.md',
        content: `---\nname: pay\ndescription: "D\\u202eescribed"\n---\n# Pay\n\n\`\`\`js\nconst a = 1 // ${RLO}\n\`\`\`\n`,
      },
      { filename: FILENAME, content: `if (user ${RLO}!== admin)` },
    ]
    const skill = await test.fetch('/api/skills', { ...json('POST', { ...common, files }), key })
    const body = (await readJson(prompt)).prompt
    Object.assign(saved, { prompt: body.slug, promptId: body.id, skill: (await readJson(skill)).skill.slug })
    const changed = json('PATCH', { content: `${CONTENT} More${RLO}`, title: `${TITLE} 2`, note: `No${RLO}te` })
    expect((await test.fetch(`/api/prompts/${saved.promptId}`, { ...changed, key })).status).toBe(200)
  })

  it('are marked on every page, wherever a text stands', async () => {
    const draft = (await ada.post('/new', { do: 'preview', title: TITLE, content: CONTENT })).to?.split('#')[0] ?? ''
    for (const path of [
      '/',
      '/prompts',
      `/prompts?q=${encodeURIComponent(TITLE)}`,
      `/prompts/${saved.prompt}`,
      `/prompts/${saved.prompt}?view=rendered`,
      `/prompts/${saved.prompt}/versions`,
      `/prompts/${saved.prompt}/versions/2`,
      `/prompts/${saved.prompt}/edit`,
      '/skills',
      `/skills/${saved.skill}`,
      `/skills/${saved.skill}?file=${encodeURIComponent(FILENAME)}`,
      `/skills/${saved.skill}/versions/1`,
      `/skills/${saved.skill}/edit?file=${encodeURIComponent(FILENAME)}`,
      '/library',
      '/@ada',
      `/embeds?item=${saved.prompt}`,
      `/embed/${saved.prompt}`,
      `/embed/${saved.skill}`,
      `/embed?prompt=${encodeURIComponent(TITLE)}`,
      draft,
    ]) {
      const { status, html } = await ada.get(path)
      expect([status, CONTROL.test(html), CONTROL.exec(withoutMarks(html))], path).toEqual([200, true, null])
    }
    const { html } = await ada.get(`/prompts/${saved.prompt}`)
    expect(html).toContain(`<h1 dir="auto">${MARKED} 2</h1>`)
    expect(html).toContain(`<title>${SHOWN} 2 · Commonplace</title>`)
    expect(html).toContain(`<meta property="og:title" content="${SHOWN} 2"/>`)
    expect(html).toContain('line')
    expect(html).toContain('One<bdi data-controls="000D">&#13;</bdi>line')
    const filled = await visit(test).post(`/prompts/${saved.prompt}/fill`, { 'v.name': `x${RLO}` })
    expect(filled.html).toContain('for x<bdi data-controls="202E">\u202e</bdi>.')
    // Fields keep what was saved.
    expect((await ada.get(`/prompts/${saved.prompt}/edit`)).html).toContain(`value="${TITLE} 2"`)
  })

  it('are marked in feeds, cards and previews of links', async () => {
    const item = encodeURIComponent(`http://127.0.0.1:3000/prompts/${saved.prompt}`)
    for (const path of ['/feed.xml', `/api/embed/image/${saved.promptId}.svg`, `/api/oembed?url=${item}`]) {
      const text = await (await test.fetch(path)).text()
      expect([text.includes('⟨U+202E⟩'), CONTROL.exec(text)], path).toEqual([true, null])
    }
  })

  it('stay as they are in JSON and files', async () => {
    expect((await readJson(await test.fetch(`/api/prompts/${saved.promptId}`))).title).toBe(`${TITLE} 2`)
    expect(await (await test.fetch(`/api/prompts/${saved.promptId}/raw`)).text()).toBe(`${CONTENT} More${RLO}`)
    expect(await (await test.fetch(`/api/prompts/${saved.promptId}/prompt.md`)).text()).toContain(RLO)
    const file = await test.fetch(`/api/skills/${saved.skill}/files/${encodeURIComponent(FILENAME)}`)
    expect(await file.text()).toBe(`if (user ${RLO}!== admin)`)
  })

  it.each(['2025-11-25', '2026-07-28'])('are shown to models (MCP %s)', async (version) => {
    const ask = async (method: string, params: Record<string, unknown> = {}) => {
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      }
      const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': String(params['name'] ?? '') }
      const request = rpc(method, version === '2026-07-28' ? { ...params, _meta } : params)
      const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
      const text = await (await test.fetch('/api/mcp', { ...request, headers: { ...accept, ...headers } })).text()
      return JSON.parse(text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '')).result
    }
    const [entry] = (await ask('prompts/list')).prompts
    expect(entry).toMatchObject({ title: `${SHOWN} 2`, description: `About ${SHOWN}` })
    expect(entry.arguments).toEqual([{ name: 'name', description: 'Default: a⟨U+202E⟩b', required: false }])
    const prompt = await ask('prompts/get', { name: saved.prompt })
    expect([prompt.description, prompt.messages[0].content.text.includes(RLO)]).toEqual([`About ${SHOWN}`, true])
    const found = await ask('tools/call', { name: 'search_prompts', arguments: { query: 'pay' } })
    expect(found.structuredContent.prompts[0].title).toBe(`${TITLE} 2`)
    expect([CONTROL.exec(found.content[0].text), JSON.parse(found.content[0].text)]).toEqual([null, found.structuredContent])
    expect(found.content[0].text).toContain('Pay\\u202elapyaP\\u001b[31m\\u0085')
    const { resources } = await ask('resources/list')
    expect(resources[0]).toMatchObject({ description: 'D⟨U+202E⟩escribed' })
  })
})
