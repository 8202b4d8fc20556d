import { beforeAll, describe, expect, it } from 'vitest'
import { json, readJson, rpc, useTestApp } from '../support/test-app.ts'

/** Each limit one under, at, and one over it; each refusal names the field, and nothing is written. */

const LONG = (length: number, letter = 'é') => letter.repeat(length)
const SKILL_MD = { filename: 'SKILL.md', content: '# x' }
const manyFiles = (count: number) => [SKILL_MD, ...Array.from({ length: count - 1 }, (_, n) => ({ filename: `f/${n}.txt`, content: 'x' }))]
const KIB = 1024

const test = useTestApp()
let key: string
let skillId: string

beforeAll(async () => {
  const user = await test.user('ada')
  key = user.key
  const saved = await test.call(user.actor, 'save_skill', {
    title: 'Base',
    files: [SKILL_MD, { filename: 'dir/a.txt', content: 'a' }],
    isPrivate: false,
  })
  skillId = Object(saved['skill']).id
})

async function callTool(name: string, args: unknown, withKey = true) {
  const response = await test.fetch('/api/mcp', { ...rpc('tools/call', { name, arguments: args }), ...(withKey ? { key } : {}) })
  expect(response.status).toBe(200)
  const { result } = await readJson(response)
  return { isError: result.isError === true, body: JSON.parse(result.content[0].text) }
}

async function countItems(): Promise<number> {
  const count = async (path: string) => (await readJson(await test.fetch(path, { key }))).total
  return (await count('/api/prompts')) + (await count('/api/skills'))
}

/** [tool, arguments over good ones, what the sentence must name, or null when it must succeed] */
type Row = readonly [string, Record<string, unknown>, RegExp | null]
const prompt = { title: 'T', content: 'C' }
const skill = { title: 'T', files: [SKILL_MD] }
const files = (...names: string[]) => ({ ...skill, files: [SKILL_MD, ...names.map((filename) => ({ filename, content: 'x' }))] })

