import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { PromptFields } from '../../src/domain/items/items.ts'
import type { ItemFilter, SearchRequest } from '../../src/domain/items/search.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const LETTER: PromptFields = { ...PLAIN_PROMPT, title: 'A letter', content: 'About a writer.', category: 'writing', tags: ['red'] }
const LIST = { query: null, filter: {}, sort: 'newest', limit: 5, offset: 0 } as const

describe.each(ENGINES)('what strangers get from caches on $name', (engine) => {
  let place: Awaited<ReturnType<(typeof engine)['create']>>
  let stores: LibraryStore[]
  let judge: LibraryStore
  let ada: string
  let ben: string
  let letter: string
  let poem: string
  let skill: string
  let collection: string
  let now = Date.UTC(2026, 0, 1)
  const outside = { clock: () => (now += 1000), random: SYSTEM.random }
  const by = () => ({ userId: ada, note: null })
  const asAda = (): Actor => ({ kind: 'user', userId: ada, username: 'ada', scopes: new Set(['read', 'write']) })

  beforeEach(async () => {
    place = await engine.create()
    judge = await createStore(place.open(), { ...outside, instance: 'judge' })
    ada = (await judge.people.createUser({ username: 'ada', defaultVisibility: 'public' })).id
    ben = (await judge.people.createUser({ username: 'ben', defaultVisibility: 'public' })).id
    const owned = { ownerId: ada, title: 'Together', description: null, visibility: 'public' } as const
    collection = (await judge.collections.createCollection(asAda(), owned)).id
    letter = (await judge.items.createItem(by(), { kind: 'prompt', ...LETTER })).id
    poem = (await judge.items.createItem(by(), { kind: 'prompt', ...LETTER, title: 'A poem', type: 'IMAGE', tags: [], category: 'coding' }))
      .id
    const files = [{ filename: 'SKILL.md', bytes: new TextEncoder().encode('---\nname: tidy\ndescription: d\n---\nA letter') }]
    const { content: _, type: __, ...fields } = LETTER
    skill = (await judge.items.createItem(by(), { kind: 'skill', ...fields, title: 'Tidy', files })).id
    stores = []
    for (const instance of ['one', 'two']) stores.push(await createStore(place.open(), { ...outside, instance }))
  })
  afterEach(async () => {
    for (const store of [...stores, judge]) await store.close()
    await place.remove()
  })

  /** Everything that is cached, as strangers get it. */
  async function readAll({ items, categories }: LibraryStore): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {}
    const filters: ItemFilter[] = [{}, { categories: ['writing'], anyTags: ['red'] }, { collections: [collection] }]
    for (const filter of filters) {
      const name = JSON.stringify(filter)
      answers[`newest ${name}`] = await items.searchItems(ANONYMOUS, 'prompt', { ...LIST, filter })
      answers[`votes ${name}`] = await items.searchItems(ANONYMOUS, 'prompt', { ...LIST, filter, sort: 'votes', wantsFacets: true })
      answers[`count ${name}`] = await items.countPrompts(ANONYMOUS, filter)
      answers[`walk ${name}`] = await items.walkPrompts(ANONYMOUS, filter, null, 4)
      const asked: SearchRequest = { ...LIST, filter, sort: 'relevance', query: parseQuery('writer leter'), text: 'writer leter' }
      answers[`search ${name}`] = await items.searchItems(ANONYMOUS, 'prompt', asked)
    }
    answers['skills'] = await items.searchItems(ANONYMOUS, 'skill', {
      ...LIST,
      sort: 'relevance',
      query: parseQuery('letter'),
      text: 'letter',
    })
    for (const id of [letter, poem]) {
      answers[id] = await items.findItem(ANONYMOUS, 'prompt', id)
      answers[`versions ${id}`] = await items.listVersions(ANONYMOUS, id, { before: null, limit: 5 })
      answers[`related ${id}`] = await items.findRelated(ANONYMOUS, 'prompt', id, 3)
    }
    answers['skill'] = await items.findItem(ANONYMOUS, 'skill', skill)
    answers['slug'] = await items.findItem(ANONYMOUS, 'prompt', 'named-anew')
    answers['categories'] = await categories.listCategories(ANONYMOUS)
    answers['tags'] = await categories.listTags(ANONYMOUS, { limit: 10, offset: 0 })
    return answers
  }

  const WRITES: readonly [string, (store: LibraryStore) => Promise<unknown>][] = [
    ['an edit', ({ items }) => items.changeItem('prompt', letter, by(), () => ({ content: 'About a garden.', tags: ['green'] }))],
    ['a new slug', ({ items }) => items.changeItem('prompt', poem, by(), () => ({ slug: 'named-anew' }))],
    ['a new item', ({ items }) => items.createItem(by(), { kind: 'prompt', ...LETTER, title: 'Another letter' })],
    ['an item in a collection', ({ collections }) => collections.addToCollection(asAda(), collection, [letter, poem], null)],
    [
      'a collection for members',
      ({ collections }) => collections.changeCollection(asAda(), collection, { visibility: 'members' }, undefined),
    ],
    ['a collection for all', ({ collections }) => collections.changeCollection(asAda(), collection, { visibility: 'public' }, undefined)],
    ['an item taken out', ({ collections }) => collections.removeFromCollection(asAda(), collection, [poem])],
    ['a vote', ({ marks }) => marks.setVote(asAda(), 'prompt', poem, ben, true)],
    ['a hold', ({ marks }) => marks.setHeld('prompt', letter, true)],
    ['the end of a hold', ({ marks }) => marks.setHeld('prompt', letter, false)],
    ['the name of a category', ({ categories }) => categories.renameCategory('writing', 'Letters')],
    ['categories that become one', ({ categories }) => categories.mergeCategory('coding', 'writing')],
    ['an edit of a skill', ({ items }) => items.changeItem('skill', skill, by(), () => ({ title: 'A letter opener' }))],
    ['a private item', ({ items }) => items.changeItem('prompt', poem, by(), () => ({ visibility: 'private' }))],
    ['the trash', ({ items }) => items.setDeleted('prompt', letter, ada, true)],
    ['an item restored', ({ items }) => items.setDeleted('prompt', letter, ada, false)],
    ['a deletion for good', ({ purges }) => purges.purgeItem('prompt', letter, ada, () => true)],
    ['the removal of a person', ({ people }) => people.deletePerson(ada)],
  ]

  it('is what is there after each kind of write, whichever instance makes it', async () => {
    let before = await readAll(judge)
    for (const store of stores) expect(await readAll(store)).toEqual(before)
    for (const [index, [what, write]] of WRITES.entries()) {
      const [writer, reader] = index % 2 === 0 ? stores : stores.toReversed()
      if (!writer || !reader) throw new Error('no stores')
      // Reads that meet the write half-way fill caches too.
      await Promise.all([write(writer), readAll(reader)])
      // A transaction reads past the caches.
      const expected = await judge.inTransaction((inner) => readAll(inner))
      expect(expected, `${what} changes nothing that is read here`).not.toEqual(before)
      for (const store of stores) expect(await readAll(store), what).toEqual(expected)
      before = expected
    }
  })
})
