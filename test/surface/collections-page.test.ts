import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

describe('the pages of collections', { shuffle: false }, () => {
  const test = useTestApp()
  let ada: Visitor
  let ben: Visitor
  const items: { id: string; slug: string; kind: 'prompts' | 'skills'; title: string }[] = []

  beforeAll(async () => {
    ada = await signUp(test, 'ada')
    ben = await signUp(test, 'ben')
    const { actor } = await test.user('ada')
    for (const title of ['One', 'Two', 'Three']) {
      const { id, slug } = Object((await test.call(actor, 'save_prompt', { title, content: 'x', visibility: 'public' })).prompt)
      items.push({ id, slug, kind: 'prompts', title })
    }
    const files = [{ filename: 'SKILL.md', content: '---\nname: four\ndescription: Four.\n---\n' }]
    const { id, slug } = Object((await test.call(actor, 'save_skill', { title: 'Four', files, visibility: 'public' })).skill)
    items.push({ id, slug, kind: 'skills', title: 'Four' })
  })

  const titlesOf = (html: string) => [...html.matchAll(/<h3[^>]*><a[^>]*>([^<]+)/g)].map(([, title]) => title)
  const pathOf = (index: number) => `/${items[index]?.kind}/${items[index]?.slug}`

  const ORDER = '/collections/reading-list?edit=order'

  it('create one, fill it from the pages of items, and reorder it with buttons alone', async () => {
    expect((await ada.get('/collections')).html).toContain('No collections yet.')
    const created = await ada.post('/collections', { do: 'create', title: 'Reading list', description: 'In order', visibility: 'public' })
    expect(created.to).toBe('/collections/reading-list?done=collection-created')
    const { id } = Object((await test.call((await test.user('ada')).actor, 'show_collection', { id: 'reading-list' })).collection)
    for (const index of items.keys()) {
      expect((await ada.get(pathOf(index))).html).toContain(`href="${pathOf(index)}/collections"`)
      expect((await ada.post(`${pathOf(index)}/collections`, { do: 'add', id })).to).toBe(`${pathOf(index)}/collections?done=collected`)
    }
    const asked = (await ada.get(`${pathOf(0)}/collections`)).html
    expect(asked).toMatch(/value="remove" aria-pressed="true"><span dir="auto">Reading list/)
    const shown = async (visitor = ada) => titlesOf((await visitor.get('/collections/reading-list')).html)
    expect(await shown()).toEqual(['One', 'Two', 'Three', 'Four'])
    const press = (does: string, index: number, more = {}) =>
      ada.post('/collections/reading-list', { do: does, item: items[index]?.id ?? '', back: ORDER, ...more })
    expect((await press('up', 3)).to).toBe(`${ORDER}&done=moved#item-${items[3]?.id}`)
    expect(await shown()).toEqual(['One', 'Two', 'Four', 'Three'])
    await press('first', 2)
    expect(await shown()).toEqual(['Three', 'One', 'Two', 'Four'])
    await press('before', 3, { beside: items[0]?.id })
    expect(await shown()).toEqual(['Three', 'Four', 'One', 'Two'])
    expect((await press('remove', 2)).to).toBe(`${ORDER}&done=uncollected`)
    expect(await shown(visit(test))).toEqual(['Four', 'One', 'Two'])
    expect((await press('sideways', 0)).status).toBe(400)
    // Nobody is led to another site.
    expect((await press('up', 1, { back: 'https://example.org/' })).to).toMatch(/^\/collections\/reading-list\?/)
  })

  it('show on the page of an item which collections it is in, and narrow lists', async () => {
    for (const visitor of [visit(test), ben]) {
      expect((await visitor.get(pathOf(0))).html).toContain('href="/collections/reading-list"')
      expect((await visitor.get(pathOf(2))).html).not.toContain('reading-list')
    }
    const list = await visit(test).get('/prompts?collections=reading-list')
    expect(titlesOf(list.html).toSorted()).toEqual(['One', 'Two'])
    expect(list.html).toContain('Collection: Reading list')
    // The filters offer the reader's own.
    const offered = async (visitor: Visitor) =>
      /<a href="\/prompts\?collections=[^"]+"[^>]*>Reading list/.test((await visitor.get('/prompts')).html)
    expect([await offered(ada), await offered(ben), await offered(visit(test))]).toEqual([true, false, false])
    const { html } = await visit(test).get('/collections/reading-list')
    expect(html).toContain('npx skills add http://127.0.0.1:3000/collections/reading-list')
    expect(html).toContain('http://127.0.0.1:3000/api/mcp/collections/reading-list')
    expect(titlesOf((await visit(test).get('/collections?q=READ')).html)).toEqual(['Reading list'])
    expect(titlesOf((await visit(test).get('/collections?q=else')).html)).toEqual([])
  })

  it('show what changes it to those who may, and refuse everybody else', async () => {
    const own = (await ada.get('/collections/reading-list')).html
    // It is a page to read until its order is edited.
    expect([own.includes('Owned by'), own.includes('value="save"'), own.includes('value="up"')]).toEqual([false, true, false])
    expect(own).toContain(`href="${ORDER}">Edit order</a>`)
    expect(own).toContain('data-share="http://127.0.0.1:3000/collections/reading-list"')
    const ordering = (await ada.get(ORDER)).html
    expect(
      [...ordering.matchAll(/name="do" value="(\w+)"/g)].map(([, does]) => does).filter((does) => does !== 'save' && does !== 'favourite'),
    ).toEqual(['delete', ...Array.from({ length: 3 }, () => ['up', 'down', 'remove'])].flat())
    for (const path of ['/collections/reading-list', ORDER]) {
      const { html } = await ben.get(path)
      expect([html.includes('Owned by <a href="/@ada">'), html.includes('value="save"'), html.includes('value="up"')]).toEqual([
        true,
        false,
        false,
      ])
    }
    expect((await ben.post('/collections/reading-list', { do: 'delete' })).status).toBe(403)
    expect((await visit(test).post('/collections/reading-list', { do: 'delete' })).to).toMatch(/^\/sign-in/)
    expect((await visit(test).get(`${pathOf(0)}/collections`)).to).toMatch(/^\/sign-in/)
    // An item that somebody may not see is none.
    const { actor } = await test.user('ada')
    const { id } = Object((await test.call(actor, 'save_prompt', { title: 'Hidden', content: 'x', visibility: 'private' })).prompt)
    const [hidden, missing] = [
      await ben.get(`/prompts/${id}/collections`),
      await ben.get('/prompts/00000000-0000-4000-8000-000000000000/collections'),
    ]
    expect([hidden.status, hidden.html.includes('Hidden')]).toEqual([404, false])
    expect(hidden.status).toBe(missing.status)
  })

  it('offer the teams that somebody may edit for, and create and add at once', async () => {
    const { actor } = await test.user('ada')
    await test.call(actor, 'create_team', { team: 'writers' })
    await test.call(actor, 'set_team_member', { team: 'writers', username: 'ben', role: 'editor' })
    expect((await ben.get('/collections')).html).toContain('<option value="writers">')
    const made = await ben.post(`${pathOf(1)}/collections`, { do: 'create', title: 'For writers', owner: 'writers', visibility: '' })
    expect(made.to).toBe(`${pathOf(1)}/collections?done=collected`)
    const { html } = await ada.get('/collections')
    const path = /href="(\/collections\/for-writers-[a-z0-9]+)"/.exec(html)?.[1] ?? ''
    const asMaintainer = (await ada.get(path)).html
    const asEditor = (await ben.get(path)).html
    expect([asMaintainer.includes('as a maintainer.'), asEditor.includes('as an editor.')]).toEqual([true, true])
    expect([asMaintainer.includes('name="visibility"'), asEditor.includes('name="visibility"')]).toEqual([true, false])
    expect([asMaintainer.includes('value="delete"'), asEditor.includes('value="delete"')]).toEqual([true, false])
    expect((await ben.post(path, { do: 'save', title: 'Renamed', visibility: 'public' })).status).toBe(403)
  })

  it('stay light with a page full of items', async () => {
    const { actor } = await test.user('ada')
    const { id } = Object((await test.call(actor, 'create_collection', { title: 'Heavy', visibility: 'public' })).collection)
    for (let number = 0; number < 50; number++) {
      const fields = { title: `Heavy ${number}`, content: 'x', description: `Number ${number} is about topic ${number * 7919}` }
      const { prompt } = await test.call(actor, 'save_prompt', { ...fields, visibility: 'public' })
      await test.call(actor, 'add_to_collection', { id, items: [Object(prompt).id] })
    }
    const [own, others] = [(await ada.get('/collections/heavy?edit=order')).html, (await visit(test).get('/collections/heavy')).html]
    expect(titlesOf(own).length).toBe(48)
    expect(own).toContain('value="up" disabled')
    expect(gzipSync(own).length).toBeLessThan(12 * 1024)
    expect(gzipSync(others).length).toBeLessThan(8 * 1024)
    const last = (await ada.get('/collections/heavy?page=2')).html
    expect([titlesOf(last).length, last.includes('<ol class="rows" start="49">')]).toEqual([2, true])
    expect((await ada.get('/collections/heavy?page=9')).to).toBe('/collections/heavy?page=2')
  })
})
