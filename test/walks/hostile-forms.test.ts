import { strToU8, zipSync } from 'fflate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testApp, useFreshTestApp } from '../support/test-app.ts'
import { PASSWORD, signUp, visit } from '../support/visitor.ts'

/** What strangers and people who are signed in may send to pages: none of it may take the process for itself. */

const test = useFreshTestApp()

const HEADERS = { accept: 'text/html', origin: 'http://127.0.0.1:3000' }
const post = (path: string, body: string | Uint8Array<ArrayBuffer>, type: string, cookie = '', more: Record<string, string> = {}) =>
  test.fetch(path, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...HEADERS, 'content-type': type, ...(cookie ? { cookie } : {}), ...more },
    body,
  })
const FORM = 'application/x-www-form-urlencoded'
const PARTS = 'multipart/form-data; boundary=b'
describe('a form of a stranger', () => {
  it.each([
    ['many names', 'a&'.repeat(31_000), 413],
    ['many pairs', 'a=b&'.repeat(15_000), 413],
    ['more than names and passwords take', `name=${'x'.repeat(70_000)}`, 413],
  ])('of %s is refused before it is parsed', async (_, body, status) => {
    expect((await post('/sign-in', `${body}&password=x`, FORM)).status).toBe(status)
  })

  it('in parts is not taken', async () => {
    expect((await post('/sign-in', `--b\r\n\r\nx\r\n--b--`, PARTS)).status).toBe(415)
  })

  it('on a page for people is not even read', async () => {
    for (const path of ['/new', '/new/skill', '/settings', '/prompts/x', '/prompts/x/edit', '/skills/x/edit', '/admin/people/x']) {
      let isRead = false
      const body = new ReadableStream(
        {
          pull(controller) {
            isRead = true
            controller.enqueue(new Uint8Array(1000))
            controller.close()
          },
        },
        { highWaterMark: 0 },
      )
      const answer = await test.fetch(path, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...HEADERS, 'content-type': FORM },
        body,
        duplex: 'half',
      })
      expect([answer.status, answer.headers.get('location'), isRead], path).toEqual([303, `/sign-in?to=${encodeURIComponent(path)}`, false])
    }
  })
})

