import { parseAccept } from 'hono/utils/accept'
import { readCookie, writeCookie } from '../domain/sign-in/logins.ts'
import { AppError } from '../errors.ts'
import type { Call } from '../http/route.ts'
import type { Words } from './site.ts'
import { GERMAN } from './strings/de/index.ts'
import { ENGLISH } from './strings/index.ts'

/**
 * The languages of the pages, by their codes (BCP 47, as short as they can be). To add one, write its texts as an object of the type
 * `Words`, in a folder of its own, and name it here.
 */
const CATALOGUES = { en: ENGLISH, de: GERMAN } satisfies Readonly<Record<string, Words>>

export type Language = keyof typeof CATALOGUES

/** The codes of all languages; the first is the one the texts are written in. */
export const LANGUAGES: readonly Language[] = Object.keys(CATALOGUES).filter(isLanguage)

/** Whether the pages have a language. */
function isLanguage(code: string): code is Language {
  return Object.hasOwn(CATALOGUES, code)
}

/** The texts of a library for its members alone. */
function forMembers(words: Words): Words {
  const { published, visibilityMeans, ...texts } = words.membersOnly
  return { ...words, ...texts, visibilityMeans: { ...words.visibilityMeans, ...visibilityMeans }, done: { ...words.done, published } }
}

const OF_MEMBERS = new Map(LANGUAGES.map((language) => [language, forMembers(CATALOGUES[language])]))

/** Every text in a language. */
export function wordsIn(language: Language, isForMembersAlone = false): Words {
  return (isForMembersAlone ? OF_MEMBERS.get(language) : undefined) ?? CATALOGUES[language]
}

const COOKIE = 'language'
const YEAR_SECONDS = 365 * 24 * 3600
/** The part of an Accept-Language header that is read, in UTF-16 units: browsers send less than a hundred. */
const MAX_HEADER = 500

/** The language for a range such as `de-AT`, by leaving out its last parts (RFC 4647, section 3.4); null when there is none. */
function lookUp(range: string): Language | null {
  for (let rest = range.toLowerCase(); rest !== ''; rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))) {
    const found = LANGUAGES.find((language) => language.toLowerCase() === rest)
    if (found) return found
  }
  return null
}

/** The best language for an Accept-Language header (RFC 9110, section 12.5.4); null when it names none that there is. */
export function matchLanguage(header: string, fallback: Language): Language | null {
  const ranges = parseAccept(header.slice(0, MAX_HEADER))
  const refused = new Set(ranges.flatMap(({ type, q }) => (q === 0 ? [lookUp(type)] : [])))
  for (const { type, q } of ranges) {
    if (q === 0) continue
    const found = type === '*' ? [fallback, ...LANGUAGES].find((language) => !refused.has(language)) : lookUp(type)
    if (found) return found
  }
  return null
}

/** The parts of a request that decide its language. */
interface Asked {
  readonly exchange: Pick<Call['exchange'], 'header'>
  readonly actor: Call['actor']
  readonly client: Pick<Call['client'], 'cookies'>
}

/**
 * Reads the language that a request is answered in: the person's setting, else the choice on this browser, else what its header asks for.
 * @throws AppError `invalid_input` for a default that the pages are not written in
 */
export function createLanguageReader({ baseUrl, defaultLanguage }: { baseUrl: string; defaultLanguage: string }) {
  if (!isLanguage(defaultLanguage)) throw new AppError('invalid_input', `DEFAULT_LANGUAGE must be one of: ${LANGUAGES.join(', ')}.`)
  return ({ exchange, actor, client }: Asked): Language => {
    const ownChoice = actor.kind === 'user' ? (actor.language ?? '') : ''
    if (isLanguage(ownChoice)) return ownChoice
    const chosenHere = client.cookies === '' ? '' : (readCookie(COOKIE, client.cookies, baseUrl) ?? '')
    if (isLanguage(chosenHere)) return chosenHere
    const header = exchange.header('accept-language')
    return (header === undefined ? null : matchLanguage(header, defaultLanguage)) ?? defaultLanguage
  }
}

/** The `lang` of a text that is in English whatever the language of its page: documents, and the descriptions of operations. */
export function markEnglish({ language }: Pick<Words, 'language'>): 'en' | undefined {
  return language === 'en' ? undefined : 'en'
}

/** A cookie that remembers the language of a browser; null forgets it. */
export function languageCookie(language: Language | null, baseUrl: string): string {
  return writeCookie(COOKIE, language ?? '', baseUrl, { maxAgeSeconds: YEAR_SECONDS, sameSite: 'Lax' })
}
