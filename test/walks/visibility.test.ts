import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/library/actor.ts'
import { readSkillArchive } from '../../src/library/skill-archive.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { json, rpc, type TestApp, testApp } from '../support/test-app.ts'

/**
 * The visibility rule, proved as a table: routes × actors × item kinds × visibilities. Every operation must stand in it
 * (the first test fails otherwise), and every cell says both what must appear and what must not.
 */

const STATES = ['public', 'members', 'unlisted', 'private', 'deleted'] as const
type State = (typeof STATES)[number]
const EVERYBODY = ['anonymous', 'other', 'other without read', 'owner', 'owner without read', 'narrowed elsewhere', 'collected'] as const
/** `collected` is a key of the owner's, narrowed to a collection with every item. Where a team is the owner, `owner` is a maintainer; the others are members or were, and an administrator who is none. */
const AROUND_TEAMS = ['reader', 'reader without read', 'editor', 'former member', 'narrowed', 'administrator'] as const
type ActorName = (typeof EVERYBODY)[number] | (typeof AROUND_TEAMS)[number]
const SEE_ALL: readonly ActorName[] = ['owner', 'reader', 'editor', 'narrowed', 'collected']
/** Those with a key that has `read`. */
const MEMBERS: readonly ActorName[] = ['other', 'former member', 'administrator']
type Kind = 'prompt' | 'skill'
type Reach = 'id' | 'slug' | 'list'

interface Item {
  readonly kind: Kind
  readonly state: State
  readonly id: string
  readonly slug: string
  /** A word that stands in every field of this item and nowhere else. */
  readonly marker: string
}

/** The rule, written down once more, by hand: who sees what through what. */
function mayRead(actor: ActorName, state: State, reach: Reach): boolean {
  if (state === 'deleted' || actor === 'narrowed elsewhere') return false
  if (SEE_ALL.includes(actor)) return true
  if (state === 'public') return true
  if (state === 'members') return MEMBERS.includes(actor)
  return state === 'unlisted' && reach === 'id'
}

/** A way to an item. `wantsId` reaches are tried by id and by slug. */
interface Route {
  readonly operation: string
  readonly kind: Kind | 'both'
  /** `item`: by id and by slug; `name`: by owner and name, which is an address like a slug. */
  readonly reach: 'item' | 'list' | 'name'
  /** Whether the answer is about other items only, never about the one that is named. */
  readonly isOfOthers?: true
  /** Whether the answer tells of an item by its name alone, which is in lower case. */
  readonly tellsNames?: true
  request(item: Item, ref: string): readonly [string, RequestInit?]
}

const WELL_KNOWN = '.well-known/agent-skills'
const manifestAt = (ref: string) => ({ owner: 'owner', path: ref.toLowerCase() })
const resource = (ref: string, filename: string) =>
  ['/api/mcp', rpc('resources/read', { uri: `skill://owner/${ref.toLowerCase()}/${filename}` })] as const
