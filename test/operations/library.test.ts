import { unzipSync } from 'fflate'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/people/actor.ts'
import { PERSON_RIGHTS } from '../../src/domain/people/actor.ts'
import { useTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

type UserActor = Extract<Actor, { kind: 'user' }>
const FILES = [
  { filename: 'SKILL.md', content: '---\nname: it\ndescription: It.\n---\n' },
  { filename: 'a.txt', content: 'a' },
]

describe('the bench of one’s own items', { shuffle: false }, () => {
  const test = useTestApp()
  let ada: Visitor
  let actor: UserActor
  let bob: UserActor
  beforeAll(async () => {
    await signUp(test, 'boss')
    ada = await signUp(test, 'ada')
    await signUp(test, 'bob')
    const asPerson = async (username: string): Promise<UserActor> => {
      const person = await test.app.store.people.findPersonByName(username)
      return { kind: 'user', userId: person?.id ?? '', username, scopes: new Set(PERSON_RIGHTS), sessionId: 'x' }
    }
    ;[actor, bob] = [await asPerson('ada'), await asPerson('bob')]
  })

  const save = async (fields: Record<string, unknown> = {}, by = actor): Promise<{ id: string; slug: string; title: string }> =>
    Object((await test.call(by, 'save_prompt', { title: 'Title', content: 'A text.', ...fields })).prompt)
  const saveSkill = async (fields: Record<string, unknown> = {}): Promise<{ id: string; slug: string }> =>
    Object((await test.call(actor, 'save_skill', { title: 'Skill', files: FILES, ...fields })).skill)
  const read = async (id: string, by = actor): Promise<Record<string, unknown>> => await test.call(by, 'show_prompt', { id })
  const titlesIn = (html: string) =>
    [...html.matchAll(/<h3 dir="auto"><a [^>]*>(.*?)<\/a><\/h3>/g)].map(([, title]) => (title ?? '').replaceAll(/<\/?mark>/g, ''))
  /** Sends a form of the bar, and gives the page after it and what undoes it. */
  const act = async (path: string, fields: Record<string, string | readonly string[]>) => {
    const { to, status, html } = await ada.post(path, fields)
    if (to === null) return { status, html, report: '' }
    return { status, html: (await ada.get(to)).html, report: new URL(to, 'http://x').searchParams.get('report') ?? '' }
  }

  it('searches, filters and sorts what is the reader’s, whatever its visibility, and nothing else', async () => {
    const tag = 'Found Here'
    const bread = await save({ title: 'Banana bread', visibility: 'public', tags: [tag], category: 'writing' })
    await save({ title: 'apple pie', visibility: 'private', tags: [tag], content: 'With a walrus.' })
    await save({ title: 'Cherry cake', visibility: 'unlisted', category: 'editing' })
    await test.call(actor, 'delete_item', { collection: 'prompts', id: (await save({ title: 'Gone' })).id })
    test.wait(1000)
    await test.call(actor, 'update_prompt', { id: bread.id, description: 'With nuts.' })
    const others = await save({ title: 'Apple of Bob', content: 'walrus', tags: [tag], visibility: 'public' }, bob)
    const list = async (query: string) => {
      const { html } = await ada.get(`/library${query}`)
      expect(html).not.toContain(others.id)
      return titlesIn(html)
    }
    expect(await list('')).toEqual(['Banana bread', 'Cherry cake', 'apple pie'])
    expect(await list('?sort=title')).toEqual(['apple pie', 'Banana bread', 'Cherry cake'])
    expect(await list('?visibility=private')).toEqual(['apple pie'])
    expect(await list('?tag=found-here&sort=title')).toEqual(['apple pie', 'Banana bread'])
    expect(await list('?category=editing')).toEqual(['Cherry cake'])
    expect(await list('?q=walrus')).toEqual(['apple pie'])
    expect(await list('?q=walrus&visibility=public')).toEqual([])
    expect(await list('?kind=skills')).toEqual([])
    await test.call(actor, 'set_label', { collection: 'prompts', id: bread.id, label: 'live' })
    expect(await list('?label=live')).toEqual(['Banana bread'])
    expect(await list('?label=none')).toEqual([])
    expect((await ada.get('/library')).html).toContain('href="/library?label=live"')
    const { html } = await ada.get('/library?tag=found-here')
    expect(html).toContain('>Found Here <span class="count">2</span>')
    expect(html).toContain('>Private <span class="count">1</span>')
    expect(html).toContain('Select all 2')
    // What is no choice narrows nothing, or finds nothing; an address never fails.
    for (const odd of ['?visibility=x&sort=y&kind=z', `?tag=${'x'.repeat(300)}`, '?category=%00', '?page=0']) {
      expect([200, 400]).toContain((await ada.get(`/library${odd}`)).status)
    }
  })

  it('sets categories and visibility, and gives each item back its own', async () => {
    const [one, two] = [
      await save({ title: 'Walnut', category: 'coding', visibility: 'private' }),
      await save({ title: 'Hazel', visibility: 'unlisted' }),
    ]
    const ids = [one.id, two.id]
    const moved = await act('/library', { do: 'category', category: 'writing', ids })
    expect([(await read(one.id))['categorySlug'], (await read(two.id))['categorySlug']]).toEqual(['writing', 'writing'])
    await act('/library', { do: 'undo', report: moved.report })
    expect([(await read(one.id))['categorySlug'], (await read(two.id))['categorySlug']]).toEqual(['coding', null])
    await act('/library', { do: 'category', category: '', ids })
    expect((await read(one.id))['categorySlug']).toBeNull()
    const published = await act('/library', { do: 'visibility', visibility: 'public', ids })
    expect((await visit(test).get('/prompts/walnut')).status).toBe(200)
    const hidden = await act('/library', { do: 'undo', report: published.report })
    expect(hidden.html).toContain('Undone for 2 items.')
    expect(await read(one.id)).toMatchObject({ visibility: 'private' })
    expect(await read(two.id)).toMatchObject({ visibility: 'unlisted' })
    expect((await visit(test).get('/prompts/walnut')).status).toBe(404)
    // Nobody changes what is another's by it, nor what was changed since.
    const later = await act('/library', { do: 'visibility', visibility: 'public', ids })
    const from = { tags: [], category: null, visibility: 'public' }
    const body = { collection: 'prompts', items: [{ id: two.id, version: 1, from, to: { ...from, visibility: 'private' } }] }
    expect(await test.call(bob, 'take_back_changes', body)).toMatchObject({ restored: 0, refused: [{ reason: expect.any(String) }] })
    await test.call(actor, 'update_prompt', { id: one.id, tags: ['since'] })
    const { html } = await act('/library', { do: 'undo', report: later.report })
    expect(html).toContain('Undone for 1 item.')
    expect(html).toContain('It was changed since.')
    expect((await read(one.id))['visibility']).toBe('public')
    // An administrator's hold stays what it is.
    const held = await save({ title: 'Held', visibility: 'public' })
    await test.app.store.marks.setHeld('prompt', held.id, true)
    expect((await act('/library', { do: 'visibility', visibility: 'public', ids: [held.id] })).html).toContain(
      '<bdi>Held</bdi>: An administrator has unlisted this item',
    )
  })

  it('does the same to skills, deletes and restores', async () => {
    const skill = await saveSkill({ title: 'Tidy' })
    const { html } = await act('/library?kind=skills', { do: 'add-tag', tag: 'done', ids: [skill.id] })
    expect(titlesIn(html)).toEqual(['Tidy'])
    expect(html).toContain('Tag added to 1 item.')
    const gone = await act('/library?kind=skills', { do: 'delete', ids: [skill.id] })
    expect(gone.html).toContain('Moved 1 item to the trash.')
    expect((await ada.get(`/skills/${skill.slug}`)).status).toBe(404)
    expect((await act('/library?kind=skills', { do: 'undo', report: gone.report })).html).toContain('Undone for 1 item.')
    expect((await ada.get(`/skills/${skill.slug}`)).html).toContain('>done</a>')
  })

  it('selects everything that matches, up to 500, and exports it', async () => {
    for (let n = 0; n < 60; n++) await save({ title: `Herd ${n}`, tags: ['herd'] })
    const path = '/library?tag=herd'
    const { html } = await ada.get(path)
    expect(html).toContain('Select all 60')
    expect(titlesIn(html).length).toBe(50)
    // More than 25 are changed only when that is confirmed.
    const asked = (await act(path, { do: 'add-tag', tag: 'marked', all: 'yes' })).html
    expect(asked).toContain('Give 60 items the tag?')
    expect((await ada.get('/library?tag=marked')).html).not.toContain('Herd 1')
    const question = /name="question" value="([^"]+)"/.exec(asked)?.[1] ?? ''
    expect((await act(path, { do: 'confirm', question })).html).toContain('Tag added to 60 items.')
    expect((await ada.post(path, { do: 'confirm', question: crypto.randomUUID() })).status).toBe(409)
    const skill = await saveSkill({ title: 'Not selected' })
    const { to } = await ada.post(path, { do: 'export', all: 'yes' })
    const zip = await test.fetch(to ?? '', { headers: { cookie: ada.cookies() } })
    expect(zip.headers.get('content-disposition')).toContain('commonplace-prompts.zip')
    const files = unzipSync(new Uint8Array(await zip.arrayBuffer()))
    const lines = new TextDecoder().decode(files['prompts.jsonl']).trim().split('\n')
    expect(lines.length).toBe(60)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ title: 'Herd 0', tags: ['herd', 'marked'] })
    expect(Object.keys(files)).not.toContain('account.json')
    const one = await ada.post('/library?kind=skills', { do: 'export', ids: [skill.id] })
    const packed = unzipSync(new Uint8Array(await (await test.fetch(one.to ?? '', { headers: { cookie: ada.cookies() } })).arrayBuffer()))
    expect(Object.keys(packed).filter((name) => name.endsWith('SKILL.md'))).toEqual([`skills/${skill.slug}/SKILL.md`])
    expect(new TextDecoder().decode(packed['prompts.jsonl'])).toBe('')
    // A selection is its maker's.
    const bobs = await signUp(test, 'carl')
    expect((await bobs.get(to ?? '')).status).toBe(404)
    expect((await visit(test).get(to ?? '')).to).toContain('/sign-in')
    expect((await ada.get('/library/export.zip?selection=x')).status).toBe(404)
  })

  const shownDraft = async (id: string, kind?: string) => (await test.call(actor, 'show_form_draft', { kind, id }))['body']

  it('tells nothing of an item that was purged after a report named it', async () => {
    const held = await save({ title: 'Zorblat', visibility: 'public' })
    await test.app.store.marks.setHeld('prompt', held.id, true)
    const { html, report } = await act('/library', { do: 'visibility', visibility: 'public', ids: [held.id] })
    expect(html).toContain('<bdi>Zorblat</bdi>')
    const { id: form } = Object(await test.call(actor, 'keep_form_draft', { body: '{"path":"/new"}' }))
    expect(await test.app.store.purges.purgeItem('prompt', held.id, '', () => true)).toBe(true)
    expect((await ada.get(`/library?report=${report}`)).html).not.toContain('Zorblat')
    expect(await shownDraft(report, 'bulk')).toBeNull()
    expect(await shownDraft(form)).toBe('{"path":"/new"}')
  })

  it('keeps forms and what its own actions keep apart, ten of each', async () => {
    const one = await save({ title: 'Busy' })
    const { id: form } = Object(await test.call(actor, 'keep_form_draft', { body: '{"path":"/new"}' }))
    const reports: string[] = []
    for (let n = 0; n < 11; n++) reports.push((await act('/library', { do: 'add-tag', tag: `busy ${n}`, ids: [one.id] })).report)
    expect(await shownDraft(form)).toBe('{"path":"/new"}')
    expect(await shownDraft(reports[0] ?? '', 'bulk')).toBeNull()
    expect(await shownDraft(reports[1] ?? '', 'bulk')).toContain('add-tag')
    for (let n = 0; n < 10; n++) await test.call(actor, 'keep_form_draft', { body: `{"path":"/${n}"}` })
    expect(await shownDraft(form)).toBeNull()
    expect(await shownDraft(reports[1] ?? '', 'bulk')).toContain('add-tag')
  })

  it('refuses what is no selection and no action, and keeps what was chosen', async () => {
    const one = await save({ title: 'Chosen' })
    const nothing = await ada.post('/library', { do: 'add-tag', tag: 'x' })
    expect([nothing.status, nothing.html.includes('Select at least one item first.')]).toEqual([400, true])
    const untagged = await ada.post('/library?sort=newest', { do: 'add-tag', tag: ' , ', ids: [one.id] })
    expect([untagged.status, untagged.html.includes('Type a tag first.')]).toEqual([400, true])
    expect(untagged.html).toContain(`name="ids" value="${one.id}" checked`)
    for (const [fields, status] of [
      [{ do: 'burn', ids: [one.id] }, 400],
      [{ do: 'visibility', visibility: 'x', ids: [one.id] }, 400],
      [{ do: 'add-tag', tag: 'x'.repeat(60), ids: [one.id] }, 400],
      [{ do: 'add-tag', tag: 'x', ids: Array.from({ length: 501 }, (_, n) => String(n)) }, 400],
      [{ do: 'undo', report: '00000000-0000-4000-8000-000000000000' }, 409],
      [{ do: 'undo', report: 'x' }, 409],
    ] as const) {
      expect((await ada.post('/library', fields)).status, JSON.stringify(fields).slice(0, 80)).toBe(status)
    }
    expect((await act('/library', { do: 'category', category: 'no-such', ids: [one.id] })).html).toContain('does not exist; use one of')
    expect(await read(one.id)).toMatchObject({ tags: [], categorySlug: null })
    expect((await visit(test).post('/library', { do: 'delete', ids: [one.id] })).to).toContain('/sign-in')
  })
})
