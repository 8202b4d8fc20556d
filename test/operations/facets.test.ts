import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { useTestApp } from '../support/test-app.ts'

interface Facets {
  types: { type: string; count: number }[]
  categories: { slug: string; count: number }[]
  tags: { slug: string; name: string; count: number }[]
  exact: number | null
}

/** The counts beside the filters of a list: what each choice would find. */
describe('facets', () => {
  const test = useTestApp()
  let owner: Actor
  const browse = async (input: Record<string, unknown>, actor: Actor = ANONYMOUS) => {
    const { total, facets } = await test.call(actor, 'browse_items', { collection: 'prompts', ...input })
    return { total: Number(total), facets: facets as Facets }
  }
  const save = (title: string, fields: Record<string, unknown>) =>
    test.call(owner, 'save_prompt', { title, content: 'walrus', visibility: 'public', ...fields })
  beforeAll(async () => {
    owner = (await test.user('owner')).actor
    for (let i = 0; i < 24; i++) {
      await save(`Item ${i}`, {
        type: i % 4 === 0 ? 'IMAGE' : 'TEXT',
        category: i % 3 === 0 ? 'coding' : 'editing',
        tags: [i % 2 ? 'odd' : 'Even', `fifth ${i % 5}`],
        content: i % 6 === 0 ? 'walrus seal' : 'walrus',
      })
    }
    await save('Hidden', { type: 'VIDEO', category: 'writing', tags: ['even', 'secret'], visibility: 'private' })
    await save('Unlisted', { type: 'AUDIO', category: 'writing', tags: ['secret'], visibility: 'unlisted' })
  })

  /** Each count, and what the list has that the count stands for. */
  const compare = async (input: Record<string, unknown>, actor: Actor) => {
    const { facets } = await browse(input, actor)
    const compared: [number, number][] = []
    for (const { type, count } of facets.types) compared.push([count, (await browse({ ...input, type }, actor)).total])
    for (const { slug, count } of facets.tags) compared.push([count, (await browse({ ...input, tag: [slug] }, actor)).total])
    // A category lists its children's items too, which are counted apart.
    const { categories } = await test.call(actor, 'list_categories', {})
    const parents = new Map((categories as { slug: string; parent: string | null }[]).map(({ slug, parent }) => [slug, parent]))
    for (const { slug } of facets.categories) {
      const below = facets.categories.filter((other) => other.slug === slug || parents.get(other.slug) === slug)
      const count = below.reduce((sum, one) => sum + one.count, 0)
      compared.push([count, (await browse({ ...input, category: slug }, actor)).total])
    }
    return compared
  }

  it.each([
    {},
    { type: 'TEXT' },
    { category: 'coding' },
    { category: 'Coding', tag: ['odd'] },
    { type: 'IMAGE', category: 'editing', tag: ['even'], author: 'owner' },
  ])('count what each choice would list, %j', async (input) => {
    for (const actor of [ANONYMOUS, owner]) {
      const compared = await compare(input, actor)
      expect(compared.length).toBeGreaterThan(3)
      for (const [count, total] of compared) expect(count).toBe(total)
    }
  })

  it('count the results of a query, which the filters only narrow', async () => {
    const { total, facets } = await browse({ q: 'walrus ' })
    expect([total, facets.exact]).toEqual([24, 24])
    expect(facets.types).toEqual([
      { type: 'IMAGE', count: 6 },
      { type: 'TEXT', count: 18 },
    ])
    expect(facets.tags.slice(0, 2)).toEqual([
      { slug: 'even', name: 'Even', count: 12 },
      { slug: 'odd', name: 'odd', count: 12 },
    ])
    const narrowed = await browse({ q: 'walrus ', category: 'coding' })
    expect(narrowed.total).toBe(8)
    expect(narrowed.facets.categories).toEqual(facets.categories)
    expect(narrowed.facets.types.reduce((sum, { count }) => sum + count, 0)).toBe(8)
    expect((await browse({ q: '!!!' })).facets).toEqual({ types: [], categories: [], tags: [], exact: null })
  })

  it('know nothing of what the reader does not find', async () => {
    const { facets } = await browse({})
    const told = JSON.stringify(facets)
    for (const hidden of ['VIDEO', 'AUDIO', 'writing', 'secret']) expect(told).not.toContain(hidden)
    const own = JSON.stringify((await browse({}, owner)).facets)
    for (const hidden of ['VIDEO', 'AUDIO', 'writing', 'secret']) expect(own).toContain(hidden)
  })

  it('are those of the library as it is now, and bounded', async () => {
    const before = await browse({ tag: ['fresh'] })
    expect(before.total).toBe(0)
    await save('Fresh', { content: 'x', tags: ['fresh', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] })
    const { facets } = await browse({})
    expect(facets.tags).toHaveLength(12)
    expect((await browse({ q: 'fresh ' })).facets.tags.map(({ slug }) => slug)).toContain('fresh')
  })

  it('are the same before the search index is loaded', async () => {
    for (const actor of [ANONYMOUS, owner]) {
      const fresh = await test.reopen()
      onTestFinished(() => fresh.close())
      const input = { collection: 'prompts', category: 'editing', tag: ['even'] }
      const early = await fresh.call(actor, 'browse_items', input)
      expect((await fresh.app.store.service.readFigures()).search.isReady).toBe(false)
      await fresh.app.store.service.loadSearch()
      expect(early).toEqual(await test.call(actor, 'browse_items', input))
    }
  })
})
