import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../src/library/actor.ts'
import { json, readJson, type TestApp, testApp } from './support/test-app.ts'

const NOBODYS_ID = '00000000-0000-4000-8000-000000000000'
let service: TestApp
/** Keys by whom they belong to; null is nobody's. */
let keys: Record<string, string | null>
let ids: Record<'public' | 'unlisted' | 'private', string>

beforeAll(async () => {
  service = await testApp()
  const owner = await service.user('owner')
  const [other, writer] = [await service.user('other'), await service.user('owner', ['write'])]
  const revoked = await service.user('gone')
  const [{ id } = { id: '' }] = await service.app.store.listKeys('gone')
  await service.app.store.revokeKey(id)
  keys = { nobody: null, owner: owner.key, other: other.key, writer: writer.key, revoked: revoked.key, bad: 'cpb_no' }
  const save = async (visibility: string, title: string, content: string) => {
    const { prompt } = await service.call(owner.actor, 'save_prompt', { title, content, visibility, tags: ['Tag One', 'two'] })
    return String(Object(prompt).id)
  }
  ids = {
    public: await save('public', 'A "public" prompt', 'Write about ${topic} for ${reader:everybody}.\n\t\\ "quoted" é 漢 🎉'),
    unlisted: await save('unlisted', 'An unlisted prompt', 'Nothing in the lists'),
    private: await save('private', 'A private prompt', 'Only mine'),
  }
  for (let count = 0; count < 30; count++)
    await save('public', `Letter ${count} about writing`, `Write letter ${count}. ${'Long. '.repeat(count)}`)
})
afterAll(() => service.close())

/** An answer as it can be compared: what is random in it has no part. */
async function show(answer: Response) {
  const headers = Object.fromEntries(answer.headers)
  const body = (await answer.text())
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId":""')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}(?=<)/g, '')
    .replaceAll(/nextCursor\\?":\\?"[^"]+"/g, 'nextCursor"')
  // The length of what was random.
  for (const name of ['x-request-id', 'content-length']) delete headers[name]
  if (body.includes('nextCursor')) delete headers['etag']
  return { status: answer.status, headers, body }
}

/** Asks both lanes, and holds their answers against each other; whether the lean one took the request. */
async function compare(path: string, options: RequestInit & { key?: string }, isLeanFirst: boolean): Promise<boolean> {
  const early = isLeanFirst ? await service.fetchLean(path, options) : null
  const full = await service.fetchFull(path, options)
  const lean = isLeanFirst ? early : await service.fetchLean(path, options)
  if (!lean) return false
  expect(await show(lean)).toEqual(await show(full))
  return true
}

const weigh = <T>(...usual: T[]) => fc.constantFrom(...usual)
const ref = () =>
  fc.oneof(
    weigh(ids.public, 'a-public-prompt', 'letter-3-about-writing'),
    weigh(ids.unlisted, ids.private, 'a-private-prompt', NOBODYS_ID, '', 'x'.repeat(300)),
  )
const query = () =>
  fc.oneof(weigh('letter', 'about writing', '', 'a', 'lettr', 'nothing like it'), fc.string({ unit: 'grapheme', maxLength: 20 }))
const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(undefined))
/** Now and then something, else nothing. */
const seldom = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
/** Mostly a good value, sometimes any other. */
const mostly = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: odd })
const meta = seldom(
  fc.oneof(
    fc.constant({}),
    fc.record({ progressToken: mostly(fc.oneof(fc.string(), fc.integer())) }),
    fc.constant({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }),
  ),
)
const withMeta = (params: fc.Arbitrary<object>) =>
  fc.tuple(params, meta).map(([given, _meta]) => (_meta === undefined ? given : { ...given, _meta }))
