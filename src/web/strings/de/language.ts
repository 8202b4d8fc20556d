import type { LANGUAGE_WORDS } from '../language.ts'

/** Choosing a language, in German. */
export const LANGUAGE_WORDS_DE: typeof LANGUAGE_WORDS = {
  name: 'Deutsch',
  language: 'Sprache',
  asBrowser: 'Wie im Browser eingestellt',
  choose: 'Diese Sprache benutzen',
}
