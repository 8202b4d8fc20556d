import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { User } from '../../src/domain/items/items.ts'
import type { Actor } from '../../src/domain/people/actor.ts'
import { DEFAULT_QUOTA, NO_QUOTA, type OwnerQuota, type OwnerUsage } from '../../src/domain/people/usage.ts'
import type { SkillFile } from '../../src/domain/skills/skill.ts'
import { AppError } from '../../src/errors.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { createSearchIndex } from '../../src/search/index/search-index.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { recountUsage } from '../../src/storage/items/owner-usage.ts'
import { readSearchIndex } from '../../src/storage/search/search-reader.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES, replaceInFile } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const skillFiles = (text: string): SkillFile[] => [
  { filename: 'SKILL.md', bytes: Buffer.from('---\nname: tidy\ndescription: Tidy a room.\n---\n') },
  { filename: 'notes.txt', bytes: Buffer.from(text) },
]
const SKILL = { title: 'Tidy', description: null, tags: [], category: null, visibility: 'private' } as const

for (const engine of ENGINES) {
  describe(`what an owner keeps on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let ben: User

    const open = async (quota: Partial<OwnerQuota>, opened = database, maxWords = 10_000) => {
      store = await createStore(opened, { clock: Date.now, random: countingRandom(), quota: { ...DEFAULT_QUOTA, ...quota }, maxWords })
    }
    const by = ({ id: userId }: User) => ({ userId, note: null })
    const as = ({ id: userId, username }: User): Actor => ({ kind: 'user', userId, username, scopes: new Set(['read', 'write']) })
    const keeps = async ({ id }: User) => (await store.own.readUsage(id)).used
    const save = async (owner: User, content: string) =>
      (await store.items.createItem(by(owner), { kind: 'prompt', ...PLAIN_PROMPT, content })).id
    const purge = (id: string) => store.purges.purgeItem('prompt', id, ada.id, () => true)
    const finds = async (word: string) => {
      const request = { query: parseQuery(word), filter: {}, sort: 'relevance', limit: 10, offset: 0 } as const
      return (await store.items.searchItems(as(ada), 'prompt', request)).scores.some(({ isApproximate }) => !isApproximate)
    }

    beforeEach(async () => {
      place = await engine.create()
      database = place.open()
      await open({})
      ada = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
      ben = await store.people.createUser({ username: 'ben', defaultVisibility: 'private' })
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    it('is counted with each write as the tables have it, until everything is gone', async () => {
      const first = await save(ada, 'one')
      await store.items.changeItem('prompt', first, by(ada), () => ({ content: 'longer than one' }))
      const skill = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, files: skillFiles('a'.repeat(5000)) })
      await store.items.createItem(by(ben), { kind: 'skill', ...SKILL, files: skillFiles('a'.repeat(5000)) })
      await store.items.changeItem('skill', skill.id, by(ada), () => ({ files: skillFiles('b'.repeat(300)) }))
      await store.items.changeItem('skill', skill.id, by(ada), () => ({ title: 'Tidier' }))
      await store.items.changeItem('skill', skill.id, by(ada), () => ({ tags: ['much', 'longer'], visibility: 'public' }))
      await save(ben, 'of another')
      await store.purges.purgeVersions('skill', skill.id, ada.id, { first: 1, last: 1 })
      const counted = { ada: await keeps(ada), ben: await keeps(ben) }
      // Three versions of one, one of the other, and a change of tags.
      expect(counted.ada).toMatchObject({ items: 2, versions: 5 })
      await database.transact(recountUsage, { caller: '' })
      expect({ ada: await keeps(ada), ben: await keeps(ben) }).toEqual(counted)
      // The text is kept for the other, who did not bring it.
      expect(counted.ben.bytes).toBeLessThan(300)
      await purge(first)
      await store.purges.purgeItem('skill', skill.id, ada.id, () => true)
      expect(await keeps(ada)).toMatchObject({ items: 0, versions: 0 } satisfies Partial<OwnerUsage>)
    })

    it.each<[Partial<OwnerQuota>, RegExp]>([
      [{ items: 2 }, /may keep 2 items and has room for 0 items more/],
      [{ versions: 2 }, /may keep 2 versions and has room for 0 versions more/],
      [{ bytes: 4_000 }, /may keep 4 kB and has room for \d kB more/],
    ])('is refused beyond %j, and what is deleted for good gives room', async (quota, message) => {
      await open(quota)
      const first = await save(ada, 'x'.repeat(1_500))
      await save(ada, 'y'.repeat(1_500))
      const third = () => save(ada, 'z'.repeat(1_500))
      await expect(third()).rejects.toMatchObject({ code: 'too_large', message: expect.stringMatching(message) })
      await save(ben, 'of another')
      await purge(first)
      await third()
    })

    it('leaves nothing of what is refused in a transaction that goes on', async () => {
      await open({ items: 1, bytes: 4_000 })
      await store.inTransaction(async (transaction) => {
        const create = (content: string) => transaction.items.createItem(by(ada), { kind: 'prompt', ...PLAIN_PROMPT, content })
        const { id } = await create('first')
        await expect(create('second')).rejects.toMatchObject({ code: 'too_large' })
        const change = transaction.items.changeItem('prompt', id, by(ada), () => ({ content: 'x'.repeat(5_000) }))
        await expect(change).rejects.toMatchObject({ code: 'too_large' })
      })
      const counted = await keeps(ada)
      expect(counted).toMatchObject({ items: 1, versions: 1 })
      await database.transact(recountUsage, { caller: '' })
      expect(await keeps(ada)).toEqual(counted)
    })

    it('has no limits without a quota', async () => {
      await open(NO_QUOTA)
      for (let i = 0; i < 3; i++) await save(ada, `text ${i}`)
      expect((await keeps(ada)).items).toBe(3)
    })

    it('leaves words beyond the quota out of search, says how many, and indexes again once there is room', async () => {
      await open({ words: 40 })
      // None is near another.
      const words = (of: string) => Array.from({ length: 30 }, (_, index) => createHash('md5').update(`${of}${index}`).digest('hex'))
      const first = await save(ada, words('first').join(' '))
      const second = await save(ada, words('second').join(' '))
      expect((await keeps(ada)).words).toBe(40)
      expect([await store.own.countLeftOut(first), await store.own.countLeftOut(second)]).toEqual([0, expect.any(Number)])
      expect(await store.own.countLeftOut(second)).toBeGreaterThan(15)
      expect([await finds(words('first')[29] ?? ''), await finds(words('second')[29] ?? '')]).toEqual([true, false])
      // Words that another owner has anyway cost nothing.
      await store.items.createItem(by(ben), { kind: 'prompt', ...PLAIN_PROMPT, content: words('second').join(' ') })
      await store.items.changeItem('prompt', second, by(ada), () => ({ title: 'Written again' }))
      expect(await store.own.countLeftOut(second)).toBeLessThan(5)
      expect(await finds(words('second')[29] ?? '')).toBe(true)
      await purge(first)
      expect((await keeps(ada)).words).toBeLessThan(15)
    })

    it('keeps no more words in memory than fit, and finds the others by title', async () => {
      await save(ada, Array.from({ length: 200 }, (_, index) => `word${index}x`).join(' '))
      const index = createSearchIndex()
      const reader = readSearchIndex(database.reader, index, null, null, 50)
      await reader.current()
      expect([reader.isCut(), index.vocabulary.size]).toEqual([true, 50])
      await save(ada, 'later words')
      await reader.current()
      expect([index.countItems('prompt'), index.vocabulary.size]).toEqual([2, 50])
      await open({}, database, 50)
      await store.items.createItem(by(ada), { kind: 'prompt', ...PLAIN_PROMPT, title: 'Zebra 100%', content: 'stripes' })
      expect([await finds('zebra'), await finds('100%'), await finds('stripes'), store.service.isSearchCut()]).toEqual([
        true,
        true,
        false,
        true,
      ])
      await open({})
      expect([await finds('zebra'), await finds('stripes'), store.service.isSearchCut()]).toEqual([true, true, false])
    })

    it('is refused while the disk is nearly full, but for what is deleted', async () => {
      const id = await save(ada, 'before')
      const full = new AppError('unavailable', 'full')
      const requireRoom = () => {
        throw full
      }
      await open({}, replaceInFile(database, { requireRoom }))
      await expect(save(ada, 'after')).rejects.toBe(full)
      expect(await purge(id)).toBe(true)
    })
  })
}