const ROWS: readonly Row[] = [
  ['save_prompt', { ...prompt, title: LONG(199) }, null],
  ['save_prompt', { ...prompt, title: LONG(200, '😀') }, null],
  ['save_prompt', { ...prompt, title: LONG(201) }, /title.*201.*200/],
  ['save_prompt', { ...prompt, title: ' \t\n' }, /title.*blank/],
  ['save_prompt', { ...prompt, title: '' }, /title/],
  ['save_prompt', { content: 'C' }, /title is required/],
  ['save_prompt', { ...prompt, title: 5 }, /title must be a string/],
  ['save_prompt', { ...prompt, title: 'a\0b' }, /title.*NUL/],
  ['save_prompt', { ...prompt, title: 'a\ud800b' }, /title.*surrogate/],
  ['save_prompt', { ...prompt, description: LONG(500) }, null],
  ['save_prompt', { ...prompt, description: LONG(501) }, /description.*501.*500/],
  ['save_prompt', { ...prompt, description: 'a\0' }, /description.*NUL/],
  ['save_prompt', { ...prompt, content: LONG(200_000) }, null],
  ['save_prompt', { ...prompt, content: LONG(200_001) }, /content.*200001.*200000/],
  ['save_prompt', { ...prompt, content: '\n' }, /content.*blank/],
  ['save_prompt', { ...prompt, content: 'x\udfff' }, /content.*surrogate/],
  ['save_prompt', { ...prompt, tags: Array.from({ length: 10 }, (_, n) => `t${n}`) }, null],
  ['save_prompt', { ...prompt, tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }, /tags.*11.*10/],
  ['save_prompt', { ...prompt, tags: [LONG(50)] }, null],
  ['save_prompt', { ...prompt, tags: [LONG(51)] }, /tags\[0\].*51.*50/],
  ['save_prompt', { ...prompt, tags: [''] }, /tags\[0\]/],
  ['save_prompt', { ...prompt, tags: ['ok', '!!!'] }, /tags\[1\].*letter or digit/],
  ['save_prompt', { ...prompt, tags: 'one' }, /tags must be an array/],
  ['save_prompt', { ...prompt, type: 'POEM' }, /type must be one of: TEXT, STRUCTURED, IMAGE, VIDEO, AUDIO/],
  ['save_prompt', { ...prompt, type: 'text' }, /type/],
  ['save_prompt', { ...prompt, category: 'nonsense' }, /category "nonsense".*coding/],
  ['save_prompt', { ...prompt, isPrivate: 'yes' }, /isPrivate must be true or false/],
  ['save_prompt', { ...prompt, isPrivate: true, visibility: 'private' }, /visibility and isPrivate/],
  ['save_prompt', { ...prompt, visibility: 'secret' }, /visibility must be one of/],
  ['search_prompts', { query: 'x', limit: 1 }, null],
  ['search_prompts', { query: 'x', limit: 50 }, null],
  ['search_prompts', { query: 'x', limit: 0 }, /limit must be at least 1/],
  ['search_prompts', { query: 'x', limit: 51 }, /limit must be at most 50/],
  ['search_prompts', { query: 'x', limit: 1.5 }, /limit must be an integer/],
  ['search_prompts', { query: 'x', limit: 'x' }, /limit must be a number/],
  ['search_prompts', { query: 'x', limit: '5' }, /limit must be a number/],
  ['search_prompts', { limit: 5 }, /query is required/],
  ['search_prompts', { query: 'x', type: 'POEM' }, /type must be one of/],
  ['search_prompts', { query: LONG(10_000) }, null],
  ['search_prompts', { query: LONG(10_001) }, /query.*10000/],
  ['search_prompts', { query: '\0 \ud800 "' }, null],
  ['search_prompts', { query: 'x', category: 'unknown', tag: 'unknown' }, null],
  ['get_prompt', {}, /id is required/],
  ['get_prompt', { id: 5 }, /id must be a string/],
  ['get_prompt', { id: 'nothing' }, /^Prompt not found/],
  ['get_prompt', { id: 'nothing', variables: [] }, /variables must be an object/],
  ['get_prompt', { id: 'nothing', variables: { a: 1 } }, /variables must be an object of strings/],
  ['improve_prompt', {}, /prompt is required/],
  ['improve_prompt', { prompt: '' }, /prompt.*(blank|character)/],
  ['improve_prompt', { prompt: ' \t\n' }, /prompt is blank/],
  ['improve_prompt', { prompt: 5 }, /prompt must be a string/],
  ['improve_prompt', { prompt: 'a\0b' }, /prompt.*NUL/],
  ['improve_prompt', { prompt: 'a\ud800b' }, /prompt.*surrogate/],
  ['improve_prompt', { prompt: LONG(9_999) }, null],
  ['improve_prompt', { prompt: LONG(10_000, '😀') }, null],
  ['improve_prompt', { prompt: LONG(10_001) }, /prompt has 10001 characters; the limit is 10000/],
  ['improve_prompt', { prompt: 'x', outputType: 'poem' }, /outputType must be one of: text, image, video, sound/],
  ['improve_prompt', { prompt: 'x', outputType: 'IMAGE' }, /outputType must be one of/],
  ['improve_prompt', { prompt: 'x', outputFormat: 'json' }, /outputFormat must be one of: text, structured_json, structured_yaml/],
  ['improve_prompt', { prompt: 'x', outputFormat: null }, null],
  ['improve_prompt', { prompt: null }, /prompt must be a string/],
  ['search_prompts', { query: 'x', limit: null, type: null, category: null, tag: '' }, null],
  ['save_prompt', { ...prompt, description: null, tags: null, note: null, isPrivate: null }, null],
  ['save_prompt', { ...prompt, title: null }, /title must be a string/],
  ['save_skill', { title: 'T', files: [] }, /SKILL\.md is missing/],
  ['save_skill', { title: 'T' }, /files is required/],
  ['save_skill', { title: 'T', files: [{ filename: 'skill.md', content: 'x' }] }, /SKILL\.md is missing/],
  ['save_skill', { title: 'T', files: [{ filename: 'docs/SKILL.md', content: 'x' }] }, /SKILL\.md is missing/],
  ['save_skill', files('../x'), /"\.\.\/x".*"\.\."/],
  ['save_skill', files('/abs'), /"\/abs".*slash/],
  ['save_skill', files('a.txt', 'a.txt'), /twice/],
  ['save_skill', files('a.txt', 'A.TXT'), /only in case/],
  ['save_skill', files(LONG(255, 'x')), null],
  ['save_skill', files(LONG(256, 'x')), /255 bytes/],
  ['save_skill', { ...skill, files: manyFiles(512) }, null],
  ['save_skill', { ...skill, files: manyFiles(513) }, /513.*512/],
  ['save_skill', { ...skill, files: [SKILL_MD, { filename: 'a', content: LONG(1024 * KIB, 'x') }] }, null],
  ['save_skill', { ...skill, files: [SKILL_MD, { filename: 'a', content: LONG(1024 * KIB + 1, 'x') }] }, /"a" has 1048577 bytes.*1048576/],
  ['save_skill', { ...skill, files: [{ filename: 'SKILL.md', content: 'x\ud800' }] }, /surrogate/],
  ['save_skill', { ...skill, files: [SKILL_MD, { filename: 'a', content: '!', encoding: 'base64' }] }, /base64/],
  ['save_skill', { ...skill, title: LONG(201) }, /title/],
]

