import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { AppError } from '../../src/errors.ts'
import { type Actor, ANONYMOUS } from '../../src/library/actor.ts'
import type { PromptFields, User } from '../../src/library/items.ts'
import type { WalkPosition } from '../../src/library/ports/items.ts'
import type { ItemFilter, SearchRequest } from '../../src/library/ports/search.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import type { Visibility } from '../../src/library/visibility.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'

const WORDS = ['letter', 'poem', 'story', 'recipe', 'garden', 'robot', 'writer', 'writing', 'river', 'rivers']
const TAGS = ['red', 'green', 'blue']
const TYPES = ['TEXT', 'STRUCTURED', 'IMAGE'] as const
const VISIBILITIES: readonly Visibility[] = ['public', 'public', 'public', 'private', 'members', 'unlisted']
const NAMES = ['ada', 'ben']
const WRITES = 60
const bytes = (text: string) => new TextEncoder().encode(text)

const BLANK: PromptFields = { title: '', content: '', description: null, category: null, tags: [], type: 'TEXT', visibility: 'public' }
const search: SearchRequest = { query: null, filter: {}, sort: 'newest', limit: 5, offset: 0 }

/** What a write is made of: each picks from what is there. */
const writes = fc.array(fc.record({ what: fc.nat(99), one: fc.nat(1000), other: fc.nat(1000), instance: fc.nat(1) }), {
  minLength: WRITES,
  maxLength: WRITES,
})
type Write = typeof writes extends fc.Arbitrary<(infer One)[]> ? One : never

function pick<T>(list: readonly T[], number: number): T {
  const found = list[number % list.length]
  if (found === undefined) throw new Error('nothing to pick from')
  return found
}

const asUser = ({ id, username }: User): Actor => ({ kind: 'user', userId: id, username, scopes: new Set(['read', 'write']) })

function promptOf({ one, other }: Write): PromptFields {
  return {
    title: `${pick(WORDS, one)} ${one}`,
    content: `About a ${pick(WORDS, other)} and a ${pick(WORDS, one + other)}.`,
    description: null,
    category: one % 3 === 0 ? null : pick(['writing', 'coding'], other),
    tags: TAGS.slice(0, other % 4),
    type: pick(TYPES, one),
    visibility: pick(VISIBILITIES, one + other),
  }
}

