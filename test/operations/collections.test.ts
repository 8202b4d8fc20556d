import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import type { TeamRole } from '../../src/domain/people/teams.ts'
import { readTip } from '../support/git-tip.ts'
import { json, readJson, rpc, useTestApp } from '../support/test-app.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

const INDEX = '.well-known/agent-skills/index.json'

const test = useTestApp()
let owner: UserActor
let other: UserActor
/** By role. */
const members = new Map<TeamRole, UserActor>()

beforeAll(async () => {
  owner = (await test.user('owner')).actor
  other = (await test.user('other')).actor
  for (const role of ['maintainer', 'editor', 'reader'] as const) {
    members.set(role, (await test.user(role)).actor)
    if (role === 'maintainer') await test.call(as(role), 'create_team', { team: 'acme' })
    else await test.call(as('maintainer'), 'set_team_member', { team: 'acme', username: role, role })
  }
})

const as = (role: TeamRole): UserActor => members.get(role) ?? owner
/** The answer, or the code of the error. */
async function attempt(actor: Actor, name: string, input: unknown) {
  return await test.call(actor, name, input).catch((error: { code?: string; message: string }) => {
    if (error.code === undefined || error.code === 'internal') throw error
    return { code: error.code, message: error.message }
  })
}
const codeOf = async (actor: Actor, name: string, input: unknown) => Object(await attempt(actor, name, input)).code ?? 'done'

async function savePrompt(title: string, visibility = 'public', actor = owner): Promise<{ id: string; slug: string }> {
  return Object((await test.call(actor, 'save_prompt', { title, content: `Text of ${title}`, visibility })).prompt)
}

