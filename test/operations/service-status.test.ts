import { writeFileSync } from 'node:fs'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { describeSettings, loadConfig } from '../../src/config/load-config.ts'
import { AppError } from '../../src/errors.ts'
import { keepFor, libraryMetrics, loadMetrics, loadRegistry } from '../../src/http/metrics.ts'
import { createFaultLog } from '../../src/server/fault-log.ts'
import { createHttpApp } from '../../src/server/http-app.ts'
import { answerRequest } from '../support/exchange.ts'
import { isOnPostgres } from '../support/postgres.ts'
import { type TestApp, useFreshTestApp } from '../support/test-app.ts'
import { signUp, type Visitor, visit } from '../support/visitor.ts'

const TOKEN = 'a-token-for-the-tests'
const SECRET = 'hush-hush'

const test = useFreshTestApp({ METRICS_TOKEN: TOKEN })

/** The samples of a metric, by their labels. */
async function read(name: string): Promise<Record<string, number>> {
  const text = await (await test.fetch('/metrics', { headers: { authorization: `Bearer ${TOKEN}` } })).text()
  const samples = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
  return Object.fromEntries(samples.map(([, labels = '', value]) => [labels, Number(value)]))
}

describe('metrics of the library', () => {
  it('count what it holds, and what the process does', async () => {
    const { actor } = await test.user('ada')
    for (const title of ['One', 'Two', 'Three']) await test.call(actor, 'save_prompt', { title, content: 'x', visibility: 'private' })
    const files = [{ filename: 'SKILL.md', content: '---\nname: tidy\ndescription: d\n---\n' }]
    await test.call(actor, 'save_skill', { title: 'Tidy', files })
    const { id } = Object((await test.call(actor, 'save_prompt', { title: 'Gone', content: 'x' })).prompt)
    await test.call(actor, 'delete_item', { collection: 'prompts', id })
    await test.app.store.service.loadSearch()
    expect(await read('commonplace_items')).toEqual({ 'kind="prompt"': 3, 'kind="skill"': 1 })
    expect(await read('commonplace_trash_items')).toEqual({ '': 1 })
    expect(await read('commonplace_search_ready')).toEqual({ '': 1 })
    expect(await read('commonplace_search_items')).toEqual({ '': 4 })
    expect(await read('commonplace_http_waiting')).toEqual({ 'queue="admission"': 0, 'queue="turns"': 0 })
    expect(await read('commonplace_http_streams')).toEqual({ '': 0 })
    const { 'part="data"': data = 0, ...log } = await read('commonplace_library_bytes')
    expect(Object.keys(log)).toEqual(isOnPostgres() ? [] : ['part="log"'])
    // What was written last may all be in the log.
    expect(data + (log['part="log"'] ?? 0)).toBeGreaterThan(100_000)
    const [build] = Object.entries(await read('commonplace_build_info'))
    expect(build).toEqual([expect.stringMatching(/^version="\d+\.\d+\.\d+[-.\w]*",schema="\d{4}"$/), 1])
  })

  it('count faults of the library by kind', async () => {
    const log = createFaultLog(pino({ level: 'silent' }))
    for (const fault of ['full', 'full', 'io'] as const)
      log.report(new AppError('unavailable', `It is ${fault}.`, { cause: new Error(), fault }))
    log.report(new AppError('unavailable', 'Strange.', { cause: new Error() }))
    // Told to one caller, and no fault of the library.
    log.report(new AppError('unavailable', 'Too much to do.'))
    log.report(new AppError('not_found', 'Nothing.'))
    expect([...log.counts()]).toEqual([
      ['full', 2],
      ['io', 1],
      ['other', 1],
    ])
    expect(log.recent().map(({ message, times }) => [message, times])).toEqual([
      ['Strange.', 1],
      ['It is io.', 1],
      ['It is full.', 2],
    ])
  })

  it('forget faults after a day', () => {
    let now = 0
    const log = createFaultLog(pino({ level: 'silent' }), () => now)
    log.report(new AppError('internal', 'Internal error'))
    now += 86_400_000
    expect(log.recent()).toEqual([])
    log.report(new AppError('internal', 'Internal error'))
    expect(log.recent()).toMatchObject([{ times: 1 }])
  })

  it('leave out what cannot be read, and tell the rest', async () => {
    const failing = () => Promise.reject(new AppError('unavailable', 'The library is not responding.'))
    const load = { running: 2, streams: 0, waiting: { admission: 0, turns: 0 } }
    const metrics = [
      ...libraryMetrics('0.1.0', failing),
      ...loadMetrics(
        () => load,
        () => new Map(),
      ),
    ]
    const text = await (await loadRegistry(metrics)).metrics()
    expect(text).toMatch(/^commonplace_http_running 2$/m)
    expect(text).not.toMatch(/^commonplace_(build_info|items|trash_items|library_bytes|search_ready|search_items)/m)
  })

  it('ask the library once a minute, and again after a failure', async () => {
    let now = 0
    let asked = 0
    const figures = keepFor(60_000, async () => ++asked, { now: () => now })
    expect(await Promise.all([figures(), figures()])).toEqual([1, 1])
    now = 59_999
    expect(await figures()).toBe(1)
    now = 60_000
    expect(await figures()).toBe(2)
    const failing = keepFor(60_000, () => Promise.reject(new Error(`failed ${++asked}`)), { now: () => now })
    await expect(failing()).rejects.toThrow('failed 3')
    await expect(failing()).rejects.toThrow('failed 4')
    const loading = keepFor(60_000, async () => ++asked, { isLasting: (value) => value > 5, now: () => now })
    expect([await loading(), await loading(), await loading()]).toEqual([5, 6, 6])
  })
})

