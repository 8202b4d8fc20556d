import { readQueryWords } from './words.ts'

/** Words that nearly every text of a language holds, and hardly any of the others, by ISO 639-1 code. */
const MARKERS: Readonly<Record<string, string>> = {
  en: 'the and with',
  ar: 'من على في',
  de: 'und nicht eine',
  es: 'los una del',
  fr: 'les vous dans',
  hi: 'के है में',
  id: 'yang dengan untuk',
  it: 'della che gli',
  ja: 'の を は',
  ko: '니다 하는 으로',
  nl: 'een het voor',
  pl: 'nie jest się',
  pt: 'não uma você',
  ru: 'не что для',
  sv: 'och att för',
  tr: 've bir için',
  uk: 'що та або',
  vi: 'của và cho',
  zh: '的 们 这',
}
const WORDS = Object.entries(MARKERS).map(([code, words]) => ({ code, words: readQueryWords(words, 9).words }))
/** Least share of all texts that makes a language one of the library's, and the least number of texts. */
const MIN_SHARE = 0.02
const MIN_TEXTS = 3
const MAX_LANGUAGES = 5

/** A language of a library's texts. */
export interface LanguageShare {
  /** ISO 639-1. */
  readonly code: string
  /** About the share of texts, 0 to 1. A text may hold several languages. */
  readonly share: number
}

/**
 * The languages that texts are in, most texts first, as far as their commonest words tell.
 * @param countOf how many of the texts hold a word
 */
export function findLanguages(texts: number, countOf: (word: string) => number): LanguageShare[] {
  return WORDS.map(({ code, words }) => {
    const counts = words.map(countOf).sort((a, b) => a - b)
    return { code, count: counts[counts.length >> 1] ?? 0 }
  })
    .filter(({ count }) => count >= Math.max(MIN_TEXTS, texts * MIN_SHARE))
    .sort((a, b) => b.count - a.count)
    .slice(0, MAX_LANGUAGES)
    .map(({ code, count }) => ({ code, share: Math.min(1, count / texts) }))
}
