import type { Words } from '../site.ts'
import { GERMAN } from './de/index.ts'
import { ENGLISH } from './index.ts'

/**
 * The languages of the pages, by their codes (BCP 47, as short as they can be). To add one, write its texts as an object of the type
 * `Words`, in a folder of its own, and name it here.
 */
const CATALOGUES = { en: ENGLISH, de: GERMAN } satisfies Readonly<Record<string, Words>>

export type Language = keyof typeof CATALOGUES

/** The codes of all languages; the first is the one the texts are written in. */
export const LANGUAGES: readonly Language[] = Object.keys(CATALOGUES).filter(isLanguage)

/** Whether the pages have a language. */
export function isLanguage(code: string): code is Language {
  return Object.hasOwn(CATALOGUES, code)
}

/** The texts of a library for its members alone. */
function forMembers(words: Words): Words {
  const { published, ...texts } = words.membersOnly
  return { ...words, ...texts, done: { ...words.done, published } }
}

const OF_MEMBERS = new Map(LANGUAGES.map((language) => [language, forMembers(CATALOGUES[language])]))

/** Every text in a language. */
export function wordsIn(language: Language, isForMembersAlone = false): Words {
  return (isForMembersAlone ? OF_MEMBERS.get(language) : undefined) ?? CATALOGUES[language]
}
