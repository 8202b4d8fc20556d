import { describe, expect, it } from 'vitest'
import { useTestApp } from '../support/test-app.ts'

describe('changes of many items', () => {
  const test = useTestApp()

  const owner = async () => {
    const { actor } = await test.user('Ada')
    return { ...actor, scopes: new Set([...actor.scopes, 'account' as const]) }
  }
  const save = async (fields: object) =>
    String(Object((await test.call(await owner(), 'save_prompt', { title: 'One', content: 'x', ...fields }))['prompt']).id)

  it('let others run in between', async () => {
    const ids: string[] = []
    for (let n = 0; n < 60; n++) ids.push(await save({ title: `Many ${n}` }))
    let turns = 0
    let isOver = false
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const { changed } = await test.call(await owner(), 'change_items', { collection: 'prompts', ids, addTags: ['some'] })
    isOver = true
    expect(changed).toHaveLength(60)
    expect(turns).toBeGreaterThanOrEqual(6)
  })
})
