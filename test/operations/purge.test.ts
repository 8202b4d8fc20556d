import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

/** Deleting for good, on the pages: who may, what is left, and that nobody else hears of anything. */

const STATES = ['public', 'unlisted', 'private', 'deleted', 'held'] as const
type State = (typeof STATES)[number]
const READERS = ['anonymous', 'other', 'owner', 'admin'] as const
type Reader = (typeof READERS)[number]
const KINDS = ['prompt', 'skill'] as const
const LEAK = 'xqzleakword'

const test = useTestApp()
const readers = new Map<Reader, Visitor>()
let count = 0

beforeAll(async () => {
  readers.set('admin', await signUp(test, 'administrator'))
  readers.set('owner', await signUp(test, 'owner'))
  readers.set('other', await signUp(test, 'other'))
  readers.set('anonymous', visit(test))
})

const as = (reader: Reader): Visitor => {
  const visitor = readers.get(reader)
  if (!visitor) throw new Error(`no ${reader}`)
  return visitor
}

/** What the owner has, with two versions. */
async function save(kind: (typeof KINDS)[number], state: State, text = 'before') {
  const person = await test.app.store.people.findPersonByName('owner')
  const actor = { kind: 'user', userId: person?.id ?? '', username: 'owner', scopes: new Set(['read', 'write'] as const) } as const
  const title = `Marked ${++count}`
  const visibility = state === 'deleted' || state === 'held' ? 'public' : state
  const file = (content: string) => ({ filename: 'SKILL.md', content: `---\nname: purged-${count}\ndescription: ${content}\n---\n` })
  const saved =
    kind === 'prompt'
      ? await test.call(actor, 'save_prompt', { title, content: text, visibility })
      : await test.call(actor, 'save_skill', { title, visibility, files: [file('one'), { filename: 'keys.env', content: text }] })
  const { id, slug }: { id: string; slug: string } = Object(saved[kind])
  if (kind === 'prompt') await test.call(actor, 'update_prompt', { id, content: 'clean' })
  else await test.call(actor, 'update_skill_file', { skillId: id, filename: 'keys.env', content: 'clean' })
  if (state === 'deleted') await test.call(actor, 'delete_item', { collection: `${kind}s`, id })
  if (state === 'held') expect((await as('admin').post(`/${kind}s/${id}`, { do: 'hold' })).status).toBe(303)
  return { id, slug, title, path: `/${kind}s/${id}/purge`, collection: `${kind}s` }
}

/** The rule, by hand: the owner always, administrators what they see by its id. */
function mayPurge(reader: Reader, state: State): boolean {
  if (reader === 'owner') return true
  return reader === 'admin' && (state === 'public' || state === 'unlisted' || state === 'held')
}
/** What others hear: of what they may not see, that there is none; of what they see, that it is not theirs; strangers, to sign in. */
function statusOf(reader: Reader, state: State): number {
  if (mayPurge(reader, state)) return 200
  if (reader === 'anonymous') return 303
  return state === 'private' || state === 'deleted' ? 404 : 403
}

describe.each(KINDS)('the page that deletes a %s for good', (kind) => {
  describe.each(STATES)('that is %s', (state) => {
    it.each(READERS)('is for those who may: %s', async (reader) => {
      const item = await save(kind, state)
      const page = await as(reader).get(item.path)
      expect(page.status).toBe(statusOf(reader, state))
      expect(page.html.includes(item.title)).toBe(mayPurge(reader, state))
      const none = await as(reader).get(`/${item.collection}/00000000-0000-4000-8000-000000000000/purge`)
      if (page.status === 404) expect(none.status).toBe(404)
      const sent = await as(reader).post(item.path, { do: 'item', sure: 'yes' })
      const isGone = (await as('owner').get(item.path)).status === 404
      expect([sent.status === 303, isGone]).toEqual([mayPurge(reader, state) || reader === 'anonymous', mayPurge(reader, state)])
    })
  })

  it('deletes older versions for the owner alone', async () => {
    const item = await save(kind, 'public', LEAK)
    expect((await as('admin').get(item.path)).html).not.toContain('name="first"')
    expect((await as('admin').post(item.path, { do: 'versions', sure: 'yes', first: '1', last: '1' })).status).toBe(403)
    expect((await as('owner').post(item.path, { do: 'versions', sure: 'yes', first: '1', last: '2' })).status).toBe(409)
    expect((await as('owner').post(item.path, { do: 'versions', sure: 'yes', first: '2', last: '1' })).status).toBe(400)
    expect((await as('owner').post(item.path, { do: 'versions', sure: 'yes', first: 'x', last: '1' })).status).toBe(404)
    const listed = await as('owner').postOn(item.path, { do: 'versions', sure: 'yes', first: '1', last: '1' })
    expect([listed.status, listed.html.includes('Deleted for good.')]).toEqual([200, true])
    expect((await as('owner').get(`/${item.collection}/${item.id}/versions/1`)).status).toBe(404)
    expect((await as('owner').get(`/${item.collection}/${item.id}/versions/2`)).status).toBe(200)
    expect(await test.readEverything()).not.toContain(LEAK)
    expect((await as('owner').post(item.path, { do: 'versions', sure: 'yes', first: '1', last: '1' })).status).toBe(404)
  })
})

