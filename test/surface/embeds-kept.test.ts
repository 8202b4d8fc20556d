import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EMBED_EXAMPLES } from '../../src/domain/embed/config.ts'
import { readEmbedQuery, writeEmbedQuery } from '../../src/web/embed/addresses.ts'
import { parsePromptPieces, readPiece } from '../../src/web/embed/fields.ts'
import { readJson, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const ATTACK = `"'><script>alert(1)</script></text>&`
const NOBODY = '00000000-0000-4000-8000-000000000000'
const BASE = 'http://127.0.0.1:3000'
const decodeHtml = (html: string) =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
/** The texts to copy from a page of the designer: frame, Markdown, link. */
const snippetsOf = (html: string) =>
  [...html.matchAll(/<pre data-text[^>]*><code data-live="true">([^<]*)<\/code><\/pre>/g)].map(([, text]) => decodeHtml(text ?? ''))

let service: TestApp
let ada: Visitor
let bob: Visitor
beforeAll(async () => {
  service = await testApp()
  ada = await signUp(service, 'ada')
  bob = await signUp(service, 'bob')
})
afterAll(() => service.close())

const keep = async (person: Visitor, fields: Record<string, string>) => {
  const { to, html } = await person.post('/embeds', { do: 'save', ...fields })
  const id = /embed=([0-9a-f-]{36})&done=embed-saved$/.exec(to ?? '')?.[1]
  if (id === undefined) throw new Error(`not kept: ${html.slice(0, 2000)}`)
  return id
}

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  describe('the designer', () => {
    it('turns what is filled in into addresses that show all of it', async () => {
      const text = (maxLength: number) =>
        fc.string({
          unit: fc.constantFrom('a', 'Z', ' ', '\n', '"', '<', '&', '%', '+', '#', 'ü', '日', '💥', '${x}', '@b', ']', ')'),
          minLength: 1,
          maxLength,
        })
      const config = fc.record(
        {
          prompt: text(60),
          context: text(20),
          model: text(10),
          filetree: text(20),
          showFiletree: fc.constant('true'),
          thinking: fc.constant('true'),
          showDiff: fc.constant('true'),
          diffOldText: text(20),
          flashButton: fc.constant('accept'),
          themeMode: fc.constantFrom('auto', 'light', 'dark'),
          lightColor: fc.constantFrom('#112233', '#abcdef'),
          mcpTools: fc.constantFrom('a:b', 'a:b\nc:d:e'),
        },
        { requiredKeys: ['prompt'] },
      )
      const anybody = visit(service)
      await fc.assert(
        fc.asyncProperty(config, async (fields) => {
          const single = Object.fromEntries(
            Object.entries(fields).map(([name, value]) => [
              name,
              name === 'model' || name === 'context' ? value.replaceAll('\n', ' ') : value,
            ]),
          )
          const { html, status } = await anybody.post('/embeds', { do: 'show', ...single })
          expect(status).toBe(200)
          const [frame = '', markdown = '', link = ''] = snippetsOf(html)
          const { config } = readEmbedQuery(new URL(link).searchParams)
          expect(config).toEqual(readEmbedQuery(new URLSearchParams(single)).config)
          expect(decodeHtml(/src="([^"]*)"/.exec(frame)?.[1] ?? '')).toBe(link)
          expect(/\]\(([^()]+)\)$/.exec(markdown)?.[1]).toBe(link)
          const shown = await anybody.get(link.slice(BASE.length))
          expect(decodeHtml(/<p class="prompt">(.*?)<\/p>/s.exec(shown.html)?.[1]?.replaceAll(/<\/?mark[^>]*>/g, '') ?? '')).toBe(
            parsePromptPieces(config.prompt ?? '')
              .map(readPiece)
              .join(''),
          )
        }),
      )
    })

    it('begins with an example, a kept one, an item, or what an address says', async () => {
      const [example] = EMBED_EXAMPLES
      const query = writeEmbedQuery(example?.config ?? {}).toString()
      for (const path of [`/embeds?example=${example?.value}`, `/embeds?${query}`]) {
        expect(snippetsOf((await ada.get(path)).html)[2], path).toBe(`${BASE}/embed?${query}`)
      }
      const open = { title: 'Open', content: 'Text', visibility: 'public' }
      const { id } = Object((await service.call((await service.user('ada')).actor, 'save_prompt', open))['prompt'])
      const item = await ada.post('/embeds', { do: 'show', item: id, model: 'A model', prompt: 'Not this' })
      expect(snippetsOf(item.html)[2]).toBe(`${BASE}/embed/${id}?model=A+model`)
      expect((await ada.get(`/prompts/${id}`)).html).toContain(`/embeds?item=${id}`)
    })

    it('says at the field what cannot be used, and keeps what was typed', async () => {
      const { status, html } = await ada.post('/embeds', { do: 'show', prompt: 'Kept', lightColor: 'red', model: 'x'.repeat(200) })
      expect(status).toBe(400)
      for (const text of ['Kept', 'value="red"', 'id="lightColor-fault"', 'id="model-fault"']) expect(html).toContain(text)
    })

    it('asks to keep what is too long for an address', async () => {
      const long = { prompt: 'long '.repeat(1900) }
      const { html } = await ada.post('/embeds', { do: 'show', ...long })
      expect(html).toContain('too long for an address')
      expect((await ada.get('/embeds')).html).toContain('Type a prompt, or start from an example below.')
      expect(snippetsOf(html)).toEqual(['', '', ''])
      const id = await keep(ada, long)
      expect((await visit(service).get(`/e/${id}`)).html).toContain('long long')
    })
  })

  describe('embeds that are kept', () => {
    it('are shown to whoever has the id, listed for and deleted by their owner alone', async () => {
      const id = await keep(ada, { prompt: 'Ada wrote this', mode: 'plan', thinking: 'true' })
      const page = await visit(service).get(`/e/${id}`)
      expect(page.html).toContain('Ada wrote this')
      expect(page.html).not.toContain('>ada<')
      expect((await ada.get('/embeds')).html).toContain(`/e/${id}`)
      expect((await bob.get('/embeds')).html).not.toContain(id)
      expect((await bob.post('/embeds', { do: 'delete', id })).status).toBe(404)
      expect((await visit(service).post('/embeds', { do: 'delete', id })).status).toBe(303)
      expect((await visit(service).post('/embeds', { do: 'save', prompt: 'x' })).to).toContain('/sign-in')
      const { key } = await service.user('ada')
      expect((await service.fetch(`/e/${id}`, { key })).status).toBe(200)
      expect((await ada.post('/embeds', { do: 'delete', id })).to).toBe('/embeds?done=embed-deleted')
      const missing = await visit(service).get(`/e/${NOBODY}`)
      expect(await visit(service).get(`/e/${id}`)).toMatchObject({ status: 404, html: missing.html })
    })

    it('cannot be kept or listed with a key, and have bounds', async () => {
      const { actor } = await service.user('ada')
      for (const name of ['save_embed', 'list_embeds', 'delete_embed']) {
        await expect(service.call(actor, name, { config: {}, id: NOBODY })).rejects.toMatchObject({ code: 'forbidden' })
      }
      const person = { ...actor, scopes: new Set(['read', 'write', 'account'] as const) }
      const wide = '日'.repeat(10_000)
      await expect(
        service.call(person, 'save_embed', { config: { prompt: wide, diffOldText: wide, diffNewText: wide } }),
      ).rejects.toMatchObject({ code: 'too_large' })
      const before = (await service.app.store.embeds.listEmbeds(actor.userId)).length
      for (let count = before; count < 200; count++) await service.call(person, 'save_embed', { config: { prompt: `${count}` } })
      await expect(service.call(person, 'save_embed', { config: {} })).rejects.toMatchObject({ code: 'conflict' })
    })

    it('go with their owner', async () => {
      const carol = await signUp(service, 'carol')
      const id = await keep(carol, { prompt: 'Carol wrote this' })
      expect((await visit(service).get(`/e/${id}`)).status).toBe(200)
      const gone = await carol.post('/settings/data', { username: 'carol', password: PASSWORD, do: 'delete' })
      expect(gone.status).toBe(303)
      expect((await visit(service).get(`/e/${id}`)).status).toBe(404)
    })
  })

  describe('pictures and oEmbed', () => {
    const save = async (fields: Record<string, string>) => {
      const prompt = { title: `Card ${ATTACK}`, content: `Text ${ATTACK}`, ...fields }
      return Object((await service.call((await service.user('bob')).actor, 'save_prompt', prompt))['prompt'])
    }

    it('draws any configuration as SVG that is well formed and runs nothing', async () => {
      for (const { config } of [
        ...EMBED_EXAMPLES,
        { config: { prompt: `${ATTACK}\u0001\ufffe ${'long '.repeat(900)}`, context: ATTACK, model: ATTACK } },
      ]) {
        const answer = await service.fetch(`/api/embed/image?${writeEmbedQuery(config)}`)
        const svg = await answer.text()
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8'])
        expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
        expect(svg.replaceAll(/<\/?(?:svg|title|rect|text|tspan)(?: [\w:-]+="[^"<>]*")*\/?>/g, '')).not.toMatch(/[<>\p{Cc}\ufffe]/u)
        expect(svg).not.toMatch(/<[^>]*(?:href|url\(|style)/)
      }
    })

    it('draws items as PNG and SVG, kept embeds as SVG, and nothing that is not for everybody', async () => {
      const open = await save({ visibility: 'public' })
      const closed = await save({ visibility: 'private' })
      const png = await service.fetch(`/api/embed/image/${open.id}.png`)
      const bytes = Buffer.from(await png.arrayBuffer())
      expect([png.status, png.headers.get('content-type'), bytes.subarray(1, 4).toString()]).toEqual([200, 'image/png', 'PNG'])
      expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630])
      const etag = png.headers.get('etag') ?? ''
      expect((await service.fetch(`/api/embed/image/${open.id}.png`, { headers: { 'if-none-match': etag } })).status).toBe(304)
      for (const [form, type] of [
        ['png', 'image/png'],
        ['svg', 'image/svg+xml; charset=utf-8'],
      ]) {
        const bySlug = await service.fetch(`/api/embed/image/${open.slug}.${form}`)
        expect([bySlug.status, bySlug.headers.get('content-type')]).toEqual([200, type])
        expect((await service.fetch(`/api/embed/image/${closed.slug}.${form}`)).status).toBe(404)
      }
      const kept = await keep(bob, { prompt: 'Kept text' })
      expect(await (await service.fetch(`/api/embed/image/${kept}.svg`)).text()).toContain('Kept text')
      for (const file of [`${kept}.png`, `${closed.id}.png`, `${NOBODY}.png`, `${open.id}.gif`]) {
        expect((await service.fetch(`/api/embed/image/${file}`)).status, file).toBe(404)
      }
      const page = (await visit(service).get(`/prompts/${open.id}`)).html
      expect(page).toContain(`<meta property="og:image" content="${BASE}/api/embed/image/${open.id}.png"`)
      expect((await bob.get(`/prompts/${closed.id}`)).html).not.toMatch(/og:image|oembed/)
    })

    it('describes what can be embedded, and nothing elsewhere', async () => {
      const open = await save({ visibility: 'public' })
      const unlisted = await save({ visibility: 'unlisted' })
      const closed = await save({ visibility: 'private' })
      const kept = await keep(bob, { prompt: 'Kept' })
      const ask = async (url: string, more = '') => await service.fetch(`/api/oembed?url=${encodeURIComponent(url)}${more}`)
      const told = await readJson(await ask(`${BASE}/prompts/${open.slug}`, '&format=json&maxwidth=300'))
      expect(told).toMatchObject({ version: '1.0', type: 'rich', title: `Card ${ATTACK}`, author_name: 'bob', width: 300 })
      expect(told.html).toMatch(
        /^<iframe src="[^"<>]+" title="[^"<>]+" width="300" height="\d+" frameborder="0" loading="lazy"><\/iframe>$/,
      )
      const discovered = /type="application\/json\+oembed"[^>]* href="([^"]+)"/.exec(
        (await visit(service).get(`/prompts/${open.id}`)).html,
      )?.[1]
      expect(await readJson(await service.fetch(decodeHtml(discovered ?? '')))).toMatchObject({ title: told.title, thumbnail_width: 1200 })
      for (const url of [`${BASE}/embed?prompt=x`, `${BASE}/embed/${unlisted.id}?model=m`, `${BASE}/e/${kept}`])
        expect((await ask(url)).status, url).toBe(200)
      for (const url of [
        `${BASE}/prompts/${closed.id}`,
        `${BASE}/prompts/${unlisted.slug}`,
        `${BASE}/`,
        `${BASE}@example.org/embed`,
        'nothing',
      ])
        expect((await ask(url)).status, url).toBe(404)
      expect((await service.fetch('/api/oembed')).status).toBe(400)
      expect((await ask(`${BASE}/embed`, '&maxwidth=wide')).status).toBe(400)
      expect((await ask(`${BASE}/embed`, '&format=xml')).status).toBe(501)
    })
  })
})
