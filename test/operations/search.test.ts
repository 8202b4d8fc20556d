import { beforeAll, describe, expect, it } from 'vitest'
import { json, readJson, useTestApp } from '../support/test-app.ts'

const test = useTestApp()
const keys = new Map<string, string>()

const send = async (method: string, path: string, key: string | undefined, body?: unknown) => {
  const response = await test.fetch(path, {
    ...(body === undefined ? { method } : json(method, body)),
    ...(key === undefined ? {} : { key }),
  })
  expect(response.status, `${method} ${path}`).toBeLessThan(300)
  return await readJson(response)
}
const save = async (who: string, fields: object) =>
  (await send('POST', '/api/prompts', keys.get(who), { content: 'some text', visibility: 'public', ...fields })).prompt
const saveSkill = async (who: string, { content = '# Skill', ...fields }: { title: string; content?: string; [name: string]: unknown }) =>
  (await send('POST', '/api/skills', keys.get(who), { visibility: 'public', files: [{ filename: 'SKILL.md', content }], ...fields })).skill
/** A page of prompts or skills; `who` absent is nobody. */
const list = async (path: string, who?: string) => await send('GET', path, who === undefined ? undefined : keys.get(who))
const titlesOf = (items: readonly { title: string }[]) => items.map((item) => item.title)

beforeAll(async () => {
  for (const name of ['Ada', 'ben']) keys.set(name, (await test.user(name)).key)
  keys.set('Ada, writing only', (await test.user('Ada', ['write'])).key)
})

describe('a mistyped word', () => {
  beforeAll(async () => {
    await save('Ada', { title: 'Kubernetes rollout', content: 'Plan a rollout to a kubernetes cluster.' })
    await save('Ada', { title: 'Weekly digest', content: 'Sum up the week.' })
    await saveSkill('Ada', { title: 'Terraform modules', content: '# Write terraform modules' })
    await save('Ada', { title: 'Merger', content: 'about zanzibarium', visibility: 'private' })
    await save('Ada', { title: 'Half open', content: 'about quellenhof', visibility: 'unlisted' })
    await save('ben', { title: 'Mine', content: 'about frobnicate', visibility: 'private' })
    await saveSkill('Ada', { title: 'Hidden skill', content: '# about vorwerkstatt', visibility: 'private' })
    const gone = await save('Ada', { title: 'Gone', content: 'about grimbleshanks' })
    await send('DELETE', `/api/prompts/${gone.id}`, keys.get('Ada'))
  })

  it.each([
    ['kuberntes', 'kubernetes'],
    ['Kuberntes rollout', 'kubernetes rollout'],
    ['"kuberntes",\trollout!', '"kubernetes",\trollout!'],
  ])('%j finds what was meant, and says so', async (query, corrected) => {
    const found = await list(`/api/prompts?q=${encodeURIComponent(query)}`)
    expect(found.correctedQuery).toBe(corrected)
    expect(found.prompts[0].title).toBe('Kubernetes rollout')
    expect(found.total).toBeGreaterThanOrEqual(1)
  })

  it('is put right for skills likewise', async () => {
    const found = await list('/api/skills?q=terrafrom%20modules')
    expect(found).toMatchObject({ correctedQuery: 'terraform modules', total: 1, totalPages: 1 })
    expect(titlesOf(found.skills)).toEqual(['Terraform modules'])
  })

  it('is found by the searches that say nothing of it, too', async () => {
    expect(titlesOf((await list('/api/search/prompts?query=kuberntes')).prompts)).toContain('Kubernetes rollout')
    const skills = await list('/api/search/skills?query=terrafrom')
    expect(titlesOf(skills.skills)).toEqual(['Terraform modules'])
    expect(skills).not.toHaveProperty('correctedQuery')
  })

  it.each(['kubernetes', 'Kubernetes rollouts', 'kubern', 'rollout plan', '', ' ', '!!!', 'the', '北京', 'qqqqqqqq', 'weekly'])(
    'is none in %j',
    async (query) => {
      expect(await list(`/api/prompts?q=${encodeURIComponent(query)}`)).not.toHaveProperty('correctedQuery')
      expect(await list(`/api/skills?q=${encodeURIComponent(query)}`)).not.toHaveProperty('correctedQuery')
    },
  )

  const everybody = [undefined, 'ben', 'Ada', 'Ada, writing only']
  it.each<[string, string, string, string]>([
    ['prompts', 'zanzibariun', 'zanzibarium', 'Ada'],
    ['prompts', 'quelenhof', 'quellenhof', 'Ada'],
    ['prompts', 'frobnicatee', 'frobnicate', 'ben'],
    ['skills', 'vorwrkstatt', 'vorwerkstatt', 'Ada'],
  ])('of %s: %j is never put right by a word only in what somebody else keeps (%s, %s)', async (collection, query, corrected, owner) => {
    for (const who of everybody) {
      const found = await list(`/api/${collection}?q=${query}`, who)
      if (who === owner) expect([found.correctedQuery, found.total]).toEqual([corrected, 1])
      else {
        expect(found, String(who)).not.toHaveProperty('correctedQuery')
        expect(found.total).toBe(0)
      }
    }
  })

  it('is not put right by what is in the trash', async () => {
    for (const who of everybody) expect(await list('/api/prompts?q=grimbleshank', who)).toMatchObject({ total: 0, prompts: [] })
    for (const who of everybody) expect(await list('/api/prompts?q=grimbleshanxs', who)).not.toHaveProperty('correctedQuery')
  })
})