const FILE_ROWS: readonly Row[] = [
  ['add_file_to_skill', { filename: 'SKILL.md', content: 'x' }, /SKILL\.md exists in every skill/],
  ['add_file_to_skill', { filename: 'dir/a.txt', content: 'x' }, /File "dir\/a\.txt" already exists/],
  ['add_file_to_skill', { filename: 'x' }, /content is required/],
  ['update_skill_file', { filename: 'nope', content: 'x' }, /File "nope" not found/],
  ['remove_file_from_skill', { filename: 'SKILL.md' }, /SKILL\.md is required/],
  ['remove_file_from_skill', { filename: 'nope' }, /File "nope" not found/],
]

describe('tools refuse bad input and take what is just within', () => {
  for (const [name, args, refusal] of ROWS) {
    it(`${name} ${JSON.stringify(args).slice(0, 90)} ${refusal ? 'is refused' : 'is taken'}`, async () => {
      const before = await countItems()
      const { isError, body } = await callTool(name, args)
      if (refusal) {
        expect(isError).toBe(true)
        expect(Object.keys(body)).toEqual(['error', 'code'])
        expect(body.error).toMatch(refusal)
        expect(['invalid_input', 'not_found']).toContain(body.code)
        expect(await countItems()).toBe(before)
      } else expect(isError, JSON.stringify(body).slice(0, 300)).toBe(false)
    })
  }
  for (const [name, args, refusal] of FILE_ROWS) {
    it(`${name} ${JSON.stringify(args)} is refused`, async () => {
      const before = await test.fetch(`/api/skills/${skillId}`).then((response) => response.text())
      const { isError, body } = await callTool(name, { skillId, ...args })
      expect(isError).toBe(true)
      expect(body.error).toMatch(refusal ?? /never/)
      expect(await test.fetch(`/api/skills/${skillId}`).then((response) => response.text())).toBe(before)
    })
  }
})

