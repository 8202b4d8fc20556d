import { parseVariables } from '../variables/variables.ts'
import { cutAtWord, cutCharacters } from './characters.ts'
import { firstWords, readValues } from './first-words.ts'

/** How much of a prompt's text is read for it, in characters: a query may read no more than this. */
export const DERIVED_FROM = 1_000
/** Shorter sentences mostly repeat the title ("Act as a poet."): the next one follows. */
const MIN_SENTENCE = 60
const MAX_SENTENCE = 200
/** A value of fewer words is no sentence. */
const MIN_WORDS = 5

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })

/**
 * Describes a prompt that has no description by the first sentences of its text: without markup, with variables in brackets, at most 200
 * characters. Of JSON and YAML it takes the longest value that reads like a sentence. Null for a text without words, or without such a value.
 * @param content the text, or at least its first {@link DERIVED_FROM} characters
 * @example deriveDescription('# Role\n\nAct as a guide to ${city}. Be kind.', 'Guide') // "Role Act as a guide to [city]. Be kind."
 */
export function deriveDescription(content: string, title: string): string | null {
  const start = cutCharacters(content, DERIVED_FROM)
  const values = readValues(start)
  // Short values strung together describe nothing.
  if (values) return describeValues(values)
  const { pieces } = firstWords(start, title)
  const text = pieces.map((piece) => ('text' in piece ? piece.text : `[${piece.blank}]`)).join('')
  let end = 0
  for (const { segment } of sentences.segment(text)) {
    end += segment.length
    if (end >= MIN_SENTENCE) break
  }
  const sentence = text.slice(0, end).trim()
  if (sentence === '') return null
  const isCut = end === text.length && !/[\p{P}\p{S}]$/u.test(sentence) && content.trim().length > text.length
  return cutAtWord(isCut ? `${sentence} …` : sentence, MAX_SENTENCE)
}

function describeValues(values: readonly string[]): string | null {
  const sentence = values.filter((value) => value.split(' ').length >= MIN_WORDS).sort((a, b) => b.length - a.length)[0]
  if (sentence === undefined) return null
  const { segments } = parseVariables(sentence)
  return cutAtWord(segments.map((segment) => (segment.kind === 'variable' ? `[${segment.name}]` : segment.raw)).join(''), MAX_SENTENCE)
}
