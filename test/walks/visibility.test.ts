import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { finish } from '../../src/domain/service/running-work.ts'
import { readSkillArchiveInSteps } from '../../src/domain/skills/skill-archive.ts'
import { OPERATIONS } from '../../src/operations/index.ts'
import { fillAddress, type Kind, type MarkedItem, saveMarked } from '../support/marked-items.ts'
import { PROCEDURES } from '../support/procedures.ts'
import { json, rpc, useTestApp } from '../support/test-app.ts'

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
type Reach = 'id' | 'slug' | 'list'

/** The rule, written down once more, by hand: who sees what through what. */
function mayRead(actor: ActorName, state: State, reach: Reach): boolean {
  if (state === 'deleted' || actor === 'narrowed elsewhere') return false
  if (SEE_ALL.includes(actor)) return true
  if (state === 'public') return true
  if (state === 'members') return MEMBERS.includes(actor)
  return state === 'unlisted' && reach === 'id'
}

/** A way to an item: an operation, what it is about, how it is reached, and a request in which `fill` puts what stands in braces. */
type Route = readonly [operation: string, kind: Kind | 'both', reach: 'item' | 'list' | 'name', path: string, options?: RequestInit]

/** Operations whose answer is about other items only, never about the one that is named. */
const OF_OTHERS = ['related_items']
/** Operations whose answer tells of an item by its name alone, which is in lower case. */
const TELLING_NAMES = ['find_skills', 'check_set']

const tool = (name: string, args: unknown) => ['/api/mcp', rpc('tools/call', { name, arguments: args })] as const
const chatGptTool = (name: string, args: unknown) => ['/api/mcp?profile=chatgpt', rpc('tools/call', { name, arguments: args })] as const
const mcp = (method: string, params?: unknown, path = '') => [`/api/mcp${path}`, rpc(method, params)] as const
const NAMED = { owner: 'owner', path: '{name}' }
const WELL_KNOWN = '.well-known/agent-skills/index.json'

