import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Prompt, PromptFields, User } from '../../src/domain/items/items.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { retireSlug } from '../../src/storage/slugs.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

/** People, what is theirs, and what is left of them when they go. */

const PROMPT: PromptFields = PLAIN_PROMPT
const DAY_MS = 86_400_000

for (const engine of ENGINES) {
  describe(`people on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let ben: User
    let now = Date.UTC(2026, 0, 1)
    const outside = { clock: () => (now += 1000), random: countingRandom() }
    const as = (user: User): Actor => ({ kind: 'user', userId: user.id, username: user.username, scopes: new Set(['read', 'write']) })
    const by = (user: User) => ({ userId: user.id, note: null })
    const save = (user: User, fields: Partial<PromptFields> = {}) =>
      store.items.createItem(by(user), { kind: 'prompt', ...PROMPT, ...fields })
    /** Many prompts of Ben's, in one transaction. */
    const saveMany = (count: number, fields: Partial<PromptFields> = {}) =>
      store.inTransaction(async (transaction) => {
        const made: Prompt[] = []
        for (let n = 0; n < count; n++)
          made.push(await transaction.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, title: `Ben ${n}`, ...fields }))
        return made
      })
    const find = (query: string) =>
      store.items.searchItems(ANONYMOUS, 'prompt', { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0 })
    const join = (username: string, inviteSha256: string | null = null) =>
      store.people.createLogin({ username, email: null, passwordHash: 'x', inviteSha256 }, () => 'user')
    /** Many keys of Ada's, past the limit of those that work. */
    const addKeys = async (count: number, more: { revoked_at?: string } = {}) => {
      const { seq } = await database.reader.selectFrom('user').select('seq').where('id', '=', ada.id).executeTakeFirstOrThrow()
      const keys = Array.from({ length: count }, (_, n) => {
        const created = new Date(outside.clock()).toISOString()
        return {
          id: outside.random.id(),
          user_seq: seq,
          name: `over ${n}`,
          sha256: `sha ${n}`,
          scopes: '["read"]',
          created_at: created,
          ...more,
        }
      })
      await database.transact((db) => db.insertInto('api_key').values(keys).execute())
    }
    /** Runs out of disk in the transaction after the first `good` ones. */
    const failAfter = async (good: number): Promise<LibraryStore> => {
      let left = Number.POSITIVE_INFINITY
      const failing: OpenDatabase = {
        ...database,
        transact: (work, options) => {
          if (left-- <= 0) throw new Error('killed')
          return database.transact(work, options)
        },
      }
      const opened = await createStore(failing, outside)
      left = good
      return opened
    }
    const rowsOf = (table: 'item' | 'version' | 'vote' | 'slug' | 'user' | 'word' | 'improve_usage') =>
      database.reader.selectFrom(table).selectAll().execute()

    beforeEach(async () => {
      place = await engine.create()
      database = place.open()
      store = await createStore(database, outside)
      ada = await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })
      ben = await store.people.createUser({ username: 'ben', defaultVisibility: 'public' })
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    describe('somebody who is removed', () => {
      it('is gone at once for everybody, and wholly when the library is opened again after a kill half-way', async () => {
        const kept = await save(ada, { title: 'Kept', tags: ['Shared'] })
        const items = await saveMany(150, { content: 'zorblat', tags: ['Bens'] })
        const [first] = items
        const unlisted = await save(ben, { title: 'By id', visibility: 'unlisted' })
        await store.marks.setVote(as(ben), 'prompt', kept.id, ben.id, true)
        await store.keys.createKey({ name: 'k', userId: ben.id, sha256: 'k', scopes: ['write'], expiresAt: null })
        expect((await find('zorblat')).total).toBe(150)
        const killed = await failAfter(2)
        await expect(killed.people.deletePerson(ben.id)).rejects.toThrow('killed')
        expect((await rowsOf('item')).length).toBe(1 + 51)

        for (const reader of [store, killed]) {
          expect((await reader.categories.listTags(as(ben), { limit: 9, offset: 0 })).items.map(({ name }) => name)).toEqual(['Shared'])
          expect(await reader.items.findItem(ANONYMOUS, 'prompt', first?.slug ?? '')).toBeNull()
          for (const actor of [ANONYMOUS, as(ben)]) expect(await reader.items.findItem(actor, 'prompt', unlisted.id)).toBeNull()
          expect(await reader.items.listVersions(as(ben), items.at(-1)?.id ?? '', { before: null, limit: 9 })).toEqual([])
        }
        expect((await find('zorblat')).total).toBe(0)
        expect((await store.items.listTrash(ben.id, { limit: 9, offset: 0 })).total).toBe(0)
        expect(await store.items.findItem(ANONYMOUS, 'prompt', kept.id)).toMatchObject({ votes: 0 })
        expect([await store.people.findUser('ben'), await store.people.findPerson(ben.id), await store.keys.findKey('k')]).toEqual([
          null,
          null,
          null,
        ])
        expect((await store.people.listPeople({ limit: 9, offset: 0, matching: null })).items.map(({ username }) => username)).toEqual([
          'Ada',
        ])
        // Nothing new becomes theirs, and nobody takes their place, while something is left.
        await expect(save(ben)).rejects.toMatchObject({ code: 'not_found' })
        await expect(store.items.setDeleted('prompt', items.at(-1)?.id ?? '', ben.id, false)).resolves.toBeNull()
        const row = (await rowsOf('user')).find((user) => 'username' in user && user.username === 'ben')
        const leftOver = row && 'id' in row ? String(row.id) : ''
        await expect(store.items.createItem({ userId: leftOver, note: null }, { kind: 'prompt', ...PROMPT })).rejects.toMatchObject({
          code: 'not_found',
        })
        await expect(
          store.keys.createKey({ name: 'k', userId: leftOver, sha256: 'l', scopes: ['read'], expiresAt: null }),
        ).rejects.toMatchObject({ code: 'not_found' })
        await expect(join('Ben')).rejects.toMatchObject({ code: 'conflict' })

        await store.close()
        database = place.open()
        store = await createStore(database, outside)
        expect((await rowsOf('item')).length).toBe(1)
        expect((await rowsOf('version')).length).toBe(1)
        expect((await rowsOf('slug')).length).toBe(1)
        expect(await store.items.findItem(ANONYMOUS, 'prompt', kept.id)).toMatchObject({ title: 'Kept' })
      })

      it('is looked for in no table from end to end', async () => {
        expect(await engine.findUnindexedReferences(database)).toEqual([])
      })

      it('leaves nothing in what is kept', async () => {
        await save(ada, { content: 'shared words stay' })
        await save(ben, { title: 'Quokkatitle', content: 'zorblatsecret shared words', tags: ['Frobniktag'], visibility: 'private' })
        await store.items.changeItem('prompt', (await save(ben, { content: 'olderversion '.repeat(500) })).id, by(ben), () => ({
          content: 'newerversion',
        }))
        await store.people.changeProfile(ben.id, { bio: 'biographysecret' })
        await store.people.createInvite({ sha256: 'i', username: null, role: 'user', expiresAt: '2030-01-01' })
        const { id } = await join('zoesecret', 'i')
        const keyOf = await store.keys.createKey({ name: 'keysecret', userId: id, sha256: 'k', scopes: ['read'], expiresAt: null })
        for (const caller of [`key ${keyOf.id}`, `user ${id}`, 'key other']) {
          await store.budgets.spendImproveBudget({ caller, day: '2026-01-01', characters: 1 }, { requests: null, characters: null })
        }
        await store.people.deletePerson(ben.id)
        await store.people.deletePerson(id)
        expect(await rowsOf('improve_usage')).toMatchObject([{ caller: 'key other' }])
        expect((await store.people.listInvites({ limit: 1, offset: 0 })).items).toMatchObject([
          { usedBy: null, usedAt: expect.any(String) },
        ])
        const words = (await rowsOf('word')).map((row) => ('word' in row ? row.word : ''))
        expect(words).toContain('shared')
        for (const word of ['quokkatitle', 'zorblatsecret', 'frobniktag']) expect(words).not.toContain(word)
        const files = (await engine.readEverything(database)).toLowerCase()
        expect(files).toContain('shared words stay')
        const secrets = ['quokkatitle', 'zorblatsecret', 'frobniktag', 'olderversion', 'newerversion', 'biographysecret', 'zoesecret']
        for (const text of [...secrets, 'keysecret', 'initsecret']) expect(files.includes(text), text).toBe(false)
      })

      it('leaves the addresses of what was public once, and no others', async () => {
        const open = await save(ben, { title: 'Once open' })
        await store.items.changeItem('prompt', open.id, by(ben), () => ({ visibility: 'private' }))
        await save(ben, { title: 'Layoffs in May', visibility: 'private' })
        await store.people.deletePerson(ben.id)
        const retired = await database.reader.selectFrom('retired_slug').select('slug').execute()
        expect(retired).toEqual([{ slug: retireSlug('once-open') }])
        expect((await save(ada, { title: 'Once open' })).slug).not.toBe('once-open')
      })

      it('keeps the name from strangers where something stood under it, and only there', async () => {
        const quiet = await store.people.createUser({ username: 'quiet', defaultVisibility: 'private' })
        await save(quiet, { visibility: 'private' })
        const open = await save(ben)
        await store.items.changeItem('prompt', open.id, by(ben), () => ({ visibility: 'private' }))
        await store.people.changeProfile(ben.id, {
          displayName: 'Ben B.',
          bio: 'b',
          website: 'https://b.example',
          defaultVisibility: 'public',
          language: 'de',
        })
        await store.people.deletePerson(quiet.id)
        await store.people.deletePerson(ben.id)
        expect(await store.people.findPersonByName('quiet')).toBeNull()
        const reserved = await store.people.findPersonByName('BEN')
        expect(reserved).toMatchObject({
          displayName: null,
          bio: null,
          website: null,
          language: null,
          role: 'user',
          hasLogin: false,
          isPlaceholder: false,
        })
        expect(reserved?.id).not.toBe(ben.id)
        await expect(store.people.createUser({ username: 'Ben', defaultVisibility: 'public' })).rejects.toMatchObject({ code: 'conflict' })
        // Whoever is invited under it gets it.
        expect(await join('ben')).toMatchObject({ id: reserved?.id, hasLogin: true })
      })
    })

    describe('a hold', () => {
      const hold = async (id: string, isHeld: boolean) => expect(await store.marks.setHeld('prompt', id, isHeld)).toBe(true)
      const visibilityOf = async (id: string) => (await store.items.findItem(as(ada), 'prompt', id))?.visibility

      it('that is lifted makes public what it took out of the lists, edited or not', async () => {
        const { id } = await save(ada)
        await hold(id, true)
        await store.items.changeItem('prompt', id, by(ada), () => ({ title: 'Mended', visibility: 'unlisted' }))
        await hold(id, false)
        expect(await visibilityOf(id)).toBe('public')
      })

      it('that is lifted leaves what its owner chose meanwhile', async () => {
        const { id } = await save(ada)
        await hold(id, true)
        for (const visibility of ['private', 'unlisted'] as const)
          await store.items.changeItem('prompt', id, by(ada), () => ({ visibility }))
        await hold(id, false)
        expect(await visibilityOf(id)).toBe('unlisted')
        // The next one begins anew.
        await store.items.changeItem('prompt', id, by(ada), () => ({ visibility: 'public' }))
        await hold(id, true)
        await hold(id, false)
        expect(await visibilityOf(id)).toBe('public')
      })

      it('keeps its owner from giving it to members, and is of public items alone', async () => {
        const { id } = await save(ada)
        await hold(id, true)
        const change = store.items.changeItem('prompt', id, by(ada), () => ({ visibility: 'members' }))
        await expect(change).rejects.toMatchObject({ code: 'forbidden' })
        const other = await save(ada, { visibility: 'members' })
        expect([await store.marks.setHeld('prompt', other.id, true), await visibilityOf(other.id)]).toEqual([false, 'members'])
      })

      it('is listed, the newest first, page by page', async () => {
        const ids: string[] = []
        for (let n = 0; n < 5; n++) ids.unshift((await save(ada, { title: `Held ${n}` })).id)
        for (const id of ids.toReversed()) await hold(id, true)
        await store.items.changeItem('prompt', ids[4] ?? '', by(ada), () => ({ visibility: 'private' }))
        const page = await store.marks.listHeld({ limit: 2, offset: 1 })
        expect([page.items.map(({ id }) => id), page.total]).toEqual([ids.slice(1, 3), 4])
      })
    })

    it('lets one person have 100 keys that work, whoever makes them', async () => {
      const make = (expiresAt: string | null) => {
        const sha256 = outside.random.id()
        return store.keys.createKey({ name: 'k', userId: ada.id, sha256, scopes: ['read'], expiresAt })
      }
      await make(new Date(now + DAY_MS).toISOString())
      await addKeys(98)
      const last = await make(null)
      await expect(make(null)).rejects.toMatchObject({
        code: 'conflict',
        message: 'Ada has 100 keys that work, and may have no more; revoke one first.',
      })
      await store.keys.revokeKey(last.id)
      await make(null)
      await expect(make(null)).rejects.toMatchObject({ code: 'conflict' })
      now += 2 * DAY_MS
      await make(null)
      await expect(make(null)).rejects.toMatchObject({ code: 'conflict' })
    })

    it('forgets keys a month after their end, and lists no more than 200 of one person, those that work first', async () => {
      const make = (name: string, expiresAt: string | null = null) =>
        store.keys.createKey({ name, userId: ada.id, sha256: name, scopes: ['read'], expiresAt })
      const names = async () => (await store.keys.listKeys('Ada')).map(({ name }) => name)
      await make('works')
      await store.keys.revokeKey((await make('revoked')).id)
      await make('expires', new Date(now + DAY_MS).toISOString())
      now += 29 * DAY_MS
      await make('second')
      expect(await names()).toEqual(['works', 'revoked', 'expires', 'second'])
      now += 2.5 * DAY_MS
      await make('third')
      expect(await names()).toEqual(['works', 'second', 'third'])
      await addKeys(205, { revoked_at: new Date(now).toISOString() })
      const listed = await names()
      expect([listed.length, listed.slice(0, 4), listed.at(-1)]).toEqual([200, ['works', 'second', 'third', 'over 8'], 'over 204'])
    })
  })
}
