import { beforeAll, describe, expect, it } from 'vitest'
import { PAGES } from '../../src/web/routes.ts'
import { fillAddress, type Kind, type MarkedItem, saveMarked } from '../support/marked-items.ts'
import { json, useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

/**
 * The visibility rule on pages, as a table: addresses × readers × item kinds × states. Every page must stand in it, or in the list
 * of those no item of somebody else can appear on (the first test fails otherwise).
 */

const STATES = ['public', 'members', 'unlisted', 'private', 'deleted', 'held'] as const
type State = (typeof STATES)[number]
const READERS = ['anonymous', 'other', 'owner', 'admin'] as const
type Reader = (typeof READERS)[number]

/** The rule, written down once more, by hand. What an administrator holds back is unlisted for everybody but its owner. */
function mayRead(reader: Reader, state: State, reach: 'id' | 'slug' | 'list'): boolean {
  if (state === 'deleted') return false
  if (reader === 'owner' || state === 'public') return true
  if (state === 'members') return reader !== 'anonymous'
  return (state === 'unlisted' || state === 'held') && reach === 'id'
}

/** A page as `PAGES` has it (downloads and feeds have an address of their own), what it is about, and an address in which braces are filled. */
type Address = readonly [page: string, kind: Kind | 'both', reach: 'item' | 'list', path: string]
/** The owner alone, whatever the state. */
const OWNERS = /\/(edit|transfer)$/
/** Feeds are the same for everybody. */
const PUBLIC_ONLY = '/feed.xml'
/** What is for other people's pages shows what anybody sees, whoever asks. */
const AS_NOBODY = ['/embeds', '/embed']

const ADDRESSES: readonly Address[] = [
  ['/prompts/:ref', 'prompt', 'item', '/prompts/{ref}'],
  ['/prompts/:ref', 'prompt', 'item', '/prompts/{ref}?view=rendered'],
  ['/prompts/:ref/fill', 'prompt', 'item', '/prompts/{ref}/fill'],
  ['/prompts/:ref/check', 'prompt', 'item', '/prompts/{ref}/check'],
  ['/prompts/:ref/tests', 'prompt', 'item', '/prompts/{ref}/tests'],
  ['/prompts/:ref/versions', 'prompt', 'item', '/prompts/{ref}/versions'],
  ['/prompts/:ref/versions/:version', 'prompt', 'item', '/prompts/{ref}/versions/1'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/raw'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/filled'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/prompt.md'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/prompt.yml'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/prompt.prompt'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/prompt.prompty'],
  ['/download', 'prompt', 'item', '/download/prompts/{ref}/promptfooconfig.yaml'],
  ['/skills/:ref', 'skill', 'item', '/skills/{ref}'],
  ['/skills/:ref', 'skill', 'item', '/skills/{ref}?file=a.txt'],
  ['/skills/:ref/check', 'skill', 'item', '/skills/{ref}/check'],
  ['/skills/:ref/tests', 'skill', 'item', '/skills/{ref}/tests'],
  ['/skills/:ref/versions', 'skill', 'item', '/skills/{ref}/versions'],
  ['/skills/:ref/versions/:version', 'skill', 'item', '/skills/{ref}/versions/1'],
  ['/download', 'skill', 'item', '/download/skills/{ref}/files/a.txt'],
  ['/prompts/:ref/edit', 'prompt', 'item', '/prompts/{ref}/edit'],
  ['/skills/:ref/edit', 'skill', 'item', '/skills/{ref}/edit'],
  ['/prompts/:ref/transfer', 'prompt', 'item', '/prompts/{ref}/transfer'],
  ['/skills/:ref/transfer', 'skill', 'item', '/skills/{ref}/transfer'],
  ['/embeds', 'both', 'item', '/embeds?item={ref}'],
  ['/embed', 'both', 'item', '/embed/{ref}'],
  ['/', 'both', 'list', '/'],
  ['/prompts', 'prompt', 'list', '/prompts'],
  ['/prompts', 'prompt', 'list', '/prompts?q={word}'],
  ['/prompts', 'prompt', 'list', '/prompts?category=coding&sort=votes'],
  ['/search', 'both', 'list', '/search?q={word}'],
  ['/skills', 'skill', 'list', '/skills'],
  ['/skills', 'skill', 'list', '/skills?q={word}'],
  ['/@:name', 'both', 'list', '/@owner?kind={kind}s'],
  ['/tags/:tag', 'both', 'list', '/tags/{tag}?kind={kind}s'],
  ['/categories/:category', 'both', 'list', '/categories/coding?kind={kind}s'],
  ['/collections/:ref', 'both', 'list', '/collections/everything'],
  ['/prompts', 'prompt', 'list', '/prompts?collections=everything'],
  ['/skills', 'skill', 'list', '/skills?collections=everything&q={word}'],
  [PUBLIC_ONLY, 'both', 'list', '/feed.xml'],
]

/** Pages on which no item of somebody else can appear, each with the reason. */
const EXEMPT: Record<string, string> = {
  '/library': 'the reader’s own; proved below',
  '/trash': 'the reader’s own; proved below',
  '/labels': 'rules of the reader or a team of theirs; proved in labels.test.ts',
  '/users/:name': 'leads to /@NAME',
  '/import': 'an empty form',
  '/language': 'a form of two languages',
  '/import/:ref': 'what the reader began; proved in import-page.test.ts',
  '/rules': 'rules alone',
  '/prompts/:ref/tests/:run': 'for the owners of an item; proved in run-tests.test.ts',
  '/skills/:ref/tests/:run': 'as of prompts',
  '/prompts/:ref/try': 'for those who may change a prompt; proved in run-tests.test.ts',
  '/check': 'names of skills, as its operation, which is proved in visibility.test.ts',
  '/collections': 'counts alone; proved in collections.test.ts',
  '/prompts/:ref/collections': 'for those who are signed in; proved in collections-page.test.ts',
  '/skills/:ref/collections': 'as of prompts',
  '/favourites': 'as its operation, which is proved in favourites.test.ts',
  '/new': 'an empty form',
  '/new/skill': 'an empty form',
  '/admin': 'counts, and what administrators took out of the lists; proved below',
  '/admin/people': 'people alone',
  '/admin/people/:name': 'people alone',
  '/prompts/:ref/purge': 'the owner, in the trash too, and administrators who see the item; proved in purge.test.ts',
  '/skills/:ref/purge': 'as of prompts',
  '/teams': 'teams the reader is in',
  '/teams/:team': 'people alone',
  '/teams/:team/activity': 'as its operation, which is proved in teams.test.ts',
  '/admin/teams': 'names and counts of teams',
  '/admin/check': 'items that others see, for administrators alone; proved in check-pages.test.ts',
  '/admin/invites': 'invites alone',
  '/admin/categories': 'counts of what the administrator sees; the operation is proved elsewhere',
  '/admin/categories/:slug': 'as of all categories',
  '/admin/status': 'counts alone',
  '/sign-in': 'a form',
  '/sign-in/with/:provider': 'the way to a provider and back; proved in provider-sign-in.test.ts',
  '/sign-in/link': 'a form',
  '/sign-in/code': 'a form',
  '/settings/passkeys': 'the reader’s own factors; proved in second-factor.test.ts',
  '/sign-up': 'a form',
  '/sign-out': 'a form',
  '/forgot-password': 'a form',
  '/reset-password': 'a form',
  '/settings': 'the reader’s own account',
  '/connect': 'configurations alone',
  '/settings/access': 'the reader’s own keys, programs and links; proved in accounts, oauth and install-links-page.test.ts',
  '/oauth2/consent': 'shows a program, and the reader’s own teams and collections; proved in oauth.test.ts',
  '/settings/security': 'the reader’s own password, factors, identities and sessions',
  '/settings/keys': 'leads to /settings/access',
  '/settings/programs': 'leads to /settings/access',
  '/settings/install-links': 'leads to /settings/access',
  '/settings/sign-in': 'leads to /settings/security',
  '/settings/sessions': 'leads to /settings/security',
  '/settings/data': 'the reader’s own account',
  '/settings/activity': 'what the reader did; its operation is proved in audit.test.ts, and below',
  '/admin/activity': 'as its operation, which is proved in audit.test.ts, and below',
}

const NOBODY = '00000000-0000-4000-8000-000000000000'
const reachesOf = (reach: 'item' | 'list') => (reach === 'item' ? (['id', 'slug'] as const) : (['list'] as const))

describe('the visibility table of pages', () => {
  const test = useTestApp()
  const items: MarkedItem<State>[] = []
  const readers = new Map<Reader, Visitor>()

  beforeAll(async () => {
    readers.set('admin', await signUp(test, 'administrator'))
    readers.set('owner', await signUp(test, 'owner'))
    readers.set('other', await signUp(test, 'other'))
    readers.set('anonymous', visit(test))
    const person = await test.app.store.people.findPersonByName('owner')
    const actor = { kind: 'user', userId: person?.id ?? '', username: 'owner', scopes: new Set(['read', 'write'] as const) } as const
    await test.call(actor, 'create_collection', { title: 'Everything', visibility: 'public' })
    for (const kind of ['prompt', 'skill'] as const) {
      for (const state of STATES) {
        const item = await saveMarked(test, actor, kind, state)
        const { id } = item
        items.push(item)
        await test.call(actor, 'add_to_collection', { id: 'everything', items: [id] })
        if (state === 'deleted') await test.call(actor, 'delete_item', { collection: `${kind}s`, id })
        if (state === 'held') expect((await readers.get('admin')?.post(`/${kind}s/${id}`, { do: 'hold' }))?.status).toBe(303)
      }
    }
  })

  const open = async (reader: Reader, path: string) => {
    const answer = await readers.get(reader)?.get(path)
    if (!answer) throw new Error(`no reader ${reader}`)
    return answer
  }

  it('has a row for every page', () => {
    const covered = new Set(ADDRESSES.map(([page]) => page))
    for (const { path } of PAGES) expect(covered.has(path) || path in EXEMPT || path.startsWith('/docs'), path).toBe(true)
    for (const path of [...covered, ...Object.keys(EXEMPT)]) {
      expect(PAGES.some((page) => page.path === path) || ['/download', '/feed.xml', '/embed'].includes(path), path).toBe(true)
    }
  })

  for (const [index, [page, kind, wanted, path]] of ADDRESSES.entries()) {
    it(`address ${index + 1}: ${page}`, async () => {
      for (const item of items.filter((one) => kind === 'both' || kind === one.kind)) {
        const at = (ref: string) => fillAddress(path, item, ref)
        for (const reader of READERS) {
          for (const reach of reachesOf(wanted)) {
            const ref = reach === 'slug' ? item.slug : item.id
            const cell = `${at(ref)} ${item.kind} ${item.state} by ${reach} for ${reader}`
            const answer = await open(reader, at(ref))
            const asked = AS_NOBODY.includes(page) ? 'anonymous' : reader
            const mayOpen = page === PUBLIC_ONLY ? item.state === 'public' : mayRead(asked, item.state, reach)
            // Who may read an item may still not edit it, nor see versions that were never public.
            const isVersionOfHidden = page.includes('/versions') && item.state === 'unlisted' && reader !== 'owner'
            const isRefused = OWNERS.test(page) && reader !== 'owner'
            if (wanted === 'list') {
              // What was searched for is marked in the title.
              expect(answer.html.replaceAll(/<\/?mark>/g, '').includes(`Title ${item.marker}`), cell).toBe(mayOpen)
            } else if (!mayOpen) {
              expect([answer.html.includes(item.marker)], cell).toEqual([false])
              const missing = await open(reader, at(NOBODY))
              const same = (html: string, address: string) => html.replaceAll(/[0-9a-f-]{36}/g, '').replaceAll(address, '')
              expect([answer.status, same(answer.html, ref)], cell).toEqual([missing.status, same(missing.html, NOBODY)])
            } else if (isRefused) {
              expect([reader === 'anonymous' ? 303 : 403, answer.html.includes(`Text ${item.marker}`)], cell).toEqual([
                answer.status,
                false,
              ])
            } else if (!isVersionOfHidden) {
              expect([answer.status, answer.html.includes(item.marker)], cell).toEqual([200, true])
            }
          }
        }
      }
    })
  }

  it('fills in a prompt for who may read it alone', async () => {
    for (const item of items.filter(({ kind }) => kind === 'prompt')) {
      for (const reader of READERS) {
        for (const reach of ['id', 'slug'] as const) {
          const answer = await readers.get(reader)?.post(`/prompts/${reach === 'id' ? item.id : item.slug}/fill`, { view: 'raw' })
          const isShown = mayRead(reader, item.state, reach)
          expect([answer?.status, answer?.html.includes(item.marker)], `${item.state} by ${reach} for ${reader}`).toEqual([
            isShown ? 200 : 404,
            isShown,
          ])
        }
      }
    }
  })

  it('shows a form that is being written to its writer alone, on its own page, for a day', async () => {
    const owner = readers.get('owner')
    const other = readers.get('other')
    if (!owner || !other) throw new Error('no readers')
    const path = `/prompts/${items.find(({ kind, state }) => kind === 'prompt' && state === 'private')?.id}/edit`
    const preview = (words: string) => owner.post('/new', { do: 'preview', title: 'Half a title', content: words })
    const [draft = ''] = (await preview('Zqhalf')).to?.split('#') ?? []
    expect(draft).toMatch(/^\/new\?draft=[0-9a-f-]{36}$/)
    expect((await owner.get(draft)).html).toContain('Zqhalf')
    expect((await other.get(draft)).html).not.toContain('Zqhalf')
    expect((await open('anonymous', draft)).status).toBe(303)
    expect((await owner.get(draft.replace('/new', path))).html).not.toContain('Zqhalf')
    expect((await owner.get('/new?draft=x')).status).toBe(200)
    // Of one person, the newest ten are kept.
    for (let count = 0; count < 9; count++) await preview('Zqmore')
    expect((await owner.get(draft)).html).toContain('Zqhalf')
    await preview('Zqmore')
    expect((await owner.get(draft)).html).not.toContain('Zqhalf')
    const [late = ''] = (await preview('Zqlate')).to?.split('#') ?? []
    test.wait(24 * 3_600_000)
    expect((await owner.get(late)).html).not.toContain('Zqlate')
    await preview('Zqnew')
    expect(await test.readEverything()).not.toContain('Zqlate')
  })

  it('packs a skill for who may read it alone', async () => {
    for (const item of items.filter(({ kind }) => kind === 'skill')) {
      for (const reader of READERS) {
        const answer = await open(reader, `/download/skills/${item.id}/zip`)
        expect(answer.status, `${item.state} for ${reader}`).toBe(mayRead(reader, item.state, 'id') ? 200 : 404)
      }
    }
  })

  it('tells titles in the activity as the rule has it', async () => {
    for (const { marker, state, kind, id } of items) {
      const shown = async (reader: Reader, path: string) => (await open(reader, path)).html
      const cell = `${kind} ${state}`
      for (const path of ['/admin/activity', '/admin/activity/export.jsonl', `/admin/activity?target=${id.slice(0, 8)}`]) {
        const html = await shown('admin', path)
        expect(html.includes(marker), `${cell} at ${path}`).toBe(mayRead('admin', state, 'list'))
        expect(html.includes(id.slice(0, 8)), `${cell} at ${path}`).toBe(true)
        if (!mayRead('admin', state, 'list')) expect(html, `${cell} at ${path}`).not.toContain(id)
      }
      expect((await shown('owner', '/settings/activity')).includes(marker), cell).toBe(state !== 'deleted')
      expect(await shown('other', '/settings/activity'), cell).not.toContain(id.slice(0, 8))
    }
    for (const path of ['/admin/activity', '/admin/activity/export.jsonl']) {
      expect([(await open('owner', path)).status, (await open('anonymous', path)).status], path).toEqual([403, 303])
    }
    expect((await open('anonymous', '/settings/activity')).status).toBe(303)
  })

  it('shows a library and a trash to their owner alone, and what is held to administrators', async () => {
    for (const kind of ['prompt', 'skill'] as const) {
      for (const { state, marker } of items.filter((item) => item.kind === kind)) {
        const shown = async (reader: Reader, path: string) => (await open(reader, path)).html.includes(`Title ${marker}`)
        expect(await shown('owner', `/library?kind=${kind}s`), state).toBe(state !== 'deleted')
        expect(await shown('other', `/library?kind=${kind}s`), state).toBe(false)
        expect(await shown('owner', '/trash'), state).toBe(state === 'deleted')
        expect(await shown('admin', '/trash'), state).toBe(false)
        expect(await shown('admin', '/admin'), state).toBe(state === 'held')
      }
    }
  })

  it('lets nobody but the owner change an item by a form, in the words of one that is not there', async () => {
    for (const item of items) {
      const path = `/${item.kind}s/${item.id}`
      for (const [address, fields] of [
        [path, { do: 'delete' }],
        [`${path}/versions/1`, { do: 'restore' }],
        [`${path}/check`, { do: 'accept', finding: 'secrets/github\n1\nprompt', reason: 'Let me' }],
        [`${path}/edit`, { do: item.kind === 'prompt' ? 'save' : 'details', title: 'Taken', content: 'Taken', baseVersion: '1' }],
      ] as const) {
        const refused = await readers.get('other')?.post(address, fields)
        // A version that was never public is not there for others, whoever may read the item.
        const isKnown = mayRead('other', item.state, 'id') && !(address.includes('/versions/') && item.state === 'unlisted')
        expect(refused?.status, `${item.state} ${address}`).toBe(isKnown ? 403 : 404)
        expect(refused?.html.includes(item.marker) && !mayRead('other', item.state, 'id')).toBe(false)
        expect((await readers.get('anonymous')?.post(address, fields))?.status).toBe(303)
      }
      for (const does of ['feature', 'hold', 'unhold']) {
        expect((await readers.get('other')?.post(path, { do: does }))?.status).toBe(mayRead('other', item.state, 'id') ? 403 : 404)
      }
    }
  })

  it('keeps what is held out of the lists, whatever its owner asks for, until it is lifted', async () => {
    const held = items.find((item) => item.state === 'held' && item.kind === 'prompt')
    const path = `/prompts/${held?.id}`
    const fields = { do: 'save', title: 'T', content: 'C', visibility: 'public', baseVersion: '1' }
    const asked = await readers.get('owner')?.post(`${path}/edit`, fields)
    expect(asked?.status).toBe(403)
    expect(asked?.html).toContain('An administrator has unlisted this item')
    for (const scopes of ['write', ['read', 'write']]) {
      const made = await readers.get('owner')?.postOn('/settings/access', { do: 'create', name: 'k', scopes })
      const key = /cpb_\w+/.exec(made?.html ?? '')?.[0] ?? ''
      expect((await test.fetch(`/api${path}`, { ...json('PATCH', { visibility: 'public' }), key })).status).toBe(403)
    }
    expect((await readers.get('admin')?.post(path, { do: 'unhold' }))?.status).toBe(303)
    expect((await open('anonymous', '/prompts')).html).toContain(`Title ${held?.marker}`)
    expect((await readers.get('admin')?.post(path, { do: 'hold' }))?.status).toBe(303)
  })
})
