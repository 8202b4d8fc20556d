import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { json, rpc, useTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp } from '../support/visitor.ts'

/**
 * A walk over every route there is, by everybody who should not see what is hidden, through a library in which every hidden thing holds a word of
 * its own. A route with a parameter that the walk cannot fill fails it, so that new ones are walked as well.
 */

const ORIGIN = 'http://127.0.0.1:3000'
const NOBODY = '00000000-0000-4000-8000-000000000000'
/** Longest walk: thousands of requests, on either engine. */
const WALK_MS = 300_000
/** The walk has no use for these: they end the sessions it walks with. */
const NOT_WALKED = new Set(['/sign-out', '/settings/data/export.zip'])

interface Secret {
  /** What it is of, for the report. */
  readonly what: string
  readonly word: string
  /** Addresses with this in them may show it: unlisted items are for whoever has their id. */
  readonly id: string | null
  /** Who may read it beside the owner. */
  readonly readers?: readonly string[]
}

const test = useTestApp()
let owner: Extract<Actor, { kind: 'user' }>
let ownerKey: string
let ownerCookies: string
const secrets: Secret[] = []
const refs: string[] = []
/** Ids and slugs of collections. */
const collectionRefs: string[] = []
const walkers = new Map<string, { readonly key?: string; readonly cookies?: string }>()

/** Walkers who are members. */
const MEMBERS = ['other', 'other in a browser', 'administrator’s key', 'administrator in a browser', 'former member']

let planted = 0
/** A word that stands nowhere else: letters alone, so that no encoding on the way hides it. */
function plant(what: string, id: string | null = null, readers: readonly string[] = []): string {
  const letters = [...String(++planted)].map((digit) => 'qwxzvkjyfg'[Number(digit)]).join('')
  // Members are offered the words that they may read in place of similar ones.
  const word = what.includes('for members') ? `${letters}insider${letters}zz` : `zz${letters}canary${letters}`
  secrets.push({ what, word, id, readers })
  return word
}

/** These are no secrets any more. */
function forget(words: readonly string[]): void {
  secrets.splice(0, secrets.length, ...secrets.filter(({ word }) => !words.includes(word)))
}

/** Words that are open to those who have the id of an item. */
function open(from: number, id: string): void {
  for (const [index, secret] of secrets.entries()) if (index >= from) secrets[index] = { ...secret, id }
}

/** Words that are for members. */
function openToMembers(from: number): void {
  for (const [index, secret] of secrets.entries()) if (index >= from) secrets[index] = { ...secret, readers: MEMBERS }
}

function promptFields(what: string): Record<string, unknown> {
  return {
    title: `Title ${plant(`${what}: title`)}`,
    content: `Text ${plant(`${what}: content`)} \${${plant(`${what}: variable`)}:${plant(`${what}: default`)}}`,
    description: plant(`${what}: description`),
    tags: [plant(`${what}: tag`)],
    note: plant(`${what}: note`),
    category: 'coding',
  }
}

function skillFields(what: string): Record<string, unknown> {
  const name = plant(`${what}: name`)
  return {
    title: `Title ${plant(`${what}: title`)}`,
    description: plant(`${what}: description`),
    tags: [plant(`${what}: tag`)],
    note: plant(`${what}: note`),
    files: [
      {
        filename: 'SKILL.md',
        content: `---\nname: ${name}\ndescription: ${plant(`${what}: frontmatter`)}\n---\n${plant(`${what}: SKILL.md`)}`,
      },
      { filename: `${plant(`${what}: filename`)}.txt`, content: plant(`${what}: file`) },
    ],
  }
}

async function make(kind: 'prompt' | 'skill', what: string, visibility: string, more: object = {}): Promise<{ id: string; slug: string }> {
  const from = secrets.length
  const fields = kind === 'prompt' ? promptFields(what) : skillFields(what)
  const { id, slug } = Object((await test.call(owner, `save_${kind}`, { ...fields, visibility, ...more }))[kind])
  refs.push(id, slug)
  if (visibility === 'unlisted') open(from, id)
  // The address of a private item, and of one for members, is told to nobody else either.
  else if (visibility !== 'public')
    secrets.push({ what: `${what}: slug`, word: slug, id: null }, { what: `${what}: id`, word: id, id: null })
  if (visibility === 'members') openToMembers(from)
  return { id, slug }
}