/** Reads; `item` is tried by id and by slug, `name` is an address like a slug. */
const ROUTES: readonly Route[] = [
  ['search', 'prompt', 'list', ...chatGptTool('search', { query: '{word}' })],
  ['search', 'skill', 'list', ...chatGptTool('search', { query: '{word}' })],
  ['fetch', 'prompt', 'item', ...chatGptTool('fetch', { id: '{ref}' })],
  ['fetch', 'skill', 'item', ...chatGptTool('fetch', { id: '{ref}' })],
  ['list_skill_manifests', 'skill', 'list', ...mcp('skills/list', undefined, '/@owner')],
  ['walk_whole_prompts', 'prompt', 'list', '/prompts.json'],
  ['walk_whole_prompts', 'prompt', 'list', '/prompts.csv'],
  ['list_whole_prompts', 'prompt', 'list', '/compat/prompts-chat/api/prompts?perPage=100'],
  ['list_whole_prompts', 'prompt', 'list', '/compat/prompts-chat/api/prompts/search?q={word}'],
  ['show_prompt', 'prompt', 'item', '/compat/prompts-chat/api/prompts/{ref}'],
  ['show_prompt', 'prompt', 'item', '/compat/prompts-chat/api/prompts/{ref}/raw'],
  ['show_prompt', 'prompt', 'item', '/prompts/{ref}.prompt.md'],
  ['show_prompt', 'prompt', 'item', '/prompts/{ref}.prompt.yml'],
  ['find_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}'],
  ['find_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}?version=1'],
  ['find_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}?label=latest'],
  ['list_exposed_prompts', 'prompt', 'list', ...mcp('prompts/list', undefined, '/@owner')],
  ['list_exposed_prompts', 'prompt', 'list', ...mcp('prompts/list', undefined, '/categories/coding')],
  ['search_prompts', 'prompt', 'list', ...tool('search_prompts', { query: '{word}' })],
  ['search_prompts', 'prompt', 'list', ...tool('search_prompts', { query: '', limit: 50 })],
  ['search_prompts', 'prompt', 'list', '/api/search/prompts?query={word}'],
  ['search_prompts', 'prompt', 'list', ...tool('search_prompts', { query: '', tag: '{tag}' })],
  ['search_skills', 'skill', 'list', ...tool('search_skills', { query: '{word}' })],
  ['search_skills', 'skill', 'list', '/api/search/skills?query={word}'],
  ['get_prompt', 'prompt', 'item', ...tool('get_prompt', { id: '{ref}' })],
  ['get_prompt', 'prompt', 'item', ...tool('get_prompt', { id: '{ref}', variables: {} })],
  ['get_prompt', 'prompt', 'item', '/api/prompts/{ref}/fill', json('POST', {})],
  ['get_prompt', 'prompt', 'item', ...tool('get_prompt', { id: '{ref}', label: 'production' })],
  ['get_prompt', 'prompt', 'item', '/api/prompts/{ref}/fill?label=production&bucket=x', json('POST', { variables: {} })],
  ['get_skill', 'skill', 'item', ...tool('get_skill', { id: '{ref}', label: 'production' })],
  ['get_skill_file', 'skill', 'item', '/api/skills/{ref}/files/SKILL.md?label=production'],
  ['get_skill', 'skill', 'item', '/api/skills/{ref}?version=1'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}?label=production'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/raw?label=latest'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?label=production'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?label=production&q={word}'],
  ['list_skills', 'skill', 'list', '/api/skills?label=production&q={word}'],
  ['render_exposed_prompt', 'prompt', 'item', ...mcp('prompts/get', { name: '{ref}@production' })],
  ['get_skill', 'skill', 'item', ...tool('get_skill', { id: '{ref}' })],
  ['get_skill', 'skill', 'item', '/api/skills/{ref}'],
  ['get_skill_file', 'skill', 'item', '/api/skills/{ref}/files/SKILL.md'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?perPage=100'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?q={word}'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?author=owner&sort=oldest'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?category=coding&sort=votes'],
  ['list_skills', 'skill', 'list', '/api/skills?perPage=100'],
  ['list_skills', 'skill', 'list', '/api/skills?q={word}'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/raw'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/prompt.md'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/prompt.yml'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/prompt.prompt'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/prompt.prompty'],
  ['show_prompt', 'prompt', 'item', '/api/prompts/{ref}/promptfooconfig.yaml'],
  ['list_versions', 'both', 'item', '/api/{kind}s/{ref}/versions'],
  ['related_items', 'both', 'item', '/api/{kind}s/{ref}/related'],
  ['related_items', 'both', 'item', ...tool('related_items', { collection: '{kind}s', id: '{ref}' })],
  ['get_version', 'both', 'item', '/api/{kind}s/{ref}/versions/1'],
  ['list_tags', 'both', 'list', '/api/tags?perPage=100'],
  ['list_exposed_prompts', 'prompt', 'list', ...mcp('prompts/list')],
  ['list_exposed_prompts', 'prompt', 'list', '/api/exposed-prompts'],
  ['render_exposed_prompt', 'prompt', 'item', ...mcp('prompts/get', { name: '{ref}' })],
  ['render_exposed_prompt', 'prompt', 'item', '/api/exposed-prompts/{ref}', json('POST', {})],
  ['list_skill_manifests', 'skill', 'list', '/api/skill-manifests'],
  ['list_skill_manifests', 'skill', 'list', ...mcp('skills/list')],
  ['list_skill_manifests', 'skill', 'list', ...mcp('resources/list')],
  ['get_skill_manifest', 'skill', 'name', '/api/skill-manifests/find', json('POST', NAMED)],
  ['get_skill_manifest', 'skill', 'name', ...mcp('skills/get', { uri: 'skill://owner/{name}/SKILL.md' })],
  ['read_manifest_file', 'skill', 'name', '/api/skill-manifests/read', json('POST', { ...NAMED, filename: 'a.txt' })],
  ['read_manifest_file', 'skill', 'name', ...mcp('resources/read', { uri: 'skill://owner/{name}/SKILL.md' })],
  ['read_manifest_file', 'skill', 'name', ...mcp('resources/read', { uri: 'skill://owner/{name}/a.txt' })],
  ['list_shared_skills', 'skill', 'list', `/${WELL_KNOWN}`],
  ['list_shared_skills', 'skill', 'list', '/.well-known/skills/index.json'],
  ['list_shared_skills', 'skill', 'list', '/marketplace.json'],
  ['list_shared_skills', 'skill', 'list', '/@owner/marketplace.json'],
  ['find_skills', 'skill', 'list', '/api/search?q={word}'],
  ['check_set', 'skill', 'list', '/api/check/set', json('POST', { characters: 1 })],
  ['check_set', 'skill', 'list', '/api/check/set', json('POST', { scope: '/collections/everything' })],
  ['check_set', 'skill', 'item', '/api/check/set', json('POST', { scope: '/skills/{ref}' })],
  ['list_shared_skills', 'skill', 'item', '/skills/{ref}/marketplace.json'],
  ['list_shared_skills', 'skill', 'list', `/@owner/${WELL_KNOWN}`],
  ['list_shared_skills', 'skill', 'list', `/categories/coding/${WELL_KNOWN}`],
  ['list_shared_skills', 'skill', 'item', `/skills/{ref}/${WELL_KNOWN}`],
  ['list_shared_skills', 'skill', 'item', `/api/skills/{ref}/zip/${WELL_KNOWN}`],
  ['read_shared_files', 'skill', 'name', '/.well-known/agent-skills/{name}.zip'],
  ['read_shared_files', 'skill', 'name', '/.well-known/skills/{name}/SKILL.md'],
  ['read_shared_files', 'skill', 'name', '/@owner/.well-known/skills/{name}/a.txt'],
  ['show_collection', 'both', 'list', '/api/collections/everything?perPage=100'],
  ['list_prompts', 'prompt', 'list', '/api/prompts?collections=everything&perPage=100'],
  ['list_skills', 'skill', 'list', '/api/skills?collections=everything&q={word}'],
  ['search_prompts', 'prompt', 'list', ...tool('search_prompts', { query: '{word}', collections: ['everything'] })],
  ['list_exposed_prompts', 'prompt', 'list', ...mcp('prompts/list', undefined, '/collections/everything')],
  ['list_skill_manifests', 'skill', 'list', ...mcp('skills/list', undefined, '?collections=everything')],
  ['list_shared_skills', 'skill', 'list', `/collections/everything/${WELL_KNOWN}`],
  ['list_shared_skills', 'skill', 'list', '/collections/everything/marketplace.json'],
  ['walk_whole_prompts', 'prompt', 'list', '/collections/everything/prompts.json'],
  ['walk_whole_prompts', 'prompt', 'list', '/collections/everything/prompts.csv'],
  ['list_whole_prompts', 'prompt', 'list', '/collections/everything/prompts.json'],
]

