import { createHash } from 'node:crypto'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/auth/credentials.ts'
import { createChannel } from '../../src/channels/channel.ts'
import { marketplaceRoutes, wellKnownRoutes } from '../../src/channels/marketplace.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import type { MakeContext } from '../../src/http/route.ts'
import { json, readJson, type TestApp, testApp } from '../support/test-app.ts'

const INDEX = '/.well-known/agent-skills/index.json'
const FILE_INDEX = '/.well-known/skills/index.json'

let test: TestApp
let owner: Extract<Actor, { kind: 'user' }>
let ownerKey: string
const log: string[] = []

beforeAll(async () => {
  test = await testApp({}, {}, null, {}, { write: (line) => void log.push(line) })
  const made = await test.user('owner')
  owner = made.actor
  ownerKey = made.key
})
afterAll(() => test.close())

const skillMd = (name: string, description = `About ${name}`) => `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`

/** Saves a skill of one or more files, public unless the fields say otherwise. */
async function save(
  name: string,
  fields: Record<string, unknown> = {},
  more: readonly { filename: string; content: string }[] = [],
): Promise<{ id: string; slug: string }> {
  const files = [{ filename: 'SKILL.md', content: skillMd(name) }, ...more]
  return Object((await test.call(owner, 'save_skill', { title: name, visibility: 'public', files, ...fields })).skill)
}

async function readIndex(scope = '', options: RequestInit & { key?: string } = {}) {
  const answer = await test.fetch(`${scope}${INDEX}`, options)
  if (answer.status !== 200) return { status: answer.status, names: [], skills: [] }
  const { skills }: { skills: { name: string; type: string; url: string; digest: string; description: string }[] } = await readJson(answer)
  return { status: 200, names: skills.map(({ name }) => name), skills }
}

async function read(path: string, options: RequestInit & { key?: string } = {}) {
  const answer = await test.fetch(path, options)
  return { status: answer.status, headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) }
}

const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