for (const engine of ENGINES) {
  describe(`what strangers get from caches on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let stores: LibraryStore[]
    let judge: LibraryStore
    let now = Date.UTC(2026, 0, 1)
    const outside = { clock: () => (now += 1000), random: SYSTEM.random }
    /** Everything that was ever made, also what is gone. */
    let made: { id: string; kind: 'prompt' | 'skill'; owner: string; slugs: Set<string> }[]
    let collections: string[]
    let users: User[]

    beforeEach(async () => {
      place = await engine.create()
      stores = []
      for (const instance of ['one', 'two']) stores.push(await createStore(place.open(), { ...outside, instance }))
      judge = await createStore(place.open(), { ...outside, instance: 'judge' })
      made = []
      collections = []
      const [store] = stores
      if (!store) throw new Error('no store')
      users = []
      for (const username of NAMES) users.push(await store.people.createUser({ username, defaultVisibility: 'public' }))
      for (const slug of ['writing', 'coding']) {
        await store.categories.createCategory({ slug, name: slug, parent: null }).catch(() => {})
      }
      for (const user of users) {
        const fields = { ownerId: user.id, title: user.username, description: null, visibility: 'public' } as const
        collections.push((await store.collections.createCollection(asUser(user), fields)).id)
      }
      for (let number = 0; number < 8; number++) await write(store, { what: 0, one: number, other: number * 7, instance: 0 })
    })
    afterEach(async () => {
      for (const store of [...stores, judge]) await store.close()
      await place.remove()
    })

    const note = (kind: 'prompt' | 'skill', { id, slug }: { id: string; slug: string }, owner: string) => {
      const known = made.find((item) => item.id === id)
      if (known) known.slugs.add(slug)
      else made.push({ id, kind, owner, slugs: new Set([slug]) })
    }

    /** One of many writes. What is refused, as the item is gone, changes nothing. */
    async function write(store: LibraryStore, choice: Write): Promise<void> {
      const { what, one, other } = choice
      const user = pick(users, one)
      const actor = asUser(user)
      const editor = { userId: user.id, note: null }
      const item = made.length === 0 ? null : pick(made, other)
      const owner = item && { userId: item.owner, note: null }
      if (what < 25 || !item || !owner) return note('prompt', await store.items.createPrompt(editor, promptOf(choice)), user.id)
      if (what < 32) {
        const files = [{ filename: 'SKILL.md', bytes: bytes(`---\nname: ${pick(WORDS, one)}\ndescription: d\n---\n${pick(WORDS, other)}`) }]
        const { title, category, tags, visibility } = promptOf(choice)
        const skill = await store.items.createSkill(editor, { title, category, tags, visibility, description: null, files })
        return note('skill', skill, user.id)
      }
      if (what < 55) {
        const { type: _, ...fields } = promptOf(choice)
        const some =
          what < 40
            ? { content: fields.content }
            : what < 45
              ? { tags: fields.tags }
              : what < 50
                ? { visibility: fields.visibility }
                : fields
        if (item.kind === 'prompt') {
          const changed = await store.items.changePrompt(item.id, owner, () => ({
            ...some,
            ...(what === 54 ? { slug: `named-${one}` } : {}),
          }))
          if (changed) note('prompt', changed, item.owner)
        } else {
          const { content: _, ...ofSkill } = { content: '', ...some }
          await store.items.changeSkill(item.id, owner, () => ofSkill)
        }
      } else if (what < 62) await store.items.setDeleted(item.kind, item.id, item.owner, one % 3 > 0)
      else if (what < 66) await store.purges.purgeItem(item.kind, item.id, item.owner, () => true)
      else if (what < 72) await store.marks.setVote(actor, item.kind, item.id, user.id, one % 2 === 0)
      else if (what < 76) await store.marks.setHeld(item.kind, item.id, one % 2 === 0)
      else if (what < 78) await store.marks.setFeatured(item.kind, item.id, one % 2 === 0)
      else if (what < 80) await store.people.changeProfile(user.id, { displayName: `${user.username} ${other}` })
      else if (what < 82) await store.categories.renameCategory(pick(['writing', 'coding'], one), `Name ${other}`)
      else if (what === 82) await store.categories.mergeCategory(pick(['writing', 'coding'], one), pick(['writing', 'coding'], one + 1))
      else if (what === 83)
        await store.categories.createCategory({ slug: pick(['writing', 'coding'], one), name: `New ${other}`, parent: null })
      else if (what < 86) {
        const fields = { ownerId: user.id, title: pick(WORDS, one), description: null, visibility: pick(VISIBILITIES, other) }
        collections.push((await store.collections.createCollection(actor, fields)).id)
      } else if (collections.length > 0) {
        const id = pick(collections, one)
        if (what < 94) await store.collections.addToCollection(actor, id, [item.id], null)
        else if (what < 97) await store.collections.removeFromCollection(actor, id, [item.id])
        else if (what < 99) await store.collections.changeCollection(actor, id, { visibility: pick(VISIBILITIES, other) }, undefined)
        else await store.collections.deleteCollection(actor, id)
      }
    }

    /** A write whose item is gone, or that somebody may not make, is refused. */
    async function attempt(store: LibraryStore, choice: Write): Promise<void> {
      try {
        await write(store, choice)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }

    const filters = (): ItemFilter[] => [
      {},
      { categories: ['writing'] },
      { anyTags: ['red'] },
      { allTags: ['red', 'green'] },
      { type: 'IMAGE' },
      { ownerId: users[0]?.id ?? '' },
      { authors: ['ben'] },
      { notOwnerId: users[1]?.id ?? '' },
      ...(collections.length > 0 ? [{ collections: collections.slice(0, 2) }] : []),
    ]

    /** Everything that is cached, as strangers get it. */
    async function readAll(store: LibraryStore): Promise<Record<string, unknown>> {
      const answers: Record<string, unknown> = {}
      const list = (sort: SearchRequest['sort'], filter: ItemFilter, more: Partial<SearchRequest> = {}): SearchRequest => ({
        query: null,
        sort,
        filter,
        limit: 5,
        offset: 0,
        ...more,
      })
      const get = async (name: string, answer: Promise<unknown>) => {
        answers[name] = await answer
      }
      const { items } = store
      for (const filter of filters()) {
        const name = JSON.stringify(filter)
        for (const sort of ['newest', 'votes'] as const)
          await get(`prompts ${sort} ${name}`, items.searchPrompts(ANONYMOUS, list(sort, filter)))
        await get(`page ${name}`, items.searchPrompts(ANONYMOUS, list('newest', filter, { offset: 5, wantsFacets: true })))
        await get(`count ${name}`, items.countPrompts(ANONYMOUS, filter))
        let after: WalkPosition | null = null
        for (let page = 0; page < 3; page++) {
          const walked = await items.walkPrompts(ANONYMOUS, filter, after, 4)
          answers[`walk ${page} ${name}`] = walked
          after = walked.entries.at(-1)?.position ?? after
        }
        await get(`skills ${name}`, items.walkSkills(ANONYMOUS, filter, null, 3))
        await get(`search ${name}`, items.searchPrompts(ANONYMOUS, list('relevance', filter, { query: parseQuery('writer letter') })))
      }
      for (const query of [...WORDS, 'a robot in the garden', 'wrting', 'riv']) {
        const asked = list('relevance', {}, { query: parseQuery(query), text: query })
        await get(`search ${query}`, items.searchPrompts(ANONYMOUS, asked))
        await get(`skills ${query}`, items.searchSkills(ANONYMOUS, asked))
      }
      for (const { id, kind, slugs } of made) {
        for (const ref of [id, ...slugs]) {
          await get(`${kind} ${ref}`, kind === 'prompt' ? items.findPrompt(ANONYMOUS, ref) : items.findSkill(ANONYMOUS, ref))
        }
        await get(`versions ${id}`, items.listVersions(ANONYMOUS, id, { before: null, limit: 5 }))
        if (kind === 'prompt') await get(`related ${id}`, items.findRelatedPrompts(ANONYMOUS, id, 3))
      }
      await get('categories', store.categories.listCategories(ANONYMOUS))
      await get('tags', store.categories.listTags(ANONYMOUS, { limit: 10, offset: 0 }))
      return answers
    }

    /** A transaction reads past the caches. */
    const readUncached = () => judge.inTransaction((inner) => readAll(inner))

    it('follows what is in a collection, and who sees it', async () => {
      const [user] = users
      const [one, other] = stores
      const [id] = collections
      if (!user || !one || !other || id === undefined) throw new Error('nothing to begin with')
      const actor = asUser(user)
      const { id: promptId } = await one.items.createPrompt(
        { userId: user.id, note: null },
        { ...BLANK, title: 'letter', content: 'letter' },
      )
      const filter = { collections: [id] }
      const count = async (store: LibraryStore) => [
        (await store.items.searchPrompts(ANONYMOUS, { ...search, filter })).total,
        (await store.items.searchPrompts(ANONYMOUS, { ...search, filter, query: parseQuery('letter') })).total,
        await store.items.countPrompts(ANONYMOUS, filter),
        (await store.items.walkPrompts(ANONYMOUS, filter, null, 5)).entries.length,
      ]
      const expectAll = async (expected: number) => {
        for (const store of stores) expect(await count(store)).toEqual([expected, expected, expected, expected])
      }
      await expectAll(0)
      await one.collections.addToCollection(actor, id, [promptId], null)
      await expectAll(1)
      await one.collections.changeCollection(actor, id, { visibility: 'private' }, undefined)
      await expectAll(0)
      await other.collections.changeCollection(actor, id, { visibility: 'public' }, undefined)
      await expectAll(1)
      await other.collections.removeFromCollection(actor, id, [promptId])
      await expectAll(0)
    })

    it('keeps searches that a change does not touch, and never finds less or more than there is', { timeout: 300_000 }, async () => {
      const [user] = users
      const texts = fc.array(fc.array(fc.nat(99), { minLength: 1, maxLength: 4 }), { minLength: 40, maxLength: 40 })
      const toText = (numbers: readonly number[]) => numbers.map((number) => `${pick(WORDS, number)}${number % 9}`).join(' ')
      const fields = (numbers: readonly number[]): PromptFields => ({
        ...BLANK,
        title: toText(numbers),
        content: toText(numbers.toReversed()),
      })
      await judge.inTransaction(async (inner) => {
        for (let number = 0; number < 240; number++)
          await inner.items.createPrompt({ userId: user?.id ?? '', note: null }, fields([number, number * 7]))
      })
      const asked = Array.from({ length: 20 }, (_, number): SearchRequest => {
        const text = toText(number % 3 === 0 ? [number, number + 1] : [number])
        const query = parseQuery(number % 5 === 0 ? `${text}x` : text)
        return { query, text, filter: number % 4 === 0 ? { type: 'TEXT' } : {}, sort: 'relevance', limit: 100, offset: 0 }
      })
      /** What is found, in no order: that hangs on how rare words were. */
      const readAll = async (store: LibraryStore) => {
        const answers: unknown[] = []
        for (const request of asked) {
          const { items, total, corrections } = await store.items.searchPrompts(ANONYMOUS, request)
          answers.push([total, [...corrections], items.toSorted((one, other) => (one.id < other.id ? -1 : 1))])
        }
        return answers
      }
      const editor = { userId: user?.id ?? '', note: null }
      const first = stores[0]
      await fc.assert(
        fc.asyncProperty(texts, async (some) => {
          for (const [at, numbers] of some.entries()) {
            const store = pick(stores, at)
            const { items } = await store.items.searchPrompts(ANONYMOUS, { ...search, limit: 50, offset: at })
            const item = items[0]
            if (at % 4 === 0 && item) await store.items.changePrompt(item.id, editor, () => fields(numbers))
            else if (at % 4 === 1 && item) await store.items.changePrompt(item.id, editor, () => ({ visibility: 'private' }))
            else await store.items.createPrompt(editor, fields(numbers))
            const expected = await judge.inTransaction((inner) => readAll(inner))
            for (const one of stores) expect(await readAll(one)).toEqual(expected)
          }
        }),
        { numRuns: 2, endOnFailure: true },
      )
      const use = first?.service.readCacheUse().find(({ name }) => name === 'searches')
      expect(use?.hits).toBeGreaterThan(100)
      expect(use?.misses).toBeGreaterThan(100)
    })

    it('is what is there, whatever two instances write', { timeout: 300_000 }, async () => {
      let compared = 0
      await fc.assert(
        fc.asyncProperty(writes, async (choices) => {
          for (let at = 0; at < choices.length; at += 3) {
            const some = choices.slice(at, at + 3)
            const writing = some.map((choice) => attempt(pick(stores, choice.instance), choice))
            // Reads that meet the writes half-way fill caches too.
            const reading = stores.map((store) => readAll(store))
            await Promise.all([...writing, ...reading])
            const expected = await readUncached()
            for (const store of stores) expect(await readAll(store)).toEqual(expected)
            compared += Object.keys(expected).length
          }
        }),
        { numRuns: 3, endOnFailure: true },
      )
      expect(compared).toBeGreaterThan(1_000)
    })
  })
}
