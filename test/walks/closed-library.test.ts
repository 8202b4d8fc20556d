import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Actor, ANONYMOUS, strangerTo } from '../../src/domain/people/actor.ts'
import type { Route } from '../../src/http/route.ts'
import { createFakeEncoder } from '../support/fake-encoder.ts'
import { eventually } from '../support/model-server.ts'
import { json, readJson, rpc, type TestApp, testApp, useTestApp } from '../support/test-app.ts'
import { signUp, visit } from '../support/visitor.ts'

/**
 * A library for members alone: every route × somebody without an account × items that are there and one that is not. Written out by hand from
 * the contract, and not from the table in the code.
 */

const MARKER = 'Zqclosed'
const NOBODY = 'nothing-here'
const test = useTestApp({ LIBRARY_ACCESS: 'members', METRICS_TOKEN: 'a-token-for-the-metrics' })
let key = ''
let refs: string[]

beforeAll(async () => {
  const owner = await test.user('owner')
  key = owner.key
  refs = []
  for (const visibility of ['public', 'members', 'unlisted'] as const) {
    const common = { title: `${MARKER} ${visibility}`, tags: [MARKER], category: 'coding', visibility }
    const { prompt } = Object(await test.call(owner.actor, 'save_prompt', { ...common, content: MARKER }))
    const files = [{ filename: 'SKILL.md', content: `---\nname: ${MARKER.toLowerCase()}-${visibility}\ndescription: x\n---\n${MARKER}` }]
    const { skill } = Object(await test.call(owner.actor, 'save_skill', { ...common, files }))
    refs.push(prompt.id, prompt.slug, skill.id, skill.slug)
  }
})

/** Addresses that are open, as the contract lists them. */
const OPEN = new Set(
  [
    '/healthz /readyz /metrics /static/{digest}/{name} /robots.txt /favicon.ico /sign-in /sign-in/link /sign-in/with/{provider}',
    '/sign-in/code /sign-in/passkey /sign-in/passkey/options /sign-up /sign-out /language /forgot-password /reset-password',
    '/archives/{token}/{file} /authorize /oauth2/authorize',
  ].flatMap((line) => line.split(' ')),
)

/** Whether strangers may use a route: it is in the list, or brings programs in. */
const isOpen = ({ path, kind }: Route) => OPEN.has(path) || kind === 'oauth'

/** What a stranger gets: a status, and for a browser the page it is led to. */
function expected({ method, path, kind }: Route): number {
  if (path.startsWith('/api/embed/') || path === '/api/oembed') return 404
  if (path.startsWith('/api/') || kind === 'mcp') return 401
  if (path.includes('{git}')) return 401
  if (kind === 'page' || kind === 'download') return method === 'GET' || method === 'POST' ? 303 : 401
  return 404
}

function fill(path: string, ref: string): string {
  return path
    .replace('{scope}', ref === NOBODY ? `/skills/${NOBODY}` : `/skills/${ref}`)
    .replace('{git}', '.git')
    .replace('{collection}', 'prompts')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'version' ? '1' : ref))
}

const ask = async (path: string, options: RequestInit & { key?: string } = {}, app = test) => {
  const answer = await app.fetch(path, { redirect: 'manual', ...options })
  const text = (await answer.text()).replaceAll(/,?"requestId":"[^"]*"/g, '')
  return { status: answer.status, text, location: answer.headers.get('location'), challenge: answer.headers.get('www-authenticate') }
}

/** What a browser sends that nobody is signed in with. */
const optionsOf = ({ method }: Pick<Route, 'method'>) => ({
  method,
  headers: { accept: 'text/html', origin: 'http://127.0.0.1:3000', 'content-type': 'application/x-www-form-urlencoded' },
  ...(method === 'GET' ? {} : { body: 'title=x' }),
})

