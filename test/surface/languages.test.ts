import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { createPageCache } from '../../src/http/page-cache.ts'
import type { Call } from '../../src/http/route.ts'
import { createLanguageReader } from '../../src/web/language.ts'
import { describePage } from '../../src/web/serve-pages.ts'
import { GERMAN } from '../../src/web/strings/de/index.ts'
import { ENGLISH } from '../../src/web/strings/index.ts'
import { toExchange } from '../support/exchange.ts'
import { addressesOfPages, SHOWN_TEAM } from '../support/page-addresses.ts'
import { type TestApp, testApp } from '../support/test-app.ts'
import { PASSWORD, signUp, type Visitor, visit } from '../support/visitor.ts'

const GERMAN_READER = { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' }
const ENGLISH_READER = { 'accept-language': 'en-GB,en;q=0.9' }

const languageOf = (html: string) => /^<!doctype html><html lang="([^"]*)"/.exec(html)?.[1]

/** Texts that the English and the German catalogue have at the same place, and that differ. */
function listOnlyEnglish(english: unknown, german: unknown): string[] {
  if (typeof english === 'string') return english === german || english === '' ? [] : [english]
  if (typeof english !== 'object' || english === null) return []
  return Object.entries(english).flatMap(([name, inner]) => listOnlyEnglish(inner, Object(german)[name]))
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : []
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const toText = (html: string) => html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity).trim()

/** What a page says: its texts, and the attributes that are read out or shown; without code and what is marked as English. */
function readTexts(html: string): string[] {
  const own = html
    .replaceAll(/<div class="written" lang="en">.*?<\/article>/gs, '</article>')
    .replaceAll(/<(\w+)[^>]* lang="en"[^>]*>.*?<\/\1>/gs, '')
    .replaceAll(/<code[ >].*?<\/code>/gs, '')
  const texts = own.split(/<[^>]*>/)
  const attributes = [...own.matchAll(/ (?:aria-label|placeholder|title|alt|data-(?!name=)[a-z-]+)="([^"]*)"/g)].map(
    ([, value = '']) => value,
  )
  return [...texts, ...attributes].map(toText).filter((text) => text !== '')
}