describe('the status of the service', () => {
  const settings = describeSettings({
    DATABASE_URL: `postgres://user:${SECRET}@db.example.org/library`,
    SECRET_KEY_FILE: `/run/secrets/${SECRET}`,
    SMTP_URL: `smtps://user:${SECRET}@mail.example.org`,
    OPENAI_API_KEY: SECRET,
    BACKUP_EVERY: '6h',
  })
  let admin: Visitor
  /** The same library behind another front, which knows its settings. */
  const withFront = async (work: (test: TestApp) => Promise<void>) => {
    const config = { ...loadConfig({}), RATE_LIMITS: null }
    const backups = { lastBackup: () => new Date(Date.now() - 5 * 3_600_000), failures: () => 2 }
    const http = createHttpApp(test.app, config, pino({ level: 'silent' }), { settings, backups })
    const fetch: TestApp['fetch'] = (path, options) => {
      const headers = new Headers(options?.headers)
      headers.set('host', '127.0.0.1:3000')
      return answerRequest(http.pipeline, new Request(new URL(path, 'http://127.0.0.1:3000'), { ...options, headers }))
    }
    await work({ ...test, fetch }).finally(() => http.close())
  }
  beforeEach(async () => {
    admin = await signUp(test, 'ada')
  })

  it('is shown to administrators alone', async () => {
    const other = await signUp(test, 'ben')
    await other.post('/teams', { do: 'create', team: 'no-person', defaultVisibility: 'private' })
    expect((await admin.get('/admin/status')).html).toContain('2 authors, 2 with an account')
    expect([(await other.get('/admin/status')).status, (await visit(test).get('/admin/status')).status]).toEqual([403, 303])
    const { actor } = await test.user('ada')
    await expect(test.call(actor, 'show_service_status', {})).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('says what is set, and no secret', async () => {
    await withFront(async (front) => {
      const visitor = visit(front)
      visitor.setCookies(admin.cookies())
      const { html, status } = await visitor.get('/admin/status')
      expect(status).toBe(200)
      expect(html).not.toContain(SECRET)
      expect(html).not.toContain('db.example.org/library')
      const text = html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
      for (const part of [
        'DATABASE_URL set (hidden)',
        'OPENAI_API_KEY set (hidden)',
        'ANTHROPIC_API_KEY not set',
        'SECRET_KEY set (hidden)',
        'BACKUP_EVERY 6h ',
      ]) {
        expect(text).toContain(part)
      }
      const [changed, others] = text.split(/\d+ at their default/)
      expect(changed).toContain('SECRET_KEY set')
      expect([changed?.includes('PORT 3000'), others?.includes('PORT 3000')]).toEqual([false, true])
      expect(text).toContain('Last backup 5 h ago · 2 failed since startup')
      expect(html).toMatch(/<div class="bad"><dt>Last backup/)
      expect(html).toMatch(/<div class="note"><dt>Email<\/dt><dd>not set up/)
      expect(text).toMatch(/(SQLite, library\.db|PostgreSQL, 127\.0\.0\.1)/)
      expect(text).not.toContain('/library.db')
    })
  })

  it.skipIf(isOnPostgres())('names what stands beside the library, and nothing else there', async () => {
    const { database } = await test.app.store.service.readFigures()
    expect(database).toMatchObject({ engine: 'SQLite', place: 'library.db', beside: [] })
    const path = test.libraryFile
    for (const name of ['.before-0011', '.replaced-20260101T000000Z', '.restoring', '.made'])
      writeFileSync(`${path}${name}`, 'x'.repeat(name.length))
    writeFileSync(`${path.replace('library.db', 'other.db')}.before-0011`, 'x')
    expect((await test.app.store.service.readFigures()).database.beside).toEqual([
      { name: 'library.db.replaced-20260101T000000Z', bytes: 26 },
      { name: 'library.db.before-0011', bytes: 12 },
      { name: 'library.db.restoring', bytes: 10 },
    ])
    expect((await admin.get('/admin/status')).html).toContain('library.db.before-0011')
  })
})
