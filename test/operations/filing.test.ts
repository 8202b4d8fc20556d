import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import type { AuditEvent } from '../../src/domain/service/audit.ts'
import { importPrompts } from '../../src/transfer/import-entries.ts'
import { json, readJson, rpc, type TestApp, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor } from '../support/visitor.ts'

type User = Awaited<ReturnType<TestApp['user']>>['actor']
const FILES = [{ filename: 'SKILL.md', content: '---\nname: one\ndescription: d\n---\n' }]

describe('tags, category and visibility', () => {
  const test = useTestApp()
  let page: Visitor
  let key: string
  let ada: User
  let bob: User
  beforeAll(async () => {
    page = await signUp(test, 'ada')
    ;({ key } = await test.user('ada'))
    ada = { ...(await test.user('ada')).actor, scopes: new Set(['read', 'write', 'improve', 'account', 'admin']) }
    bob = (await test.user('bob')).actor
  })

  const save = async (fields: object = {}, kind: 'prompt' | 'skill' = 'prompt') => {
    const text = kind === 'prompt' ? { content: 'A text.' } : { files: FILES }
    return String(Object((await test.call(ada, `save_${kind}`, { title: 'Filed', ...text, ...fields }))[kind]).id)
  }
  const read = async (id: string, kind = 'prompt') => {
    const item = Object(await test.call(ada, kind === 'prompt' ? 'show_prompt' : 'get_skill', { id }))
    const { versions } = Object(await test.call(ada, 'list_versions', { collection: `${kind}s`, id }))
    const { tags, visibility, categorySlug, updatedAt, description } = item
    return { tags, visibility, categorySlug, updatedAt, description, versions }
  }
  const seen = async (id: string, by: User | typeof ANONYMOUS) =>
    Object(await test.call(by, 'list_versions', { collection: 'prompts', id })).versions.map(({ version }: { version: number }) => version)
  const events = async (work: () => Promise<unknown>): Promise<AuditEvent[]> => {
    const [last] = await test.app.store.audit.listEvents(ada, { limit: 1 })
    await work()
    const all = await test.app.store.audit.listEvents(ada, { limit: 500 })
    return all.filter(({ order }) => order > (last?.order ?? 0)).toReversed()
  }
  const change = (collection: 'prompts' | 'skills', ids: readonly string[], fields: object) =>
    test.call(ada, 'change_items', { collection, ids, ...fields })
  const update = (id: string, fields: object, by: User = ada) => test.call(by, 'update_prompt', { id, ...fields })

  it.each(['prompt', 'skill'] as const)('are no version of a %s and no change, whichever way they come', async (kind) => {
    const id = await save({ tags: ['one'], visibility: 'public' }, kind)
    const { versions, updatedAt, description } = await read(id, kind)
    const get = () => test.fetch(`/api/${kind}s/${id}`)
    let etag = (await get()).headers.get('etag')
    const editor = {
      title: 'Filed',
      description: description ?? '',
      note: '',
      content: 'A text.',
      baseVersion: '1',
      category: 'coding',
      visibility: 'public',
    }
    const ways: Record<string, () => Promise<unknown>> = {
      rest: () => test.fetch(`/api/${kind}s/${id}`, { ...json('PATCH', { tags: ['rest'] }), key }),
      none: () => test.fetch(`/api/${kind}s/${id}`, { ...json('PATCH', { tags: [] }), key }),
      category: () => test.call(ada, `update_${kind}`, { id, category: 'writing' }),
      bulk: () => change(`${kind}s`, [id], { addTags: ['bulk'] }),
      ...(kind === 'prompt' && {
        mcp: () => test.fetch('/api/mcp', { ...rpc('tools/call', { name: 'update_prompt', arguments: { id, tags: ['mcp'] } }), key }),
      }),
      page: () => page.post(`/${kind}s/${id}/edit`, { ...editor, tags: 'page', do: kind === 'prompt' ? 'save' : 'details' }),
    }
    for (const [way, act] of Object.entries(ways)) {
      await act()
      const now = await read(id, kind)
      expect([now.versions, now.updatedAt], way).toEqual([versions, updatedAt])
      if (way !== 'none' && way !== 'category') expect(now.tags, way).toContain(way)
      // Whoever has the old state is told.
      const answer = await get()
      expect(answer.headers.get('etag'), way).not.toBe(etag)
      etag = answer.headers.get('etag')
    }
    const found = async (tag: string) => Object(await readJson(await test.fetch(`/api/${kind}s?tag=${tag}`)))[`${kind}s`].length
    expect([await found('one'), (await found('page')) > 0]).toEqual([0, true])
    await test.call(ada, `update_${kind}`, { id, tags: ['last'], title: 'Refiled' })
    expect((await read(id, kind)).versions).toHaveLength(2)
  })

  it('count as an edit for the next import, and an import of them alone is no version', async () => {
    const importRow = async (tags: string) => {
      const bytes = Readable.from([Buffer.from(JSON.stringify([{ title: 'Imported', content: 'Text', tags: [tags] }]))])
      return await importPrompts(test.app.store, { name: 'rows', format: 'json', bytes }, { owner: 'ada', visibility: undefined })
    }
    await importRow('first')
    const find = async () => Object(await test.call(ada, 'list_own_items', { collection: 'prompts', q: 'Imported' })).prompts[0]
    const { id } = await find()
    expect(await importRow('second')).toMatchObject({ updated: 1 })
    expect(await read(id)).toMatchObject({ tags: ['second'], versions: [{ version: 1 }] })
    await update(id, { tags: ['mine'] })
    expect(await importRow('third')).toMatchObject({ updated: 0, kept: 1 })
    expect((await read(id)).tags).toEqual(['mine'])
  })

  it('show the newest version to whom they show the item, and no earlier one', async () => {
    const id = await save({ content: 'A draft.', tags: ['hidden'], visibility: 'private' })
    await update(id, { content: 'Done.' })
    await update(id, { tags: ['shown'] })
    expect((await read(id)).versions.map(({ visibility }: { visibility: string }) => visibility)).toEqual(['private', 'private'])
    await update(id, { visibility: 'members' })
    expect([await seen(id, bob), (await read(id)).versions.length]).toEqual([[2], 2])
    await expect(seen(id, ANONYMOUS)).rejects.toMatchObject({ code: 'not_found' })
    await update(id, { visibility: 'public' })
    expect([await seen(id, ANONYMOUS), await seen(id, bob)]).toEqual([[2], [2]])
    const version = { collection: 'prompts', id, version: 2 }
    expect(await test.call(ANONYMOUS, 'get_version', version)).toMatchObject({ content: 'Done.', tags: ['shown'] })
    await expect(test.call(ANONYMOUS, 'get_version', { ...version, version: 1 })).rejects.toMatchObject({ code: 'not_found' })
    // What is filed while fewer see it is not told to those who saw it before.
    await update(id, { visibility: 'private' })
    await update(id, { tags: ['secret'] })
    await update(id, { content: 'Done again.', tags: [] })
    await update(id, { visibility: 'public' })
    expect(await seen(id, ANONYMOUS)).toEqual([3, 2])
    expect(await test.call(ANONYMOUS, 'get_version', version)).toMatchObject({ tags: ['shown'] })
    // So does an administrator who lists it again.
    await test.call(ada, 'set_held', { collection: 'prompts', id, isHeld: true })
    await update(id, { content: 'Meanwhile.' })
    expect(await seen(id, ANONYMOUS)).toEqual([3, 2])
    await test.call(ada, 'set_held', { collection: 'prompts', id, isHeld: false })
    expect(await seen(id, ANONYMOUS)).toEqual([4, 3, 2])
  })

  it('are restored as a version had them last', async () => {
    const id = await save({ tags: ['one'] })
    await update(id, { tags: ['two'] })
    await update(id, { content: 'Later.', tags: ['three'] })
    await test.call(ada, 'restore_version', { collection: 'prompts', id, version: 1 })
    expect(await read(id)).toMatchObject({ tags: ['two'], versions: { length: 3 } })
  })

  it('stay as others made them where an edit of the whole item leaves them as they were', async () => {
    const id = await save({ tags: ['one', 'two'], category: 'coding', visibility: 'private' })
    const base = { tags: ['one', 'two'], category: 'coding', visibility: 'private' }
    await update(id, { tags: ['two', 'theirs'], category: 'writing' })
    await update(id, { ...base, base, content: 'Mine.', baseVersion: 1 })
    expect(await read(id)).toMatchObject({ tags: ['two', 'theirs'], categorySlug: 'writing', versions: { length: 2 } })
    await update(id, { base, tags: ['one', 'mine'] })
    expect((await read(id)).tags).toEqual(['theirs', 'mine'])
    const ofModel = { id, base: { ...base, tags: ['theirs'] }, tags: ['theirs', 'model'] }
    await test.fetch('/api/mcp', { ...rpc('tools/call', { name: 'update_prompt', arguments: ofModel }), key })
    expect((await read(id)).tags).toEqual(['theirs', 'mine', 'model'])
    await expect(update(id, { base, category: 'editing' })).rejects.toMatchObject({ code: 'conflict' })
    await update(id, { base, category: 'writing', visibility: 'members' })
    await expect(update(id, { base, visibility: 'public' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(update(id, { content: 'Stale.', baseVersion: 1 })).rejects.toMatchObject({ code: 'conflict' })
  })

  it('are merged by the page of an edit, which says what it cannot merge', async () => {
    const id = await save({ tags: ['one'], category: 'coding', visibility: 'private' })
    const { html } = await page.get(`/prompts/${id}/edit`)
    const field = (name: string, from = html) =>
      (new RegExp(`name="${name}" value="([^"]*)"`).exec(from)?.[1] ?? '').replaceAll('&quot;', '"')
    const form = { title: 'Filed', content: 'Mine.', tags: 'one', category: 'coding', visibility: 'private', do: 'save' }
    const sent = { ...form, baseVersion: field('baseVersion'), base: field('base') }
    await update(id, { tags: ['one', 'theirs'], visibility: 'unlisted' })
    const refused = await page.post(`/prompts/${id}/edit`, { ...sent, visibility: 'public' })
    expect([refused.status, refused.html.includes('it is unlisted now')]).toEqual([409, true])
    await page.post(`/prompts/${id}/edit`, sent)
    expect(await read(id)).toMatchObject({ tags: ['one', 'theirs'], visibility: 'unlisted', versions: { length: 2 } })
    // Whoever was told sends it again, and means it.
    const again = { ...sent, baseVersion: '2', base: field('base', refused.html), visibility: 'public' }
    await page.post(`/prompts/${id}/edit`, again)
    expect((await read(id)).visibility).toBe('public')
  })

  it.each(['prompt', 'skill'] as const)('keep on the page of a %s the tags of others after a conflict, and show them', async (kind) => {
    const id = await save({ tags: ['one'], category: 'coding', visibility: 'private' }, kind)
    const path = `/${kind}s/${id}/edit`
    const hidden = (html: string) =>
      Object.fromEntries(
        ['baseVersion', 'base', 'newestVersion'].map((name) => {
          const found = [...html.matchAll(new RegExp(`name="${name}" value="([^"]*)"`, 'g'))].at(-1)?.[1]
          return [name, (found ?? '').replaceAll('&quot;', '"')]
        }),
      )
    const form = { title: 'Filed', description: 'd', content: 'A text.', tags: 'one', category: 'editing', visibility: 'public' }
    const sent = { ...form, do: kind === 'prompt' ? 'save' : 'details' }
    const change = (fields: object) => test.call(ada, `update_${kind}`, { id, ...fields })
    const filed = async () => {
      const { tags, category, visibility } = Object(await test.call(ada, kind === 'prompt' ? 'show_prompt' : 'get_skill', { id }))
      return [tags, category, visibility]
    }
    const opened = await page.get(path)
    await change({ tags: ['one', 'theirs'], category: 'writing', visibility: 'unlisted' })
    const refused = await page.post(path, { ...sent, ...hidden(opened.html) })
    expect(refused.status).toBe(409)
    // Both fields at once, and beside them what needs no choice.
    const told = ['Nothing was saved', 'it is writing now', 'it is unlisted now', '<ins>, theirs</ins>']
    expect(told.filter((part) => !refused.html.includes(part))).toEqual([])
    expect(refused.html).not.toContain('Please correct')
    expect((await page.post(path, { ...sent, ...hidden(refused.html) })).status).toBe(303)
    expect(await filed()).toEqual([['one', 'theirs'], 'Editing', 'public'])
    // The same where the text was saved meanwhile: what is said to be overwritten leaves out what is merged.
    const again = await page.get(path)
    await change({ title: 'Theirs', tags: ['one', 'theirs', 'third'], category: 'coding' })
    // A form that is refused for something else keeps the version it began with.
    const empty = await page.post(path, { ...sent, ...hidden(again.html), title: '' })
    expect([empty.status, hidden(empty.html)['base']]).toEqual([400, hidden(again.html)['base']])
    const stale = await page.post(path, { ...sent, ...hidden(empty.html), tags: 'one, theirs, mine', category: 'writing' })
    expect([stale.status, stale.html.includes('<del>third'), stale.html.includes('<ins>, third</ins>')]).toEqual([409, false, true])
    const over = { ...sent, ...hidden(stale.html), tags: 'one, theirs, mine', category: 'writing' }
    expect((await page.post(path, kind === 'prompt' ? { ...over, do: 'overwrite' } : over)).status).toBe(303)
    expect(await filed()).toEqual([['one', 'theirs', 'third', 'mine'], 'Writing', 'public'])
  })

  it('are one event for many items, and so is what takes them back', async () => {
    const ids: string[] = []
    for (let n = 0; n < 23; n++) ids.push(await save({ title: `Many ${n}`, tags: ['had'], visibility: 'private' }))
    const before = await read(ids[0] ?? '')
    let done: Record<string, unknown> = {}
    const undo = () => test.call(ada, 'take_back_changes', Object(done['inverse']))
    const short = (all: AuditEvent[]) => all.map(({ action, detail: { items, ...rest } }) => [action, rest, items?.length])
    const tagged = await events(async () => {
      done = await change('prompts', [...ids, 'nothing'], { addTags: ['many'] })
    })
    const detail = { kind: 'prompt', count: 23, fields: ['tags'] }
    expect(short(tagged)).toEqual([['items_changed', detail, 20]])
    expect([tagged[0]?.ownerId, tagged[0]?.detail.items?.[0]]).toEqual([ada.userId, ids[0]])
    expect(short(await events(undo))).toEqual([['items_changed', detail, 20]])
    expect(await read(ids[0] ?? '')).toEqual(before)
    expect(await undo()).toMatchObject({ restored: 0 })
    const published = await events(async () => {
      done = await change('prompts', ids, { visibility: 'members' })
    })
    expect(short(published)).toEqual([['items_changed', { kind: 'prompt', count: 23, fields: ['visibility'], to: 'members' }, 20]])
    expect(await seen(ids[0] ?? '', bob)).toEqual([1])
    await undo()
    // What was shown stays a version that others saw.
    expect(await read(ids[0] ?? '')).toEqual({ ...before, versions: [expect.objectContaining({ visibility: 'members' })] })
    expect(short(await events(() => test.call(ada, 'delete_items', { collection: 'prompts', ids })))).toEqual([
      ['items_deleted', { kind: 'prompt', count: 23 }, 20],
    ])
    expect(short(await events(() => test.call(ada, 'restore_items', { collection: 'prompts', ids })))).toEqual([
      ['items_restored', { kind: 'prompt', count: 23 }, 20],
    ])
    // One item is what it always was.
    expect(short(await events(() => change('prompts', ids.slice(0, 1), { addTags: ['x'] })))).toEqual([
      ['item_changed', { kind: 'prompt', fields: ['tags'] }, undefined],
    ])
  })

  it('name in that event what its reader may see alone', async () => {
    const ids = [await save({ title: 'Open', visibility: 'public' }), await save({ title: 'Closed', visibility: 'unlisted' })]
    await change('prompts', ids, { category: 'coding' })
    const listed = async (name: string) => Object(await test.call(ada, name, { limit: 1 })).events[0]
    expect(await listed('list_own_activity')).toMatchObject({ items: [{ id: ids[0], name: 'Open' }, { id: ids[1] }] })
    const admin: User = { ...bob, scopes: new Set(['admin']) }
    const { events: all } = Object(await test.call(admin, 'list_audit_events', { limit: 1 }))
    expect(all[0].items).toEqual([
      { id: ids[0], name: 'Open' },
      { id: ids[1]?.slice(0, 8), name: null },
    ])
    expect(JSON.stringify(all)).not.toContain(ids[1])
    const { html } = await page.get('/settings/activity')
    expect(html).toContain('2 items')
    expect(html).toContain('>Open</a>')
    // Whoever acted is named once.
    expect(html).toContain('<strong>Items changed together</strong> <p')
  })

  it('are logged as they become, so that a scope begins where it did and purged ones are gone', async () => {
    const id = await save({ title: 'Logged', visibility: 'public', tags: ['early'] })
    await update(id, { tags: ['early', 'scoped'] })
    const list = async (tag: string) => {
      const { changes } = Object(await test.call(ada, 'list_shared_changes', { scope: `/tags/${tag}`, kind: 'prompt' }))
      return changes.map(({ seq }: { seq: number }) => seq)
    }
    const [all, scoped] = [await list('early'), await list('scoped')]
    expect([all.length, scoped]).toEqual([2, all.slice(1)])
    const texts = async () => Object(await test.call(ANONYMOUS, 'read_shared_versions', { changes: all })).versions
    expect((await texts()).map(({ tags }: { tags: string[] }) => tags)).toEqual([['early'], ['early', 'scoped']])
    await update(id, { content: 'Later.' })
    expect([(await list('early')).slice(0, 2), (await list('scoped')).slice(0, 1)]).toEqual([all, scoped])
    await update(id, { content: 'Last.', tags: [] })
    await test.call(ada, 'purge_versions', { collection: 'prompts', id, first: 1, last: 2 })
    expect(await test.readEverything()).not.toContain('scoped')
  })
})
