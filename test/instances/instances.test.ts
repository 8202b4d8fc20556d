import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { program, RETURN_ADDRESS } from '../support/oauth-program.ts'
import { json, readJson, readUntil, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

/** Two instances on one database: an answer after an acknowledged write shows that write, whichever instance gives it. */

type Instance = TestApp['instances'][number]
const STREAM = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 'test', version: '1' } }

let test: TestApp
let one: Instance
let two: Instance
let ada: Awaited<ReturnType<TestApp['user']>>
let ben: Awaited<ReturnType<TestApp['user']>>
/** In a browser; administers. */
let operator: Visitor

beforeAll(async () => {
  // The clock hardly moves: nothing is looked at anew because time went by.
  test = await testApp({}, {}, null, {}, null, 1)
  const [first, second] = test.instances
  if (!first || !second) throw new Error('there are no two instances')
  ;[one, two] = [first, second]
  operator = await signUp(test, 'operator')
  ada = await test.user('ada')
  ben = await test.user('ben')
})
afterAll(() => test.close())

const withAccount = ({ actor }: typeof ada) => ({ ...actor, scopes: new Set([...actor.scopes, 'account' as const]) })
const asAdmin = async () => {
  const { actor } = await test.user('operator')
  return { ...actor, scopes: new Set(['read', 'write', 'account', 'admin'] as const) }
}
const save = async (at: Instance, fields: object) => {
  const { prompt } = await at.call(ada.actor, 'save_prompt', { content: 'x', visibility: 'public', ...fields })
  return Object(prompt) as { id: string; slug: string }
}

describe('a write at one instance', () => {
  it('is in the search, the lists and the page of the other when it is acknowledged', async () => {
    const { id, slug } = await save(one, { title: 'Walrus', content: 'tundra', tags: ['sea'] })
    /** What a reader gets: in a list, by a filter, by a search for a word of the text, as a page, over MCP. */
    const see = async (at: Instance, key?: string, word = 'tundra') => {
      const ids = async (path: string) =>
        (await readJson(await at.fetch(path, key ? { key } : {}))).prompts.map((item: { id: string }) => item.id)
      const lists = await Promise.all([`?sort=newest`, `?tag=sea`, `?q=${word}`].map((query) => ids(`/api/prompts${query}`)))
      const page = await at.fetch(`/prompts/${slug}`, { headers: { accept: 'text/html' }, ...(key ? { key } : {}) })
      const asked = rpc('tools/call', { name: 'get_prompt', arguments: { id } })
      const answer = await at.fetch('/api/mcp', { ...asked, ...(key ? { key } : {}) })
      return [...lists.map((list) => list.includes(id)), page.status === 200, (await answer.text()).includes(word)]
    }
    const all = Array.from({ length: 5 }, () => true)
    const none = all.map(() => false)
    const expectBoth = async (expected: readonly boolean[], key?: string, word?: string) => {
      for (const at of [two, one]) expect(await see(at, key, word)).toEqual(expected)
    }
    await expectBoth(all)
    await two.call(ada.actor, 'update_prompt', { id, content: 'quokka' })
    for (const at of [one, two]) expect(await see(at, undefined, 'quokka')).toEqual(all)
    expect((await readJson(await one.fetch('/api/prompts?q=tundra'))).total).toBe(0)
    await one.call(ada.actor, 'update_prompt', { id, visibility: 'private' })
    await expectBoth(none, undefined, 'quokka')
    await expectBoth(none, ben.key, 'quokka')
    expect((await see(two, ada.key, 'quokka')).at(-1)).toBe(true)
    await two.call(ada.actor, 'update_prompt', { id, visibility: 'members' })
    await expectBoth(none, undefined, 'quokka')
    for (const at of [one, two]) expect((await see(at, ben.key, 'quokka')).at(-1)).toBe(true)
    await one.call(ada.actor, 'update_prompt', { id, visibility: 'public' })
    await expectBoth(all, undefined, 'quokka')
    await two.call(ada.actor, 'delete_item', { collection: 'prompts', id })
    await expectBoth(none, undefined, 'quokka')
    await one.call(ada.actor, 'restore_item', { collection: 'prompts', id })
    await expectBoth(all, undefined, 'quokka')
    await two.call(await asAdmin(), 'set_held', { collection: 'prompts', id, isHeld: true })
    for (const at of [one, two]) expect((await see(at, undefined, 'quokka')).slice(0, 3)).toEqual([false, false, false])
    await one.call(withAccount(ada), 'purge_item', { collection: 'prompts', id })
    for (const key of [undefined, ada.key]) await expectBoth(none, key, 'quokka')
    expect((await two.fetch(`/api/prompts/${id}/versions/1`, { key: ada.key })).status).toBe(404)
  })

  it('of a vote, a skill, a category and a collection is there too', async () => {
    const { id } = await save(one, { title: 'Voted for' })
    await one.call(ben.actor, 'vote', { collection: 'prompts', id })
    expect((await readJson(await two.fetch(`/api/prompts/${id}`))).votes).toBe(1)
    const { skill } = await two.call(ada.actor, 'save_skill', {
      title: 'Tidy',
      files: [{ filename: 'SKILL.md', content: '---\nname: tidy\ndescription: Tidies.\n---\nglacier' }],
      visibility: 'public',
    })
    expect((await readJson(await one.fetch('/api/skills?q=glacier'))).skills[0].id).toBe(Object(skill).id)
    const { collection } = await one.call(ada.actor, 'create_collection', { title: 'Together', visibility: 'public' })
    const path = `/api/collections/${Object(collection).id}`
    await two.call(ada.actor, 'add_to_collection', { id: Object(collection).id, items: [id] })
    expect(JSON.stringify(await readJson(await one.fetch(path)))).toContain(id)
    await one.call(ada.actor, 'update_collection', { id: Object(collection).id, visibility: 'private' })
    expect((await two.fetch(path)).status).toBe(404)
  })

  it('reaches whoever listens to lists at the other', async () => {
    const opened = await one.fetch('/api/mcp', { ...rpc('initialize', INITIALIZE), headers: STREAM, key: ben.key })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const stream = await one.fetch('/api/mcp', { headers: { accept: 'text/event-stream', ...session }, key: ben.key })
    expect(stream.status).toBe(200)
    await save(two, { title: 'New to all' })
    expect(await readUntil(stream, 'prompts/list_changed')).toContain('notifications/prompts/list_changed')
    await stream.body?.cancel()
  })
})