const tool = () =>
  fc.oneof(
    fc.record({
      name: fc.constant('search_prompts'),
      arguments: mostly(
        fc.record({
          query: mostly(query()),
          limit: mostly(fc.integer({ min: -1, max: 60 })),
          tag: mostly(weigh(undefined, 'two', 'none')),
        }),
      ),
    }),
    fc.record({
      name: fc.constant('get_prompt'),
      arguments: mostly(
        fc.record({ id: mostly(ref()), variables: mostly(weigh<unknown>(undefined, undefined, {}, { topic: 'it' }, { topic: 1 })) }),
      ),
    }),
    fc.record({
      name: weigh('search_skills', 'get_skill', 'improve_prompt', 'save_prompt', 'no_such_tool', '__proto__'),
      arguments: mostly(fc.record({ query: query(), id: ref(), prompt: query() })),
    }),
    fc.record({ name: odd, arguments: odd }),
  )
const message = () =>
  fc
    .oneof(
      fc.record({ method: weigh('ping', 'tools/list'), params: mostly(withMeta(fc.constant({}))) }),
      fc.record({
        method: fc.constant('initialize'),
        params: mostly(
          withMeta(
            fc.record({
              protocolVersion: weigh('2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01'),
              capabilities: mostly(
                weigh<object>(
                  {},
                  { roots: { listChanged: true } },
                  { sampling: {}, elicitation: {} },
                  { elicitation: { form: {} } },
                  { experimental: { a: {} } },
                ),
              ),
              clientInfo: mostly(fc.record({ name: fc.string(), version: fc.string() })),
            }),
          ),
        ),
      }),
      fc.record({ method: fc.constant('tools/call'), params: mostly(withMeta(tool())) }),
      fc.record({ method: fc.constant('prompts/list'), params: mostly(withMeta(weigh<object>({}, { cursor: 'not one of ours' }))) }),
      fc.record({
        method: fc.constant('prompts/get'),
        params: mostly(
          withMeta(
            fc.record({
              name: mostly(ref()),
              arguments: mostly(weigh<unknown>(undefined, {}, { topic: 'x', reader: '${topic}' }, { topic: 1 }, { other: 'y' })),
            }),
          ),
        ),
      }),
      fc.record({
        method: fc.oneof(weigh('resources/list', 'tools/call', 'notifications/initialized', 'completion/complete'), fc.string()),
        params: odd,
      }),
    )
    .chain((call) =>
      fc.record({
        jsonrpc: mostly(fc.constant('2.0')),
        id: mostly(fc.oneof(fc.nat(), fc.string(), fc.double(), fc.integer())),
        method: mostly(fc.constant(call.method)),
        params: fc.constant(call.params),
        ...(call.method === '' ? { extra: fc.constant(1) } : {}),
      }),
    )
