import { describe, expect, it } from 'vitest'
import type { Prompt, User } from '../../src/domain/items/items.ts'
import type { Actor } from '../../src/domain/people/actor.ts'
import { ENGINES, useStore } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

for (const engine of ENGINES) {
  describe(`names of prompts on ${engine.name}`, () => {
    const { store, ada } = useStore(engine, ['Ada'])
    const as = ({ id, username }: User): Actor => ({ kind: 'user', userId: id, username, scopes: new Set(['read', 'write']) })
    const save = (apiName: string | null, more: object = {}, ownerId?: string): Promise<Prompt> =>
      store.items.createItem(
        { userId: ada.id, ownerId, note: null },
        { kind: 'prompt', ...PLAIN_PROMPT, title: 'A prompt', content: 'Text', apiName, ...more },
      )
    const change = (id: string, changes: object) =>
      store.items.changeItem('prompt', id, { userId: ada.id, note: null, makesVersion: true }, () => changes)
    const list = (filter: object = {}, page = { limit: 10, offset: 0 }) => store.items.listNamed(as(ada), filter, page)
    const nameOf = async (id: string) => (await store.items.findItem(as(ada), 'prompt', id))?.apiName
    const conflict = { code: 'conflict' }

    it('are of one live prompt of an owner', async () => {
      const first = await save('a/b')
      await expect(save('a/b')).rejects.toMatchObject(conflict)
      await expect(Promise.all([save('c'), save('c')])).rejects.toMatchObject(conflict)
      const plain = await save(null)
      await expect(save(plain.slug)).rejects.toMatchObject(conflict)
      await expect(change(plain.id, { apiName: 'a/b' })).rejects.toMatchObject(conflict)
      expect(await change(plain.id, { apiName: 'd' })).toMatchObject({ apiName: 'd', version: 2 })
      await store.items.setDeleted('prompt', first.id, ada.id, true)
      const second = await save('a/b')
      await store.items.setDeleted('prompt', first.id, ada.id, false)
      expect([await nameOf(first.id), await nameOf(second.id)]).toEqual([null, 'a/b'])
    })

    it('are dropped where the next owner has them', async () => {
      const about = { name: 'crew', displayName: null, description: null, defaultVisibility: 'private' } as const
      const team = await store.teams.createTeam({ userId: ada.id, isAdmin: false }, about)
      const [mine, other] = [await save('a'), await save('b')]
      const theirs = await save('a', {}, team.id)
      expect((await store.items.findNamed(as(ada), 'a'))?.id).toBe(mine.id)
      const wanted = { to: 'crew', leavesOutPrivate: false, makesPrivate: false }
      for (const { id } of [mine, other]) await store.ownership.transferItem(ada.id, 'prompt', id, wanted)
      expect([await nameOf(mine.id), await nameOf(other.id), await nameOf(theirs.id)]).toEqual([null, 'b', 'a'])
      expect((await store.items.findNamed(as(ada), 'a'))?.id).toBe(theirs.id)
      expect((await store.items.findNamed(as(ada), mine.slug))?.id).toBe(mine.id)
    })

    it('are listed in order, with the versions that pass a filter', async () => {
      const { id } = await save('b', { tags: ['Tag'], config: { a: 1 } })
      await save('a', { content: undefined, messages: [{ role: 'user', content: 'x' }] })
      const changed = await change(id, {})
      await store.labels.moveLabel('prompt', id, { userId: ada.id, note: null }, 'production', () => ({
        to: [
          { version: 1, weight: 60 },
          { version: 2, weight: 40 },
        ],
        reason: null,
      }))
      expect((await list()).prompts.map(({ name, isChat, versions }) => [name, isChat, versions])).toEqual([
        ['a', true, [1]],
        ['b', false, [1, 2]],
      ])
      expect(await list({}, { limit: 1, offset: 1 })).toMatchObject({ prompts: [{ name: 'b', newest: 2, config: { a: 1 } }], total: 2 })
      expect(await list({ label: 'production' })).toMatchObject({ prompts: [{ name: 'b', versions: [1] }], total: 1 })
      expect(await list({ label: 'latest', tag: 'tag' })).toMatchObject({ prompts: [{ name: 'b', versions: [2] }], total: 1 })
      expect(await list({ name: 'b', to: changed?.updatedAt })).toMatchObject({ prompts: [{ versions: [1] }] })
      expect(await list({ name: 'b', from: changed?.updatedAt })).toMatchObject({ prompts: [{ versions: [2], newest: 2 }] })
      expect(await list({}, { limit: 10, offset: 10 })).toEqual({ prompts: [], total: 2 })
    })
  })
}