describe('a form of somebody who is signed in', () => {
  it('with many parts is refused before they are parsed', async () => {
    const ada = await signUp(test, 'ada')
    const body = new Uint8Array(strToU8('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(2000)))
    // The parts are counted by the boundary that they are parsed by.
    for (const [type, status] of [
      [PARTS, 413],
      ['multipart/form-data; xboundary=z; boundary=b', 413],
      ['multipart/form-data;boundary="b"', 413],
      ['multipart/form-data; boundary=z; boundary=b', 400],
    ] as const)
      expect((await post('/new/skill', body, type, ada.cookies())).status, type).toBe(status)
  })

  it('with a field that is too long is refused, and not shown once more', async () => {
    const ada = await signUp(test, 'ada')
    const long = await ada.post('/new', { do: 'save', title: 'T', content: '<'.repeat(300_000) })
    expect([long.status, long.html.length < 100_000]).toEqual([400, true])
    const preview = await ada.post('/new', { do: 'preview', title: 'T', content: '${a}'.repeat(70_000) })
    expect([preview.status, preview.html.length < 100_000]).toEqual([400, true])
  })

  it('takes the changes of a suggestion that are ticked, and refuses what no page has sent', async () => {
    const ada = await signUp(test, 'ada')
    const parts = ['Write ', { removed: 'a', added: 'one' }, ' mail', { removed: '', added: '.' }, '\n']
    const use = (changes: string, take: readonly string[]) =>
      ada.postOn('/new', { do: 'use', title: 'T', content: 'x', improved: 'Write one mail.\n', changes, take })
    const textOf = (html: string) => /<textarea[^>]* name="content"[^>]*>\n?([^<]*)</.exec(html)?.[1]
    for (const [take, text] of [
      [['0', '1'], 'Write one mail.\n'],
      [['1'], 'Write a mail.\n'],
      [[], 'Write a mail\n'],
      [['7', '-1', 'x', '__proto__'], 'Write a mail\n'],
    ] as const) {
      expect(textOf((await use(JSON.stringify(parts), take)).html), take.join()).toBe(text)
    }
    const many = JSON.stringify(Array(10_000).fill({ removed: 'a', added: 'b' }))
    for (const changes of ['', '[', '{}', '"x"', '[1]', '[{"removed":"a"}]', '[{"removed":1,"added":"b"}]', many, '['.repeat(500_000)]) {
      const refused = await use(changes, [])
      expect([refused.status, textOf(refused.html)], changes.slice(0, 30)).toEqual([400, 'x'])
    }
    const long = JSON.stringify(['a'.repeat(600_000)])
    expect((await use(long, [])).status).toBe(400)
  })

  it('is improved while its writer reads, on pages of this service alone', async () => {
    const ada = await signUp(test, 'ada')
    const EVENTS = { accept: 'text/event-stream, application/json' }
    const fields = { title: 'Half a title', content: 'write a mail to ${customer}' }
    for (const path of ['/new', '/prompts/x/edit']) {
      const done = await ada.post(`${path}/improve`, fields, EVENTS)
      expect([done.status, done.headers.get('content-type'), done.headers.get('cache-control')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
        'private, no-store',
      ])
      const [delta, result, end] = done.html.split('\n\n')
      const [, text = ''] = /^event: delta\ndata: (.*)$/.exec(delta ?? '') ?? []
      const [, page = ''] = /^event: result\ndata: (.*)$/.exec(result ?? '') ?? []
      expect([JSON.parse(text).text, end]).toEqual([expect.stringContaining('${customer}'), ''])
      const { to, ...others } = JSON.parse(page)
      expect([to.replace(/[0-9a-f-]{36}/, 'ID'), others]).toEqual([`${path}?draft=ID#improved`, {}])
      if (path !== '/new') continue
      const shown = await ada.get(to.split('#')[0])
      expect(shown.html).toContain('Half a title')
      expect(shown.html).toContain('id="improved"')
    }
    const refused = async (body: string, headers: Record<string, string>, cookie = ada.cookies()) => {
      const answer = await post('/new/improve', body, FORM, cookie, { ...EVENTS, ...headers })
      return [answer.status, JSON.parse(await answer.text()).message]
    }
    expect((await refused('content=x', { origin: 'https://elsewhere.example' }))[0]).toBe(403)
    // Another port is another site, though cookies are shared between ports.
    expect(await refused('content=x', { origin: 'http://127.0.0.1:9999' })).toEqual([403, expect.stringContaining('another site')])
    expect(await refused('content=x', { 'sec-fetch-site': 'cross-site' })).toEqual([403, expect.stringContaining('another site')])
    expect(await refused('content=x', {}, '')).toEqual([401, 'Sign in first.'])
    expect(await refused('content=%20', {})).toEqual([400, 'Text is blank.'])
    expect(await refused(`content=${'x'.repeat(10_001)}`, {})).toEqual([400, expect.stringMatching(/^Text .*10000/)])
    expect(await refused('a&'.repeat(2000), {})).toEqual([413, 'A form can have at most 1000 fields.'])
    expect((await refused(`content=${'x'.repeat(3_200_000)}`, {}))[0]).toBe(413)
    expect((await refused('{}', { 'content-type': 'application/json' }))[0]).toBe(415)
    expect((await refused('--b\r\n\r\nx\r\n--b--', { 'content-type': PARTS }))[0]).toBe(415)
    expect((await ada.get('/new/improve')).status).toBe(405)
  })

  it('opens one zip, and no more', async () => {
    const ada = await signUp(test, 'ada')
    const zip = zipSync({ 'SKILL.md': strToU8('# x'), 'big.txt': new Uint8Array(1_000_000) })
    const form = new FormData()
    form.set('do', 'save')
    form.set('title', 'T')
    for (let n = 0; n < 60; n++) form.append('upload', new Blob([zip]), `${n}.zip`)
    const refused = await ada.send('/new/skill', form)
    expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('Upload one zip at a time.')])
  })

  it('does only what the page has a button for', async () => {
    const ada = await signUp(test, 'ada')
    const path = (await ada.post('/new', { title: 'T', content: 'C' })).to?.split('?')[0] ?? ''
    for (const does of ['constructor', '__proto__', 'toString', '', 'x']) {
      expect((await ada.post(path, { do: does })).status, does).toBe(400)
    }
    for (const done of ['constructor', '__proto__', 'x'])
      expect((await ada.get(`${path}?done=${done}`)).html).not.toContain('class="notice"')
  })
})