describe('filters, totals and pages', () => {
  beforeAll(async () => {
    for (let i = 0; i < 25; i++) {
      await save(i % 3 === 0 ? 'ben' : 'Ada', {
        title: `Walrus ${i}`,
        category: i % 2 ? 'testing' : 'writing',
        tags: i % 5 ? ['odd'] : ['odd', 'five'],
        type: i % 4 ? 'TEXT' : 'IMAGE',
      })
      if (i < 12)
        await saveSkill('ben', { title: `Walrus skill ${i}`, category: i % 2 ? 'testing' : 'writing', tags: i % 5 ? [] : ['five'] })
    }
    for (let i = 0; i < 4; i++) await save('Ada', { title: `Walrus draft ${i}`, tags: ['odd'], category: 'testing', visibility: 'private' })
    for (const [who, title] of [
      ['Ada', 'walrus-7'],
      ['ben', 'walrus-7'],
      ['ben', 'walrus-3'],
    ] as const) {
      await send('PUT', `/api/prompts/${title}/vote`, keys.get(who))
    }
  })

  it.each<[string, string, number, number]>([
    ['prompts', '', 25, 29],
    ['prompts', '&category=testing', 12, 16],
    ['prompts', '&category=coding', 12, 16],
    ['prompts', '&category=unknown', 0, 0],
    ['prompts', '&tag=five', 5, 5],
    ['prompts', '&tag=five,odd', 5, 5],
    ['prompts', '&tag=odd', 25, 29],
    ['prompts', '&tag=five,none', 0, 0],
    ['prompts', '&author=ben', 9, 9],
    ['prompts', '&author=aDa', 16, 20],
    ['prompts', '&author=nobody', 0, 0],
    ['prompts', '&type=IMAGE', 7, 7],
    ['prompts', '&type=IMAGE&category=writing&tag=five&author=ben', 1, 1],
    ['skills', '', 12, 12],
    ['skills', '&category=testing', 6, 6],
    ['skills', '&tag=five', 3, 3],
    ['skills', '&author=Ada', 0, 0],
  ])('of %s?q=walrus%s: %i for everybody, %i for Ada', async (collection, filter, open, own) => {
    for (const [who, total] of [
      [undefined, open],
      ['ben', open],
      ['Ada, writing only', open],
      ['Ada', own],
    ] as const) {
      for (const sort of ['relevance', 'newest', 'oldest', 'votes']) {
        const seen: string[] = []
        const totalPages = Math.ceil(total / 4)
        for (let page = 1; page <= Math.max(1, totalPages); page++) {
          const found = await list(`/api/${collection}?q=walrus${filter}&sort=${sort}&perPage=4&page=${page}`, who)
          expect(found).toMatchObject({ total, totalPages, page, perPage: 4 })
          expect(found).not.toHaveProperty('correctedQuery')
          seen.push(...found[collection].map((item: { id: string }) => item.id))
        }
        expect([seen.length, new Set(seen).size], `${who} ${sort}`).toEqual([total, total])
      }
    }
  })

  it('hold for a mistyped word on every page', async () => {
    for (const page of [1, 2, 3]) {
      const found = await list(`/api/prompts?q=walruss&category=testing&perPage=5&page=${page}`)
      expect(found).toMatchObject({ total: 12, totalPages: 3, correctedQuery: 'walrus' })
      expect(found.prompts.length).toBe(page < 3 ? 5 : 2)
      for (const prompt of found.prompts) expect(prompt.categorySlug).toBe('testing')
    }
  })

  it('sort what was found', async () => {
    const numbers = async (sort: string) =>
      titlesOf((await list(`/api/prompts?q=walrus&perPage=100&sort=${sort}`)).prompts).map((title) => Number(title.split(' ')[1]))
    const oldest = Array.from({ length: 25 }, (_, i) => i)
    expect(await numbers('oldest')).toEqual(oldest)
    expect(await numbers('newest')).toEqual(oldest.toReversed())
    expect(await numbers('votes')).toEqual([7, 3, ...oldest.toReversed().filter((i) => i !== 7 && i !== 3)])
    const skills = async (sort: string) => titlesOf((await list(`/api/skills?q=walrus&perPage=100&sort=${sort}`)).skills)
    expect(await skills('oldest')).toEqual((await skills('newest')).toReversed())
    expect((await skills('oldest'))[0]).toBe('Walrus skill 0')
  })

  it('sort by relevance when nothing is asked and there is a query, else the newest first', async () => {
    const [asked, unasked] = [await list('/api/prompts?q=walrus%207&sort=relevance'), await list('/api/prompts?q=walrus%207')]
    expect(titlesOf(unasked.prompts)).toEqual(titlesOf(asked.prompts))
    expect(unasked.prompts[0].title).toBe('Walrus 7')
    expect(titlesOf((await list('/api/prompts')).prompts)).toEqual(titlesOf((await list('/api/prompts?sort=newest')).prompts))
  })

  it('refuse a page beyond the last', async () => {
    expect((await test.fetch('/api/prompts?q=walrus&perPage=5&page=6')).status).toBe(400)
    expect((await test.fetch('/api/prompts?q=walrus&perPage=5&page=5')).status).toBe(200)
  })
})

