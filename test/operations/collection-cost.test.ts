import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { type TestApp, testApp } from '../support/test-app.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

const COUNT = 4

let test: TestApp
let owner: UserActor
/** One narrowed key for all collections. */
let narrowed: UserActor
let prompts: string[]
let collections: string[]
let statements: string[] = []

beforeAll(async () => {
  // Each instance reads for itself, so with several the statements would be counted of all.
  test = await testApp({}, {}, null, { instances: 1, onStatement: (text) => statements.push(text) })
  owner = (await test.user('owner')).actor
  prompts = []
  for (let number = 0; number < COUNT; number++) {
    const visibility = number === 0 ? 'private' : 'public'
    const saved = await test.call(owner, 'save_prompt', { title: `Prompt ${number}`, content: `walrus number ${number}`, visibility })
    prompts.push(Object(saved.prompt).id)
  }
  collections = []
  for (let number = 0; number < COUNT; number++) {
    const { collection } = Object(await test.call(owner, 'create_collection', { title: `Set ${number}`, visibility: 'public' }))
    await test.call(owner, 'add_to_collection', { id: collection.id, items: prompts.slice(0, number + 1) })
    collections.push(collection.id)
  }
  narrowed = { ...owner, within: { collections: collections.slice(0, 3) } }
})
afterAll(() => test.close())
beforeEach(async () => {
  await test.app.store.service.loadSearch()
  statements = []
})

const ofItemsInCollections = () =>
  statements.filter((text) => /join "(?:item|collection_item)"/.test(text) && /"collection_item"/.test(text))
it('a change of one counts nothing in the tables', async () => {
  const { collection } = Object(await test.call(owner, 'add_to_collection', { id: collections[3], items: [prompts[0]], position: 1 }))
  expect(collection.prompts).toBe(COUNT)
  await test.call(owner, 'move_in_collection', { id: collections[3], item: prompts[1], to: 'first' })
  await test.call(owner, 'update_collection', { id: collections[3], description: 'Changed' })
  expect(statements.filter((text) => text.includes('group by "collection_item"."collection_seq"'))).toEqual([])
})

describe('what is in collections', () => {
  it('is counted by the index as by the tables', async () => {
    const counts = async (at: Pick<TestApp, 'call'>, actor: Actor) => {
      const { collections: listed } = Object(await at.call(actor, 'list_collections', { perPage: 100 }))
      return listed.map((one: { title: string; prompts: number; skills: number }) => [one.title, one.prompts, one.skills])
    }
    const unread = await test.reopen()
    onTestFinished(() => unread.close())
    for (const actor of [ANONYMOUS, owner, narrowed]) {
      statements = []
      const byIndex = await counts(test, actor)
      expect(ofItemsInCollections()).toEqual([])
      expect(byIndex).toEqual(await counts(unread, actor))
      expect(ofItemsInCollections()).toHaveLength(1)
    }
    expect(await counts(test, ANONYMOUS)).toContainEqual(['Set 2', 2, 0])
    expect(await counts(test, owner)).toContainEqual(['Set 2', 3, 0])
  })
})
