import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WalkPosition } from '../../src/domain/items/item-access.ts'
import type { PromptFields, SkillFields, User } from '../../src/domain/items/items.ts'
import type { SearchRequest } from '../../src/domain/items/search.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { ANALYSIS } from '../../src/search/analysis/indexed-text.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const PROMPT: PromptFields = PLAIN_PROMPT
const bytes = (text: string) => new TextEncoder().encode(text)
const SKILL: SkillFields = {
  title: 'A skill',
  description: null,
  category: null,
  tags: [],
  visibility: 'public',
  files: [{ filename: 'SKILL.md', bytes: bytes('# Skill') }],
}

function search(query: string, more: Partial<SearchRequest> = {}): SearchRequest {
  return { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0, ...more }
}

for (const engine of ENGINES) {
  describe(`store on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let ben: User
    let now = Date.UTC(2026, 0, 1)
    const outside = { clock: () => (now += 1000), random: countingRandom() }
    const as = (user: User): Actor => ({
      kind: 'user',
      userId: user.id,
      username: user.username,
      scopes: new Set(['read', 'write', 'improve']),
    })
    const by = (user: User, note: string | null = null) => ({ userId: user.id, note })
    const titles = async (actor: Actor, request: SearchRequest) =>
      (await store.items.searchItems(actor, 'prompt', request)).items.map((item) => item.title)

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

    describe('what is saved', () => {
      it('comes back field by field, byte for byte', async () => {
        const fields: PromptFields = {
          title: '  Spaces stay  ',
          content: 'line\r\n\ttab 𝒳 ${name:dé faut}\n',
          description: '',
          category: 'testing',
          tags: ['C++', 'Unit Tests'],
          type: 'STRUCTURED',
          visibility: 'private',
        }
        const saved = await store.items.createItem(by(ada, 'first'), { kind: 'prompt', ...fields })
        const found = await store.items.findItem(as(ada), 'prompt', saved.id)
        expect(found).toEqual(saved)
        expect(found).toMatchObject({
          title: fields.title,
          content: fields.content,
          description: '',
          type: 'STRUCTURED',
          visibility: 'private',
          category: { slug: 'testing', name: 'Testing' },
          tags: [
            { name: 'C++', slug: 'cplusplus' },
            { name: 'Unit Tests', slug: 'unit-tests' },
          ],
          variables: [{ name: 'name', required: false, default: 'dé faut' }],
          author: 'Ada',
          votes: 0,
          version: 1,
        })
      })

      it('comes back as it was imported, with its author, times and hold', async () => {
        const origin = {
          authorId: (await store.people.ensurePlaceholder('Cleo')).id,
          contributors: ['Dan'],
          createdAt: '2024-01-02T03:04:05.000Z',
          updatedAt: '2024-02-03T04:05:06.000Z',
          held: { at: '2024-03-04T05:06:07.000Z', from: 'public' as const },
        }
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, visibility: 'unlisted' }, origin)
        expect(await store.items.findItem(as(ada), 'prompt', saved.id)).toEqual(saved)
        expect(saved).toMatchObject({ author: 'Cleo', contributors: ['Dan'], createdAt: origin.createdAt, updatedAt: origin.updatedAt })
        const [twin, ...others] = await store.items.findImported('prompt', ada.id, origin.authorId, PROMPT.title)
        expect([twin, others]).toEqual([{ item: saved, isEditedHere: false }, []])
        expect(await store.items.findImported('prompt', ada.id, ada.id, PROMPT.title)).toEqual([])
      })

      it('keeps a skill’s files as they are, whatever bytes they hold', async () => {
        const binary = Uint8Array.from({ length: 256 }, (_, i) => i)
        const files = [
          { filename: 'z/last.bin', bytes: binary },
          { filename: 'SKILL.md', bytes: bytes('\uFEFF---\r\nname: x\r\n---\r\n  body  \n\n') },
          { filename: 'empty.txt', bytes: new Uint8Array() },
        ]
        const skill = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, files })
        const read = await store.items.readSkillFiles(ANONYMOUS, skill.id)
        expect(read.map((file) => file.filename)).toEqual(['SKILL.md', 'empty.txt', 'z/last.bin'])
        for (const file of files) {
          expect(Buffer.from(read.find((one) => one.filename === file.filename)?.bytes ?? [9]).equals(Buffer.from(file.bytes))).toBe(true)
        }
        expect((await store.items.readSkillFile(ANONYMOUS, skill.id, 'z/last.bin'))?.bytes).toEqual(binary)
        expect(await store.items.readSkillFile(ANONYMOUS, skill.id, 'nope')).toBeNull()
      })

      it('is refused with the valid slugs when the category does not exist, and nothing is written', async () => {
        await expect(store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, category: 'nonsense' })).rejects.toMatchObject({
          code: 'invalid_input',
          message: expect.stringMatching(/category "nonsense".*coding.*writing/),
        })
        expect(await store.service.isEmpty()).toBe(true)
        expect((await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT })).slug).toBe('a-title')
      })

      it('lets the process do other things between changes that come all at once', async () => {
        const writes = Array.from({ length: 20 }, () => store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT }))
        let isDone = false
        const all = Promise.all(writes).then(() => {
          isDone = true
        })
        let turns = 0
        for (; !isDone; turns++) await nextTurn()
        await all
        expect(turns).toBeGreaterThanOrEqual(writes.length)
      })

      it('keeps the steps of a transaction that worked when one of them fails', async () => {
        await store.inTransaction(async (transaction) => {
          await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT })
          await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Bad', category: 'nonsense' }).catch(() => null)
          await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Good' })
        })
        expect((await titles(ANONYMOUS, search(''))).toSorted()).toEqual(['A title', 'Good'])
      })
    })

    describe('slugs', () => {
      it('are numbered when a title comes again, and shared by prompts and skills', async () => {
        const slugs = []
        for (const title of ['Same', 'same!', 'SAME'])
          slugs.push((await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title })).slug)
        slugs.push((await store.items.createItem(by(ben), { kind: 'skill', ...SKILL, title: 'Same' })).slug)
        expect(slugs).toEqual(['same', 'same-2', 'same-3', 'same-4'])
      })

      it('carry a random suffix until the item is published, and lead there after', async () => {
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Secret plan', visibility: 'private' })
        expect(saved.slug).toMatch(/^secret-plan-.{10}$/)
        expect((await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, title: 'Secret plan' })).slug).toBe('secret-plan')
        const published = await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'public' }))
        expect(published?.slug).toBe('secret-plan-2')
        expect((await store.items.findItem(ANONYMOUS, 'prompt', saved.slug))?.id).toBe(saved.id)
        const hidden = await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'private' }))
        expect(hidden?.slug).toBe('secret-plan-2')
      })

      it('stay when the title changes; a changed one leads on and is never given again', async () => {
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Old name' })
        expect((await store.items.changeItem('prompt', saved.id, by(ada), () => ({ title: 'New name' })))?.slug).toBe('old-name')
        expect((await store.items.changeItem('prompt', saved.id, by(ada), () => ({ slug: 'brand-new' })))?.slug).toBe('brand-new')
        expect((await store.items.findItem(ANONYMOUS, 'prompt', 'old-name'))?.id).toBe(saved.id)
        expect((await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, title: 'Old name' })).slug).toBe('old-name-2')
        await expect(store.items.changeItem('prompt', 'old-name-2', by(ben), () => ({ slug: 'brand-new' }))).rejects.toMatchObject({
          code: 'conflict',
        })
        await expect(store.items.changeItem('prompt', 'old-name-2', by(ben), () => ({ slug: 'Not A Slug' }))).rejects.toMatchObject({
          code: 'invalid_input',
        })
        expect((await store.items.changeItem('prompt', saved.id, by(ada), () => ({ slug: 'old-name' })))?.slug).toBe('old-name')
      })

      it('tell nobody that a private item has one: a slug asked for gets a suffix too', async () => {
        const hidden = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, visibility: 'private' })
        const changed = await store.items.changeItem('prompt', hidden.id, by(ada), () => ({ slug: 'merger' }))
        expect(changed?.slug).toMatch(/^merger-.{10}$/)
        const open = await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT })
        expect((await store.items.changeItem('prompt', open.id, by(ben), () => ({ slug: 'merger' })))?.slug).toBe('merger')
      })
    })

    describe('versions', () => {
      it('are written by every save and edit of the text, with everything they held', async () => {
        const saved = await store.items.createItem(by(ada, 'one'), { kind: 'prompt', ...PROMPT, tags: ['x'], category: 'coding' })
        await store.items.changeItem('prompt', saved.id, by(ada, 'two'), () => ({ content: 'Other', tags: [] }))
        await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'private', category: null }))
        const versions = await store.items.listVersions(as(ada), saved.id, { before: null, limit: 10 })
        expect(versions.map((v) => [v.version, v.note, v.author, v.visibility])).toEqual([
          [2, 'two', 'Ada', 'public'],
          [1, 'one', 'Ada', 'public'],
        ])
        expect(await store.items.findVersion(as(ada), saved.id, 1)).toMatchObject({
          body: { content: 'Some text', messages: null, config: null, syntax: 2 },
          tags: ['x'],
          category: 'coding',
          type: 'TEXT',
          files: null,
        })
        expect(await store.items.findVersion(as(ada), saved.id, 2)).toMatchObject({
          body: { content: 'Other' },
          tags: [],
          category: 'coding',
        })
        expect(await store.items.findVersion(as(ada), saved.id, 3)).toBeNull()
        expect((await store.items.listVersions(as(ada), saved.id, { before: 2, limit: 1 })).map((v) => v.version)).toEqual([1])
      })

      it.each(['prompt', 'skill'] as const)(
        'are not written by tags, category and visibility of a %s, which the newest one has',
        async (kind) => {
          const drafted = { tags: ['draft'], visibility: 'private' } as const
          const fields = kind === 'prompt' ? { kind, ...PROMPT, ...drafted } : { kind, ...SKILL, ...drafted }
          const { id, updatedAt } = await store.items.createItem(by(ada), fields)
          const file = (change: object) => store.items.changeItem(kind, id, by(ada), () => change)
          await file({ title: 'Written' })
          const written = await file({})
          const other = await createStore(place.open(), outside)
          const seenBy = async (actor: Actor) => {
            const all = await other.items.listVersions(actor, id, { before: null, limit: 10 })
            return await Promise.all(all.map(async ({ version }) => (await other.items.findVersion(actor, id, version))?.tags))
          }
          await file({ tags: ['a', 'b'], category: 'coding' })
          expect([await seenBy(as(ada)), await seenBy(ANONYMOUS)]).toEqual([[['a', 'b'], ['draft']], []])
          await file({ visibility: 'members' })
          expect([await seenBy(as(ben)), await seenBy(ANONYMOUS)]).toEqual([[['a', 'b']], []])
          const filed = await file({ visibility: 'public', tags: ['a'] })
          expect([filed?.version, filed?.updatedAt, updatedAt < (filed?.updatedAt ?? '')]).toEqual([2, written?.updatedAt, true])
          expect([await seenBy(as(ben)), await seenBy(ANONYMOUS)]).toEqual([[['a']], [['a']]])
          await file({ visibility: 'private', tags: ['secret'] })
          await file({ visibility: 'unlisted', tags: [] })
          expect([await seenBy(as(ben)), await seenBy(ANONYMOUS)]).toEqual([[['a']], [['a']]])
          const log = await database.reader
            .selectFrom('change')
            .select(['version', 'audience_after as audience', 'tags'])
            .where('version', 'is not', null)
            .orderBy('seq')
            .execute()
          expect(log.map(({ version, audience, tags }) => `${version} ${audience} ${tags}`)).toEqual([
            '1 private ["draft"]',
            '2 private ["draft"]',
            '2 private ["a","b"]',
            '2 members ["a","b"]',
            '2 public ["a"]',
            '2 private ["secret"]',
            '2 unlisted []',
          ])
          await other.close()
        },
      )

      it('written while private are for the owner alone', async () => {
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, visibility: 'private', content: 'secret draft' })
        await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'public', content: 'clean' }))
        for (const actor of [ANONYMOUS, as(ben)]) {
          expect((await store.items.listVersions(actor, saved.id, { before: null, limit: 10 })).map((v) => v.version)).toEqual([2])
          expect(await store.items.findVersion(actor, saved.id, 1)).toBeNull()
        }
        expect((await store.items.findVersion(as(ada), saved.id, 1))?.body?.content).toBe('secret draft')
      })

      it('written for members are for members, and for nobody once the item is private', async () => {
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, visibility: 'members', content: 'for us' })
        await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'public', content: 'clean' }))
        const seenBy = async (actor: Actor) =>
          (await store.items.listVersions(actor, saved.id, { before: null, limit: 10 })).map(({ version }) => version)
        expect([await seenBy(ANONYMOUS), await seenBy(as(ben))]).toEqual([[2], [2, 1]])
        expect(await store.items.findVersion(ANONYMOUS, saved.id, 1)).toBeNull()
        expect((await store.items.findVersion(as(ben), saved.id, 1))?.body?.content).toBe('for us')
        await store.items.changeItem('prompt', saved.id, by(ada), () => ({ visibility: 'private' }))
        expect([await seenBy(ANONYMOUS), await seenBy(as(ben))]).toEqual([[], []])
        expect(await store.items.findVersion(as(ben), saved.id, 1)).toBeNull()
      })

      it('of a skill hold all its files as they were', async () => {
        const skill = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL })
        await store.items.changeItem('skill', skill.id, by(ada), () => ({
          files: (files) => [...files, { filename: 'a.txt', bytes: bytes('A') }],
        }))
        await store.items.changeItem('skill', skill.id, by(ada), () => ({
          files: (files) => files.filter((file) => file.filename !== 'a.txt'),
        }))
        const names = async (version: number) =>
          (await store.items.findVersion(as(ada), skill.id, version))?.files?.map((file) => file.filename)
        expect([await names(1), await names(2), await names(3)]).toEqual([['SKILL.md'], ['SKILL.md', 'a.txt'], ['SKILL.md']])
      })
    })

    describe('search', () => {
      it('finds at once what another process wrote, and forgets what it took away', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Here', content: 'walrus' })
        expect(await titles(ANONYMOUS, search('walrus '))).toEqual(['Here'])
        const other = await createStore(place.open(), outside)
        const there = await other.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, title: 'There', content: 'walrus', tags: ['sea'] })
        expect((await titles(ANONYMOUS, search('walrus '))).toSorted()).toEqual(['Here', 'There'])
        await other.items.changeItem('prompt', there.id, by(ben), () => ({ content: 'quokka', tags: ['land'] }))
        expect([await titles(ANONYMOUS, search('walrus ')), await titles(ANONYMOUS, search('quokka '))]).toEqual([['Here'], ['There']])
        expect((await store.categories.listTags(ANONYMOUS, { limit: 10, offset: 0 })).items.map((tag) => tag.slug)).toEqual(['land'])
        await other.marks.setVote(as(ada), 'prompt', there.id, ada.id, true)
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Later' })
        expect(await titles(ANONYMOUS, search('', { sort: 'votes' }))).toEqual(['There', 'Later', 'Here'])
        await other.items.changeItem('prompt', there.id, by(ben), () => ({ visibility: 'private' }))
        expect([await titles(as(ada), search('quokka ')), await titles(as(ben), search('quokka '))]).toEqual([[], ['There']])
        await other.items.setDeleted('prompt', there.id, ben.id, true)
        expect(await titles(as(ben), search('quokka '))).toEqual([])
        // And back: what is written here is found there, under numbers of words that were given here.
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'New words', content: 'okapi tundra walrus' })
        const found = await other.items.searchItems(ANONYMOUS, 'prompt', search('okapi tundra '))
        expect(found.items.map((item) => item.title)).toEqual(['New words'])
        await other.close()
      })

      it('finds each write in the search after it, while others write', async () => {
        const other = await createStore(place.open(), outside)
        await Promise.all(
          Array.from({ length: 6 }, async (_, i) => {
            const title = `Item${i}x`
            const saver = i % 2 ? store : other
            await saver.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title, content: `walrus and word${i}y` })
            for (const reader of [store, other]) {
              const { items } = await reader.items.searchItems(ANONYMOUS, 'prompt', search(`word${i}y `))
              expect(items.map((item) => item.title)).toEqual([title])
            }
          }),
        )
        for (const reader of [store, other]) expect((await reader.items.searchItems(ANONYMOUS, 'prompt', search('walrus '))).total).toBe(6)
        await other.close()
      })

      it('reads a library larger than what it takes at a time', async () => {
        // Reads of changes, words of one statement and words of one text are each cut into parts.
        expect(await titles(ANONYMOUS, search('short '))).toEqual([])
        const many = Array.from({ length: 1_200 }, (_, i) => `w${i.toString(36)}q`)
        await store.inTransaction(async (transaction) => {
          for (let i = 0; i < 6; i++) {
            const content = many.slice(i * 200, (i + 1) * 200).join(' ')
            await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: `Long ${i}`, content })
          }
          for (let i = 0; i < 600; i++)
            await transaction.items.createItem(by(i % 3 ? ada : ben), {
              kind: 'prompt',
              ...PROMPT,
              title: `Short ${i}`,
              tags: [`t${i % 4}`],
            })
        })
        const other = await createStore(place.open(), outside)
        for (const reader of [store, other]) {
          expect((await reader.items.searchItems(ANONYMOUS, 'prompt', search('short '))).total).toBe(600)
          expect((await reader.items.searchItems(ANONYMOUS, 'prompt', search('short ', { filter: { anyTags: ['t3'] } }))).total).toBe(150)
          expect((await reader.items.searchItems(ANONYMOUS, 'prompt', search('', { limit: 1, sort: 'newest' }))).items[0]?.title).toBe(
            'Short 599',
          )
          for (const word of [many[0], many[399], many[400], many[799], many[800], many[1_199]]) {
            const { items } = await reader.items.searchItems(ANONYMOUS, 'prompt', search(`${word} `))
            expect(items[0]?.title).toBe(`Long ${Math.floor(many.indexOf(word ?? '') / 200)}`)
          }
        }
        await other.close()
      })

      it('reads the words of a library that was written before there were any, when it is opened', async () => {
        await store.items.createItem(by(ada), {
          kind: 'prompt',
          ...PROMPT,
          title: 'Résumé',
          description: 'about walruses',
          tags: ['sea lion'],
        })
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Own', content: 'quokka', visibility: 'private' })
        const gone = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Gone', content: 'walrus' })
        await store.items.setDeleted('prompt', gone.id, ada.id, true)
        const skill = await store.items.createItem(by(ada), {
          kind: 'skill',
          ...SKILL,
          files: [...SKILL.files, { filename: 'tides.md', bytes: bytes('estuary') }],
        })
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Kept', content: 'tundra' })
        const expectAll = async () => {
          for (const word of ['resume', 'walrus', 'lion']) expect(await titles(ANONYMOUS, search(word))).toEqual(['Résumé'])
          expect([await titles(ANONYMOUS, search('quokka')), await titles(as(ada), search('quokka'))]).toEqual([[], ['Own']])
          for (const word of ['tides', 'estuary'])
            expect((await store.items.searchItems(ANONYMOUS, 'skill', search(word))).items.map(({ id }) => id)).toEqual([skill.id])
          expect(await titles(ANONYMOUS, search('tundra'))).toEqual(['Kept'])
        }
        const reopen = async () => {
          await store.close()
          database = place.open()
          store = await createStore(database, outside)
        }
        await expectAll()
        await database.writer.deleteFrom('item_words').execute()
        await database.writer.deleteFrom('word').execute()
        await reopen()
        await expectAll()
        // Some are missing, some are of an older analysis, which read them otherwise.
        const rows = await database.reader.selectFrom('item_words').select('item_seq').orderBy('item_seq').execute()
        const older = { analysis: ANALYSIS - 1, words: new Uint8Array(), title_length: 0, body_length: 0, vector: null }
        await database.writer
          .updateTable('item_words')
          .set(older)
          .where('item_seq', '<', rows[3]?.item_seq ?? 0)
          .execute()
        await database.writer
          .deleteFrom('item_words')
          .where('item_seq', '=', rows[3]?.item_seq ?? 0)
          .execute()
        await reopen()
        await expectAll()
        const kept = await database.reader.selectFrom('item_words').selectAll().orderBy('item_seq').execute()
        expect(kept.map((row) => row.analysis)).toEqual(rows.map(() => ANALYSIS))
        expect(kept[0]?.title_length).toBe(1)
        await store.items.setDeleted('prompt', gone.id, ada.id, false)
        expect((await titles(ANONYMOUS, search('walrus'))).toSorted()).toEqual(['Gone', 'Résumé'])
        // What was read is not read again.
        const revision = await store.service.readRevision('library')
        await reopen()
        expect(await store.service.readRevision('library')).toBe(revision)
      })

      it('is not misled by words of a transaction that was undone', async () => {
        let fails = false
        // A disk that is full when it comes to committing.
        const failing: OpenDatabase = {
          ...database,
          transact: (work, options) =>
            database.transact(async (transaction) => {
              const result = await work(transaction)
              if (fails) throw new Error('disk full')
              return result
            }, options),
        }
        const writer = await createStore(failing, outside)
        const save = (title: string, content: string) => writer.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title, content })
        await save('First', 'walrus')
        fails = true
        await expect(save('Undone', 'zorblat quuxly walrus')).rejects.toThrow('disk full')
        await expect(
          writer.inTransaction(async (transaction) => {
            await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Undone too', content: 'frobnik' })
            throw new Error('stop')
          }),
        ).rejects.toThrow('stop')
        fails = false
        await save('Second', 'gribble tundra okapi')
        await save('Third', 'zorblat quokka')
        await save('Fourth', 'frobnik quuxly')
        for (const reader of [writer, store]) {
          const found = async (query: string) =>
            (await reader.items.searchItems(ANONYMOUS, 'prompt', search(query))).items.map((item) => item.title)
          for (const word of ['gribble', 'tundra', 'okapi']) expect(await found(`${word} `), word).toEqual(['Second'])
          for (const word of ['zorblat', 'quokka']) expect(await found(`${word} `), word).toEqual(['Third'])
          for (const word of ['frobnik', 'quuxly']) expect(await found(`${word} `), word).toEqual(['Fourth'])
          expect(await found('walrus ')).toEqual(['First'])
          expect((await reader.items.searchItems(ANONYMOUS, 'prompt', search(''))).total).toBe(4)
        }
      })

      it('keeps the words of what is saved and voted for, deleted and restored, in one transaction', async () => {
        await store.inTransaction(async (transaction) => {
          const saved = await transaction.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Together', content: 'walrus' })
          await transaction.marks.setVote(as(ada), 'prompt', saved.id, ada.id, true)
          await transaction.items.changeItem('prompt', saved.id, by(ada), () => ({ content: 'quokka' }))
          await transaction.items.setDeleted('prompt', saved.id, ada.id, true)
          await transaction.items.setDeleted('prompt', saved.id, ada.id, false)
        })
        expect([await titles(ANONYMOUS, search('quokka ')), await titles(ANONYMOUS, search('walrus '))]).toEqual([['Together'], []])
      })

      it('shows nobody the hidden items of a key that may not read, nor suggests their words', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Open', content: 'tundra' })
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Own', content: 'zanzibarium', visibility: 'private' })
        const writeOnly: Actor = { kind: 'user', userId: ada.id, username: ada.username, scopes: new Set(['write']) }
        const ask = async (actor: Actor, query: string) => {
          const { items, total, corrections } = await store.items.searchItems(actor, 'prompt', search(query))
          return [items.map((item) => item.title), total, [...corrections]]
        }
        for (const actor of [ANONYMOUS, as(ben), writeOnly]) {
          for (const query of ['zanzibarium ', 'zanzibariun ', 'zanz']) expect(await ask(actor, query)).toEqual([[], 0, []])
        }
        expect(await ask(as(ada), 'zanzibarium ')).toEqual([['Own'], 1, []])
        expect(await ask(as(ada), 'zanzibariun ')).toEqual([['Own'], 1, [['zanzibariun', 'zanzibarium']]])
      })

      it('finds skills by the names and texts of their files, not by bytes that are no text', async () => {
        const files = [
          ...SKILL.files,
          { filename: 'scripts/parse_invoice.py', bytes: bytes('# reads quokka tables') },
          { filename: 'tundra.bin', bytes: Uint8Array.from([0xff, 0xfe, 0x00, ...bytes('okapi')]) },
        ]
        const skill = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, title: 'Tables', files })
        const found = async (query: string) =>
          (await store.items.searchItems(ANONYMOUS, 'skill', search(query))).items.map((item) => item.id)
        for (const query of ['parse', 'invoice', 'parse_invoice.py', 'quokka', 'tundra', 'scripts'])
          expect(await found(`${query} `), query).toEqual([skill.id])
        expect(await found('okapi ')).toEqual([])
        await store.items.changeItem('skill', skill.id, by(ada), () => ({ title: 'Renamed' }))
        expect([await found('quokka '), await found('tables ')]).toEqual([[skill.id], [skill.id]])
        await store.items.changeItem('skill', skill.id, by(ada), () => ({
          files: (kept) => kept.filter((file) => !file.filename.endsWith('.py')),
        }))
        expect([await found('quokka '), await found('invoice '), await found('tundra ')]).toEqual([[], [], [skill.id]])
      })
    })

    describe('skills by name', () => {
      const named = (name: string) => [{ filename: 'SKILL.md', bytes: bytes(`---\nname: ${name}\ndescription: d\n---\n`) }]
      const paths = async (actor: Actor) =>
        (await store.items.walkSkills(actor, null, null, 10)).map((skill) => `${skill.owner}/${skill.path}`)

      it('stand at their owner and name; a second of the same name below its slug; what is hidden takes no name', async () => {
        await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, title: 'Hidden', files: named('pdf'), visibility: 'private' })
        const open = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, title: 'Open', files: named('pdf') })
        await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, title: 'Second', files: named('pdf') })
        await store.items.createItem(by(ben), { kind: 'skill', ...SKILL, title: 'Pdf', files: named('pdf') })
        await store.items.createItem(by(ben), { kind: 'skill', ...SKILL, title: 'No name' })
        expect(await paths(ANONYMOUS)).toEqual(['ben/pdf', 'Ada/second/pdf', 'Ada/pdf'])
        expect(await paths(as(ada))).toEqual(['ben/pdf', 'Ada/second/pdf', 'Ada/open/pdf', 'Ada/pdf'])
        expect((await store.items.findSkillAt(ANONYMOUS, 'ADA', 'pdf'))?.id).toBe(open.id)
        expect((await store.items.findSkillAt(as(ada), 'ada', 'open/pdf'))?.id).toBe(open.id)
        expect(await store.items.findSkillAt(ANONYMOUS, 'ada', 'nope')).toBeNull()
        const digests = (await store.items.findSkillAt(ANONYMOUS, 'ada', 'pdf'))?.files
        expect(digests).toEqual([
          {
            filename: 'SKILL.md',
            sha256: createHash('sha256')
              .update(named('pdf')[0]?.bytes ?? '')
              .digest('hex'),
            size: 33,
          },
        ])
      })

      it('follow an edit of SKILL.md', async () => {
        const skill = await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, files: named('old') })
        await store.items.changeItem('skill', skill.id, by(ada), () => ({ files: named('new') }))
        expect(await paths(ANONYMOUS)).toEqual(['Ada/new'])
      })
    })

    describe('tags and categories', () => {
      it('merge tags of one slug under the spelling first seen', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['JavaScript', 'java script'] })
        const later = await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, tags: ['javascript', 'JAVASCRIPT', 'C#'] })
        expect(later.tags).toEqual([
          { name: 'JavaScript', slug: 'javascript' },
          { name: 'C#', slug: 'csharp' },
        ])
      })

      it('never take over a spelling from another’s private item', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['Project-X'], visibility: 'private' })
        expect((await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, tags: ['project x'] })).tags[0]?.name).toBe('project x')
        expect((await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['PROJECT X'] })).tags[0]?.name).toBe('Project-X')
        const gone = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['Old-Name'] })
        await store.items.setDeleted('prompt', gone.id, ada.id, true)
        expect((await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, tags: ['old name'] })).tags[0]?.name).toBe('old name')
      })

      it('take a spelling from items for members only for others of that kind', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['TypeScript'], visibility: 'members' })
        const spelled = async (visibility: 'public' | 'members') =>
          (await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, tags: ['typescript'], visibility })).tags[0]?.name
        expect([await spelled('public'), await spelled('members')]).toEqual(['typescript', 'TypeScript'])
      })

      it('count only what the caller may see', async () => {
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, tags: ['open'], category: 'coding' })
        await store.items.createItem(by(ada), {
          kind: 'prompt',
          ...PROMPT,
          tags: ['open', 'hidden'],
          category: 'coding',
          visibility: 'private',
        })
        await store.items.createItem(by(ada), { kind: 'skill', ...SKILL, tags: ['listless'], category: 'coding', visibility: 'unlisted' })
        const tags = async (actor: Actor) =>
          (await store.categories.listTags(actor, { limit: 10, offset: 0 })).items.map((tag) => [tag.slug, tag.count])
        const coding = async (actor: Actor) => (await store.categories.listCategories(actor)).find((category) => category.slug === 'coding')
        expect(await tags(as(ben))).toEqual([['open', 1]])
        expect(await tags(as(ada))).toEqual([
          ['open', 2],
          ['hidden', 1],
          ['listless', 1],
        ])
        expect(await coding(ANONYMOUS)).toMatchObject({ prompts: 1, skills: 0 })
        expect(await coding(as(ada))).toMatchObject({ prompts: 2, skills: 1 })
      })
    })

    describe('the trash', () => {
      it('hides an item from everybody, its owner too, until it is restored', async () => {
        const saved = await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'Gone' })
        expect(await store.items.setDeleted('prompt', saved.id, ben.id, true)).toBeNull()
        expect(await store.items.setDeleted('prompt', saved.slug, ada.id, true)).toMatchObject({ id: saved.id })
        expect(await store.items.setDeleted('prompt', saved.slug, ada.id, true)).toBeNull()
        for (const actor of [ANONYMOUS, as(ada)]) {
          expect(await store.items.findItem(actor, 'prompt', saved.id)).toBeNull()
          expect(await titles(actor, search('gone'))).toEqual([])
          expect(await store.items.listVersions(actor, saved.id, { before: null, limit: 5 })).toEqual([])
        }
        expect(await store.items.changeItem('prompt', saved.id, by(ada), () => ({ title: 'x' }))).toBeNull()
        expect((await store.items.listTrash(ada.id, { limit: 5, offset: 0 })).items.map((item) => item.title)).toEqual(['Gone'])
        expect((await store.items.listTrash(ben.id, { limit: 5, offset: 0 })).total).toBe(0)
        expect((await store.items.createItem(by(ben), { kind: 'prompt', ...PROMPT, title: 'Gone' })).slug).toBe('gone-2')
        expect(await store.items.setDeleted('prompt', saved.id, ada.id, false)).toMatchObject({ slug: 'gone' })
        expect((await store.items.findItem(ANONYMOUS, 'prompt', 'gone'))?.id).toBe(saved.id)
      })
    })

    describe('the walk', () => {
      it('of whole prompts does so in both orders, and leaves out what one may not list', async () => {
        for (let i = 0; i < 7; i++)
          await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: `P${i}`, content: `Text ${i}` })
        await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'hidden', visibility: 'private' })
        const made = ['Text 0', 'Text 1', 'Text 2', 'Text 3', 'Text 4', 'Text 5', 'Text 6']
        for (const order of ['oldest', 'newest'] as const) {
          const seen: string[] = []
          let after: WalkPosition | null = null
          do {
            const page = await store.items.walkWholePrompts(ANONYMOUS, {}, order, after, 3)
            seen.push(...page.prompts.map(({ content }) => content))
            after = page.next
            // It comes before all others.
            if (order === 'newest') await store.items.createItem(by(ada), { kind: 'prompt', ...PROMPT, title: 'new' })
          } while (after)
          expect(seen).toEqual(order === 'newest' ? made.toReversed() : made)
        }
      })
    })

    it('remembers the sessions that were ended until they would have ended anyway', async () => {
      await store.sessions.endSession('a', now + 60_000)
      await store.sessions.endSession('a', now + 60_000)
      await store.sessions.endSession('b', now + 3_600_000)
      expect((await store.sessions.findEndedSessions(['a', 'b', 'c'])).toSorted()).toEqual(['a', 'b'])
      expect(await store.sessions.findEndedSessions(['c'])).toEqual([])
      now += 120_000
      await store.sessions.endSession('c', now + 60_000)
      expect((await store.sessions.findEndedSessions(['a', 'b', 'c'])).toSorted()).toEqual(['b', 'c'])
    })

    describe('people and keys', () => {
      it('make placeholders that never attach to an account', async () => {
        const first = await store.people.ensurePlaceholder('some one')
        expect(first).toMatchObject({ username: 'some-one', isPlaceholder: true })
        expect((await store.people.ensurePlaceholder('Some One')).id).toBe(first.id)
        const impostor = await store.people.ensurePlaceholder('ada')
        expect(impostor.id).not.toBe(ada.id)
        expect(impostor).toMatchObject({ username: 'ada-2', isPlaceholder: true })
        await expect(store.people.createUser({ username: 'SOME-one', defaultVisibility: 'private' })).rejects.toMatchObject({
          code: 'conflict',
        })
      })

      it('store keys by hash, revoke them at once, note their use', async () => {
        const key = await store.keys.createKey({ name: 'k', userId: ada.id, sha256: 'f'.repeat(64), scopes: ['read'], expiresAt: null })
        expect(await store.keys.findKey('f'.repeat(64))).toEqual(key)
        expect(key).toMatchObject({ username: 'Ada', scopes: ['read'], lastUsedAt: null, revokedAt: null })
        await store.keys.touchKey(key.id)
        const used = (await store.keys.findKey('f'.repeat(64)))?.lastUsedAt
        expect(used).not.toBeNull()
        now += 61_000
        await store.keys.touchKey(key.id)
        expect((await store.keys.findKey('f'.repeat(64)))?.lastUsedAt).not.toBe(used)
        expect((await store.keys.revokeKey(key.id))?.revokedAt).not.toBeNull()
        expect((await store.keys.findKey('f'.repeat(64)))?.revokedAt).not.toBeNull()
        expect(await store.keys.revokeKey('nope')).toBeNull()
        expect((await store.keys.listKeys('ADA')).length).toBe(1)
        expect((await store.keys.listKeys('ben')).length).toBe(0)
      })

      it('keep a secret made once', async () => {
        expect(await store.service.ensureSecret(() => 'one')).toBe('one')
        expect(await store.service.ensureSecret(() => 'two')).toBe('one')
      })
    })
  })
}
