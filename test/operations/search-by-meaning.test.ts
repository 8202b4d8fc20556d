import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EncodedQuery, Encoder } from '../../src/domain/ports/encoder.ts'
import { eventually } from '../support/model-server.ts'
import { json, readJson, rpc, type TestApp, testApp } from '../support/test-app.ts'

/** An encoder that knows three topics by their words: what is about one topic is near, and the rest is not. */
const TOPICS = [/walrus|flippers|sea mammal/i, /invoice|billing|what customers owe/i, /glacier|ice sheet/i]
const DIMENSIONS = 384
let state: ReturnType<Encoder['state']> = 'ready'

function toNumbers(text: string): number[] {
  return Array.from({ length: DIMENSIONS }, (_, i) => (i < TOPICS.length ? Number(TOPICS[i]?.test(text) ?? false) : i === 99 ? 0.05 : 0))
}
const encoder: Encoder = {
  model: 'topics-1',
  isProvider: false,
  batchSize: 1,
  start() {},
  state: () => state,
  fault: () => null,
  async encodeQuery(text): Promise<EncodedQuery | null> {
    return state === 'ready' ? { vector: Float32Array.from(toNumbers(text)), knownShare: /xqzwvk/.test(text) ? 0 : 1 } : null
  },
  encodeItems: async (items) =>
    items.map(({ title, text }) => (state === 'ready' ? Int8Array.from(toNumbers(`${title} ${text}`), (value) => value * 100) : null)),
  close: async () => {},
}

let test: TestApp
let owner: Awaited<ReturnType<TestApp['user']>>
beforeEach(async () => {
  state = 'ready'
  test = await testApp({}, {}, null, { encoder })
  owner = await test.user('owner')
  test.app.itemEncoding?.start(() => {})
})
afterEach(() => test.close())

async function save(title: string, content: string, visibility = 'public', by = owner): Promise<string> {
  return Object(await test.call(by.actor, 'save_prompt', { title, content, visibility })).prompt.id
}
/** Resolves when every item has its vector. */
const encoded = async () => {
  expect(await eventually(async () => (await test.app.itemEncoding?.countItems())?.pending === 0)).toBe(true)
}
async function find(query: string, key?: string): Promise<{ title: string; score: number; approximate?: true }[]> {
  const { prompts } = await readJson(await test.fetch(`/api/search/prompts?query=${encodeURIComponent(query)}`, { ...(key && { key }) }))
  return prompts.map(({ title, score, approximate }: { title: string; score: number; approximate?: true }) => ({
    title,
    score,
    ...(approximate && { approximate }),
  }))
}
/** Asks each instance, as each has its own cache. */
const everywhere = async (ask: () => Promise<void>) => {
  for (const _ of test.apps) await ask()
}
const titlesOf = (found: readonly { title: string }[]) => found.map(({ title }) => title)

