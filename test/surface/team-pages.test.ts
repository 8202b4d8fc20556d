import { beforeAll, describe, expect, it } from 'vitest'
import { useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

describe('the pages of teams', { shuffle: false }, () => {
  const test = useTestApp()
  let admin: Visitor
  let ann: Visitor
  let ben: Visitor

  const create = async (by: Visitor, team: string, more: Record<string, string> = {}) =>
    await by.postOn('/teams', { do: 'create', team, displayName: '', description: '', defaultVisibility: 'private', ...more })
  const act = async (by: Visitor, team: string, does: string, fields: Record<string, string> = {}) =>
    await by.post(`/teams/${team}`, { do: does, ...fields })
  const settings = { displayName: '', description: '', defaultVisibility: 'members' }

  beforeAll(async () => {
    admin = await signUp(test, 'root')
    ann = await signUp(test, 'ann')
    ben = await signUp(test, 'ben')
    await signUp(test, 'cleo')
  })

  it('create a team, and add, change and remove its members', async () => {
    expect((await ann.get('/teams')).html).toContain('You are not in a team yet.')
    const created = await create(ann, 'writers', { displayName: 'The writers', description: 'Words & more' })
    expect(created.html).toContain('Team created.')
    expect(created.html).toContain('<h1>The writers</h1>')
    expect(created.html).toContain('Words &amp; more')
    // Names are completed from the accounts that are not in it.
    expect([...created.html.matchAll(/<option value="(\w+)"><\/option>/g)].map(([, name]) => name)).toEqual(['ben', 'cleo', 'root'])
    expect((await act(ann, 'writers', 'add', { username: ' ben ', role: 'reader' })).to).toBe('/teams/writers?done=member-added')
    expect((await act(ann, 'writers', 'role', { username: 'ben', role: 'editor' })).to).toBe('/teams/writers?done=role-set')
    const seen = (await ben.get('/teams/writers')).html
    expect(seen).toContain('Your role: Editor')
    expect(seen).not.toContain('value="add"')
    expect(seen).not.toContain('value="delete"')
    expect((await ben.get('/teams')).html).toContain('<a href="/teams/writers">The writers</a>')
    expect((await ben.get('/library?owner=writers')).html).toContain('<a href="/teams/writers">Members and settings</a>')
    expect((await act(ann, 'writers', 'remove', { username: 'ben' })).to).toBe('/teams/writers?done=member-removed')
    expect((await ben.get('/teams/writers')).status).toBe(404)
    expect((await ben.get('/library')).html).not.toContain('writers')
  })

  it('say at the field, or above the form, what was refused', async () => {
    const taken = await ann.post('/teams', { do: 'create', team: 'ben', defaultVisibility: 'private' })
    expect([taken.status, taken.html.includes('The name &quot;ben&quot; is taken; choose another.')]).toEqual([409, true])
    await create(ann, 'refusing')
    const nobody = await act(ann, 'refusing', 'add', { username: 'nobody', role: 'reader' })
    expect([nobody.status, nobody.html.includes('User &quot;nobody&quot; not found.')]).toEqual([404, true])
    expect((await act(ben, 'refusing', 'add', { username: 'ben', role: 'maintainer' })).status).toBe(404)
    expect((await act(ann, 'refusing', 'nothing')).status).toBe(400)
    const last = await act(ann, 'refusing', 'leave')
    expect([last.status, last.html.includes('This is the last maintainer of the team.')]).toEqual([409, true])
    expect((await act(ann, 'refusing', 'delete')).to).toBe('/teams?done=team-deleted')
  })

  it('lead from every earlier name to the present one, and are for members', async () => {
    await create(ann, 'first')
    await act(ann, 'first', 'add', { username: 'ben', role: 'editor' })
    await ben.post('/new', { title: 'Shared canary', content: 'x', visibility: 'private' })
    await ben.post('/new', { title: 'Of the team', content: 'x', owner: 'first', visibility: 'private' })
    expect((await act(ann, 'first', 'save', { newName: 'second', ...settings })).to).toBe('/teams/second?done=saved')
    for (const [path, to] of [
      ['/teams/First', '/teams/second'],
      ['/@first', '/@second'],
      ['/@FIRST?kind=skills', '/@second?kind=skills'],
    ] as const) {
      const answer = await ben.get(path)
      expect([answer.status, answer.to], path).toEqual([301, to])
    }
    expect((await ben.get('/users/first')).to).toBe('/@first')
    const profile = (await ben.get('/@second')).html
    expect(profile).toContain('Of the team')
    expect(profile).toContain('<a href="/teams/second">Members and settings</a>')
    // Others learn nothing of it while they see no item.
    for (const path of ['/@second', '/@first', '/teams/second', '/teams/first', '/teams/second/activity']) {
      expect((await admin.get(path)).status, path).toBe(404)
    }
    expect((await visit(test).get('/teams/second')).to).toBe('/sign-in?to=%2Fteams%2Fsecond')
    expect((await visit(test).get('/teams')).to).toBe('/sign-in?to=%2Fteams')
  })

  it('show what was done to their maintainers', async () => {
    await create(ann, 'logged')
    await act(ann, 'logged', 'add', { username: 'ben', role: 'editor' })
    const activity = (await ann.get('/teams/logged/activity')).html
    for (const text of ['Team created', 'Team member added', 'Editor', 'href="/@ben"']) expect(activity).toContain(text)
    expect((await ann.get('/teams/logged/activity?action=team_created')).html).not.toContain('<strong>Team member added')
    expect((await ben.get('/teams/logged/activity')).html).toContain('only a maintainer can read its activity')
  })

  it('let administrators create teams and appoint where nobody maintains one', async () => {
    expect((await admin.post('/admin/teams', { do: 'create', team: 'given', maintainer: 'cleo' })).to).toBe('/admin/teams?done=saved')
    expect((await admin.get('/admin/teams?q=given')).html).toContain('maintained by cleo')
    expect((await admin.get('/admin/teams?kind=orphaned')).html).not.toContain('<strong>given</strong>')
    await test.app.store.people.setSuspended('cleo', true)
    const orphaned = (await admin.get('/admin/teams?kind=orphaned')).html
    expect(orphaned).toContain('<strong>given</strong>')
    expect(orphaned).toContain('value="appoint"')
    const self = await admin.post('/admin/teams', { do: 'appoint', appointed: 'given', username: 'root' })
    expect([self.status, self.html.includes('An administrator may not appoint themselves')]).toEqual([403, true])
    expect((await admin.post('/admin/teams', { do: 'appoint', appointed: 'given', username: 'ben' })).to).toBe(
      '/admin/teams?done=appointed',
    )
    expect((await ben.get('/teams/given')).html).toContain('Your role: Maintainer')
    expect((await admin.get('/teams/given')).status).toBe(404)
    expect((await ann.get('/admin/teams')).status).toBe(403)
    await test.app.store.people.setSuspended('cleo', false)
  })
})
