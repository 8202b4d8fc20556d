import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { json, readJson, useTestApp } from '../support/test-app.ts'
import { visit } from '../support/visitor.ts'

const PREFIX = '/compat/prompts-chat'
const test = useTestApp({ DUMP_LIMIT: 3 })
let key = ''
let letter: { id: string; slug: string }

beforeAll(async () => {
  const owner = await test.user('ada')
  key = owner.key
  const save = async (input: object) => Object(await test.call(owner.actor, 'save_prompt', { isPrivate: false, ...input })).prompt
  await save({ title: 'Oldest', content: 'First "quoted", with\ntwo lines', category: 'coding' })
  letter = await save({
    title: 'Letter',
    content: 'Write to ${who:a friend} about ${what}.',
    description: 'Says: "hello"',
    tags: ['Mail', 'Two words'],
    category: 'editing',
  })
  await save({ title: 'Newest', content: '{"a": 1}', type: 'STRUCTURED' })
  await save({ title: 'Hidden', content: 'x', isPrivate: true })
})

const get = async (path: string, options: { key?: string; headers?: Record<string, string> } = {}) => await test.fetch(path, options)
const titles = (entries: readonly { title: string }[]) => entries.map(({ title }) => title)

describe('dumps', () => {
  it('are prompts.json, newest first, with every field of an entry', async () => {
    const answer = await get(`${PREFIX}/prompts.json`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const { prompts, count } = await readJson(answer)
    expect([count, titles(prompts)]).toEqual([3, ['Newest', 'Letter', 'Oldest']])
    const ada = { id: 'ada', username: 'ada', name: 'ada', avatar: null, identifier: null, verified: false }
    expect(prompts[1]).toEqual({
      id: letter.id,
      title: 'Letter',
      slug: 'letter',
      description: 'Says: "hello"',
      content: 'Write to ${who:a friend} about ${what}.',
      type: 'TEXT',
      structuredFormat: null,
      mediaUrl: null,
      viewCount: 0,
      voteCount: 0,
      commentCount: 0,
      isFeatured: false,
      featuredAt: null,
      requiresMediaUpload: false,
      requiredMediaType: null,
      requiredMediaCount: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      category: { id: 'editing', name: 'Editing', slug: 'editing', icon: null },
      author: ada,
      contributors: [],
      tags: [
        { id: 'mail', name: 'Mail', slug: 'mail', color: '#808080' },
        { id: 'two-words', name: 'Two words', slug: 'two-words', color: '#808080' },
      ],
    })
    expect(prompts[0].structuredFormat).toBe('JSON')
  })

  it('are prompts.csv, oldest first, that a reader of CSV takes', async () => {
    const text = await (await get('/prompts.csv')).text()
    expect(text.split('\n')[0]).toBe('act,prompt,for_devs,type,contributor')
    expect(text).not.toContain('\r')
    expect(parse(text, { columns: true })).toEqual([
      { act: 'Oldest', prompt: 'First "quoted", with\ntwo lines', for_devs: 'TRUE', type: 'TEXT', contributor: 'ada' },
      { act: 'Letter', prompt: 'Write to ${who:a friend} about ${what}.', for_devs: 'FALSE', type: 'TEXT', contributor: 'ada' },
      { act: 'Newest', prompt: '{"a": 1}', for_devs: 'FALSE', type: 'STRUCTURED', contributor: 'ada' },
    ])
  })

  it('may be kept for a minute, and are read again only when the library has changed', async () => {
    const first = await get('/prompts.json')
    expect(first.headers.get('cache-control')).toBe('public, max-age=60')
    const headers = { 'If-None-Match': first.headers.get('etag') ?? '' }
    const again = await get('/prompts.json', { headers })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('are made once for readers without a key, also when many ask at once', async () => {
    const walk = vi.spyOn(test.app.store.items, 'walkWholePrompts')
    const { actor } = await test.user('ben')
    const { prompt } = Object(await test.call(actor, 'save_prompt', { title: 'Of Ben', content: 'x', isPrivate: false }))
    const texts = await Promise.all([1, 2, 3].map(async () => await (await get('/prompts.json')).text()))
    expect([new Set(texts).size, walk.mock.calls.length]).toEqual([1, 1])
    const again = await get('/prompts.json')
    expect([await again.text(), walk.mock.calls.length]).toEqual([texts[0], 1])
    expect(again.headers.get('content-length')).toBe(String(Buffer.byteLength(texts[0] ?? '')))
    const other = await get('/prompts.csv')
    expect([(await other.text()).includes('Of Ben'), walk.mock.calls.length]).toEqual([false, 2])
    await test.call(actor, 'delete_item', { collection: 'prompts', id: prompt.id })
    expect([(await (await get('/prompts.json')).text()).includes('Of Ben'), walk.mock.calls.length]).toEqual([false, 3])
    walk.mockRestore()
  })

  it('hold what is private only for its owner’s key, and are kept by nobody then', async () => {
    const own = await get('/prompts.json', { key })
    expect(own.headers.get('cache-control')).toBe('private, no-store')
    expect(titles((await readJson(own)).prompts)).toEqual(['Hidden', 'Newest', 'Letter'])
    expect(own.headers.get('etag')).toBeNull()
    // What is saved in private changes no validator, or strangers saw when somebody works.
    const before = (await get('/prompts.json')).headers.get('etag') ?? ''
    await test.fetch('/api/prompts', { ...json('POST', { title: 'Hidden too', content: 'x' }), key })
    expect((await get('/prompts.json', { headers: { 'If-None-Match': before } })).status).toBe(304)
  })
})

describe('the Raycast extension', () => {
  it('lists, filters, sorts and pages', async () => {
    const list = async (query: string) => await readJson(await get(`${PREFIX}/api/prompts${query}`))
    const all = await list('?page=1&perPage=2')
    expect(all).toMatchObject({ total: 3, page: 1, perPage: 2, totalPages: 2 })
    expect(titles(all.prompts)).toEqual(['Newest', 'Letter'])
    expect(titles((await list('?sort=oldest')).prompts)).toEqual(['Oldest', 'Letter', 'Newest'])
    expect(titles((await list('?category=coding')).prompts)).toEqual(['Oldest'])
    expect(titles((await list('?tag=mail&sort=upvotes&type=TEXT')).prompts)).toEqual(['Letter'])
    expect(titles((await list('?q=letter')).prompts)).toEqual(['Letter'])
    const [entry] = (await list('?tag=mail')).prompts
    expect(entry).toMatchObject({
      author: { username: 'ada', verified: false },
      category: { slug: 'editing', parent: { id: 'writing', slug: 'writing', name: 'Writing' } },
      tags: [{ tag: { slug: 'mail' } }, { tag: { slug: 'two-words' } }],
      voteCount: 0,
      contributorCount: 0,
      viewCount: 0,
    })
    expect(titles((await readJson(await get(`${PREFIX}/api/prompts`, { key }))).prompts)).toContain('Hidden')
    for (const wrong of ['?page=0', '?perPage=1000', '?page=x', '?type=odd'])
      expect((await get(`${PREFIX}/api/prompts${wrong}`)).status, wrong).toBe(400)
  })

  it('reads one prompt, and searches', async () => {
    expect(await readJson(await get(`${PREFIX}/api/prompts/letter`))).toMatchObject({
      id: letter.id,
      tags: [{ tag: { slug: 'mail' } }, {}],
    })
    expect((await get(`${PREFIX}/api/prompts/nothing`)).status).toBe(404)
    expect(await readJson(await get(`${PREFIX}/api/prompts/search?q=letter&limit=5`))).toEqual({
      prompts: [{ id: letter.id, title: 'Letter', slug: 'letter', author: { username: 'ada' } }],
    })
    // Outside the prefix it is a prompt of that name.
    expect((await get('/api/prompts/search?q=letter')).status).toBe(404)
    expect(await readJson(await get(`${PREFIX}/api/health`))).toEqual({
      status: 'healthy',
      timestamp: expect.any(String),
      database: 'connected',
    })
  })
})

describe('addresses of prompts.chat', () => {
  it('lead to the pages here, where nothing else has the address', async () => {
    const stranger = visit(test)
    for (const [path, to] of [
      ['/ada/letter', '/prompts/letter'],
      ['/ADA/letter', '/prompts/letter'],
      [`/prompts/${letter.id}_letter`, `/prompts/${letter.id}`],
      ['/prompts/cmj1yryrn0000t5als4r7rp1f_letter', '/prompts/letter'],
    ] as const) {
      const answer = await stranger.get(path)
      expect([answer.status, answer.to], path).toEqual([302, to])
    }
    for (const path of ['/ben/letter', '/ada/nothing', '/ada/letter/more']) expect((await stranger.get(path)).status, path).toBe(404)
  })

  it('give a prompt as a file for editors, and as one of GitHub Models', async () => {
    for (const path of [`/prompts/${letter.id}_letter.prompt.md`, '/prompts/letter.prompt.md', `${PREFIX}/prompts/letter.prompt.md`]) {
      const file = await get(path)
      expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(await file.text()).toBe('---\nname: Letter\ndescription: \'Says: "hello"\'\n---\nWrite to ${who:a friend} about ${what}.')
    }
    expect(parseYaml(await (await get('/prompts/letter.prompt.yml')).text())).toEqual({
      name: 'Letter',
      description: 'Says: "hello"',
      model: 'openai/gpt-4o',
      modelParameters: {},
      messages: [{ role: 'user', content: 'Write to {{who}} about {{what}}.' }],
    })
    expect(await (await get(`${PREFIX}/api/prompts/letter/raw`)).text()).toBe('Write to ${who:a friend} about ${what}.')
  })
})