/** Asks a route for items and for nothing: every answer must be the same, and have the status. Says how often it asked for items. */
async function expectTheSame(app: TestApp, route: Route, status: number, items: readonly string[]): Promise<number> {
  const options = optionsOf(route)
  const cell = `${route.method} ${route.path}`
  const missing = await ask(fill(route.path, NOBODY), options, app)
  expect(missing.status, cell).toBe(status)
  const asked = route.path.includes('{') ? items : []
  for (const ref of asked) {
    const target = fill(route.path, ref)
    const answer = await ask(target, options, app)
    expect(
      [answer.status, answer.text.includes(MARKER), answer.challenge?.replaceAll(ref, NOBODY) ?? null],
      `${cell} of ${target}`,
    ).toEqual([missing.status, false, missing.challenge])
    expect(answer.text.replaceAll(ref, NOBODY), cell).toBe(missing.text)
    expect(answer.location?.replaceAll(ref, NOBODY), cell).toBe(missing.location?.replaceAll(ref, NOBODY))
    if (answer.status === 303) expect(answer.location).toMatch(/^\/sign-in\?to=/)
  }
  return asked.length
}

describe('to strangers, a library for members', () => {
  it('answers no route but those that bring people in, and tells nothing of what is there', async () => {
    let asked = 0
    for (const route of test.routes) if (!isOpen(route)) asked += await expectTheSame(test, route, expected(route), refs)
    expect(asked).toBeGreaterThan(500)
  })

  it('is the same where there is no route', async () => {
    for (const [path, status] of [
      ['/nothing', 401],
      ['/prompts/a/b/c', 401],
      ['/api/nothing', 401],
      ['/e/x/y', 404],
      ['/.well-known/oauth-nothing', 404],
      ['/static/x', 404],
    ] as const)
      expect((await ask(path)).status, path).toBe(status)
  })

  it('refuses MCP in its own words, whatever the method', async () => {
    for (const path of ['/api/mcp', '/api/mcp/@owner', '/api/mcp?users=owner']) {
      const junk = { headers: { authorization: 'Bearer junk' } }
      for (const options of [{}, junk, { method: 'DELETE' }, { ...junk, method: 'PUT' }, rpc('tools/list'), rpc('prompts/list')]) {
        const { status, text, challenge } = await ask(path, options)
        expect(challenge).toContain(`/.well-known/oauth-protected-resource${path.split('?', 1)[0]}`)
        expect([status, JSON.parse(text)], path).toEqual([
          401,
          { jsonrpc: '2.0', id: 'body' in options ? 1 : null, error: expect.objectContaining({ data: { code: 'unauthenticated' } }) },
        ])
      }
    }
  })

  it('asks Git for a password, and knows no other channel', async () => {
    const refused = await ask('/library.git/info/refs?service=git-upload-pack')
    expect([refused.status, refused.challenge]).toEqual([401, expect.stringContaining('Basic')])
    for (const path of [
      '/prompts.json',
      '/prompts.csv',
      '/marketplace.json',
      '/.well-known/agent-skills/index.json',
      '/sitemap.xml',
      '/feed.xml',
    ])
      expect((await ask(path)).status, path).toBe(404)
  })

  it('opens the doors', async () => {
    for (const path of ['/healthz', '/readyz', '/robots.txt', '/sign-in', '/sign-up', '/forgot-password']) {
      const { status, text } = await ask(path, { headers: { accept: 'text/html' } })
      expect([status, text.includes(MARKER)], path).toEqual([200, false])
    }
    const style = /\/static\/[^"]+\.css/.exec((await ask('/sign-in', { headers: { accept: 'text/html' } })).text)?.[0]
    expect((await ask(style ?? '')).status).toBe(200)
  })
})

describe('to its members, a library for members', () => {
  it('is open with a key, over REST, MCP and channels', async () => {
    const other = (await test.user('other')).key
    const { prompts } = await readJson(await test.fetch('/api/prompts', { key: other }))
    expect(prompts.map(({ title }: { title: string }) => title).toSorted()).toEqual([`${MARKER} members`, `${MARKER} public`])
    const listed = await test.fetch('/api/mcp', { ...rpc('prompts/list'), key: other })
    expect((await readJson(listed)).result.prompts).toHaveLength(2)
    const index = await readJson(await test.fetch('/.well-known/agent-skills/index.json', { key: other }))
    expect(index.skills.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      `${MARKER.toLowerCase()}-members`,
      `${MARKER.toLowerCase()}-public`,
    ])
    const basic = { authorization: `Basic ${Buffer.from(`u:${other}`).toString('base64')}` }
    expect((await ask('/library.git/info/refs?service=git-upload-pack', { headers: basic })).status).toBe(200)
    expect((await ask('/api/prompts', { key: `${other}x` })).status).toBe(401)
  })

  it('is open to who signs in, and to an install link', async () => {
    expect((await visit(test).get('/prompts')).to).toBe('/sign-in?to=%2Fprompts')
    const person = await signUp(test, 'newcomer')
    const { html } = await person.get('/prompts')
    expect([html.includes(`${MARKER} members`), html.includes(`${MARKER} public`), html.includes(`${MARKER} unlisted`)]).toEqual([
      true,
      true,
      false,
    ])
    expect(html).not.toContain('/feed.xml')
    expect(html).not.toContain('/embeds')
    expect((await person.get('/new')).html).toContain('Public: everyone who is signed in')
    // A key that may not read is no stranger: it finds what is public here.
    const writer = await readJson(await test.fetch('/api/prompts', { key: (await test.user('other', ['write'])).key }))
    expect(writer.prompts.map(({ title }: { title: string }) => title)).toEqual([`${MARKER} public`])
    const connect = (await person.get('/connect')).html
    expect([connect.includes('value="key"'), connect.includes('name="access" value="public"')]).toEqual([true, false])
    const skill = (await person.get(`/skills/${refs[3]}`)).html
    expect([skill.includes('/download/skills/'), skill.includes('npx skills add'), skill.includes('$COMMONPLACE_KEY')]).toEqual([
      true,
      false,
      true,
    ])
    expect((await person.get('/tags/zqclosed')).html).not.toContain('npx skills add')
    const { url, link } = await readJson(await test.fetch('/api/install-links', { ...json('POST', { name: 'x' }), key }))
    const path = `${new URL(url).pathname}/.well-known/agent-skills/index.json`
    expect((await ask(path)).status).toBe(200)
    await test.fetch(`/api/install-links/${link.id}`, { method: 'DELETE', key })
    expect((await ask(path)).status).toBe(404)
  })
})