// Told in order: each goes on where the last one left the library.
describe('in this order', { shuffle: false }, () => {
  it('say when they do not list every skill', async () => {
    for (const name of ['first-listed', 'second-listed']) await save(name)
    const { app } = test
    const read = async (maxSkills: number) => {
      const makeContext: MakeContext = (actor) => app.contextFor(actor, 'channel')
      const parts = { makeContext, readRevision: () => app.store.service.readRevision('library'), name: 'L', baseUrl: 'https://l.test' }
      const channel = createChannel({ ...parts, maxSkills })
      const lists = [...wellKnownRoutes(channel), ...marketplaceRoutes(channel)].filter(({ path }) => path.endsWith('.json'))
      const exchange = { path: '/', header: () => undefined }
      const call = Object({ actor: ANONYMOUS, params: { scope: '' }, exchange })
      return await Promise.all(lists.map(async (list) => Buffer.from(Object(await list.handle(call)).body).toString()))
    }
    for (const text of await read(1)) expect(text).toMatch(/^(?!.*second-listed).*Only the 1 oldest skills are listed.*first-listed/s)
    for (const text of await read(20_000)) expect(text).toMatch(/^(?!.*Only the).*second-listed/s)
  })

  describe('well-known skills', () => {
    it('give each skill as a file or an archive, whose digest the index holds', async () => {
      await save('single-file')
      await save('many-files', {}, [{ filename: 'scripts/run.sh', content: 'echo hi\n' }])
      const { skills } = await readIndex('/@owner')
      const [single, many] = ['single-file', 'many-files'].map((name) => skills.find((skill) => skill.name === name))
      expect(single).toMatchObject({ type: 'skill-md', url: 'single-file/SKILL.md', description: 'About single-file' })
      expect(many).toMatchObject({ type: 'archive', url: 'many-files.zip' })
      const file = await read(`/@owner/.well-known/agent-skills/${single?.url}`)
      expect([file.headers.get('content-type'), sha256(file.bytes)]).toEqual(['text/markdown; charset=utf-8', single?.digest])
      const archive = await read(`/@owner/.well-known/agent-skills/${many?.url}`)
      expect([archive.headers.get('content-type'), sha256(archive.bytes)]).toEqual(['application/zip', many?.digest])
      const files = unzipSync(archive.bytes)
      expect(Object.keys(files)).toEqual(['SKILL.md', 'scripts/run.sh'])
      expect(new TextDecoder().decode(files['SKILL.md'])).toBe(skillMd('many-files'))
    })

    it('name each file in the older index, and leave out what its clients cannot fetch', async () => {
      await save('plain-names', {}, [{ filename: 'a b.txt', content: 'text' }])
      await save('odd-names', {}, [{ filename: 'a..b.txt', content: 'text' }])
      await save('encoded-names', {}, [{ filename: '100%.txt', content: 'text' }])
      const { skills } = await readJson(await test.fetch(FILE_INDEX))
      const names = skills.map(({ name }: { name: string }) => name)
      expect(names).toContain('plain-names')
      expect(names).not.toContain('odd-names')
      expect(names).not.toContain('encoded-names')
      const plain = skills.find(({ name }: { name: string }) => name === 'plain-names')
      expect(plain).toMatchObject({ files: ['SKILL.md', 'a b.txt'], version: expect.stringMatching(/^[0-9a-f]{16}$/) })
      const file = await read('/.well-known/skills/plain-names/a%20b.txt')
      expect([new TextDecoder().decode(file.bytes), file.headers.get('content-type')]).toEqual(['text', 'text/plain; charset=utf-8'])
      expect((await readIndex()).names).toEqual(expect.arrayContaining(['odd-names', 'encoded-names']))
    })

    it('answer at every address a person may paste', async () => {
      const { id, slug } = await save('pasted', { tags: ['Paste me'], category: 'writing' })
      for (const scope of [
        `/skills/${slug}`,
        `/skills/${id}`,
        `/api/skills/${id}/zip`,
        '/tags/paste-me',
        '/categories/writing',
        `/skills/${slug}@pasted`,
        '/@owner@pasted',
      ]) {
        expect((await readIndex(scope)).names, scope).toEqual(['pasted'])
        expect((await read(`${scope}/.well-known/agent-skills/pasted/SKILL.md`)).status, scope).toBe(200)
      }
      for (const scope of ['/tags/none', '/@nobody', '/skills/none', '/categories/none', '/@owner@none', '/prompts/pasted']) {
        expect((await readIndex(scope)).status, scope).toBe(404)
      }
      expect((await read('/tags/paste-me/.well-known/agent-skills/single-file/SKILL.md')).status).toBe(404)
    })

    it('answer HEAD, ETags and other origins', async () => {
      const head = await test.fetch(INDEX, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      const etag = head.headers.get('etag') ?? ''
      const again = await test.fetch(INDEX, { headers: { 'if-none-match': etag } })
      expect(again.status).toBe(304)
      expect(again.headers.get('cache-control')).toBe('public, max-age=60')
      expect(again.headers.get('access-control-allow-origin')).toBe('*')
      expect((await test.fetch(INDEX, { method: 'POST', headers: { origin: 'http://127.0.0.1:3000' } })).status).toBe(405)
    })

    it('leave out skills without a name or a description, and mend the form of both', async () => {
      const files = (content: string) => ({ files: [{ filename: 'SKILL.md', content }] })
      const before = (await readIndex()).names.length
      await save('a', { title: 'No frontmatter', ...files('# Just text\n') })
      await save('a', { title: 'No description', ...files('---\nname: none\n---\n') })
      expect((await readIndex()).names).toHaveLength(before)
      await save('a', { title: 'Bad name', ...files('---\nname: Bad Name\ndescription: d\n---\n') })
      await save('a', { title: 'Long description', ...files(`---\nname: long\ndescription: ${'d'.repeat(1025)}\n---\n`) })
      await save('a', { title: 'Odd', ...files('---\nname: odd\ndescription: Use when: always\n---\n') })
      expect((await readIndex()).names.slice(before)).toEqual(['bad-name', 'long', 'odd'])
    })
  })

  describe('names', () => {
    it('stay with the skill that was first published under them', async () => {
      const first = await save('taken-name')
      const second = await save('taken-name', { title: 'Second with the name' })
      expect((await readIndex('/skills/taken-name')).names).toEqual(['taken-name'])
      expect((await readIndex(`/skills/${second.id}`)).names).toEqual(['second-with-the-name'])
      // Another name in its SKILL.md, being made private, and the trash do not free it.
      await test.call(owner, 'update_skill_file', { skillId: first.id, filename: 'SKILL.md', content: skillMd('renamed') })
      expect((await readIndex(`/skills/${first.id}`)).names).toEqual(['taken-name'])
      await test.call(owner, 'update_skill', { id: first.id, visibility: 'private' })
      expect((await readIndex(`/skills/${(await save('taken-name', { title: 'Third with the name' })).id}`)).names).toEqual([
        'third-with-the-name',
      ])
      await test.call(owner, 'delete_item', { collection: 'skills', id: first.id })
      await test.call(owner, 'restore_item', { collection: 'skills', id: first.id })
      expect((await readIndex(`/skills/${first.id}`, { key: ownerKey })).names).toEqual(['taken-name'])
    })

    it('are given to nobody else once their skill is purged', async () => {
      const { id } = await save('purged-name')
      const person = { ...owner, scopes: new Set([...owner.scopes, 'account' as const]) }
      await test.call(owner, 'delete_item', { collection: 'skills', id })
      await test.call(person, 'purge_item', { collection: 'skills', id })
      const next = await save('purged-name', { title: 'After the purge' })
      expect((await readIndex(`/skills/${next.id}`)).names).toEqual(['after-the-purge'])
    })
  })

  describe('install links', () => {
    const make = async (fields: Record<string, unknown> = {}, key = ownerKey) => {
      const answer = await test.fetch('/api/install-links', { ...json('POST', { name: 'laptop', ...fields }), key })
      return { status: answer.status, ...(await readJson(answer)) }
    }
    const pathOf = (url: string) => new URL(url).pathname

    it('add private skills until they are revoked', async () => {
      await save('for-the-link', { visibility: 'private', tags: ['linked'] }, [{ filename: 'a.txt', content: 'secret text' }])
      const { url, link, status } = await make({ scope: '/tags/linked' })
      expect([status, link]).toEqual([
        201,
        expect.objectContaining({ name: 'laptop', scope: '/tags/linked', state: 'active', lastUsedAt: null }),
      ])
      const path = pathOf(url)
      expect((await readIndex(path)).names).toEqual(['for-the-link'])
      const archive = await read(`${path}/.well-known/agent-skills/for-the-link.zip`)
      expect(new TextDecoder().decode(unzipSync(archive.bytes)['a.txt'])).toBe('secret text')
      expect(archive.headers.get('cache-control')).toBe('private, no-store')
      expect(archive.headers.get('referrer-policy')).toBe('no-referrer')
      expect(archive.headers.get('access-control-allow-origin')).toBeNull()
      // Only within its scope, and only to read.
      expect((await read(`${path}/.well-known/agent-skills/single-file/SKILL.md`)).status).toBe(404)
      expect((await test.fetch(`${path}${INDEX}`, { method: 'POST', headers: { origin: 'http://127.0.0.1:3000' } })).status).toBe(405)
      const listed = await readJson(await test.fetch('/api/install-links', { key: ownerKey }))
      expect(listed.links[0]).toMatchObject({ id: link.id, lastUsedAt: expect.any(String) })
      expect(JSON.stringify(listed)).not.toContain(path.split('/')[2])
      await test.fetch(`/api/install-links/${link.id}`, { method: 'DELETE', key: ownerKey })
      const [revoked, never] = [await read(`${path}${INDEX}`), await read(`/install/${'x'.repeat(43)}${INDEX}`)]
      const told = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replace(/"requestId":"[^"]*"/, '')
      expect([revoked.status, told(revoked.bytes)]).toEqual([404, told(never.bytes)])
      expect(never.status).toBe(404)
    })

    it('keep their token out of the log and the library', async () => {
      const { url } = await make()
      const token = pathOf(url).split('/')[2] ?? ''
      await read(`${pathOf(url)}${INDEX}`)
      expect(log.join('')).toContain('/install/…/.well-known')
      expect(log.join('')).not.toContain(token)
      expect(await test.readEverything()).not.toContain(token)
    })

    it('are taken in the path of their channel alone, where no key is', async () => {
      const { url, link } = await make()
      const path = pathOf(url)
      const token = path.split('/')[2] ?? ''
      expect(token).toMatch(/^cpl_[\w-]{43}$/)
      const toBasic = (secret: string) => `Basic ${Buffer.from(`git:${secret}`).toString('base64')}`
      for (const [address, name, write] of [
        ['/api/me', 'x-api-key', (secret: string) => secret],
        ['/api/me', 'authorization', (secret: string) => `Bearer ${secret}`],
        ['/api/prompts', 'prompts_api_key', (secret: string) => secret],
        ['/api/mcp', 'x-api-key', (secret: string) => secret],
        ['/api/mcp', 'authorization', (secret: string) => `Bearer ${secret}`],
        [INDEX, 'authorization', toBasic],
        [`/private${INDEX}`, 'authorization', toBasic],
      ] as const) {
        const ask = async (secret: string) => {
          const headers = { 'content-type': 'application/json', [name]: write(secret) }
          const answer = await test.fetch(address, address === '/api/mcp' ? { method: 'POST', body: '{}', headers } : { headers })
          return [answer.status, (await answer.text()).replace(/"(requestId|request_id)":"[^"]*"/, '')]
        }
        const unknown = await ask(createApiKey())
        expect(unknown[1]).toContain('Unknown API key.')
        expect(await ask(token), `${address} ${name}`).toEqual(unknown)
      }
      expect((await read(`/install/${ownerKey}${INDEX}`)).status).toBe(404)
      const { keys } = test.app.store
      expect((await keys.listKeys('owner')).map(({ id }) => id)).not.toContain(link.id)
      expect([await keys.revokeKey(link.id), (await read(`${path}${INDEX}`)).status]).toEqual([null, 200])
      const [{ id = '', userId = '' } = {}] = await keys.listKeys('owner')
      expect([await keys.revokeLink(userId, id), (await test.fetch('/api/me', { key: ownerKey })).status]).toEqual([null, 200])
    })

    it('are made by keys that read and write, and revoked by their maker alone', async () => {
      expect(await make({ scope: '/nowhere' })).toMatchObject({ status: 400, error: 'invalid_input' })
      expect(await make({}, (await test.user('owner', ['write'])).key)).toMatchObject({ status: 403 })
      expect(await make({}, (await test.user('owner', ['read'])).key)).toMatchObject({ status: 403 })
      const other = (await test.user('other')).key
      const { link, url } = await make()
      expect((await test.fetch(`/api/install-links/${link.id}`, { method: 'DELETE', key: other })).status).toBe(404)
      await test.app.store.people.setSuspended('owner', true)
      expect((await readIndex(pathOf(url))).status).toBe(404)
      await test.app.store.people.setSuspended('owner', false)
      test.wait(91 * 86_400_000)
      expect((await readIndex(pathOf(url))).status).toBe(404)
    })
  })

  describe('keys on channels', () => {
    const basic = (password: string) => ({ headers: { authorization: `Basic ${Buffer.from(`git:${password}`).toString('base64')}` } })

    it('come in headers, or as the password of HTTP Basic', async () => {
      await save('with-a-key', { visibility: 'private' })
      expect((await readIndex()).names).not.toContain('with-a-key')
      expect((await readIndex('', { key: ownerKey })).names).toContain('with-a-key')
      expect((await readIndex('', basic(ownerKey))).names).toContain('with-a-key')
      expect((await readIndex('/private', basic(ownerKey))).names).toContain('with-a-key')
      expect((await readIndex('', basic('cpb_wrong'))).status).toBe(401)
      expect((await readIndex('', basic(''))).status).toBe(200)
      // Elsewhere Basic is ignored.
      expect((await test.fetch('/api/prompts', basic('cpb_wrong'))).status).toBe(200)
      const asked = await test.fetch(`/private${INDEX}`)
      expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="commonplace", charset="UTF-8"'])
    })
  })

  describe('many requests at once', () => {
    it('wait in line instead of being refused', async () => {
      for (let n = 0; n < 4; n++) await save(`crowd-${n}`, { tags: ['crowd'] }, [{ filename: 'data.txt', content: `${n}`.repeat(50_000) }])
      const { skills } = await readIndex('/tags/crowd')
      const asked = Array.from({ length: 100 }, (_, n) => read(`/tags/crowd/.well-known/agent-skills/${skills[n % 4]?.url}`))
      const answers = await Promise.all(asked)
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(answers.every(({ bytes }, n) => sha256(bytes) === skills[n % 4]?.digest)).toBe(true)
    })

    it('see a change at once', async () => {
      const { id } = await save('changing', {}, [{ filename: 'a.txt', content: 'one' }])
      const before = (await readIndex(`/skills/${id}`)).skills[0]?.digest
      await test.call(owner, 'update_skill_file', { skillId: id, filename: 'a.txt', content: 'two' })
      const [after] = (await readIndex(`/skills/${id}`)).skills
      expect(after?.digest).not.toBe(before)
      expect(sha256((await read(`/.well-known/agent-skills/changing.zip`)).bytes)).toBe(after?.digest)
      await test.call(owner, 'update_skill', { id, visibility: 'private' })
      expect((await read(`/.well-known/agent-skills/changing.zip`)).status).toBe(404)
      expect((await readIndex()).names).not.toContain('changing')
    })
  })

  describe('a marketplace for Claude Code', () => {
    const readMarket = async (scope = '', options: RequestInit & { key?: string } = {}) =>
      await readJson(await test.fetch(`${scope}/marketplace.json`, options))
    type Plugin = { name: string; strict?: boolean; skills?: string[]; source: { source: string; url: string; sha256: string } }
    const pathOf = (plugin: Plugin | undefined) => new URL(plugin?.source.url ?? '').pathname
    const find = (market: { plugins: Plugin[] }, name: string) => market.plugins.find((plugin) => plugin.name === name)

    it('gives each skill as a plugin, and all of them as one', async () => {
      await save('market-one', { tags: ['market'] })
      await save('market-two', { tags: ['market'] }, [{ filename: 'a.txt', content: 'two' }])
      const market = await readMarket('/tags/market')
      expect([market.name, market.owner]).toEqual(['127-0-0-1-tags-market', { name: 'Commonplace' }])
      expect(market.plugins.map(({ name }: Plugin) => name)).toEqual(['all-skills', 'market-one', 'market-two'])
      const two = find(market, 'market-two')
      expect(two).toMatchObject({ strict: false, skills: ['./'], source: { source: 'archive' } })
      expect(two).not.toHaveProperty('version')
      for (const plugin of market.plugins) {
        const { status, bytes } = await read(pathOf(plugin))
        expect([status, sha256(bytes)], plugin.name).toEqual([200, `sha256:${plugin.source.sha256}`])
      }
      const bundle = unzipSync((await read(pathOf(find(market, 'all-skills')))).bytes)
      expect(Object.keys(bundle)).toEqual([
        '.claude-plugin/plugin.json',
        'skills/market-one/SKILL.md',
        'skills/market-two/SKILL.md',
        'skills/market-two/a.txt',
      ])
      expect(JSON.parse(new TextDecoder().decode(bundle['.claude-plugin/plugin.json']))).toMatchObject({ name: 'all-skills' })
    })

    it('keeps every other digest when one skill changes', async () => {
      const before = await readMarket('/tags/market')
      const skill = Object((await test.call(owner, 'search_skills', { query: 'market-two' })).skills)[0]
      await test.call(owner, 'update_skill_file', { skillId: skill.id, filename: 'a.txt', content: 'changed' })
      const after = await readMarket('/tags/market')
      const changed = after.plugins.filter((plugin: Plugin) => find(before, plugin.name)?.source.sha256 !== plugin.source.sha256)
      expect(changed.map(({ name }: Plugin) => name)).toEqual(['all-skills', 'market-two'])
    })

    it('gives a narrowed key tokens for what it sees alone, as long as it sees it', async () => {
      for (const name of ['market-within', 'market-beside']) await save(name, { visibility: 'private' })
      const { actor } = await test.user('owner')
      const inside = Object((await test.call(owner, 'search_skills', { query: 'market-within' })).skills)[0]
      const { id } = Object((await test.call(owner, 'create_collection', { title: 'Within' })).collection)
      await test.call(owner, 'add_to_collection', { id, items: [inside.id] })
      const signedIn = { ...actor, scopes: new Set([...actor.scopes, 'account' as const]) }
      const { key } = await test.call(signedIn, 'create_key', { name: 'narrowed', collections: [id] })
      const headers = { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` }
      const market = await readMarket('', { headers })
      expect(market.plugins.filter(({ name }: Plugin) => name !== 'all-skills').map(({ name }: Plugin) => name)).toEqual(['market-within'])
      for (const plugin of market.plugins) expect((await read(pathOf(plugin))).status, plugin.name).toBe(200)
      await test.call(owner, 'remove_from_collection', { id, items: [inside.id] })
      for (const plugin of market.plugins) expect((await read(pathOf(plugin))).status, plugin.name).toBe(404)
    })

    it('gives archives of private skills by key, and by a token where the client sends its key once', async () => {
      await save('market-private', { visibility: 'private', tags: ['market'] })
      const { actor, key } = await test.user('owner')
      expect(find(await readMarket('/tags/market'), 'market-private')).toBeUndefined()
      const byKey = find(await readMarket('/tags/market', { key }), 'market-private')
      expect((await read(pathOf(byKey))).status).toBe(404)
      expect((await read(pathOf(byKey), { key })).status).toBe(200)
      const authorization = `Basic ${Buffer.from(`x:${key}`).toString('base64')}`
      const byBasic = find(await readMarket('/tags/market', { headers: { authorization } }), 'market-private')
      expect(pathOf(byBasic)).toMatch(/^\/archives\//)
      const sent = await read(pathOf(byBasic))
      expect([sent.status, sha256(sent.bytes), sent.headers.get('cache-control')]).toEqual([
        200,
        `sha256:${byBasic?.source.sha256}`,
        'private, no-store',
      ])
      expect(log.join('')).not.toContain(pathOf(byBasic).split('/')[2])
      // It is for one archive, for ten minutes, and ends with the key.
      expect((await read('/archives/nonsense/x.zip')).status).toBe(404)
      const bound = Object((await test.call(owner, 'search_skills', { query: 'market-private' })).skills)[0]
      await test.call(owner, 'update_skill_file', {
        skillId: bound.id,
        filename: 'SKILL.md',
        content: skillMd('market-private', 'Changed'),
      })
      expect((await read(pathOf(byBasic))).status).toBe(404)
      const fresh = find(await readMarket('/tags/market', { headers: { authorization } }), 'market-private')
      expect((await read(pathOf(fresh))).status).toBe(200)
      test.wait(11 * 60_000)
      expect((await read(pathOf(fresh))).status).toBe(404)
      const last = find(await readMarket('/tags/market', { headers: { authorization } }), 'market-private')
      await test.app.store.keys.revokeKey(actor.keyId ?? '')
      expect((await read(pathOf(last))).status).toBe(404)
    })
  })

  describe('skills find', () => {
    it('finds skills by words, with a source to install each from', async () => {
      const { slug } = await save('findable-thing')
      const { skills } = await readJson(await test.fetch('/api/search?q=findable&limit=20'))
      expect(skills).toEqual([
        { id: expect.any(String), name: 'findable-thing', source: `http://127.0.0.1:3000/skills/${slug}`, installs: 0 },
      ])
      const path = new URL(skills[0].source).pathname
      expect((await readIndex(`${path}@findable-thing`)).names).toEqual(['findable-thing'])
      expect((await readJson(await test.fetch('/api/search?q=findable&owner=nobody'))).skills).toEqual([])
    })
  })

  describe('what strangers send', () => {
    it('gives one scope for every spelling of a name', async () => {
      const { actor } = await test.user('Speller')
      const files = [
        { filename: 'SKILL.md', content: skillMd('spelled-one') },
        { filename: 'a.txt', content: 'a' },
      ]
      await test.call(actor, 'save_skill', { title: 'One', tags: ['Spelled out'], visibility: 'public', files })
      const known = await (await test.fetch('/tags/spelled-out/marketplace.json')).text()
      expect(known).toContain('/tags/spelled-out/.well-known/agent-skills/spelled-one.zip')
      for (const path of ['/tags/Spelled%20out', '/tags/spelled-out!!!'])
        expect(await (await test.fetch(`${path}/marketplace.json`)).text(), path).toBe(known)
      const author = await (await test.fetch('/@speller/marketplace.json')).text()
      expect(await (await test.fetch('/users/SPELLER/marketplace.json')).text()).toBe(author)
      expect((await test.fetch('/tags/!!/marketplace.json')).status).toBe(404)
    })

    it('gets no page of the service, and no cookie is read for it', async () => {
      const { key } = await test.user('maker')
      const { url } = await readJson(await test.fetch('/api/install-links', { ...json('POST', { name: 'x' }), key }))
      const path = new URL(url).pathname
      for (const missing of [
        `${path}/.well-known/agent-skills/none.zip`,
        '/.well-known/agent-skills/none.zip',
        '/install/none/marketplace.json',
      ]) {
        const answer = await test.fetch(missing, { headers: { accept: 'text/html', cookie: 'theme=dark' } })
        const body = await answer.text()
        expect([answer.status, JSON.parse(body).error], missing).toEqual([404, 'not_found'])
        expect(body).not.toContain('maker')
      }
      const dead = await test.fetch('/install/none/marketplace.json')
      expect([dead.headers.get('cache-control'), dead.headers.get('access-control-allow-origin')]).toEqual(['private, no-store', null])
    })
  })
})
