import { beforeAll, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { codeOf, json, readJson, type TestApp, useTestApp } from '../support/test-app.ts'

type Actor = Parameters<TestApp['call']>[0]
const skillOf = (text: string) => [{ filename: 'SKILL.md', content: `---\nname: one\ndescription: d\n---\n${text}\n` }]

describe('labels', () => {
  const test = useTestApp()
  let ada: Awaited<ReturnType<TestApp['user']>>
  let eve: Awaited<ReturnType<TestApp['user']>>
  const account = (actor: typeof ada.actor) => ({ ...actor, scopes: new Set([...actor.scopes, 'account'] as const) }) as Actor
  beforeAll(async () => {
    ada = await test.user('ada')
    eve = await test.user('eve')
  })

  /** A prompt with the texts one and two, public unless said otherwise. */
  const save = async (fields: object = {}, texts = ['one', 'two'], by = ada.actor) => {
    const [first, ...others] = texts
    const saved = Object(await test.call(by, 'save_prompt', { title: 'Labelled', content: first, visibility: 'public', ...fields }))
    const id = String(saved.prompt.id)
    for (const content of others) await test.call(by, 'update_prompt', { id, content })
    return id
  }
  const target = (id: string, label = 'production') => ({ collection: 'prompts', id, label })
  const set = (id: string, version: number, more: object = {}, by: Actor = ada.actor) =>
    test.call(by, 'set_label', { ...target(id), version, ...more })
  const text = async (id: string, asked: object = { label: 'production' }, by: Actor = ANONYMOUS) =>
    Object(await test.call(by, 'get_prompt', { id, ...asked })).content
  it('lead to a version wherever a prompt is read, and to no other one', async () => {
    const id = await save()
    expect(await codeOf(text(id))).toBe('not_found')
    expect(await set(id, 1)).toEqual({ success: true, id, label: 'production', targets: [{ version: 1, weight: 100 }] })
    const one = { content: 'one', label: 'production', version: 1 }
    expect(await test.call(ANONYMOUS, 'get_prompt', { id, label: 'production' })).toMatchObject(one)
    expect(await test.call(ANONYMOUS, 'show_prompt', { id, label: 'production' })).toMatchObject(one)
    expect(await readJson(await test.fetch(`/api/prompts/${id}?label=production`))).toMatchObject(one)
    expect(await readJson(await test.fetch(`/api/prompts/${id}?version=1`))).toMatchObject({ content: 'one', version: 1 })
    expect(await (await test.fetch(`/api/prompts/${id}/raw?label=production`)).text()).toBe('one')
    const embed = async (ref: string) => (await (await test.fetch(`/embed/${ref}`)).text()).replaceAll(/<[^>]*>/g, ' ')
    expect(await embed(`${id}@production`)).toMatch(/\sone\s/)
    expect(await embed(id)).toMatch(/\stwo\s/)
    expect((await test.fetch(`/embed/${id}@staging`)).status).toBe(404)
    const { slug } = Object(await test.call(ANONYMOUS, 'show_prompt', { id }))
    for (const [name, expected] of [
      [slug, 'two'],
      [`${slug}@production`, 'one'],
      [`${slug}@1`, 'one'],
      [`${slug}@latest`, 'two'],
    ])
      expect(await test.call(ANONYMOUS, 'render_exposed_prompt', { name }), name).toMatchObject({ text: expected })
    expect(await text(id, { label: 'latest' })).toBe('two')
    expect(await text(id, {})).toBe('two')
    for (const asked of [{ label: 'staging' }, { version: 3 }]) expect(await codeOf(text(id, asked))).toBe('not_found')
    for (const asked of [{ label: 'Bad' }, { label: 'main' }, { version: 0 }, { version: 2 ** 31 }, { label: 'production', version: 1 }])
      expect(await codeOf(text(id, asked)), JSON.stringify(asked)).toBe('invalid_input')
    // What is answered without asking is as it was, but for the name of the label.
    const plain = Object(await test.call(ANONYMOUS, 'get_prompt', { id }))
    expect([plain.labels, plain.label, plain.version]).toEqual([['production'], undefined, undefined])
  })

  it('of skills lead to the files of the version', async () => {
    const saved = Object(await test.call(ada.actor, 'save_skill', { title: 'Skill', files: skillOf('one'), visibility: 'public' }))
    const { id } = saved.skill
    await test.call(ada.actor, 'update_skill_file', { skillId: id, filename: 'SKILL.md', content: skillOf('two')[0]?.content })
    await test.call(ada.actor, 'add_file_to_skill', { skillId: id, filename: 'more.md', content: 'more' })
    await test.call(ada.actor, 'set_label', { collection: 'skills', id, label: 'production', version: 1 })
    const skill = Object(await test.call(ANONYMOUS, 'get_skill', { id, label: 'production' }))
    expect([skill.version, skill.files.map(({ filename, content }: Record<string, string>) => [filename, content])]).toEqual([
      1,
      [['SKILL.md', skillOf('one')[0]?.content]],
    ])
    const file = (path: string) => test.fetch(`/api/skills/${id}/files/${path}`)
    expect(await (await file('SKILL.md?label=production')).text()).toContain('\none\n')
    expect([(await file('more.md')).status, (await file('more.md?label=production')).status]).toEqual([200, 404])
  })

  it('are moved with a reason, kept, undone by one call, and never overtake another move', async () => {
    const id = await save()
    await set(id, 1, { reason: 'First.' })
    await set(id, 2, { reason: 'Better.', ifVersion: 1 })
    expect(await text(id)).toBe('two')
    expect(await codeOf(set(id, 1, { ifVersion: 1 }))).toBe('conflict')
    await test.call(ada.actor, 'undo_label', target(id))
    expect(await text(id)).toBe('one')
    await test.call(ada.actor, 'remove_label', { ...target(id), reason: 'Over.' })
    expect(await codeOf(text(id))).toBe('not_found')
    expect(await codeOf(test.call(ada.actor, 'remove_label', target(id)))).toBe('not_found')
    await test.call(ada.actor, 'undo_label', target(id))
    const { labels, moves } = Object(await test.call(ada.actor, 'list_labels', { collection: 'prompts', id }))
    expect(labels).toEqual([{ name: 'production', targets: [{ version: 1, weight: 100 }] }])
    const short = (targets: { version: number }[] | null | undefined) => targets && targets.map(({ version }) => version)
    expect(moves.map((one: Record<string, never>) => [short(one['from']), short(one['to']), one['reason'], one['author']])).toEqual([
      [null, [1], null, 'ada'],
      [[1], null, 'Over.', 'ada'],
      [[2], [1], null, 'ada'],
      [[1], [2], 'Better.', 'ada'],
      [null, [1], 'First.', 'ada'],
    ])
    // Others see where it points, and not who moved it or why.
    expect(await test.call(eve.actor, 'list_labels', { collection: 'prompts', id })).toEqual({ labels, moves: [], nextBefore: null })
    const events = await test.app.store.audit.listEvents({ ...ada.actor, scopes: new Set([...ada.actor.scopes, 'account']) } as never, {
      limit: 20,
    })
    expect(
      events
        .filter(({ action }) => action.startsWith('label_'))
        .slice(0, 5)
        .map(({ action }) => action)
        .sort(),
    ).toEqual(['label_moved', 'label_moved', 'label_moved', 'label_moved', 'label_removed'])
  })

  it('are moved by whoever may edit, and protected ones by maintainers alone', async () => {
    await test.call(account(ada.actor), 'create_team', { team: 'crew' })
    await test.call(account(ada.actor), 'set_team_member', { team: 'crew', username: 'eve', role: 'editor' })
    const id = await save({ owner: 'crew' })
    expect(await codeOf(set(await save(), 1, {}, eve.actor))).toBe('forbidden')
    expect(await codeOf(set(id, 1, {}, ANONYMOUS))).toBe('unauthenticated')
    await set(id, 1, {}, eve.actor)
    const rule = (fields: object, by: Actor = account(ada.actor)) =>
      test.call(by, 'set_label_rule', { owner: 'crew', name: 'production', ...fields })
    expect(await codeOf(rule({ isProtected: true }, account(eve.actor)))).toBe('forbidden')
    expect(await codeOf(rule({ isProtected: true, isAutomatic: true }))).toBe('invalid_input')
    await rule({ isProtected: true })
    for (const work of [
      set(id, 2, {}, eve.actor),
      test.call(eve.actor, 'undo_label', target(id)),
      test.call(eve.actor, 'remove_label', target(id)),
    ])
      expect(await codeOf(work)).toBe('forbidden')
    expect(await text(id)).toBe('one')
    await set(id, 2)
    expect(await text(id)).toBe('two')
    // Other labels are free, and a rule that says nothing is none.
    await test.call(eve.actor, 'set_label', { ...target(id, 'staging'), version: 1 })
    await rule({})
    await set(id, 1, {}, eve.actor)
    // New versions get a label by themselves where the owner wants that.
    await rule({ isAutomatic: true })
    await test.call(eve.actor, 'update_prompt', { id, content: 'three' })
    expect(await text(id)).toBe('three')
    expect(await text(await save({ owner: 'crew' }))).toBe('two')
    expect(await test.call(account(eve.actor), 'list_label_rules', { owner: 'crew' })).toEqual({
      rules: [{ name: 'production', isProtected: false, isAutomatic: true }],
      canChange: false,
    })
  })

  it('lead others to no version that they may not see, and publishing shows the newest alone', async () => {
    const id = await save({ visibility: 'private' })
    const moved = await set(id, 1)
    expect(moved['unseenByOthers']).toBeUndefined()
    for (const by of [ANONYMOUS, eve.actor])
      expect(await codeOf(test.call(by, 'list_labels', { collection: 'prompts', id }))).toBe('not_found')
    expect(await codeOf(text(id))).toBe('not_found')
    expect(await text(id, { label: 'production' }, ada.actor)).toBe('one')
    await test.call(ada.actor, 'update_prompt', { id, visibility: 'public' })
    // Version 1 was written while only its owner saw it.
    expect([await text(id, {}), await codeOf(text(id))]).toEqual(['two', 'not_found'])
    expect(Object(await test.call(ANONYMOUS, 'show_prompt', { id })).labels).toBeUndefined()
    expect(Object(await test.call(ANONYMOUS, 'list_labels', { collection: 'prompts', id })).labels).toEqual([])
    const found = async (by: Actor) =>
      Object(await test.call(by, 'list_prompts', { label: 'production' })).prompts.some((one: { id: string }) => one.id === id)
    expect([await found(ANONYMOUS), await found(eve.actor), await found(ada.actor)]).toEqual([false, false, true])
    expect((await set(id, 2))['unseenByOthers']).toBeUndefined()
    expect([await text(id), await found(ANONYMOUS)]).toEqual(['two', true])
    expect((await set(id, 1))['unseenByOthers']).toEqual([1])
  })

  it('are shared by weights, and the answer says which version a caller gets', async () => {
    const id = await save()
    const targets = [
      { version: 1, weight: 30 },
      { version: 2, weight: 70 },
    ]
    expect(await test.call(ada.actor, 'set_label', { ...target(id), targets })).toMatchObject({ targets: targets.toReversed() })
    const bucketed = await test.fetch(`/api/prompts/${id}?label=production&bucket=a`)
    expect(bucketed.headers.get('cache-control')).toBe('no-store')
    const first = await readJson(bucketed)
    expect(first).toMatchObject({ label: 'production', bucket: 'a', content: first.version === 1 ? 'one' : 'two' })
    expect(await readJson(await test.fetch(`/api/prompts/${id}?label=production&bucket=a`))).toMatchObject({ version: first.version })
    // Without a bucket it is the person behind the key, and for a stranger the largest share.
    expect(await test.call(eve.actor, 'get_prompt', { id, label: 'production' })).toMatchObject({ bucket: eve.actor.userId })
    const plain = await test.fetch(`/api/prompts/${id}?label=production`)
    expect(plain.headers.get('etag')).not.toBeNull()
    expect(await readJson(plain)).toMatchObject({ version: 2, content: 'two' })
    const buckets = Array.from({ length: 200 }, (_, n) => `${n}`)
    const got = await Promise.all(
      buckets.map(async (bucket) => Object(await test.call(ANONYMOUS, 'get_prompt', { id, label: 'production', bucket })).version),
    )
    expect(new Set(got)).toEqual(new Set([1, 2]))
    const reopened = await test.reopen()
    expect(Object(await reopened.call(ANONYMOUS, 'get_prompt', { id, label: 'production', bucket: 'a' })).version).toBe(first.version)
    await reopened.close()
    for (const bad of [
      [{ version: 1, weight: 50 }],
      [
        { version: 1, weight: 50 },
        { version: 1, weight: 50 },
      ],
    ])
      expect(await codeOf(test.call(ada.actor, 'set_label', { ...target(id), targets: bad }))).toBe('invalid_input')
    expect(await codeOf(test.call(ada.actor, 'set_label', { ...target(id), targets, version: 1 }))).toBe('invalid_input')
  })

  it('go with their version, their item, and nothing else', async () => {
    const id = await save({}, ['one', 'two', 'three'])
    await set(id, 1)
    await test.call(ada.actor, 'set_label', { ...target(id, 'staging'), version: 2 })
    expect(await codeOf(set(id, 9))).toBe('not_found')
    await test.call(account(ada.actor), 'purge_versions', { collection: 'prompts', id, first: 1, last: 1 })
    const { labels, moves } = Object(await test.call(ada.actor, 'list_labels', { collection: 'prompts', id }))
    expect([labels.map(({ name }: { name: string }) => name), moves[0]]).toEqual([
      ['staging'],
      expect.objectContaining({ label: 'production', to: null, author: null }),
    ])
    expect(await codeOf(set(id, 1))).toBe('not_found')
    await test.call(ada.actor, 'delete_item', { collection: 'prompts', id })
    expect([await codeOf(set(id, 2)), await codeOf(text(id, { label: 'staging' }, ada.actor))]).toEqual(['not_found', 'not_found'])
    await test.call(ada.actor, 'restore_item', { collection: 'prompts', id })
    expect(await text(id, { label: 'staging' })).toBe('two')
  })

  it('are each moved once by many at once, and the last move is the state', async () => {
    const id = await save({}, ['one', 'two', 'three'])
    await Promise.all(Array.from({ length: 200 }, (_, n) => set(id, (n % 3) + 1, { reason: String(n) })))
    const moves: { from: unknown; to: unknown; move: number }[] = []
    for (let before: number | null | undefined; before !== null; ) {
      const page = Object(await test.call(ada.actor, 'list_labels', { collection: 'prompts', id, limit: 100, ...(before && { before }) }))
      moves.push(...page.moves)
      before = page.nextBefore
    }
    // Each begins where the one before ended.
    expect(moves.length).toBe(200)
    for (const [place, move] of moves.entries()) expect(move.from).toEqual(moves[place + 1]?.to ?? null)
    const { labels } = Object(await test.call(ada.actor, 'list_labels', { collection: 'prompts', id }))
    expect(labels[0].targets).toEqual(moves[0]?.to)
  })

  it('are a filter of lists, with everything at the label and one ETag', async () => {
    const ids = [await save({ title: 'Lemur one' }), await save({ title: 'Lemur two' })]
    await save({ title: 'Lemur three' })
    for (const id of ids) await test.call(ada.actor, 'set_label', { ...target(id, 'lemurs'), version: 1 })
    const answer = await test.fetch('/api/prompts?label=lemurs')
    const { prompts, total } = await readJson(answer)
    expect([total, prompts.map((one: Record<string, string>) => [one['title'], one['content'], one['version']])]).toEqual([
      2,
      [
        ['Lemur one', 'one', 1],
        ['Lemur two', 'one', 1],
      ],
    ])
    const etag = answer.headers.get('etag') ?? ''
    const again = (path = '/api/prompts?label=lemurs') => test.fetch(path, { headers: { 'if-none-match': etag } })
    expect((await again()).status).toBe(304)
    await test.call(ada.actor, 'set_label', { ...target(ids[0] ?? '', 'lemurs'), version: 2 })
    const moved = await again()
    expect([moved.status, (await readJson(moved)).prompts[0].content]).toEqual([200, 'two'])
    expect((await readJson(await test.fetch('/api/prompts?label=lemurs&q=lemur'))).total).toBe(2)
    expect((await readJson(await test.fetch('/api/skills?label=lemurs'))).total).toBe(0)
    expect((await test.fetch('/api/prompts?label=latest')).status).toBe(400)
  })

  it('are refused in words, by name and number', async () => {
    const id = await save()
    for (const label of ['latest', 'HEAD', 'a..b', '.x', 'x.lock', 'x'.repeat(37)])
      expect(await codeOf(test.call(ada.actor, 'set_label', { ...target(id), label, version: 1 })), label).toBe('invalid_input')
    const put = (path: string, body: object) => test.fetch(`/api/prompts/${id}/labels/${path}`, { ...json('PUT', body), key: ada.key })
    expect((await put('production', { version: 1, reason: 'x'.repeat(501) })).status).toBe(400)
    expect((await put('production', { version: 1, reason: 'x'.repeat(500) })).status).toBe(200)
    for (let n = 0; n < 19; n++) expect((await put(`l${n}`, { version: 1 })).status).toBe(200)
    expect(await readJson(await put('one-more', { version: 1 }))).toMatchObject({ message: expect.stringContaining('20 labels') })
    // `name@2` is a version. Labels that were called so before are still read, and removed.
    const other = await save()
    const refused = { code: 'invalid_input', message: expect.stringContaining('has digits alone') }
    await expect(test.call(ada.actor, 'set_label', { ...target(other, '2'), version: 1 })).rejects.toMatchObject(refused)
    await expect(test.call(account(ada.actor), 'set_label_rule', { name: '2', isAutomatic: true })).rejects.toMatchObject(refused)
    const earlier = { to: [{ version: 1, weight: 100 }], reason: null }
    await test.app.store.labels.moveLabel('prompt', other, { userId: ada.actor.userId, note: null }, '2', () => earlier)
    expect([await text(other, { label: '2' }), await text(other, { version: 2 })]).toEqual(['one', 'two'])
    expect(await test.call(ada.actor, 'remove_label', target(other, '2'))).toMatchObject({ targets: null })
  })
})