const accept = seldom(
  weigh('application/json', '*/*', 'text/html,*/*;q=0.8', 'application/json, text/event-stream', 'text/event-stream', 'text/html', ''),
)
const headers = fc.record({
  'content-type': mostly(weigh('application/json', 'application/json; charset=utf-8')).map((type) =>
    typeof type === 'string' && /^[\w/;=.+ -]*$/.test(type) ? type : 'text/plain',
  ),
  accept: fc.oneof(accept, weigh(undefined, 'application/json', 'text/html,*/*;q=0.8')),
  'mcp-protocol-version': seldom(weigh('2025-06-18', '2025-11-25', '2026-07-28', 'x')),
  origin: seldom(weigh('http://127.0.0.1:3000', 'https://elsewhere.example', 'null')),
  'accept-encoding': seldom(weigh('gzip, deflate, br', 'gzip', 'identity')),
  host: seldom(weigh('localhost:3000', 'elsewhere.example', '127.0.0.1')),
  authorization: seldom(weigh('Bearer nothing', 'Basic eDp5')),
  cookie: seldom(weigh('theme=dark', 'commonplace.session_token=x')),
  'if-none-match': seldom(weigh('*', '"x"')),
})
const defined = (given: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
const who = fc.oneof(fc.constant('nobody'), weigh('owner', 'other', 'writer', 'revoked', 'bad'))
const withKey = (name: string) => {
  const key = keys[name] ?? null
  return key === null ? {} : { key }
}

describe('the lean lane', () => {
  it('answers MCP in the words of the full lane, or not at all', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(
        message(),
        headers,
        who,
        weigh('', '', '?tags=two', '?users=owner&categories='),
        fc.boolean(),
        async (call, given, caller, search, isLeanFirst) => {
          const body = JSON.stringify(call)
          if (await compare(`/api/mcp${search}`, { method: 'POST', headers: defined(given), body, ...withKey(caller) }, isLeanFirst))
            taken++
        },
      ),
      { numRuns: 600 },
    )
    expect(taken).toBeGreaterThan(60)
  })

  it('answers reads in the words of the full lane, or not at all', async () => {
    let taken = 0
    const listPath = weigh(
      ...['/api/prompts', '/api/search/prompts', '/api/skills', '/api/tags', '/api/categories', '/api/exposed-prompts', '/api/trash'],
    )
    const parameter = weigh('q', 'query', 'perPage', 'page', 'limit', 'tag', 'sort', 'all', 'x', 'cursor')
    const value = fc.oneof(query(), weigh('1', '2', '-1', 'true', 'two', 'votes', '%', '%zz', '+a+', '%e4'))
    const path = fc.oneof(
      fc.tuple(listPath, fc.array(fc.tuple(parameter, value), { maxLength: 3 })).map(([base, pairs]) => {
        const parts = pairs.map(([name, text]) => `${name}=${/^[%+]/.test(text) ? text : encodeURIComponent(text.toWellFormed())}`)
        return parts.length === 0 ? base : `${base}?${parts.join('&')}`
      }),
      fc
        .tuple(weigh('/api/prompts/', '/api/skills/'), ref(), weigh('', '/versions', '/versions/1', '/versions/9', '/'))
        .map(([base, name, rest]) => base + name + rest),
      fc
        .tuple(weigh('/', '/prompts', '/skills', '/prompts/a-public-prompt'), weigh('', '?page=2', '?q=letter', '?page=99', '?tag=two'))
        .map((parts) => parts.join('')),
      weigh('/api/', '/api/nothing', '/api/openapi.json', '/api/prompts/../tags', '/api//prompts', '/api/prompts/%61', '/healthz', '/'),
    )
    await fc.assert(
      fc.asyncProperty(path, headers, who, fc.boolean(), async (address, given, caller, isLeanFirst) => {
        const { 'content-type': _, ...others } = defined(given)
        if (await compare(address, { headers: others, ...withKey(caller) }, isLeanFirst)) taken++
      }),
      { numRuns: 600 },
    )
    expect(taken).toBeGreaterThan(60)
  })

  it.each([
    ['ping', undefined],
    ['tools/list', {}],
    ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }],
    ['prompts/list', undefined],
    ['prompts/get', { name: 'a-public-prompt' }],
    ['tools/call', { name: 'search_prompts', arguments: { query: 'letter' } }],
    ['tools/call', { name: 'get_prompt', arguments: { id: 'a-public-prompt' } }],
    ['tools/call', { name: 'get_prompt', arguments: { id: 'nothing-here' } }],
  ])('takes a plain %s', async (method, params) => {
    const call = json('POST', { jsonrpc: '2.0', id: 'x', method, params })
    expect(await compare('/api/mcp', call, true)).toBe(true)
    const full = await service.fetchFull('/api/mcp', call)
    const lean = await service.fetchLean('/api/mcp', call)
    expect(await lean?.text()).toBe(await full.text())
  })

  it.each([
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], {}],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }, {}],
    [
      'what may take long',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'improve_prompt', arguments: { prompt: 'x' } } },
      {},
    ],
    ['a session', { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'x' }],
    [
      'an initialize that opens a session',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
      },
      { accept: 'application/json, text/event-stream' },
    ],
    ['the 2026 revision', { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-protocol-version': '2026-07-28' }],
    ['a page elsewhere', { jsonrpc: '2.0', id: 1, method: 'ping' }, { origin: 'https://elsewhere.example' }],
    ['a host that is not ours', { jsonrpc: '2.0', id: 1, method: 'ping' }, { host: 'elsewhere.example' }],
  ])('leaves %s to the full lane', async (_, body, more) => {
    expect(
      await service.fetchLean('/api/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: JSON.stringify(body),
      }),
    ).toBeNull()
  })
})

