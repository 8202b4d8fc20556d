/** Choosing a language. */
export const LANGUAGE_WORDS = {
  /** What speakers of this language call it. */
  name: 'English',
  language: 'Language',
  asBrowser: 'As the browser says',
  choose: 'Use this language',
  save: 'Save language',
}
