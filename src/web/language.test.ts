import { describe, expect, it } from 'vitest'
import { type Actor, ANONYMOUS } from '../domain/people/actor.ts'
import { createLanguageReader, LANGUAGES, matchLanguage, wordsIn } from './language.ts'
import { ENGLISH } from './strings/index.ts'

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

/** Names, abbreviations and words that German shares with English: the only texts that may be the same. */
const SHARED = new Set(
  [
    'Prompt Prompts Skill Skills Team Teams API JSON OpenAPI REST MCP UTC Markdown HTML Frontmatter Feed Agent Chat Code Video Audio Text',
    'Name Version Status Website Schema Filter Link Indigo Orange Original Profil Parameter Embeddings Administration optional Web Passkey Passkeys',
    'Label Labels Test Tests Text In Person Service Enter KiB MiB GiB TiB',
  ].flatMap((line) => line.split(' ')),
)
/** Texts that are the same for another reason, by their paths. */
const SAME: Readonly<Record<string, string>> = {
  'counts.prompts': '',
  'reading.inEditor': 'In Claude Code',
  'reading.agentNotes.opencode': 'nothing to say',
}

type Leaf = readonly [path: string, text: unknown]

/** Every text of a catalogue with its path; functions as they are. */
function listLeaves(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  return Object.entries(value).flatMap(([name, inner]) => listLeaves(inner, path === '' ? name : `${path}.${name}`))
}

/** Arguments that any function of a text can take; what differs by one is tried with both. */
const SAMPLES: readonly unknown[][] = [0, 1, 2, 1234].map((n) => [n, n, n])

function callWith(text: (...values: never[]) => unknown, count: number): string[] {
  const values: unknown[][] = [
    ...SAMPLES,
    ['alpha', 'beta', 'gamma'],
    [['alpha', 'beta'], 'beta'],
    ['alpha', 'up'],
    ['reader'],
    [{ backups: 1, upgrades: 2, replaced: 3 }],
  ]
  return values.flatMap((sample) => {
    if (sample.length < count) return []
    try {
      const said: unknown = Reflect.apply(text, undefined, sample.slice(0, count))
      return typeof said === 'string' && !/NaN|\[object|alpha,beta/.test(said) ? [said] : []
    } catch {
      // Not the kind of argument this text takes.
      return []
    }
  })
}

const toFunction = (text: unknown) => (typeof text === 'function' ? (text as (...values: never[]) => unknown) : null)
const placeholdersOf = (text: string) => [...text.matchAll(/\{\w+\}|\$\{\w+/g)].map(([name]) => name).toSorted()

describe.each(LANGUAGES.filter((language) => language !== 'en'))('the texts in %s', (language) => {
  const english = new Map(listLeaves(ENGLISH))
  const leaves = listLeaves(wordsIn(language))

  it('are those that there are in English, and none is empty', () => {
    expect(leaves.map(([path]) => path).toSorted()).toEqual([...english.keys()].toSorted())
    expect(leaves.length).toBeGreaterThan(800)
    const empty = leaves.filter(([path, text]) => text === '' && english.get(path) !== '')
    expect(empty).toEqual([])
  })

  it('have the same placeholders', () => {
    for (const [path, text] of leaves) {
      const original = english.get(path)
      if (typeof text === 'string' && typeof original === 'string') expect(placeholdersOf(text), path).toEqual(placeholdersOf(original))
    }
  })

  it('say something with any argument, and name what the English ones name', () => {
    for (const [path, text] of leaves) {
      const said = toFunction(text)
      const original = toFunction(english.get(path))
      if (!said || !original) continue
      const texts = callWith(said, original.length)
      expect(texts.length, path).toBeGreaterThan(0)
      const isSilent = callWith(original, original.length).includes('')
      for (const one of texts) expect(one.trim(), path).not.toMatch(isSilent ? /undefined/ : /^$|undefined/)
      const named = (all: readonly string[]) => ['alpha', 'beta', 'gamma'].filter((name) => all.some((one) => one.includes(name)))
      expect(named(texts), path).toEqual(named(callWith(original, original.length)))
    }
  })

  it('differ from English, apart from names and words that both have', () => {
    const same = leaves.flatMap(([path, text]) => {
      if (typeof text !== 'string' || text !== english.get(path) || path in SAME) return []
      const words = text.split(/[^\p{L}]+/u).filter((word) => word.length > 1 && !SHARED.has(word))
      return words.length === 0 ? [] : [`${path}: ${text}`]
    })
    expect(same).toEqual([])
  })

  it('have quotation marks of their language', () => {
    const all = leaves.flatMap(([, text]) =>
      typeof text === 'string' ? [text] : toFunction(text) ? callWith(toFunction(text) ?? (() => ''), 3) : [],
    )
    if (language === 'de') for (const text of all) expect(text).not.toMatch(/“[^“„]*”|"/)
  })
})

it('a library for members has texts of its own in every language', () => {
  for (const language of LANGUAGES) {
    const [open, closed] = [wordsIn(language), wordsIn(language, true)]
    expect(closed.visibilityMeans).toEqual({ ...open.visibilityMeans, ...open.membersOnly.visibilityMeans })
    expect(closed.done.published).toBe(open.membersOnly.published)
    expect(closed.profileLead).not.toBe(open.profileLead)
    expect(closed.find).toBe(open.find)
  }
})