const tool = (name: string, args: unknown) => ['/api/mcp', rpc('tools/call', { name, arguments: args })] as const
const chatGptTool = (name: string, args: unknown) => ['/api/mcp?profile=chatgpt', rpc('tools/call', { name, arguments: args })] as const
const ROUTES: readonly Route[] = [
  { operation: 'search', kind: 'prompt', reach: 'list', request: (item) => chatGptTool('search', { query: item.marker }) },
  { operation: 'search', kind: 'skill', reach: 'list', request: (item) => chatGptTool('search', { query: item.marker }) },
  { operation: 'fetch', kind: 'prompt', reach: 'item', request: (_, ref) => chatGptTool('fetch', { id: ref }) },
  { operation: 'fetch', kind: 'skill', reach: 'item', request: (_, ref) => chatGptTool('fetch', { id: ref }) },
  { operation: 'list_skill_manifests', kind: 'skill', reach: 'list', request: () => ['/api/mcp/@owner', rpc('skills/list')] },
  { operation: 'walk_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/prompts.json'] },
  { operation: 'walk_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/prompts.csv'] },
  { operation: 'list_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/compat/prompts-chat/api/prompts?perPage=100'] },
  {
    operation: 'list_whole_prompts',
    kind: 'prompt',
    reach: 'list',
    request: (item) => [`/compat/prompts-chat/api/prompts/search?q=${item.marker}`],
  },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/compat/prompts-chat/api/prompts/${ref}`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/compat/prompts-chat/api/prompts/${ref}/raw`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/prompts/${ref}.prompt.md`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/prompts/${ref}.prompt.yml`] },
  { operation: 'list_exposed_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/mcp/@owner', rpc('prompts/list')] },
  {
    operation: 'list_exposed_prompts',
    kind: 'prompt',
    reach: 'list',
    request: () => ['/api/mcp/categories/coding', rpc('prompts/list')],
  },
  { operation: 'search_prompts', kind: 'prompt', reach: 'list', request: (item) => tool('search_prompts', { query: item.marker }) },
  { operation: 'search_prompts', kind: 'prompt', reach: 'list', request: () => tool('search_prompts', { query: '', limit: 50 }) },
  { operation: 'search_prompts', kind: 'prompt', reach: 'list', request: (item) => [`/api/search/prompts?query=${item.marker}`] },
  {
    operation: 'search_prompts',
    kind: 'prompt',
    reach: 'list',
    request: (item) => tool('search_prompts', { query: '', tag: item.marker.toLowerCase() }),
  },
  { operation: 'search_skills', kind: 'skill', reach: 'list', request: (item) => tool('search_skills', { query: item.marker }) },
  { operation: 'search_skills', kind: 'skill', reach: 'list', request: (item) => [`/api/search/skills?query=${item.marker}`] },
  { operation: 'get_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => tool('get_prompt', { id: ref }) },
  { operation: 'get_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => tool('get_prompt', { id: ref, variables: {} }) },
  { operation: 'get_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/api/prompts/${ref}/fill`, json('POST', {})] },
  { operation: 'get_skill', kind: 'skill', reach: 'item', request: (_, ref) => tool('get_skill', { id: ref }) },
  { operation: 'get_skill', kind: 'skill', reach: 'item', request: (_, ref) => [`/api/skills/${ref}`] },
  { operation: 'get_skill_file', kind: 'skill', reach: 'item', request: (_, ref) => [`/api/skills/${ref}/files/SKILL.md`] },
  { operation: 'list_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/prompts?perPage=100'] },
  { operation: 'list_prompts', kind: 'prompt', reach: 'list', request: (item) => [`/api/prompts?q=${item.marker}`] },
  { operation: 'list_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/prompts?author=owner&sort=oldest'] },
  { operation: 'list_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/prompts?category=coding&sort=votes'] },
  { operation: 'list_skills', kind: 'skill', reach: 'list', request: () => ['/api/skills?perPage=100'] },
  { operation: 'list_skills', kind: 'skill', reach: 'list', request: (item) => [`/api/skills?q=${item.marker}`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/api/prompts/${ref}`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/api/prompts/${ref}/raw`] },
  { operation: 'show_prompt', kind: 'prompt', reach: 'item', request: (_, ref) => [`/api/prompts/${ref}/prompt.md`] },
  { operation: 'list_versions', kind: 'both', reach: 'item', request: (item, ref) => [`/api/${item.kind}s/${ref}/versions`] },
  {
    operation: 'related_items',
    kind: 'both',
    reach: 'item',
    isOfOthers: true,
    request: (item, ref) => [`/api/${item.kind}s/${ref}/related`],
  },
  {
    operation: 'related_items',
    kind: 'both',
    reach: 'item',
    isOfOthers: true,
    request: (item, ref) => tool('related_items', { collection: `${item.kind}s`, id: ref }),
  },
  { operation: 'get_version', kind: 'both', reach: 'item', request: (item, ref) => [`/api/${item.kind}s/${ref}/versions/1`] },
  { operation: 'list_tags', kind: 'both', reach: 'list', request: () => ['/api/tags?perPage=100'] },
  { operation: 'list_exposed_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/mcp', rpc('prompts/list')] },
  { operation: 'list_exposed_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/exposed-prompts'] },
  {
    operation: 'render_exposed_prompt',
    kind: 'prompt',
    reach: 'item',
    request: (_, ref) => ['/api/mcp', rpc('prompts/get', { name: ref })],
  },
  {
    operation: 'render_exposed_prompt',
    kind: 'prompt',
    reach: 'item',
    request: (_, ref) => [`/api/exposed-prompts/${ref}`, json('POST', {})],
  },
  { operation: 'list_skill_manifests', kind: 'skill', reach: 'list', request: () => ['/api/skill-manifests'] },
  { operation: 'list_skill_manifests', kind: 'skill', reach: 'list', request: () => ['/api/mcp', rpc('skills/list')] },
  { operation: 'list_skill_manifests', kind: 'skill', reach: 'list', request: () => ['/api/mcp', rpc('resources/list')] },
  {
    operation: 'get_skill_manifest',
    kind: 'skill',
    reach: 'name',
    request: (_, ref) => ['/api/skill-manifests/find', json('POST', manifestAt(ref))],
  },
  {
    operation: 'get_skill_manifest',
    kind: 'skill',
    reach: 'name',
    request: (_, ref) => ['/api/mcp', rpc('skills/get', { uri: `skill://owner/${ref.toLowerCase()}/SKILL.md` })],
  },
  {
    operation: 'read_manifest_file',
    kind: 'skill',
    reach: 'name',
    request: (_, ref) => ['/api/skill-manifests/read', json('POST', { ...manifestAt(ref), filename: 'a.txt' })],
  },
  { operation: 'read_manifest_file', kind: 'skill', reach: 'name', request: (_, ref) => resource(ref, 'SKILL.md') },
  { operation: 'read_manifest_file', kind: 'skill', reach: 'name', request: (_, ref) => resource(ref, 'a.txt') },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => [`/${WELL_KNOWN}/index.json`] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => ['/.well-known/skills/index.json'] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => ['/marketplace.json'] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => ['/@owner/marketplace.json'] },
  {
    operation: 'find_skills',
    kind: 'skill',
    reach: 'list',
    tellsNames: true,
    request: (item) => [`/api/search?q=${item.marker}`],
  },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'item', request: (_, ref) => [`/skills/${ref}/marketplace.json`] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => [`/@owner/${WELL_KNOWN}/index.json`] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => [`/categories/coding/${WELL_KNOWN}/index.json`] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'item', request: (_, ref) => [`/skills/${ref}/${WELL_KNOWN}/index.json`] },
  {
    operation: 'list_shared_skills',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}/zip/${WELL_KNOWN}/index.json`],
  },
  { operation: 'read_shared_files', kind: 'skill', reach: 'name', request: (_, ref) => [`/${WELL_KNOWN}/${ref.toLowerCase()}.zip`] },
  {
    operation: 'read_shared_files',
    kind: 'skill',
    reach: 'name',
    request: (_, ref) => [`/.well-known/skills/${ref.toLowerCase()}/SKILL.md`],
  },
  {
    operation: 'read_shared_files',
    kind: 'skill',
    reach: 'name',
    request: (_, ref) => [`/@owner/.well-known/skills/${ref.toLowerCase()}/a.txt`],
  },
  { operation: 'show_collection', kind: 'both', reach: 'list', request: () => ['/api/collections/everything?perPage=100'] },
  { operation: 'list_prompts', kind: 'prompt', reach: 'list', request: () => ['/api/prompts?collections=everything&perPage=100'] },
  { operation: 'list_skills', kind: 'skill', reach: 'list', request: (item) => [`/api/skills?collections=everything&q=${item.marker}`] },
  {
    operation: 'search_prompts',
    kind: 'prompt',
    reach: 'list',
    request: (item) => tool('search_prompts', { query: item.marker, collections: ['everything'] }),
  },
  {
    operation: 'list_exposed_prompts',
    kind: 'prompt',
    reach: 'list',
    request: () => ['/api/mcp/collections/everything', rpc('prompts/list')],
  },
  {
    operation: 'list_skill_manifests',
    kind: 'skill',
    reach: 'list',
    request: () => ['/api/mcp?collections=everything', rpc('skills/list')],
  },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => [`/collections/everything/${WELL_KNOWN}/index.json`] },
  { operation: 'list_shared_skills', kind: 'skill', reach: 'list', request: () => ['/collections/everything/marketplace.json'] },
  { operation: 'walk_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/collections/everything/prompts.json'] },
  { operation: 'walk_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/collections/everything/prompts.csv'] },
  { operation: 'list_whole_prompts', kind: 'prompt', reach: 'list', request: () => ['/collections/everything/prompts.json'] },
]

/** Writes, tried by somebody who does not own the item: hidden ones must look as if they were not there. */
const WRITES: readonly (Route & { readonly isOpenToOthers?: true })[] = [
  {
    operation: 'update_prompt',
    kind: 'prompt',
    reach: 'item',
    request: (_, ref) => [`/api/prompts/${ref}`, json('PATCH', { title: 'taken' })],
  },
  {
    operation: 'update_skill',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}`, json('PATCH', { title: 'taken' })],
  },
  {
    operation: 'add_file_to_skill',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}/files`, json('POST', { filename: 'x', content: 'x' })],
  },
  {
    operation: 'add_file_to_skill',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}/files`, json('POST', { filename: '../x', content: 'x' })],
  },
  {
    operation: 'update_skill_file',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}/files/SKILL.md`, json('PUT', { content: 'x' })],
  },
  {
    operation: 'remove_file_from_skill',
    kind: 'skill',
    reach: 'item',
    request: (_, ref) => [`/api/skills/${ref}/files/a.txt`, { method: 'DELETE' }],
  },
  { operation: 'delete_item', kind: 'both', reach: 'item', request: (item, ref) => [`/api/${item.kind}s/${ref}`, { method: 'DELETE' }] },
  {
    operation: 'restore_version',
    kind: 'both',
    reach: 'item',
    request: (item, ref) => [`/api/${item.kind}s/${ref}/versions/1/restore`, { method: 'POST' }],
  },
  {
    operation: 'vote',
    kind: 'both',
    reach: 'item',
    isOpenToOthers: true,
    request: (item, ref) => [`/api/${item.kind}s/${ref}/vote`, { method: 'PUT' }],
  },
  {
    operation: 'remove_vote',
    kind: 'both',
    reach: 'item',
    isOpenToOthers: true,
    request: (item, ref) => [`/api/${item.kind}s/${ref}/vote`, { method: 'DELETE' }],
  },
  {
    operation: 'favourite',
    kind: 'both',
    reach: 'item',
    isOpenToOthers: true,
    request: (item, ref) => [`/api/${item.kind}s/${ref}/favourite`, { method: 'PUT' }],
  },
  {
    operation: 'remove_favourite',
    kind: 'both',
    reach: 'item',
    isOpenToOthers: true,
    request: (item, ref) => [`/api/${item.kind}s/${ref}/favourite`, { method: 'DELETE' }],
  },
]

/** Those who change nothing, wherever they may look. */
const WRITE_NOTHING: readonly ActorName[] = ['other', 'reader', 'former member', 'administrator', 'narrowed elsewhere']

/** What each kind of route is tried by. */
const REACHES = { item: ['id', 'slug'], name: ['slug'], list: ['list'] } as const

/** Operations in which no item of somebody else can appear, each with the reason. */
const EXEMPT: Record<string, string> = {
  save_prompt: 'makes an item of the caller’s own',
  save_skill: 'makes an item of the caller’s own',
  save_prompts: 'makes items of the caller’s own',
  save_skills: 'makes items of the caller’s own',
  list_categories: 'shows counts alone; proved below',
  improve_prompt: 'needs a key, and never shows what is the caller’s alone; proved below',
  list_collections: 'shows counts alone; proved in collections.test.ts',
  create_collection: 'makes a collection of the caller’s own',
  add_to_collection: 'shows a collection with counts; proved in collections.test.ts',
  remove_from_collection: 'shows a collection with counts; proved in collections.test.ts',
  update_collection: 'shows a collection with counts; proved in collections.test.ts',
  delete_collection: 'names a collection of the caller’s own; proved in collections.test.ts',
  move_in_collection: 'shows a collection with counts; proved in collections.test.ts',
  list_favourites: 'what the caller marked; proved in favourites.test.ts',
  create_install_link: 'makes a link of the caller’s own; what it reads is proved in channels.test.ts',
  list_install_links: 'the caller’s own links; proved in channels.test.ts',
  revoke_install_link: 'the caller’s own links; proved in channels.test.ts',
  create_team: 'makes a team; what members see is proved in teams.test.ts',
  list_teams: 'the caller’s own teams',
  show_team: 'counts what the caller sees of a team; proved in teams.test.ts',
  update_team: 'changes the team, not what it owns',
  delete_team: 'a team that owns nothing',
  list_team_members: 'people alone',
  set_team_member: 'people alone',
  remove_team_member: 'people alone',
  list_team_activity: 'the log of a team, for its maintainers; proved in teams.test.ts',
  show_offer: 'counts of an item that the caller may transfer; proved in transfers.test.ts',
  offer_item: 'as show_offer',
  list_offers: 'offers to and of the caller; proved in transfers.test.ts',
  accept_offer: 'offers to the caller; proved in transfers.test.ts',
  decline_offer: 'as accept_offer',
  withdraw_offer: 'as accept_offer',
  list_trash: 'the caller’s own trash; proved below',
  restore_item: 'the caller’s own trash; proved below',
}

const NOBODY = '00000000-0000-4000-8000-000000000000'

describe.each(['a person', 'a team'] as const)('the visibility table of what %s owns', (owning) => {
  const isTeam = owning === 'a team'
  const ACTORS: readonly ActorName[] = isTeam ? [...EVERYBODY, ...AROUND_TEAMS] : EVERYBODY
  const ownerName = isTeam ? 'maintainer' : 'owner'
  let test: TestApp
  const items: Item[] = []
  const keys = new Map<ActorName, string | undefined>()

  beforeAll(async () => {
    test = await testApp()
    const owner = await test.user(ownerName)
    if (isTeam) await makeTeam(owner.actor)
    await test.call(owner.actor, 'create_team', { team: 'elsewhere' })
    keys.set('narrowed elsewhere', await narrowedKey(owner.actor, { team: 'elsewhere' }))
    keys.set('anonymous', undefined)
    keys.set('other', (await test.user('other')).key)
    keys.set('other without read', (await test.user('other', ['write'])).key)
    keys.set('owner', owner.key)
    keys.set('owner without read', (await test.user(ownerName, ['write'])).key)
    await test.call(owner.actor, 'create_collection', {
      title: 'Everything',
      visibility: 'public',
      ...(isTeam ? { owner: 'owner' } : {}),
    })
    let count = 0
    for (const kind of ['prompt', 'skill'] as const) {
      for (const state of STATES) {
        const marker = `Zq${kind}${state}${++count}`
        const common = {
          title: `Title ${marker}`,
          description: marker,
          tags: [marker],
          category: 'coding',
          visibility: state === 'deleted' ? 'public' : state,
          note: marker,
          ...(isTeam && { owner: 'owner' }),
        }
        const saved =
          kind === 'prompt'
            ? await test.call(owner.actor, 'save_prompt', { ...common, content: `Text ${marker}` })
            : await test.call(owner.actor, 'save_skill', {
                ...common,
                files: [
                  { filename: 'SKILL.md', content: `---\nname: ${marker.toLowerCase()}\ndescription: ${marker}\n---\n${marker}` },
                  { filename: 'a.txt', content: marker },
                ],
              })
        const { id, slug } = Object(saved[kind])
        items.push({ kind, state, id, slug, marker })
        await test.call(owner.actor, 'add_to_collection', { id: 'everything', items: [id] })
        if (state === 'deleted') await test.call(owner.actor, 'delete_item', { collection: `${kind}s`, id })
      }
    }
    keys.set('collected', await narrowedKey(owner.actor, { collections: ['everything'] }))
  })
  afterAll(() => test.close())

  const narrowedKey = async (actor: Actor & { kind: 'user' }, to: object) => {
    const signedIn = { ...actor, scopes: new Set([...actor.scopes, 'account' as const]) }
    return String((await test.call(signedIn, 'create_key', { name: 'narrowed', ...to }))['key'])
  }

  /** The team, which is named as the addresses of the table name the owner. */
  async function makeTeam(maintainer: Actor & { kind: 'user' }) {
    await test.call(maintainer, 'create_team', { team: 'owner' })
    for (const [name, role] of [
      ['reader', 'reader'],
      ['editor', 'editor'],
      ['former', 'editor'],
    ] as const) {
      await test.user(name)
      await test.call(maintainer, 'set_team_member', { team: 'owner', username: name, role })
    }
    await test.call(maintainer, 'remove_team_member', { team: 'owner', username: 'former' })
    keys.set('reader', (await test.user('reader')).key)
    keys.set('reader without read', (await test.user('reader', ['write'])).key)
    keys.set('editor', (await test.user('editor')).key)
    keys.set('former member', (await test.user('former')).key)
    keys.set('narrowed', await narrowedKey(maintainer, { team: 'owner' }))
    const administrator = await test.user('administrator')
    await test.app.store.people.setRole('administrator', 'admin')
    keys.set('administrator', administrator.key)
  }

  async function send(actor: ActorName, [path, options]: readonly [string, RequestInit?]) {
    const key = keys.get(actor)
    const response = await test.fetch(path, { ...options, ...(key === undefined ? {} : { key }) })
    const text = await response.text()
    return { status: response.status, text, told: text.replaceAll(/"requestId":"[^"]*"/g, '') }
  }

  it('has a row for every operation', () => {
    const covered = new Set([...ROUTES, ...WRITES].map((route) => route.operation))
    // What pages alone call is proved by the table of pages.
    const offered = OPERATIONS.filter(({ surfaces }) => Object.keys(surfaces).length > 0)
    for (const operation of offered) expect(covered.has(operation.name) || operation.name in EXEMPT, operation.name).toBe(true)
    for (const name of [...covered, ...Object.keys(EXEMPT)])
      expect(
        OPERATIONS.some((operation) => operation.name === name),
        name,
      ).toBe(true)
  })

  for (const [index, route] of ROUTES.entries()) {
    it(`read ${index + 1}: ${route.operation} by ${route.reach}`, async () => {
      const kinds: readonly Kind[] = route.kind === 'both' ? ['prompt', 'skill'] : [route.kind]
      for (const item of items.filter((one) => kinds.includes(one.kind))) {
        for (const actor of ACTORS) {
          for (const reach of REACHES[route.reach]) {
            const ref = route.reach === 'name' ? item.marker : reach === 'slug' ? item.slug : item.id
            const answer = await send(actor, route.request(item, ref))
            // A version list tells of the item by its note; who may see the item but no version gets an empty list.
            const isVersionOfHidden = /version/.test(route.operation) && item.state === 'unlisted' && !SEE_ALL.includes(actor)
            const expected = mayRead(actor, item.state, reach) && !isVersionOfHidden && !route.isOfOthers
            const cell = `${item.kind} ${item.state} by ${reach} for ${actor}`
            const told = route.tellsNames ? item.marker.toLowerCase() : item.marker
            expect(answer.text.includes(told), cell).toBe(
              expected || (route.reach === 'list' && answer.text.includes(`"query":"${item.marker}"`)),
            )
            if (route.reach === 'list') {
              expect(
                answer.text.includes(item.id) ||
                  answer.text.includes(`Title ${item.marker}`) ||
                  answer.text.includes(`"${item.marker.toLowerCase()}"`),
                cell,
              ).toBe(expected)
            } else if (!mayRead(actor, item.state, reach)) {
              const missing = await send(actor, route.request(item, NOBODY))
              // Some answers repeat the address that was asked for; the rest must be the same to the letter.
              const told = answer.told.replaceAll(ref.toLowerCase(), NOBODY)
              expect({ status: answer.status, told }, cell).toEqual({ status: missing.status, told: missing.told })
              expect(answer.text, cell).toContain('error')
            } else if (!isVersionOfHidden) expect(answer.status, cell).toBe(200)
          }
        }
      }
    })
  }

  for (const [index, route] of WRITES.entries()) {
    it(`write ${index + 1}: ${route.operation} by others`, async () => {
      const kinds: readonly Kind[] = route.kind === 'both' ? ['prompt', 'skill'] : [route.kind]
      for (const item of items.filter((one) => kinds.includes(one.kind))) {
        for (const reach of ['id', 'slug'] as const) {
          const ref = reach === 'slug' ? item.slug : item.id
          const anonymous = await send('anonymous', route.request(item, ref))
          expect([anonymous.status, anonymous.text.includes('unauthenticated')]).toEqual([401, true])
          for (const writer of ACTORS.filter((actor) => WRITE_NOTHING.includes(actor))) {
            const answer = await send(writer, route.request(item, ref))
            const cell = `${item.kind} ${item.state} by ${reach} for ${writer}`
            if (!mayRead(writer, item.state, reach)) {
              const missing = await send(writer, route.request(item, NOBODY))
              expect({ status: answer.status, told: answer.told }, cell).toEqual({ status: missing.status, told: missing.told })
              expect(answer.status, cell).toBe(404)
            } else expect(answer.status, cell).toBe(route.isOpenToOthers ? 200 : 403)
          }
        }
      }
    })
  }

  it('packs a skill as a zip for who may read it', async () => {
    for (const item of items.filter((one) => one.kind === 'skill')) {
      for (const actor of ACTORS) {
        for (const reach of ['id', 'slug'] as const) {
          const cell = `${item.state} by ${reach} for ${actor}`
          const key = keys.get(actor)
          const ask = (ref: string) => test.fetch(`/api/skills/${ref}/zip`, key === undefined ? {} : { key })
          const answer = await ask(reach === 'slug' ? item.slug : item.id)
          if (mayRead(actor, item.state, reach)) {
            const { files } = readSkillArchive(new Uint8Array(await answer.arrayBuffer()))
            expect([answer.status, files.map((file) => file.filename)], cell).toEqual([200, ['SKILL.md', 'a.txt']])
            expect(Buffer.from(files[1]?.bytes ?? []).toString(), cell).toBe(item.marker)
          } else {
            const missing = await ask(NOBODY)
            const told = async (response: Response) => (await response.text()).replaceAll(/"requestId":"[^"]*"/g, '')
            expect([answer.status, await told(answer)], cell).toEqual([404, await told(missing)])
          }
        }
      }
    }
  })

  it('is inspired by what is public alone, even for its owner', async () => {
    const improvers = { other: (await test.user('other', ['improve'])).key, owner: (await test.user(ownerName)).key }
    for (const item of items.filter((one) => one.kind === 'prompt')) {
      for (const [actor, key] of Object.entries(improvers)) {
        const answer = await test.fetch('/api/improve-prompt', { ...json('POST', { prompt: item.marker }), key })
        const text = await answer.text()
        const cell = `${item.state} for ${actor}`
        expect(answer.status, cell).toBe(200)
        expect([text.includes(item.id), text.includes(`Title ${item.marker}`)], cell).toEqual([
          item.state === 'public',
          item.state === 'public',
        ])
        for (const hidden of items.filter((one) => one.state !== 'public'))
          expect([text.includes(hidden.id), text.includes(`Title ${hidden.marker}`)], cell).toEqual([false, false])
      }
    }
  })

  it('counts in categories only what the caller sees', async () => {
    const counts = async (actor: ActorName) => JSON.parse((await send(actor, ['/api/categories'])).text).categories
    expect(await counts('anonymous')).toEqual([{ slug: 'coding', name: 'Coding', parent: null, prompts: 1, skills: 1 }])
    expect(await counts('other')).toEqual([{ slug: 'coding', name: 'Coding', parent: null, prompts: 2, skills: 2 }])
    expect(await counts('other without read')).toEqual(await counts('anonymous'))
    expect(await counts('owner without read')).toEqual(await counts('anonymous'))
    expect(await counts('owner')).toEqual([{ slug: 'coding', name: 'Coding', parent: null, prompts: 4, skills: 4 }])
    expect(await counts('narrowed elsewhere')).toEqual([])
    if (isTeam) for (const actor of ['reader', 'narrowed'] as const) expect(await counts(actor)).toEqual(await counts('owner'))
  })

  it('shows a trash to its owner alone', async () => {
    const trash = async (actor: ActorName) => await send(actor, ['/api/trash'])
    expect((await trash('anonymous')).status).toBe(401)
    expect(JSON.parse((await trash('other')).text).total).toBe(0)
    expect((await trash('owner without read')).status).toBe(403)
    expect((await trash('narrowed elsewhere')).status).toBe(403)
    if (isTeam) {
      expect(JSON.parse((await trash('editor')).text).total).toBe(2)
      for (const actor of ['reader', 'former member', 'administrator'] as const) expect(JSON.parse((await trash(actor)).text).total).toBe(0)
    }
    const mine = JSON.parse((await trash('owner')).text)
    expect(mine.items.map((item: { kind: string }) => item.kind).toSorted()).toEqual(['prompt', 'skill'])
    const deleted = items.find((item) => item.state === 'deleted' && item.kind === 'prompt')
    const restore = (actor: ActorName) => send(actor, [`/api/prompts/${deleted?.id}/restore`, { method: 'POST' }])
    for (const actor of ['other', ...(isTeam ? (['reader', 'former member', 'administrator'] as const) : [])] as const) {
      expect((await restore(actor)).status).toBe(404)
    }
    expect((await restore('owner')).status).toBe(200)
    expect((await send('anonymous', [`/api/prompts/${deleted?.id}`])).status).toBe(200)
  })

  it('lets a key that may only write save new items, and neither read nor change what is private', async () => {
    const hidden = items.find((item) => item.state === 'private' && item.kind === 'prompt')
    const open = items.find((item) => item.state === 'public' && item.kind === 'prompt')
    const change = (item: Item | undefined) =>
      send('owner without read', [`/api/prompts/${item?.id}`, json('PATCH', { note: 'n', description: 'changed' })])
    expect((await send('owner without read', [`/api/prompts/${hidden?.id}`])).status).toBe(404)
    expect((await change(hidden)).status).toBe(404)
    expect((await send('owner without read', [`/api/prompts/${hidden?.id}`, { method: 'DELETE' }])).status).toBe(404)
    expect((await change(open)).status).toBe(200)
    expect((await send('owner without read', ['/api/prompts', json('POST', { title: 'new', content: 'new' })])).status).toBe(201)
    const trashed = items.find((item) => item.state === 'deleted' && item.kind === 'skill')
    expect((await send('owner without read', [`/api/skills/${trashed?.id}/restore`, { method: 'POST' }])).status).toBe(404)
  })
})