async function saveSkill(name: string, visibility = 'public', actor = owner): Promise<{ id: string; slug: string }> {
  const files = [{ filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: About ${name}\n---\n` }]
  return Object((await test.call(actor, 'save_skill', { title: name, files, visibility })).skill)
}

async function create(fields: Record<string, unknown>, actor = owner): Promise<{ id: string; slug: string; version: number }> {
  return Object((await test.call(actor, 'create_collection', fields)).collection)
}

async function titlesOf(actor: Actor, id: string, page: Record<string, unknown> = {}): Promise<string[]> {
  const { items } = Object(await test.call(actor, 'show_collection', { id, perPage: 100, ...page }))
  return items.map(({ title }: { title: string }) => title)
}

async function listed(actor: Actor, input: Record<string, unknown> = {}): Promise<string[]> {
  const { collections } = Object(await test.call(actor, 'list_collections', { perPage: 100, ...input }))
  return collections.map(({ title }: { title: string }) => title)
}

describe('a collection', () => {
  it('keep the order that they are put in, wherever that is', async () => {
    const { id } = await create({ title: 'Ordered' })
    const items: string[] = []
    for (const title of ['o1', 'o2', 'o3', 'o4', 'o5', 'o6']) items.push((await savePrompt(title)).id)
    const [one, two, three, four, five, six] = items
    const add = (added: unknown[], position?: number) => test.call(owner, 'add_to_collection', { id, items: added, position })
    const move = (item: unknown, place: object) => test.call(owner, 'move_in_collection', { id, item, ...place })
    await add([one, four])
    await add([two, three], 2)
    await test.call(owner, 'remove_from_collection', { id, items: [one] })
    await add([five, one], 1)
    await add([six])
    expect(await titlesOf(owner, id)).toEqual(['o5', 'o1', 'o2', 'o3', 'o4', 'o6'])
    await move(five, { after: four })
    await move(six, { before: two })
    await move(one, { to: 'last' })
    await move(three, { to: 'first' })
    await move(two, { to: 'up' })
    await move(four, { to: 'up' })
    expect(await titlesOf(owner, id)).toEqual(['o3', 'o2', 'o4', 'o6', 'o5', 'o1'])
  })

  it('hold 1,000 items, and no more', async () => {
    const { id } = await create({ title: 'Full' })
    const saved: string[] = []
    for (let part = 0; part < 3; part++) {
      const prompts = Array.from({ length: part < 2 ? 500 : 1 }, (_, index) => ({ title: `full ${part} ${index}`, content: 'x' }))
      const { results } = Object(await test.call(owner, 'save_prompts', { prompts }))
      saved.push(...results.map(({ id: one }: { id: string }) => one))
    }
    for (let at = 0; at < 1_000; at += 100) await test.call(owner, 'add_to_collection', { id, items: saved.slice(at, at + 100) })
    expect(await attempt(owner, 'add_to_collection', { id, items: saved.slice(1_000) })).toEqual({
      code: 'conflict',
      message: 'A collection holds at most 1,000 items.',
    })
  })

  it('keeps items of both kinds in an order, each once', async () => {
    const { id } = await create({ title: 'In order' })
    const items = [await savePrompt('one'), await saveSkill('two'), await savePrompt('three')]
    const [one, two, three] = items.map((item) => item.id)
    const added = await test.call(owner, 'add_to_collection', { id, items: [one, two] })
    expect(added).toMatchObject({ added: 2, collection: { prompts: 1, skills: 1 } })
    expect(await test.call(owner, 'add_to_collection', { id, items: [two, items[0]?.slug, three], position: 1 })).toMatchObject({
      added: 1,
    })
    expect(await titlesOf(owner, id)).toEqual(['three', 'one', 'two'])
    const move = async (item: string | undefined, place: object) => {
      await test.call(owner, 'move_in_collection', { id, item, ...place })
      return await titlesOf(owner, id)
    }
    expect(await move(two, { before: one })).toEqual(['three', 'two', 'one'])
    expect(await move(three, { after: items[0]?.slug })).toEqual(['two', 'one', 'three'])
    expect(await move(two, { to: 'down' })).toEqual(['one', 'two', 'three'])
    expect(await move(three, { to: 'up' })).toEqual(['one', 'three', 'two'])
    expect(await move(two, { to: 'down' })).toEqual(['one', 'three', 'two'])
    expect(await move(two, { to: 'first' })).toEqual(['two', 'one', 'three'])
    expect(await move(two, { to: 'last' })).toEqual(['one', 'three', 'two'])
    expect(await move(two, { before: two })).toEqual(['one', 'three', 'two'])
    expect(await titlesOf(owner, id, { page: 2, perPage: 2 })).toEqual(['two'])
    expect(await codeOf(owner, 'move_in_collection', { id, item: one })).toBe('invalid_input')
    expect(await codeOf(owner, 'move_in_collection', { id, item: one, to: 'up', before: two })).toBe('invalid_input')
    expect(await test.call(owner, 'remove_from_collection', { id, items: [three, two, three] })).toMatchObject({ removed: 2 })
    expect(await test.call(owner, 'remove_from_collection', { id, items: [three] })).toMatchObject({ removed: 0 })
    expect(await codeOf(owner, 'move_in_collection', { id, item: three, to: 'up' })).toBe('not_found')
    expect(await titlesOf(owner, id)).toEqual(['one'])
  })

  it('has an address that tells nothing until it is public, and leads there ever after', async () => {
    const { id, slug } = await create({ title: 'Secret plans', visibility: 'private' })
    expect(slug).toMatch(/^secret-plans-[a-z0-9]{10}$/)
    const update = async (change: object) => Object((await test.call(owner, 'update_collection', { id, ...change })).collection)
    expect((await update({ slug: 'other-plans' })).slug).toMatch(/^other-plans-[a-z0-9]{10}$/)
    expect((await update({ visibility: 'public' })).slug).toBe('secret-plans')
    expect((await update({ slug: 'open-plans' })).slug).toBe('open-plans')
    for (const ref of [id, slug, 'secret-plans', 'open-plans']) {
      expect(Object((await test.call(ANONYMOUS, 'show_collection', { id: ref })).collection).id, ref).toBe(id)
    }
    const second = await create({ title: 'Secret plans', visibility: 'public' })
    expect(second.slug).toBe('secret-plans-2')
    expect(await codeOf(owner, 'update_collection', { id: second.id, slug: 'open-plans' })).toBe('conflict')
    expect(await codeOf(owner, 'update_collection', { id: second.id, slug: 'Not A Slug' })).toBe('invalid_input')
    await test.call(owner, 'delete_collection', { id })
    // Nobody else gets an address that others have noted down.
    expect(await codeOf(owner, 'show_collection', { id: 'open-plans' })).toBe('not_found')
    expect(await codeOf(owner, 'update_collection', { id: second.id, slug: 'open-plans' })).toBe('conflict')
    expect((await create({ title: 'Open plans', visibility: 'public' })).slug).toBe('open-plans-2')
    expect(await test.readEverything()).not.toContain(slug)
  })

  it('refuses a change of an older version', async () => {
    const { id, version } = await create({ title: 'Versions' })
    const { id: item } = await savePrompt('versioned')
    await test.call(owner, 'add_to_collection', { id, items: [item] })
    expect(await codeOf(owner, 'update_collection', { id, title: 'Late', baseVersion: version })).toBe('conflict')
    expect(await codeOf(owner, 'move_in_collection', { id, item, to: 'first', baseVersion: version })).toBe('conflict')
    expect(await codeOf(owner, 'update_collection', { id, title: 'In time', baseVersion: version + 1 })).toBe('done')
    expect(await codeOf(owner, 'update_collection', { id })).toBe('invalid_input')
  })

  it('loses items that are deleted for good, and goes with its owner', async () => {
    const leaver = (await test.user('leaver')).actor
    const { id } = await create({ title: 'Left behind', visibility: 'public' })
    const mine = await savePrompt('stays')
    const theirs = await savePrompt('goes', 'public', leaver)
    await test.call(owner, 'add_to_collection', { id, items: [theirs.id, mine.id] })
    const leaving = await create({ title: 'Leaving', visibility: 'public' }, leaver)
    await test.call(leaver, 'add_to_collection', { id: leaving.id, items: [mine.id] })
    await test.app.store.people.deletePerson(leaver.userId)
    expect(await titlesOf(owner, id)).toEqual(['stays'])
    expect(await codeOf(owner, 'show_collection', { id: leaving.id })).toBe('not_found')
    expect(await listed(ANONYMOUS)).not.toContain('Leaving')
    await test.call(owner, 'delete_item', { collection: 'prompts', id: mine.id })
    expect(await titlesOf(owner, id)).toEqual([])
    await test.call(owner, 'restore_item', { collection: 'prompts', id: mine.id })
    expect(await titlesOf(owner, id)).toEqual(['stays'])
  })

  it('goes with its team', async () => {
    await test.call(other, 'create_team', { team: 'passing' })
    const { id } = await create({ title: 'Of a passing team', owner: 'passing', visibility: 'public' }, other)
    await test.call({ ...other, scopes: new Set([...other.scopes, 'account' as const]) }, 'delete_team', { team: 'passing' })
    expect(await codeOf(ANONYMOUS, 'show_collection', { id })).toBe('not_found')
  })

  it('is bounded', async () => {
    expect(await codeOf(owner, 'create_collection', { title: ' ' })).toBe('invalid_input')
    expect(await codeOf(owner, 'create_collection', { title: 'x'.repeat(201) })).toBe('invalid_input')
    expect(await codeOf(owner, 'create_collection', { title: 'x', description: 'x'.repeat(501) })).toBe('invalid_input')
    const { id } = await create({ title: 'Bounded' })
    expect(await codeOf(owner, 'add_to_collection', { id, items: [] })).toBe('invalid_input')
    expect(await codeOf(owner, 'add_to_collection', { id, items: Array.from({ length: 101 }, () => 'x') })).toBe('invalid_input')
    expect(await codeOf(owner, 'list_prompts', { collections: Array.from({ length: 11 }, () => id) })).toBe('invalid_input')
    expect(await codeOf(ANONYMOUS, 'create_collection', { title: 'x' })).toBe('unauthenticated')
  })
})

describe('rights', () => {
  const CHANGES = [
    ['update_collection', { title: 'Ours, renamed' }],
    ['add_to_collection', { items: ['ours-in-it'] }],
    ['move_in_collection', { item: 'ours-in-it', to: 'first' }],
    ['remove_from_collection', { items: ['ours-in-it'] }],
    ['update_collection', { visibility: 'members' }],
    ['delete_collection', {}],
  ] as const

  it('in a team follow from the role', async () => {
    await savePrompt('Ours in it')
    const outcomes: Record<string, string[]> = {}
    for (const role of ['reader', 'editor', 'maintainer'] as const) {
      const { id } = await create({ title: 'Ours', owner: 'acme' }, as('maintainer'))
      outcomes[role] = []
      for (const [name, input] of CHANGES) outcomes[role].push(await codeOf(as(role), name, { id, ...input }))
      for (const [name, input] of CHANGES) expect(await codeOf(other, name, { id, ...input }), name).toBe('not_found')
    }
    expect(outcomes).toEqual({
      reader: CHANGES.map(() => 'forbidden'),
      editor: ['done', 'done', 'done', 'done', 'forbidden', 'forbidden'],
      maintainer: CHANGES.map(() => 'done'),
    })
  })

  it('to create one for a team are an editor’s, and to show it to others a maintainer’s', async () => {
    const attemptAs = (actor: UserActor, more: object = {}) => codeOf(actor, 'create_collection', { title: 'New', owner: 'Acme', ...more })
    expect(await attemptAs(as('reader'))).toBe('forbidden')
    expect(await attemptAs(as('editor'))).toBe('done')
    expect(await attemptAs(as('editor'), { visibility: 'public' })).toBe('forbidden')
    expect(await attemptAs(as('maintainer'), { visibility: 'public' })).toBe('done')
    const strange = await attempt(other, 'create_collection', { title: 'New', owner: 'acme' })
    const missing = await attempt(other, 'create_collection', { title: 'New', owner: 'nope' })
    expect(strange).toEqual({ ...missing, message: String(missing['message']).replace('nope', 'acme') })
  })

  it('over a public one of others are none', async () => {
    const { id } = await create({ title: 'Look, do not touch', visibility: 'public' })
    for (const [name, input] of CHANGES) expect(await codeOf(other, name, { id, ...input }), name).toBe('forbidden')
    const blind = { ...owner, scopes: new Set(['read'] as const) }
    expect(await codeOf(blind, 'update_collection', { id, title: 'x' })).toBe('forbidden')
  })

  it('end with the membership', async () => {
    const leaver = (await test.user('former')).actor
    await test.call(as('maintainer'), 'set_team_member', { team: 'acme', username: 'former', role: 'maintainer' })
    const { id } = await create({ title: 'While a member', owner: 'acme' }, leaver)
    await test.call(leaver, 'remove_team_member', { team: 'acme', username: 'former' })
    expect(await codeOf(leaver, 'show_collection', { id })).toBe('not_found')
    expect(await codeOf(leaver, 'delete_collection', { id })).toBe('not_found')
    expect(await listed(leaver)).not.toContain('While a member')
    expect(await codeOf(as('reader'), 'show_collection', { id })).toBe('done')
  })
})

describe('who sees what', () => {
  const STATES = ['public', 'members', 'unlisted', 'private'] as const
  const READERS: readonly (readonly [name: string, actor: () => Actor])[] = [
    ['stranger', () => ANONYMOUS],
    ['member', () => other],
    ['reader', () => as('reader')],
    ['owner', () => owner],
  ]

  it('in a collection: what lists show, and counts of that alone', async () => {
    const { id } = await create({ title: 'Of every state', visibility: 'public' })
    const hidden: string[] = []
    for (const state of STATES) {
      for (const item of [await savePrompt(`prompt ${state}`, state), await saveSkill(`skill-${state}`, state)]) {
        await test.call(owner, 'add_to_collection', { id, items: [item.id] })
        if (state === 'private') hidden.push(item.id, item.slug)
      }
    }
    const { id: trashed } = await savePrompt('prompt in the trash')
    await test.call(owner, 'add_to_collection', { id, items: [trashed] })
    await test.call(owner, 'delete_item', { collection: 'prompts', id: trashed })
    const expected: Record<string, number> = { stranger: 1, member: 2, reader: 2, owner: 4 }
    for (const [name, actorOf] of READERS) {
      const actor = actorOf()
      const count = expected[name] ?? 0
      const shown = Object(await test.call(actor, 'show_collection', { id, perPage: 100 }))
      expect([shown.total, shown.items.length, shown.collection.prompts, shown.collection.skills], name).toEqual([
        2 * count,
        2 * count,
        count,
        count,
      ])
      expect(shown.items.map(({ visibility }: { visibility: string }) => visibility)).toEqual(
        STATES.slice(0, count).flatMap((state) => [state, state]),
      )
      const [first] = Object(await test.call(actor, 'list_collections', { q: 'of EVERY state' })).collections
      expect([first.prompts, first.skills], name).toEqual([count, count])
      // What changes with items that others do not see is for editors alone.
      const isOwner = name === 'owner'
      expect([shown.collection.version !== null, shown.collection.updatedAt !== null, shown.collection.role], name).toEqual([
        isOwner,
        isOwner,
        isOwner ? 'maintainer' : null,
      ])
      const narrowed = async (tool: string) => Object(await test.call(actor, tool, { collections: [id], perPage: 100 })).total
      expect([await narrowed('list_prompts'), await narrowed('list_skills')], name).toEqual([count, count])
    }
    // What is hidden is neither added, moved nor removed by those who do not see it.
    const mine = await create({ title: 'Prying' }, other)
    for (const item of [...hidden, trashed]) {
      for (const [tool, input] of [
        ['add_to_collection', { items: [item] }],
        ['remove_from_collection', { items: [item] }],
        ['move_in_collection', { item, to: 'first' }],
      ] as const) {
        const never = JSON.parse(JSON.stringify(input).replace(item, '00000000-0000-4000-8000-000000000000'))
        expect(await attempt(other, tool, { id: mine.id, ...input })).toEqual(await attempt(other, tool, { id: mine.id, ...never }))
      }
      expect(await listed(other, { item })).toEqual([])
    }
  })

  it('of collections: by the same table as of items', async () => {
    const made: { state: string; id: string; slug: string }[] = []
    const { id: item } = await savePrompt('in each of them')
    for (const state of STATES) {
      const collection = await create({ title: `Table ${state}`, visibility: state })
      await test.call(owner, 'add_to_collection', { id: collection.id, items: [item] })
      made.push({ state, ...collection })
    }
    const byList: Record<string, string[]> = {
      stranger: ['public'],
      member: ['members', 'public'],
      reader: ['members', 'public'],
      owner: ['private', 'unlisted', 'members', 'public'],
    }
    for (const [name, actorOf] of READERS) {
      const actor = actorOf()
      const listable = byList[name] ?? []
      expect(await listed(actor, { q: 'Table' }), name).toEqual(listable.map((state) => `Table ${state}`))
      expect((await listed(actor, { item })).length, name).toBe(listable.length)
      for (const { state, id, slug } of made) {
        for (const [ref, mayRead] of [
          [id, listable.includes(state) || state === 'unlisted'],
          [slug, listable.includes(state)],
        ] as const) {
          const cell = `${name} ${state} by ${ref === id ? 'id' : 'slug'}`
          const asked = await attempt(actor, 'show_collection', { id: ref })
          if (!mayRead) expect(asked, cell).toEqual(await attempt(actor, 'show_collection', { id: 'never-was' }))
          else expect(Object(asked).collection.id, cell).toBe(id)
          const filtered = async (tool: string, input: object) => Object(await test.call(actor, tool, input))
          expect((await filtered('list_prompts', { collections: [ref] })).total, cell).toBe(mayRead ? 1 : 0)
          expect((await filtered('list_prompts', { collections: [ref], q: 'each' })).total, cell).toBe(mayRead ? 1 : 0)
          expect((await filtered('search_prompts', { query: '', collections: [ref] })).count, cell).toBe(mayRead ? 1 : 0)
          expect((await filtered('list_exposed_prompts', { collections: [ref] })).prompts.length, cell).toBe(mayRead ? 1 : 0)
        }
      }
    }
    const blind = { ...owner, scopes: new Set(['write'] as const) }
    expect(await listed(blind, { q: 'Table' })).toEqual(['Table public'])
    expect(await codeOf(blind, 'delete_collection', { id: made[3]?.id })).toBe('not_found')
  })

  it('with a narrowed key: collections of its team, with the items of its team', async () => {
    const member = as('maintainer')
    const narrowed: UserActor = { ...member, within: { team: Object(await test.app.store.people.findUser('acme')).id } }
    const { id } = await create({ title: 'Narrow, of the team', owner: 'acme', visibility: 'public' }, member)
    const others = await create({ title: 'Narrow, of somebody', visibility: 'public' })
    const { id: open } = await savePrompt('open to all')
    const { prompt } = await test.call(member, 'save_prompt', { title: 'of the team', content: 'x', owner: 'acme', visibility: 'private' })
    await test.call(member, 'add_to_collection', { id, items: [open, Object(prompt).id] })
    expect(await titlesOf(member, id)).toEqual(['open to all', 'of the team'])
    expect(await titlesOf(narrowed, id)).toEqual(['of the team'])
    expect(await listed(narrowed, { q: 'narrow' })).toEqual(['Narrow, of the team'])
    expect(await codeOf(narrowed, 'show_collection', { id: others.id })).toBe('not_found')
    expect(await codeOf(narrowed, 'create_collection', { title: 'Outside', owner: 'maintainer' })).toBe('forbidden')
    expect(Object((await test.call(narrowed, 'create_collection', { title: 'Narrow, inside' })).collection).owner).toBe('acme')
    expect(await codeOf(narrowed, 'remove_from_collection', { id, items: [open] })).toBe('not_found')
    const robot: UserActor = { ...member, within: { collections: [id] } }
    expect(await codeOf({ ...robot, within: { collections: [others.id] } }, 'show_collection', { id })).toBe('not_found')
    // It changes what is in there, and shows nothing to more people.
    const item = Object(prompt).id
    for (const visibility of ['public', 'members', 'unlisted'] as const) {
      expect(await codeOf(robot, 'update_prompt', { id: item, visibility }), visibility).toBe('forbidden')
      expect(await codeOf(robot, 'update_collection', { id, visibility }), visibility).toBe('forbidden')
    }
    expect(await codeOf(robot, 'delete_collection', { id })).toBe('forbidden')
    expect(Object((await test.call(robot, 'update_prompt', { id: item, title: 'changed by it' })).prompt).title).toBe('changed by it')
  })

  it('in lists: those of one’s own and one’s teams first, by title, owner and right', async () => {
    const ours = await create({ title: 'Zoo 100%_of it', owner: 'acme' }, as('editor'))
    const mine = await create({ title: 'Zoo of mine' }, as('reader'))
    await create({ title: 'Zoo for all', visibility: 'public' })
    expect(await listed(as('reader'), { q: 'zoo' })).toEqual(['Zoo of mine', 'Zoo 100%_of it', 'Zoo for all'])
    expect(await listed(as('reader'), { q: '0%_O' })).toEqual(['Zoo 100%_of it'])
    expect(await listed(as('reader'), { q: 'zoo %' })).toEqual(['Zoo 100%_of it'])
    expect(await listed(as('reader'), { q: 'zoo', owner: 'ACME' })).toEqual(['Zoo 100%_of it'])
    expect(await listed(as('reader'), { q: 'zoo', mayEdit: true })).toEqual(['Zoo of mine'])
    expect(await listed(as('editor'), { q: 'zoo', mayEdit: true })).toEqual(['Zoo 100%_of it'])
    expect(await listed(ANONYMOUS, { q: 'zoo', mayEdit: true })).toEqual([])
    expect(Object(await test.call(as('reader'), 'list_collections', { q: 'zoo', page: 2, perPage: 2 }))).toMatchObject({
      total: 3,
      totalPages: 2,
      collections: [{ title: 'Zoo for all', owner: 'owner' }],
    })
    expect([ours.slug, mine.slug].every((slug) => /-[a-z0-9]{10}$/.test(slug))).toBe(true)
  })
})

describe('a collection as a scope', () => {
  let shared: { id: string; slug: string }
  let hidden: { id: string; slug: string }
  beforeAll(async () => {
    shared = await create({ title: 'Shared scope', visibility: 'public' })
    hidden = await create({ title: 'Hidden scope', visibility: 'private' })
    const items = [await saveSkill('scope-open'), await saveSkill('scope-hidden', 'private'), await savePrompt('Scope prompt')]
    for (const { id } of [shared, hidden]) await test.call(owner, 'add_to_collection', { id, items: items.map((item) => item.id) })
    await saveSkill('out-of-scope')
  })

  const skillsAt = async (path: string, options: { key?: string } = {}) => {
    const answer = await test.fetch(`${path}/${INDEX}`, options)
    return answer.status === 200 ? (await readJson(answer)).skills.map(({ name }: { name: string }) => name) : answer.status
  }

  const tipOf = (collection: string) => readTip(test.fetch, `/collections/${collection}.git`)

  it('narrows every channel, for strangers and for its owner', async () => {
    const { key } = await test.user('owner')
    expect(await skillsAt('/collections/shared-scope')).toEqual(['scope-open'])
    expect(await skillsAt(`/collections/${shared.id}`)).toEqual(['scope-open'])
    expect(await skillsAt('/collections/shared-scope', { key })).toEqual(['scope-open', 'scope-hidden'])
    expect(await skillsAt('/collections/shared-scope@scope-open')).toEqual(['scope-open'])
    expect(await skillsAt(`/collections/${hidden.slug}`, { key })).toEqual(['scope-open', 'scope-hidden'])
    for (const path of [`/collections/${hidden.slug}`, `/collections/${hidden.id}`, '/collections/never-was']) {
      const asked = async (suffix: string) => (await test.fetch(`${path}${suffix}`)).status
      for (const suffix of [`/${INDEX}`, '/marketplace.json', '/prompts.json', '/prompts.csv', '.git/info/refs?service=git-upload-pack']) {
        expect(await asked(suffix), path + suffix).toBe(404)
      }
    }
    const marketplace = await readJson(await test.fetch('/collections/shared-scope/marketplace.json'))
    expect(marketplace.plugins.map(({ name }: { name: string }) => name)).toEqual(['scope-open'])
    const dump = await readJson(await test.fetch('/collections/shared-scope/prompts.json'))
    expect(dump.prompts.map(({ title }: { title: string }) => title)).toEqual(['Scope prompt'])
    expect(await (await test.fetch('/compat/prompts-chat/collections/shared-scope/prompts.csv')).text()).toMatch(/^act.*\nScope prompt,/)
    expect(await tipOf('shared-scope')).toMatch(/^[0-9a-f]{40}$/)
    const mcp = async (path: string, method: string) => Object(await readJson(await test.fetch(path, rpc(method)))).result
    for (const path of ['/api/mcp/collections/shared-scope', `/api/mcp?collections=${shared.id}`]) {
      expect((await mcp(path, 'prompts/list')).prompts.map(({ title }: { title: string }) => title)).toEqual(['Scope prompt'])
      expect((await mcp(path, 'skills/list')).skills.length).toBe(1)
    }
    expect((await mcp(`/api/mcp/collections/${hidden.slug}`, 'prompts/list')).prompts).toEqual([])
  })

  it('is followed by what was cached of it', async () => {
    const { id } = await create({ title: 'Followed', visibility: 'public' })
    const [one, two] = [await saveSkill('followed-one'), await saveSkill('followed-two')]
    await test.call(owner, 'add_to_collection', { id, items: [one.id] })
    expect(await skillsAt('/collections/followed')).toEqual(['followed-one'])
    const before = await tipOf('followed')
    await test.call(owner, 'add_to_collection', { id, items: [two.id] })
    expect(await skillsAt('/collections/followed')).toEqual(['followed-one', 'followed-two'])
    expect(await tipOf('followed')).not.toBe(before)
    await test.call(owner, 'remove_from_collection', { id, items: [one.id] })
    expect(await skillsAt('/collections/followed')).toEqual(['followed-two'])
    await test.call(owner, 'update_collection', { id, visibility: 'members' })
    expect(await skillsAt('/collections/followed')).toBe(404)
    expect(await skillsAt('/collections/followed', { key: (await test.user('other')).key })).toEqual(['followed-two'])
  })
})

describe('over REST', () => {
  it('has a route for each operation', async () => {
    const { key } = await test.user('owner')
    const { id: item } = await savePrompt('By REST')
    const send = async (path: string, options: RequestInit = {}) => {
      const answer = await test.fetch(`/api/collections${path}`, { ...options, key })
      return { status: answer.status, ...(await readJson(answer)) }
    }
    const { status, collection } = await send('', json('POST', { title: 'By REST', visibility: 'public' }))
    expect([status, collection.slug, collection.url]).toEqual([201, 'by-rest', 'http://127.0.0.1:3000/collections/by-rest'])
    expect(await send('/by-rest/items', json('POST', { items: [item] }))).toMatchObject({ status: 200, added: 1 })
    expect(await send(`/by-rest/items/${item}/move`, json('POST', { to: 'first' }))).toMatchObject({ status: 200, success: true })
    expect(await send('/by-rest')).toMatchObject({ status: 200, total: 1, items: [{ kind: 'prompt', id: item }] })
    expect(await send(`?item=${item}`)).toMatchObject({ status: 200, total: 1 })
    expect(await send('/by-rest', json('PATCH', { description: 'New' }))).toMatchObject({ collection: { description: 'New', version: 4 } })
    expect(await send(`/by-rest/items?items=${item}`, { method: 'DELETE' })).toMatchObject({ status: 200, removed: 1 })
    expect(await send('/by-rest', { method: 'DELETE' })).toMatchObject({ status: 200, title: 'By REST' })
    expect((await send('/by-rest')).status).toBe(404)
  })
})
