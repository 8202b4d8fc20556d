import { describe, expect, it } from 'vitest'
import { json, rpc, useTestApp } from '../support/test-app.ts'

/** What hangs on a key ends with it: sessions, and streams that are open. */

const STREAM = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const test = useTestApp()

async function openSession(key?: string): Promise<string> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const answer = await test.fetch('/api/mcp', { ...rpc('initialize', params), headers: STREAM, ...(key === undefined ? {} : { key }) })
  return answer.headers.get('mcp-session-id') ?? ''
}

/** What a stream says until it ends or is cut off. @param onText is called with all that it said so far */
async function readToEnd(response: Response, onText?: (text: string) => void): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk)
      onText?.(text)
    }
  } catch {
    // Cut off.
  }
  return text
}

const streams = [
  [
    'the stream of a session',
    async (key: string) =>
      await test.fetch('/api/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': await openSession(key) }, key }),
  ],
  [
    'a subscription of the 2026 revision',
    (key: string) =>
      test.fetch('/api/mcp', {
        ...rpc('subscriptions/listen', { notifications: { promptsListChanged: true }, _meta: MODERN }),
        headers: { ...STREAM, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
        key,
      }),
  ],
] as const

/** Opens the stream of a session: `changed` resolves when it says that a list changed; `end` ends the session and gives all it said. */
async function listenTo(key?: string): Promise<{ changed: Promise<void>; end: () => Promise<string> }> {
  const session = { 'mcp-session-id': await openSession(key) }
  const as = key === undefined ? {} : { key }
  const stream = await test.fetch('/api/mcp', { headers: { accept: 'text/event-stream', ...session }, ...as })
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/event-stream')])
  const changed = Promise.withResolvers<void>()
  const reading = readToEnd(stream, (text) => text.includes('list_changed') && changed.resolve())
  return {
    changed: changed.promise,
    async end() {
      expect((await test.fetch('/api/mcp', { method: 'DELETE', headers: session, ...as })).status).toBe(200)
      return await reading
    },
  }
}

/** Saves an item, and expects that those of the listeners hear of it that are to. All are told at once, so silence is known then. */
async function expectToHear(key: string, item: object, listeners: readonly (readonly [key: string | undefined, isToHear: boolean])[]) {
  const streams = await Promise.all(listeners.map(async ([own, isToHear]) => ({ ...(await listenTo(own)), isToHear })))
  expect((await test.fetch('/api/prompts', { ...json('POST', { content: 'x', ...item }), key })).status).toBe(201)
  await Promise.all(streams.filter(({ isToHear }) => isToHear).map(({ changed }) => changed))
  const heard = await Promise.all(streams.map(async ({ end }) => (await end()).includes('list_changed')))
  expect(heard).toEqual(streams.map(({ isToHear }) => isToHear))
}

it('the streams of sessions tell members alone of what is for members', async () => {
  const writer = await test.user('ada')
  await expectToHear(writer.key, { title: 'Ours', visibility: 'members' }, [
    [undefined, false],
    [(await test.user('bob', ['write'])).key, false],
    [(await test.user('bob')).key, true],
  ])
})

it('the streams of sessions tell a team of its private items, and a narrowed key of those of its team alone', async () => {
  const ada = await test.user('ada')
  const ben = await test.user('ben')
  for (const team of ['ours', 'theirs']) await test.call(ada.actor, 'create_team', { team })
  await test.call(ada.actor, 'set_team_member', { team: 'ours', username: 'ben', role: 'reader' })
  const signedIn = { ...ada.actor, scopes: new Set([...ada.actor.scopes, 'account' as const]) }
  const narrowTo = async (team: string) => String((await test.call(signedIn, 'create_key', { name: team, team }))['key'])
  const [stranger, ours, theirs] = [(await test.user('zoe')).key, await narrowTo('ours'), await narrowTo('theirs')]
  for (const [item, strangerHears] of [
    [{ title: 'Of the team', owner: 'ours' }, false],
    [{ title: 'Of all', owner: 'ours', visibility: 'public' }, true],
  ] as const)
    await expectToHear(ada.key, item, [
      [ben.key, true],
      [stranger, strangerHears],
      [ours, true],
      [theirs, false],
    ])
})

describe.each(streams)('%s', (_, open) => {
  it('ends soon after its key was revoked, and hears nothing of what is private meanwhile', async () => {
    const owner = await test.user('ada')
    const other = await test.user('ada')
    const stream = await open(owner.key)
    expect(stream.status).toBe(200)
    const reading = readToEnd(stream)
    await test.app.store.keys.revokeKey(owner.actor.keyId ?? '')
    const saved = await test.fetch('/api/prompts', { ...json('POST', { title: 'Secret plan', content: 'Only mine' }), key: other.key })
    expect(saved.status).toBe(201)
    expect(await reading).not.toContain('list_changed')
  })

  it('ends soon after its key expired, and goes on with one that is good', async () => {
    const { actor } = await test.user('bob')
    const day = 24 * 3_600_000
    const { makeKey } = test.app.contextFor({ kind: 'anonymous' }, 'rest').secrets
    const { key, sha256 } = makeKey()
    const expiresAt = new Date(test.app.clock() + day).toISOString()
    await test.app.store.keys.createKey({ name: 'short', userId: actor.userId, sha256, scopes: ['read'], expiresAt })
    const [ending, lasting] = [await open(key), await open((await test.user('bob')).key)]
    test.wait(2 * day)
    await readToEnd(ending)
    const reader = lasting.body?.getReader()
    // real time: a stream that must say nothing has no event to wait for
    const next = await Promise.race([reader?.read(), new Promise((resolve) => setTimeout(resolve, 500, 'still open'))])
    expect(next === 'still open' || Object(next).done === false).toBe(true)
    await reader?.cancel()
  })
})

it('a session of a revoked key is gone', async () => {
  const { key, actor } = await test.user('cleo')
  const session = await openSession(key)
  const stream = await test.fetch('/api/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': session }, key })
  await test.app.store.keys.revokeKey(actor.keyId ?? '')
  await readToEnd(stream)
  // Neither the key nor its session, which no other caller has.
  for (const as of [{ key }, {}]) {
    const answer = await test.fetch('/api/mcp', { ...rpc('ping'), headers: { ...STREAM, 'mcp-session-id': session }, ...as })
    expect(answer.status).toBe('key' in as ? 400 : 404)
  }
})
