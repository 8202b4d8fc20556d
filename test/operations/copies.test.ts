import { beforeAll, describe, expect, it } from 'vitest'
import { readJson, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

describe('a copy of an item', { shuffle: false }, () => {
  const test = useTestApp()
  let boss: Visitor
  let ada: Visitor
  let bob: Visitor
  beforeAll(async () => {
    boss = await signUp(test, 'boss')
    ada = await signUp(test, 'ada')
    bob = await signUp(test, 'bob')
  })

  const pathOf = (to: string | null) => to?.split('?')[0] ?? ''
  const write = async (fields: Record<string, string>) =>
    pathOf((await ada.post('/new', { content: 'Text of ${name:all}.', ...fields })).to)
  const copy = async (reader: Visitor, path: string) => {
    const { to, status } = await reader.post(path, { do: 'copy' })
    return { status, path: pathOf(to), html: to === null ? '' : (await reader.get(to)).html }
  }
  /** What a page says of the source. */
  const sourceIn = (html: string) =>
    />from <a href="([^"]+)">(@\w+)<\/a> · <a href="([^"]+)" dir="auto">(.*?)<\/a>/.exec(html)?.slice(1) ?? null

  it('is a whole item of the reader, private, and leads back to its source', async () => {
    const path = await write({ title: 'Letter', description: 'For <all>.', tags: 'one, two', category: 'writing', visibility: 'public' })
    expect((await visit(test).get(path)).html).not.toContain('value="copy"')
    expect((await bob.get(path)).html).toContain('>Save to my library</button>')
    const made = await copy(bob, path)
    expect(made.html).toContain('Copied to your library.')
    expect(made.html).toContain('>Private</span>')
    expect(sourceIn(made.html)).toEqual(['/@ada', '@ada', path, 'Letter'])
    for (const part of ['<h1 dir="auto">Letter</h1>', 'For &lt;all&gt;.', '>one</a>', '>two</a>', '>Writing</a>', 'Text of ']) {
      expect(made.html).toContain(part)
    }
    expect((await visit(test).get(made.path)).status).toBe(404)
    expect((await ada.get(path)).html).toContain('>Duplicate</button>')
    expect(sourceIn((await ada.get(path)).html)).toBeNull()
    // It is another item: the source stays what it is.
    await bob.post(`${made.path}/edit`, { do: 'save', title: 'Letter of Bob', content: 'Other.', version: '1' })
    expect((await ada.get(path)).html).toContain('<h1 dir="auto">Letter</h1>')
  })

  it('of one’s own has another title, within its limit', async () => {
    expect((await copy(ada, await write({ title: 'Mine' }))).html).toContain('<h1 dir="auto">Mine (copy)</h1>')
    const long = await copy(ada, await write({ title: '𝒳'.repeat(200) }))
    expect(long.html).toContain(`<h1 dir="auto">${'𝒳'.repeat(193)} (copy)</h1>`)
  })

  it('names its source only to who finds that in lists', async () => {
    const path = await write({ title: 'Seen', visibility: 'public' })
    const id = (await readJson(await test.fetch(`/api${path}`))).id
    const made = await copy(bob, path)
    await bob.post(made.path, { do: 'publish' })
    const copied = '/prompts/seen-2'
    const readers = { anonymous: visit(test), ada, bob, boss }
    const seenBy = async () => {
      const seen: string[] = []
      for (const [name, reader] of Object.entries(readers)) if (sourceIn((await reader.get(copied)).html)) seen.push(name)
      return seen
    }
    expect(await seenBy()).toEqual(['anonymous', 'ada', 'bob', 'boss'])
    for (const visibility of ['private', 'unlisted']) {
      await ada.post('/library', { do: 'visibility', visibility, ids: id })
      expect(await seenBy(), visibility).toEqual(['ada'])
    }
    await ada.post('/library', { do: 'visibility', visibility: 'public', ids: id })
    await test.app.store.marks.setHeld('prompt', id, true)
    expect(await seenBy()).toEqual(['ada'])
    await ada.post('/library', { do: 'delete', ids: id })
    expect(await seenBy()).toEqual([])
    await ada.post(`/prompts/${id}/purge`, { do: 'item', sure: 'yes' })
    expect(await seenBy()).toEqual([])
    expect((await visit(test).get(copied)).html).not.toContain(id)
  })

  it('of a skill has all its files, byte for byte', async () => {
    const { actor } = await test.user('ada')
    const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString('base64')
    const files = [
      { filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidy.\n---\n# Tidy\n' },
      { filename: 'data/raw.bin', content: bytes, encoding: 'base64' },
      { filename: 'empty.txt', content: '' },
    ]
    const { slug } = Object((await test.call(actor, 'save_skill', { title: 'Tidy', files, visibility: 'public' })).skill)
    const made = await copy(bob, `/skills/${slug}`)
    expect(sourceIn(made.html)?.[3]).toBe('Tidy')
    const { actor: reader } = await test.user('bob')
    expect(await test.call(reader, 'get_skill', { id: made.path.split('/')[2] })).toMatchObject({ files })
  })

  it('is made of nothing that the reader does not see', async () => {
    const path = await write({ title: 'Secret', visibility: 'private' })
    expect((await copy(bob, path)).status).toBe(404)
    expect((await bob.post('/prompts/no-such', { do: 'copy' })).status).toBe(404)
    expect((await visit(test).post(path, { do: 'copy' })).to).toContain('/sign-in')
  })

  it('is never for more people than what it is a copy of', async () => {
    const { actor } = await test.user('bob')
    await test.call({ ...actor, scopes: new Set([...actor.scopes, 'account']) }, 'update_account', { defaultVisibility: 'public' })
    for (const visibility of ['members', 'unlisted']) {
      const { prompt } = Object(
        await test.call((await test.user('ada')).actor, 'save_prompt', { title: `For ${visibility}`, content: 'x', visibility }),
      )
      expect((await copy(bob, `/prompts/${prompt.id}`)).html, visibility).toContain('>Private</span>')
    }
  })

  it.each([
    ['public', 'Public'],
    ['members', 'Members'],
  ])('is %s where the settings say so', async (defaultVisibility, word) => {
    const path = await write({ title: `Open ${word}`, visibility: 'public' })
    const { actor } = await test.user('bob')
    await test.call({ ...actor, scopes: new Set([...actor.scopes, 'account']) }, 'update_account', { defaultVisibility })
    expect((await copy(bob, path)).html).toContain(`>${word}</span>`)
  })
})