describe('REST refuses with one shape', () => {
  const post = (body: RequestInit['body'], type = 'application/json') => ({
    method: 'POST',
    body: body ?? null,
    headers: { 'content-type': type },
  })
  const ROWS: readonly (readonly [string, RequestInit, number, string, RegExp])[] = [
    ['/api/prompts?perPage=0', {}, 400, 'invalid_input', /perPage must be at least 1/],
    ['/api/prompts?perPage=101', {}, 400, 'invalid_input', /perPage must be at most 100/],
    ['/api/prompts?perPage=abc', {}, 400, 'invalid_input', /perPage must be a number/],
    ['/api/prompts?perPage=1.5', {}, 400, 'invalid_input', /perPage must be an integer/],
    ['/api/prompts?page=0', {}, 400, 'invalid_input', /page must be at least 1/],
    ['/api/prompts?page=-1', {}, 400, 'invalid_input', /page must be at least 1/],
    ['/api/prompts?page=99999', {}, 400, 'invalid_input', /page 99999 does not exist; the last page is \d/],
    ['/api/prompts?page=1e3', {}, 400, 'invalid_input', /page must be a number/],
    ['/api/prompts?type=poem', {}, 400, 'invalid_input', /type must be one of/],
    ['/api/prompts?sort=best', {}, 400, 'invalid_input', /sort must be one of/],
    ['/api/prompts?q=a&q=b', {}, 400, 'invalid_input', /q is given 2 times/],
    ['/api/exposed-prompts?cursor=AAAA', {}, 400, 'invalid_input', /^cursor is invalid\.$/],
    ['/api/prompts/nothing', {}, 404, 'not_found', /^Prompt not found/],
    ['/api/skills/nothing/files/SKILL.md', {}, 404, 'not_found', /^Skill not found/],
    ['/api/prompts/nothing/versions/x', {}, 400, 'invalid_input', /version must be a number/],
    ['/api/prompts', post('{'), 400, 'invalid_input', /not valid JSON/],
    ['/api/prompts', post('[]'), 400, 'invalid_input', /JSON object/],
    ['/api/prompts', post('{}', 'text/plain'), 415, 'unsupported_media_type', /application\/json/],
    ['/api/prompts', post(`{"a":${'['.repeat(64)}${']'.repeat(64)}}`), 400, 'invalid_input', /deeper than 64/],
    ['/api/prompts', post(new Uint8Array([0x7b, 0xff, 0x7d])), 400, 'invalid_input', /UTF-8/],
    ['/api/prompts', post('x'.repeat(5 * KIB * KIB)), 413, 'too_large', /4194304/],
    ['/api/improve-prompt', json('POST', { prompt: 'x'.repeat(10_001) }), 400, 'invalid_input', /prompt has 10001 characters/],
    ['/api/improve-prompt', json('POST', { outputType: 'text' }), 400, 'invalid_input', /prompt is required/],
    ['/api/improve-prompt', { ...json('POST', {}), body: 'prompt' }, 400, 'invalid_input', /not valid JSON/],
    ['/api/improve-prompt', post('{}', 'text/plain'), 415, 'unsupported_media_type', /JSON/],
    ['/api/improve-prompt', {}, 405, 'method_not_allowed', /POST/],
    ['/api/prompts', { method: 'PUT' }, 405, 'method_not_allowed', /GET, POST/],
    ['/api/nothing', {}, 404, 'not_found', /address/],
    ['/api/trash', { headers: { 'X-API-Key': 'cpb_short' } }, 401, 'invalid_api_key', /malformed/],
  ]
  for (const [path, options, status, code, message] of ROWS) {
    it(`${options.method ?? 'GET'} ${path} is ${status} ${code}`, async () => {
      const isKeyed = !new Headers(options.headers).has('X-API-Key')
      const response = await test.fetch(path, { ...options, ...(isKeyed ? { key } : {}) })
      const body = await readJson(response)
      expect([response.status, body.error]).toEqual([status, code])
      expect(body.message).toMatch(message)
      expect(body.requestId).toBe(response.headers.get('x-request-id'))
      for (const name of Object.keys(body)) expect(['error', 'message', 'details', 'requestId']).toContain(name)
      if (status === 405) expect(response.headers.get('allow')).toBe(path === '/api/prompts' ? 'GET, POST' : 'POST')
      if (status === 401) expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
    })
  }

  it('takes a nesting of 64 and a body just under 4 MiB', async () => {
    const deep = await test.fetch('/api/prompts', {
      ...json('POST', {}),
      body: `{"title":"t","content":"c","x":${'['.repeat(63)}${']'.repeat(63)}}`,
      key,
    })
    expect(deep.status).toBe(201)
    const body = JSON.stringify({ title: 't', content: 'c', x: '' })
    const full = await test.fetch('/api/prompts', {
      ...json('POST', {}),
      body: body.replace('"x":""', `"x":"${'y'.repeat(4 * KIB * KIB - body.length)}"`),
      key,
    })
    expect(full.status).toBe(201)
  })

  it('refuses a stale baseVersion', async () => {
    const made = await readJson(await test.fetch('/api/prompts', { ...json('POST', { title: 't', content: 'c' }), key }))
    const patch = (body: unknown) => test.fetch(`/api/prompts/${made.prompt.id}`, { ...json('PATCH', body), key })
    expect((await patch({ content: 'd', baseVersion: 1 })).status).toBe(200)
    const stale = await patch({ content: 'e', baseVersion: 1 })
    expect([stale.status, (await readJson(stale)).message]).toEqual([409, expect.stringContaining('now at version 2, not 1')])
    expect((await patch({})).status).toBe(400)
  })
})

