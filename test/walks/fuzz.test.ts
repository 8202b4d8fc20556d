import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../bench/recombined-prompts.ts'
import { answerWith } from '../../src/server/listen.ts'
import { json, readJson, rpc, type TestApp, testApp } from '../support/test-app.ts'
import { signUp } from '../support/visitor.ts'

/**
 * Hostile requests by chance, the same for the same seed: routes that are there, with everything about them made wrong.
 * FUZZ_SEED and FUZZ_REQUESTS choose others, and more.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122)
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 3_000)
const CONNECTIONS = Math.ceil(REQUESTS / 10)
const ORIGIN = 'http://127.0.0.1:3000'

const random = seededRandom(SEED)
const upTo = (count: number) => Math.floor(random() * count)
const oneOf = <T>(values: readonly T[]): T => {
  const place = upTo(values.length)
  if (!(place in values)) throw new Error('nothing to choose from')
  return values[place] as T
}
const often = (share: number) => random() < share

/** Texts that programs trip over. */
const TEXTS = [
  '',
  ' ',
  '\0',
  '\n\r\t',
  '%00',
  '../../etc/passwd',
  '..\\..\\',
  '__proto__',
  'constructor',
  "' or 1=1; --",
  '"}]}',
  '<script>alert(1)</script>',
  '${x}${${y}}',
  '\ud800',
  '\u202eabc',
  'é'.normalize('NFD'),
  '-1',
  '1e309',
  'NaN',
  'null',
  'undefined',
  '00000000-0000-4000-8000-000000000000',
  '*',
  '(((((((((((((((((((((',
  '---\nname: x\n---\n',
  '&a &b *a',
  '${'.repeat(500),
  '😀'.repeat(300),
  'a'.repeat(5_000),
]
const anyText = () => (often(0.2) ? Array.from({ length: upTo(40) }, () => String.fromCharCode(upTo(0x3000))).join('') : oneOf(TEXTS))

function anyValue(depth = 0): unknown {
  if (depth < 3 && often(0.25)) return Array.from({ length: upTo(4) }, () => anyValue(depth + 1))
  if (depth < 3 && often(0.25)) return Object.fromEntries(Array.from({ length: upTo(4) }, () => [anyText(), anyValue(depth + 1)]))
  return oneOf([anyText(), upTo(100) - 50, random() * 1e300, true, false, null, Number.MAX_SAFE_INTEGER, -0])
}

/** A body as its route takes it, with some of it wrong. */
function spoil(body: Record<string, unknown>): Record<string, unknown> {
  const spoiled: Record<string, unknown> = { ...body }
  for (const name of Object.keys(body)) if (often(0.3)) spoiled[name] = anyValue()
  if (often(0.3)) spoiled[anyText()] = anyValue()
  if (often(0.1) && Object.keys(spoiled).length > 0) delete spoiled[oneOf(Object.keys(spoiled))]
  return spoiled
}

let test: TestApp
let publicId: string
const log: string[] = []
const callers: { readonly key?: string; readonly cookies?: string }[] = [{}]
let server: Server
beforeAll(async () => {
  test = await testApp({}, {}, null, {}, { write: (line) => log.push(line) })
  await signUp(test, 'owner')
  const { actor, key } = await test.user('owner')
  publicId = Object((await test.call(actor, 'save_prompt', { title: 'Kept', content: 'Kept text', visibility: 'public' }))['prompt']).id
  const files = [{ filename: 'SKILL.md', content: '---\nname: kept\ndescription: d\n---\n' }]
  await test.call(actor, 'save_skill', { title: 'Kept skill', files, visibility: 'public' })
  // Others than the owner: what is kept must be as it was in the end.
  callers.push(
    { key: (await test.user('fuzz')).key },
    { key: `${key.slice(0, -1)}!` },
    { cookies: (await signUp(test, 'fuzzer')).cookies() },
  )
  callers.push({ cookies: `commonplace.session_token=${publicId}.x; =; ;;` })

  server = createServer(answerWith(test.pipeline))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await test.close()
})

function anyTarget(): { method: string; target: string; kind: string } {
  const { method, path, kind } = oneOf(test.routes)
  const known = () => oneOf([publicId, 'kept', 'kept-skill', 'owner', '1', 'prompts', 'skills', 'SKILL.md'])
  const filled = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent((often(0.7) ? known() : anyText()).toWellFormed()))
  const names = 'q query page perPage limit tag category sort cursor users url prompt file view token __proto__'.split(' ')
  const query = Array.from({ length: upTo(4) }, () => `${oneOf(names)}=${encodeURIComponent(anyText().toWellFormed())}`).join('&')
  const target = `${often(0.05) ? encodeURI(anyText().toWellFormed()) : ''}${filled}${query === '' ? '' : `?${query}`}`
  return {
    method: often(0.15) ? oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) : method,
    target: target.startsWith('/') ? target : `/${target}`,
    kind,
  }
}