describe('a search by meaning', () => {
  it('calls a hit a match only where it holds most of the rare words of the query', async () => {
    await save('Tusks', 'All about the walrus. Write to me.')
    await save('Dunning', 'Write an invoice reminder.')
    await save('Feeding', 'Write a list of what a walrus keeper buys.')
    await encoded()
    const isMatch = async (query: string) => (await find(query)).map(({ title, approximate }) => [title, approximate !== true])
    expect(await isMatch('write walrus')).toEqual(
      expect.arrayContaining([
        ['Tusks', true],
        ['Feeding', true],
        ['Dunning', false],
      ]),
    )
    expect((await isMatch('unclog the walrus sink drain')).filter(([, isExact]) => isExact)).toEqual([])
    expect(await isMatch('feeding ')).toEqual([['Feeding', true]])
    // When nothing matches, the languages of the texts are told.
    for (let n = 0; n < 3; n++) await save(`Rapor ${n}`, 'Bir metin ve kısa bir özet için yaz, with the notes and more.')
    const ask = async (query: string) => {
      const call = rpc('tools/call', { name: 'search_prompts', arguments: { query } })
      const [, hint] = (await readJson(await test.fetch('/api/mcp', call))).result.content
      return hint?.text
    }
    expect(await ask('walross füttern')).toBe(
      'Nothing here matches these words. Texts are in English (50 %) and Turkish (50 %): search in one of their languages.',
    )
    expect([await ask('walrus '), await ask('')]).toEqual([undefined, undefined])
  })

  it('finds what shares no word with the query, and says so', async () => {
    await save('Tusks', 'All about the walrus.')
    await save('Dunning', 'Write an invoice reminder.')
    await encoded()
    expect(await find('an animal with flippers')).toEqual([{ title: 'Tusks', score: expect.any(Number), approximate: true }])
    const [hit] = await find('walrus')
    expect(hit).toEqual({ title: 'Tusks', score: expect.any(Number) })
    expect(hit?.score).toBeGreaterThan(0.5)
    expect(await find('xqzwvk plumbus')).toEqual([])
    const mcp = await readJson(
      await test.fetch('/api/mcp', {
        ...json('POST', {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'search_prompts', arguments: { query: 'flippers' } },
        }),
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      }),
    )
    expect(Object.keys(mcp.result.structuredContent)).toEqual(['query', 'count', 'prompts'])
    expect(mcp.result.structuredContent.prompts[0]).toMatchObject({ title: 'Tusks', approximate: true })
  })

  it('forgets the meaning of a text that changed, and of one in the trash', async () => {
    const id = await save('Tusks', 'All about the walrus.')
    await encoded()
    await test.call(owner.actor, 'update_prompt', { id, content: 'All about the glacier.' })
    await encoded()
    expect(await find('flippers')).toEqual([])
    expect(titlesOf(await find('ice sheet'))).toEqual(['Tusks'])
    await test.call(owner.actor, 'delete_item', { collection: 'prompts', id })
    expect(await find('ice sheet')).toEqual([])
  })

  it('keeps no answer that the encoder had no part in', async () => {
    await save('Tusks', 'All about the walrus.')
    await encoded()
    state = 'starting'
    await everywhere(async () => expect(await find('flippers')).toEqual([]))
    state = 'ready'
    await everywhere(async () => expect(titlesOf(await find('flippers'))).toEqual(['Tusks']))
    // Kept now: it is asked no more.
    state = 'starting'
    await everywhere(async () => expect(titlesOf(await find('flippers'))).toEqual(['Tusks']))
  })

  it('keeps no page that the encoder had no part in', async () => {
    await save('Tusks', 'All about the walrus.')
    await encoded()
    const read = async (path: string) => await (await test.fetch(path, { headers: { accept: 'text/html' } })).text()
    for (const path of ['/prompts?q=flippers', '/search?q=flippers']) {
      state = 'starting'
      await everywhere(async () => expect(await read(path)).not.toContain('Tusks'))
      state = 'ready'
      await everywhere(async () => expect(await read(path)).toContain('Tusks'))
      state = 'starting'
      await everywhere(async () => expect(await read(path)).toContain('Tusks'))
    }
  })

  it('keeps answers of texts apart that differ after the last word that is searched', async () => {
    await save('Tusks', 'All about the walrus.')
    await save('Dunning', 'Write an invoice reminder.')
    await encoded()
    const start = Array.from({ length: 24 }, (_, i) => `nothing${i}`).join(' ')
    expect(titlesOf(await find(`${start} flippers`))).toEqual(['Tusks'])
    expect(titlesOf(await find(`${start} billing`))).toEqual(['Dunning'])
  })

  it('goes on by words when the encoder cannot be used', async () => {
    await save('Tusks', 'All about the walrus.')
    await encoded()
    state = 'fallback'
    expect(titlesOf(await find('walrus'))).toEqual(['Tusks'])
    expect(await find('flippers')).toEqual([])
    expect((await test.fetch('/readyz')).status).toBe(200)
    expect(await readJson(await test.fetch('/readyz'))).toMatchObject({ encoder: 'fallback' })
  })

  it('shows a private item to its owner alone, and lets it change nothing for others', async () => {
    for (let i = 0; i < 12; i++) await save(`Tusks ${i}`, `All about the walrus, part ${i}.`)
    await encoded()
    const other = await test.user('other')
    const asked = ['flippers', 'walrus', 'walrsu', 'part 3 of the walrus']
    const look = async () => await Promise.all(asked.flatMap((query) => [find(query), find(query, other.key)]))
    const before = await look()
    const suggestions = async () => (await test.fetch('/prompts?q=walrsu')).text()
    const page = (await suggestions()).replaceAll(/nonce="[^"]*"/g, '')
    for (let i = 0; i < 5; i++) await save(`Canary ${i}`, 'A walrus with flippers, walrus, walrus.', i % 2 ? 'private' : 'unlisted')
    await encoded()
    expect(await look()).toEqual(before)
    expect((await suggestions()).replaceAll(/nonce="[^"]*"/g, '')).toBe(page)
    expect(titlesOf(await find('flippers', owner.key))).toContain('Canary 1')
  })
})

describe('related items', () => {
  const related = async (id: string, key?: string) => {
    const response = await test.fetch(`/api/prompts/${id}/related`, { ...(key && { key }) })
    return { status: response.status, titles: response.ok ? titlesOf((await readJson(response)).items) : [] }
  }

  it('are what is near in meaning, nearest first, and never what the reader may not list', async () => {
    const anchor = await save('Anchor', 'All about the walrus.')
    await save('Near', 'A sea mammal.')
    await save('Far', 'Write an invoice reminder.')
    await save('Half', 'A sea mammal on a glacier.')
    const hidden = await save('Hidden', 'My walrus.', 'private')
    await save('Unlisted', 'A walrus by its address.', 'unlisted')
    await test.call(owner.actor, 'delete_item', { collection: 'prompts', id: await save('Deleted', 'An old walrus.') })
    await encoded()
    const other = await test.user('other')
    expect(await related(anchor)).toEqual({ status: 200, titles: ['Near', 'Half'] })
    expect(await related(anchor, other.key)).toEqual({ status: 200, titles: ['Near', 'Half'] })
    const own = await related(anchor, owner.key)
    expect(new Set(own.titles)).toEqual(new Set(['Near', 'Half', 'Hidden', 'Unlisted']))
    expect(await related(hidden)).toMatchObject({ status: 404 })
    expect(await related(hidden, other.key)).toMatchObject({ status: 404 })
    expect(new Set((await related(hidden, owner.key)).titles)).toEqual(new Set(['Anchor', 'Near', 'Half', 'Unlisted']))
    const page = await (await test.fetch('/prompts/anchor')).text()
    expect(page).toMatch(/Related[\s\S]*href="\/prompts\/near"[\s\S]*href="\/prompts\/half"/)
    expect(page).not.toMatch(/>(Hidden|Unlisted|Deleted)</)
  })

  it('are none where nothing is near, and refused for what there is not', async () => {
    const id = await save('Alone', 'All about the walrus.')
    await save('Far', 'Write an invoice reminder.')
    await encoded()
    expect(await related(id)).toEqual({ status: 200, titles: [] })
    expect((await (await test.fetch('/prompts/alone')).text()).includes('class="related"')).toBe(false)
    expect((await related('nothing-here')).status).toBe(404)
    expect((await test.fetch(`/api/prompts/${id}/related?limit=21`)).status).toBe(400)
  })
})
