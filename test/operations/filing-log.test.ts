import { beforeAll, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { readTip } from '../support/git-tip.ts'
import { type TestApp, testApp, useTestApp } from '../support/test-app.ts'

type User = Awaited<ReturnType<TestApp['user']>>['actor']

/** Where an item was filed before: who is told of it, who pays for it, and how it goes. */
describe('earlier tags, categories and visibilities', () => {
  const test = useTestApp()
  let ada: User
  let bob: User
  const as = async (name: string, scopes: ReadonlySet<string>): Promise<User> => ({
    ...(await test.user(name)).actor,
    scopes: scopes as User['scopes'],
  })
  beforeAll(async () => {
    ada = await as('ada', new Set(['read', 'write', 'account', 'admin']))
    bob = await as('bob', new Set(['read', 'write', 'account']))
    await test.call(bob, 'create_team', { team: 'bobs' })
    await test.call(bob, 'set_team_member', { team: 'bobs', username: 'ada', role: 'maintainer' })
  })

  const save = async (fields: object = {}, by = ada): Promise<string> =>
    Object((await test.call(by, 'save_prompt', { title: 'Walrus', content: 'A text.', ...fields })).prompt).id
  const update = (id: string, fields: object, by = ada) => test.call(by, 'update_prompt', { id, ...fields })
  const seen = async (id: string) =>
    Object(await test.call(ANONYMOUS, 'list_versions', { collection: 'prompts', id })).versions.map(
      ({ version }: { version: number }) => version,
    )
  const logged = async (id: string, by: User | typeof ANONYMOUS): Promise<string[][]> => {
    const { changes } = Object(await test.call(by, 'list_shared_changes', { scope: `/prompts/${id}`, kind: 'prompt' }))
    const asked = { changes: changes.map(({ seq }: { seq: number }) => seq) }
    return Object(await test.call(by, 'read_shared_versions', asked)).versions.map(({ tags }: { tags: string[] }) => tags)
  }
  const tip = (id: string, from: Pick<TestApp, 'fetch'> = test) => readTip(from.fetch, `/prompts/${id}.git`)

  it('are deleted for good with the versions before, where the newest is the last one named', async () => {
    const id = await save({ tags: ['oops-first'], visibility: 'public' })
    const purge = (first: number, last: number) => test.call(ada, 'purge_versions', { collection: 'prompts', id, first, last })
    const preview = async () => Object(await test.call(ada, 'show_purge', { collection: 'prompts', id })).hasEarlierTags
    expect(await preview()).toBe(false)
    await expect(purge(1, 1)).rejects.toMatchObject({ code: 'conflict' })
    await update(id, { tags: ['fine'], category: 'coding' })
    expect([await preview(), await logged(id, ANONYMOUS)]).toEqual([true, [['oops-first'], ['fine']]])
    expect(await purge(1, 1)).toMatchObject({ removed: 1 })
    expect((await logged(id, ANONYMOUS)).flat()).not.toContain('oops-first')
    await expect(purge(1, 1)).rejects.toMatchObject({ code: 'conflict' })
    // What the public saw last is kept as they saw it, until it is deleted.
    await update(id, { content: 'Later.', tags: ['oops-second'] })
    await update(id, { visibility: 'private' })
    await update(id, { tags: ['clean'] })
    expect(await purge(1, 2)).toMatchObject({ removed: 3 })
    await update(id, { content: 'Last.' })
    await update(id, { visibility: 'public' })
    expect([await seen(id), await logged(id, ANONYMOUS)]).toEqual([[3], [['clean']]])
    expect(await test.readEverything()).not.toContain('oops-')
    await expect(purge(1, 9)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('count as versions for their owner, except where fewer see an item or an administrator lists it again', async () => {
    const small = await testApp({ QUOTA_PER_OWNER: { items: 10, versions: 5, bytes: 100_000, words: 1000 } })
    const one: User = { ...(await small.user('one')).actor, scopes: ada.scopes }
    const prompt = Object((await small.call(one, 'save_prompt', { title: 'Flip', content: 'A text.', visibility: 'public' })).prompt)
    const target = { collection: 'prompts', id: prompt.id }
    const change = (fields: object) => small.call(one, 'update_prompt', { id: prompt.id, ...fields })
    const used = async (by = one) => {
      const { keeps } = Object(await small.call(by, 'show_account', {}))
      return keeps.find(({ part }: { part: string }) => part === 'versions').used
    }
    const hold = (isHeld: boolean) => small.call(one, 'set_held', { ...target, isHeld })
    await hold(true)
    for (const tag of ['a', 'b', 'a', 'b']) await change({ tags: [tag] })
    await change({ tags: ['b'] })
    expect(await used()).toBe(5)
    await expect(change({ tags: ['a long tag'] })).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('room for 0 versions'),
    })
    await hold(false)
    await change({ visibility: 'members' })
    await expect(change({ visibility: 'public' })).rejects.toMatchObject({ code: 'too_large' })
    expect(await small.call(ANONYMOUS, 'list_versions', target).catch(({ code }) => code)).toBe('not_found')
    expect(await small.call(one, 'get_version', { ...target, version: 1 })).toMatchObject({ visibility: 'public', tags: ['b'] })
    // They go over with the item, and go with it.
    const two: User = { ...(await small.user('two')).actor, scopes: one.scopes }
    await small.call(one, 'create_team', { team: 'crew' })
    await small.call(one, 'set_team_member', { team: 'crew', username: 'two', role: 'maintainer' })
    await small.call(one, 'transfer_item', { ...target, to: 'crew' })
    await small.call(two, 'transfer_item', { ...target, to: 'two' })
    expect([await used(), await used(two)]).toEqual([0, 5])
    await small.call(two, 'purge_item', target)
    expect(await used(two)).toBe(0)
    await small.close()
  })

  it('are in a Git history that stays when the account of who filed an item is gone', async () => {
    const mate = await as('mate', new Set(['read', 'write']))
    await test.call(ada, 'create_team', { team: 'crew' })
    await test.call(ada, 'set_team_member', { team: 'crew', username: 'mate', role: 'editor' })
    const id = await save({ title: 'Crewed', visibility: 'public', owner: 'crew' })
    await update(id, { tags: ['mates'] }, mate)
    const before = await tip(id)
    await test.call(ada, 'delete_person', { username: 'mate', confirm: 'mate' })
    const fresh = await test.reopen()
    expect([await tip(id), await tip(id, fresh)]).toEqual([before, before])
    await fresh.close()
  })

  it.each(['public', 'private'])('do not go over with a %s item that is given without what was private', async (visibility) => {
    const id = await save({ visibility: 'public', tags: ['shown-once'] })
    await update(id, { visibility: 'private' })
    await update(id, { tags: ['client-secret'] })
    for (const act of ['delete_items', 'restore_items']) await test.call(ada, act, { collection: 'prompts', ids: [id] })
    await update(id, { tags: ['clean'] })
    if (visibility === 'public') await update(id, { visibility })
    const [history, before] = [await tip(id), await logged(id, ANONYMOUS).catch(() => null)]
    await test.call(ada, 'transfer_item', { collection: 'prompts', id, to: 'bobs', leaveOutPrivate: true })
    expect((await logged(id, bob)).flat()).not.toContain('client-secret')
    expect(await test.readEverything()).not.toContain('client-secret')
    // Nobody else had them, whose history stays.
    expect([await tip(id), await logged(id, ANONYMOUS).catch(() => null)]).toEqual([history, before])
  })
})
