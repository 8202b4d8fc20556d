import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Editor } from '../../src/domain/items/item-access.ts'
import type { PromptFields } from '../../src/domain/items/items.ts'
import type { UnencodedItem, VectorModel } from '../../src/domain/ports/encoder.ts'
import { createSearchIndex } from '../../src/search/index/search-index.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { readSearchIndex } from '../../src/storage/search/search-reader.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'
import { fakeVector } from '../support/fake-encoder.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

/** What the store keeps of the encoder's vectors, on every engine. */

const MODEL: VectorModel = { model: 'one', isProvider: false }
const OTHER: VectorModel = { model: 'two', isProvider: false }
const PROVIDER: VectorModel = { model: 'sent', isProvider: true }
const PROMPT: PromptFields = { ...PLAIN_PROMPT, title: 'Title', description: 'About it', tags: ['tag'] }
const toFile = (text: string) => ({ filename: 'SKILL.md', bytes: new TextEncoder().encode(text) })

for (const engine of ENGINES) {
  describe(`item vectors on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let by: Editor
    let now = Date.UTC(2026, 0, 1)
    const random = countingRandom()
    const open = async (instance: string) => {
      const opened = place.open()
      return { database: opened, store: await createStore(opened, { clock: () => (now += 10), random, instance }) }
    }
    const save = async (change: Partial<PromptFields> = {}) =>
      (await store.items.createItem(by, { kind: 'prompt', ...PROMPT, ...change })).id
    const list = async (model = MODEL, from = store) =>
      await from.itemVectors.listUnencoded(model, { after: 0, upTo: await from.itemVectors.readLastChange() }, 100)
    const pending = async (model = MODEL) => (await list(model)).items
    const encode = async (items: readonly UnencodedItem[], model = MODEL) =>
      await store.itemVectors.saveVectors(
        model,
        items.map((item) => ({ item, vector: fakeVector(item.text.title, item.text.text) })),
      )
    const counts = async (model = MODEL) => Object.values(await store.itemVectors.countVectors(model))

    beforeEach(async () => {
      place = await engine.create()
      ;({ database, store } = await open('first'))
      by = { userId: (await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })).id, note: null }
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    it('are wanted for every item outside the trash, the last changed first', async () => {
      const first = await save()
      await store.items.createItem(by, { kind: 'skill', ...PROMPT, title: 'Skill', description: null, files: [toFile('# How to fold\n')] })
      await save({ title: 'Secret', visibility: 'private' })
      await save({ title: 'Hidden', visibility: 'unlisted' })
      await store.items.setDeleted('prompt', await save({ title: 'Gone' }), by.userId, true)
      const held = await save({ title: 'Held' })
      await store.marks.setHeld('prompt', held, true)
      await store.items.changeItem('prompt', first, by, () => ({ content: `${'x'.repeat(9000)}` }))
      expect((await pending()).map(({ text }) => text)).toEqual([
        { title: 'Title', text: `About it\n\n${'x'.repeat(7990)}` },
        { title: 'Held', text: 'About it\n\nSome text' },
        { title: 'Hidden', text: 'About it\n\nSome text' },
        { title: 'Secret', text: 'About it\n\nSome text' },
        { title: 'Skill', text: 'SKILL.md\n# How to fold\n' },
      ])
      expect(await counts()).toEqual([5, 0, 5])
    })

    it('go when the text changes, and stay with every other change', async () => {
      const id = await save()
      await encode(await pending())
      await store.items.changeItem('prompt', id, by, () => ({ tags: ['another'], category: 'coding' }))
      for (const visibility of ['private', 'unlisted', 'public'] as const)
        await store.items.changeItem('prompt', id, by, () => ({ visibility }))
      await store.marks.setHeld('prompt', id, true)
      expect(await counts()).toEqual([1, 1, 0])
      for (const change of [{ content: 'New text' }, { title: 'New title' }, { description: null }]) {
        await store.items.changeItem('prompt', id, by, () => change)
        expect(await counts(), JSON.stringify(change)).toEqual([1, 0, 1])
        expect(await encode(await pending())).toBe(1)
      }
      const skill = await store.items.createItem(by, { kind: 'skill', ...PROMPT, files: [toFile('one')] })
      await encode(await pending())
      await store.items.changeItem('skill', skill.id, by, () => ({ files: [toFile('two')] }))
      expect((await pending()).map(({ text }) => text.text)).toEqual(['About it\n\nSKILL.md\ntwo'])
    })

    it('go with the item: to the trash, and for good', async () => {
      const id = await save({ visibility: 'private' })
      await encode(await pending())
      await encode(await pending(OTHER), OTHER)
      await store.items.setDeleted('prompt', id, by.userId, true)
      expect([await counts(), await counts(OTHER), await pending()]).toEqual([[0, 0, 0], [0, 0, 0], []])
      await store.items.setDeleted('prompt', id, by.userId, false)
      expect(await encode(await pending())).toBe(1)
      await store.purges.purgeItem('prompt', id, '', () => true)
      expect([await counts(), await pending()]).toEqual([[0, 0, 0], []])
      expect(await database.reader.selectFrom('item_vector').selectAll().execute()).toEqual([])
    })

    it('are not saved when the item changed or was deleted since its text was read', async () => {
      const changed = await save({ title: 'Changed' })
      const deleted = await save({ title: 'Deleted' })
      await save({ title: 'Same' })
      const read = await pending()
      await store.items.changeItem('prompt', changed, by, () => ({ content: 'Other' }))
      await store.items.setDeleted('prompt', deleted, by.userId, true)
      expect(await encode(read)).toBe(1)
      expect((await pending()).map(({ id }) => id)).toEqual([changed])
      // Twice is as good as once.
      expect(await encode(read)).toBe(1)
      expect(await counts()).toEqual([2, 1, 1])
    })

    it('of other dimensions than the last of their model are not kept', async () => {
      for (const title of ['One', 'Two', 'Three']) await save({ title })
      const [first, second, third] = await pending()
      if (!first || !second || !third) return expect.unreachable()
      const keep = async (...vectors: readonly (readonly [UnencodedItem, number])[]) =>
        await store.itemVectors.saveVectors(
          MODEL,
          vectors.map(([item, dims]) => ({ item, vector: new Int8Array(dims).fill(1) })),
        )
      expect([await keep([first, 384]), await counts()]).toEqual([1, [3, 1, 2]])
      expect([await keep([first, 384], [second, 256], [third, 256]), await counts()]).toEqual([2, [3, 2, 1]])
      expect((await pending()).map(({ id }) => id)).toEqual([first.id])
    })

    describe('of a provider', () => {
      it('are wanted for public items alone', async () => {
        const prompt = await save()
        await save({ title: 'Secret', visibility: 'private' })
        await save({ title: 'Hidden', visibility: 'unlisted' })
        await save({ title: 'Ours', visibility: 'members' })
        await store.items.setDeleted('prompt', await save({ title: 'Gone' }), by.userId, true)
        expect((await pending(PROVIDER)).map(({ id, version }) => [id, version])).toEqual([[prompt, 1]])
        expect([await counts(PROVIDER), await counts()]).toEqual([
          [1, 0, 1],
          [4, 0, 4],
        ])
      })

      it('go in the moment an item is no longer public; those of the built-in encoder stay', async () => {
        for (const visibility of ['private', 'unlisted', 'members'] as const) {
          const id = await save()
          await encode(await pending(PROVIDER), PROVIDER)
          await encode(await pending())
          const before = await counts()
          expect(await counts(PROVIDER)).toEqual([1, 1, 0])
          await store.items.changeItem('prompt', id, by, () => ({ visibility }))
          expect([await counts(PROVIDER), await pending(PROVIDER), await counts()]).toEqual([[0, 0, 0], [], before])
        }
      })

      it('are not kept when the item was hidden since its text was read', async () => {
        const [hidden] = [await save({ title: 'Hidden' }), await save({ title: 'Same' })]
        const read = await pending(PROVIDER)
        await store.items.changeItem('prompt', hidden, by, () => ({ visibility: 'private' }))
        expect([await encode(read, PROVIDER), await counts(PROVIDER)]).toEqual([1, [1, 1, 0]])
      })
    })

    describe('as an index reads them', () => {
      /** A reader as a new process has it, and what its index was given. */
      const begin = () => {
        const index = createSearchIndex()
        const words: number[] = []
        const heard: (readonly [string, number, string | null])[] = []
        const counting = {
          ...index,
          apply: (...args: Parameters<typeof index.apply>) => {
            words.push(...args[1].map(({ seq }) => seq))
            index.apply(...args)
          },
        }
        const reader = readSearchIndex(database.reader, counting, {
          model: MODEL.model,
          onVectors: (kind, changes) => heard.push(...changes.map(({ seq, vector }) => [kind, seq, vector?.join() ?? null] as const)),
        })
        return async () => {
          await reader.current()
          return { words: words.splice(0), vectors: heard.splice(0) }
        }
      }
      const about = 'About it\n\nSome text'

      it('come with the words of their items at first, then by themselves', async () => {
        await save({ title: 'One' })
        await store.items.createItem(by, { kind: 'skill', ...PROMPT, title: 'Two', files: [toFile('x')] })
        await encode(await pending())
        await encode(await pending(OTHER), OTHER)
        await save({ title: 'Three', visibility: 'private' })
        const read = begin()
        expect(await read()).toEqual({
          words: [1, 3, 2],
          vectors: [
            ['prompt', 1, fakeVector('One', about).join()],
            ['skill', 2, fakeVector('Two', 'About it\n\nSKILL.md\nx').join()],
          ],
        })
        // Another instance saves.
        const { store: other } = await open('second')
        const items = await pending()
        await other.itemVectors.saveVectors(MODEL, [{ item: items[0] as UnencodedItem, vector: fakeVector('Three', about) }])
        await other.close()
        expect(await read()).toEqual({ words: [], vectors: [['prompt', 3, fakeVector('Three', about).join()]] })
        expect(await read()).toEqual({ words: [], vectors: [] })
      })

      it('are taken away by a new text, the trash and a deletion for good', async () => {
        const [changed, trashed, purged] = [await save({ title: 'Changed' }), await save(), await save()]
        await encode(await pending())
        const read = begin()
        await read()
        await store.items.changeItem('prompt', changed, by, () => ({ content: 'Other' }))
        expect(await read()).toEqual({ words: [1], vectors: [['prompt', 1, null]] })
        await encode(await pending())
        expect(await read()).toEqual({ words: [], vectors: [['prompt', 1, fakeVector('Changed', 'About it\n\nOther').join()]] })
        await store.items.setDeleted('prompt', trashed, by.userId, true)
        expect(await read()).toEqual({ words: [2], vectors: [['prompt', 2, null]] })
        await store.purges.purgeItem('prompt', purged, '', () => true)
        expect(await read()).toEqual({ words: [3], vectors: [['prompt', 3, null]] })
        // What only other fields change keeps its vector.
        await store.items.changeItem('prompt', changed, by, () => ({ tags: ['new'] }))
        expect(await read()).toEqual({ words: [1], vectors: [['prompt', 1, fakeVector('Changed', 'About it\n\nOther').join()]] })
      })

      it('come in any number, each once', async () => {
        await store.inTransaction(async (transaction) => {
          for (let n = 0; n < 90; n++) await transaction.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `Number ${n}`, tags: [] })
        })
        const readAll = async () => {
          const items: UnencodedItem[] = []
          for (let upTo = await store.itemVectors.readLastChange(); upTo > 0; ) {
            const part = await store.itemVectors.listUnencoded(MODEL, { after: 0, upTo }, 20)
            expect(part.items.length).toBeLessThanOrEqual(20)
            items.push(...part.items)
            upTo = part.upTo
          }
          return items
        }
        const items = await readAll()
        expect(items.map(({ text }) => text.title)).toEqual(Array.from({ length: 90 }, (_, n) => `Number ${89 - n}`))
        await encode(items.slice(0, 60))
        expect(await readAll()).toEqual(items.slice(60))
        const read = begin()
        const first = (await read()).vectors.map(([, seq]) => seq)
        await encode(items.slice(60))
        const second = (await read()).vectors.map(([, seq]) => seq)
        expect([first.length, second.length]).toEqual([60, 30])
        expect(new Set([...first, ...second]).size).toBe(90)
      })
    })

    it('are shared out among instances by claims, which end', async () => {
      for (let n = 0; n < 6; n++) await save({ title: `Number ${n}` })
      const { store: other } = await open('second')
      const range = { after: 0, upTo: await store.itemVectors.readLastChange() }
      const mine = await store.itemVectors.listUnencoded(MODEL, range, 2)
      const theirs = await other.itemVectors.listUnencoded(MODEL, range, 100)
      const titles = ({ items }: typeof mine) => items.map(({ text }) => text.title)
      expect(titles(mine)).toEqual(['Number 5', 'Number 4'])
      // One process alone has a library in a file.
      if (store.itemVectors.claimMs === null) {
        expect([store.instances.isShared, theirs.items.length, theirs.skipsClaimed]).toEqual([false, 6, false])
        return await other.close()
      }
      expect([titles(theirs), theirs.skipsClaimed]).toEqual([['Number 3', 'Number 2', 'Number 1', 'Number 0'], true])
      // Its own claims keep no instance from going on.
      expect(titles(await store.itemVectors.listUnencoded(MODEL, range, 100))).toEqual(['Number 5', 'Number 4'])
      now += store.itemVectors.claimMs / 2
      await other.itemVectors.renewClaims(MODEL.model)
      now += store.itemVectors.claimMs / 2
      expect(titles(await store.itemVectors.listUnencoded(MODEL, range, 100))).toEqual(['Number 5', 'Number 4'])
      now += store.itemVectors.claimMs
      expect(titles(await store.itemVectors.listUnencoded(MODEL, range, 100)).length).toBe(6)
      await other.close()
    })
  })
}
