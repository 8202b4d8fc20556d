import { beforeEach, describe, expect, it } from 'vitest'
import { type Actor, ADMIN_RIGHTS } from '../../src/domain/people/actor.ts'
import { AUDIT_ACTIONS } from '../../src/domain/service/audit.ts'
import { PAGES } from '../../src/web/routes.ts'
import { json, readJson, useFreshTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

/** What administrators do about accounts and categories, by the forms of their pages. */

const DAY_MS = 86_400_000
const test = useFreshTestApp()
let ada: Visitor
beforeEach(async () => {
  ada = await signUp(test, 'ada')
})

const person = async (name: string) => await test.app.store.people.findPersonByName(name)
const asAdmin = async (): Promise<Actor> => ({
  kind: 'user',
  userId: (await person('ada'))?.id ?? '',
  username: 'ada',
  scopes: new Set(ADMIN_RIGHTS),
})
const makeKey = async (visitor: Visitor) =>
  /cpb_\w+/.exec((await visitor.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read', 'write'] })).html)?.[0] ?? ''

it('is for administrators alone, on every page', async () => {
  const bob = await signUp(test, 'bob')
  const paths = PAGES.map(({ path }) => path).filter((path) => path.startsWith('/admin'))
  for (const path of paths) {
    const address = path.replace(':name', 'bob').replace(':slug', 'coding')
    const stranger = await visit(test).get(address)
    expect([address, stranger.to?.startsWith('/sign-in'), (await bob.get(address)).status]).toEqual([address, true, 403])
  }
})

describe('an administrator who is one no longer', () => {
  const inviteOf = async (visitor: Visitor, role: 'user' | 'admin') => {
    const { html } = await visitor.postOn('/admin/invites', { do: 'create', role })
    return /invite=([\w-]+)/.exec(html)?.[1] ?? ''
  }
  const join = async (invite: string, username: string) =>
    (await visit(test).post('/sign-up', { username, password: PASSWORD, invite })).status
  const WAYS: readonly (readonly [string, (bob: Visitor) => Promise<unknown>])[] = [
    ['suspended', () => ada.post('/admin/people/bob', { do: 'suspend' })],
    ['made a user', () => ada.post('/admin/people/bob', { do: 'role', role: 'user' })],
    ['deleted', () => ada.post('/admin/people/bob', { do: 'delete', confirm: 'bob' })],
    ['deleted by themselves', (bob) => bob.post('/settings/data', { do: 'delete', username: 'bob', password: PASSWORD })],
  ]

  it.each(WAYS)('loses the open invites they made, and nobody else does: %s', async (_, end) => {
    const bob = await signUp(test, 'bob')
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    const [forAdmin, forUser, used] = [await inviteOf(bob, 'admin'), await inviteOf(bob, 'user'), await inviteOf(bob, 'user')]
    const another = await inviteOf(ada, 'admin')
    expect(await join(used, 'dora')).toBe(303)
    await end(bob)
    expect([await join(forAdmin, 'mallory'), await join(forUser, 'trudy')]).toEqual([403, 403])
    expect(await person('mallory')).toBeNull()
    expect(await join(another, 'carol')).toBe(303)
    const { events } = Object(await test.call(await asAdmin(), 'list_audit_events', { action: 'invite_revoked' }))
    expect(events).toHaveLength(2)
    const { items } = await test.app.store.people.listInvites({ limit: 9, offset: 0 })
    expect(items.filter(({ revokedAt }) => revokedAt !== null)).toHaveLength(2)
  })

  it('loses invites for administrators when the log no longer says who made them', async () => {
    await signUp(test, 'bob')
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    await signUp(test, 'eve')
    const expiresAt = '2099-01-01T00:00:00.000Z'
    const { people, audit } = test.app.store
    for (const role of ['user', 'admin'] as const) await people.createInvite({ sha256: role, username: null, role, expiresAt })
    await audit.removeEvents('9999', 1000)
    const open = async () =>
      (await people.listInvites({ limit: 9, offset: 0 })).items.filter((one) => one.usedAt === null && one.revokedAt === null)
    await ada.post('/admin/people/eve', { do: 'suspend' })
    expect(await open()).toHaveLength(2)
    await ada.post('/admin/people/bob', { do: 'suspend' })
    expect((await open()).map(({ role }) => role)).toEqual(['user'])
  })

  it('gets no invite back by becoming one again', async () => {
    const bob = await signUp(test, 'bob')
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    const invite = await inviteOf(bob, 'admin')
    for (const role of ['user', 'admin']) await ada.post('/admin/people/bob', { do: 'role', role })
    expect(await join(invite, 'mallory')).toBe(403)
    // To be made what one is already takes nothing back.
    const kept = await inviteOf(bob, 'user')
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    expect(await join(kept, 'dora')).toBe(303)
  })
})

describe('a suspended account', () => {
  it('cannot act from then on, and can again when that is undone', async () => {
    const bob = await signUp(test, 'bob')
    const key = await makeKey(bob)
    await bob.post('/new', { do: 'save', title: 'Walrus', content: 'C', visibility: 'public' })
    const asked = async () => [
      (await test.fetch('/api/prompts', { key })).status,
      (await test.fetch('/api/mcp', { ...json('POST', { jsonrpc: '2.0', id: 1, method: 'ping' }), key })).status,
      (await bob.get('/settings')).status,
    ]
    expect(await asked()).toEqual([200, 200, 200])
    const shown = await ada.postOn('/admin/people/bob', { do: 'suspend' })
    expect(shown.html).toContain('Suspended. Sessions have ended')
    expect(shown.html).toContain('End suspension')
    expect(await asked()).toEqual([401, 400, 303])
    expect(JSON.stringify(await readJson(await test.fetch('/api/prompts', { key })))).toContain('The account of this API key is suspended.')
    const ids = (await test.app.store.keys.listKeys('bob')).map(({ id }) => id)
    expect(await test.app.store.keys.findOverKeys(ids)).toEqual(ids)
    // Only who knows the password is told.
    const refused = await visit(test).post('/sign-in', { name: 'bob', password: PASSWORD })
    expect([refused.status, refused.html.includes('This account is suspended')]).toEqual([403, true])
    const wrong = await visit(test).post('/sign-in', { name: 'bob', password: 'not the one' })
    expect([wrong.status, wrong.html.includes('suspended')]).toEqual([401, false])
    expect(await test.app.logins.listSessions((await person('bob'))?.id ?? '')).toEqual([])
    // What it owns stays.
    expect((await visit(test).get('/prompts/walrus')).status).toBe(200)
    expect((await ada.get('/admin/people')).html).toMatch(/bob<\/a>.{0,80}Suspended/s)

    expect((await ada.postOn('/admin/people/bob', { do: 'unsuspend' })).html).toContain('No longer suspended')
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    expect((await visit(test).post('/sign-in', { name: 'bob', password: PASSWORD })).status).toBe(303)
    const { events } = Object(await test.call(await asAdmin(), 'list_audit_events', { username: 'bob' }))
    const actions = events.map(({ action }: { action: string }) => action)
    expect(actions).toContain('account_suspended')
    expect(actions).toContain('account_unsuspended')
    expect(actions.filter((action: string) => action === 'signed_in')).toHaveLength(2)
  })

  it('is never the own one, nor that of the last administrator, and no administrator counts while suspended', async () => {
    const bob = await signUp(test, 'bob')
    expect((await ada.post('/admin/people/ada', { do: 'suspend' })).status).toBe(409)
    expect((await ada.post('/admin/people/nobody', { do: 'suspend' })).status).toBe(404)
    expect((await bob.post('/admin/people/ada', { do: 'suspend' })).status).toBe(403)
    await expect(test.app.store.people.setSuspended('ada', true)).rejects.toMatchObject({ code: 'conflict' })
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    await ada.post('/admin/people/bob', { do: 'suspend' })
    expect((await ada.post('/admin/people/ada', { do: 'role', role: 'user' })).status).toBe(409)
    expect((await ada.get('/admin')).status).toBe(200)
  })
})

describe('a user without a login', () => {
  it('is suspended too: its keys stop working', async () => {
    const { key } = await test.user('script')
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    const page = await ada.postOn('/admin/people/script', { do: 'suspend' })
    expect(page.html).not.toContain('value="reset"')
    expect((await test.fetch('/api/prompts', { key })).status).toBe(401)
    expect((await ada.get('/admin/people?kind=reserved')).html).toContain('href="/admin/people/script"')
    await test.app.store.people.ensurePlaceholder('Grace')
    expect((await ada.post('/admin/people/grace', { do: 'suspend' })).status).toBe(404)
  })
})

describe('people', () => {
  it('are accounts first, with what they own and when they were last seen', async () => {
    const bob = await signUp(test, 'bob')
    await bob.post('/new', { do: 'save', title: 'Walrus', content: 'C', visibility: 'private' })
    await test.app.store.people.createUser({ username: 'carol', defaultVisibility: 'private' })
    for (let count = 0; count < 60; count++) await test.app.store.people.ensurePlaceholder(`Author ${count}`)
    test.wait(3 * DAY_MS)
    await bob.get('/settings')
    // It is noted after the answer.
    await expect.poll(async () => (await ada.get('/admin/people')).html).toMatch(/bob<\/a>.*1 item.*last seen <time datetime="2026-01-04"/s)
    const { html } = await ada.get('/admin/people')
    expect(html).toMatch(/Accounts \(2\).*Reserved \(1\).*Imported authors \(60\)/s)
    expect(html).not.toMatch(/>carol<|Author-/)
    expect((await ada.get('/admin/people?kind=reserved')).html).toContain('>carol</a>')
    const authors = await ada.get('/admin/people?kind=placeholder&page=2')
    expect(authors.html.match(/Invite<\/a>/g)?.length).toBeGreaterThanOrEqual(10)
    const found = await ada.get('/admin/people?q=BO')
    expect(found.html).toMatch(/Accounts \(1\).*Reserved \(0\)/s)
    expect((await ada.get('/admin/people?kind=nonsense')).html).toContain('>bob</a>')
  })

  it('are noted as seen once a day, with a session or a key, and no answer is made anew for it', async () => {
    const bob = await signUp(test, 'bob')
    const key = await makeKey(bob)
    const seenOn = async () => (await person('bob'))?.seenOn
    test.wait(DAY_MS)
    const revision = await test.app.store.service.readRevision('library')
    await test.fetch('/api/prompts', { key })
    await expect.poll(seenOn).toBe('2026-01-02')
    test.wait(DAY_MS)
    await bob.get('/settings')
    await expect.poll(seenOn).toBe('2026-01-03')
    await test.app.store.people.noteSeen((await person('bob'))?.id ?? '', '2026-01-01')
    expect(await seenOn()).toBe('2026-01-03')
    expect(await test.app.store.service.readRevision('library')).toBe(revision)
  })

  it('are signed out of every browser by an administrator, with their keys left', async () => {
    const bob = await signUp(test, 'bob')
    const key = await makeKey(bob)
    expect((await ada.postOn('/admin/people/bob', { do: 'sign-out' })).html).toContain('Signed out of all browsers.')
    expect((await bob.get('/settings')).status).toBe(303)
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    expect((await bob.post('/sign-in', { name: 'bob', password: PASSWORD })).status).toBe(303)
  })

  it('are told apart in the activity by who acted, and actions are listed by what they are about', async () => {
    const bob = await signUp(test, 'bob')
    await visit(test).post('/sign-in', { name: 'bob', password: PASSWORD })
    await bob.post('/settings/security', { do: 'end-others' })
    expect((await bob.get('/settings/activity')).html).toContain('<strong>Signed out elsewhere')
    await ada.post('/admin/people/bob', { do: 'sign-out' })
    const { html } = await ada.get('/admin/activity?action=sessions_ended')
    const told = [...html.matchAll(/<strong>Signed out (\w+)|<optgroup label="([^"]+)"/g)].map(([, where, label]) => where ?? label)
    expect(told.join(', ')).toBe('Items, Collections and embeds, Keys and programs, Accounts, Teams, Library, everywhere, elsewhere')
    const options = [...html.matchAll(/<option value="(\w+)"/g)].map(([, action = '']) => action)
    expect(options.toSorted()).toEqual(Object.keys(AUDIT_ACTIONS).toSorted())
  })

  it('have no buttons on the page of an author', async () => {
    await test.app.store.people.ensurePlaceholder('Grace')
    const { html } = await ada.get('/admin/people/grace')
    expect(html).toContain('Imported author')
    expect(html).not.toMatch(/name="do" value="(reset|role|suspend|delete)"/)
  })
})

describe('categories', () => {
  const make = (name: string, parent = '') => ada.post('/admin/categories', { do: 'create', name, parent })
  const parents = async () => {
    const { categories } = await readJson(await test.fetch('/api/categories?all=true'))
    return Object.fromEntries(categories.map(({ slug, parent }: { slug: string; parent: string | null }) => [slug, parent]))
  }
  const slugsIn = async (category: string) => {
    const { prompts } = await readJson(await test.fetch(`/api/prompts?category=${category}`))
    return prompts.map(({ slug }: { slug: string }) => slug).toSorted()
  }
  const save = (title: string, category: string) => ada.post('/new', { do: 'save', title, content: 'C', category, visibility: 'public' })

  beforeEach(async () => {
    await make('Law')
    await make('Contracts', 'law')
    await make('Sea')
    await save('Lease', 'contracts')
    await save('Statute', 'law')
    await save('Walrus', 'sea')
  })

  it('are names to read, each with a page where it is changed', async () => {
    const { html } = await ada.get('/admin/categories')
    expect(html).toContain('href="/admin/categories/contracts"')
    expect(html).not.toContain('value="Contracts"')
    const page = await ada.get('/admin/categories/contracts')
    expect(page.html).toContain('value="Contracts"')
    expect((await ada.get('/admin/categories/nothing')).status).toBe(404)
    // Neither a name that is taken nor one in use goes.
    expect([(await make('Law')).status, (await ada.post('/admin/categories/contracts', { do: 'delete' })).status]).toEqual([409, 409])
    expect((await ada.postOn('/admin/categories/contracts', { do: 'rename', name: 'Treaties' })).html).toContain('value="Treaties"')
  })

  it('are moved below others, never deeper than one level', async () => {
    expect(await slugsIn('law')).toEqual(['lease', 'statute'])
    expect((await ada.post('/admin/categories/contracts', { do: 'move', parent: 'sea' })).status).toBe(303)
    expect([await slugsIn('law'), await slugsIn('sea')]).toEqual([['statute'], ['lease', 'walrus']])
    expect((await ada.post('/admin/categories/sea', { do: 'move', parent: 'law' })).status).toBe(400)
    expect((await ada.post('/admin/categories/law', { do: 'move', parent: 'contracts' })).status).toBe(400)
    expect((await ada.post('/admin/categories/law', { do: 'move', parent: 'law' })).status).toBe(400)
    expect((await ada.post('/admin/categories/law', { do: 'move', parent: 'nothing' })).status).toBe(400)
    expect((await ada.post('/admin/categories/contracts', { do: 'move', parent: '' })).status).toBe(303)
    expect(await parents()).toMatchObject({ contracts: null, law: null, sea: null })
  })

  it('are merged with everything in them, once that is confirmed', async () => {
    const unmeant = await ada.post('/admin/categories/contracts', { do: 'merge', into: 'sea' })
    expect([unmeant.status, unmeant.html.includes('Tick this to confirm.')]).toEqual([400, true])
    expect(await slugsIn('sea')).toEqual(['walrus'])
    const merge = (slug: string, into: string) => ada.postOn(`/admin/categories/${slug}`, { do: 'merge', into, isMeant: 'true' })
    expect((await merge('law', 'law')).status).toBe(400)
    expect((await merge('law', 'contracts')).status).toBe(409)
    const trashed = await save('Old', 'law')
    await ada.post(trashed.to?.split('?')[0] ?? '', { do: 'delete' })

    const named = Object(await test.call(await asAdmin(), 'list_audit_events', { action: 'category_created' })).events
    const lawId = named.find(({ target }: { target: { name: string } }) => target.name === 'Law').target.id
    expect((await merge('law', 'sea')).html).toContain('Merged.')
    const after = await parents()
    expect(after).toMatchObject({ contracts: 'sea', sea: null })
    expect(after).not.toHaveProperty('law')
    expect(await slugsIn('sea')).toEqual(['lease', 'statute', 'walrus'])
    expect((await merge('contracts', 'sea')).status).toBe(200)
    expect(await slugsIn('sea')).toEqual(['lease', 'statute', 'walrus'])
    const { prompts } = await readJson(await test.fetch('/api/search/prompts?query=lease&category=sea'))
    expect(prompts).toMatchObject([{ slug: 'lease', category: 'Sea' }])
    // An older version names the category that is there now, and can be restored.
    await ada.post('/prompts/statute/edit', {
      do: 'save',
      title: 'Statute',
      content: 'D',
      category: '',
      visibility: 'public',
      baseVersion: '1',
    })
    expect((await ada.post('/prompts/statute/versions/1', { do: 'restore', baseVersion: '2' })).status).toBe(303)
    expect(await slugsIn('sea')).toEqual(['lease', 'statute', 'walrus'])
    expect((await ada.get('/library?kind=prompts')).status).toBe(200)
    const { events } = Object(await test.call(await asAdmin(), 'list_audit_events', { action: 'category_merged' }))
    expect(events.map(({ detail }: { detail: { updated: number } }) => detail.updated)).toEqual([1, 2])
    // The log says which one is gone, and where everything of it is.
    const made = Object(await test.call(await asAdmin(), 'list_audit_events', { action: 'category_created' })).events
    const idOf = (name: string) => made.find(({ target }: { target: { name: string | null } }) => target.name === name)?.target.id
    expect(events[1]).toMatchObject({ target: { kind: 'category', id: lawId, name: null }, into: { id: idOf('Sea'), name: 'Sea' } })
    expect(events[1].target.id).not.toBe(events[0].target.id)
    expect(events[1].detail.into).toBe(idOf('Sea'))
    const shown = (await ada.get('/admin/activity?action=category_merged')).html
    expect(shown).toContain(`<code>${lawId}</code>`)
    expect(shown).toContain('into Sea')
  })
})

describe('what cannot be undone', () => {
  it('is asked for twice: behind a button that says what it means', async () => {
    await signUp(test, 'bob')
    await makeKey(ada)
    await ada.post('/admin/invites', { do: 'create', role: 'user' })
    await ada.post('/admin/categories', { do: 'create', name: 'Empty' })
    await ada.post('/admin/people/bob', { do: 'role', role: 'admin' })
    for (const [path, does] of [
      ['/settings/access', 'revoke'],
      ['/admin/invites', 'revoke'],
      ['/admin/categories/empty', 'delete'],
      ['/admin/people/bob', 'role'],
      ['/admin/people/bob', 'suspend'],
    ] as const) {
      const { html } = await ada.get(path)
      const folded = [...html.matchAll(/<details class="menu confirm">.*?<\/details>/gs)].map(([text]) => text).join('')
      expect(folded, path).toContain(`value="${does}"`)
      expect(html.replaceAll(/<details class="menu confirm">.*?<\/details>/gs, ''), path).not.toContain(`name="do" value="${does}"`)
    }
  })
})