describe('accounts', () => {
  it('cannot take the address that stands for none', async () => {
    const open = await testApp({ ALLOW_SIGNUP: true })
    onTestFinished(open.close)
    await signUp(open, 'ada')
    for (const email of ['nobody@LOGIN.INVALID', 'x@login.invalid', 'X@Login.Invalid'])
      expect((await visit(open).post('/sign-up', { username: 'eve', password: PASSWORD, email })).status, email).toBe(400)
  })

  it('tell nothing of e-mail addresses to who may not make one', async () => {
    const ada = await signUp(test, 'ada')
    await ada.post('/settings', { do: 'email', email: 'ada@example.org', password: PASSWORD })
    for (const email of ['ada@example.org', 'other@example.org']) {
      expect((await visit(test).post('/sign-up', { username: 'eve', password: PASSWORD, email })).status).toBe(403)
    }
  })

  it('are made and signed in whatever others failed at from the same address', async () => {
    const admin = await signUp(test, 'ada')
    for (let n = 0; n < 31; n++) await visit(test).post('/sign-in', { name: `x${n}`, password: 'wrong one' })
    const invite = /invite=([\w-]+)/.exec((await admin.postOn('/admin/invites', { do: 'create', role: 'user' })).html)?.[1] ?? ''
    const bob = visit(test)
    expect((await bob.post('/sign-up', { username: 'bob', password: PASSWORD, invite })).status).toBe(303)
    expect((await bob.get('/settings')).status).toBe(200)
  })

  it('are not made without end from one address', async () => {
    const open = await testApp({ ALLOW_SIGNUP: true })
    onTestFinished(open.close)
    await signUp(open, 'ada')
    const statuses: number[] = []
    for (let n = 0; n < 31; n++) statuses.push((await visit(open).post('/sign-up', { username: `u${n}`, password: PASSWORD })).status)
    expect([statuses.filter((status) => status === 303).length, statuses.at(-1)]).toEqual([29, 429])
  })

  it('are helped by an administrator, however often strangers ask for a link', async () => {
    const admin = await signUp(test, 'ada')
    await signUp(test, 'bob')
    const links = await Promise.all(Array.from({ length: 8 }, () => admin.postOn('/admin/people/bob', { do: 'reset' })))
    expect(links.map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  it('have no more than a hundred sessions', async () => {
    await signUp(test, 'ada')
    const person = await test.app.store.people.findPersonByName('ada')
    const first = visit(test)
    await first.post('/sign-in', { name: 'ada', password: PASSWORD })
    for (let n = 0; n < 105; n++) {
      await test.app.store.logins.insertLoginRow('login_session', {
        id: `s${n}`,
        user_id: person?.id ?? '',
        token: `t${n}`,
        expires_at: n < 5 ? '2020-01-01T00:00:00.000Z' : '2999-01-01T00:00:00.000Z',
        created_at: `2998-01-01T00:00:${String(n % 60).padStart(2, '0')}.000Z`,
        updated_at: '2998-01-01T00:00:00.000Z',
      })
    }
    await visit(test).post('/sign-in', { name: 'ada', password: PASSWORD })
    expect(await test.app.store.logins.countLoginRows('login_session', [])).toBe(100)
  })

  it('are signed out at once, whatever else is asked at that moment', async () => {
    await signUp(test, 'ada')
    for (let n = 0; n < 10; n++) {
      const browser = visit(test)
      await browser.post('/sign-in', { name: 'ada', password: PASSWORD })
      const thief = visit(test)
      thief.setCookies(browser.cookies())
      test.wait(10_000)
      await Promise.all([thief.get('/settings'), browser.post('/sign-out', {}), thief.get('/settings')])
      expect((await thief.get('/settings')).status).toBe(303)
    }
  })
})

it('pages with a secret in their address are kept by no cache', async () => {
  for (const path of ['/sign-in', '/sign-up?invite=x', '/forgot-password', '/reset-password?token=x']) {
    const answer = await test.fetch(path, { headers: { accept: 'text/html', 'accept-encoding': 'gzip' } })
    expect([answer.headers.get('cache-control'), answer.headers.get('content-encoding')], path).toEqual(['private, no-store', null])
  }
})

it('one caller has only a few downloads open, and gets the next when one has ended', async () => {
  // Each process counts its own.
  const alone = await testApp({}, {}, null, { instances: 1 })
  const ada = await signUp(alone, 'ada')
  const zips = async () => await alone.fetch('/settings/data/export.zip', { headers: { cookie: ada.cookies() } })
  const open = await Promise.all([zips(), zips(), zips(), zips()])
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect((await zips()).status).toBe(429)
  await open[0]?.body?.cancel()
  const next = await zips()
  expect(next.status).toBe(200)
  for (const answer of [...open.slice(1), next]) await answer.arrayBuffer()
  expect((await zips()).status).toBe(200)
  await alone.close()
})
