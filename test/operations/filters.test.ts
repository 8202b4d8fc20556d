import { beforeAll, describe, expect, it } from 'vitest'
import { readJson, rpc, useTestApp } from '../support/test-app.ts'

const test = useTestApp()
let key: string

beforeAll(async () => {
  const ada = await test.user('Ada')
  key = ada.key
  await test.call(ada.actor, 'save_prompt', {
    title: 'Tests',
    content: 'x',
    category: 'coding',
    tags: ['C++', 'Unit tests'],
    isPrivate: false,
  })
  await test.call(ada.actor, 'save_prompt', { title: 'Letter', content: 'x', category: 'writing', tags: ['mail'], isPrivate: false })
  await test.call(ada.actor, 'save_prompt', { title: 'Hidden', content: 'x', tags: ['secret plans'], isPrivate: true })
  const files = [{ filename: 'SKILL.md', content: '---\nname: tests\ndescription: d\n---\n' }]
  await test.call(ada.actor, 'save_skill', { title: 'Testing', files, category: 'coding', tags: ['C++'], isPrivate: false })
})

async function callTool(name: string, args: Record<string, unknown>) {
  const response = await test.fetch('/api/mcp', rpc('tools/call', { name, arguments: args }))
  return (await readJson(response)).result
}
const get = async (path: string, options: { key?: string } = {}) => await readJson(await test.fetch(path, options))
const titles = (items: { title: string }[]) => items.map(({ title }) => title)

describe('a filter', () => {
  it.each([
    ['category', 'coding'],
    ['category', 'Coding'],
    ['category', ' CODING '],
    ['tag', 'cplusplus'],
    ['tag', 'C++'],
    ['tag', 'c++'],
    ['tag', 'UNIT TESTS'],
    ['tag', 'unit-tests'],
  ])('%s takes a slug or a name in any case: %s', async (name, value) => {
    const query = `query=&${name}=${encodeURIComponent(value)}`
    expect(titles((await get(`/api/search/prompts?${query}`)).prompts)).toEqual(['Tests'])
    expect(titles((await get(`/api/prompts?${query}`)).prompts)).toEqual(['Tests'])
    expect((await callTool('search_prompts', { query: '', [name]: value })).structuredContent.count).toBe(1)
    const url = name === 'tag' ? 'tags' : 'categories'
    const listed = await test.fetch(`/api/mcp?${url}=${encodeURIComponent(value)}`, rpc('prompts/list'))
    expect((await readJson(listed)).result.prompts.map((prompt: { name: string }) => prompt.name)).toEqual(['tests'])
  })

  it.each(['search_prompts', 'search_skills'])('that is empty or null is not there, for %s', async (name) => {
    const { count } = (await callTool(name, { query: '' })).structuredContent
    expect(count).toBeGreaterThan(0)
    for (const value of ['', null]) {
      const filters = { category: value, tag: value, ...(name === 'search_prompts' ? { type: value } : {}) }
      const result = await callTool(name, { query: '', ...filters, limit: null })
      expect([result.isError, result.structuredContent.count]).toEqual([undefined, count])
    }
  })

  it('that is empty is not there over REST', async () => {
    expect((await get('/api/prompts?category=&tag=&type=&author=')).total).toBe(2)
    expect((await get('/api/search/prompts?query=&category=&tag=&type=')).count).toBe(2)
  })

  it('takes the category of a new prompt by name as well', async () => {
    const { actor } = await test.user('Ben')
    const saved = Object(await test.call(actor, 'save_prompt', { title: 'Named', content: 'x', category: 'Writing' })).prompt
    expect([saved.category, saved.categorySlug]).toEqual(['Writing', 'writing'])
  })
})

