import { describe, expect, it, onTestFinished } from 'vitest'
import { type Arriving, parseGroupMap, toGrants } from '../../src/domain/sign-in/sign-in-ways.ts'
import { testApp, useTestApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

const ISSUER = 'https://idp.example.org'
const MAP = parseGroupMap('eng=acme:editor, lead=acme:maintainer, ops=core, admins=admin, taken=holder:editor')
const test = useTestApp()
let serial = 0

const arrive = async (more: Partial<Arriving> & { groups?: readonly string[] } = {}) => {
  const { groups, ...arriving } = more
  return await test.app.store.arrivals.arrive({
    provider: ISSUER,
    subject: `sub-${++serial}`,
    name: 'someone',
    displayName: null,
    email: null,
    grants: groups === undefined ? null : toGrants(MAP, groups),
    allowsNew: true,
    ...arriving,
  })
}
const teamsOf = async (userId: string) =>
  Object.fromEntries((await test.app.store.teams.listTeamsOf(userId)).map(({ name, role }) => [name, role]))
const actionsAbout = async (userId: string) => {
  const events = await test.app.store.audit.listEvents({ kind: 'anonymous' }, { limit: 200 })
  return events.filter(({ targetId }) => targetId === userId).map(({ action, actorId, detail }) => [action, actorId, detail])
}

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  it('is refused as the first account of all, unless a group makes an administrator of it', async () => {
    await expect(arrive()).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('The first account must be') })
    const fresh = await testApp()
    onTestFinished(() => fresh.close())
    const { person } = await fresh.app.store.arrivals.arrive({
      provider: ISSUER,
      subject: '1',
      name: 'ada',
      displayName: 'Ada',
      email: 'ada@example.org',
      grants: toGrants(MAP, ['admins']),
      allowsNew: true,
    })
    expect(person).toMatchObject({ username: 'ada', role: 'admin', displayName: 'Ada', email: 'ada@example.org', hasLogin: true })
    await signUp(test, 'root')
  })

  describe('a new person', () => {
    it('gets a free name, never one that is taken, reserved, a placeholder’s, a team’s or a former one', async () => {
      const { people, teams } = test.app.store
      const root = await people.findPersonByName('root')
      if (!root) throw new Error('root is missing')
      await people.createUser({ username: 'kept', defaultVisibility: 'private' })
      await people.ensurePlaceholder('imported')
      const caller = { userId: root.id, isAdmin: true }
      const team = await teams.createTeam(caller, { name: 'squad', displayName: null, description: null, defaultVisibility: 'private' })
      await teams.changeTeam(caller, team.id, { name: 'squad-now' })
      const expected: readonly (readonly [string, string])[] = [
        ['Root', 'Root-2'],
        ['root', 'root-3'],
        ['kept', 'kept-2'],
        ['imported', 'imported-2'],
        ['squad', 'squad-2'],
        ['squad-now', 'squad-now-2'],
        ['settings', 'settings-2'],
        ['..', 'user'],
        ['', 'user-2'],
        ['Zoë M.', 'Zoe-M'],
        ['ada@corp.example', 'ada'],
        ['a.git', 'a-git'],
      ]
      for (const [name, username] of expected) {
        const { person, isNew } = await arrive({ name })
        expect([name, person.username, isNew]).toEqual([name, username, true])
      }
    })

    it('is the same one at the next arrival, under whatever name', async () => {
      const first = await arrive({ subject: 'same', name: 'grace' })
      const again = await arrive({ subject: 'same', name: 'somebody-else', allowsNew: false })
      expect([again.person.id, again.isNew, again.person.username]).toEqual([first.person.id, false, 'grace'])
      const elsewhere = await arrive({ provider: 'https://other.example.org', subject: 'same', name: 'grace' })
      expect(elsewhere.person.username).toBe('grace-2')
    })

    it('is refused where no account may be created, and nothing is kept', async () => {
      const before = await test.app.store.people.countPeople(null)
      await expect(arrive({ allowsNew: false })).rejects.toMatchObject({ code: 'forbidden' })
      expect(await test.app.store.people.countPeople(null)).toEqual(before)
    })

    it('is refused once suspended, also with new groups', async () => {
      const { person } = await arrive({ subject: 'bad', name: 'bad' })
      await test.app.store.people.setSuspended('bad', true)
      await expect(arrive({ subject: 'bad', groups: ['admins'] })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('suspended'),
      })
      expect(await test.app.store.people.findPerson(person.id)).toMatchObject({ role: 'user' })
    })
  })

  describe('an address', () => {
    it('of an account that never verified it is not taken over', async () => {
      await signUp(test, 'local')
      const local = await test.app.store.people.findPersonByName('local')
      await test.app.store.people.changeProfile(local?.id ?? '', { email: 'local@example.org' })
      const { person, isJoined, isEmailTaken } = await arrive({ email: 'local@example.org', name: 'local' })
      expect([person.username, person.email, isJoined, isEmailTaken]).toEqual(['local-2', null, false, true])
    })

    it('that both sides verified joins the accounts, and ends the sessions', async () => {
      const { person } = await arrive({ email: 'joan@example.org', name: 'joan' })
      const joined = await arrive({ provider: 'https://second.example.org', email: 'joan@example.org', name: 'other' })
      expect([joined.person.id, joined.isJoined, joined.isNew]).toEqual([person.id, true, false])
      expect(await actionsAbout(person.id)).toContainEqual(['identity_connected', person.id, {}])
    })

    it('that a provider gives to somebody else leads to another account', async () => {
      const { person } = await arrive({ email: 'desk@example.org', name: 'desk' })
      const next = await arrive({ email: 'desk@example.org', name: 'desk' })
      expect([next.person.username, next.isJoined, next.isEmailTaken]).toEqual(['desk-2', false, true])
      expect(next.person.id).not.toBe(person.id)
    })

    it('of an administrator joins nothing', async () => {
      await arrive({ email: 'boss@example.org', name: 'boss', groups: ['admins'] })
      const { isJoined } = await arrive({ provider: 'https://lax.example.org', email: 'boss@example.org', name: 'boss' })
      expect(isJoined).toBe(false)
    })
  })

  describe('groups', () => {
    it('give teams and roles, change them and take them away', async () => {
      const { person } = await arrive({ subject: 'g1', name: 'gil', groups: ['eng', 'ops'] })
      expect(await teamsOf(person.id)).toEqual({ acme: 'editor', core: 'reader' })
      await arrive({ subject: 'g2', name: 'lea', groups: ['lead'] })
      await arrive({ subject: 'g1', groups: ['lead'] })
      expect(await teamsOf(person.id)).toEqual({ acme: 'maintainer' })
      await arrive({ subject: 'g1', groups: [] })
      expect(await teamsOf(person.id)).toEqual({})
      expect((await actionsAbout(person.id)).map(([action, , detail]) => [action, detail]).toReversed()).toEqual([
        ['account_created', { role: 'user' }],
        ['team_member_added', { teamRole: 'editor', byGroup: true }],
        ['team_member_added', { teamRole: 'reader', byGroup: true }],
        ['team_member_role_changed', { teamRole: 'maintainer', byGroup: true }],
        ['team_member_removed', { byGroup: true }],
        ['team_member_removed', { byGroup: true }],
      ])
    })

    it('that are not known change nothing', async () => {
      const { person } = await arrive({ subject: 'g3', name: 'ida', groups: ['eng'] })
      await arrive({ subject: 'g3' })
      expect(await teamsOf(person.id)).toEqual({ acme: 'editor' })
    })

    it('leave alone what somebody gave by hand, or another provider did', async () => {
      const { teams } = test.app.store
      const { person } = await arrive({ subject: 'g4', name: 'kim', groups: [] })
      const lea = await test.app.store.people.findPersonByName('lea')
      const acme = await teams.findTeam('acme')
      await teams.setMember({ userId: lea?.id ?? '', isAdmin: false }, acme?.id ?? '', 'kim', 'reader')
      await arrive({ subject: 'g4', groups: ['lead'] })
      await arrive({ subject: 'g4', groups: [] })
      expect(await teamsOf(person.id)).toEqual({ acme: 'reader' })
      const other = 'https://groups.example.org'
      await test.app.store.arrivals.connectIdentity(person.id, { provider: other, subject: 'k' }, null)
      await arrive({ provider: other, subject: 'k', groups: ['ops'] })
      await arrive({ subject: 'g4', groups: [] })
      expect(await teamsOf(person.id)).toEqual({ acme: 'reader', core: 'reader' })
    })

    it('do not take a team’s last maintainer, nor a name that is no team’s', async () => {
      await arrive({ name: 'holder' })
      const { skipped } = await arrive({ subject: 'g2', groups: ['taken'] })
      expect(skipped).toEqual([
        'The team "holder" of the group map cannot be created: the name is taken.',
        'This is the last maintainer of the team. Make somebody else a maintainer first.',
      ])
      expect(await teamsOf((await test.app.store.people.findPersonByName('lea'))?.id ?? '')).toEqual({ acme: 'maintainer' })
    })

    it('give and take the role of administrators, but never the last one, nor one that was given by hand', async () => {
      const first = await arrive({ subject: 'a1', name: 'amy', groups: ['admins'] })
      expect([first.person.role, first.hasNewRights]).toEqual(['admin', true])
      const second = await arrive({ subject: 'a1', groups: [] })
      expect([second.person.role, second.hasNewRights]).toEqual(['user', true])
      await test.app.store.people.setRole('amy', 'admin')
      expect((await arrive({ subject: 'a1', groups: [] })).person.role).toBe('admin')
      await arrive({ subject: 'a2', name: 'ann', groups: ['admins'] })
      for (const name of ['root', 'boss', 'amy']) await test.app.store.people.setRole(name, 'user')
      const last = await arrive({ subject: 'a2', groups: [] })
      expect([last.person.role, last.skipped]).toEqual([
        'admin',
        ['This is the only administrator. Make somebody else an administrator first.'],
      ])
      await test.app.store.people.setRole('root', 'admin')
    })
  })

  describe('connecting', () => {
    it('refuses an identity of somebody else, and a second one at the same provider', async () => {
      const { person } = await arrive({ subject: 'c1', name: 'cleo' })
      const other = await arrive({ subject: 'c2', name: 'cora' })
      const { arrivals } = test.app.store
      await expect(arrivals.connectIdentity(person.id, { provider: ISSUER, subject: 'c2' }, null)).rejects.toMatchObject({
        code: 'conflict',
      })
      await expect(arrivals.connectIdentity(other.person.id, { provider: ISSUER, subject: 'c3' }, null)).rejects.toMatchObject({
        code: 'conflict',
      })
    })

    it('never takes the last way in', async () => {
      const { person } = await arrive({ subject: 'd1', name: 'dora' })
      const { arrivals } = test.app.store
      await expect(arrivals.disconnectIdentity(person.id, ISSUER, [ISSUER, 'credential'])).rejects.toMatchObject({ code: 'conflict' })
      await arrivals.connectIdentity(person.id, { provider: 'https://gone.example.org', subject: 'd' }, null)
      // A provider that nobody can sign in with any more is no way in.
      await expect(arrivals.disconnectIdentity(person.id, ISSUER, [ISSUER])).rejects.toMatchObject({ code: 'conflict' })
      await arrivals.disconnectIdentity(person.id, ISSUER, [ISSUER, 'https://gone.example.org'])
      expect((await arrivals.listIdentities(person.id)).map(({ provider }) => provider)).toEqual(['https://gone.example.org'])
      await expect(arrivals.disconnectIdentity(person.id, 'credential', [])).rejects.toMatchObject({ code: 'not_found' })
    })
  })
})
