import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { PromptFields, User } from '../../src/domain/items/items.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const PROMPT: PromptFields = {
  ...PLAIN_PROMPT,
  title: 'The same title',
  content: 'First words.',
  category: 'writing',
  tags: ['Red', 'blue'],
}

for (const engine of ENGINES) {
  describe(`saves at the same time on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let databases: OpenDatabase[]
    let stores: LibraryStore[]
    let ada: User
    const open = async () => {
      const database = place.open()
      databases.push(database)
      const store = await createStore(database, { clock: Date.now, random: SYSTEM.random })
      stores.push(store)
      return store
    }
    beforeEach(async () => {
      place = await engine.create()
      databases = []
      stores = []
      const one = await open()
      await open()
      ada = await one.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      await place.remove()
    })
    const by = () => ({ userId: ada.id, note: null })
    const everywhere = <T>(work: (store: LibraryStore, index: number) => Promise<T>, times: number) =>
      Promise.all(Array.from({ length: times }, (_, index) => work(stores[index % 2] as LibraryStore, index)))
    it('give each item a slug of its own', async () => {
      const items = await everywhere((store) => store.items.createItem(by(), { kind: 'prompt', ...PROMPT }), 8)
      expect(new Set(items.map(({ slug }) => slug)).size).toBe(8)
      for (const { id, slug } of items) expect((await stores[0]?.items.findItem(ANONYMOUS, 'prompt', slug))?.id).toBe(id)
    })

    it('of one item follow one another: no change is lost, and versions have no gap', async () => {
      const item = await stores[0]?.items.createItem(by(), { kind: 'prompt', ...PROMPT, content: '' })
      if (!item) throw new Error('nothing was created')
      const changes = 8
      await everywhere(
        (store, index) =>
          store.items.changeItem('prompt', item.id, by(), (current) => ({
            content: `${'content' in current ? current.content : ''}${index},`,
          })),
        changes,
      )
      const after = await stores[1]?.items.findItem(ANONYMOUS, 'prompt', item.id)
      const kept = after?.content
        .split(',')
        .filter(Boolean)
        .map(Number)
        .toSorted((a, b) => a - b)
      expect(kept).toEqual(Array.from({ length: changes }, (_, index) => index))
      const versions = await databases[0]?.reader.selectFrom('version').select('number').orderBy('number').execute()
      expect(versions?.map(({ number }) => number)).toEqual(Array.from({ length: changes + 1 }, (_, index) => index + 1))
      // Each version others could see is logged, also those that shared a commit.
      const logged = await databases[0]?.reader
        .selectFrom('change')
        .select('version')
        .where('version', 'is not', null)
        .orderBy('seq')
        .execute()
      expect(logged?.map(({ version }) => version)).toEqual(Array.from({ length: changes + 1 }, (_, index) => index + 1))
    })

    it('write words that were removed meanwhile anew', async () => {
      const words = Array.from({ length: 5 }, (_, index) => `zyx${'abcde'[index]}w`)
      const [one] = stores
      const first = await one?.items.createItem(by(), { kind: 'prompt', ...PROMPT, content: words.join(' ') })
      if (!one || !first) throw new Error('nothing was created')
      // The first instance knows the words; another one removes them.
      await one.items.changeItem('prompt', first.id, by(), () => ({ content: 'Nothing of that.' }))
      await databases[1]?.transact(async (db) => {
        await db.deleteFrom('word').where('word', 'in', words).execute()
        await db.insertInto('word_removal').defaultValues().execute()
      })
      await Promise.all(
        words.map((word, index) =>
          one.items.createItem(by(), { kind: 'prompt', ...PROMPT, title: `Title ${index}`, content: `About ${word}.` }),
        ),
      )
      const fresh = await open()
      for (const [index, word] of words.entries()) {
        const query = parseQuery(word)
        const found = await fresh.items.searchItems(ANONYMOUS, 'prompt', { query, filter: {}, sort: 'relevance', limit: 50, offset: 0 })
        expect(
          found.items.map(({ title }) => title),
          word,
        ).toContain(`Title ${index}`)
      }
    })

    it('and votes of many on one item are all counted', async () => {
      const item = await stores[0]?.items.createItem(by(), { kind: 'prompt', ...PROMPT })
      if (!item) throw new Error('nothing was created')
      const names = Array.from({ length: 5 }, (_, index) => `voter-${index}`)
      const voters = await Promise.all(
        names.map((username) => (stores[0] as LibraryStore).people.createUser({ username, defaultVisibility: 'private' })),
      )
      const outcomes = await Promise.allSettled([
        ...[...voters, ...voters.slice(0, 2)].map(({ id }, index) =>
          (stores[index % 2] as LibraryStore).marks.setVote(ANONYMOUS, 'prompt', item.slug, id, true),
        ),
        ...Array.from({ length: 3 }, (_, index) =>
          (stores[index % 2] as LibraryStore).items.changeItem('prompt', item.id, by(), () => ({ content: `Change ${index}.` })),
        ),
      ])
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
      expect(await stores[1]?.items.findItem(ANONYMOUS, 'prompt', item.id)).toMatchObject({ votes: 5 })
      const taken = await everywhere((store, index) => store.marks.setVote(ANONYMOUS, 'prompt', item.id, voters[index]?.id ?? '', false), 5)
      expect(taken.map((result) => result?.votes).toSorted((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 5 }, (_, votes) => votes))
    })

    it('and favourites of one reader stay below the limit', async () => {
      const items = await everywhere(
        (store, index) => store.items.createItem(by(), { kind: 'prompt', ...PROMPT, title: `Title ${index}` }),
        5,
      )
      const outcomes = await everywhere(
        (store, index) => store.marks.setFavourite(ANONYMOUS, 'prompt', items[index]?.id ?? '', ada.id, true, 2),
        5,
      )
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(3)
      expect(await databases[1]?.reader.selectFrom('favourite').select('item_seq').execute()).toHaveLength(2)
    })

    it('and changes of one collection follow one another', async () => {
      const actor: Actor = { kind: 'user', userId: ada.id, username: 'ada', scopes: new Set(['read', 'write']) }
      const items = await everywhere(
        (store, index) => store.items.createItem(by(), { kind: 'prompt', ...PROMPT, title: `Title ${index}` }),
        6,
      )
      const made = await stores[0]?.collections.createCollection(actor, {
        ownerId: ada.id,
        title: 'Many hands',
        description: null,
        visibility: 'public',
      })
      if (!made) throw new Error('nothing was created')
      const outcomes = await Promise.allSettled([
        ...items.map(({ id }, index) => (stores[index % 2] as LibraryStore).collections.addToCollection(actor, made.id, [id], null)),
        ...items.map(({ id }, index) => (stores[(index + 1) % 2] as LibraryStore).collections.addToCollection(actor, made.slug, [id], 1)),
        ...items.map(({ id }) => (stores[1] as LibraryStore).items.changeItem('prompt', id, by(), () => ({ content: 'Another text.' }))),
      ])
      const rejected = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(rejected).toEqual([])
      const rows = await databases[0]?.reader.selectFrom('collection_item').select(['item_seq', 'position']).execute()
      expect(new Set(rows?.map(({ item_seq }) => item_seq)).size).toBe(6)
      expect(new Set(rows?.map(({ position }) => position)).size).toBe(6)
      const collection = await stores[0]?.collections.findCollection(actor, made.id)
      // Once for each item that was not there.
      expect(collection?.version).toBe(7)
      const [kept, removed] = [items.slice(0, 3), items.slice(3)]
      const changes = await Promise.allSettled([
        ...kept.map(({ id }) => stores[0]?.collections.moveInCollection(actor, made.slug, id, { to: 'first' }, undefined)),
        ...removed.map(({ id }) => stores[1]?.collections.removeFromCollection(actor, made.id, [id])),
      ])
      expect(changes.filter(({ status }) => status === 'rejected')).toEqual([])
      const left = await databases[0]?.reader.selectFrom('collection_item').select('position').execute()
      expect(new Set(left?.map(({ position }) => position)).size).toBe(3)
      expect(left).toHaveLength(3)
    })
  })
}