const METHODS = [
  'initialize ping tools/list tools/call prompts/list prompts/get resources/list resources/read skills/list skills/get',
  'completion/complete logging/setLevel notifications/initialized subscriptions/listen server/discover',
].flatMap((line) => line.split(' '))
function anyMessage(): unknown {
  const tools = test.app.operations.filter(({ surfaces }) => surfaces.mcp).map(({ name }) => name)
  const args = spoil({
    id: 'kept',
    query: 'x',
    skillId: 'kept-skill',
    filename: 'SKILL.md',
    title: 'x',
    content: 'x',
    limit: 5,
    variables: {},
  })
  const params = spoil({
    name: often(0.8) ? oneOf([...tools, 'kept']) : anyText(),
    arguments: args,
    uri: 'skill://owner/kept/SKILL.md',
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  })
  const message = {
    jsonrpc: '2.0',
    id: oneOf<unknown>([1, 'a', null, 1.5, -1, {}, undefined]),
    method: oneOf(METHODS),
    params: often(0.9) ? params : anyValue(),
  }
  return often(0.2) ? spoil(message) : message
}

function anyBody(kind: string, target: string): { body: string | Uint8Array; type: string } {
  const bodies = spoil({
    title: 'T',
    content: 'C',
    description: 'd',
    tags: ['a'],
    category: 'coding',
    files: [{ filename: 'SKILL.md', content: 'x' }],
    filename: 'a.txt',
    variables: { a: 'b' },
    prompt: 'p',
    owner: 'owner',
    path: 'kept',
    baseVersion: 1,
    slug: 'x',
    visibility: 'private',
    arguments: {},
  })
  const isMcp = target.startsWith('/api/mcp')
  const value = isMcp ? (often(0.1) ? Array.from({ length: 1 + upTo(5) }, anyMessage) : anyMessage()) : bodies
  const text = JSON.stringify(value) ?? ''
  if (kind === 'page') {
    const fields = Object.entries(bodies).map(([name, field]): [string, string] => [
      name.toWellFormed(),
      String(typeof field === 'object' ? 'x' : field).toWellFormed(),
    ])
    const form = new URLSearchParams([
      ...fields,
      ['do', oneOf(['save', 'preview', 'improve', 'create', 'revoke', 'vote', 'feature', 'x'])],
    ]).toString()
    return { body: form, type: often(0.9) ? 'application/x-www-form-urlencoded' : 'multipart/form-data; boundary=x' }
  }
  const type = often(0.9) ? 'application/json' : oneOf(['text/plain', '', 'application/json; charset=utf-16', 'multipart/form-data'])
  if (often(0.05)) return { body: text.slice(0, upTo(text.length)), type }
  if (often(0.03)) return { body: Buffer.from([0xff, 0xfe, ...Buffer.from(text)]), type }
  if (often(0.03)) return { body: `${'['.repeat(20_000)}${']'.repeat(20_000)}`, type }
  if (often(0.03)) return { body: `{${Array.from({ length: 3_000 }, (_, n) => `"a${n}":1`).join(',')}}`, type }
  return { body: text, type }
}

/** Statuses that are a fault of ours. oEmbed asks for 501; 503 says that too many passwords are checked at once. */
const isFault = (status: number) => status >= 500 && status !== 501 && status !== 503

