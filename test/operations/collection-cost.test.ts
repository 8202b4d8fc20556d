import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Actor } from '../../src/library/actor.ts'
import { ANONYMOUS } from '../../src/library/actor.ts'
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

/** Statements that read everything in a collection. */
const wholeReads = () => statements.filter((text) => text.includes('string_agg'))
const ofItemsInCollections = () =>
  statements.filter((text) => /join "(?:item|collection_item)"/.test(text) && /"collection_item"/.test(text))
/** Raises the revision of the library. */
const change = async () => {
  await test.call(owner, 'update_prompt', { id: prompts[1], description: `Changed ${Math.random()}` })
  statements = []
}
const totalOf = async (actor: Actor, input: object) =>
  Object(await test.call(actor, 'list_prompts', { collections: collections.slice(0, 3), ...input })).total

it('a change of one counts nothing in the tables', async () => {
  const { collection } = Object(await test.call(owner, 'add_to_collection', { id: collections[3], items: [prompts[0]], position: 1 }))
  expect(collection.prompts).toBe(COUNT)
  await test.call(owner, 'move_in_collection', { id: collections[3], item: prompts[1], to: 'first' })
  await test.call(owner, 'update_collection', { id: collections[3], description: 'Changed' })
  expect(statements.filter((text) => text.includes('group by "collection_item"."collection_seq"'))).toEqual([])
})

describe('what is in collections', () => {
  it('is read once for each revision, whoever asks for whatever of it', async () => {
    await change()
    expect([await totalOf(ANONYMOUS, {}), await totalOf(owner, {}), await totalOf(ANONYMOUS, { tag: ['none'] })]).toEqual([2, 3, 0])
    expect(wholeReads()).toHaveLength(1)
    expect(await totalOf(ANONYMOUS, { collections: [collections[0], collections[3]] })).toBe(3)
    expect(wholeReads()).toHaveLength(2)
    expect(await totalOf(ANONYMOUS, { collections })).toBe(3)
    expect(wholeReads()).toHaveLength(2)
    await change()
    await test.call(owner, 'remove_from_collection', { id: collections[2], items: [prompts[2]] })
    expect([await totalOf(ANONYMOUS, {}), await totalOf(owner, {})]).toEqual([1, 2])
    await test.call(owner, 'add_to_collection', { id: collections[2], items: [prompts[2]] })
    expect(await totalOf(ANONYMOUS, {})).toBe(2)
  })

  it('is read once for a narrowed key, and looked up for the prompts of a page', async () => {
    await change()
    const titles = async (query: string) => {
      const { prompts: found } = Object(await test.call(narrowed, 'search_prompts', { query }))
      return found.map(({ title }: { title: string }) => title).toSorted()
    }
    for (const query of ['walrus', 'number', '']) expect(await titles(query)).toEqual(['Prompt 0', 'Prompt 1', 'Prompt 2'])
    expect(wholeReads()).toHaveLength(1)
    expect(await totalOf({ ...narrowed, within: { collections: [] } }, {})).toBe(0)
  })

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