describe('the MCP endpoint refuses with JSON-RPC errors', () => {
  const raw = (body: string, headers: Record<string, string> = {}) => ({
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
  const ROWS: readonly (readonly [string, RequestInit, number, number])[] = [
    ['malformed JSON', raw('{"jsonrpc"'), 400, -32700],
    ['nesting over 64', raw(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`), 400, -32700],
    ['an id that is an object', rpc('ping', undefined, {}), 400, -32600],
    ['an id beyond all numbers', raw('{"jsonrpc":"2.0","id":1e999,"method":"ping"}'), 400, -32600],
    ['an unknown tool', rpc('tools/call', { name: 'nonsense', arguments: {} }), 200, -32602],
    ['a bad cursor', rpc('prompts/list', { cursor: 'AAAA' }), 200, -32602],
    ['too many members', raw(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[${'1,'.repeat(20_001)}1]}}`), 400, -32700],
    ['an unknown prompt', rpc('prompts/get', { name: 'nonsense' }), 200, -32602],
    ['another content type', raw(JSON.stringify(ping(1)), { 'content-type': 'text/plain' }), 415, -32000],
    ['a body over 4 MiB', raw(JSON.stringify({ ...ping(1), params: { x: 'y'.repeat(5 * KIB * KIB) } })), 413, -32000],
    ['an empty batch', raw('[]'), 400, -32600],
    ['a batch of 21', raw(JSON.stringify(Array.from({ length: 21 }, (_, id) => ping(id)))), 400, -32600],
    ['a batch in a version without', raw(JSON.stringify([ping(1)]), { 'mcp-protocol-version': '2025-06-18' }), 400, -32600],
    ['an unknown version', raw(JSON.stringify(ping(1)), { 'mcp-protocol-version': '1999-01-01' }), 400, -32600],
    ['a bad key', raw(JSON.stringify(ping(1)), { PROMPTS_API_KEY: 'wrong' }), 400, -32000],
    ['a foreign origin', raw(JSON.stringify(ping(1)), { origin: 'https://evil.example' }), 403, -32000],
    ['a foreign host', raw(JSON.stringify(ping(1)), { host: 'evil.example' }), 403, -32000],
    ['GET', { method: 'GET' }, 405, -32000],
    ['DELETE with a bad key', { method: 'DELETE', headers: { PROMPTS_API_KEY: 'wrong' } }, 400, -32000],
  ]
  for (const [what, options, status, code] of ROWS) {
    it(`${what}: ${status}, ${code}`, async () => {
      const response = await test.fetch('/api/mcp', options)
      const body = await readJson(response)
      expect([response.status, body.jsonrpc, body.error.code]).toEqual([status, '2.0', code])
      expect(body.error.message.length).toBeGreaterThan(5)
      expect(body.error.message.length).toBeLessThan(300)
      if (status !== 200) expect(body.error.data).toEqual({ code: expect.any(String), requestId: response.headers.get('x-request-id') })
      if (status === 405) expect(response.headers.get('allow')).toContain('POST')
    })
  }

  it('takes a response without an answer, and any text or number as an id', async () => {
    for (const body of [{ result: {} }, { error: { code: 1, message: 'x' } }]) {
      const response = await test.fetch('/api/mcp', raw(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body })))
      expect([response.status, await response.text()]).toEqual([202, ''])
    }
    for (const id of ['', 'x', 0, -1, 1.5, 2 ** 53 + 2])
      expect(await readJson(await test.fetch('/api/mcp', rpc('ping', undefined, id)))).toEqual({ jsonrpc: '2.0', id, result: {} })
  })

  it('says no more of a bad cursor than that it is one', async () => {
    const answer = async (cursor: string) => (await readJson(await test.fetch('/api/mcp', rpc('prompts/list', { cursor })))).error.message
    expect(new Set(await Promise.all(['AAAA', '', '{}', 'x'.repeat(500)].map(answer))).size).toBe(1)
  })

  it('answers every member of a batch, whatever the SDK makes of it', async () => {
    const members = [
      { method: 'tools/list', params: { _meta: 5 } },
      { method: 'prompts/list', params: { cursor: 5 } },
      { method: 'initialize' },
      { method: 'ping' },
    ]
    const batch = JSON.stringify(members.map((member, id) => ({ jsonrpc: '2.0', id, ...member })))
    const answers = await readJson(await test.fetch('/api/mcp', raw(batch)))
    expect(answers.map((answer: { id: unknown; error?: { code: number } }) => [answer.id, answer.error?.code])).toEqual([
      [0, -32602],
      [1, -32602],
      [2, -32602],
      [3, undefined],
    ])
  })

  it('answers batches bare and in 2025-03-26, each message for itself', async () => {
    const batch = JSON.stringify([ping('a'), { jsonrpc: '2.0', method: 'notifications/initialized' }, { nonsense: true }, ping(2)])
    for (const headers of [{}, { 'mcp-protocol-version': '2025-03-26' }] as Record<string, string>[]) {
      const answers = await readJson(await test.fetch('/api/mcp', raw(batch, headers)))
      expect(answers.map((answer: { id: unknown; error?: { code: number } }) => [answer.id, answer.error?.code])).toEqual([
        ['a', undefined],
        [null, -32600],
        [2, undefined],
      ])
    }
    const silent = await test.fetch('/api/mcp', raw(JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/initialized' }])))
    expect([silent.status, await silent.text()]).toEqual([202, ''])
  })
})