describe('an unknown filter', () => {
  it('leaves the shape of a tool’s answer, and has the valid values beside it', async () => {
    const result = await callTool('search_prompts', { query: 'x', category: 'nonsense', tag: 'nothing' })
    const answer = { query: 'x', count: 0, prompts: [] }
    expect(result.structuredContent).toEqual(answer)
    expect(JSON.parse(result.content[0].text)).toEqual(answer)
    expect(result.content.slice(1).map(({ text }: { text: string }) => text)).toEqual([
      'Unknown category "nonsense". Valid values for category: coding, writing.',
      'Unknown tag "nothing". Valid values for tag: cplusplus, mail, unit-tests.',
    ])
  })

  it('says so in hints over REST, of lists too', async () => {
    expect(await get('/api/search/skills?query=&category=nonsense')).toEqual({
      query: '',
      count: 0,
      skills: [],
      hints: ['Unknown category "nonsense". Valid values for category: coding, writing.'],
    })
    const listed = await get('/api/prompts?tag=mail,nothing')
    expect(listed).toMatchObject({ total: 0, prompts: [], hints: [expect.stringContaining('Unknown tag "nothing".')] })
    expect(listed.hints).toHaveLength(1)
    expect((await get('/api/skills?category=nonsense')).hints).toHaveLength(1)
  })

  it('is not hinted at where a known one finds nothing, or something is found', async () => {
    expect(await get('/api/search/skills?query=&category=writing')).not.toHaveProperty('hints')
    expect(await get('/api/search/prompts?query=&category=coding')).not.toHaveProperty('hints')
  })

  it('names no tag of what the caller may not see', async () => {
    expect(JSON.stringify(await get('/api/prompts?tag=nothing'))).not.toContain('secret')
    expect(JSON.stringify(await get('/api/prompts?tag=nothing', { key }))).toContain('secret-plans')
    expect(JSON.stringify(await get('/api/prompts?tag=secret-plans'))).toContain('Unknown tag')
  })

  it('lists so many values and counts the rest', async () => {
    const { actor } = await test.user('Many')
    for (let n = 0; n < 6; n++) {
      const tags = Array.from({ length: 10 }, (_, m) => `mine ${n} ${m}`)
      await test.call(actor, 'save_prompt', { title: `P${n}`, content: 'x', tags, isPrivate: true })
    }
    const [hint] = Object(await test.call(actor, 'list_prompts', { tag: ['nothing'] })).hints
    expect(hint.split(', ')).toHaveLength(50)
    expect(hint).toMatch(/ and 13 more\.$/)
  })
})

describe('the tools', () => {
  it('list categories', async () => {
    const { categories } = (await callTool('list_categories', {})).structuredContent
    expect(categories).toEqual([
      { slug: 'coding', name: 'Coding', parent: null, prompts: 1, skills: 1 },
      { slug: 'writing', name: 'Writing', parent: null, prompts: 1, skills: 0 },
    ])
  })

  it('update a prompt', async () => {
    const { actor, key: own } = await test.user('Cleo')
    const { id } = Object(await test.call(actor, 'save_prompt', { title: 'Old', content: 'x', tags: ['a'] })).prompt
    const call = async (args: Record<string, unknown>, as: string | undefined = own) => {
      const request = rpc('tools/call', { name: 'update_prompt', arguments: { id, ...args } })
      return (await readJson(await test.fetch('/api/mcp', { ...request, ...(as === undefined ? {} : { key: as }) }))).result
    }
    const { prompt, version } = (await call({ title: 'New', tags: null })).structuredContent
    expect([prompt.title, prompt.content, prompt.tags, version]).toEqual(['New', 'x', ['a'], 2])
    const stale = await call({ title: 'Newer', baseVersion: 1 })
    expect(JSON.parse(stale.content[0].text).code).toBe('conflict')
    // Another's private prompt is no prompt at all.
    expect(JSON.parse((await call({ title: 'Mine' }, key)).content[0].text).code).toBe('not_found')
    expect(JSON.parse((await call({})).content[0].text)).toMatchObject({
      code: 'invalid_input',
      error: expect.stringContaining('Nothing to update'),
    })
  })
})
