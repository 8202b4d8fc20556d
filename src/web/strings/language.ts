/** Choosing a language. */
export const LANGUAGE_WORDS = {
  /** The name of the language in itself. */
  name: 'English',
  language: 'Language',
  asBrowser: 'As the browser says',
  choose: 'Use this language',
}