describe('at the other instance', () => {
  it('a revoked key is refused at once, and what it holds open ends', async () => {
    const gone = await test.user('ben')
    for (const at of [one, two]) expect((await at.fetch('/api/prompts', { key: gone.key })).status).toBe(200)
    const opened = await two.fetch('/api/mcp', { ...rpc('initialize', INITIALIZE), headers: STREAM, key: gone.key })
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const stream = await two.fetch('/api/mcp', { headers: { accept: 'text/event-stream', ...session }, key: gone.key })
    await one.call(withAccount(gone), 'revoke_key', { id: gone.actor.keyId })
    for (const at of [two, one]) expect((await at.fetch('/api/prompts', { key: gone.key })).status).toBe(401)
    expect((await two.fetch('/api/mcp', { ...rpc('ping'), headers: { ...STREAM, ...session }, key: gone.key })).status).toBe(400)
    await stream.text().catch(() => 'cut off')
  })

  it('a suspended person is refused at once', async () => {
    const cleo = await test.user('cleo')
    await signUpAs('dora')
    const dora = await test.user('dora')
    const { id } = await save(one, { title: 'Of all' })
    for (const at of [one, two]) expect((await at.fetch(`/api/prompts/${id}`, { key: dora.key })).status).toBe(200)
    await one.call(await asAdmin(), 'set_suspended', { username: 'dora', isSuspended: true })
    for (const at of [two, one]) expect((await at.fetch(`/api/prompts/${id}`, { key: dora.key })).status).toBe(401)
    expect((await two.fetch(`/api/prompts/${id}`, { key: cleo.key })).status).toBe(200)
  })

  it('a changed role in a team, and the end of a membership, are felt at once', async () => {
    await one.call(ada.actor, 'create_team', { team: 'ours' })
    await one.call(ada.actor, 'set_team_member', { team: 'ours', username: 'ben', role: 'editor' })
    const { id } = await save(one, { title: 'Of the team', owner: 'ours', visibility: 'private' })
    const edit = async (at: Instance) => (await at.fetch(`/api/prompts/${id}`, { ...json('PATCH', { content: 'y' }), key: ben.key })).status
    expect([await edit(two), await edit(one)]).toEqual([200, 200])
    await one.call(ada.actor, 'set_team_member', { team: 'ours', username: 'ben', role: 'reader' })
    expect([await edit(two), await edit(one)]).toEqual([403, 403])
    const read = async (at: Instance) => (await at.fetch(`/api/prompts/${id}`, { key: ben.key })).status
    expect(await read(two)).toBe(200)
    await two.call(ada.actor, 'remove_team_member', { team: 'ours', username: 'ben' })
    expect([await read(one), await read(two)]).toEqual([404, 404])
  })

  /** Somebody new, in a browser that goes to the second instance alone. */
  async function signUpAs(name: string): Promise<{ here: Visitor; there: Visitor }> {
    const [here, there] = [await signUp(test, name), visit({ ...test, fetch: two.fetch })]
    there.setCookies(here.cookies())
    expect((await there.get('/settings')).status).toBe(200)
    return { here, there }
  }
  const atFirst = (cookies: string) => {
    const visitor = visit({ ...test, fetch: one.fetch })
    visitor.setCookies(cookies)
    return visitor
  }

  it('a browser session ends before the sign-out, the new password or the suspension is answered', async () => {
    const ENDS: [string, (here: Visitor, name: string) => Promise<unknown>][] = [
      ['out', (here) => here.post('/sign-out', {})],
      [
        'password',
        async (_, name) => {
          const other = visit({ ...test, fetch: one.fetch })
          await other.post('/sign-in', { name, password: PASSWORD })
          await other.post('/settings/security', { do: 'password', password: PASSWORD, newPassword: 'another good one' })
        },
      ],
      ['suspended', async (_, name) => one.call(await asAdmin(), 'set_suspended', { username: name, isSuspended: true })],
    ]
    for (const [name, end] of ENDS) {
      const { here, there } = await signUpAs(name)
      await end(atFirst(here.cookies()), name)
      expect((await there.get('/settings')).to, name).toBe('/sign-in?to=%2Fsettings')
    }
  })

  it('a role is felt at the next request', async () => {
    const { there } = await signUpAs('erin')
    expect((await there.get('/admin')).status).toBe(403)
    await one.call(await asAdmin(), 'set_role', { username: 'erin', role: 'admin' })
    expect((await there.get('/admin')).status).toBe(200)
    await one.call(await asAdmin(), 'set_role', { username: 'erin', role: 'user' })
    expect((await there.get('/admin')).status).toBe(403)
    expect((await operator.get('/admin')).status).toBe(200)
  })

  it('failures to sign in, and they alone, count as here', async () => {
    const known = visit({ ...test, fetch: one.fetch })
    expect((await known.post('/sign-in', { name: 'operator', password: PASSWORD })).status).toBe(303)
    const statuses: number[] = []
    for (let n = 0; n < 34; n++) {
      const at = visit({ ...test, fetch: (n % 2 === 0 ? one : two).fetch })
      statuses.push((await at.post('/sign-in', { name: `nobody ${n}`, password: 'not the one' })).status)
    }
    expect(statuses).toEqual(statuses.map((_, n) => (n < 30 ? 401 : 429)))
    // Until the failures are forgotten: other tests sign in too.
    test.wait(15 * 60_000)
  })
})

