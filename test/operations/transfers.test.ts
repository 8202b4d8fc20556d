import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS } from '../../src/library/actor.ts'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

async function refusal(call: Promise<unknown>): Promise<[string, string]> {
  const error = await call.then(
    () => ({ code: 'none', message: 'it was done' }),
    (thrown: unknown) => Object(thrown),
  )
  return [error.code, error.message]
}

const OVER = ['not_found', 'Offer not found. It was accepted, declined or withdrawn, has expired, or the item was deleted for good.']

describe('transfers', () => {
  let test: TestApp
  let ann: UserActor
  let ben: UserActor
  let eve: UserActor
  let made = 0
  let team = ''

  const call = (actor: Actor, name: string, input: object = {}) => test.call(actor, name, input)
  const save = async (actor: Actor, more: object = {}) =>
    Object((await call(actor, 'save_prompt', { title: `Item ${++made}`, content: 'one', visibility: 'private', ...more })).prompt)
  const offer = async (actor: Actor, id: string, to: string, more: object = {}) =>
    await call(actor, 'offer_item', { collection: 'prompts', id, to, ...more })
  const offerIdOf = async (actor: Actor, id: string, to: string, more: object = {}) =>
    Object((await offer(actor, id, to, more))['offer']).id
  const sees = async (actor: Actor, ref: string) => (await refusal(call(actor, 'show_prompt', { id: ref })))[0] === 'none'

  beforeAll(async () => {
    test = await testApp()
    await signUp(test, 'root')
    ann = (await test.user('ann')).actor
    ben = (await test.user('ben')).actor
    eve = (await test.user('eve')).actor
  })
  beforeEach(async () => {
    team = `team-${++made}`
    await call(ann, 'create_team', { team })
  })
  afterAll(() => test.close())

  it('give an item to a person who accepts, with its address, versions and votes', async () => {
    const { id, slug } = await save(ann, { visibility: 'public' })
    await call(eve, 'vote', { collection: 'prompts', id })
    await call(ann, 'update_prompt', { id, content: 'two', visibility: 'private' })
    const answer = await offer(ann, id, 'BEN')
    expect(answer).toMatchObject({ state: 'offered', privateVersions: 0, offer: { from: 'ann', to: 'ben', offeredBy: 'ann', itemId: id } })
    const offerId = Object(answer['offer']).id
    // Nothing has changed yet.
    expect([await sees(ann, id), await sees(ben, id)]).toEqual([true, false])
    expect(await call(ben, 'list_offers')).toMatchObject({ incoming: [{ id: offerId }], outgoing: [] })
    expect(await call(ann, 'list_offers')).toMatchObject({ incoming: [], outgoing: [{ id: offerId }] })
    expect(await call(eve, 'list_offers')).toEqual({ incoming: [], outgoing: [] })
    for (const actor of [eve, ann]) expect(await refusal(call(actor, 'accept_offer', { id: offerId }))).toEqual(OVER)
    await call(ben, 'accept_offer', { id: offerId })
    expect([await sees(ann, id), await sees(ann, slug), await sees(ben, slug)]).toEqual([false, false, true])
    const shown = await call(ben, 'show_prompt', { id: slug })
    expect(shown).toMatchObject({ id, votes: 1, content: 'two' })
    expect(Object(await call(ben, 'list_versions', { collection: 'prompts', id })).versions).toHaveLength(2)
    expect(await refusal(call(ben, 'accept_offer', { id: offerId }))).toEqual(OVER)
    expect(await call(ben, 'list_offers')).toEqual({ incoming: [], outgoing: [] })
    // It is found by its new owner, in lists too.
    expect(Object(await call(ben, 'list_prompts', { q: `Item ${made}` })).prompts).toContainEqual(expect.objectContaining({ id }))
  })

  it('are made and taken by maintainers alone', async () => {
    await call(ann, 'set_team_member', { team, username: 'ben', role: 'editor' })
    const { id } = await save(ann, { owner: team })
    expect((await refusal(offer(ben, id, 'ben')))[1]).toBe('You are an editor of the team; only a maintainer can transfer this prompt.')
    expect((await refusal(call(ben, 'show_offer', { collection: 'prompts', id })))[0]).toBe('forbidden')
    expect((await refusal(call(eve, 'show_offer', { collection: 'prompts', id })))[0]).toBe('not_found')
    expect((await refusal(offer(eve, id, 'eve')))[0]).toBe('not_found')
    // To a team whose editor somebody is, it takes a maintainer of it.
    const { id: own } = await save(ben)
    const offerId = await offerIdOf(ben, own, team)
    expect(await refusal(call(ben, 'accept_offer', { id: offerId }))).toEqual(OVER)
    await call(ann, 'accept_offer', { id: offerId })
    expect([await sees(ann, own), await sees(ben, own)]).toEqual([true, true])
    const open = await save(ann, { visibility: 'public' })
    expect((await refusal(offer(eve, open.id, 'eve')))[1]).toBe('Only the owner can transfer this prompt.')
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
    expect(await read()).toEqual([200, true])
    const { offer: made } = await call(actor, 'offer_item', { collection: 'skills', id, to: 'ben' })
    expect(await read()).toEqual([200, true])
    await call(ben, 'accept_offer', { id: Object(made).id })
    expect(await read()).toEqual([404, false])
  })

  it('tell how many versions were private, and leave them out for good where asked to', async () => {
    const { id } = await save(ann)
    await call(ann, 'update_prompt', { id, content: 'secret canary' })
    await call(ann, 'update_prompt', { id, content: 'three', visibility: 'public' })
    await call(ann, 'update_prompt', { id, content: 'four' })
    expect(await call(ann, 'show_offer', { collection: 'prompts', id })).toMatchObject({ versions: 4, privateVersions: 2, offer: null })
    const offerId = await offerIdOf(ann, id, 'ben', { leaveOutPrivate: true })
    expect(await call(ann, 'show_offer', { collection: 'prompts', id })).toMatchObject({ versions: 4, offer: { leaveOutPrivate: true } })
    await call(ben, 'accept_offer', { id: offerId })
    const { versions } = Object(await call(ben, 'list_versions', { collection: 'prompts', id }))
    expect(versions.map(({ version }: { version: number }) => version)).toEqual([4, 3])
    expect(await test.readEverything()).not.toContain('secret canary')
    // Where nothing is left out, the new owner sees them.
    const kept = await save(ann)
    await call(ann, 'update_prompt', { id: kept.id, content: 'two' })
    await call(ben, 'accept_offer', { id: await offerIdOf(ann, kept.id, 'ben') })
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
    for (const to of ['ben', team]) {
      expect(await refusal(remove(to))).toEqual([
        'forbidden',
        `Items are handed to a team that you maintain. Offer them to ${to} instead, and delete the account when they were accepted.`,
      ])
    }
    expect((await refusal(remove('nobody')))[0]).toBe('not_found')
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
    expect((await refusal(test.app.store.people.createUser({ username: name, defaultVisibility: 'private' })))[0]).toBe('conflict')
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
    for (const to of ['root', own]) expect((await refusal(remove(to)))[1]).toMatch(/^An administrator may not hand items to themselves/)
    expect((await refusal(remove(name)))[0]).toBe('conflict')
    expect(await sees(actor, id)).toBe(true)
    await remove(team)
    expect([await sees(ann, id), await sees(admin, id)]).toEqual([true, false])
  })
})
