import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/library/actor.ts'
import type { PromptFields, User } from '../../src/library/items.ts'
import type { UnembeddedItem } from '../../src/library/ports/embeddings.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { createStore } from '../../src/storage/store.ts'
import { countingRandom, ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

/** What the store keeps of a provider's vectors, on every engine. */

const MODEL = 'one'
const PROMPT: PromptFields = { ...PLAIN_PROMPT, title: 'Title', description: 'About it', tags: ['tag'] }
const SKILL_MD = [{ filename: 'SKILL.md', bytes: new TextEncoder().encode('# How to fold\n') }]
const VECTOR = Float32Array.of(0.6, -0.8)

for (const engine of ENGINES) {
  describe(`embeddings on ${engine.name}`, () => {
    let place: Awaited<ReturnType<(typeof engine)['create']>>
    let database: OpenDatabase
    let store: LibraryStore
    let ada: User
    let now = Date.UTC(2026, 0, 1)
    const outside = { clock: () => (now += 1000), random: countingRandom(), embeddingModel: MODEL }
    const by = () => ({ userId: ada.id, note: null })
    const pending = async (model = MODEL) => (await store.embeddings.listUnembedded(model, 0, 100)).items
    const embed = async (items: readonly UnembeddedItem[], vector = VECTOR, model = MODEL) =>
      await store.embeddings.saveEmbeddings(
        model,
        items.map((item) => ({ item, vector })),
      )
    const counts = async (model = MODEL) => Object.values(await store.embeddings.countEmbeddings(model))

    beforeEach(async () => {
      place = await engine.create()
      database = place.open()
      store = await createStore(database, outside)
      ada = await store.people.createUser({ username: 'Ada', defaultVisibility: 'private' })
    })
    afterEach(async () => {
      await store.close()
      await place.remove()
    })

    it('are wanted for public items alone: title, description and text, of both kinds', async () => {
      const prompt = await store.items.createPrompt(by(), PROMPT)
      const skill = await store.items.createSkill(by(), { ...PROMPT, title: 'Skill', description: null, files: SKILL_MD })
      await store.items.createPrompt(by(), { ...PROMPT, title: 'Secret', visibility: 'private' })
      await store.items.createPrompt(by(), { ...PROMPT, title: 'Hidden', visibility: 'unlisted' })
      const gone = await store.items.createPrompt(by(), { ...PROMPT, title: 'Gone' })
      await store.items.setDeleted('prompt', gone.id, ada.id, true)
      expect((await pending()).map(({ id, version, text }) => ({ id, version, text }))).toEqual([
        { id: prompt.id, version: 1, text: 'Title\n\nAbout it\n\nSome text' },
        { id: skill.id, version: 1, text: 'Skill\n\nSKILL.md\n# How to fold\n' },
      ])
      expect(await counts()).toEqual([2, 0, 2])
    })

    it('go in the moment an item is no longer public, for every model', async () => {
      const hide = [
        (id: string) => store.items.changePrompt(id, by(), () => ({ visibility: 'private' })),
        (id: string) => store.items.changePrompt(id, by(), () => ({ visibility: 'unlisted' })),
        (id: string) => store.items.setDeleted('prompt', id, ada.id, true),
      ]
      for (const change of hide) {
        const { id } = await store.items.createPrompt(by(), PROMPT)
        await embed(await pending())
        await embed(await pending('two'), VECTOR, 'two')
        expect(await counts()).toEqual([1, 1, 0])
        await change(id)
        expect([await counts(), await counts('two')]).toEqual([
          [0, 0, 0],
          [0, 0, 0],
        ])
        expect(await pending()).toEqual([])
      }
      const trashed = (await store.items.listTrash(ada.id, { limit: 1, offset: 0 })).items[0]
      await store.items.setDeleted('prompt', trashed?.id ?? '', ada.id, false)
      expect(await counts()).toEqual([1, 0, 1])
    })

    it('are not kept when the item changed, was hidden or deleted since its text was read', async () => {
      const items = []
      for (const title of ['Changed', 'Hidden', 'Deleted', 'Same']) items.push(await store.items.createPrompt(by(), { ...PROMPT, title }))
      const [changed, hidden, deleted, same] = items
      const read = await pending()
      await store.items.changePrompt(changed?.id ?? '', by(), () => ({ content: 'Other' }))
      await store.items.changePrompt(hidden?.id ?? '', by(), () => ({ visibility: 'private' }))
      await store.items.setDeleted('prompt', deleted?.id ?? '', ada.id, true)
      expect(await embed(read)).toBe(1)
      expect((await pending()).map((item) => item.id)).toEqual([changed?.id])
      expect(await counts()).toEqual([2, 1, 1])
      // Twice is as good as once.
      expect(await embed(read)).toBe(1)
      expect(await counts()).toEqual([2, 1, 1])
      expect(same?.id).toBe(read.at(-1)?.id)
    })

    describe('in a search', () => {
      /** Vectors that share a large part, as a provider's do: the first number; the others tell the items apart. */
      const toward = (axis: number, strength = 1) => {
        const vector = new Float32Array(64)
        vector[0] = 1.3
        if (axis > 0) vector[axis] = strength
        const length = Math.hypot(...vector)
        return vector.map((value) => value / length)
      }
      const request = (text: string, vector: Float32Array | null) => ({
        query: parseQuery(text),
        text,
        vector,
        filter: {},
        sort: 'relevance' as const,
        limit: 10,
        offset: 0,
      })
      const titles = async (text: string, vector: Float32Array | null) =>
        (await store.items.searchPrompts(ANONYMOUS, request(text, vector))).items.map((item) => item.title)
      /** Forty prompts, each toward a direction of its own. */
      const fill = async () => {
        await store.inTransaction(async ({ items }) => {
          for (let n = 1; n <= 40; n++)
            await items.createPrompt(by(), { ...PROMPT, title: `Item ${n}`, content: `word${n}`, description: null })
        })
        const items = await pending()
        await store.embeddings.saveEmbeddings(
          MODEL,
          items.map((item) => ({ item, vector: toward(Number(/\d+/.exec(item.text)?.[0])) })),
        )
      }

      it('find what no word finds, and rank what words find', async () => {
        await fill()
        expect(await titles('zzzunknown', null)).toEqual([])
        expect(await titles('zzzunknown', toward(7))).toEqual(['Item 7'])
        expect((await titles('item', toward(9)))[0]).toBe('Item 9')
        expect((await titles('item', toward(12)))[0]).toBe('Item 12')
        const similar = await store.items.findSimilarPrompts('anything', { types: ['TEXT'], limit: 3, vector: toward(5) })
        expect(similar[0]?.prompt.title).toBe('Item 5')
      })
    })
  })
}
