const NO_WORD = /[^\p{L}\p{M}\p{N}'+#]+/gu

/**
 * A text as lower-case words with single spaces between and around them, so that a phrase is found by `includes`.
 * One class with one repeat: the replacement takes linear time on any input.
 * @example readWords('Write a "Blog-Post"!') // ' write a blog post '
 */
export function readWords(text: string): string {
  const words = text.toLowerCase().replaceAll('’', "'").replace(NO_WORD, ' ')
  return ` ${words.trim()} `
}

/** Phrases of a table, parted by commas. @example splitPhrases('blog post, essay') // ['blog post', 'essay'] */
export function splitPhrases(table: string): string[] {
  return table.split(',').map((phrase) => phrase.trim())
}

/** Whether one of the phrases stands in the words, as whole words; a last word may have a plural `s`. */
export function hasPhrase(words: string, phrases: readonly string[]): boolean {
  return phrases.some((phrase) => findPhrase(words, phrase) !== -1)
}

/** Where a phrase stands in the words, as an index into the string; -1 when it does not. */
export function findPhrase(words: string, phrase: string): number {
  const plain = words.indexOf(` ${phrase} `)
  return plain === -1 ? words.indexOf(` ${phrase}s `) : plain
}

/** Whether the words begin with one of the phrases. */
export function startsWithPhrase(words: string, phrases: readonly string[]): boolean {
  return phrases.some((phrase) => words.startsWith(` ${phrase} `))
}
