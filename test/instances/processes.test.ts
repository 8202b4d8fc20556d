import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { createKey, savePrompts } from '../support/library-fixtures.ts'
import { createDatabaseNow } from '../support/postgres.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { createPlace } from '../support/processes.ts'
import { json, readJson, readUntil, rpc, testApp } from '../support/test-app.ts'

/** Processes of the built program on one database: none holds anything the others need. */

const STREAM = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const places: ReturnType<typeof createPlace>[] = []
const makePlace = () => {
  const place = createPlace(createDatabaseNow)
  places.push(place)
  return place
}
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove()
})

describe('processes', () => {
  it('that start at once on an empty database make it once, and load the starter library once', async () => {
    const { ownUrls, children } = await makePlace().serve({ instances: 3, args: ['--starter'] })
    // One of them may be loading still when the others serve.
    const count = async (url: string) => (await readJson(await fetch(`${url}/api/prompts?perPage=1`))).total
    for (const url of ownUrls) await expect.poll(() => count(url)).toBe(70)
    expect(children.map(({ exitCode }) => exitCode)).toEqual([null, null, null])
  })

  it('serve and end the sessions of each other, and those of one that was killed', async () => {
    const place = makePlace()
    await savePrompts(place.databaseUrl, 'ada', [{ title: 'Letter', content: 'Write to ${who}.' }])
    const headers = { ...STREAM, 'x-api-key': await createKey(place.databaseUrl, 'ada') }
    const { ownUrls, children } = await place.serve({ instances: 2 })
    const [first = '', second = ''] = ownUrls
    const send = (url: string, request: RequestInit, session: Record<string, string>) =>
      fetch(`${url}/api/mcp`, { ...request, headers: { ...headers, ...session } })
    const open = async (url: string): Promise<Record<string, string>> => {
      const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '1' } }
      const opened = await send(url, rpc('initialize', params), {})
      await opened.text()
      return { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    }
    const session = await open(first)
    const standing = await send(first, {}, session)
    expect(standing.status).toBe(200)
    expect((await send(second, rpc('ping'), session)).status).toBe(200)
    expect((await send(second, { method: 'DELETE' }, session)).status).toBe(200)
    expect((await send(first, rpc('ping'), session)).status).toBe(404)
    // The stream at the other process ends.
    await standing.text()

    const other = await open(second)
    await readUntil(await send(second, rpc('prompts/get', { name: 'letter' }, 5), other), 'elicitation/create')
    const again = await send(first, rpc('prompts/get', { name: 'letter' }, 6), other)
    const { id } = JSON.parse(/data: (\{.*elicitation\/create.*\})/.exec(await readUntil(again, 'elicitation/create'))?.[1] ?? '{}')
    const accepted = json('POST', { jsonrpc: '2.0', id, result: { action: 'accept', content: { who: 'Eve' } } })
    expect((await send(first, accepted, other)).status).toBe(202)
    expect(await readUntil(again, '"id":6')).toContain('Write to Eve.')
    const [, holder] = children
    holder?.kill('SIGKILL')
    if (holder && holder.signalCode === null) await once(holder, 'exit')
    expect((await send(first, rpc('ping'), other)).status).toBe(200)
  })

  it('say that a question is open elsewhere', async () => {
    const place = makePlace()
    await savePrompts(place.databaseUrl, 'ada', [{ title: 'Letter', content: 'Write to ${who}.' }])
    const headers = { ...STREAM, 'x-api-key': await createKey(place.databaseUrl, 'ada') }
    const { ownUrls } = await place.serve({ instances: 2 })
    const [first = '', second = ''] = ownUrls
    const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: { name: 't', version: '1' } }
    const opened = await fetch(`${first}/api/mcp`, { ...rpc('initialize', params), headers })
    await opened.text()
    const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const asked = await fetch(`${first}/api/mcp`, { ...rpc('prompts/get', { name: 'letter' }, 5), headers: session })
    await readUntil(asked, 'elicitation/create')
    const answer = json('POST', { jsonrpc: '2.0', id: 0, result: { action: 'decline' } })
    const refused = await fetch(`${second}/api/mcp`, { ...answer, headers: session })
    expect([refused.status, (await readJson(refused)).error.message]).toEqual([404, expect.stringContaining('Ask again')])
    expect((await fetch(`${first}/api/mcp`, { ...answer, headers: session })).status).toBe(202)
    expect(await readUntil(asked, '"id":5')).toContain('Write to ${who}')
  })

  it('go on when the database server is started again', async () => {
    // A restart must not lose what was acknowledged, which the other tests' settings allow.
    const server = await startPostgres(['fsync=off', 'full_page_writes=off'])
    const test = await testApp({}, {}, null, { databaseUrl: server.url })
    const { key } = await test.user('ada')
    const save = async (title: string) =>
      (await test.fetch('/api/prompts', { ...json('POST', { title, content: 'x', visibility: 'public' }), key })).status
    expect(await save('heron')).toBe(201)
    let isOver = false
    const statuses: number[] = []
    const reading = async () => {
      while (!isOver) statuses.push((await test.fetch(`/api/prompts?q=heron&perPage=${(statuses.length % 50) + 1}`, { key })).status)
    }
    const readers = [reading(), reading()]
    await expect.poll(() => statuses.length).toBeGreaterThan(10)
    await server.restart()
    const before = statuses.length
    await expect.poll(() => statuses.length).toBeGreaterThan(before + 10)
    expect(await save('invoice')).toBe(201)
    isOver = true
    await Promise.all(readers)
    // A read that was under way is asked again: nobody notices.
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await readJson(await test.fetch('/api/prompts?q=invoice'))).total).toBe(1)
    await test.close()
    await server.stop()
  })
})
