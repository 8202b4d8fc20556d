import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import type { PromptFields } from '../../src/domain/items/items.ts'
import type { LibraryStore } from '../../src/storage/store.ts'
import { createStore } from '../../src/storage/store.ts'
import { ENGINES } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'

const PROMPT: PromptFields = { ...PLAIN_PROMPT, title: 'Title', content: 'text', tags: ['one'] }

describe.each(ENGINES)('the revision of the library on $name', (engine) => {
  let store: LibraryStore
  let ada: string
  let promptId: string
  let remove: () => Promise<void>
  let now = Date.UTC(2026, 0, 1)

  beforeEach(async () => {
    const made = await engine.create()
    remove = made.remove
    store = await createStore(made.open(), { clock: () => ++now, random: SYSTEM.random })
    ada = (await store.people.createUser({ username: 'ada', defaultVisibility: 'public' })).id
    promptId = (await store.items.createItem({ userId: ada, note: null }, { kind: 'prompt', ...PROMPT })).id
  })
  afterEach(async () => {
    await store.close()
    await remove()
  })

  const actor = () => ({ kind: 'user', userId: ada, username: 'ada', scopes: new Set(['read', 'write'] as const) }) as const
  const editor = () => ({ userId: ada, note: null })

  const RAISES: readonly [string, () => Promise<unknown>][] = [
    ['a new item', () => store.items.createItem(editor(), { kind: 'prompt', ...PROMPT })],
    ['an edit', () => store.items.changeItem('prompt', promptId, editor(), () => ({ content: 'another' }))],
    ['a change of tags', () => store.items.changeItem('prompt', promptId, editor(), () => ({ tags: ['two'] }))],
    ['a vote', () => store.marks.setVote(actor(), 'prompt', promptId, ada, true)],
    ['a featured item', () => store.marks.setFeatured('prompt', promptId, true)],
    ['a hold', () => store.marks.setHeld('prompt', promptId, true)],
    ['the trash', () => store.items.setDeleted('prompt', promptId, ada, true)],
    ['a deletion for good', () => store.purges.purgeItem('prompt', promptId, '', () => true)],
    ['a category', () => store.categories.createCategory({ slug: 'new', name: 'New', parent: null })],
    ['a profile', () => store.people.changeProfile(ada, { displayName: 'Ada L.' })],
    ['the removal of a person', () => store.people.deletePerson(ada)],
  ]
  it.each(RAISES)('is raised by %s, also for what others see', async (_, change) => {
    const read = () => Promise.all([store.service.readRevision('library'), store.service.readRevision('public')])
    const [library, others] = await read()
    await change()
    const after = await read()
    expect([after[0] > library, after[1] > others]).toEqual([true, true])
  })

  it('is left for what others see by all that is done to a private item or collection', async () => {
    const { id } = await store.items.createItem(editor(), { kind: 'prompt', ...PROMPT, visibility: 'private' })
    const collection = { ownerId: ada, title: 'Mine', description: null, visibility: 'private' } as const
    const before = await Promise.all([store.service.readRevision('public'), store.service.readRevision('library')])
    await store.items.createItem(editor(), { kind: 'prompt', ...PROMPT, visibility: 'private' })
    await store.items.changeItem('prompt', id, editor(), () => ({ title: 'Other', content: 'another', tags: ['two'], slug: 'named' }))
    await store.marks.setVote(actor(), 'prompt', id, ada, true)
    const { id: collected } = await store.collections.createCollection(actor(), collection)
    await store.collections.addToCollection(actor(), collected, [id, promptId], null)
    await store.collections.changeCollection(actor(), collected, { title: 'Other' }, undefined)
    await store.items.setDeleted('prompt', id, ada, true)
    await store.purges.purgeItem('prompt', id, ada, () => true)
    expect(await store.service.readRevision('public')).toBe(before[0])
    expect(await store.service.readRevision('library')).toBeGreaterThan(before[1])
  })

  it('is left by keys, budgets, drafts, reads and edits that change nothing', async () => {
    const before = await store.service.readRevision('library')
    const key = await store.keys.createKey({ name: 'k', userId: ada, sha256: 'a'.repeat(64), scopes: ['read'], expiresAt: null })
    await store.keys.touchKey(key.id)
    await store.budgets.spendImproveBudget({ caller: 'c', day: '2026-01-01', characters: 5 }, { requests: 5, characters: 50 })
    await store.formDrafts.saveFormDraft(ada, 'form', '{}')
    await store.items.changeItem('prompt', promptId, editor(), () => ({ content: PROMPT.content }))
    await store.items.findItem(actor(), 'prompt', promptId)
    expect(await store.service.readRevision('library')).toBe(before)
  })

  it('is left by a transaction that fails', async () => {
    const before = await store.service.readRevision('library')
    const failing = store.inTransaction(async (inner) => {
      await inner.items.createItem(editor(), { kind: 'prompt', ...PROMPT })
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await store.service.readRevision('library')).toBe(before)
  })
})
