import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createUser } from '../support/library-fixtures.ts'
import { createDatabaseNow } from '../support/postgres.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { createPlace, type Served } from '../support/processes.ts'
import { readJson } from '../support/test-app.ts'
import { PASSWORD } from '../support/visitor.ts'

/** Several processes of the built program on one database: none holds anything the others need. */

const place = createPlace(createDatabaseNow)
let served: Served
let [first, second] = ['', '']
let key = ''

beforeAll(async () => {
  await createUser(place.databaseUrl, 'ada', 'public')
  key = await createKey(place.databaseUrl, 'ada')
  served = await place.serve({ instances: 2 })
  ;[first = '', second = ''] = served.ownUrls
}, 120_000)
afterAll(() => place.remove())

/** A request as the proxy would pass it on to this instance. */
const at = (url: string, path: string, options: RequestInit = {}) =>
  fetch(`${url}${path}`, { redirect: 'manual', ...options, headers: { 'x-forwarded-for': '192.0.2.7', ...Object(options.headers) } })
const send = (url: string, method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  at(url, path, { method, headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers }, body: JSON.stringify(body) })
const form = (url: string, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  at(url, path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', origin: served.url, ...headers },
    body: new URLSearchParams(fields),
  })
const cookieOf = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

describe('two instances', () => {
  it('each see at once what the other wrote', async () => {
    for (let n = 0; n < 20; n++) {
      const [writer, reader] = n % 2 === 0 ? [first, second] : [second, first]
      const title = `Quokka number ${n}`
      const saved = await readJson(await send(writer, 'POST', '/api/prompts', { title, content: `text ${n}`, tags: [`tag-${n}`] }))
      const found = await readJson(await at(reader, `/api/prompts?q=${encodeURIComponent(title)}&perPage=1`))
      expect(found.prompts[0]).toMatchObject({ title, id: saved.prompt?.id ?? saved.id })
      const { id } = found.prompts[0]
      expect((await send(reader, 'PATCH', `/api/prompts/${id}`, { title: `${title} again` })).status).toBe(200)
      expect((await readJson(await at(writer, `/api/prompts/${id}`))).title ?? '').toBe(`${title} again`)
      if (n % 5 === 0) {
        expect((await send(writer, 'DELETE', `/api/prompts/${id}`, {})).ok).toBe(true)
        expect((await at(reader, `/api/prompts/${id}`)).status).toBe(404)
        expect((await readJson(await at(reader, `/api/prompts?tag=tag-${n}`))).total).toBe(0)
      }
    }
  })

  it('refuse a key as soon as one of them has revoked it', async () => {
    const made = await place.commonplace(['keys', 'create', '--user', 'ada', '--name', 'short'])
    const headers = { 'x-api-key': made.stdout.trim() }
    for (const url of [first, second]) expect((await at(url, '/api/prompts', { headers })).status).toBe(200)
    const [id] =
      /[0-9a-f-]{36}/.exec(
        (await place.commonplace(['keys', 'list', '--user', 'ada'])).stdout.split('\n').find((line) => line.includes('short')) ?? '',
      ) ?? []
    expect((await place.commonplace(['keys', 'revoke', id ?? ''])).code).toBe(0)
    for (const url of [first, second]) expect((await at(url, '/api/prompts', { headers })).status).toBe(401)
  })

  it('sign out for each other, and count failures to sign in together', async () => {
    const setupCode = /sign-up\?code=([0-9a-f]+)/.exec(served.stdout)?.[1] ?? ''
    const joined = await form(first, '/sign-up', { username: 'grace', password: PASSWORD, setupCode })
    expect(joined.status).toBe(303)
    const cookie = cookieOf(joined)
    const isSignedIn = async (url: string) => (await at(url, '/settings', { headers: { cookie, accept: 'text/html' } })).status === 200
    expect([await isSignedIn(first), await isSignedIn(second)]).toEqual([true, true])
    expect((await form(first, '/sign-out', {}, { cookie })).status).toBe(303)
    expect([await isSignedIn(second), await isSignedIn(first)]).toEqual([false, false])

    const statuses: number[] = []
    // What no database keeps in a text is no name either.
    expect((await form(first, '/sign-in', { name: 'nobody\0', password: 'not the one' })).status).toBe(401)
    for (let n = 1; n < 40; n++) {
      statuses.push((await form(n % 2 === 0 ? first : second, '/sign-in', { name: `nobody ${n}`, password: 'not the one' })).status)
    }
    expect(statuses.filter((status) => status === 401).length).toBe(29)
    expect(statuses.slice(29).every((status) => status === 429)).toBe(true)
  })

  it('end a session for each other, and take over from one that was killed', async () => {
    const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 5, method, params })
    const stream = { 'x-api-key': '', accept: 'application/json, text/event-stream' }
    const open = async (url: string) => {
      const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '1' } }
      const opened = await send(url, 'POST', '/api/mcp', message('initialize', params), stream)
      await opened.text()
      return { ...stream, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    }
    const session = await open(first)
    const standing = await at(first, '/api/mcp', { headers: session })
    expect(standing.status).toBe(200)
    // Another stream is refused by whoever is asked: one instance holds the session.
    expect((await at(second, '/api/mcp', { headers: session })).status).toBe(409)
    expect((await at(second, '/api/mcp', { method: 'DELETE', headers: session })).status).toBe(200)
    // The stream at the other instance ends.
    await standing.text()
    expect((await send(first, 'POST', '/api/mcp', message('ping'), session)).status).toBe(404)

    await send(first, 'POST', '/api/prompts', { title: 'Letter', content: 'Write to ${who}.' })
    const other = await open(second)
    const asked = await send(second, 'POST', '/api/mcp', message('prompts/get', { name: 'letter' }), other)
    const reader = asked.body?.getReader()
    let seen = ''
    while (!seen.includes('elicitation/create')) seen += new TextDecoder().decode((await reader?.read())?.value)
    const holder = served.children[1]
    holder?.kill('SIGKILL')
    if (holder && holder.signalCode === null) await once(holder, 'exit')
    const again = await send(first, 'POST', '/api/mcp', { ...message('prompts/get', { name: 'letter' }), id: 6 }, other)
    expect(again.status).toBe(200)
    const answers = again.body?.getReader()
    seen = ''
    while (!seen.includes('elicitation/create')) seen += new TextDecoder().decode((await answers?.read())?.value)
    const { id } = JSON.parse(/data: (\{.*elicitation\/create.*\})/.exec(seen)?.[1] ?? '{}')
    const accepted = { jsonrpc: '2.0', id, result: { action: 'accept', content: { who: 'Eve' } } }
    expect((await send(first, 'POST', '/api/mcp', accepted, other)).status).toBe(202)
    while (!seen.includes('"id":6')) seen += new TextDecoder().decode((await answers?.read())?.value)
    expect(seen).toContain('Write to Eve.')
  })
})

