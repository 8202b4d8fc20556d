import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createApiKey, hashApiKey } from '../../src/auth/credentials.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'
import { json, readJson, rpc, testApp, useTestApp } from '../support/test-app.ts'

const test = useTestApp()
let key: string
const SLOTS = 'Write about ${topic} in ${tone:plain} words, for ${topic}. Not ${f(x)}.'

beforeAll(async () => {
  const ada = await test.user('ada')
  key = ada.key
  const save = (title: string, more: object) => test.call(ada.actor, 'save_prompt', { title, content: SLOTS, isPrivate: false, ...more })
  await save('Letter', { category: 'editing', tags: ['mail'], description: 'For letters' })
  await save('Poem', { category: 'fiction', tags: ['verse', 'mail'] })
  await save('Diary', { isPrivate: true })
  const ben = await test.user('ben')
  await test.call(ben.actor, 'save_prompt', { title: 'Joke', content: 'Tell a joke', isPrivate: false, category: 'fiction' })
})

const call = async (method: string, params?: unknown, path = '/api/mcp', withKey?: string) =>
  await readJson(await test.fetch(path, { ...rpc(method, params), ...(withKey === undefined ? {} : { key: withKey }) }))
const callTool = async (name: string, args: unknown, withKey?: string) => {
  const { result } = await call('tools/call', { name, arguments: args }, '/api/mcp', withKey)
  const { text } = result.content[0]
  return { ...result, text, json: JSON.parse(text) }
}
const listNames = async (query = '', withKey?: string) =>
  (await call('prompts/list', {}, `/api/mcp${query}`, withKey)).result.prompts.map((prompt: { name: string }) => prompt.name)

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  describe('opening', () => {
    it('initialize answers in the version that was asked for', async () => {
      for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
        const { result } = await call('initialize', {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        })
        expect(result).toEqual({
          protocolVersion: version,
          capabilities: {
            tools: { listChanged: false },
            prompts: { listChanged: true },
            resources: { listChanged: true },
            completions: {},
            extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
          },
          serverInfo: { name: 'commonplace', title: 'Commonplace', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
          instructions: expect.stringContaining('search_prompts'),
        })
      }
      const odd = { protocolVersion: ['2025-06-18'], capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      expect(await call('initialize', odd)).toMatchObject({ error: { code: -32602 } })
    })

    it('needs no initialize, no Accept and no session; ping and notifications work', async () => {
      expect(await call('ping')).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
      for (const accept of ['*/*', 'application/json, text/event-stream', 'text/html']) {
        const options = rpc('ping', undefined, 'an id')
        const response = await test.fetch('/api/mcp', { ...options, headers: { ...Object(options.headers), accept } })
        expect([response.status, response.headers.get('content-type')?.split(';')[0]], accept).toEqual([200, 'application/json'])
        expect((await readJson(response)).id).toBe('an id')
      }
      const notification = await test.fetch('/api/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      })
      expect([notification.status, await notification.text()]).toEqual([202, ''])
    })

    it('streams only to a client that takes nothing else', async () => {
      const options = rpc('ping')
      const response = await test.fetch('/api/mcp', { ...options, headers: { ...Object(options.headers), accept: 'text/event-stream' } })
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      expect(await response.text()).toMatch(/^event: message\ndata: \{.*"result":\{\}.*\}\n\n$/)
    })

    it('takes the key in any of the four headers', async () => {
      for (const headers of [
        { PROMPTS_API_KEY: key },
        { 'PROMPTS-API-KEY': key },
        { 'X-API-Key': key },
        { Authorization: `Bearer ${key}` },
        { Authorization: 'Bearer of-a-proxy', 'X-API-Key': key },
      ] as Record<string, string>[]) {
        const options = rpc('prompts/list')
        const body = await readJson(await test.fetch('/api/mcp', { ...options, headers: { ...Object(options.headers), ...headers } }))
        expect(body.result.prompts.length, Object.keys(headers)[0]).toBe(4)
      }
      // A bearer value that is no key is refused, see oauth.test.ts.
      for (const headers of [{ PROMPTS_API_KEY: '' }, { Authorization: 'Basic abc' }] as Record<string, string>[]) {
        const options = rpc('prompts/list')
        const body = await readJson(await test.fetch('/api/mcp', { ...options, headers: { ...Object(options.headers), ...headers } }))
        expect(body.result.prompts.length, JSON.stringify(headers)).toBe(3)
      }
    })

    it('names arguments that a tool or route does not have, beside the answer', async () => {
      const { key } = await test.user('typist')
      const typo = { title: 'Typo', content: 'x', visibilty: 'public', confg: {} }
      const hint = 'Unknown and ignored: "visibilty", "confg".'
      const { result } = await call('tools/call', { name: 'save_prompt', arguments: typo }, '/api/mcp', key)
      expect(result.content[1].text).toContain('visibilty')
      expect(result.structuredContent).not.toHaveProperty('hints')
      const saved = await test.fetch('/api/prompts', { ...json('POST', { ...typo, title: 'Other' }), key })
      expect((await readJson(saved)).hints).toContain(hint)
      const read = await readJson(await test.fetch('/api/prompts/joke?verison=1&__proto__=x'))
      expect(read).toMatchObject({ slug: 'joke', hints: ['Unknown and ignored: "verison".'] })
      // What would choose another answer is refused where it chooses nothing.
      for (const name of ['version', 'label']) {
        const refused = await test.fetch(`/api/prompts/joke/versions?${name}=1`)
        expect([refused.status, (await readJson(refused)).message], name).toEqual([400, expect.stringContaining(name)])
      }
      expect(await readJson(await test.fetch('/api/prompts/joke'))).not.toHaveProperty('hints')
    })

    it('says what is wrong with a key, where clients take 401 for a reason to sign in', async () => {
      const bad = `cpb_${'x'.repeat(43)}`
      const given: [Record<string, string>, number][] = [
        [{ authorization: `Bearer ${bad}` }, 400],
        [{ 'x-api-key': 'mistyped' }, 400],
        [{ prompts_api_key: bad, authorization: 'Bearer of-a-proxy' }, 400],
        [{ authorization: 'Bearer of-another' }, 401],
      ]
      for (const [headers, status] of given) {
        for (const method of ['POST', 'GET', 'DELETE']) {
          const options = method === 'POST' ? rpc('ping') : { method }
          const answer = await test.fetch('/api/mcp', { ...options, headers: { ...Object(options.headers), ...headers } })
          const shown = await readJson(answer)
          expect([answer.status, shown.error.data.code], `${method} ${JSON.stringify(headers)}`).toEqual([
            status,
            status === 400 ? 'invalid_api_key' : 'unauthenticated',
          ])
          expect(shown.id === null).toBe(method !== 'POST')
          expect(answer.headers.get('www-authenticate') === null).toBe(status === 400)
          if (status === 400) expect(shown.error.message).toMatch(/API key/)
        }
        if (status === 400) expect((await test.fetch('/api/prompts', { headers })).status).toBe(401)
      }
      for (const method of ['GET', 'DELETE']) expect((await test.fetch('/api/mcp', { method })).status).toBe(405)
    })

    it('notices a revoked and an expired key on the next request', async () => {
      const { key: doomed, actor } = await test.user('ada')
      expect((await test.fetch('/api/mcp', { ...rpc('ping'), key: doomed })).status).toBe(200)
      await test.app.store.keys.revokeKey(actor.keyId ?? '')
      expect((await test.fetch('/api/mcp', { ...rpc('ping'), key: doomed })).status).toBe(400)
      const shortLived = createApiKey()
      const expiresAt = new Date(test.app.clock() + 60_000).toISOString()
      await test.app.store.keys.createKey({ name: 'k', userId: actor.userId, sha256: hashApiKey(shortLived), scopes: ['read'], expiresAt })
      expect((await test.fetch('/api/mcp', { ...rpc('ping'), key: shortLived })).status).toBe(200)
      test.wait(60_000)
      const late = await test.fetch('/api/mcp', { ...rpc('ping'), key: shortLived })
      expect([late.status, (await readJson(late)).error.message]).toEqual([400, 'The API key has expired.'])
    })
  })

  describe('prompts', () => {
    it('are listed newest first with their arguments, always there', async () => {
      const { result } = await call('prompts/list')
      expect(result).toEqual({
        prompts: [
          // Where an author wrote no description, the first sentences stand in for it.
          { name: 'joke', title: 'Joke', description: 'Tell a joke', arguments: [] },
          {
            name: 'poem',
            title: 'Poem',
            description: 'Write about [topic] in [tone] words, for [topic]. Not ${f(x)}.',
            arguments: expect.any(Array),
          },
          {
            name: 'letter',
            title: 'Letter',
            description: 'For letters',
            arguments: [
              { name: 'topic', description: 'Topic. Required.', required: true },
              { name: 'tone', description: 'Default: plain', required: false },
            ],
          },
        ],
      })
      expect(await listNames('', key)).toEqual(['joke', expect.stringMatching(/^diary-/), 'poem', 'letter'])
    })

    it('are narrowed by the address: alternatives within a parameter, all parameters at once', async () => {
      expect(await listNames('?users=BEN')).toEqual(['joke'])
      expect(await listNames('?users=ben,ada&categories=creative')).toEqual(['joke', 'poem'])
      expect(await listNames('?categories=fiction,editing&tags=mail')).toEqual(['poem', 'letter'])
      expect(await listNames('?tags=verse&users=ben')).toEqual([])
      expect(await listNames('?users=&tags=')).toEqual(['joke', 'poem', 'letter'])
      expect((await call('prompts/get', { name: 'joke' }, '/api/mcp?users=ada')).error.code).toBe(-32602)
      expect((await call('prompts/get', { name: 'letter' }, '/api/mcp?users=ada')).result.messages.length).toBe(1)
      expect(
        (await call('tools/call', { name: 'get_prompt', arguments: { id: 'joke' } }, '/api/mcp?users=ada')).result.isError,
      ).toBeUndefined()
    })

    it('are narrowed by the path too, for clients that drop the rest of an address', async () => {
      const at = async (path: string) =>
        (await call('prompts/list', {}, `/api/mcp${path}`)).result.prompts.map((prompt: { name: string }) => prompt.name)
      expect(await at('/@BEN')).toEqual(['joke'])
      expect(await at('/@ada?categories=fiction')).toEqual(['poem'])
      expect(await at('/tags/mail')).toEqual(await listNames('?tags=mail'))
      expect(await at('/tags/none')).toEqual([])
      expect(await at('/categories/creative')).toEqual(await listNames('?categories=creative'))
      // The path says whose prompts they are, whatever else is asked.
      expect(await at('/@ben?users=ada')).toEqual(['joke'])
      expect(await at('/@nobody')).toEqual([])
      expect((await call('prompts/get', { name: 'joke' }, '/api/mcp/@ada')).error.code).toBe(-32602)
      const get = await test.fetch('/api/mcp/@ada')
      expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      expect((await test.fetch('/api/mcp/nothing', rpc('ping'))).status).toBe(404)
    })

    it('are filled in with values and defaults, and name what is still missing', async () => {
      const get = async (args?: Record<string, string>, name = 'letter') =>
        (await call('prompts/get', { name, ...(args ? { arguments: args } : {}) })).result
      expect(await get({ topic: 'tea $& ${tone}', tone: 'odd', nonsense: 'x' })).toEqual({
        description: 'For letters',
        messages: [
          { role: 'user', content: { type: 'text', text: 'Write about tea $& ${tone} in odd words, for tea $& ${tone}. Not ${f(x)}.' } },
        ],
      })
      expect(await get()).toEqual({
        description: 'For letters',
        messages: [{ role: 'user', content: { type: 'text', text: 'Write about ${topic} in plain words, for ${topic}. Not ${f(x)}.' } }],
        _meta: { 'commonplace/unfilled': ['topic'] },
      })
      const { id } = (await callTool('get_prompt', { id: 'letter' })).json
      expect(await get({ topic: 'x' }, id)).toEqual(await get({ topic: 'x' }))
    })

    it('grow their pages so that a walk stays short, each name once', async () => {
      const crowd = await testApp()
      const { actor } = await crowd.user('ada')
      await crowd.app.store.inTransaction(async (store) => {
        for (let i = 0; i < 250; i++) {
          await store.items.createItem(
            { userId: actor.userId, note: null },
            { kind: 'prompt', ...PLAIN_PROMPT, title: `Prompt ${i}`, content: 'text' },
          )
        }
      })
      // 40 pages are enough for as many as are said to be there.
      for (const { store } of crowd.apps) vi.spyOn(store.items, 'countPrompts').mockResolvedValue(4_800)
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const { result } = await readJson(await crowd.fetch('/api/mcp', rpc('prompts/list', cursor === undefined ? {} : { cursor })))
        pages.push(result.prompts.map((prompt: { name: string }) => prompt.name))
        cursor = result.nextCursor
      } while (cursor !== undefined)
      expect(pages.map((names) => names.length)).toEqual([120, 120, 10])
      expect(new Set(pages.flat()).size).toBe(250)
      await crowd.close()
    })

    it('end a page early at 2 MiB', async () => {
      const heavy = await testApp()
      const { actor } = await heavy.user('ada')
      const slots = Array.from({ length: 100 }, (_, n) => `\${v${n}:${'d'.repeat(250)}}`).join(' ')
      await heavy.app.store.inTransaction(async (store) => {
        for (let i = 0; i < 120; i++) {
          await store.items.createItem(
            { userId: actor.userId, note: null },
            { kind: 'prompt', ...PLAIN_PROMPT, title: `Heavy ${i}`, content: slots },
          )
        }
      })
      const text = await (await heavy.fetch('/api/mcp', rpc('prompts/list'))).text()
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2 * 1024 * 1024)
      expect(JSON.parse(text).result.nextCursor).toEqual(expect.any(String))
      expect(JSON.parse(text).result.prompts.length).toBeGreaterThan(50)
      await heavy.close()
    })
  })

  describe('tools', () => {
    it('fill in, and show the original only when something was put in', async () => {
      const raw = await callTool('get_prompt', { id: 'letter' })
      expect(raw.json).toMatchObject({
        content: SLOTS,
        variables: [
          { name: 'topic', required: true },
          { name: 'tone', required: false, default: 'plain' },
        ],
      })
      expect(raw.json).not.toHaveProperty('originalContent')
      expect(raw.structuredContent).toEqual(raw.json)
      expect((await callTool('get_prompt', { id: 'letter', variables: {} })).json).toMatchObject({
        content: 'Write about ${topic} in plain words, for ${topic}. Not ${f(x)}.',
        originalContent: SLOTS,
      })
      expect((await callTool('get_prompt', { id: 'joke', variables: {} })).json).not.toHaveProperty('originalContent')
    })

    it('treat __proto__ and constructor as names like any other', async () => {
      const { actor } = await test.user('ada')
      const odd = { title: 'Odd names', content: '${__proto__} ${constructor:c} ${toString}', isPrivate: true }
      const { id } = Object(await test.call(actor, 'save_prompt', odd)).prompt
      const send = async (body: string) =>
        (await readJson(await test.fetch('/api/mcp', { method: 'POST', headers: { 'content-type': 'application/json' }, body, key })))
          .result
      const variables = '{"__proto__":"a","toString":"b"}'
      const params = `{"name":"get_prompt","arguments":{"id":"${id}","variables":${variables}}}`
      expect((await send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)).structuredContent.content).toBe('a c b')
      const got = await send(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"${id}","arguments":${variables}}}`)
      expect(got.messages[0].content.text).toBe('a c b')
    })

    it('that need a key say so inside the result; a key without the scope is forbidden', async () => {
      const { json, isError } = await callTool('save_prompt', { title: 't', content: 'c' })
      expect([isError, json]).toEqual([true, { error: expect.stringContaining('API key'), code: 'unauthenticated' }])
      const { key: reader } = await test.user('ada', ['read'])
      expect((await callTool('save_prompt', { title: 't', content: 'c' }, reader)).json).toMatchObject({
        code: 'forbidden',
        error: expect.stringContaining('"write"'),
      })
    })

    it('refuse a result that would be too large, at once', async () => {
      const { actor } = await test.user('ada')
      const saved = await test.call(actor, 'save_prompt', { title: 'Bomb', content: '${x}'.repeat(50_000), isPrivate: false })
      const { id } = Object(saved['prompt'])
      const { json, isError } = await callTool('get_prompt', { id, variables: { x: 'y'.repeat(10_000) } })
      expect([isError, json.code]).toEqual([true, 'too_large'])
      expect((await call('prompts/get', { name: id, arguments: { x: 'y'.repeat(10_000) } })).error.data.code).toBe('too_large')
      await test.call(actor, 'delete_item', { collection: 'prompts', id })
    })

    it('cut long contents in search to what a client shows its model, and never in get', async () => {
      const { actor } = await test.user('ada')
      const content = '🦭'.repeat(20_001)
      await test.call(actor, 'save_prompt', { title: 'Longish', content, isPrivate: true })
      const search = async (options: object = {}) => await callTool('search_prompts', { query: 'longish', ...options }, key)
      const found = await search()
      expect(found.text.length).toBeGreaterThan(23_990)
      expect(found.text.length).toBeLessThanOrEqual(24_000)
      expect(found.json.prompts[0].contentTruncated).toBe(true)
      expect(found.json.prompts[0].content).toMatch(/^(🦭)+$/u)
      const small = await search({ maxCharacters: 1_000 })
      expect(small.text.length).toBeLessThanOrEqual(1_000)
      expect(small.json.prompts[0]).toMatchObject({ title: 'Longish', contentTruncated: true })
      expect((await callTool('get_prompt', { id: found.json.prompts[0].id }, key)).json.content).toBe(content)
      // Programs get what they ask for.
      const rest = await readJson(await test.fetch('/api/search/prompts?query=longish', { key }))
      expect(rest.prompts[0].content).toBe('🦭'.repeat(20_000))
    })

    it('give a skill whole, or the part that is asked for', async () => {
      const { actor } = await test.user('ada')
      const files = [
        { filename: 'SKILL.md', content: '---\nname: parts\ndescription: d\n---\nRead `a/long.txt`.' },
        { filename: 'a/long.txt', content: 'line\n'.repeat(20_000) },
        { filename: 'b.bin', content: Buffer.alloc(3_000, 0xff).toString('base64'), encoding: 'base64' },
      ]
      const { skill } = Object(await test.call(actor, 'save_skill', { title: 'In parts', files, isPrivate: false }))
      const get = async (options: object = {}) => await callTool('get_skill', { id: skill.id, ...options })
      const whole = await get()
      expect(whole.json.files).toEqual(files)
      expect(whole.text.split('\n').length).toBeGreaterThan(20)
      expect((await callTool('search_skills', { query: 'in parts' })).json.skills[0].characters).toBe(103_053)
      expect((await get({ includeContents: false })).json.files).toEqual([
        { filename: 'SKILL.md', content: '', size: 53, contentTruncated: true },
        { filename: 'a/long.txt', content: '', size: 100_000, contentTruncated: true },
        { filename: 'b.bin', content: '', size: 3_000, contentTruncated: true },
      ])
      expect((await get({ files: ['b.bin', 'SKILL.md'] })).json.files).toEqual([files[0], files[2]])
      const { text, json } = await get({ maxCharacters: 3_000 })
      expect(text.length).toBeLessThanOrEqual(3_000)
      expect(json.files[0]).toEqual(files[0])
      expect(json.files[1].content).toMatch(/^(line\n)+/)
      expect(json.files[2]).toEqual({ filename: 'b.bin', content: '', encoding: 'base64', contentTruncated: true })
      for (const wrong of [
        { files: ['SKILL.md', 'nothing.md'] },
        { files: [] },
        { files: 'SKILL.md' },
        { includeContents: 'no' },
        { maxCharacters: 1 },
      ])
        expect((await get(wrong)).text, JSON.stringify(wrong)).toMatch(/nothing\.md|files|includeContents|maxCharacters/)
    })
  })

  describe('skills', () => {
    const nameSkills = async (path: string, withKey?: string) => {
      const { result } = await call('skills/list', {}, path, withKey)
      return result.skills.map((skill: { uri: string }) => skill.uri)
    }

    it('are all listed, without the fields that the protocol does not allow', async () => {
      const odd = {
        text: 'metadata: {author: ada, version: 1.1, on: true}',
        number: 'metadata: {version: 1}',
        nested: 'metadata: {tool: {needs: [jq]}}',
        list: 'metadata: [a]',
        words: 'metadata: one',
        none: 'metadata:',
        compatible: `compatibility: ${'x'.repeat(501)}`,
        versions: 'compatibility: 3',
        proto: '__proto__: {a: b}',
        long: `license: MIT\ntags: [a, {b: 1}]\ndescription: ${'d'.repeat(1025)}`,
      }
      const { actor } = await test.user('odd')
      for (const [name, fields] of Object.entries(odd)) {
        const content = `---\nname: ${name}\n${fields.includes('description') ? '' : 'description: d\n'}${fields}\n---\nx`
        await test.call(actor, 'save_skill', { title: name, isPrivate: false, files: [{ filename: 'SKILL.md', content }] })
      }
      const { result } = await call('skills/list', {}, '/api/mcp/@odd')
      const listed = Object.fromEntries(
        result.skills.map(({ frontmatter }: { frontmatter: { name: string } }) => [frontmatter.name, frontmatter]),
      )
      expect(Object.keys(listed).toSorted()).toEqual(Object.keys(odd).toSorted())
      expect(listed).toMatchObject({
        text: { description: 'd', metadata: { author: 'ada' } },
        long: { license: 'MIT', tags: ['a', { b: 1 }], description: expect.stringMatching(/^d{1000,1023}/) },
      })
      expect([listed.number, listed.nested, listed.list, listed.words, listed.none, listed.compatible, listed.versions]).toEqual(
        ['number', 'nested', 'list', 'words', 'none', 'compatible', 'versions'].map((name) => ({ name, description: 'd' })),
      )
    })

    it('are narrowed by the address as prompts are: in the list, as resources, and one by one', async () => {
      for (const [name, tags, category] of [
        ['ada', ['pdf'], 'editing'],
        ['ben', ['pdf', 'mail'], 'coding'],
      ] as const)
        await test.call((await test.user(name)).actor, 'save_skill', {
          title: `Skill of ${name}`,
          tags,
          category,
          files: [{ filename: 'SKILL.md', content: `---\nname: skill-of-${name}\ndescription: d\n---\nx` }],
          isPrivate: false,
        })
      const ofAda = 'skill://ada/skill-of-ada/SKILL.md'
      const ofBen = 'skill://ben/skill-of-ben/SKILL.md'
      const narrowed = async (path: string) => (await nameSkills(path)).filter((uri: string) => [ofAda, ofBen].includes(uri))
      expect(await narrowed('/api/mcp')).toEqual([ofBen, ofAda])
      for (const path of ['/api/mcp?users=ada', '/api/mcp/@ADA', '/api/mcp?tags=pdf&users=ada', '/api/mcp/tags/pdf?categories=editing'])
        expect(await narrowed(path), path).toEqual([ofAda])
      expect(await narrowed('/api/mcp/categories/coding')).toEqual([ofBen])
      expect(await narrowed('/api/mcp/tags/pdf')).toEqual([ofBen, ofAda])
      expect(await narrowed('/api/mcp/tags/none')).toEqual([])
      const { result } = await call('resources/list', {}, '/api/mcp/@ben')
      expect(result.resources.map(({ uri }: { uri: string }) => uri)).toEqual([ofBen])
      expect((await call('resources/read', { uri: ofBen }, '/api/mcp/@ben')).result.contents[0].text).toContain('skill-of-ben')
      expect((await call('resources/read', { uri: ofBen }, '/api/mcp/@ada')).error).toBeDefined()
      expect((await call('skills/get', { uri: ofBen }, '/api/mcp?users=ada')).error).toBeDefined()
    })
  })

  describe('the profile of ChatGPT', () => {
    const path = '/api/mcp?profile=chatgpt'
    const names = async (at: string) => (await call('tools/list', {}, at)).result.tools.map(({ name }: { name: string }) => name)

    it('adds search and fetch, and nothing else', async () => {
      const plain = await names('/api/mcp')
      expect(plain).not.toContain('search')
      expect(await names(path)).toEqual([...plain, 'search', 'fetch'])
      expect(await names('/api/mcp?profile=other')).toEqual(plain)
      expect((await call('tools/call', { name: 'search', arguments: { query: 'x' } })).error.message).toContain('Unknown tool')
    })

    it('finds prompts and skills, and reads them by their ids', async () => {
      const { actor } = await test.user('ada')
      const { prompt } = Object(await test.call(actor, 'save_prompt', { title: 'Quokka facts', content: 'Tell ${what}', isPrivate: false }))
      const files = [
        { filename: 'SKILL.md', content: 'Quokka care' },
        { filename: 'a.txt', content: 'x' },
      ]
      const { skill } = Object(await test.call(actor, 'save_skill', { title: 'Quokka skill', files, tags: ['T'], isPrivate: false }))
      const use = async (name: string, args: unknown) => {
        const { result } = await call('tools/call', { name, arguments: args }, path)
        expect(result.content).toHaveLength(1)
        return JSON.parse(result.content[0].text)
      }
      const { results } = await use('search', { query: 'quokka' })
      expect(results.map(({ id }: { id: string }) => id).toSorted()).toEqual([prompt.id, skill.id].toSorted())
      expect(results).toContainEqual({ id: prompt.id, title: 'Quokka facts', url: prompt.url })
      expect(await use('fetch', { id: prompt.id })).toEqual({
        id: prompt.id,
        title: 'Quokka facts',
        url: prompt.url,
        text: 'Tell ${what}',
        metadata: { kind: 'prompt', author: 'ada' },
      })
      expect(await use('fetch', { id: skill.id })).toMatchObject({
        text: 'Quokka care',
        metadata: { kind: 'skill', tags: 'T', files: 'SKILL.md, a.txt' },
      })
      expect(await use('fetch', { id: 'nothing' })).toMatchObject({ code: 'not_found' })
    })
  })

  describe('without MCP', () => {
    it('there is no endpoint', async () => {
      const plain = await testApp({ MCP_ENABLED: false })
      const gone = await plain.fetch('/api/mcp', rpc('ping'))
      expect([gone.status, (await readJson(gone)).error]).toEqual([404, 'not_found'])
      expect((await plain.fetch('/api/mcp')).status).toBe(404)
      await plain.close()
    })
  })
})
