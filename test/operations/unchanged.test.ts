import { describe, expect, it } from 'vitest'
import { json, readJson, useTestApp } from '../support/test-app.ts'

const test = useTestApp()

describe('a change that changes nothing', () => {
  it('writes no version of a prompt', async () => {
    const { actor, key: own } = await test.user('Dora')
    const { id, updatedAt } = Object(
      await test.call(actor, 'save_prompt', { title: 'Same', content: 'x', tags: ['C++'], category: 'coding' }),
    ).prompt
    for (const change of [
      { description: null },
      { category: 'Coding' },
      { tags: ['c++'] },
      { title: 'Same', content: 'x', note: 'again' },
    ]) {
      const answer = await readJson(await test.fetch(`/api/prompts/${id}`, { ...json('PATCH', change), key: own }))
      expect([answer.success, answer.version, answer.prompt.updatedAt], JSON.stringify(change)).toEqual([true, 1, updatedAt])
    }
    const changed = await readJson(await test.fetch(`/api/prompts/${id}`, { ...json('PATCH', { description: 'x' }), key: own }))
    expect([changed.version, changed.prompt.description]).toEqual([2, 'x'])
  })

  it('writes no version of a skill', async () => {
    const { actor } = await test.user('Emil')
    const files = [
      { filename: 'SKILL.md', content: '# x' },
      { filename: 'a.bin', content: '/wD+', encoding: 'base64' },
    ]
    const { id } = Object(await test.call(actor, 'save_skill', { title: 'Kept', files })).skill
    const same = await test.call(actor, 'update_skill_file', { skillId: id, ...files[1] })
    expect(same['message']).toContain('nothing was saved')
    await test.call(actor, 'update_skill', { id, title: 'Kept', description: null })
    const versions = async () => Object(await test.call(actor, 'list_versions', { collection: 'skills', id })).versions
    expect(await versions()).toHaveLength(1)
    const other = await test.call(actor, 'update_skill_file', { skillId: id, filename: 'a.bin', content: 'b' })
    expect(other['message']).toBe('Updated a.bin.')
    expect(await versions()).toHaveLength(2)
  })
})
