import { describe, expect, it } from 'vitest'
import type { LabelTarget } from '../../src/domain/items/labels.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { ENGINES, useStore } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

for (const engine of ENGINES) {
  describe(`labels and bodies on ${engine.name}`, () => {
    const { store, ada } = useStore(engine, ['Ada'])
    const by = () => ({ userId: ada.id, note: null })
    const actor = (): Actor => ({ kind: 'user', userId: ada.id, username: ada.username, scopes: new Set(['read', 'write'] as const) })
    const save = (fields: object = {}) => store.items.createItem(by(), { kind: 'prompt', ...PLAIN_PROMPT, visibility: 'public', ...fields })
    const move = (id: string, to: readonly LabelTarget[] | null, name = 'production') =>
      store.labels.moveLabel('prompt', id, by(), name, () => ({ to, reason: 'why' }))
    const whole = (version: number) => [{ version, weight: 100 }]

    it('are kept with each of 200 moves at once, and lists find items by them', async () => {
      const { id } = await save()
      await store.items.changeItem('prompt', id, by(), () => ({ content: 'two' }))
      await Promise.all(Array.from({ length: 200 }, (_, at) => move(id, whole((at % 2) + 1))))
      const last = (await store.labels.listLabelMoves(id, { before: null, limit: 1 }))[0]
      const item = await store.items.findItem(ANONYMOUS, 'prompt', id)
      expect(item?.labels).toEqual([{ name: 'production', targets: last?.to, isShared: true }])
      expect(await store.labels.listLabelMoves(id, { before: null, limit: 300 })).toHaveLength(200)
      await expect(move(id, whole(3))).rejects.toThrow('Version 3 not found')
      const { items } = await store.items.listAtLabel(ANONYMOUS, { label: 'production' }, 10, 0)
      expect(items.map((one) => [one.item.id, one.version])).toEqual([[id, last?.to?.[0]?.version]])
      await move(id, null)
      expect((await store.items.findItem(ANONYMOUS, 'prompt', id))?.labels).toEqual([])
    })

    it('of messages, configs and syntax come back as they were saved, in items and versions', async () => {
      const messages = [{ role: 'user', content: 'Hi ${name}' } as const, { type: 'placeholder', name: 'history' } as const]
      const { id } = await save({ content: undefined, messages, config: { a: [1, null, 'ü'] } })
      const body = { messages, config: { a: [1, null, 'ü'] }, syntax: 2 }
      await store.items.changeItem('prompt', id, by(), () => ({ config: null }))
      expect(await store.items.findItem(actor(), 'prompt', id)).toMatchObject({ ...body, config: null, version: 2 })
      expect(await store.items.findVersion(actor(), id, 1)).toMatchObject({ body })
    })

    it('know what takes a prompt in, under the visibility rule', async () => {
      const part = await save({ title: 'Part' })
      const open = await save({ title: 'Open', content: `\${> ${part.slug}} \${> ${part.id}@1} \${> nothing}` })
      const hidden = await save({ title: 'Hidden', content: `\${> ${part.slug}}`, visibility: 'private' })
      const ids = async (as: Actor) => (await store.items.listDependants(as, part.id, 10)).map(({ id }) => id)
      expect([await ids(ANONYMOUS), await ids(actor())]).toEqual([[open.id], [open.id, hidden.id]])
      await store.items.changeItem('prompt', open.id, by(), () => ({ content: 'without' }))
      expect(await ids(ANONYMOUS)).toEqual([])
    })
  })
}
