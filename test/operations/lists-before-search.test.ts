import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { type TestApp, useTestApp } from '../support/test-app.ts'

/** Lists are answered from the tables until the search index is loaded, and say the same. */

const test = useTestApp()
let owner: Awaited<ReturnType<TestApp['user']>>
let other: Awaited<ReturnType<TestApp['user']>>
beforeAll(async () => {
  owner = await test.user('owner')
  other = await test.user('other')
  for (let i = 0; i < 30; i++) {
    const { prompt } = Object(
      await test.call(i % 3 === 0 ? other.actor : owner.actor, 'save_prompt', {
        title: `Item ${i}`,
        content: 'walrus',
        visibility: i % 5 === 0 ? 'private' : i % 7 === 0 ? 'unlisted' : 'public',
        category: i % 2 ? 'coding' : 'editing',
        tags: [`even${i % 2}`, `third${i % 3}`],
      }),
    )
    if (i % 4 === 1) await test.call(other.actor, 'vote', { collection: 'prompts', id: prompt.id }).catch(() => {})
    if (i % 11 === 3) await test.call(i % 3 === 0 ? other.actor : owner.actor, 'delete_item', { collection: 'prompts', id: prompt.id })
  }
  await test.app.store.service.loadSearch()
})

it.each([
  ['list_prompts', {}],
  ['list_prompts', { sort: 'oldest', perPage: 7, page: 2 }],
  ['list_prompts', { sort: 'votes' }],
  ['list_prompts', { category: 'coding', tag: ['even1', 'third1'] }],
  ['list_prompts', { author: 'other', sort: 'newest' }],
  ['list_prompts', { author: 'nobody' }],
  ['search_prompts', { query: '' }],
  ['list_categories', {}],
  ['browse_items', { collection: 'prompts' }],
  ['browse_items', { collection: 'prompts', category: 'coding', tag: ['even1', 'third1'] }],
  ['browse_items', { collection: 'prompts', category: 'coding', type: 'TEXT', author: 'other' }],
  ['browse_items', { collection: 'skills' }],
])('%s %j', async (operation, input) => {
  for (const actor of [ANONYMOUS, owner.actor, other.actor]) {
    const fresh = await test.reopen()
    onTestFinished(() => fresh.close())
    const early = await fresh.call(actor, operation, input)
    expect((await fresh.app.store.service.readFigures()).search.isReady).toBe(false)
    expect(early).toEqual(await test.call(actor, operation, input))
  }
})
