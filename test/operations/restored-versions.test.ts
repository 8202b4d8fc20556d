import { beforeEach, describe, expect, it } from 'vitest'
import { useFreshTestApp } from '../support/test-app.ts'
import { signUp, type Visitor } from '../support/visitor.ts'

describe('an older version whose category is gone', () => {
  const test = useFreshTestApp()
  let ada: Visitor
  beforeEach(async () => {
    ada = await signUp(test, 'ada')
  })

  const admin = { kind: 'user', userId: '', username: 'admin', scopes: new Set(['admin'] as const) } as const
  const owner = async () => {
    const person = await test.app.store.people.findPersonByName('ada')
    return { kind: 'user', userId: person?.id ?? '', username: 'ada', scopes: new Set(['read', 'write'] as const) } as const
  }
  const SKILL = [{ filename: 'SKILL.md', content: '---\nname: one\ndescription: d\n---\n' }]
  const save = async (kind: 'prompt' | 'skill') => {
    const text = kind === 'prompt' ? { content: 'x' } : { files: SKILL }
    const saved = await test.call(await owner(), `save_${kind}`, { title: 'Early', category: 'passing', ...text })
    const { id } = Object(saved[kind])
    await test.call(await owner(), `update_${kind}`, { id, title: 'Late', category: null })
    return String(id)
  }

  it.each(['prompt', 'skill'] as const)('is restored without it, and says so: a %s', async (kind) => {
    await test.call(admin, 'create_category', { name: 'Passing' })
    const id = await save(kind)
    const restore = { collection: `${kind}s`, id, version: 1 }
    await test.call(admin, 'delete_category', { slug: 'passing' })
    // Another category of this name is not meant.
    await test.call(admin, 'create_category', { name: 'Other' })
    await test.call(admin, 'rename_category', { slug: 'other', name: 'passing' })
    expect(await test.call(await owner(), 'restore_version', restore)).toEqual({ success: true, id, version: 3, lostCategory: 'passing' })
    expect(await test.call(await owner(), `get_${kind}`, { id })).toMatchObject({ title: 'Early', category: null })

    await test.call(await owner(), 'restore_version', { ...restore, version: 2 })
    const { html } = await ada.postOn(`/${kind}s/${id}/versions/1`, { do: 'restore' })
    expect(html).toContain('The category “passing” no longer exists; choose another one.')
  })

  it('is restored with it when it is there, and then nothing is lost', async () => {
    await test.call(admin, 'create_category', { name: 'Passing' })
    const id = await save('prompt')
    const restored = await test.call(await owner(), 'restore_version', { collection: 'prompts', id, version: 1 })
    expect(restored).toEqual({ success: true, id: expect.any(String), version: 3 })
    expect(await test.call(await owner(), 'show_prompt', { id })).toMatchObject({ categorySlug: 'passing' })
    const { html } = await ada.postOn(`/prompts/${id}/versions/2`, { do: 'restore' })
    expect(html).toContain('Restored as the newest version.')
    expect(html).not.toContain('no longer exists')
  })

  it('is not restored over a version that the caller has not seen', async () => {
    await test.call(admin, 'create_category', { name: 'Passing' })
    const id = await save('prompt')
    const restore = { collection: 'prompts', id, version: 1, baseVersion: 1 }
    await expect(test.call(await owner(), 'restore_version', restore)).rejects.toMatchObject({ code: 'conflict' })
    expect(await test.call(await owner(), 'restore_version', { ...restore, baseVersion: 2 })).toMatchObject({ version: 3 })
  })
})