describe('to strangers, a library for members with PUBLIC_ITEMS', () => {
  interface Kept {
    readonly kind: 'prompt' | 'skill'
    readonly id: string
    readonly slug: string
    readonly isPublic: boolean
    /** What only this item says. */
    readonly mark: string
  }
  let shown: TestApp
  let kept: Kept[]
  let embedId = ''
  let memberKey = ''
  const encoder = createFakeEncoder()
  const find = (mark: string): Kept => {
    const item = kept.find((one) => one.mark === mark)
    if (!item) throw new Error(`no item ${mark}`)
    return item
  }

  beforeAll(async () => {
    shown = await testApp({ LIBRARY_ACCESS: 'members', PUBLIC_ITEMS: true }, {}, null, { encoder })
    await shown.call(ANONYMOUS, 'search_prompts', { query: 'x' })
    const [owner, member] = [(await shown.user('owner')).actor, await shown.user('member')]
    memberKey = member.key
    kept = []
    for (const visibility of ['public', 'members', 'unlisted', 'private'] as const) {
      const [mark, skillMark] = [`${MARKER}${visibility}`, `${MARKER}skill${visibility}`]
      const common = { category: 'coding', visibility }
      const said = { ...common, title: `Say ${mark}`, tags: [mark] }
      const { prompt } = Object(await shown.call(owner, 'save_prompt', { ...said, content: `${MARKER}older \${one}` }))
      await shown.call(owner, 'update_prompt', { id: prompt.id, content: `${mark} says \${one}` })
      const files = [{ filename: 'SKILL.md', content: `---\nname: ${skillMark.toLowerCase()}\ndescription: x\n---\n${skillMark}` }]
      const done = { ...common, title: `Do ${skillMark}`, tags: [skillMark] }
      const { skill } = Object(await shown.call(owner, 'save_skill', { ...done, files }))
      const isPublic = visibility === 'public'
      kept.push({ kind: 'prompt', id: prompt.id, slug: prompt.slug, isPublic, mark })
      kept.push({ kind: 'skill', id: skill.id, slug: skill.slug, isPublic, mark: skillMark })
    }
    // Copies say where they come from, and are near.
    const person = { ...member.actor, scopes: new Set([...member.actor.scopes, 'account'] as const) }
    for (const { kind, id, mark } of kept.filter(({ isPublic }) => isPublic)) {
      const { id: copyId } = Object(await shown.call(person, 'copy_item', { collection: `${kind}s`, id }))
      const { slug } = Object((await shown.call(person, `update_${kind}`, { id: copyId, visibility: 'public' }))[kind])
      kept.push({ kind, id: copyId, slug, isPublic: true, mark: `copy of ${mark}` })
    }
    embedId = String((await shown.call(person, 'save_embed', { config: { prompt: 'Kept apart' } }))['id'])
    shown.app.itemEncoding?.start(() => {})
    expect(await eventually(async () => shown.app.itemEncoding?.state === 'ready')).toBe(true)
    expect(await eventually(async () => (await shown.app.itemEncoding?.countItems())?.pending === 0)).toBe(true)
  })
  afterAll(() => shown.close())

  /** What stands in an answer of other items than the one asked for: ids, slugs and words. */
  const tellsOf = (text: string, asked: Kept | null): string[] =>
    kept.flatMap((item) => {
      if (item === asked) return []
      const isWord = (word: string) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`, 'i').test(text)
      const words = item.mark.startsWith('copy') || asked?.mark.endsWith(item.mark) ? [] : [item.mark]
      return [item.id, item.slug, ...words].filter(isWord)
    })

  /** Routes that show one public item, and what they answer for all others. */
  const SHOWN: Readonly<Record<string, { readonly kinds: readonly Kept['kind'][]; readonly otherwise: number; readonly end?: string }>> = {
    '/prompts/{ref}': { kinds: ['prompt'], otherwise: 303 },
    '/skills/{ref}': { kinds: ['skill'], otherwise: 303 },
    '/embed/{ref}': { kinds: ['prompt', 'skill'], otherwise: 404 },
    '/api/embed/image/{file}': { kinds: ['prompt', 'skill'], otherwise: 404, end: '.svg' },
    '/e/{id}': { kinds: [], otherwise: 404 },
  }
  /** Routes of embeds that show nothing of the library. */
  const BARE: Readonly<Record<string, number>> = {
    '/embed': 200,
    '/embed.js': 200,
    '/api/embed/examples': 200,
    '/api/embed/image': 200,
    '/api/oembed': 400,
  }

  it('shows public items on their pages and in embeds, and answers every other route as before', async () => {
    let [closed, open, hidden] = [0, 0, 0]
    for (const route of shown.routes) {
      if (isOpen(route)) continue
      const { kinds, otherwise, end = '' } = (route.method === 'GET' && SHOWN[route.path]) || { kinds: null, otherwise: 0 }
      const bare = route.method === 'GET' ? BARE[route.path] : undefined
      if (kinds === null) {
        const refs = kept.flatMap(({ id, slug }) => [id, slug])
        closed += await expectTheSame(shown, route, bare ?? expected(route), refs)
        continue
      }
      const missing = await ask(fill(route.path, NOBODY + end), optionsOf(route), shown)
      expect(missing.status, route.path).toBe(otherwise)
      for (const item of kept) {
        for (const ref of [item.id, item.slug]) {
          const answer = await ask(fill(route.path, ref + end), optionsOf(route), shown)
          const cell = `${route.path} of ${item.mark} by ${ref}`
          if (item.isPublic && kinds.includes(item.kind)) {
            open++
            expect([answer.status, answer.text.includes(MARKER), tellsOf(answer.text, item)], cell).toEqual([200, true, []])
            expect(answer.text, cell).not.toMatch(
              new RegExp(`${MARKER}older|/versions|/download/|prompt\\.md|/raw|npx skills|/marketplace`),
            )
          } else {
            hidden++
            expect({ ...answer, text: answer.text.replaceAll(ref, NOBODY) }, cell).toEqual({
              ...missing,
              text: missing.text,
              location: missing.location?.replaceAll(NOBODY, ref) ?? null,
            })
            expect(tellsOf(answer.text, null), cell).toEqual([])
            if (otherwise === 303) expect(answer.location, cell).toBe(`/sign-in?to=${encodeURIComponent(fill(route.path, ref))}`)
          }
        }
      }
    }
    expect([closed > 1000, open, hidden]).toEqual([true, 24, 76])
  })

  it('says more of the same items to members', async () => {
    const person = await signUp(shown, 'newcomer')
    for (const [kind, mark] of [
      ['prompt', `${MARKER}public`],
      ['skill', `${MARKER}skillpublic`],
    ] as const) {
      const [item, copy] = [find(mark), find(`copy of ${mark}`)]
      expect(tellsOf((await person.get(`/${kind}s/${item.id}`)).html, item)).toEqual(expect.arrayContaining([copy.slug]))
      expect(tellsOf((await person.get(`/${kind}s/${copy.id}`)).html, copy)).toEqual(expect.arrayContaining([item.slug]))
      expect((await person.get(`/${kind}s/${item.id}`)).html).toContain('/download/')
      expect((await person.get(`/${kind}s/${item.id}`)).html).toContain(`/embeds?item=${item.id}`)
    }
    expect((await person.get(`/prompts/${find(`${MARKER}public`).id}`)).html).toContain('/versions')
    const { prompts } = await readJson(await shown.fetch('/api/prompts?category=coding', { key: memberKey }))
    expect(prompts).toHaveLength(3)
    // What members have read is not kept for strangers.
    const { id } = find(`${MARKER}public`)
    expect(tellsOf((await ask(`/prompts/${id}`, optionsOf({ method: 'GET' }), shown)).text, find(`${MARKER}public`))).toEqual([])
  })

  it('describes links to public items alone, and draws their pictures', async () => {
    for (const item of kept) {
      for (const [path, isShown] of [
        [`/${item.kind}s/${item.id}`, item.isPublic],
        [`/${item.kind}s/${item.slug}`, item.isPublic],
        [`/embed/${item.id}`, item.isPublic],
        [`/e/${item.id}`, false],
      ] as const) {
        const answer = await ask(`/api/oembed?url=${encodeURIComponent(`http://127.0.0.1:3000${path}`)}`, {}, shown)
        expect([answer.status, tellsOf(answer.text, isShown ? item : null)], path).toEqual([isShown ? 200 : 404, []])
      }
      const picture = await shown.fetch(`/api/embed/image/${item.id}.png`)
      expect([picture.status, picture.headers.get('content-type') === 'image/png'], item.mark).toEqual(
        item.isPublic ? [200, true] : [404, false],
      )
    }
    const { text } = await ask(`/prompts/${find(`${MARKER}public`).slug}`, optionsOf({ method: 'GET' }), shown)
    expect([text.includes('/api/oembed?url='), text.includes('og:image'), text.includes('noindex')]).toEqual([true, true, false])
    expect(text).not.toContain('/embeds')
  })

  it('shows a saved embed to whoever has its id', async () => {
    const { status, text } = await ask(`/e/${embedId}`, {}, shown)
    expect([status, text.includes('Kept apart'), tellsOf(text, null)]).toEqual([200, true, []])
  })

  it('takes no form from a stranger, and answers programs with 401', async () => {
    const { id } = find(`${MARKER}public`)
    expect((await visit(shown).post(`/prompts/${id}/fill`, { 'v.one': 'x' })).to).toMatch(/^\/sign-in/)
    expect((await visit(shown).post(`/prompts/${id}`, { do: 'vote' })).to).toMatch(/^\/sign-in/)
    for (const ref of [NOBODY, find(`${MARKER}members`).id, find(`${MARKER}private`).id])
      expect((await ask(`/prompts/${ref}`, {}, shown)).status).toBe(401)
    expect((await ask(`/prompts/${id}`, { method: 'HEAD' }, shown)).status).toBe(200)
  })

  it('lists nothing to a stranger behind the gate either, whatever is cached of an open library', async () => {
    const outside = strangerTo({ isForMembers: true })
    const { id } = find(`${MARKER}public`)
    const skill = find(`${MARKER}skillpublic`)
    for (const [name, input] of [
      ['list_prompts', {}],
      ['list_prompts', { q: `${MARKER}public` }],
      ['list_skills', {}],
      ['search_prompts', { query: `${MARKER}public` }],
      ['search_skills', { query: `${MARKER}skillpublic` }],
      ['list_tags', {}],
      ['list_versions', { collection: 'prompts', id }],
      ['list_exposed_prompts', {}],
      ['list_skill_manifests', {}],
      ['list_shared_skills', {}],
      ['list_shared_changes', { kind: 'skill' }],
      ['list_whole_prompts', {}],
      ['walk_whole_prompts', {}],
      ['find_skills', { q: `${MARKER}skillpublic` }],
      ['related_items', { collection: 'prompts', id }],
      ['related_items', { collection: 'skills', id: skill.id }],
      ['show_item_page', { collection: 'prompts', id: find(`copy of ${MARKER}public`).id }],
      ['near_addresses', { ref: `${find(`${MARKER}public`).slug}x` }],
    ] as const) {
      const said = async (actor: Actor) => {
        const answer = await shown.call(actor, name, input)
        // The item itself is what PUBLIC_ITEMS shows to them.
        const { related, source } = answer
        return JSON.stringify(name === 'show_item_page' ? { related, source } : { ...answer, query: null })
      }
      // Twice: the second answer may come from a cache.
      const toStrangers = [await said(ANONYMOUS), await said(ANONYMOUS)]
      for (const text of toStrangers) expect(text, name).toMatch(/Zqclosed|"version":2/i)
      for (const text of [await said(outside), await said(outside)]) expect(text, name).not.toMatch(/Zqclosed|"version":|"total":[1-9]/i)
    }
    const categories = async (actor: Actor) => Object(await shown.call(actor, 'list_categories', {})).categories
    expect([(await categories(ANONYMOUS)).length, (await categories(outside)).length]).toEqual([1, 0])
  })

  it('hides an item again as soon as it is not public', async () => {
    const owner = (await shown.user('owner')).actor
    const { prompt } = Object(await shown.call(owner, 'save_prompt', { title: 'Fleeting', content: 'x', visibility: 'public' }))
    const statuses = async () => [
      (await ask(`/prompts/${prompt.id}`, optionsOf({ method: 'GET' }), shown)).status,
      (await ask(`/embed/${prompt.slug}`, {}, shown)).status,
    ]
    expect(await statuses()).toEqual([200, 200])
    await shown.call(owner, 'update_prompt', { id: prompt.id, visibility: 'members' })
    expect(await statuses()).toEqual([303, 404])
  })
})