describe('the language of pages', () => {
  let service: TestApp
  let admin: Visitor
  const items = { prompt: '', skill: '', collection: '', user: 'Ada' }
  beforeAll(async () => {
    service = await testApp()
    admin = await signUp(service, 'Ada')
    items.prompt =
      (await admin.post('/new', { title: 'Brief', content: 'Lieber ${name}', tags: 'review', category: '' })).to?.split(/[/?]/)[2] ?? ''
    const form = new FormData()
    for (const [name, value] of Object.entries({ do: 'save', title: 'Ordnung', skillMd: '# Ordnung' })) form.set(name, value)
    items.skill = (await admin.send('/new/skill', form)).to?.split('/')[2] ?? ''
    await admin.post('/teams', { team: SHOWN_TEAM, defaultVisibility: 'private' })
    items.collection = (await admin.post('/collections', { do: 'create', title: 'Satz', visibility: '' })).to?.split(/[/?]/)[2] ?? ''
    await admin.postOn('/settings/access', { do: 'create', name: 'k', scopes: ['read'] })
    await admin.post('/admin/categories', { do: 'create', name: 'Coding', parent: '' })
  })
  afterAll(() => service.close())

  it('is what the browser asks for, and says so to caches between', async () => {
    for (const path of ['/', '/nothing']) {
      for (const [reader, language] of [
        [GERMAN_READER, 'de'],
        [ENGLISH_READER, 'en'],
        [{ 'accept-language': 'fr' }, 'en'],
        [{}, 'en'],
      ] as const) {
        const { html, headers } = await visit(service).get(path, reader)
        expect([languageOf(html), headers.get('content-language')], path).toEqual([language, language])
        expect(headers.get('vary')).toMatch(/Accept-Language.*Cookie/)
      }
    }
  })

  it('is chosen on a page of its own too, and refused in the language that stands', async () => {
    const reader = visit(service)
    expect((await reader.get('/language', GERMAN_READER)).html).toContain(GERMAN.languages.choose)
    const refused = await reader.post('/language', { language: '__proto__' }, GERMAN_READER)
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([400, []])
    expect(refused.html).toContain('Sprache muss eines davon sein: en, de.')
    const chosen = await reader.post('/language', { language: 'de' }, { referer: 'http://127.0.0.1:3000/skills?q=a' })
    expect([chosen.status, chosen.to]).toEqual([303, '/skills?q=a'])
    expect(chosen.headers.getSetCookie()).toEqual(['language=de; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly'])
    expect((await reader.get('/skills', ENGLISH_READER)).html).toContain('name="language" value="en" lang="en">English</button>')
    for (const referer of ['https://evil.example/x', 'http://127.0.0.1:3000//evil.example', 'nonsense']) {
      expect((await reader.post('/language', { language: 'de' }, { referer })).to).toBe('/')
    }
    const foreign = await visit(service).post('/language', { language: 'de' }, { origin: 'https://evil.example' })
    expect([foreign.status, foreign.headers.getSetCookie()]).toEqual([403, []])
  })

  it('is a person’s setting before all else, on every browser of theirs, until they take it back', async () => {
    const ben = await signUp(service, 'ben')
    await ben.post('/language', { language: 'en' })
    expect((await ben.post('/settings', { do: 'theme', language: 'de' })).to).toBe('/settings?done=theme')
    const settings = await ben.get('/settings?done=theme', ENGLISH_READER)
    expect(languageOf(settings.html)).toBe('de')
    expect(settings.html).toContain(GERMAN.done.theme)
    expect(settings.html).toContain('<option value="de" selected="">Deutsch</option>')

    const other = visit(service)
    await other.post('/language', { language: 'en' })
    expect(languageOf((await other.get('/')).html)).toBe('en')
    await other.post('/sign-in', { name: 'ben', password: PASSWORD })
    expect(languageOf((await other.get('/', ENGLISH_READER)).html)).toBe('de')
    await ben.post('/settings', { do: 'theme', language: '' })
    expect(languageOf((await ben.get('/', GERMAN_READER)).html)).toBe('de')
    expect(languageOf((await ben.get('/', ENGLISH_READER)).html)).toBe('en')
    const refused = await ben.post('/settings', { do: 'theme', language: 'xx' })
    expect([refused.status, languageOf((await ben.get('/', ENGLISH_READER)).html)]).toEqual([400, 'en'])
  })

  it('never lets a cached page reach a reader of another language', async () => {
    for (const path of ['/', '/prompts']) {
      for (let round = 0; round < 3; round++) {
        const german = await visit(service).get(path, GERMAN_READER)
        const english = await visit(service).get(path, ENGLISH_READER)
        expect([languageOf(german.html), german.headers.get('content-language')], path).toEqual(['de', 'de'])
        expect([languageOf(english.html), english.headers.get('content-language')], path).toEqual(['en', 'en'])
        expect(german.html).toContain(GERMAN.skip)
        expect(english.html).toContain(ENGLISH.skip)
      }
    }
  })

  it('has errors of forms, dates and numbers of the language', async () => {
    const reader = visit(service)
    expect((await reader.get('/prompts?sort=upside-down', GERMAN_READER)).html).toContain(
      'Wähle Beste Treffer, Neueste, Älteste oder Meiste Stimmen.',
    )
    expect((await admin.get(`/prompts/${items.prompt}`, GERMAN_READER)).html).toMatch(
      /<time [^>]*data-day="true">\d+\. \p{L}+\.? 2026<\/time>/u,
    )
    expect((await admin.get(`/prompts/${items.prompt}`, ENGLISH_READER)).html).toMatch(
      /<time [^>]*data-day="true">\p{L}+ \d+, 2026<\/time>/u,
    )
    const wrong = await visit(service).post('/sign-in', { name: 'Ada', password: 'not it' }, GERMAN_READER)
    expect([wrong.status, wrong.html.includes(GERMAN.errors.wrongLogin)]).toEqual([401, true])
    const nothing = await admin.post('/library', { do: 'add-tag', tag: '' }, GERMAN_READER)
    expect([nothing.status, nothing.html.includes(GERMAN.library.selectFirst)]).toEqual([400, true])
  })

  it('is German on every page, without an English text of the catalogue', async () => {
    const alsoGerman = new Set(listTexts(GERMAN))
    const { categories }: { categories: { name: string }[] } = JSON.parse(await (await service.fetch('/api/categories?all=true')).text())
    // The names of categories are the library's own.
    const others = new Set([...alsoGerman, ENGLISH.languages.name, ...categories.map(({ name }) => name)])
    const onlyEnglish = new Set(listOnlyEnglish(ENGLISH, GERMAN).filter((text) => !others.has(text)))
    expect(onlyEnglish.size).toBeGreaterThan(700)
    const found: string[] = []
    for (const { address } of addressesOfPages(items)) {
      for (const reader of [admin, visit(service)]) {
        const english = await reader.get(address, ENGLISH_READER)
        const german = await reader.get(address, GERMAN_READER)
        expect([german.status, german.to], address).toEqual([english.status, english.to])
        if (german.to !== null) continue
        expect([languageOf(german.html), german.headers.get('content-language')], address).toEqual(['de', 'de'])
        for (const text of readTexts(german.html)) if (onlyEnglish.has(text)) found.push(`${address}: ${text}`)
      }
    }
    expect([...new Set(found)]).toEqual([])
  })

  it('is the default of the service for those who ask for none there is, and German for members too', async () => {
    const closed = await testApp({ DEFAULT_LANGUAGE: 'de', LIBRARY_ACCESS: 'members' })
    onTestFinished(() => closed.close())
    const reader = visit(closed)
    expect(languageOf((await reader.get('/sign-in')).html)).toBe('de')
    expect(languageOf((await reader.get('/sign-in', ENGLISH_READER)).html)).toBe('en')
    const member = await signUp(closed, 'Ada')
    const { html } = await member.get('/settings', { 'accept-language': 'fr' })
    expect(html).toContain(GERMAN.membersOnly.profileLead)
    await member.post('/language', { language: 'en' })
    expect((await member.get('/settings')).html).toContain(ENGLISH.membersOnly.profileLead)
    await expect(testApp({ DEFAULT_LANGUAGE: 'fr' })).rejects.toThrow('DEFAULT_LANGUAGE must be one of: en, de.')
  })
})