/** An address that the check blocks here. */
const BLOCKED = 'http://203.0.113.9/x'

/** Items that the check blocks: one from its first save on, and a public one whose newest version is blocked, with a label on it. */
async function makeBlocked(kind: 'prompt' | 'skill'): Promise<void> {
  const collection = `${kind}s`
  const save = (what: string) => {
    const fields = kind === 'prompt' ? promptFields(what) : skillFields(what)
    if (kind === 'prompt') return { ...fields, content: `${String(fields['content'])} ${BLOCKED}` }
    const [first, ...files] = Object(fields['files'])
    return { ...fields, files: [{ ...first, content: `${first.content} ${BLOCKED}` }, ...files] }
  }
  const { id, slug, visibility } = Object(
    (await test.call(owner, `save_${kind}`, { ...save(`blocked ${kind}`), visibility: 'public' }))[kind],
  )
  expect(visibility).toBe('private')
  secrets.push({ what: `blocked ${kind}: slug`, word: slug, id: null }, { what: `blocked ${kind}: id`, word: id, id: null })
  refs.push(id, slug)
  const plain =
    kind === 'prompt' ? { content: 'Served' } : { files: [{ filename: 'SKILL.md', content: '---\nname: served\ndescription: d\n---\n' }] }
  const served = Object((await test.call(owner, `save_${kind}`, { title: `Served ${kind}`, ...plain, visibility: 'public' }))[kind])
  refs.push(served.id, served.slug)
  const what = `blocked version of a ${kind}`
  if (kind === 'prompt') {
    const title = plant(`${what}: title`)
    await test.call(owner, 'update_prompt', { id: served.id, title, content: `${plant(`${what}: content`)} ${BLOCKED}` })
  } else {
    await test.call(owner, 'update_skill_file', {
      skillId: served.id,
      filename: 'SKILL.md',
      content: `${plant(`${what}: SKILL.md`)} ${BLOCKED}`,
    })
    await test.call(owner, 'add_file_to_skill', {
      skillId: served.id,
      filename: plant(`${what}: filename`),
      content: plant(`${what}: file`),
    })
  }
  const item = await test.app.store.items.findItem(owner, kind, served.id)
  expect([item?.version, item?.blockedVersion]).toEqual([1, kind === 'prompt' ? 2 : 3])
  await test.call(owner, 'set_label', {
    collection,
    id: served.id,
    label: 'next',
    version: 2,
    reason: plant(`reason of a label on a blocked ${kind}`),
  })
  const reason = plant(`reason for which a finding of a ${kind} was accepted`)
  await test.call(owner, 'waive_finding', { collection, id, rule: 'links/raw-address', reason })
}

