import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS, ANONYMOUS, PERSON_RIGHTS } from '../../src/domain/people/actor.ts'
import { startWritingUses } from '../../src/server/start.ts'
import { json, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

/** What is counted, who sees it, and what is not kept. */

const DAY_MS = 86_400_000
const tool = (name: string, args: unknown) => ['/api/mcp', rpc('tools/call', { name, arguments: args })] as const

describe('uses', () => {
  let test: TestApp
  let admin: Visitor
  let owner: Visitor
  let ids: { prompt: string; skill: string }
  let actors: { admin: Actor; owner: Actor; other: Actor }
  let key: string

  const asPerson = async (name: string, rights: readonly (typeof ADMIN_RIGHTS)[number][]): Promise<Actor> => {
    const person = await test.app.store.people.findPersonByName(name)
    return { kind: 'user', userId: person?.id ?? '', username: name, scopes: new Set(rights) }
  }
  const write = async () => {
    const failures: unknown[] = []
    for (const { uses, store, clock } of test.apps) {
      if (!uses) throw new Error('nothing is counted')
      await startWritingUses(uses, store.usage, clock, (error) => failures.push(error))()
    }
    expect(failures).toEqual([])
  }
  const today = async () => {
    await write()
    const { days } = Object(await test.call(actors.admin, 'show_library_usage', {}))
    const { day: _, ...counts } = days.at(-1)
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
  }
  const ofItem = async (collection: 'prompts' | 'skills', id: string) => {
    await write()
    const { usage } = Object(await test.call(actors.owner, 'show_item_page', { collection, id }))
    const { day: _, ...counts } = usage.days.at(-1)
    return counts
  }

  beforeEach(async () => {
    test = await testApp({}, {}, null, { countsUses: true })
    admin = await signUp(test, 'administrator')
    owner = await signUp(test, 'owner')
    await signUp(test, 'other')
    actors = {
      admin: await asPerson('administrator', ADMIN_RIGHTS),
      owner: await asPerson('owner', PERSON_RIGHTS),
      other: await asPerson('other', PERSON_RIGHTS),
    }
    const prompt = Object(
      await test.call(actors.owner, 'save_prompt', { title: 'Walrus', content: 'About ${x:it}.', visibility: 'public' }),
    )
    const files = [{ filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidy.\n---\nTidy.' }]
    const skill = Object(await test.call(actors.owner, 'save_skill', { title: 'Tidy', files, visibility: 'public' }))
    ids = { prompt: prompt.prompt.id, skill: skill.skill.id }
    key = /cpb_\w+/.exec((await owner.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read', 'write'] })).html)?.[0] ?? ''
    for (const { uses } of test.apps) uses?.take()
  })
  afterEach(() => test.close())

  it('of programs are calls, and reads of the items they read', async () => {
    await test.fetch(...tool('get_prompt', { id: ids.prompt }))
    await test.fetch('/api/mcp', rpc('prompts/get', { name: 'walrus' }))
    await test.fetch(...tool('get_skill', { id: ids.skill }))
    await test.fetch('/api/mcp', rpc('resources/read', { uri: 'skill://owner/tidy/SKILL.md' }))
    await test.fetch(`/api/prompts/${ids.prompt}`)
    await test.fetch(`/api/prompts/${ids.prompt}/fill`, json('POST', {}))
    await test.fetch('/api/prompts/nobody')
    // Reading a resource takes three operations: the skill is found by its name.
    expect(await today()).toMatchObject({ mcpCalls: 6, restCalls: 3 })
    expect(await ofItem('prompts', ids.prompt)).toEqual({ copies: 0, reads: 4, views: 0 })
    expect(await ofItem('skills', ids.skill)).toEqual({ copies: 0, reads: 2, views: 0 })
  })

  it('of pages are views by others, each page once', async () => {
    const html = { accept: 'text/html' }
    await visit(test).get('/prompts/walrus')
    await visit(test).get('/prompts/walrus', { 'sec-fetch-dest': 'document' })
    await owner.get('/prompts/walrus')
    await owner.get(`/prompts/${ids.prompt}/edit`)
    // What a script or the browser reads ahead of time is no use.
    await visit(test).get('/prompts/walrus', { 'sec-fetch-dest': 'empty' })
    await visit(test).get('/prompts/walrus', { 'sec-purpose': 'prefetch' })
    await test.fetch(`/embed/${ids.prompt}`, { headers: html })
    await test.fetch(`/api/embed/image/${ids.prompt}.svg`)
    expect(await ofItem('prompts', ids.prompt)).toEqual({ copies: 0, reads: 0, views: 3 })
    expect(await today()).toMatchObject({ views: 3 })
  })

  it('are one search for each page, also from the cache, and tell of those that found nothing', async () => {
    for (let time = 0; time < 3; time++) {
      await visit(test).get('/search?q=walrus')
      await visit(test).get('/search?q=zzqqxx')
    }
    await visit(test).get('/prompts?q=walrus')
    await visit(test).get('/prompts')
    await visit(test).get('/search?q=')
    await visit(test).get('/search?q=walrus', { 'sec-fetch-dest': 'empty' })
    await test.fetch(...tool('search_prompts', { query: 'zzqqxx' }))
    await test.fetch(...tool('search_prompts', { query: '' }))
    expect(await today()).toMatchObject({ searches: 8, emptySearches: 4, mcpCalls: 2 })
  })

  it('are copies when the script of a page says so, for five in ten minutes of one caller', async () => {
    const stranger = visit(test)
    for (let time = 0; time < 9; time++) expect((await stranger.post(`/prompts/${ids.prompt}/copied`, {})).status).toBe(204)
    expect((await owner.post(`/skills/${ids.skill}/copied`, {})).status).toBe(204)
    expect((await stranger.post(`/prompts/${ids.prompt}/copied`, {}, { origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await stranger.post('/prompts/nobody/copied', {})).status).toBe(404)
    expect((await owner.get(`/download/prompts/${ids.prompt}/filled`)).status).toBe(200)
    expect(await ofItem('prompts', ids.prompt)).toMatchObject({ copies: 6 })
    expect(await ofItem('skills', ids.skill)).toMatchObject({ copies: 1 })
  })

  it('are sign-ins and faults of the service', async () => {
    await visit(test).post('/sign-in', { name: 'owner', password: 'wrong one' })
    await visit(test).post('/sign-in', { name: 'owner', password: 'a horse that reads' })
    const broken = test.apps.map(({ store: { items } }) => ({ items, find: items.findItem }))
    for (const { items } of broken) {
      items.findItem = async () => {
        throw new Error('broken')
      }
    }
    expect((await test.fetch(`/api/prompts/${ids.prompt}`)).status).toBe(500)
    await test.fetch(...tool('get_prompt', { id: ids.prompt }))
    for (const { items, find } of broken) items.findItem = find
    expect(await today()).toMatchObject({ signIns: 1, errors: 2 })
    const { html } = await admin.get('/admin')
    const chart = (name: string) => new RegExp(`<title[^>]*>${name} by day</title><desc[^>]*>([^<]*)</desc>`).exec(html)?.[1]
    expect(chart('Sign-ins')).toMatch(/^Most on \w+ \d+: 1\.$/)
    expect(chart('Searches')).toBe('None.')
  })

  it('of a key are shown to its owner alone', async () => {
    for (let time = 0; time < 3; time++) await test.fetch('/api/prompts', { key })
    await test.fetch(tool('search_prompts', { query: 'x' })[0], { ...tool('search_prompts', { query: 'x' })[1], key })
    await write()
    const { days, keys } = Object(await test.call(actors.owner, 'list_key_usage', {}))
    expect(days).toHaveLength(30)
    expect(keys.map(({ calls }: { calls: number[] }) => calls.at(-1))).toEqual([4])
    expect(await test.call(actors.other, 'list_key_usage', {})).toMatchObject({ keys: [] })
    expect((await owner.get('/settings/access')).html).toContain('4 calls')
  })

  it('of an item are shown to its owner alone, and totals to administrators alone', async () => {
    const asked = { collection: 'prompts', id: ids.prompt }
    await expect(test.call(ANONYMOUS, 'list_key_usage', {})).rejects.toMatchObject({ code: 'unauthenticated' })
    for (const actor of [actors.owner, actors.other]) {
      await expect(test.call(actor, 'show_library_usage', {})).rejects.toMatchObject({ code: 'forbidden' })
    }
    const hidden = Object(await test.call(actors.owner, 'save_prompt', { title: 'Mine', content: 'x', visibility: 'private' })).prompt
    const ask = (id: string) => test.call(actors.admin, 'show_item_page', { collection: 'prompts', id })
    const missing = await ask('00000000-0000-4000-8000-000000000000').catch((error: Error) => error.message)
    await expect(ask(hidden.id)).rejects.toMatchObject({ code: 'not_found', message: missing })
    await test.fetch(`/api/prompts/${ids.prompt}`)
    await write()
    expect((await owner.get('/prompts/walrus')).html).toMatch(/Last 30 days: no views, no copies, 1 API read</)
    expect((await owner.get('/skills/tidy')).html).toContain('Last 30 days: no views, no copies, no API reads')
    for (const reader of [admin, visit(test)]) {
      expect((await reader.get('/prompts/walrus')).html).not.toContain('Last 30 days')
      expect((await reader.get('/skills/tidy')).html).not.toContain('Last 30 days')
    }
    expect(await test.call(actors.owner, 'show_item_page', asked)).toMatchObject({ usage: { days: expect.any(Array) } })
    for (const actor of [actors.admin, actors.other, ANONYMOUS]) {
      expect(await test.call(actor, 'show_item_page', asked)).toMatchObject({ usage: null })
    }
  })

  it('count for the day on which they were written, and old days stay as they are', async () => {
    await test.fetch(`/api/prompts/${ids.prompt}`)
    await write()
    test.wait(DAY_MS)
    await test.fetch(`/api/prompts/${ids.prompt}`)
    await test.fetch(`/api/prompts/${ids.prompt}`)
    await write()
    const { usage } = Object(await test.call(actors.owner, 'show_item_page', { collection: 'prompts', id: ids.prompt }))
    expect(usage.days.slice(-2).map(({ reads }: { reads: number }) => reads)).toEqual([1, 2])
  })

  it('are counted again when they cannot be written', async () => {
    await test.fetch(`/api/prompts/${ids.prompt}`)
    const failures: unknown[] = []
    const addUses = async () => {
      throw new Error('disk full')
    }
    for (const { uses, clock } of test.apps) {
      if (uses) await startWritingUses(uses, { addUses }, clock, (error) => failures.push(error))()
    }
    expect(failures).toMatchObject([{ message: 'disk full' }])
    expect(await ofItem('prompts', ids.prompt)).toMatchObject({ reads: 1 })
  })

  it('are kept without texts and addresses, and change no cached answer', async () => {
    const revision = await test.app.store.service.readRevision('library')
    await visit(test).get('/search?q=zzqqsecret', { 'x-forwarded-for': '203.0.113.7' })
    await test.fetch(...tool('search_prompts', { query: 'zzqqsecret' }))
    await test.fetch('/api/prompts/zzqqsecret')
    await write()
    expect(await test.app.store.service.readRevision('library')).toBe(revision)
    const everything = await test.readEverything()
    expect(everything).not.toContain('zzqqsecret')
    expect(everything).not.toContain('203.0.113.7')
  })
})

describe('without USAGE_COUNTS', () => {
  it('nothing is counted or shown', async () => {
    const test = await testApp()
    const admin = await signUp(test, 'administrator')
    const saved = await admin.post('/new', { do: 'save', title: 'Walrus', content: 'x', visibility: 'public' })
    expect(saved.status).toBe(303)
    expect(test.app.uses).toBeNull()
    expect((await admin.get('/prompts/walrus')).html).not.toContain('in 30 days')
    expect((await admin.get('/settings/access')).html).not.toContain('calls')
    expect((await admin.get('/admin')).html).toContain('USAGE_COUNTS')
    expect((await visit(test).post('/prompts/walrus/copied', {})).status).toBe(204)
    await test.close()
  })
})