describe('instances', () => {
  const places: ReturnType<typeof createPlace>[] = []
  afterEach(async () => {
    for (const one of places.splice(0)) await one.remove()
  })

  it('that start at once on an empty database make it once, and load the starter library once', async () => {
    const own = createPlace(createDatabaseNow)
    places.push(own)
    const started = await own.serve({ instances: 10, args: ['--starter'] })
    expect(started.ownUrls.length).toBe(10)
    // One of them may be loading still when the others serve.
    const countAt = async (url: string) => (await readJson(await at(url, '/api/prompts?perPage=1'))).total
    const until = performance.now() + 30_000
    while ((await countAt(started.url)) < 70 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 100))
    for (const url of started.ownUrls) expect(await countAt(url)).toBe(70)
    for (const child of started.children) expect(child.exitCode).toBeNull()
  }, 120_000)

  it('count requests together', async () => {
    const own = createPlace(createDatabaseNow)
    places.push(own)
    const { ownUrls } = await own.serve({ instances: 2, env: { RATE_LIMITS: '100' } })
    const served = { answered: 0, refused: 0 }
    // Stretches begin with each minute: this one must not end meanwhile.
    const leftMs = 60_000 - (Date.now() % 60_000)
    if (leftMs < 15_000) await new Promise((resolve) => setTimeout(resolve, leftMs))
    for (let n = 0; n < 300; n++) {
      const { status } = await at(ownUrls[n % 2] ?? '', '/api/categories')
      served[status === 429 ? 'refused' : 'answered']++
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    // Each alone would have answered 100; what they tell each other a moment later may let a few more through.
    expect(served.answered).toBeGreaterThanOrEqual(100)
    expect(served.answered).toBeLessThan(170)
  }, 120_000)

  it('go on when the database server is started again', async () => {
    // A restart must not lose what was acknowledged, which the other tests' settings allow.
    const server = await startPostgres(['fsync=off', 'full_page_writes=off'])
    const own = createPlace(() => server.url)
    places.push(own)
    await createUser(own.databaseUrl, 'ada', 'public')
    const headers = { 'x-api-key': await createKey(own.databaseUrl, 'ada') }
    const { url, child } = await own.serve({ instances: 1 })
    const save = (title: string) => send(url, 'POST', '/api/prompts', { title, content: 'x' }, headers)
    expect((await save('heron')).status).toBe(201)
    let isOver = false
    const statuses: number[] = []
    const reading = async () => {
      while (!isOver) {
        statuses.push((await at(url, '/api/prompts?q=heron')).status)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const readers = [reading(), reading(), reading()]
    await new Promise((resolve) => setTimeout(resolve, 200))
    await server.restart()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await save('invoice')).status).toBe(201)
    isOver = true
    await Promise.all(readers)
    // A read that was under way is asked again: nobody notices.
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await readJson(await at(url, '/api/prompts?q=invoice'))).total).toBe(1)
    expect(child.exitCode).toBeNull()
    await own.remove()
    places.length = 0
    await server.stop()
  }, 120_000)
})