beforeAll(async () => {
  await test.app.store.checks.setLevel(null, 'links/raw-address', 'block')
  const admin = await signUp(test, 'administrator')
  const ownerBrowser = await signUp(test, 'owner')
  const other = await signUp(test, 'other')
  const made = await test.user('owner')
  owner = made.actor
  ownerKey = made.key
  ownerCookies = ownerBrowser.cookies()
  walkers.set('nobody', {})
  walkers.set('other', { key: (await test.user('other')).key })
  walkers.set('other in a browser', { cookies: other.cookies() })
  walkers.set('owner’s key that may not read', { key: (await test.user('owner', ['write'])).key })
  walkers.set('administrator’s key', { key: (await test.user('administrator')).key })
  walkers.set('administrator in a browser', { cookies: admin.cookies() })
  for (const team of ['crew', 'elsewhere']) await test.call(owner, 'create_team', { team })
  const leaver = await test.user('former')
  await test.call(owner, 'set_team_member', { team: 'crew', username: 'former', role: 'editor' })
  walkers.set('former member', { key: leaver.key })
  // A key of the owner's that is narrowed to a team with nothing in it.
  const signedIn = { ...owner, scopes: new Set([...owner.scopes, 'account' as const]) }
  const narrowed = await test.call(signedIn, 'create_key', { name: 'narrowed', team: 'elsewhere' })
  walkers.set('narrowed key', { key: String(narrowed['key']) })
  for (const kind of ['prompt', 'skill'] as const) {
    const collection = `${kind}s`
    await make(kind, `private ${kind} of a team`, 'private', { owner: 'crew' })
    await make(kind, `private ${kind}`, 'private')
    await make(kind, `unlisted ${kind}`, 'unlisted')
    await make(kind, `${kind} for members`, 'members')
    const former = await make(kind, `${kind} withdrawn from others`, 'members')
    secrets.splice(
      0,
      secrets.length,
      ...secrets.map((secret) => (secret.what.includes('withdrawn from') ? { ...secret, readers: [] } : secret)),
    )
    await test.call(owner, `update_${kind}`, { id: former.id, visibility: 'private' })
    await test.call(owner, 'delete_item', { collection, id: (await make(kind, `deleted public ${kind}`, 'public')).id })
    await test.call(owner, 'delete_item', { collection, id: (await make(kind, `deleted private ${kind}`, 'private')).id })
    const taken = await make(kind, `${kind} made private`, 'public')
    await test.call(owner, `update_${kind}`, { id: taken.id, visibility: 'private' })
    const shown = await make(kind, `private version of a public ${kind}`, 'private')
    // A label that leads to the version which only its owner sees.
    await test.call(owner, 'set_label', {
      collection,
      id: shown.id,
      label: 'production',
      version: 1,
      reason: plant(`reason of a label of a ${kind}`),
    })
    // Its address is known from here on.
    forget([shown.id, shown.slug])
    if (kind === 'skill') {
      const files = [{ filename: 'SKILL.md', content: '---\nname: shown\ndescription: d\n---\n' }]
      await test.call(owner, 'arrange_skill_files', { skillId: shown.id, isAll: true, put: files })
    }
    await test.call(owner, `update_${kind}`, {
      id: shown.id,
      title: `Shown ${kind}`,
      description: null,
      tags: [],
      visibility: 'public',
      slug: `shown-${kind}`,
      ...(kind === 'prompt' ? { content: 'Shown' } : {}),
    })
    refs.push(`shown-${kind}`)
    const held = { description: plant(`case held out of a public ${kind}`), vars: { x: 'asked' }, holdout: true }
    const query = { query: held.description, should_trigger: true }
    const [filename, cases] = kind === 'prompt' ? ['tests.json', { tests: [held] }] : ['evals/held.json', [query]]
    await test.call(owner, 'set_cases', { collection, id: shown.id, files: [{ filename, content: JSON.stringify(cases) }] })
    const heldFrom = secrets.length
    const heldItem = await make(kind, `held ${kind}`, 'public')
    open(heldFrom, heldItem.id)
    await admin.post(`/${collection}/${heldItem.id}`, { do: 'hold' })
    await makeBlocked(kind)
  }
  for (const visibility of ['private', 'members', 'unlisted', 'public']) {
    const from = secrets.length
    const what = visibility === 'members' ? 'collection for members' : `${visibility} collection`
    const fields =
      visibility === 'public' ? { title: 'Shown collection' } : { title: plant(`${what}: title`), description: plant(`${what}: text`) }
    const made = Object((await test.call(owner, 'create_collection', { ...fields, visibility })).collection)
    collectionRefs.push(made.id, made.slug)
    // Each holds what is hidden.
    for (const id of refs) await test.call(owner, 'add_to_collection', { id: made.id, items: [id] }).catch(() => {})
    if (visibility === 'unlisted') open(from, made.id)
    if (visibility === 'private' || visibility === 'members') {
      secrets.push({ what: `${what}: slug`, word: made.slug, id: null }, { what: `${what}: id`, word: made.id, id: null })
    }
    if (visibility === 'members') openToMembers(from)
  }
  await test.call(owner, 'remove_team_member', { team: 'crew', username: 'former' })
  const email = `${plant('e-mail address', null, ['administrator in a browser'])}@example.org`
  await ownerBrowser.post('/settings', { do: 'email', email, password: PASSWORD })
  await ownerBrowser.post('/settings/access', { do: 'create', name: plant('name of a key'), scopes: ['read'] })
  // What the database keeps of passwords, sessions and keys is for nobody.
  for (const table of ['login_account', 'login_session'] as const) {
    for (const row of await test.app.store.logins.findLoginRows(table, [], { limit: 100, offset: 0 })) {
      for (const field of ['password', 'token'])
        if (typeof row[field] === 'string') secrets.push({ what: `${table}.${field}`, word: row[field], id: null })
    }
  }
  secrets.push({ what: 'setup code', word: test.app.setupCode, id: null }, { what: 'a key', word: ownerKey.slice(4, 30), id: null })
})