/** Operations that put in the parts of a prompt; others show it as it was written. */
const COMPOSING = ['get_prompt', 'render_exposed_prompt', 'find_named_prompt']
/** Keys that see nothing of somebody else's. */
const OUTSIDE: readonly ActorName[] = ['narrowed elsewhere', 'narrowed']

/** Writes, tried by somebody who does not own the item: hidden ones must look as if they were not there. */
const WRITES: readonly Route[] = [
  ['update_prompt', 'prompt', 'item', '/api/prompts/{ref}', json('PATCH', { title: 'taken' })],
  ['update_skill', 'skill', 'item', '/api/skills/{ref}', json('PATCH', { title: 'taken' })],
  ['add_file_to_skill', 'skill', 'item', '/api/skills/{ref}/files', json('POST', { filename: 'x', content: 'x' })],
  ['add_file_to_skill', 'skill', 'item', '/api/skills/{ref}/files', json('POST', { filename: '../x', content: 'x' })],
  ['update_skill_file', 'skill', 'item', '/api/skills/{ref}/files/SKILL.md', json('PUT', { content: 'x' })],
  ['remove_file_from_skill', 'skill', 'item', '/api/skills/{ref}/files/a.txt', { method: 'DELETE' }],
  ['delete_item', 'both', 'item', '/api/{kind}s/{ref}', { method: 'DELETE' }],
  ['restore_version', 'both', 'item', '/api/{kind}s/{ref}/versions/1/restore', { method: 'POST' }],
  ['set_label', 'both', 'item', '/api/{kind}s/{ref}/labels/staging', json('PUT', { version: 1 })],
  ['waive_finding', 'both', 'item', '/api/{kind}s/{ref}/waivers', json('POST', { rule: 'links/shortened', reason: 'fine' })],
  [
    'report_results',
    'both',
    'item',
    '/api/{kind}s/{ref}/versions/1/results',
    json('POST', { files: [{ filename: 'a.json', content: '{}' }] }),
  ],
  ['remove_run', 'both', 'item', '/api/{kind}s/{ref}/runs/1', { method: 'DELETE' }],
  ['set_cases', 'both', 'item', '/api/{kind}s/{ref}/cases', json('PUT', { files: [] })],
  ['run_tests', 'prompt', 'item', '/api/prompts/{ref}/runs', json('POST', {})],
  ['cancel_run', 'prompt', 'item', '/api/prompts/{ref}/runs/1/cancel', { method: 'POST' }],
  ['try_prompt', 'prompt', 'item', '/api/prompts/{ref}/try', json('POST', {})],
  ['end_waiver', 'both', 'item', '/api/{kind}s/{ref}/waivers/1', { method: 'DELETE' }],
  ['remove_label', 'both', 'item', '/api/{kind}s/{ref}/labels/production', { method: 'DELETE' }],
  ['undo_label', 'both', 'item', '/api/{kind}s/{ref}/labels/production/undo', { method: 'POST' }],
  ['label_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}/versions/1', json('PATCH', { newLabels: ['staging'] })],
  ['delete_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}', { method: 'DELETE' }],
  ['delete_named_prompt', 'prompt', 'item', '/api/public/v2/prompts/{ref}?version=1', { method: 'DELETE' }],
  ['vote', 'both', 'item', '/api/{kind}s/{ref}/vote', { method: 'PUT' }],
  ['remove_vote', 'both', 'item', '/api/{kind}s/{ref}/vote', { method: 'DELETE' }],
  ['favourite', 'both', 'item', '/api/{kind}s/{ref}/favourite', { method: 'PUT' }],
  ['remove_favourite', 'both', 'item', '/api/{kind}s/{ref}/favourite', { method: 'DELETE' }],
]
/** Writes that whoever sees an item may make. */
const OPEN_WRITES = ['vote', 'remove_vote', 'favourite', 'remove_favourite']