/** What a reader without anything of their own is shown, by every read of lists and items. */
async function readAll(key: string | undefined) {
  const paths = [
    ...[
      '/api/prompts',
      '/api/prompts?q=letter',
      '/api/prompts?sort=votes&perPage=5',
      '/api/search/prompts?query=writing',
      '/api/tags',
      '/api/categories?all=true',
      '/api/exposed-prompts',
      '/api/exposed-prompts?tags=two',
      '/api/skills',
    ],
    ...Object.values(ids).flatMap((id) => [`/api/prompts/${id}`, `/api/prompts/${id}/versions`]),
    '/api/prompts/a-public-prompt',
  ]
  const options = key === undefined ? {} : { key }
  const shown: unknown[] = []
  for (const path of paths) {
    const { nextCursor, requestId, ...answer } = await readJson(await service.fetch(path, options))
    shown.push([path, answer, nextCursor === undefined])
  }
  return shown
}

describe('what is remembered of public reads', () => {
  it('is what a reader who is not answered from it is shown, after every kind of change', async () => {
    const { actor } = await service.user('owner')
    const { key: strangersKey } = await service.user('stranger', ['read'])
    const { key: votersKey } = await service.user('voter')
    const change = (body: object) => () => service.call(actor, 'update_prompt', { id: ids.public, ...body })
    const changes: [string, () => Promise<unknown>][] = [
      ['nothing', async () => {}],
      ['an edit', change({ content: 'Write another letter.', note: 'other' })],
      ['a title', change({ title: 'Another title' })],
      ['tags', change({ tags: ['three'] })],
      ['a vote', () => service.fetch(`/api/prompts/${ids.public}/vote`, { method: 'PUT', key: votersKey })],
      ['unlisted', change({ visibility: 'unlisted' })],
      ['private', change({ visibility: 'private' })],
      ['public again', change({ visibility: 'public' })],
      ['deleted', () => service.call(actor, 'delete_item', { collection: 'prompts', id: ids.public })],
      ['another public', () => service.call(actor, 'update_prompt', { id: ids.private, visibility: 'public' })],
      ['private again', () => service.call(actor, 'update_prompt', { id: ids.private, visibility: 'private' })],
      ['a category', () => service.app.store.createCategory({ slug: 'new', name: 'New', parent: null })],
    ]
    let before = ''
    let seen = 0
    for (const [what, make] of changes) {
      await make()
      const stranger = await readAll(strangersKey)
      expect(await readAll(undefined), what).toEqual(stranger)
      // And once more, now that all of it is remembered.
      expect(await readAll(undefined), what).toEqual(stranger)
      const now = JSON.stringify(stranger)
      if (now !== before) seen++
      before = now
    }
    expect(seen).toBeGreaterThan(changes.length - 2)
  })

  it('never holds what somebody alone may see', async () => {
    const { key } = await service.user('owner')
    for (const path of [`/api/prompts/${ids.private}`, `/api/prompts/${ids.unlisted}`]) {
      expect((await service.fetch(path, { key })).status, path).toBe(200)
      expect((await service.fetch(path, { key })).status, path).toBe(200)
    }
    expect((await service.fetch(`/api/prompts/${ids.private}`)).status).toBe(404)
    const listed = await readJson(await service.fetch('/api/prompts?q=mine', { key }))
    expect(listed.prompts.map((prompt: { id: string }) => prompt.id)).toContain(ids.private)
    expect(JSON.stringify(await readJson(await service.fetch('/api/prompts?q=mine')))).not.toContain(ids.private)
    expect(await service.app.store.findPrompt(ANONYMOUS, ids.private)).toBeNull()
  })
})