/** Every way to fill the parameters of a path. */
function fill(path: string): string[] {
  const named = secrets.filter(({ what }) => what.includes('skill') && what.endsWith(': name')).map(({ word }) => word)
  const values: Record<string, readonly string[]> = {
    id: path.includes('/collections/') ? collectionRefs : refs,
    collected: collectionRefs,
    item: refs,
    ref: refs,
    skillId: refs,
    name: /^\/(users|admin)\//.test(path) ? ['owner', 'other', 'administrator'] : refs,
    collection: ['prompts', 'skills'],
    version: ['1', '2'],
    waiver: ['1', '2'],
    run: ['1', '2'],
    before: ['1'],
    filename: path.includes('.well-known') ? named.flatMap((name) => [`${name}.zip`, `${name}/SKILL.md`]) : ['SKILL.md', 'a.txt'],
    provider: ['corp'],
    username: ['owner'],
    user: ['owner', 'crew'],
    team: ['owner', 'canary', 'crew'],
    tag: ['canary', 'nothing'],
    category: ['coding'],
    group: ['prompts', 'keys'],
    scope: [
      '',
      '/@owner',
      '/@crew',
      '/categories/coding',
      '/users/owner',
      ...refs.map((ref) => `/skills/${ref}`),
      ...collectionRefs.map((ref) => `/collections/${ref}`),
    ],
    git: ['', '/library.git'],
    file: refs.map((ref) => `${ref}.svg`),
    token: ['x'],
    digest: ['x'],
    slug: ['coding'],
    label: ['production'],
    layout: ['promptfoo', 'triggers'],
  }
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
  if (parameter === undefined) return [path]
  const fillers = values[parameter]
  if (!fillers) throw new Error(`Say in test/walks/canaries.test.ts what stands for {${parameter}} in ${path}`)
  return fillers.flatMap((value) => fill(path.replace(`{${parameter}}`, value)))
}

/** What every writing route takes something of. */
const BODY = {
  title: 'x',
  content: 'x',
  filename: 'x.txt',
  files: [{ filename: 'SKILL.md', content: 'x' }],
  prompt: 'write a title',
  name: 'a title',
  newLabels: ['staging'],
  arguments: {},
  variables: {},
  owner: 'owner',
  path: 'shown',
}

interface Asked {
  readonly method: string
  readonly target: string
  readonly options?: RequestInit
}

/** What is asked on the walk: every route with every address it can have, and every tool and method of MCP. */
function everything(): Asked[] {
  const asked: Asked[] = []
  for (const { method, path, kind } of test.routes) {
    if (NOT_WALKED.has(path) || kind === 'mcp') continue
    if (method === 'GET') for (const target of fill(path)) asked.push({ method, target })
    else if (kind === 'rest' || kind === 'langfuse')
      for (const target of fill(path)) asked.push({ method, target, options: json(method, BODY) })
    else if (path.includes('{')) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN }
      for (const target of fill(path)) asked.push({ method, target, options: { method, headers, body: 'title=x&content=x&do=preview' } })
    }
  }
  for (const ref of collectionRefs)
    for (const path of ['/api/prompts', '/api/skills', '/prompts', '/skills'])
      asked.push({ method: 'GET', target: `${path}?collections=${ref}` })
  for (const query of [
    '?q=Title&perPage=100',
    '?q=canary',
    '?author=owner',
    '?category=coding',
    '?tag=nothing',
    '?sort=oldest',
    '?page=2&perPage=1',
  ])
    for (const path of ['/api/prompts', '/api/skills', '/prompts', '/skills']) asked.push({ method: 'GET', target: path + query })
  for (const path of ['/api/search/prompts', '/api/search/skills'])
    for (const query of ['?query=&limit=50', '?query=Title&limit=50', '?query=x&tag=nothing'])
      asked.push({ method: 'GET', target: path + query })
  for (const ref of refs)
    for (const target of [
      `/embeds?item=${ref}`,
      `/api/oembed?url=${encodeURIComponent(`${ORIGIN}/prompts/${ref}`)}`,
      `/prompts/${ref}?view=rendered`,
    ])
      asked.push({ method: 'GET', target })
  const call = (method: string, params?: unknown, path = '') =>
    asked.push({ method: 'POST', target: `/api/mcp${path}`, options: rpc(method, params) })
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'skills/list'])
    for (const path of [
      '',
      '/@owner',
      '/categories/coding',
      '/tags/nothing',
      '?profile=chatgpt',
      ...collectionRefs.map((ref) => `/collections/${ref}`),
    ])
      call(method, {}, path)
  for (const { name, surfaces } of test.app.operations) {
    if (!surfaces.mcp) continue
    const path = surfaces.mcp.profile === undefined ? '' : `?profile=${surfaces.mcp.profile}`
    if (/search|list/.test(name)) for (const query of ['', 'Title']) call('tools/call', { name, arguments: { query, limit: 50 } }, path)
    else if (name === 'add_to_collection')
      for (const id of collectionRefs) call('tools/call', { name, arguments: { id, items: [refs[0]] } }, path)
    else for (const ref of refs) call('tools/call', { name, arguments: { ...BODY, id: ref, skillId: ref, filename: 'SKILL.md' } }, path)
  }
  for (const ref of refs) {
    call('prompts/get', { name: ref })
    call('completion/complete', { ref: { type: 'ref/prompt', name: ref }, argument: { name: 'x', value: '' } })
    call('resources/read', { uri: `skill://owner/${ref}/SKILL.md` })
    call('skills/get', { uri: `skill://owner/${ref}/SKILL.md` })
  }
  return asked
}