/** The request of a route for an item. */
function fill([, , , path, options = {}]: Route, item: MarkedItem, ref: string): readonly [string, RequestInit] {
  const { body } = options
  return [fillAddress(path, item, ref), typeof body === 'string' ? { ...options, body: fillAddress(body, item, ref) } : options]
}

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
  list_labels: 'names and numbers of an item that the caller sees; proved in labels.test.ts',
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
  show_transfer: 'counts of an item that the caller may transfer; proved in transfers.test.ts',
  transfer_item: 'as show_transfer',
  list_trash: 'the caller’s own trash; proved below',
  restore_item: 'the caller’s own trash; proved below',
  check_item: 'findings in what the caller sees; proved in checks.test.ts',
  list_cases: 'tests of an item that the caller sees; proved in evals.test.ts',
  convert_cases: 'as list_cases',
  get_cases: 'for those who may change an item; proved in run-tests.test.ts',
  list_gates: 'the caller’s own rules',
  set_gate: 'the caller’s own rules',
  list_runs: 'for the owners of an item; proved in evals.test.ts',
  get_run: 'as list_runs',
  compare_runs: 'as list_runs',
  list_waivers: 'for the owners of an item; proved in checks.test.ts',
  whoami: 'the caller’s own account and key',
}

const NOBODY = '00000000-0000-4000-8000-000000000000'