it(`no request makes a fault (seed ${SEED})`, async () => {
  const faults: string[] = []
  for (let n = 0; n < REQUESTS; n++) {
    const { method, target, kind } = anyTarget()
    if (target.startsWith('/sign-out')) continue
    const { key, cookies } = oneOf(callers)
    const headers = new Headers()
    if (cookies !== undefined) headers.set('cookie', cookies)
    if (often(0.5))
      headers.set(
        'accept',
        oneOf(['application/json, text/event-stream', 'text/html', 'text/event-stream', '*/*', 'x', 'application/json;q=0']),
      )
    if (often(0.8)) headers.set('origin', often(0.9) ? ORIGIN : oneOf(['null', 'http://evil.example', 'x']))
    if (often(0.2)) headers.set('mcp-protocol-version', oneOf(['2025-06-18', '2025-03-26', '2026-07-28', 'x']))
    if (often(0.1)) headers.set('mcp-session-id', oneOf(['x', publicId]))
    if (often(0.1))
      headers.set(
        oneOf(['range', 'if-none-match', 'x-forwarded-for', 'accept-encoding', 'sec-fetch-site', 'content-encoding', 'last-event-id']),
        'x"\\, ;*',
      )
    const sent = method === 'GET' || method === 'HEAD' ? null : anyBody(kind, target)
    if (sent && sent.type !== '') headers.set('content-type', sent.type)
    const what = `#${n} ${method} ${target.slice(0, 200)} ${String(sent?.body ?? '').slice(0, 300)}`
    const response = await test.fetch(target, {
      method,
      headers,
      redirect: 'manual',
      ...(sent && { body: typeof sent.body === 'string' ? sent.body : new Uint8Array(sent.body) }),
      ...(key !== undefined && { key }),
    })
    // What is streamed on and on is left.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      void response.body?.cancel()
      continue
    }
    const text = await response.text()
    if (isFault(response.status) || /"(?:error|code)":"internal"|"code":-32603/.test(text))
      faults.push(`${response.status} ${what} → ${text.slice(0, 200)}`)
  }
  faults.push(...log.filter((line) => JSON.parse(line).level >= 50))
  expect(faults.slice(0, 5)).toEqual([])
})

describe('bytes that are no request', () => {
  const LINES = [
    'GET / HTTP/1.1',
    'POST /api/mcp HTTP/1.1',
    'GET /api/prompts?q=%ff%fe HTTP/1.1',
    'GET //evil.example HTTP/1.1',
    'GET * HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'PRI * HTTP/2.0',
    'CONNECT evil.example:443 HTTP/1.1',
    'TRACE / HTTP/1.1',
    'GET http://127.0.0.1/ HTTP/1.1',
    'GET /\\..\\.. HTTP/1.1',
    'GET /%2e%2e/%2e%2e HTTP/1.1',
    'get / http/1.1',
    '\u0016\u0003\u0001',
  ]
  const FIELDS = [
    'Host: 127.0.0.1',
    'Host: ',
    'Host: a b',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Upgrade: websocket',
    'Connection: upgrade',
    'Expect: 100-continue',
    'X: \u0001',
    'Cookie: a=b; a=c',
    'Content-Type: application/json',
    `Cookie: ${'x'.repeat(9_000)}`,
    ': x',
    'X-API-Key: cpb_x',
  ]
  const BODIES = [
    '',
    'hello',
    '5\r\nhello\r\n0\r\n\r\n',
    'ffffffffffffffff\r\nx',
    '0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n',
    '{"jsonrpc":"2.0"}',
  ]

  it(`end no process and reach no library (seed ${SEED})`, async () => {
    const { port } = server.address() as AddressInfo
    const statuses = new Set<number>()
    const sendRaw = (bytes: Buffer) =>
      new Promise<string>((resolve) => {
        let answer = ''
        const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
        socket.setEncoding('latin1')
        // real time: an unfinished request has no answer to wait for
        socket.setTimeout(2_000, () => socket.destroy())
        socket.on('data', (piece: string) => {
          answer += piece
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve(answer))
      })
    for (let n = 0; n < CONNECTIONS; n++) {
      const fields = Array.from({ length: upTo(5) }, () => oneOf(FIELDS))
      const text = `${oneOf(LINES)}\r\n${fields.join('\r\n')}\r\n\r\n${oneOf(BODIES)}`
      const bytes = Buffer.from(text, 'latin1')
      if (often(0.3)) bytes[upTo(bytes.length)] = upTo(256)
      const answer = await sendRaw(often(0.1) ? bytes.subarray(0, upTo(bytes.length)) : bytes)
      for (const [, status] of answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)) statuses.add(Number(status))
      expect(answer).not.toMatch(/Internal error|at .*\.ts:/)
    }
    expect([...statuses].filter(isFault)).toEqual([])
    expect(statuses.has(400)).toBe(true)
  })
})

it('leaves the service as it was', async () => {
  const kept = await readJson(await test.fetch(`/api/prompts/${publicId}`))
  expect([kept.title, kept.content, kept.versions.length]).toEqual(['Kept', 'Kept text', 1])
  expect((await test.fetch('/healthz')).status).toBe(200)
  expect((await readJson(await test.fetch('/api/mcp', rpc('ping')))).result).toEqual({})
  const saved = await test.fetch('/api/prompts', { ...json('POST', { title: 'After', content: 'x' }), key: (await test.user('owner')).key })
  expect(saved.status).toBe(201)
  expect({}).not.toHaveProperty('polluted')
  expect(Object.keys(Object.prototype)).toEqual([])
})