async function send({ target, options }: Asked, who: { readonly key?: string; readonly cookies?: string }): Promise<string> {
  const headers = new Headers(options?.headers)
  if (who.cookies !== undefined) headers.set('cookie', who.cookies)
  const response = await test.fetch(target, { ...options, headers, redirect: 'manual', ...(who.key === undefined ? {} : { key: who.key }) })
  return `${response.status}\n${[...response.headers].join('\n')}\n${Buffer.from(await response.arrayBuffer()).toString('latin1')}`
}

// In this order: on the second walk, keys of the owner's change things.
describe('what is hidden', { shuffle: false }, () => {
  it('can be found by the walk: its owner meets all of it', { timeout: WALK_MS }, async () => {
    const met = new Set<string>()
    const browser = { cookies: ownerCookies }
    const asked = everything().filter(({ method, target }) => method === 'GET' || (target.startsWith('/api/mcp') && method === 'POST'))
    const reads = asked.filter(({ options }) => !/save_|update_|remove_|add_file/.test(String(options?.body ?? '')))
    for (const who of [browser, { key: ownerKey }])
      for (const one of reads) {
        const answer = await send(one, who)
        for (const { word } of secrets) if (answer.includes(word)) met.add(word)
      }
    const unmet = secrets.filter(({ what, word }) => !met.has(word) && !/^login|setup code|a key$|deleted|: note$/.test(what))
    expect(unmet.map(({ what }) => what)).toEqual([])
  })

  it('is shown to nobody else, whatever they ask', { timeout: WALK_MS }, async () => {
    const leaks: string[] = []
    let count = 0
    const asked = everything()
    for (const [name, who] of walkers) {
      for (const one of asked) {
        count++
        const answer = (await send(one, who)).toLowerCase()
        for (const { what, word, id, readers } of secrets) {
          if (!answer.includes(word.toLowerCase()) || readers?.includes(name)) continue
          // An address is no secret from who asks for it, and what is unlisted is open to it.
          const told = `${one.target} ${String(one.options?.body ?? '')}`
          if (told.includes(word) || (id !== null && told.includes(id))) continue
          leaks.push(`${what}: ${name}, ${one.method} ${told.slice(0, 200)}`)
        }
      }
    }
    expect([...new Set(leaks)].slice(0, 20)).toEqual([])
    expect(count).toBeGreaterThan(5_000)
  })
})

