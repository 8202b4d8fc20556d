import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJson, type TestApp, testApp, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

const KINDS = ['prompts', 'skills'] as const
const STATES = ['public', 'unlisted', 'private', 'deleted', 'held'] as const
type State = (typeof STATES)[number]

interface Marked {
  readonly collection: (typeof KINDS)[number]
  readonly state: State
  readonly id: string
  readonly title: string
}

describe('favourites', () => {
  const test = useTestApp()
  let owner: Awaited<ReturnType<TestApp['user']>>
  let other: typeof owner
  const items: Marked[] = []

  const setState = async ({ collection, state, id }: Marked) => {
    if (state === 'deleted') await test.call(owner.actor, 'delete_item', { collection, id })
    else if (state === 'held') await test.app.store.marks.setHeld(collection === 'prompts' ? 'prompt' : 'skill', id, true)
    else await test.call(owner.actor, collection === 'prompts' ? 'update_prompt' : 'update_skill', { id, visibility: state })
  }
  const listOf = async (key: string) => await readJson(await test.fetch('/api/favourites', { key }))
  const titlesOf = async (key: string, collection: (typeof KINDS)[number]) =>
    (await listOf(key)).items.filter(({ kind }: { kind: string }) => `${kind}s` === collection).map(({ title }: { title: string }) => title)

  beforeAll(async () => {
    owner = await test.user('owner')
    other = await test.user('other')
    for (const collection of KINDS) {
      for (const state of STATES) {
        const title = `Title ${collection} ${state}`
        const files = [{ filename: 'SKILL.md', content: '---\nname: it\ndescription: It.\n---\n' }]
        const saved =
          collection === 'prompts'
            ? await test.call(owner.actor, 'save_prompt', { title, content: 'x', visibility: 'public' })
            : await test.call(owner.actor, 'save_skill', { title, files, visibility: 'public' })
        items.push({ collection, state, id: Object(saved.prompt ?? saved.skill).id, title })
      }
    }
  })

  it('are listed for the reader alone, the last marked first, as long as lists show the item', async () => {
    for (const { collection, id } of items.toReversed()) {
      test.wait(1000)
      for (const { key } of [owner, other]) {
        // Twice is once.
        for (const _ of [1, 2]) {
          const answer = await test.fetch(`/api/${collection}/${id}/favourite`, { method: 'PUT', key })
          expect(await readJson(answer)).toEqual({ success: true, id, favourite: true })
        }
      }
    }
    const stranger = await test.user('stranger')
    for (const collection of KINDS) {
      const all = items.filter((item) => item.collection === collection)
      const titles = all.map(({ title }) => title)
      expect(await titlesOf(other.key, collection)).toEqual(titles)
      expect(await listOf(stranger.key)).toMatchObject({ total: 0, items: [] })
      for (const item of all) await setState(item)
      expect(await titlesOf(other.key, collection)).toEqual([`Title ${collection} public`])
      expect(await titlesOf(owner.key, collection)).toEqual(titles.filter((title) => !title.endsWith('deleted')))
      // Without the right to read what is private, a key finds what everybody finds.
      const blind = await test.user('owner', ['write'])
      expect((await test.fetch('/api/favourites', { key: blind.key })).status).toBe(403)
      expect((await test.fetch('/api/favourites')).status).toBe(401)
      // The mark outlives the time its item was hidden for.
      for (const item of all) {
        if (item.state === 'deleted') await test.call(owner.actor, 'restore_item', { collection, id: item.id })
        else if (item.state === 'held') await test.app.store.marks.setHeld(collection === 'prompts' ? 'prompt' : 'skill', item.id, false)
        else await setState({ ...item, state: 'public' })
      }
      expect(await titlesOf(other.key, collection)).toEqual(titles)
    }
  })

  describe('on pages', () => {
    let pages: TestApp
    let reader: Visitor
    let path = ''
    beforeAll(async () => {
      pages = await testApp()
      const author = await signUp(pages, 'author')
      reader = await signUp(pages, 'reader')
      for (const title of ['Quiet walrus', ...Array.from({ length: 25 }, (_, index) => `Number ${index}`)]) {
        const { to } = await author.post('/new', { title, content: 'A text.', visibility: 'public' })
        if (path === '') path = to?.split('?')[0] ?? ''
      }
    })
    afterAll(() => pages.close())

    it('are marked by a star on the item and in lists, and listed in pages', async () => {
      expect((await reader.get('/favourites')).html).toContain('No favourite prompts yet.')
      const { html } = await reader.postOn(path, { do: 'favourite' })
      expect(html).toContain('Added to your favourites.')
      expect(html).toContain('value="unfavourite" aria-pressed="true">Favourite</button>')
      for (const list of ['/prompts?q=walrus', '/search?q=walrus', '/@author?sort=oldest', '/favourites']) {
        expect((await reader.get(list)).html, list).toContain(
          'value="unfavourite" aria-label="Favourite: Quiet walrus" aria-pressed="true"',
        )
        expect((await visit(pages).get(list)).html, list).not.toContain('class="star"')
      }
      // A list is come back to as it was; no list leads to another service.
      const id = /action="\/prompts\/([0-9a-f-]{36})" class="star"/.exec((await reader.get('/favourites')).html)?.[1] ?? ''
      const post = async (does: string, back: string) => (await reader.post(`/prompts/${id}`, { do: does, back })).to
      expect(await post('unfavourite', '/prompts?q=walrus&page=2')).toBe('/prompts?q=walrus&page=2')
      for (const away of ['https://example.org/', '//example.org/', 'javascript:alert(1)']) {
        expect(await post('favourite', away)).toBe(`/prompts/${id}`)
      }
      expect((await reader.postOn(path, { do: 'unfavourite' })).html).toContain('Removed from your favourites.')
      const { html: all } = await reader.get('/prompts')
      const others = [...all.matchAll(/action="\/prompts\/([0-9a-f-]{36})" class="star"/g)].map(([, one]) => one)
      const { html: rest } = await reader.get('/prompts?page=2')
      others.push(...[...rest.matchAll(/action="\/prompts\/([0-9a-f-]{36})" class="star"/g)].map(([, one]) => one))
      for (const one of others) await reader.post(`/prompts/${one}`, { do: 'favourite' })
      expect((await reader.get('/favourites')).html).toContain('26 prompts')
      expect((await reader.get('/favourites?page=2')).html).toContain('aria-label="Page 2 of 2" aria-current="page"')
      expect((await reader.get('/favourites?page=9')).to).toBe('/favourites?page=2')
      expect((await reader.get('/favourites?kind=skills')).html).toContain('No favourite skills yet.')
      expect((await visit(pages).get('/favourites')).to).toBe('/sign-in?to=%2Ffavourites')
    })
  })
})