describe('a write', () => {
  it('is found by the next search, under its new words and not under its old', async () => {
    const found = async (query: string, who?: string) => titlesOf((await list(`/api/prompts?q=${query}`, who)).prompts)
    const { id } = await save('Ada', { title: 'Fleeting', content: 'about okapistan' })
    expect(await found('okapistan')).toEqual(['Fleeting'])
    await send('PATCH', `/api/prompts/${id}`, keys.get('Ada'), { content: 'about brumbelton' })
    expect([await found('okapistan'), await found('brumbelton')]).toEqual([[], ['Fleeting']])
    await send('PATCH', `/api/prompts/${id}`, keys.get('Ada'), { visibility: 'private' })
    expect([await found('brumbelton'), await found('brumbelton', 'ben'), await found('brumbelton', 'Ada')]).toEqual([[], [], ['Fleeting']])
    await send('DELETE', `/api/prompts/${id}`, keys.get('Ada'))
    expect(await found('brumbelton', 'Ada')).toEqual([])
  })
})

describe('the OpenAPI document', () => {
  it('names correctedQuery, which need not be there', async () => {
    const { paths } = await list('/api/openapi.json')
    for (const path of ['/api/prompts', '/api/skills']) {
      const { schema } = paths[path].get.responses['200'].content['application/json']
      expect(schema.properties.correctedQuery).toMatchObject({
        type: 'string',
        description: expect.stringContaining('corrected query that was searched'),
      })
      expect(schema.required).toContain('total')
      expect(schema.required).not.toContain('correctedQuery')
    }
    const { schema } = paths['/api/search/prompts'].get.responses['200'].content['application/json']
    expect(schema.properties).not.toHaveProperty('correctedQuery')
  })
})