describe('asking for what is hidden', () => {
  /** Everything that takes a text, with the text in it. */
  const asks = (text: string): Asked[] => {
    const word = encodeURIComponent(text)
    const get = (target: string): Asked => ({ method: 'GET', target })
    const call = (method: string, params: unknown): Asked => ({ method: 'POST', target: '/api/mcp', options: rpc(method, params) })
    const form = (target: string, body: string): Asked => ({
      method: 'POST',
      target,
      options: { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN } },
    })
    return [
      ...['query', 'tag', 'category'].map((name) => get(`/api/search/prompts?${name === 'query' ? '' : 'query=&'}${name}=${word}`)),
      ...['q', 'tag', 'category', 'author'].flatMap((name) =>
        ['/api/prompts', '/api/skills', '/prompts', '/skills'].map((path) => get(`${path}?${name}=${word}`)),
      ),
      ...[
        '/api/prompts/ /api/skills/ /api/collections/ /collections/ /api/prompts?collections= /prompts/ /skills/ /users/ /@',
        '/tags/ /categories/ /embed/ /e/ /embeds?item=',
      ]
        .flatMap((line) => line.split(' '))
        .map((path) => get(path + word)),
      ...['/@', '/tags/', '/categories/', '/collections/', '/skills/', '/install/'].map((path) =>
        get(`${path}${word}/.well-known/agent-skills/index.json`),
      ),
      get(`/.well-known/agent-skills/${word}.zip`),
      get(`/.well-known/skills/${word}/SKILL.md`),
      get(`/api/prompts/${word}/versions`),
      get(`/api/public/v2/prompts/${word}`),
      get(`/api/public/v2/prompts?name=${word}`),
      get(`/api/embed/image/${word}.svg`),
      get(`/api/oembed?url=${encodeURIComponent(`${ORIGIN}/prompts/${text}`)}`),
      ...['search_prompts', 'search_skills'].map((name) => call('tools/call', { name, arguments: { query: text } })),
      ...['get_prompt', 'get_skill'].map((name) => call('tools/call', { name, arguments: { id: text } })),
      call('prompts/get', { name: text }),
      call('resources/read', { uri: `skill://owner/${text}/SKILL.md` }),
      call('skills/get', { uri: `skill://owner/${text}/SKILL.md` }),
      form('/forgot-password', `name=${word}`),
    ]
  }

  it('is answered as asking for what was never there', { timeout: WALK_MS }, async () => {
    // Of the same length: some answers count what they repeat.
    const differences: string[] = []
    let pairs = 0
    for (const name of ['nobody', 'other']) {
      const who = walkers.get(name) ?? {}
      for (const { what, word, id, readers } of secrets.filter((secret) => /^[a-z]+$/.test(secret.word))) {
        if (readers?.includes(name) || (id !== null && what.endsWith(': id'))) continue
        const missing = `${word.slice(0, -6)}yranac`
        const [hidden, never] = [asks(word), asks(missing)]
        for (const [index, one] of hidden.entries()) {
          pairs++
          const tidy = (answer: string, text: string) =>
            answer
              .replaceAll(text, 'WORD')
              .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
              .replaceAll(/etag,.*|x-request-id,.*/g, '')
          const [found, absent] = [tidy(await send(one, who), word), tidy(await send(never[index] ?? one, who), missing)]
          if (found !== absent)
            differences.push(`${what}: ${name}, ${one.method} ${one.target} ${String(one.options?.body ?? '').slice(0, 120)}`)
        }
      }
    }
    expect(differences.slice(0, 20)).toEqual([])
    expect(pairs).toBeGreaterThan(3_000)
  })

  it('by an id that is hidden is answered as by one that is not there', async () => {
    const hidden = secrets.filter(({ what }) => what.endsWith(': id'))
    expect(hidden.length).toBeGreaterThan(3)
    for (const { what, word, readers } of hidden)
      for (const [name, who] of walkers) {
        if (name.startsWith('owner') || readers?.includes(name)) continue
        for (const path of ['/api/prompts/', '/api/skills/', '/api/collections/', '/prompts/', '/skills/', '/collections/', '/embed/']) {
          const strip = (answer: string, id: string) =>
            answer
              .replaceAll(id, 'X')
              .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
              .replaceAll(/etag,.*/g, '')
          const [found, absent] = [
            await send({ method: 'GET', target: path + word }, who),
            await send({ method: 'GET', target: path + NOBODY }, who),
          ]
          expect(strip(found, word), `${what} ${path} ${name}`).toBe(strip(absent, NOBODY))
        }
      }
  })
})
