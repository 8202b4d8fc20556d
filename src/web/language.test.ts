import { describe, expect, it } from 'vitest'
import { type Actor, ANONYMOUS } from '../domain/people/actor.ts'
import { createLanguageReader, matchLanguage } from './language.ts'

describe('an Accept-Language header', () => {
  it.each([
    ['de', 'de'],
    ['DE', 'de'],
    ['de-AT', 'de'],
    ['de-Latn-DE-1996', 'de'],
    ['en-US,en;q=0.9', 'en'],
    ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
    ['en;q=0.3,de;q=0.7', 'de'],
    ['fr,de;q=0.5,en;q=0.4', 'de'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'en'],
    ['de;q=0, en', 'en'],
    ['de;q=0', null],
    ['*', 'en'],
    ['en;q=0, *', 'de'],
    ['fr', null],
    ['den', null],
    ['d', null],
    ['', null],
    [',,;q=1,', null],
    ['de;q=nonsense', 'de'],
    ['constructor, __proto__, toString', null],
    [`${'x'.repeat(20_000)},de`, null],
    [`${'fr,'.repeat(5_000)}de`, null],
  ])('%.60s gives %s', (header, language) => {
    expect(matchLanguage(header, 'en')).toBe(language)
  })

  it('gives the default of the service for any language', () => {
    expect(matchLanguage('*', 'de')).toBe('de')
    expect(matchLanguage('fr, *;q=0.1', 'de')).toBe('de')
  })
})

describe('the language of a request', () => {
  const read = (defaultLanguage: string, { header, cookies = '', own }: { header?: string; cookies?: string; own?: string | null }) => {
    const exchange = { header: (name: string) => (name === 'accept-language' ? header : undefined) }
    const actor: Actor = own === undefined ? ANONYMOUS : { kind: 'user', userId: 'u', username: 'ada', scopes: new Set(), language: own }
    const languageOf = createLanguageReader({ baseUrl: 'http://127.0.0.1:3000', defaultLanguage })
    return languageOf({ exchange, actor, client: { cookies } })
  }

  it('is the person’s setting, else the choice on this browser, else what its header asks for, else the default', () => {
    expect(read('en', { header: 'en', cookies: 'language=en', own: 'de' })).toBe('de')
    expect(read('en', { header: 'en', cookies: 'a=b; language=de', own: null })).toBe('de')
    expect(read('en', { header: 'en', cookies: 'language=de' })).toBe('de')
    expect(read('en', { header: 'de', own: null })).toBe('de')
    expect(read('en', { header: 'fr' })).toBe('en')
    expect(read('de', { header: 'fr' })).toBe('de')
    expect(read('de', {})).toBe('de')
  })

  it('is never one that the pages are not written in', () => {
    for (const other of ['fr', '__proto__', 'constructor', 'DE', '']) {
      expect(read('en', { header: 'de', cookies: `language=${other}`, own: other })).toBe('de')
    }
    expect(() => read('fr', {})).toThrow('DEFAULT_LANGUAGE must be one of: en, de.')
  })
})
