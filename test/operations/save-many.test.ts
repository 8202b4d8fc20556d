import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { AppError } from '../../src/errors.ts'
import { json, readJson, testApp, useTestApp } from '../support/test-app.ts'

const SKILL_MD = { filename: 'SKILL.md', content: '---\nname: one\ndescription: Does one thing.\n---\nDo it.\n' }

describe('saving many items in one call', () => {
  const test = useTestApp()
  let key: string
  beforeAll(async () => {
    key = (await test.user('Ada')).key
  })

  const post = (path: string, body: unknown, withKey: string | null = key) =>
    test.fetch(path, { ...json('POST', body), ...(withKey === null ? {} : { key: withKey }) })
  const get = async (path: string) => await readJson(await test.fetch(path, { key }))

  it('takes the description of a skill from SKILL.md where none is given', async () => {
    const described = async (fields: object) =>
      (await readJson(await post('/api/skills', { title: 'One', files: [SKILL_MD], ...fields }))).skill.description
    expect([await described({}), await described({ description: 'Mine' })]).toEqual(['Does one thing.', 'Mine'])
  })

  it('names the fields that no item has, also those of files', async () => {
    const files = [SKILL_MD, { filename: 'a.txt', content: 'a', mode: '755' }, { filename: 'b.txt', content: 'b', mode: '755' }]
    const skill = { title: 'Unknown', files, labels: ['a'] }
    const hints = ['Unknown and ignored: "files[].mode", "labels".']
    expect((await readJson(await post('/api/skills', skill))).hints).toEqual(expect.arrayContaining(hints))
    const { results } = await readJson(await post('/api/skills/batch', { skills: [{ ...skill, title: 'Other' }, skill.files[0]] }))
    expect(results).toMatchObject([
      { slug: expect.any(String), hints },
      { error: 'invalid_input', hints: ['Unknown and ignored: "filename", "content".'] },
    ])
    const prompts = [
      { title: 'T', content: 'c', visibilty: 'public' },
      { title: 'U', content: 'c' },
    ]
    const many = await readJson(await post('/api/prompts/batch', { prompts }))
    expect(many.results.map((result: { hints?: string[] }) => result.hints)).toEqual([['Unknown and ignored: "visibilty".'], undefined])
  })

  it('answers each prompt for itself, in order, and saves what is not refused', async () => {
    const prompts = [
      { title: 'First of many', content: 'One', visibility: 'public', tags: ['a'], description: null },
      { title: '', content: 'x' },
      { title: 'No category', content: 'x', category: 'nonsense' },
      { title: 'First of many', content: 'Two', visibility: 'public' },
      { title: 'Secret', content: 'Three' },
      { title: 'For strangers', content: 'x', owner: 'nobody-at-all' },
    ]
    const response = await post('/api/prompts/batch', { prompts })
    expect(response.status).toBe(200)
    const { saved, refused, results } = await readJson(response)
    expect({ saved, refused }).toEqual({ saved: 3, refused: 3 })
    expect(results).toEqual([
      { index: 0, id: expect.any(String), slug: 'first-of-many', visibility: 'public', url: 'http://127.0.0.1:3000/prompts/first-of-many' },
      { index: 1, error: 'invalid_input', message: 'title is blank.' },
      { index: 2, error: 'invalid_input', message: expect.stringMatching(/"nonsense" does not exist/) },
      { index: 3, id: expect.any(String), slug: 'first-of-many-2', visibility: 'public', url: expect.any(String) },
      { index: 4, id: expect.any(String), slug: expect.any(String), visibility: 'private', url: expect.any(String) },
      { index: 5, error: 'not_found', message: expect.any(String) },
    ])
    for (const [place, content] of [
      [0, 'One'],
      [3, 'Two'],
      [4, 'Three'],
    ] as const) {
      expect(await get(`/api/prompts/${results[place].id}`)).toMatchObject({ content, versions: [{ version: 1 }] })
    }
    // Private stays private.
    expect((await test.fetch(`/api/prompts/${results[4].id}`)).status).toBe(404)
  })

  it('answers each skill for itself', async () => {
    const skills = [
      { title: 'Good', files: [SKILL_MD] },
      { title: 'Empty', files: [] },
    ]
    const { saved, refused, results } = await readJson(await post('/api/skills/batch', { skills }))
    expect({ saved, refused }).toEqual({ saved: 1, refused: 1 })
    expect(results[1].message).toMatch(/SKILL\.md is missing/)
    expect(await get(`/api/skills/${results[0].id}`)).toMatchObject({ title: 'Good' })
  })

  it('takes 500 at once, in few commits, and no more', async () => {
    const prompts = Array.from({ length: 501 }, (_, index) => ({ title: `Number ${index}`, content: `Text ${index}` }))
    const tooMany = await post('/api/prompts/batch', { prompts })
    expect(tooMany.status).toBe(400)
    expect((await readJson(tooMany)).message).toBe('prompts must have at most 500 entries.')
    const { saved, results } = await readJson(await post('/api/prompts/batch', { prompts: prompts.slice(1) }))
    expect(saved).toBe(500)
    expect(new Set(results.map(({ slug }: { slug: string }) => slug)).size).toBe(500)
    expect(await get(`/api/prompts/${results[499].id}`)).toMatchObject({ content: 'Text 500' })
  })

  it.each([
    ['nothing', {}, 'prompts is required.'],
    ['an empty list', { prompts: [] }, 'prompts must have at least 1 entries.'],
    ['a list of texts', { prompts: ['x'] }, 'prompts[0] must be an object.'],
    ['no list', { prompts: { title: 'x' } }, 'prompts must be an array.'],
  ])('refuses %s', async (_, body, message) => {
    const response = await post('/api/prompts/batch', body)
    expect(response.status).toBe(400)
    expect((await readJson(response)).message).toBe(message)
  })

  it('says what was saved when the library cannot be written to any more, and tries no further', async () => {
    let calls = 0
    const save = test.app.store.items.createItem
    const spy = vi.spyOn(test.app.store.items, 'createItem').mockImplementation(async (...args) => {
      if (++calls > 60) throw new AppError('unavailable', 'The disk is full.')
      return await save(...args)
    })
    onTestFinished(() => spy.mockRestore())
    const prompts = Array.from({ length: 200 }, (_, index) => ({ title: `Last ${index}`, content: 'x' }))
    const { saved, refused, results } = await readJson(await post('/api/prompts/batch', { prompts }))
    expect({ saved, refused, calls }).toEqual({ saved: 60, refused: 140, calls: 100 })
    expect(results.map(({ index }: { index: number }) => index)).toEqual(prompts.map((_, index) => index))
    expect(results[199]).toEqual({ index: 199, error: 'unavailable', message: 'The disk is full.' })
  })

  it('needs a key that may write', async () => {
    const prompts = [{ title: 'T', content: 'x' }]
    expect((await post('/api/prompts/batch', { prompts }, null)).status).toBe(401)
    const reader = { ...(await test.user('Ada')).actor, scopes: new Set(['read'] as const) }
    await expect(test.call(reader, 'save_prompts', { prompts })).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('costs a point for each item', async () => {
    const limited = await testApp({ RATE_LIMITS: 500 })
    onTestFinished(() => limited.close())
    const { key: own } = await limited.user('Grace')
    const send = async (count: number) => {
      const prompts = Array.from({ length: count }, () => ({ title: '' }))
      return (await limited.fetch('/api/prompts/batch', { ...json('POST', { prompts }), key: own })).status
    }
    expect(await send(100)).toBe(200)
    // With those of the call itself.
    expect(await send(496)).toBe(429)
  })
})
