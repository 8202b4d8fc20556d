import { describe, expect, it } from 'vitest'
import type { PromptFields } from '../../src/domain/items/items.ts'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { OPERATOR_ORIGIN } from '../../src/domain/service/audit.ts'
import { ENGINES, useStore } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const FIELDS: PromptFields = { ...PLAIN_PROMPT, title: 'Walrus', content: 'Write.', visibility: 'private' }

describe.each(ENGINES)('the audit log on $name', (engine) => {
  const { database, store } = useStore(engine)

  const log = async () => await store.audit.listEvents(ANONYMOUS, { limit: 100 })
  const actions = async () => (await log()).map(({ action }) => action)

  it('records a change with whoever acts, however deep the call is', async () => {
    const { id } = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    const origin = { actorId: id, keyId: 'k', surface: 'mcp' } as const
    const editor = { userId: id, note: null }
    await store.audit.actingAs(origin, () =>
      store.inTransaction(async (transaction) => {
        await transaction.items.createItem(editor, { kind: 'prompt', ...FIELDS })
        await transaction.items.createItem(editor, { kind: 'prompt', ...FIELDS })
      }),
    )
    await Promise.all([
      store.audit.actingAs(OPERATOR_ORIGIN, () =>
        store.people.createInvite({ sha256: 'a', username: 'x', role: 'user', expiresAt: '2027' }),
      ),
      store.items.createItem(editor, { kind: 'prompt', ...FIELDS }),
    ])
    expect((await log()).map(({ action, actorId, keyId, surface }) => [action, actorId, keyId, surface]).toSorted()).toEqual([
      ['invite_created', null, null, 'cli'],
      ['item_created', null, null, 'service'],
      ['item_created', id, 'k', 'mcp'],
      ['item_created', id, 'k', 'mcp'],
      ['user_created', null, null, 'service'],
    ])
  })

  it('has nothing of what was undone, or was refused', async () => {
    const { id } = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    const undone = store.inTransaction(async (transaction) => {
      await transaction.items.createItem({ userId: id, note: null }, { kind: 'prompt', ...FIELDS })
      throw new Error('cut off')
    })
    await expect(undone).rejects.toThrow('cut off')
    await store.inTransaction(async (transaction) => {
      await transaction.people.createUser({ username: 'ADA', defaultVisibility: 'private' }).catch(() => {})
      await transaction.people.createUser({ username: 'ben', defaultVisibility: 'private' })
    })
    await expect(store.people.setRole('nobody', 'admin')).rejects.toThrow('not found')
    expect(await actions()).toEqual(['user_created', 'user_created'])
  })

  it('undoes a change that it cannot record', async () => {
    const { id } = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    await database.transact((db) => db.schema.alterTable('audit_event').renameTo('elsewhere').execute())
    await expect(store.items.createItem({ userId: id, note: null }, { kind: 'prompt', ...FIELDS })).rejects.toThrow()
    expect(await store.service.isEmpty()).toBe(true)
    await database.transact((db) => db.schema.alterTable('elsewhere').renameTo('audit_event').execute())
  })

  it('reads each way by an index', async () => {
    for (const column of ['actor_id', 'owner_id', 'target_id', 'action'] as const) {
      const query = database.reader
        .selectFrom('audit_event')
        .selectAll()
        .where(column, '=', 'item_created')
        .orderBy('seq', 'desc')
        .limit(10)
      expect(await engine.isServedByIndex(database, query.compile()), column).toBe(true)
    }
    const old = database.reader.selectFrom('audit_event').select('seq').where('at', '<', '2026').orderBy('at').limit(10)
    expect(await engine.isServedByIndex(database, old.compile())).toBe(true)
  })
})