describe('the cache of pages', () => {
  const toCall = (headers: Readonly<Record<string, string>>): Call => ({
    exchange: toExchange(new Request('http://127.0.0.1:3000/prompts', { headers: { accept: 'text/html', ...headers } })),
    kind: 'page',
    params: {},
    requestId: '',
    actor: ANONYMOUS,
    caller: '',
    client: { address: '', caller: '', userAgent: null, cookies: '' },
    cookies: [],
    operations: new Set(),
    charge: async () => {},
    body: new Uint8Array(),
    work: { points: 0 },
    takeTurn: () => null,
  })

  it('has one page for each language there is, whatever readers ask for', async () => {
    const reader = createLanguageReader({ baseUrl: 'http://127.0.0.1:3000', defaultLanguage: 'en' })
    const cache = createPageCache(
      async () => 1,
      (language) => describePage(language),
      reader,
      () => {},
    )
    let made = 0
    const ask = async (acceptLanguage: string) => {
      const call = toCall({ 'accept-language': acceptLanguage })
      const cached = await cache.find(call)
      const read = (body: unknown) => new TextDecoder().decode(body instanceof Uint8Array ? body : undefined)
      if (cached) return [read(cached.body), cached.headers['content-language']]
      const make = async () => {
        made++
        return `<html lang="${reader(call)}">`
      }
      return [read(await cache.show(call, make, () => [])), reader(call)]
    }
    const wanted = ['de', 'en', 'de-AT', 'fr', 'xx', 'x-made-up', ...Array.from({ length: 200 }, (_, n) => `a${n},b${n};q=0.${n}`)]
    for (const language of wanted) {
      const expected = language.startsWith('de') ? 'de' : 'en'
      expect(await ask(language)).toEqual([`<!doctype html><html lang="${expected}">`, expected])
    }
    expect(made).toBe(2)
  })
})
