import { describe, expect, it } from 'vitest'
import type { PromptFields, User } from '../../src/domain/items/items.ts'
import type { Actor } from '../../src/domain/people/actor.ts'
import { ENGINES, useStore } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const PROMPT: PromptFields = { ...PLAIN_PROMPT, title: 'A prompt', content: 'Text' }

for (const engine of ENGINES) {
  describe(`favourites on ${engine.name}`, () => {
    const { database, store, ada, ben } = useStore(engine, ['Ada', 'ben'])
    const as = ({ id, username }: User): Actor => ({ kind: 'user', userId: id, username, scopes: new Set(['read', 'write']) })
    const save = (title: string) => store.items.createItem({ userId: ada.id, note: null }, { kind: 'prompt', ...PROMPT, title })
    const mark = (user: User, id: string, isFavourite = true, most = 100) =>
      store.marks.setFavourite(as(user), 'prompt', id, user.id, isFavourite, most)
    const countRows = async () => (await database.reader.selectFrom('favourite').select('item_seq').execute()).length

    it('are at most so many', async () => {
      const [one, two] = [await save('One'), await save('Two')]
      expect(await mark(ben, one.id, true, 1)).toEqual({ id: one.id })
      expect(await mark(ben, two.id, true, 1)).toBe('full')
      // What is marked already stays so, and makes room when it goes.
      expect(await mark(ben, one.id, true, 1)).toEqual({ id: one.id })
      await mark(ben, one.id, false)
      expect(await mark(ben, two.id, true, 1)).toEqual({ id: two.id })
    })

    it('can be removed while the item is hidden, by who marked it alone', async () => {
      const [one, two] = [await save('One'), await save('Two')]
      for (const { id } of [one, two]) {
        await mark(ben, id)
        expect(await store.marks.findFavourites(as(ben), ben.id, [id])).toEqual(new Set([id]))
        expect(await store.marks.findFavourites(as(ada), ada.id, [id])).toEqual(new Set())
      }
      await store.items.changeItem('prompt', one.id, { userId: ada.id, note: null }, () => ({ visibility: 'private' }))
      await store.items.setDeleted('prompt', two.id, ada.id, true)
      expect(await store.marks.findFavourites(as(ben), ben.id, [one.id, two.id])).toEqual(new Set())
      const { id: zoe } = await store.people.createUser({ username: 'zoe', defaultVisibility: 'private' })
      const stranger: Actor = { kind: 'user', userId: zoe, username: 'zoe', scopes: new Set(['read', 'write']) }
      for (const ref of [one.id, one.slug, two.id, two.slug, 'nothing']) {
        expect(await store.marks.setFavourite(stranger, 'prompt', ref, zoe, false, 9), ref).toBeNull()
        expect(await mark(ben, ref, true), ref).toBeNull()
      }
      expect(await countRows()).toBe(2)
      expect(await store.marks.setFavourite(as(ben), 'skill', one.id, ben.id, false, 9)).toBeNull()
      expect(await mark(ben, one.id, false)).toEqual({ id: one.id })
      expect(await mark(ben, two.slug, false)).toEqual({ id: two.id })
      expect(await countRows()).toBe(0)
      expect(await mark(ben, one.id, false)).toBeNull()
    })

    it('go with the mark, the item and the reader', async () => {
      const [one, two] = [await save('One'), await save('Two')]
      for (const user of [ada, ben]) for (const { id } of [one, two]) await mark(user, id)
      expect(await countRows()).toBe(4)
      await mark(ada, two.id, false)
      expect(await countRows()).toBe(3)
      await store.purges.purgeItem('prompt', one.id, '', () => true)
      expect(await countRows()).toBe(1)
      await store.people.deletePerson(ben.id)
      expect(await countRows()).toBe(0)
    })
  })
}
