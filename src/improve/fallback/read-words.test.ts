import { expect, it } from 'vitest'
import { findPhrase, hasPhrase, readWords, splitPhrases, startsWithPhrase } from './read-words.ts'

it.each([
  ['Write a "Blog-Post"!', ' write a blog post '],
  ['C++ & C#, don’t', " c++ c# don't "],
  ['  ', '  '],
  ['Größe 16:9', ' größe 16 9 '],
])('the words of %j', (text, words) => {
  expect(readWords(text)).toBe(words)
})

it('finds phrases as whole words, with a plural s', () => {
  const words = readWords('Two poems about a catalogue of blog posts')
  expect(hasPhrase(words, ['poem'])).toBe(true)
  expect(hasPhrase(words, ['blog post'])).toBe(true)
  expect(hasPhrase(words, ['cat', 'log'])).toBe(false)
  expect(findPhrase(words, 'about')).toBeGreaterThan(0)
  expect(startsWithPhrase(words, ['two'])).toBe(true)
  expect(startsWithPhrase(words, ['poems'])).toBe(false)
})

it('reads a table over several lines', () => {
  expect(splitPhrases('\n  blog post, essay,\n  poem\n')).toEqual(['blog post', 'essay', 'poem'])
})
