import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGLISH } from '../../src/web/strings/index.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

describe('actions on the page of an item', () => {
  let test: TestApp
  let admin: Visitor
  let owner: Visitor
  let other: Visitor
  beforeAll(async () => {
    test = await testApp()
    admin = await signUp(test, 'administrator')
    owner = await signUp(test, 'owner')
    other = await signUp(test, 'other')
  })
  afterAll(() => test.close())

  const save = async (fields: Record<string, string>, kind: 'prompts' | 'skills' = 'prompts') => {
    const content = kind === 'prompts' ? { content: 'A text.' } : { skillMd: '---\nname: it\ndescription: It.\n---\n# It\n' }
    const { to } = await owner.post(kind === 'prompts' ? '/new' : '/new/skill', { title: 'Title', ...content, ...fields })
    return (to ?? '').split('?')[0]?.replace(/\/edit$/, '') ?? ''
  }

  it('say what they did', async () => {
    let path = await save({ title: 'Marked', visibility: 'public' })
    for (const [reader, does, done, text] of [
      [other, 'vote', 'voted', 'Upvoted.'],
      [other, 'unvote', 'unvoted', 'Vote removed.'],
      [admin, 'feature', 'featured', 'Featured on the home page.'],
      [admin, 'unfeature', 'unfeatured', 'No longer featured.'],
      [admin, 'hold', 'held', 'Unlisted. Its owner cannot make it public.'],
      [admin, 'unhold', 'unheld', 'Relisted.'],
    ] as const) {
      const { status, to } = await reader.post(path, { do: does })
      expect([status, to?.split('?')[1]], does).toEqual([303, `done=${done}`])
      path = to?.split('?')[0] ?? ''
      const { html } = await reader.get(to ?? '')
      expect(html, does).toContain(`<p class="notice" role="status">${text}</p>`)
      // Whoever could relist it sees that it is not listed, and nobody may publish it.
      for (const one of [admin, owner]) expect((await one.get(path)).html.includes(ENGLISH.isHeld), does).toBe(does === 'hold')
      expect((await owner.get(path)).html.includes('value="publish"'), does).toBe(false)
      if (does === 'hold') {
        expect(await owner.post(path, { do: 'publish' })).toMatchObject({ status: 403, html: expect.stringContaining(ENGLISH.isHeld) })
      }
    }
    expect((await owner.post(path, { do: 'burn' })).status).toBe(400)
  })

  it.each(['prompts', 'skills'] as const)('make one of the %s public for its owner alone', async (kind) => {
    const path = await save({ title: `Secret of ${kind}`, visibility: 'private' }, kind)
    const page = await owner.get(path)
    expect(page.html).toContain('>Private</span>')
    expect(page.html).toContain('value="publish"')
    for (const stranger of [other, admin, visit(test)]) expect([303, 404]).toContain((await stranger.post(path, { do: 'publish' })).status)
    expect((await visit(test).get(path)).status).toBe(404)
    const { to } = await owner.post(path, { do: 'publish' })
    expect(to).toBe(`/${kind}/secret-of-${kind}?done=published`)
    expect((await owner.get(to ?? '')).html).toContain('Published. Everyone can read it now.')
    expect((await visit(test).get(`/${kind}/secret-of-${kind}`)).html).not.toContain('class="badge')
    expect(await readJson(await test.fetch(`/api/${kind}/secret-of-${kind}`))).toMatchObject({ visibility: 'public' })
    expect((await other.get(`/${kind}/secret-of-${kind}`)).html).not.toContain('class="badge')
  })

  it.each(['prompts', 'skills'] as const)('take back a publication of one of the %s with all that it told', async (kind) => {
    const hidden = await save({ title: `Mistake of ${kind}`, visibility: 'private' }, kind)
    const open = `/${kind}/mistake-of-${kind}`
    expect((await owner.get(hidden)).html).not.toContain('value="unpublish"')
    await owner.post(hidden, { do: 'publish' })
    expect((await other.get(open)).status).toBe(200)
    for (const stranger of [other, admin]) {
      expect((await stranger.get(open)).html).not.toContain('value="unpublish"')
      expect((await stranger.post(open, { do: 'unpublish' })).status).toBe(403)
    }
    expect((await owner.get(open)).html).toContain('value="unpublish"')
    expect((await owner.post(open, { do: 'unpublish' })).to).toBe(`${hidden}?done=unpublished`)
    expect((await owner.get(hidden)).html).toContain('>Private</span>')
    for (const address of [open, hidden]) expect((await other.get(address)).status, address).toBe(404)

    // Links that were shared meanwhile never lead to somebody else's text.
    expect((await owner.get(open)).status).toBe(200)
    const title = `Mistake of ${kind}`
    const content = kind === 'prompts' ? { content: 'Another.' } : { skillMd: '---\nname: another\ndescription: It.\n---\n# It\n' }
    const { to } = await other.post(kind === 'prompts' ? '/new' : '/new/skill', { title, ...content, visibility: 'public' })
    expect(to).toMatch(new RegExp(`^${open}-2[?/]`))

    // Published again with another text, its history keeps the mistake to its owner.
    const id = hidden.split('/').at(-1) ?? ''
    await test.fetch(`/api/${kind}/${id}`, { ...json('PATCH', { description: 'Right.' }), key: (await test.user('owner')).key })
    await owner.post(hidden, { do: 'publish' })
    const versions = async (key?: string) => {
      const answer = await test.fetch(`/api${open}/versions`, key === undefined ? {} : { key })
      return Object(await readJson(answer)).versions.map(({ version }: { version: number }) => version)
    }
    expect(await versions()).toEqual([2])
  })
})
