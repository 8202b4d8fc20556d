import { beforeAll, describe, expect, it } from 'vitest'
import { json, readJson, useTestApp } from '../support/test-app.ts'

const test = useTestApp({ ALLOWED_ORIGINS: ['https://friend.example'] })
let key: string

beforeAll(async () => {
  key = (await test.user('Ada')).key
})

const send = async (method: string, path: string, body?: unknown, withKey: string | undefined = key) =>
  await test.fetch(path, { ...(body === undefined ? { method } : json(method, body)), ...(withKey === undefined ? {} : { key: withKey }) })
const get = async (path: string, withKey?: string) => await readJson(await test.fetch(path, withKey === undefined ? {} : { key: withKey }))

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  describe('shapes, to the letter', () => {
    it('a saved prompt', async () => {
      const response = await send('POST', '/api/prompts', {
        title: 'Pinned',
        content: 'Hi ${name}',
        category: 'editing',
        tags: ['A b'],
        isPrivate: false,
      })
      expect(response.status).toBe(201)
      const { success, prompt } = await readJson(response)
      expect(success).toBe(true)
      expect(prompt).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        slug: 'pinned',
        title: 'Pinned',
        description: null,
        derivedDescription: 'Hi [name]',
        content: 'Hi ${name}',
        type: 'TEXT',
        author: 'Ada',
        category: 'Editing',
        categorySlug: 'editing',
        tags: ['A b'],
        votes: 0,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        visibility: 'public',
        isPrivate: false,
        url: 'http://127.0.0.1:3000/prompts/pinned',
      })
      expect(await get('/api/prompts/pinned')).toEqual({
        ...prompt,
        variables: [{ name: 'name', required: true }],
        versions: [{ version: 1, note: null, author: 'Ada', createdAt: expect.any(String) }],
      })
      expect(await get('/api/prompts?q=pinned')).toEqual({
        prompts: [{ ...prompt, score: 1 }],
        total: 1,
        page: 1,
        perPage: 24,
        totalPages: 1,
      })
      const { updatedAt: _, categorySlug: __, visibility: ___, isPrivate: ____, ...found } = prompt
      expect(await get('/api/search/prompts?query=pinned')).toEqual({
        query: 'pinned',
        count: 1,
        prompts: [{ ...found, score: 1 }],
      })
    })

    it('a saved skill', async () => {
      const files = [
        { filename: 'z.bin', content: '/wD+', encoding: 'base64' },
        { filename: 'SKILL.md', content: ' kept \r\n' },
      ]
      const response = await send('POST', '/api/skills', { title: 'Pinned skill', files, description: 'D', isPrivate: false })
      expect(response.status).toBe(201)
      const { skill } = await readJson(response)
      const record = {
        id: expect.any(String),
        slug: 'pinned-skill',
        title: 'Pinned skill',
        description: 'D',
        visibility: 'public',
        isPrivate: false,
        createdAt: expect.any(String),
        tags: [],
        category: null,
        url: 'http://127.0.0.1:3000/skills/pinned-skill',
      }
      expect(skill).toEqual({ ...record, files: ['SKILL.md', 'z.bin'] })
      expect(await get('/api/skills/pinned-skill')).toEqual({
        ...record,
        author: 'Ada',
        votes: 0,
        updatedAt: expect.any(String),
        files: [files[1], files[0]],
      })
      expect((await get('/api/skills')).skills[0]).toEqual({
        ...record,
        author: 'Ada',
        votes: 0,
        updatedAt: expect.any(String),
        categorySlug: null,
        files: ['SKILL.md', 'z.bin'],
      })
      expect((await get('/api/search/skills?query=pinned')).skills[0]).toEqual({
        id: skill.id,
        slug: 'pinned-skill',
        title: 'Pinned skill',
        description: 'D',
        author: 'Ada',
        category: null,
        tags: [],
        votes: 0,
        createdAt: skill.createdAt,
        files: ['SKILL.md', 'z.bin'],
        characters: 11,
        url: record.url,
        score: expect.any(Number),
      })
      const added = await send('POST', '/api/skills/pinned-skill/files', { filename: 'a/é b.md', content: 'x' })
      expect([added.status, await readJson(added)]).toEqual([
        201,
        { success: true, skillId: skill.id, message: 'Added a/é b.md.', files: ['SKILL.md', 'a/é b.md', 'z.bin'] },
      ])
    })
  })

  describe('the life of a prompt', () => {
    it('is saved, edited, renamed, voted for, deleted, restored and rolled back', async () => {
      const { prompt } = await readJson(
        await send('POST', '/api/prompts', { title: 'Life', content: 'one', isPrivate: false, note: 'born' }),
      )
      const edited = await readJson(
        await send('PATCH', `/api/prompts/${prompt.slug}`, {
          content: 'two',
          slug: 'new-life',
          description: 'D',
          baseVersion: 1,
          note: 'edit',
        }),
      )
      expect([edited.version, edited.prompt.slug, edited.prompt.content, edited.prompt.description]).toEqual([2, 'new-life', 'two', 'D'])
      expect((await get('/api/prompts/life')).id).toBe(prompt.id)
      const cleared = await readJson(await send('PATCH', `/api/prompts/${prompt.id}`, { description: null, visibility: 'unlisted' }))
      expect([cleared.prompt.description, cleared.prompt.visibility, cleared.prompt.url]).toEqual([
        null,
        'unlisted',
        `http://127.0.0.1:3000/prompts/${prompt.id}`,
      ])
      const ben = (await test.user('ben')).key
      expect(await readJson(await send('PUT', `/api/prompts/${prompt.id}/vote`, undefined, ben))).toEqual({
        success: true,
        id: prompt.id,
        votes: 1,
        voted: true,
      })
      expect((await readJson(await send('DELETE', `/api/prompts/${prompt.id}/vote`, undefined, ben))).votes).toBe(0)
      const listed = await get(`/api/prompts/${prompt.id}/versions?limit=2`, key)
      expect([listed.versions.map((version: { version: number }) => version.version), listed.nextBefore]).toEqual([[3, 2], 2])
      expect((await get(`/api/prompts/${prompt.id}/versions?before=2`, key)).nextBefore).toBeNull()
      expect((await get(`/api/prompts/${prompt.id}/versions/1`)).content).toBe('one')
      const back = await readJson(await send('POST', `/api/prompts/${prompt.id}/versions/1/restore`))
      expect(back).toEqual({ success: true, id: prompt.id, version: 4 })
      expect(await get(`/api/prompts/${prompt.id}`, key)).toMatchObject({
        content: 'one',
        visibility: 'unlisted',
        versions: [{ version: 4, note: 'Restored version 1' }, {}, {}, {}],
      })
      expect((await send('DELETE', `/api/prompts/${prompt.id}`)).status).toBe(200)
      expect((await test.fetch(`/api/prompts/${prompt.id}`, { key })).status).toBe(404)
      expect((await get('/api/trash', key)).items).toContainEqual({
        id: prompt.id,
        kind: 'prompt',
        title: 'Life',
        deletedAt: expect.any(String),
      })
      expect((await send('POST', `/api/prompts/${prompt.id}/restore`)).status).toBe(200)
      expect((await get(`/api/prompts/${prompt.id}`)).content).toBe('one')
    })

    it('follows its owner’s default', async () => {
      await test.app.store.people.createUser({ username: 'Open', defaultVisibility: 'public' })
      const open = (await test.user('Open')).key
      const save = async (withKey: string, more: object) =>
        (await readJson(await send('POST', '/api/prompts', { title: 'x', content: 'x', ...more }, withKey))).prompt.visibility
      expect([
        await save(key, {}),
        await save(open, {}),
        await save(open, { isPrivate: true }),
        await save(open, { visibility: 'unlisted' }),
      ]).toEqual(['private', 'public', 'private', 'unlisted'])
    })
  })

  describe('headers', () => {
    it('let anybody read from a page, and nobody foreign write', async () => {
      const read = await test.fetch('/api/prompts', { headers: { origin: 'https://anywhere.example' } })
      expect([read.headers.get('access-control-allow-origin'), read.headers.get('access-control-allow-credentials')]).toEqual(['*', null])
      expect(read.headers.get('vary')).toBe('PROMPTS_API_KEY, PROMPTS-API-KEY, X-API-Key, Authorization, Origin, Accept-Encoding')
      const write = (origin: string) =>
        test.fetch('/api/prompts', {
          ...json('POST', { title: 'o', content: 'o' }),
          headers: { origin, 'content-type': 'application/json' },
          key,
        })
      expect((await write('https://anywhere.example')).status).toBe(403)
      expect((await write('null')).status).toBe(403)
      expect((await write('https://friend.example')).status).toBe(201)
      expect((await write('http://localhost:8080')).status).toBe(201)
      const preflight = async (origin: string, method: string, path = '/api/prompts') => {
        const response = await test.fetch(path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } })
        return [
          response.status,
          response.headers.get('access-control-allow-origin'),
          response.headers.get('access-control-allow-headers')?.includes('X-API-Key') ?? false,
        ]
      }
      expect(await preflight('https://friend.example', 'PATCH')).toEqual([204, 'https://friend.example', true])
      expect(await preflight('https://anywhere.example', 'GET')).toEqual([204, '*', false])
      expect(await preflight('https://anywhere.example', 'POST')).toEqual([204, null, false])
    })

    it('keep what a key saw out of every cache, and let anonymous reads be asked again cheaply', async () => {
      const mine = await test.fetch('/api/prompts/pinned', { key })
      expect([mine.headers.get('cache-control'), mine.headers.get('etag')]).toEqual(['private, no-store', null])
      const open = await test.fetch('/api/prompts/pinned')
      const etag = open.headers.get('etag') ?? ''
      expect([open.headers.get('cache-control'), etag.length > 10]).toEqual(['no-cache', true])
      const again = await test.fetch('/api/prompts/pinned', { headers: { 'if-none-match': `"other", W/${etag}` } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      await send('PATCH', '/api/prompts/pinned', { content: 'changed' })
      expect((await test.fetch('/api/prompts/pinned', { headers: { 'if-none-match': etag } })).status).toBe(200)
    })

    it('let a page that may call read why it was refused', async () => {
      const refused = await test.fetch('/api/mcp', {
        ...json('POST', {}),
        headers: { origin: 'https://friend.example', 'content-type': 'application/json', 'x-api-key': 'wrong' },
      })
      expect([refused.status, refused.headers.get('access-control-allow-origin'), refused.headers.get('cache-control')]).toEqual([
        400,
        'https://friend.example',
        'private, no-store',
      ])
    })

    it('never read cookies', async () => {
      const response = await test.fetch('/api/trash', { headers: { cookie: `PROMPTS_API_KEY=${key}; X-API-Key=${key}` } })
      expect(response.status).toBe(401)
    })

    it('send files for saving, whatever they hold', async () => {
      const evil = '<script>alert(1)</script>'
      await send('POST', '/api/skills', {
        title: 'Evil',
        isPrivate: false,
        files: [
          { filename: 'SKILL.md', content: 'x' },
          { filename: 'a/évil "x".html', content: evil },
          { filename: 'b.svg', content: '/wA=', encoding: 'base64' },
        ],
      })
      const check = async (path: string, type: string) => {
        const response = await test.fetch(path)
        expect([
          response.status,
          response.headers.get('content-type'),
          response.headers.get('x-content-type-options'),
          response.headers.get('content-security-policy'),
        ]).toEqual([200, type, 'nosniff', "default-src 'none'; sandbox"])
        expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''[A-Za-z0-9%._~!-]+$/)
        return Buffer.from(await response.arrayBuffer())
      }
      const name = encodeURIComponent('évil "x".html')
      expect((await check(`/api/skills/evil/files/a/${name}`, 'text/plain; charset=utf-8')).toString()).toBe(evil)
      expect(await check('/api/skills/evil/files/b.svg', 'application/octet-stream')).toEqual(Buffer.from([0xff, 0]))
      expect((await check('/api/prompts/pinned/raw', 'text/plain; charset=utf-8')).toString()).toBe('changed')
      for (const path of ['..%2f..%2fetc%2fpasswd', '%ff', 'skill.md']) {
        expect((await test.fetch(`/api/skills/evil/files/${path}`)).status, path).toBe(404)
      }
    })

    it('name the service’s own health under any host', async () => {
      for (const path of ['/healthz', '/readyz']) expect((await test.fetch(path, { headers: { host: '10.0.0.7' } })).status).toBe(200)
    })
  })

  describe('OpenAPI', () => {
    it('describes every route that answers, and each described route answers', async () => {
      const document = await get('/api/openapi.json')
      expect(document.openapi).toBe('3.1.0')
      const paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>> = document.paths
      for (const { name, surfaces } of test.app.operations) {
        if (surfaces.rest) expect(paths[surfaces.rest.path]?.[surfaces.rest.method.toLowerCase()]?.operationId).toBe(name)
      }
      for (const [path, methods] of Object.entries(paths)) {
        for (const method of Object.keys(methods)) {
          const target = path.replace('{collection}', 'prompts').replaceAll(/\{\w+\}/g, '1')
          const response = await send(method.toUpperCase(), target)
          const { message } = response.headers.get('content-type')?.includes('json') ? await readJson(response) : { message: '' }
          expect([response.status === 405, message === 'Nothing found at this address.'], `${method} ${target}`).toEqual([false, false])
        }
      }
    })
  })
})