it('deletes what a file held before, and says when there is nothing', async () => {
  const item = await save('skill', 'private', LEAK)
  expect((await as('owner').post(item.path, { do: 'file', sure: 'yes', filename: 'none.txt' })).html).toContain(
    'No older version has a file of this name',
  )
  expect((await as('owner').post(item.path, { do: 'file', sure: 'yes', filename: 'SKILL.md' })).html).toContain(
    'delete the versions instead',
  )
  expect((await as('owner').post(item.path, { do: 'file', sure: 'yes', filename: 'keys.env' })).status).toBe(303)
  expect(await test.readEverything()).not.toContain(LEAK)
  expect((await as('owner').get(`/skills/${item.id}?file=keys.env`)).html).toContain('clean')
})

it('takes a tick that it is meant', async () => {
  const item = await save('prompt', 'public')
  const refused = await as('owner').post(item.path, { do: 'item' })
  expect([refused.status, refused.html.includes('Check the box first: this cannot be undone.')]).toEqual([400, true])
  expect((await as('owner').get(`/prompts/${item.id}`)).status).toBe(200)
})

it('is offered where people look: in the trash, beside versions, and to administrators', async () => {
  const trashed = await save('prompt', 'deleted')
  expect((await as('owner').get('/trash')).html).toContain(`href="/prompts/${trashed.id}/purge"`)
  const item = await save('prompt', 'public')
  expect((await as('owner').get(`/prompts/${item.id}/versions`)).html).toContain('/purge"')
  expect((await as('other').get(`/prompts/${item.id}/versions`)).html).not.toContain('/purge')
  expect((await as('owner').get(`/prompts/${item.id}/versions/1`)).html).toContain('/purge?first=1&amp;last=1"')
  expect((await as('admin').get(`/prompts/${item.id}`)).html).toContain('/purge"')
  expect((await as('other').get(`/prompts/${item.id}`)).html).not.toContain('/purge')
})

it('cannot be done with a key, whatever it may', async () => {
  const { id } = await save('prompt', 'public')
  const person = await test.app.store.people.findPersonByName('owner')
  const actor = {
    kind: 'user',
    userId: person?.id ?? '',
    username: 'owner',
    scopes: new Set(['read', 'write', 'improve'] as const),
  } as const
  for (const [name, input] of [
    ['purge_item', { collection: 'prompts', id }],
    ['purge_versions', { collection: 'prompts', id, first: 1, last: 1 }],
    ['purge_file', { id, filename: 'x' }],
    ['show_purge', { collection: 'prompts', id }],
    ['delete_person', { username: 'other', confirm: 'other' }],
  ] as const) {
    await expect(test.call(actor, name, input)).rejects.toMatchObject({ code: 'forbidden' })
  }
})

describe('an account that an administrator deletes', () => {
  let leaver: Visitor
  let name = ''
  beforeEach(async () => {
    name = `leaver${++count}`
    leaver = await signUp(test, name)
  })

  it('is gone with everything it had', async () => {
    await leaver.post('/new', { title: `Of ${name}`, content: LEAK, visibility: 'public' })
    const { key } = await test.user(name)
    expect((await test.fetch('/api/prompts', { key })).status).toBe(200)
    expect((await as('admin').get('/admin/people')).html).toContain(`href="/admin/people/${name}"`)
    expect((await as('admin').get(`/admin/people/${name}`)).html).toContain(`everything ${name} owns`)
    expect((await as('admin').post(`/admin/people/${name}`, { do: 'delete', confirm: 'somebody' })).status).toBe(400)
    expect((await leaver.get('/settings')).status).toBe(200)
    expect((await as('admin').postOn(`/admin/people/${name}`, { do: 'delete', confirm: name })).status).toBe(200)
    expect((await leaver.get('/settings')).status).toBe(303)
    expect((await test.fetch('/api/prompts', { key })).status).toBe(401)
    expect((await visit(test).post('/sign-in', { name, password: PASSWORD })).to).toBeNull()
    expect(await test.readEverything()).not.toContain(LEAK)
    expect((await as('admin').get(`/admin/people/${name}-nobody`)).status).toBe(404)
  })

  it('is nobody else’s to delete, and not the administrator’s own', async () => {
    for (const reader of ['other', 'owner'] as const) {
      expect((await as(reader).get(`/admin/people/${name}`)).status).toBe(403)
      expect((await as(reader).post(`/admin/people/${name}`, { do: 'delete', confirm: name })).status).toBe(403)
    }
    expect((await leaver.get('/settings')).status).toBe(200)
    const own = await as('admin').post('/admin/people/administrator', { do: 'delete', confirm: 'administrator' })
    expect([own.status, own.html.includes('Delete it in your settings')]).toEqual([409, true])
  })
})
