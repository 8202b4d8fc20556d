import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { openAt } from '../support/engines.ts'
import { json, readJson, refusalOf, useTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>

const NOT_FOUND = ['not_found', 'Team not found, or you are not in it. Check the name.']
const OPERATOR: UserActor = { kind: 'user', userId: 'operator', username: 'operator', scopes: new Set(ADMIN_RIGHTS) }

describe('teams', () => {
  const test = useTestApp()
  let ann: UserActor
  let ben: UserActor
  let eve: UserActor
  let admin: UserActor
  let made = 0
  /** The team of a test, which Ann maintains. */
  let team = ''

  const call = (actor: Actor, name: string, input: object = {}) => test.call(actor, name, input)
  const add = (username: string, role: string, by: Actor = ann) => call(by, 'set_team_member', { team, username, role })
  const membersOf = async (actor: Actor = ann) =>
    Object(await call(actor, 'list_team_members', { team })).members.map((one: { username: string; role: string }) => [
      one.username,
      one.role,
    ])
  const teamId = async () => (await test.app.store.teams.findTeam(team))?.id ?? ''
  const saveFor = async (title: string, visibility: 'public' | 'private') =>
    await test.app.store.items.createItem(
      { userId: await teamId(), note: null },
      { kind: 'prompt', title, content: title, description: null, category: null, tags: [], type: 'TEXT', visibility },
    )

  beforeAll(async () => {
    await signUp(test, 'root')
    const root = await test.app.store.people.findPersonByName('root')
    admin = { kind: 'user', userId: root?.id ?? '', username: 'root', scopes: new Set(ADMIN_RIGHTS), sessionId: 's' }
    ann = (await test.user('ann')).actor
    ben = (await test.user('ben')).actor
    eve = (await test.user('eve')).actor
  })
  beforeEach(async () => {
    team = `team-${++made}`
    await call(ann, 'create_team', { team })
  })

  it('are maintained by whoever creates them, and list their members by role', async () => {
    expect(await call(ann, 'show_team', { team: team.toUpperCase() })).toMatchObject({
      name: team,
      role: 'maintainer',
      members: 1,
      prompts: 0,
    })
    await add('eve', 'reader')
    await add('BEN', 'editor')
    expect(await membersOf(eve)).toEqual([
      ['ann', 'maintainer'],
      ['ben', 'editor'],
      ['eve', 'reader'],
    ])
    await add('ben', 'reader')
    expect(await membersOf()).toContainEqual(['ben', 'reader'])
    const { teams } = Object(await call(ben, 'list_teams'))
    expect(teams).toContainEqual(expect.objectContaining({ name: team, role: 'reader', defaultVisibility: 'private' }))
    expect(await call(ann, 'list_team_members', { team, matching: 'EV' })).toMatchObject({ total: 1 })
  })

  it('give each role its rights over the team itself, and everybody the right to leave', async () => {
    await add('ben', 'editor')
    await add('eve', 'reader')
    const changes: readonly (readonly [string, object])[] = [
      ['update_team', { team, description: 'x' }],
      ['update_team', { team, newName: `${team}-x` }],
      ['set_team_member', { team, username: 'root', role: 'reader' }],
      ['set_team_member', { team, username: 'ben', role: 'maintainer' }],
      ['remove_team_member', { team, username: 'ann' }],
      ['delete_team', { team }],
      ['list_team_activity', { team }],
    ]
    for (const [name, input] of changes) {
      expect((await refusalOf(call(ben, name, input)))[1], name).toMatch(/^You are an editor of the team; only a maintainer can /)
      expect((await refusalOf(call(eve, name, input)))[1], name).toMatch(/^You are a reader of the team; only a maintainer can /)
      if (name !== 'set_team_member') expect(await refusalOf(call(admin, name, input)), name).toEqual(NOT_FOUND)
    }
    await call(ben, 'remove_team_member', { team, username: 'ben' })
    await call(eve, 'remove_team_member', { team, username: 'EVE' })
    expect(await membersOf()).toEqual([['ann', 'maintainer']])
    for (const [name, input] of changes) expect(await refusalOf(call(ben, name, input)), name).toEqual(NOT_FOUND)
    expect(await refusalOf(call(ann, 'remove_team_member', { team, username: 'eve' }))).toEqual(['not_found', '"eve" is not in the team.'])
  })

  it('are not told apart from what never was by others, until they see an item', async () => {
    const { key } = await test.user('ben')
    const ask = async (path: string, sent?: string) => {
      const response = await test.fetch(path, sent === undefined ? {} : { key: sent })
      return [response.status, (await response.text()).replaceAll(/"requestId":"[^"]*"/g, '')]
    }
    await saveFor('Secret', 'private')
    for (const end of ['', '/members', '/activity']) {
      for (const sent of end === '' ? [undefined, key] : [key]) {
        expect(await ask(`/api/teams/${team}${end}`, sent)).toEqual(await ask(`/api/teams/never-was${end}`, sent))
      }
    }
    await saveFor('Open', 'public')
    const seen = await readJson(await test.fetch(`/api/teams/${team}`))
    expect(seen).toEqual({ name: team, displayName: null, description: null, prompts: 1, skills: 0, role: null })
    expect((await ask(`/api/teams/${team}/members`, key))[0]).toBe(404)
    // A key that reads nothing private is no member's.
    const { actor } = await test.user('ann', ['write'])
    expect(await call(actor, 'show_team', { team })).toMatchObject({ role: null })
  })

  it('are never left by their last maintainer', async () => {
    const last = ['conflict', 'This is the last maintainer of the team. Make somebody else a maintainer first.']
    await add('ben', 'editor')
    expect(await refusalOf(call(ann, 'remove_team_member', { team, username: 'ann' }))).toEqual(last)
    expect(await refusalOf(add('ann', 'editor'))).toEqual(last)
    // Somebody suspended maintains nothing.
    await add('ben', 'maintainer')
    await test.app.store.people.setSuspended('ben', true)
    expect(await refusalOf(call(ann, 'remove_team_member', { team, username: 'ann' }))).toEqual(last)
    await test.app.store.people.setSuspended('ben', false)
    await call(ann, 'remove_team_member', { team, username: 'ann' })
    expect(await membersOf(ben)).toEqual([['ben', 'maintainer']])
  })

  it('keep one of two maintainers who remove, or demote, each other', async () => {
    for (const name of ['remove_team_member', 'set_team_member']) {
      await add('ben', 'maintainer')
      const role = name === 'set_team_member' ? { role: 'reader' } : {}
      const outcomes = await Promise.allSettled([
        call(ann, name, { team, username: 'ben', ...role }),
        call(ben, name, { team, username: 'ann', ...role }),
      ])
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const { items } = await test.app.store.teams.listMembers(await teamId(), { limit: 9, offset: 0 })
      const maintainers = items.filter(({ role: one }) => one === 'maintainer').map(({ username }) => username)
      expect(maintainers).toHaveLength(1)
      if (maintainers[0] === 'ben') await call(ben, 'set_team_member', { team, username: 'ann', role: 'maintainer' })
    }
  })

  it('share the name space of people, placeholders and routes', async () => {
    const taken = (name: string) => ['conflict', `The name "${name}" is taken; choose another.`]
    const placeholder = await test.app.store.people.ensurePlaceholder('Contributor')
    for (const name of ['ben', 'BEN', team.toUpperCase(), placeholder.username]) {
      expect(await refusalOf(call(ann, 'create_team', { team: name }))).toEqual(taken(name))
      if (name !== team.toUpperCase()) expect(await refusalOf(call(ann, 'update_team', { team, newName: name }))).toEqual(taken(name))
    }
    for (const name of ['settings', 'Admin', 'a b', '', '..', 'x.git', 'x'.repeat(65)]) {
      expect((await refusalOf(call(ann, 'create_team', { team: name })))[0], name).toBe('invalid_input')
      expect((await refusalOf(call(ann, 'update_team', { team, newName: name })))[0], name).toBe('invalid_input')
    }
    // Nobody else gets the name of a team.
    expect(await refusalOf(test.app.store.people.createUser({ username: team, defaultVisibility: 'private' }))).toEqual(taken(team))
    expect((await test.app.store.people.ensurePlaceholder(team)).username).toBe(`${team}-2`)
    const invited = await refusalOf(call(admin, 'create_invite', { username: team }))
    expect(invited).toEqual(['invalid_input', `"${team}" is, or was, the name of a team, which nobody signs in as.`])
    const { token, sha256 } = test.app.contextFor(ANONYMOUS, 'rest').secrets.makeToken()
    const expiresAt = new Date(test.app.clock() + 86_400_000).toISOString()
    await test.app.store.people.createInvite({ sha256, username: null, role: 'user', expiresAt })
    expect(await refusalOf(call(ANONYMOUS, 'sign_up', { username: team, password: PASSWORD, invite: token }))).toEqual(taken(team))
  })

  it('refuse names that look alike in another script, and say which letter it is', async () => {
    // Cyrillic а.
    const [code, message] = await refusalOf(call(ann, 'create_team', { team: '\u0430cme' }))
    expect(code).toBe('invalid_input')
    expect(message).toBe(
      'team may contain only a-z, A-Z, 0-9, dot, hyphen and underscore; "\u0430" (U+0430) is not a Latin letter or digit.',
    )
  })

  it('keep the names they had, which lead to them and are never given away', async () => {
    await add('ben', 'reader')
    const [first, second] = [team, `${team}-renamed`]
    await call(ann, 'update_team', {
      team: first,
      newName: second,
      displayName: 'The team',
      description: 'Ours',
      defaultVisibility: 'members',
    })
    expect(await call(ben, 'show_team', { team: first.toUpperCase() })).toMatchObject({
      name: second,
      displayName: 'The team',
      description: 'Ours',
      defaultVisibility: 'members',
    })
    expect((await refusalOf(call(eve, 'create_team', { team: first })))[0]).toBe('conflict')
    expect((await refusalOf(test.app.store.people.createUser({ username: first, defaultVisibility: 'private' })))[0]).toBe('conflict')
    // An operation by the earlier name works too.
    await call(ann, 'update_team', { team: first, description: '' })
    expect(await call(ben, 'show_team', { team: second })).toMatchObject({ description: null })
    // The team takes it back; another spelling of a name is no other name.
    await call(ann, 'update_team', { team: second, newName: first.toUpperCase() })
    expect(await call(ben, 'show_team', { team: second })).toMatchObject({ name: first.toUpperCase() })
    expect((await refusalOf(call(eve, 'create_team', { team: second })))[0]).toBe('conflict')
  })

  it('have at most 21 names', async () => {
    for (let n = 1; n <= 20; n++) await call(ann, 'update_team', { team, newName: `${team}-${n}` })
    const [code, message] = await refusalOf(call(ann, 'update_team', { team, newName: `${team}-21` }))
    expect([code, message]).toEqual(['conflict', 'The team has had 21 names, the most there can be. Take back one of them.'])
    await call(ann, 'update_team', { team, newName: team })
  })

  it('are deleted only when they own nothing, and their names stay taken', async () => {
    const id = await teamId()
    const prompt = await saveFor('Kept', 'private')
    await test.app.store.items.setDeleted('prompt', prompt.id, id, true)
    await saveFor('Kept too', 'private')
    expect(await refusalOf(call(ann, 'delete_team', { team }))).toEqual([
      'conflict',
      'The team owns 2 items, 1 of them in the trash. Transfer them, or delete them for good, first.',
    ])
    const empty = `${team}-empty`
    await call(ann, 'create_team', { team: empty })
    await call(ann, 'update_team', { team: empty, newName: `${empty}-2` })
    await call(ann, 'delete_team', { team: empty })
    for (const name of [empty, `${empty}-2`]) {
      expect(await refusalOf(call(ann, 'show_team', { team: name }))).toEqual(NOT_FOUND)
      expect((await refusalOf(call(ann, 'create_team', { team: name })))[0]).toBe('conflict')
      expect((await refusalOf(call(admin, 'create_invite', { username: name })))[0]).toBe('invalid_input')
    }
    expect(Object(await call(ann, 'list_teams')).teams.map(({ name }: { name: string }) => name)).not.toContain(`${empty}-2`)
    expect(await call(admin, 'list_all_teams', { matching: empty })).toMatchObject({ total: 0 })
  })

  it('have only members who can act', async () => {
    const placeholder = await test.app.store.people.ensurePlaceholder('Somebody Else')
    await call(ann, 'create_team', { team: `${team}-b` })
    await test.user(`suspended-${team}`)
    await test.app.store.people.setSuspended(`suspended-${team}`, true)
    const faults: readonly (readonly [string, string])[] = [
      ['nobody', 'User "nobody" not found.'],
      [placeholder.username, `"${placeholder.username}" is an imported author without an account, and cannot be a member of a team.`],
      [`${team}-b`, `User "${team}-b" not found.`],
      [team, `User "${team}" not found.`],
      [`suspended-${team}`, `The account of suspended-${team} is suspended.`],
    ]
    for (const [username, sentence] of faults) expect((await refusalOf(add(username, 'reader')))[1]).toBe(sentence)
    expect(await membersOf()).toEqual([['ann', 'maintainer']])
    expect((await refusalOf(add('ben', 'owner')))[0]).toBe('invalid_input')
  })

  it('are nobody who signs in, is suspended, administers or has a key', async () => {
    const { store } = test.app
    const id = await teamId()
    expect(await store.people.findPersonByName(team)).toBeNull()
    expect(await store.people.findPerson(id)).toBeNull()
    const { people } = Object(await call(admin, 'list_people', { perPage: 100 }))
    expect(people.map(({ username }: { username: string }) => username)).not.toContain(team)
    const { reserved } = await store.people.countPeople(team)
    expect(reserved).toBe(0)
    for (const [name, input] of [
      ['set_role', { username: team, role: 'admin' }],
      ['set_suspended', { username: team, isSuspended: true }],
      ['create_reset_link', { username: team }],
      ['sign_out_person', { username: team }],
      ['delete_person', { username: team, confirm: team }],
      ['show_person', { username: team }],
    ] as const) {
      expect((await refusalOf(call(admin, name, input)))[0], name).toBe('not_found')
    }
    expect((await refusalOf(call(ANONYMOUS, 'sign_in', { name: team, password: PASSWORD })))[0]).not.toBe('none')
    const key = { name: 'k', userId: id, sha256: 'ab'.repeat(32), scopes: ['read'] as const, expiresAt: null }
    expect((await refusalOf(store.keys.createKey(key)))[0]).toBe('not_found')
    expect((await refusalOf(store.keys.createKey({ ...key, link: { path: '', madeBy: null } })))[0]).toBe('not_found')
  })

  it('are created for others by administrators, who see nothing of them', async () => {
    const other = `${team}-other`
    expect(await refusalOf(call(ann, 'create_team', { team: other, maintainer: 'ben' }))).toEqual([
      'forbidden',
      'Only administrators create teams for others. Create it, then make them its maintainer.',
    ])
    await call(admin, 'create_team', { team: other, maintainer: 'ben' })
    expect(await refusalOf(call(admin, 'list_team_members', { team: other }))).toEqual(NOT_FOUND)
    expect(await call(ben, 'show_team', { team: other })).toMatchObject({ role: 'maintainer' })
    expect((await refusalOf(call(OPERATOR, 'create_team', { team: `${other}-2` })))[1]).toBe(
      'maintainer is required: say who maintains the team.',
    )
    await call(OPERATOR, 'create_team', { team: `${other}-2`, maintainer: 'ben' })
    expect((await refusalOf(call(ann, 'list_all_teams')))[0]).toBe('forbidden')
  })

  it('get a maintainer from administrators when they are orphaned, and only then', async () => {
    const appoint = (username: string, role = 'maintainer', by: Actor = admin) => add(username, role, by)
    expect(await refusalOf(appoint('ben'))).toEqual([
      'forbidden',
      'The team has a maintainer, ann; only a maintainer can manage its members.',
    ])
    const leaver = `leaver-${team}`
    const { actor } = await test.user(leaver)
    await call(ann, 'set_team_member', { team, username: leaver, role: 'maintainer' })
    await call(actor, 'remove_team_member', { team, username: 'ann' })
    await saveFor('Private', 'private')
    await test.app.store.people.setSuspended(leaver, true)
    const orphans = async () => Object(await call(admin, 'list_all_teams', { orphaned: true, perPage: 100 })).teams
    expect(await orphans()).toContainEqual(expect.objectContaining({ name: team, members: 1, items: 1, maintainers: [], isOrphaned: true }))
    await call(admin, 'delete_person', { username: leaver, confirm: leaver })
    expect((await refusalOf(appoint('ben', 'reader')))[1]).toBe('The team has no maintainer. An administrator may only appoint one.')
    expect((await refusalOf(appoint('root')))[1]).toMatch(/^An administrator may not appoint themselves/)
    expect(await refusalOf(appoint('ben', 'maintainer', eve))).toEqual(NOT_FOUND)
    await appoint('ben')
    expect(await membersOf(ben)).toEqual([['ben', 'maintainer']])
    expect(await orphans()).not.toContainEqual(expect.objectContaining({ name: team }))
  })

  it('hold up the deletion of an account whose person is the last maintainer', async () => {
    const name = `leaving-${team}`
    await signUp(test, name)
    const person = await test.app.store.people.findPersonByName(name)
    const self: UserActor = { kind: 'user', userId: person?.id ?? '', username: name, scopes: new Set(ADMIN_RIGHTS), sessionId: 's' }
    const [shared, own, other] = [`${team}-shared`, `${team}-own`, `${team}-joined`]
    for (const one of [shared, own]) await call(self, 'create_team', { team: one })
    await call(self, 'set_team_member', { team: shared, username: 'ben', role: 'editor' })
    await call(ann, 'create_team', { team: other })
    await call(ann, 'set_team_member', { team: other, username: name, role: 'editor' })
    const remove = () => call(self, 'delete_account', { password: PASSWORD, username: name })
    expect(await refusalOf(remove())).toEqual([
      'conflict',
      `This is the last maintainer of "${shared}". Make somebody else a maintainer, or delete what the team owns and the team, first.`,
    ])
    expect(await call(ben, 'show_team', { team: shared })).toMatchObject({ members: 2 })
    await call(self, 'set_team_member', { team: shared, username: 'ben', role: 'maintainer' })
    await remove()
    expect(await call(ben, 'show_team', { team: shared })).toMatchObject({ members: 1 })
    expect(await call(ann, 'show_team', { team: other })).toMatchObject({ members: 1 })
    // The team that had nobody else and nothing is gone with them.
    expect(await call(admin, 'list_all_teams', { matching: own })).toMatchObject({ total: 0 })
    expect((await refusalOf(call(ann, 'create_team', { team: own })))[0]).toBe('conflict')
  })

  it('tell their maintainers what was done, and nobody else', async () => {
    await add('ben', 'editor')
    await add('ben', 'reader')
    await call(ann, 'update_team', { team, newName: `${team}-x`, description: 'canary' })
    await call(ann, 'remove_team_member', { team, username: 'ben' })
    const { events } = Object(await call(ann, 'list_team_activity', { team }))
    expect(
      events.map((event: { action: string; detail: object; target: { name: string } }) => [event.action, event.detail, event.target.name]),
    ).toEqual([
      ['team_member_removed', {}, 'ben'],
      ['team_changed', { fields: ['description'] }, `${team}-x`],
      ['team_renamed', {}, `${team}-x`],
      ['team_member_role_changed', { teamRole: 'reader' }, 'ben'],
      ['team_member_added', { teamRole: 'editor' }, 'ben'],
      ['team_member_added', { teamRole: 'maintainer' }, 'ann'],
      ['team_created', {}, `${team}-x`],
    ])
    expect(JSON.stringify(events)).not.toContain('canary')
    const page = Object(await call(ann, 'list_team_activity', { team, limit: 3 }))
    expect(page.events).toHaveLength(3)
    expect(Object(await call(ann, 'list_team_activity', { team, limit: 9, cursor: page.nextCursor })).events).toHaveLength(4)
    expect(await refusalOf(call(ben, 'list_team_activity', { team }))).toEqual(NOT_FOUND)
  })

  it('are at most 200 for one person', async () => {
    const { actor } = await test.user('joiner')
    const { store } = test.app
    await store.inTransaction(async (transaction) => {
      for (let n = 0; n < 200; n++) {
        await transaction.teams.createTeam(
          { userId: actor.userId, isAdmin: false },
          { name: `many-${n}`, displayName: null, description: null, defaultVisibility: 'private' },
        )
      }
    })
    const { teams } = Object(await call(actor, 'list_teams'))
    expect(teams).toHaveLength(200)
    const full = ['conflict', 'joiner is in 200 teams, the most there can be.']
    expect(await refusalOf(call(actor, 'create_team', { team: 'many-200' }))).toEqual(full)
    expect(await refusalOf(add('joiner', 'reader'))).toEqual(full)
  })

  it('page through their members', async () => {
    const database = openAt(test.databaseUrl)
    await database.transact(async (db) => {
      const at = '2026-01-01T00:00:00.000Z'
      const names = Array.from({ length: 150 }, (_, n) => `crowd-${String(n).padStart(3, '0')}`)
      const rows = await db
        .insertInto('user')
        .values(
          names.map((name) => ({ id: name, username: name, username_key: name, default_visibility: 'private' as const, created_at: at })),
        )
        .returning('seq')
        .execute()
      const { seq: teamSeq } = await db.selectFrom('user').select('seq').where('username_key', '=', team).executeTakeFirstOrThrow()
      await db
        .insertInto('team_member')
        .values(rows.map(({ seq }) => ({ team_seq: teamSeq, user_seq: seq, role: 'reader' as const, joined_at: at })))
        .execute()
    })
    await database.close()
    const seen = new Set<string>()
    for (let page = 1, totalPages = 1; page <= totalPages; page++) {
      const answer = Object(await call(ann, 'list_team_members', { team, page, perPage: 100 }))
      totalPages = answer.totalPages
      for (const { username } of answer.members) seen.add(username)
    }
    expect(seen.size).toBe(151)
    expect(await call(ann, 'list_team_members', { team, matching: '-042' })).toMatchObject({ total: 1 })
    expect(await call(ann, 'show_team', { team })).toMatchObject({ members: 151 })
  })

  it('are no tools of models: REST and the command line have them', async () => {
    const offered = OPERATIONS.filter(({ name }) => /team/.test(name))
    expect(offered.length).toBeGreaterThan(8)
    for (const { name, surfaces } of offered) {
      expect(surfaces.mcp, name).toBeUndefined()
      expect(surfaces.rest === undefined, name).toBe(surfaces.cli === undefined)
    }
    const { key } = await test.user('ann')
    const name = `${team}-rest`
    const answer = await test.fetch('/api/teams', { ...json('POST', { team: name }), key })
    expect([answer.status, (await readJson(answer)).name]).toEqual([201, name])
    const member = await test.fetch(`/api/teams/${name}/members/ben`, { ...json('PUT', { role: 'editor' }), key })
    expect(await readJson(member)).toMatchObject({ username: 'ben', role: 'editor' })
    expect((await test.fetch(`/api/teams/${name}/members/ben`, { method: 'DELETE', key })).status).toBe(200)
    expect((await test.fetch(`/api/teams/${name}`, { method: 'DELETE', key })).status).toBe(200)
    expect((await test.fetch(`/api/teams/${name}`, { key })).status).toBe(404)
  })
})
