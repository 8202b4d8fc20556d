import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { json, readJson, refusalOf, rpc, useTestApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

describe('items of a team', () => {
  const test = useTestApp()
  const people: Record<string, { actor: UserActor; key: string }> = {}
  const actorOf = (name: string): UserActor => {
    const person = people[name]
    if (!person) throw new Error(`There is no ${name}.`)
    return person.actor
  }
  const call = (name: string, operation: string, input: object) => test.call(actorOf(name), operation, input)
  const save = async (name: string, more: object = {}) => {
    const { prompt } = await call(name, 'save_prompt', { title: 'Plan', content: 'walrus', owner: 'acme', ...more })
    return Object(prompt) as { id: string; slug: string; author: string; visibility: string }
  }
  const marksOf = async (name: string, id: string) => await call(name, 'show_marks', { collection: 'prompts', id }).catch(() => null)
  const signedIn = (name: string): UserActor => ({ ...actorOf(name), scopes: new Set([...actorOf(name).scopes, 'account' as const]) })

  beforeAll(async () => {
    for (const name of ['mia', 'eddy', 'rea', 'zoe']) people[name] = await test.user(name)
    await call('mia', 'create_team', { team: 'acme' })
    await call('mia', 'set_team_member', { team: 'acme', username: 'eddy', role: 'editor' })
    await call('mia', 'set_team_member', { team: 'acme', username: 'rea', role: 'reader' })
  })

  it('are named after who wrote them and belong to the team', async () => {
    const { id, author } = await save('eddy', { tags: ['named'] })
    expect(author).toBe('eddy')
    for (const name of ['mia', 'eddy', 'rea']) {
      const marks = await test.call(signedIn(name), 'show_marks', { collection: 'prompts', id })
      expect(marks).toMatchObject({ owner: 'acme', isTeam: true, role: { mia: 'maintainer', eddy: 'editor', rea: 'reader' }[name] })
    }
    expect(await marksOf('zoe', id)).toBeNull()
    const listed = async (filter: string) => {
      const { prompts } = await readJson(await test.fetch(`/api/prompts?tag=named&${filter}`, { key: people['rea']?.key ?? '' }))
      return Object(prompts).map((one: { id: string }) => one.id)
    }
    expect([await listed('author=acme'), await listed('author=eddy'), await listed('author=mia')]).toEqual([[id], [id], []])
  })

  it('name the team as their owner to its members, in every record of one alone', async () => {
    const files = [{ filename: 'SKILL.md', content: '---\nname: plan\ndescription: Plan.\n---\nPlan.' }]
    const saved = await call('mia', 'save_prompt', { title: 'Owned', content: 'x', owner: 'acme', visibility: 'public' })
    const skill = await call('mia', 'save_skill', { title: 'Owned', files, owner: 'acme', visibility: 'public' })
    const owners = async (name?: string) => {
      const read = async (path: string, options: RequestInit = {}) =>
        (await readJson(await test.fetch(path, { ...options, ...(name === undefined ? {} : { key: people[name]?.key ?? '' }) }))).owner
      const { id } = Object(saved['prompt'])
      return [
        await read(`/api/prompts/${id}`),
        await read(`/api/prompts/${id}/fill`, json('POST', {})),
        await read(`/api/skills/${Object(skill['skill']).id}`),
      ]
    }
    expect([Object(saved['prompt']).owner, Object(skill['skill']).owner]).toEqual(['acme', 'acme'])
    expect(await owners('rea')).toEqual(['acme', 'acme', 'acme'])
    expect(await owners('zoe')).toEqual([undefined, undefined, undefined])
    expect(await owners()).toEqual([undefined, undefined, undefined])
  })

  it('are saved by editors, private or as the team says, and by nobody below', async () => {
    expect((await save('eddy')).visibility).toBe('private')
    expect(await refusalOf(save('eddy', { visibility: 'public' }))).toEqual([
      'forbidden',
      'You are an editor of the team; only a maintainer can choose this visibility.',
    ])
    await call('mia', 'update_team', { team: 'acme', defaultVisibility: 'members' })
    expect([(await save('eddy')).visibility, (await save('eddy', { visibility: 'private' })).visibility]).toEqual(['members', 'private'])
    await call('mia', 'update_team', { team: 'acme', defaultVisibility: 'private' })
    expect((await save('mia', { visibility: 'public', title: 'Open plan' })).visibility).toBe('public')
    expect(await refusalOf(save('rea'))).toEqual([
      'forbidden',
      'You are a reader of the team; only an editor or a maintainer can add a prompt to it.',
    ])
    const none = ['not_found', 'You are in no team named "acme".']
    expect(await refusalOf(save('zoe'))).toEqual(none)
    expect(await refusalOf(save('zoe', { owner: 'nobody' }))).toEqual(['not_found', 'You are in no team named "nobody".'])
  })

  it('are changed by editors, published and deleted by maintainers', async () => {
    const { id } = await save('mia')
    const update = (name: string, change: object) => call(name, 'update_prompt', { id, ...change })
    expect(await update('eddy', { content: 'tundra' })).toMatchObject({ version: 2 })
    expect(await refusalOf(update('rea', { content: 'quokka' }))).toEqual([
      'forbidden',
      'You are a reader of the team; only an editor or a maintainer can change this prompt.',
    ])
    expect((await refusalOf(update('zoe', { content: 'quokka' })))[0]).toBe('not_found')
    expect(await refusalOf(update('eddy', { visibility: 'public' }))).toEqual([
      'forbidden',
      'You are an editor of the team; only a maintainer can change who sees this prompt.',
    ])
    // The same visibility once more is no change of it.
    expect(await update('eddy', { visibility: 'private', title: 'Plan B' })).toMatchObject({ version: 3 })
    const versions = await call('rea', 'list_versions', { collection: 'prompts', id })
    expect(Object(versions).versions.map((one: { author: string }) => one.author)).toEqual(['eddy', 'eddy', 'mia'])
    expect(await call('eddy', 'restore_version', { collection: 'prompts', id, version: 1 })).toMatchObject({ version: 4 })
    expect(await refusalOf(call('eddy', 'delete_item', { collection: 'prompts', id }))).toEqual([
      'forbidden',
      'You are an editor of the team; only a maintainer can delete this prompt.',
    ])
    await call('mia', 'delete_item', { collection: 'prompts', id })
    expect(Object(await call('rea', 'list_trash', {})).total).toBe(0)
    expect((await refusalOf(call('rea', 'restore_item', { collection: 'prompts', id })))[0]).toBe('not_found')
    await call('eddy', 'restore_item', { collection: 'prompts', id })
    expect(await call('mia', 'update_prompt', { id, visibility: 'public' })).toMatchObject({ prompt: { visibility: 'public' } })
  })

  it('refuse the change of somebody who was removed while it was under way', async () => {
    const { id } = await save('eddy')
    const editor = { userId: actorOf('eddy').userId, note: null }
    const { store } = test.app
    const roles: unknown[] = []
    await store.inTransaction(async (transaction) => {
      await transaction.teams.removeMember({ userId: actorOf('mia').userId, isAdmin: false }, await acmeId(), 'eddy')
      await transaction.items.changeItem('prompt', id, editor, (_, role) => {
        roles.push(role)
        return null
      })
    })
    expect(roles).toEqual([null])
    expect((await refusalOf(call('eddy', 'update_prompt', { id, content: 'late' })))[0]).toBe('not_found')
    expect((await refusalOf(save('eddy')))[0]).toBe('not_found')
    await call('mia', 'set_team_member', { team: 'acme', username: 'eddy', role: 'editor' })
  })
  const acmeId = async () => (await test.app.store.teams.findTeam('acme'))?.id ?? ''

  it('outlive the account of their author', async () => {
    people['leo'] = await test.user('leo')
    await call('mia', 'set_team_member', { team: 'acme', username: 'leo', role: 'editor' })
    const { id } = await save('leo', { title: 'Of Leo' })
    await call('eddy', 'update_prompt', { id, content: 'second' })
    await test.app.store.people.deletePerson(actorOf('leo').userId)
    const shown = await call('rea', 'show_prompt', { id })
    expect(shown).toMatchObject({ title: 'Of Leo', content: 'second', author: 'leo' })
    expect(Object(shown).versions.map((one: { author: string }) => one.author)).toEqual(['eddy', 'leo'])
  })

  it('are reached by a key narrowed to the team, which saves for it and reaches nothing else', async () => {
    const own = await test.call(actorOf('mia'), 'save_prompt', { title: 'Mine', content: 'pangolin', visibility: 'public' })
    const { key } = await test.call(signedIn('mia'), 'create_key', { name: 'robot', team: 'acme' })
    const ask = async (path: string, options: RequestInit = {}) => {
      const answer = await test.fetch(path, { ...options, key: String(key) })
      return { status: answer.status, body: Object(await answer.json()) }
    }
    const saved = await ask('/api/prompts', json('POST', { title: 'By robot', content: 'aardvark' }))
    expect([saved.status, saved.body.prompt.visibility]).toEqual([201, 'private'])
    expect((await call('rea', 'show_prompt', { id: saved.body.prompt.id }))['title']).toBe('By robot')
    expect((await ask('/api/prompts', json('POST', { title: 'x', content: 'x', owner: 'mia' }))).body.message).toBe(
      'This API key is narrowed, and cannot save anything outside of that.',
    )
    const mine = Object(own).prompt.id
    expect((await ask(`/api/prompts/${mine}`)).status).toBe(404)
    expect((await ask(`/api/prompts/${mine}`, json('PATCH', { content: 'taken' }))).status).toBe(404)
    expect((await ask(`/api/prompts/${saved.body.prompt.id}`, json('PATCH', { content: 'changed' }))).status).toBe(200)
    expect((await ask('/api/prompts?q=pangolin')).body.total).toBe(0)
    // A word that stands outside alone corrects nothing.
    expect((await ask('/api/prompts?q=pangolim')).body.total).toBe(0)
    expect((await ask('/api/improve-prompt', json('POST', { prompt: 'pangolin' }))).body.inspirations).toEqual([])
    for (const [path, method] of [
      ['/api/install-links', 'GET'],
      ['/api/teams', 'GET'],
      ['/api/trash', 'GET'],
    ] as const) {
      expect((await ask(path, { method })).body.error, path).toBe('forbidden')
    }
    const found = await ask('/api/mcp', rpc('tools/call', { name: 'search_prompts', arguments: { query: '', limit: 50 } }))
    const { prompts } = found.body.result.structuredContent
    const titles = prompts.map(({ title }: { title: string }) => title)
    expect([titles.includes('By robot'), titles.includes('Mine')]).toEqual([true, false])
  })

  it('are out of reach of a narrowed key once its owner has left, for good', async () => {
    const { key, record } = await test.call(signedIn('eddy'), 'create_key', { name: 'robot', team: 'acme' })
    expect(Object(record).narrowedTo).toEqual(['@acme'])
    expect((await test.fetch('/api/prompts', { key: String(key) })).status).toBe(200)
    await call('eddy', 'remove_team_member', { team: 'acme', username: 'eddy' })
    expect((await test.fetch('/api/prompts', { key: String(key) })).status).toBe(401)
    await call('mia', 'set_team_member', { team: 'acme', username: 'eddy', role: 'editor' })
    expect((await test.fetch('/api/prompts', { key: String(key) })).status).toBe(401)
    expect(await refusalOf(test.call(signedIn('zoe'), 'create_key', { name: 'robot', team: 'acme' }))).toEqual([
      'not_found',
      'You are in no team named "acme".',
    ])
    expect((await refusalOf(test.call(signedIn('zoe'), 'create_key', { name: 'robot', team: 'zoe' })))[1]).toBe('zoe is no team.')
  })

  it('are seen through a collection by a key narrowed to it, and nothing beside', async () => {
    const inside = await save('mia', { title: 'Inside', content: 'pelican', tags: ['birds'] })
    const outside = await save('mia', { title: 'Outside', content: 'flamingo', tags: ['more birds'], visibility: 'public' })
    const made = await call('mia', 'create_collection', { title: 'Chosen', owner: 'acme' })
    const { id, slug } = Object(made).collection as { id: string; slug: string }
    await call('mia', 'add_to_collection', { id, items: [inside.id] })
    const { key, record } = await test.call(signedIn('rea'), 'create_key', { name: 'robot', collections: [slug] })
    expect(Object(record).narrowedTo).toEqual(['Chosen'])
    const ask = async (path: string, options: RequestInit = {}) => {
      const answer = await test.fetch(path, { ...options, key: String(key) })
      return { status: answer.status, body: Object(await answer.json()) }
    }
    const titles = async (path: string) => (await ask(path)).body.prompts.map(({ title }: { title: string }) => title)
    expect([await titles('/api/prompts'), await titles('/api/prompts?q=pelican')]).toEqual([['Inside'], ['Inside']])
    // Corrected by what is inside, not by what is outside.
    expect([await titles('/api/prompts?q=pelicam'), await titles('/api/prompts?q=flamimgo')]).toEqual([['Inside'], []])
    expect((await ask('/api/tags')).body.tags.map(({ slug }: { slug: string }) => slug)).toEqual(['birds'])
    expect([(await ask(`/api/prompts/${inside.id}`)).status, (await ask(`/api/prompts/${outside.id}`)).status]).toEqual([200, 404])
    expect((await ask('/api/collections')).body.collections.map(({ title }: { title: string }) => title)).toEqual(['Chosen'])
    expect((await ask('/api/prompts', json('POST', { title: 'x', content: 'x' }))).body.error).toBe('forbidden')
    expect((await ask(`/api/prompts/${outside.id}`, json('PATCH', { content: 'x' }))).status).toBe(404)
    await call('mia', 'remove_from_collection', { id, items: [inside.id] })
    expect([await titles('/api/prompts'), (await ask(`/api/prompts/${inside.id}`)).status]).toEqual([[], 404])
    await call('mia', 'add_to_collection', { id, items: [inside.id] })
    await call('mia', 'delete_collection', { id })
    expect(await titles('/api/prompts')).toEqual([])
    expect((await refusalOf(test.call(signedIn('zoe'), 'create_key', { name: 'robot', collections: [slug] })))[0]).toBe('not_found')
    const both = test.call(signedIn('mia'), 'create_key', { name: 'robot', team: 'acme', collections: ['x'] })
    expect(await refusalOf(both)).toEqual(['invalid_input', 'team and collections cannot be combined; give one.'])
  })

  it('need a key that reads, where a key decides who is in the team', async () => {
    const { key } = await test.user('mia', ['write'])
    const blind = async (path: string, method: string, body?: object) =>
      await readJson(await test.fetch(path, { ...json(method, body), key }))
    const refused = 'Who is in a team decides who reads its private items, so this API key needs the "read" scope too.'
    expect((await blind('/api/teams/acme/members/zoe', 'PUT', { role: 'maintainer' })).message).toBe(refused)
    expect((await blind('/api/teams/acme/members/eddy', 'DELETE')).message).toBe(refused)
    expect((await blind('/api/teams/acme', 'PATCH', { newName: 'taken' })).message).toBe(refused)
  })

  it('are brought back from the trash by an editor where nobody else saw them', async () => {
    const { id } = await save('mia', { visibility: 'public', title: 'Withdrawn' })
    await call('mia', 'delete_item', { collection: 'prompts', id })
    expect(await refusalOf(call('eddy', 'restore_item', { collection: 'prompts', id }))).toEqual([
      'forbidden',
      'You are an editor of the team; only a maintainer can choose this visibility.',
    ])
    await call('mia', 'restore_item', { collection: 'prompts', id })
  })

  it('are out of reach of keys for the collections of a team that their owner has left', async () => {
    const store = test.app.store
    const made = await call('mia', 'create_collection', { title: 'Of the team', owner: 'acme' })
    const { id } = Object(made).collection as { id: string }
    const { key } = await test.call(signedIn('rea'), 'create_key', { name: 'robot', collections: [id] })
    await call('rea', 'remove_team_member', { team: 'acme', username: 'rea' })
    expect((await test.fetch('/api/prompts', { key: String(key) })).status).toBe(401)
    const late = { name: 'late', userId: actorOf('rea').userId, sha256: 'x', scopes: ['read'] as const, expiresAt: null }
    expect(await refusalOf(store.keys.createKey({ ...late, within: { team: await acmeId() } }))).toEqual([
      'not_found',
      'You are not in this team any more.',
    ])
    await call('mia', 'set_team_member', { team: 'acme', username: 'rea', role: 'reader' })
    expect((await test.fetch('/api/prompts', { key: String(key) })).status).toBe(401)
  })

  it('are not shown by the choice of others, through a key for a collection of theirs', async () => {
    const secret = await save('mia', { title: 'Of the team alone' })
    const { id: own } = Object(await call('eddy', 'save_prompt', { title: 'Open first', content: 'x', visibility: 'public' })).prompt
    const made = await call('mia', 'create_collection', { title: 'Of Mia', visibility: 'unlisted' })
    const { id } = Object(made).collection as { id: string }
    const { key } = await test.call(signedIn('eddy'), 'create_key', { name: 'robot', collections: [id] })
    await call('mia', 'add_to_collection', { id, items: [secret.id, own] })
    const titles = async () => {
      const { prompts } = await readJson(await test.fetch('/api/prompts', { key: String(key) }))
      return prompts.map(({ title }: { title: string }) => title)
    }
    expect(await titles()).toEqual(['Open first'])
    await call('eddy', 'update_prompt', { id: own, visibility: 'private' })
    expect(await titles()).toEqual([])
    expect((await test.fetch(`/api/prompts/${own}`, { ...json('PATCH', { content: 'y' }), key: String(key) })).status).toBe(404)
    // What was hidden since can still be taken out.
    expect(await call('mia', 'remove_from_collection', { id, items: [own] })).toMatchObject({ removed: 1 })
  })

  it('are found by a name that the team had before', async () => {
    await call('mia', 'create_team', { team: 'before' })
    const { id } = await save('mia', { owner: 'before', title: 'Renamed' })
    const files = [{ filename: 'SKILL.md', content: '---\nname: moved\ndescription: Moves\n---\nx' }]
    await call('mia', 'save_skill', { title: 'Moved', files, owner: 'before' })
    await call('mia', 'create_collection', { title: 'Kept', owner: 'before' })
    await call('mia', 'update_team', { team: 'before', newName: 'after' })
    const { key } = await test.user('mia')
    const ask = async (path: string, options: RequestInit = {}) => Object(await (await test.fetch(path, { ...options, key })).json())
    expect((await ask('/api/prompts?author=before')).prompts.map((one: { id: string }) => one.id)).toEqual([id])
    expect((await ask('/api/collections?owner=before')).total).toBe(1)
    expect((await ask('/api/mcp/@before', rpc('prompts/list'))).result.prompts).toHaveLength(1)
    expect((await ask('/api/mcp', rpc('resources/read', { uri: 'skill://before/moved/SKILL.md' }))).result.contents).toHaveLength(1)
    expect((await ask('/@before/.well-known/agent-skills/index.json')).skills).toHaveLength(1)
  })

  it('are chosen, listed and written on the pages', async () => {
    const eddy = await signUp(test, 'paula')
    await call('mia', 'set_team_member', { team: 'acme', username: 'paula', role: 'editor' })
    const form = (await eddy.get('/new?owner=acme')).html
    expect(form).toContain('<option value="acme" selected')
    // True for each owner that can be chosen.
    expect(form).toContain('Private: only you, or the members of the team that owns it')
    const { to } = await eddy.post('/new', { title: 'From the page', content: 'emu', owner: 'acme', visibility: '', do: 'save' })
    const page = (await eddy.get(to ?? '')).html
    expect(page).toContain('Team acme')
    expect(page).toContain('Private: only members of acme')
    expect(page).not.toContain('>Move to trash<')
    const library = (await eddy.get('/library?owner=acme')).html
    expect([library.includes('From the page'), library.includes('aria-current="true">Team acme')]).toEqual([true, true])
    expect((await eddy.get('/library')).html).not.toContain('From the page')
    expect((await eddy.get('/library?owner=mia')).status).toBe(404)
    expect((await eddy.get('/settings/access')).html).toContain('<option value="team acme">Only the team acme</option>')
    const keyed = await eddy.postOn('/settings/access', {
      name: 'Robot',
      scopes: ['read'],
      reach: 'team acme',
      expiresInDays: '',
      do: 'create',
    })
    expect(keyed.html).toContain('only @acme')
  })
})