describe.each(['a person', 'a team'] as const)('the visibility table of what %s owns', (owning) => {
  const isTeam = owning === 'a team'
  const ACTORS: readonly ActorName[] = isTeam ? [...EVERYBODY, ...AROUND_TEAMS] : EVERYBODY
  const ownerName = isTeam ? 'maintainer' : 'owner'
  const test = useTestApp()
  const items: MarkedItem<State>[] = []
  const keys = new Map<ActorName, string | undefined>()
  beforeAll(async () => {
    const owner = await test.user(ownerName)
    if (isTeam) await makeTeam(owner.actor)
    await test.call(owner.actor, 'create_team', { team: 'elsewhere' })
    keys.set('narrowed elsewhere', await narrowedKey(owner.actor, { team: 'elsewhere' }))
    keys.set('anonymous', undefined)
    keys.set('other', (await test.user('other')).key)
    keys.set('other without read', (await test.user('other', ['write'])).key)
    keys.set('owner', owner.key)
    keys.set('owner without read', (await test.user(ownerName, ['write'])).key)
    await test.call(owner.actor, 'create_collection', { title: 'Everything', visibility: 'public', ...(isTeam ? { owner: 'owner' } : {}) })
    for (const kind of ['prompt', 'skill'] as const) {
      for (const state of STATES) {
        const item = await saveMarked(test, owner.actor, kind, state, isTeam ? { owner: 'owner' } : {})
        items.push(item)
        await test.call(owner.actor, 'add_to_collection', { id: 'everything', items: [item.id] })
        if (state === 'deleted') await test.call(owner.actor, 'delete_item', { collection: `${kind}s`, id: item.id })
      }
    }
    keys.set('collected', await narrowedKey(owner.actor, { collections: ['everything'] }))
  })

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
    const covered = new Set([...ROUTES, ...WRITES].map(([operation]) => operation))
    // What pages alone call is proved by the table of pages.
    for (const operation of OPERATIONS) expect(covered.has(operation.name) || operation.name in EXEMPT, operation.name).toBe(true)
    for (const name of [...covered, ...Object.keys(EXEMPT)]) expect(PROCEDURES.has(name), name).toBe(true)
  })

  for (const [index, route] of ROUTES.entries()) {
    const [operation, kind, wanted] = route
    it(`read ${index + 1}: ${operation} by ${wanted}`, async () => {
      const kinds: readonly Kind[] = kind === 'both' ? ['prompt', 'skill'] : [kind]
      for (const item of items.filter((one) => kinds.includes(one.kind))) {
        for (const actor of ACTORS) {
          for (const reach of REACHES[wanted]) {
            const ref = wanted === 'name' ? item.marker : reach === 'slug' ? item.slug : item.id
            const answer = await send(actor, fill(route, item, ref))
            // A version list tells of the item by its note; who may see the item but no version gets an empty list.
            const isVersionOfHidden = /version/.test(operation) && item.state === 'unlisted' && !SEE_ALL.includes(actor)
            const expected = mayRead(actor, item.state, reach) && !isVersionOfHidden && !OF_OTHERS.includes(operation)
            const cell = `${item.kind} ${item.state} by ${reach} for ${actor}`
            const told = TELLING_NAMES.includes(operation) ? item.marker.toLowerCase() : item.marker
            expect(answer.text.includes(told), cell).toBe(
              expected || (wanted === 'list' && answer.text.includes(`"query":"${item.marker}"`)),
            )
            if (wanted === 'list') {
              expect(
                answer.text.includes(item.id) ||
                  answer.text.includes(`Title ${item.marker}`) ||
                  answer.text.includes(`"${item.marker.toLowerCase()}"`),
                cell,
              ).toBe(expected)
            } else if (!mayRead(actor, item.state, reach)) {
              const missing = await send(actor, fill(route, item, NOBODY))
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
    const [operation, kind] = route
    it(`write ${index + 1}: ${operation} by others`, async () => {
      const kinds: readonly Kind[] = kind === 'both' ? ['prompt', 'skill'] : [kind]
      for (const item of items.filter((one) => kinds.includes(one.kind))) {
        for (const reach of ['id', 'slug'] as const) {
          const ref = reach === 'slug' ? item.slug : item.id
          const anonymous = await send('anonymous', fill(route, item, ref))
          expect([anonymous.status, /"error":"unauth/i.test(anonymous.text)]).toEqual([401, true])
          for (const writer of ACTORS.filter((actor) => WRITE_NOTHING.includes(actor))) {
            const answer = await send(writer, fill(route, item, ref))
            const cell = `${item.kind} ${item.state} by ${reach} for ${writer}`
            if (!mayRead(writer, item.state, reach)) {
              const missing = await send(writer, fill(route, item, NOBODY))
              const told = answer.told.replaceAll(ref, NOBODY)
              expect({ status: answer.status, told }, cell).toEqual({ status: missing.status, told: missing.told })
              expect(answer.status, cell).toBe(404)
            } else expect(answer.status, cell).toBe(OPEN_WRITES.includes(operation) ? 200 : 403)
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
            const { files } = finish(readSkillArchiveInSteps(new Uint8Array(await answer.arrayBuffer())))
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
        const isShown = item.state === 'public'
        expect([text.includes(item.id), text.includes(`Title ${item.marker}`)], cell).toEqual([isShown, isShown])
        for (const hidden of items.filter((one) => one.state !== 'public'))
          expect([text.includes(hidden.id), text.includes(`Title ${hidden.marker}`)], cell).toEqual([false, false])
      }
    }
  })

  it('lists by name what is the caller’s and their teams’ alone', async () => {
    for (const actor of ACTORS) {
      const answer = await send(actor, ['/api/public/v2/prompts?limit=100'])
      expect(answer.status, actor).toBe(actor === 'anonymous' ? 401 : actor.endsWith('without read') ? 403 : 200)
      for (const item of items.filter((one) => one.kind === 'prompt')) {
        const isShown = SEE_ALL.includes(actor) && item.state !== 'deleted'
        expect(answer.text.includes(item.slug), `${item.state} for ${actor}`).toBe(isShown)
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
    expect((await send('owner', [`/api/prompts/${deleted?.id}`, { method: 'DELETE' }])).status).toBe(200)
  })

  it('lets a key that may only write save new items, and neither read nor change what is private', async () => {
    const hidden = items.find((item) => item.state === 'private' && item.kind === 'prompt')
    const open = items.find((item) => item.state === 'public' && item.kind === 'prompt')
    const change = (item: MarkedItem | undefined) =>
      send('owner without read', [`/api/prompts/${item?.id}`, json('PATCH', { note: 'n', description: 'changed' })])
    expect((await send('owner without read', [`/api/prompts/${hidden?.id}`])).status).toBe(404)
    expect((await change(hidden)).status).toBe(404)
    expect((await send('owner without read', [`/api/prompts/${hidden?.id}`, { method: 'DELETE' }])).status).toBe(404)
    expect((await change(open)).status).toBe(200)
    expect((await send('owner without read', ['/api/prompts', json('POST', { title: 'new', content: 'new' })])).status).toBe(201)
    const trashed = items.find((item) => item.state === 'deleted' && item.kind === 'skill')
    expect((await send('owner without read', [`/api/skills/${trashed?.id}/restore`, { method: 'POST' }])).status).toBe(404)
  })

  it('puts a part into a prompt of somebody else for those alone who see the part', async () => {
    const { actor: owner } = await test.user(ownerName)
    const { actor: composer } = await test.user('composer')
    /** A part in a state, by its id in a public prompt of somebody else. */
    const takeIn = async (state: State) => {
      const part = await saveMarked(test, owner, 'prompt', state, { ...(isTeam ? { owner: 'owner' } : {}), visibility: 'public' })
      const whole = await saveMarked(test, composer, 'prompt', 'public', { content: `\${> ${part.id}@1}` })
      await test.call(owner, 'add_to_collection', { id: 'everything', items: [whole.id] })
      if (state === 'deleted') await test.call(owner, 'delete_item', { collection: 'prompts', id: part.id })
      else await test.call(owner, 'update_prompt', { id: part.id, visibility: state })
      return { part, whole }
    }
    const lost = await takeIn('deleted')
    const withAccount = { ...owner, scopes: new Set([...owner.scopes, 'account' as const]) }
    await test.call(withAccount, 'purge_item', { collection: 'prompts', id: lost.part.id })
    for (const state of STATES) {
      const { part, whole } = await takeIn(state)
      for (const route of ROUTES.filter(([, kind, reach]) => kind === 'prompt' && reach !== 'name')) {
        const [operation, , reach] = route
        for (const actor of ACTORS) {
          const answer = await send(actor, fill(route, whole, whole.id))
          const cell = `${operation} ${route[3]} of what takes in a ${state} part for ${actor}`
          const isComposing = reach === 'item' && COMPOSING.includes(operation) && !OUTSIDE.includes(actor)
          // The part is in no collection.
          const isSeen = actor !== 'collected' && mayRead(actor, state, 'id')
          // A list may have the part itself, for those who see it.
          if (reach === 'item' || !isSeen) expect(answer.text.includes(part.marker), cell).toBe(isComposing && isSeen)
          if (!isComposing || isSeen) continue
          const missing = await send(actor, fill(route, lost.whole, lost.whole.id))
          const told = answer.told.replaceAll(whole.id, lost.whole.id)
          expect({ status: answer.status, told }, cell).toEqual({ status: missing.status, told: missing.told })
          expect(answer.text, cell).toContain('not visible to you')
        }
      }
    }
  })
})