describe('a program that signs in, each request at the other instance than the one before', () => {
  const statusesOf = async (token: string) => {
    const call = (at: Instance) => {
      const { headers, ...request } = rpc('tools/list')
      return at.fetch('/mcp', { ...request, headers: { ...Object(headers), authorization: `Bearer ${token}` } })
    }
    return [(await call(one)).status, (await call(two)).status]
  }

  it('calls and refreshes at either, and is revoked at both', async () => {
    const made = await program(test)
    const tokens = await made.signIn(operator)
    expect(await statusesOf(tokens.access_token)).toEqual([200, 200])
    const refreshed = await readJson(await made.refresh(tokens.refresh_token))
    // The other instance gives the same answer to a client that lost it.
    expect((await readJson(await made.refresh(tokens.refresh_token))).refresh_token).toBe(refreshed.refresh_token)
    expect(await statusesOf(refreshed.access_token)).toEqual([200, 200])
    const [, programs = ''] = (await operator.get('/settings/access')).html.split('<section id="programs">')
    const id = /name="id" value="([^"]+)"/.exec(programs)?.[1] ?? ''
    expect((await operator.post('/settings/access', { do: 'disconnect', id })).status).toBe(303)
    expect(await statusesOf(refreshed.access_token)).toEqual([401, 401])
    expect((await made.refresh(refreshed.refresh_token)).status).toBe(400)
  })

  it('has a code that is good once, whichever of them it comes to', async () => {
    const made = await program(test)
    const code = (await made.askPerson(operator)).get('code') ?? ''
    const grant = { grant_type: 'authorization_code', code, redirect_uri: RETURN_ADDRESS, code_verifier: made.verifier }
    const given = await readJson(await made.exchange(grant))
    expect(await statusesOf(given.access_token)).toEqual([200, 200])
    expect((await made.exchange(grant)).status).toBe(400)
    // Its second use ends what it gave.
    expect(await statusesOf(given.access_token)).toEqual([401, 401])
  })
})
