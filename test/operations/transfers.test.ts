import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS } from '../../src/domain/people/actor.ts'
import { refusalOf, useTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

describe('transfers', () => {
  const test = useTestApp()
  let ann: UserActor
  let ben: UserActor
  let eve: UserActor
  let made = 0
  let team = ''

  const call = (actor: Actor, name: string, input: object = {}) => test.call(actor, name, input)
  const save = async (actor: Actor, more: object = {}) =>
    Object((await call(actor, 'save_prompt', { title: `Item ${++made}`, content: 'one', visibility: 'private', ...more })).prompt)
  const give = async (actor: Actor, id: string, to: string, more: object = {}) =>
    await call(actor, 'transfer_item', { collection: 'prompts', id, to, ...more })
  const actionsOf = async (actor: Actor, name: string): Promise<string[]> =>
    Object(await call(actor, 'list_team_activity', { team: name })).events.map(({ action }: { action: string }) => action)
  const ownActions = async (actor: Actor): Promise<string[]> =>
    Object(await call({ ...actor, scopes: new Set(ADMIN_RIGHTS) } as UserActor, 'list_own_activity', {})).events.map(
      ({ action }: { action: string }) => action,
    )
  const sees = async (actor: Actor, ref: string) => (await refusalOf(call(actor, 'show_prompt', { id: ref })))[0] === 'none'

  beforeAll(async () => {
    await signUp(test, 'root')
    ann = (await test.user('ann')).actor
    ben = (await test.user('ben')).actor
    eve = (await test.user('eve')).actor
  })
  beforeEach(async () => {
    team = `team-${++made}`
    await call(ann, 'create_team', { team })
  })

  it('give an item at once to a team that its owner edits for, with its address, versions and votes', async () => {
    const { id, slug } = await save(ben, { visibility: 'members' })
    await call(eve, 'vote', { collection: 'prompts', id })
    await call(ben, 'update_prompt', { id, content: 'two' })
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'editor' })
    await call(ann, 'update_team', { team, defaultVisibility: 'members' })
    expect(await call(ben, 'show_transfer', { collection: 'prompts', id })).toEqual({
      itemId: id,
      title: expect.any(String),
      visibility: 'members',
      versions: 2,
      privateVersions: 0,
      receivers: [{ name: team, visibility: 'members' }],
    })
    expect(await give(ben, id, team.toUpperCase())).toEqual({ success: true, owner: team, visibility: 'members' })
    const shown = await call(ann, 'show_prompt', { id: slug })
    expect(shown).toMatchObject({ id, votes: 1, content: 'two' })
    expect(Object(await call(ann, 'list_versions', { collection: 'prompts', id })).versions).toHaveLength(2)
    // It is found by its new owner, in lists too.
    expect(Object(await call(ann, 'list_prompts', { users: ['ben'], q: `Item ${made}` })).prompts).toContainEqual(
      expect.objectContaining({ id }),
    )
    expect((await refusalOf(give(ben, id, 'ben')))[1]).toBe('You are an editor of the team; only a maintainer can transfer this prompt.')
    expect(await actionsOf(ann, team)).toContain('item_received')
    expect(await ownActions(ben)).toContain('item_given')
  })

  it('make an item private where the giver may not publish, and say so before', async () => {
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'editor' })
    const { id } = await save(ben, { visibility: 'public' })
    expect(await call(ben, 'show_transfer', { collection: 'prompts', id })).toMatchObject({
      visibility: 'public',
      receivers: expect.arrayContaining([{ name: team, visibility: 'private' }]),
    })
    expect(await refusalOf(give(ben, id, team))).toEqual([
      'conflict',
      `This prompt is public, and you may not publish for ${team}: it would become private. Allow that with makePrivate.`,
    ])
    expect(await sees(eve, id)).toBe(true)
    expect(await give(ben, id, team, { makePrivate: true })).toMatchObject({ visibility: 'private' })
    expect([await sees(eve, id), await sees(ann, id)]).toEqual([false, true])
    // Maintainers publish: nothing changes with them.
    const open = await save(ann, { visibility: 'public' })
    expect(await give(ann, open.id, team, { makePrivate: true })).toMatchObject({ visibility: 'public' })
  })

  it('lift no hold of an administrator', async () => {
    const { id } = await save(ann, { visibility: 'public' })
    const root: UserActor = { ...ann, userId: (await test.app.store.people.findPersonByName('root'))?.id ?? '' }
    const admin: UserActor = { ...root, username: 'root', scopes: new Set(ADMIN_RIGHTS), sessionId: 's' }
    await call(admin, 'set_held', { collection: 'prompts', id, isHeld: true })
    expect(await give(ann, id, team)).toMatchObject({ visibility: 'unlisted' })
    expect((await refusalOf(call(ann, 'update_prompt', { id, visibility: 'public' })))[0]).toBe('forbidden')
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'maintainer' })
    await give(ben, id, 'ben')
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'editor' })
    await give(ben, id, team, { makePrivate: true })
    expect((await refusalOf(call(ann, 'update_prompt', { id, visibility: 'public' })))[0]).toBe('forbidden')
  })

  it('are made by maintainers alone, who take an item out of a team for themselves', async () => {
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'reader' })
    const { id } = await save(ann, { owner: team })
    expect((await refusalOf(give(ben, id, 'ben')))[1]).toBe('You are a reader of the team; only a maintainer can transfer this prompt.')
    expect((await refusalOf(call(ben, 'show_transfer', { collection: 'prompts', id })))[0]).toBe('forbidden')
    expect((await refusalOf(call(eve, 'show_transfer', { collection: 'prompts', id })))[0]).toBe('not_found')
    expect((await refusalOf(give(eve, id, 'eve')))[0]).toBe('not_found')
    const { id: own } = await save(ben)
    expect((await refusalOf(give(ben, own, team)))[1]).toMatch(/^You are a reader of the team; only an editor or a maintainer/)
    // No item is pushed to a person, and a team that one is not in is as one that there is not.
    for (const [actor, to] of [
      [ben, 'eve'],
      [eve, team],
      [eve, 'nobody'],
    ] as const) {
      const item = await save(actor)
      expect(await refusalOf(give(actor, item.id, to))).toEqual([
        'not_found',
        `You are in no team named "${to}". An item goes to a team that you edit for, or from a team to yourself.`,
      ])
    }
    expect(await give(ann, id, 'ann')).toMatchObject({ owner: 'ann', visibility: 'private' })
    expect([await sees(ann, id), await sees(ben, id)]).toEqual([true, false])
    expect((await refusalOf(give(ann, id, 'ann')))[1]).toBe('This prompt belongs to ann already.')
    const open = await save(ann, { visibility: 'public' })
    expect((await refusalOf(give(eve, open.id, 'eve')))[1]).toBe('Only the owner can transfer this prompt.')
  })

  it('end what keys and install links of the giver reach', async () => {
    const { key, actor } = await test.user('giver')
    const files = [{ filename: 'SKILL.md', content: '---\nname: given-away\ndescription: d\n---\n' }]
    const { id, slug } = Object((await call(actor, 'save_skill', { title: 'Given away', files, visibility: 'private' }))['skill'])
    const { url } = await call(actor, 'create_install_link', { name: 'link', scope: `/skills/${id}` })
    const index = `${new URL(String(url)).pathname}/.well-known/agent-skills/index.json`
    const read = async () => [
      (await test.fetch(`/api/skills/${slug}`, { key })).status,
      (await (await test.fetch(index)).text()).includes('given-away'),
    ]
    await call(ann, 'set_team_member', { team, username: 'giver', role: 'editor' })
    await call(actor, 'transfer_item', { collection: 'skills', id, to: team })
    expect(await read()).toEqual([200, true])
    await call(ann, 'transfer_item', { collection: 'skills', id, to: 'ann' })
    expect(await read()).toEqual([404, false])
  })

  it('tell how many versions were private, and leave them out for good where asked to', async () => {
    const { id } = await save(ann)
    await call(ann, 'update_prompt', { id, content: 'secret canary' })
    await call(ann, 'update_prompt', { id, content: 'three', visibility: 'public' })
    await call(ann, 'update_prompt', { id, content: 'four' })
    expect(await call(ann, 'show_transfer', { collection: 'prompts', id })).toMatchObject({ versions: 4, privateVersions: 2 })
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'reader' })
    await give(ann, id, team, { leaveOutPrivate: true })
    const { versions } = Object(await call(ben, 'list_versions', { collection: 'prompts', id }))
    expect(versions.map(({ version }: { version: number }) => version)).toEqual([4, 3])
    expect(await test.readEverything()).not.toContain('secret canary')
    // Where nothing is left out, the new owner sees them.
    const kept = await save(ann)
    await call(ann, 'update_prompt', { id: kept.id, content: 'two' })
    await give(ann, kept.id, team)
    expect(Object(await call(ben, 'list_versions', { collection: 'prompts', id: kept.id })).versions).toHaveLength(2)
  })

  it('hand what somebody owns to a team they maintain, where they delete their account', async () => {
    const name = `leaver-${made}`
    await signUp(test, name)
    const person = await test.app.store.people.findPersonByName(name)
    const leaver: UserActor = { kind: 'user', userId: person?.id ?? '', username: name, scopes: new Set(ADMIN_RIGHTS), sessionId: 's' }
    const kept = await save(leaver)
    const open = await save(leaver, { visibility: 'public' })
    const trashed = await save(leaver)
    await call(leaver, 'delete_item', { collection: 'prompts', id: trashed.id })
    const remove = (handOverTo: string) => call(leaver, 'delete_account', { password: PASSWORD, username: name, handOverTo })
    for (const to of ['ben', team, 'nobody']) {
      expect(await refusalOf(remove(to))).toEqual([
        'forbidden',
        `You maintain no team named "${to}". Transfer items to teams that you edit for one by one first, or ask an administrator to hand them over.`,
      ])
    }
    expect(await sees(leaver, kept.id)).toBe(true)
    await call(ann, 'set_team_member', { team, username: name, role: 'maintainer' })
    await remove(team)
    expect([await sees(ann, kept.slug), await sees(eve, open.slug), await sees(eve, kept.id)]).toEqual([true, true, false])
    await call(ann, 'restore_item', { collection: 'prompts', id: trashed.id })
    expect(await sees(ann, trashed.id)).toBe(true)
    expect(Object(await call(ann, 'list_team_activity', { team, limit: 9 })).events).toContainEqual(
      expect.objectContaining({ action: 'items_handed_over', detail: { created: 3 } }),
    )
    // Something public was theirs, so nobody else gets the name.
    expect((await refusalOf(test.app.store.people.createUser({ username: name, defaultVisibility: 'private' })))[0]).toBe('conflict')
  })

  it('let administrators hand over what a leaver owns, not to themselves', async () => {
    const { store } = test.app
    const root = await store.people.findPersonByName('root')
    const admin: UserActor = { kind: 'user', userId: root?.id ?? '', username: 'root', scopes: new Set(ADMIN_RIGHTS), sessionId: 's' }
    const name = `leaver-${made}`
    const { actor } = await test.user(name)
    const { id } = await save(actor)
    const own = `${team}-of-root`
    await call(admin, 'create_team', { team: own })
    const remove = (handOverTo: string) => call(admin, 'delete_person', { username: name, confirm: name, handOverTo })
    for (const to of ['root', own]) expect((await refusalOf(remove(to)))[1]).toMatch(/^An administrator may not hand items to themselves/)
    expect((await refusalOf(remove(name)))[0]).toBe('conflict')
    expect(await sees(actor, id)).toBe(true)
    await remove(team)
    expect([await sees(ann, id), await sees(admin, id)]).toEqual([true, false])
  })
})
