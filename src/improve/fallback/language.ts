import { hasCue } from './cues.ts'
import data from './kinds.json' with { type: 'json' }

/** Cues by the kinds they stand for. */
type CuesByKind = Readonly<Record<string, string>>
/** Lines to add, each with the cues that say that a prompt settles it, by the kinds they suit. */
type LinesByKinds = Readonly<Record<string, CuesByKind>>

/** Data of a language: how to recognise it, kinds of prompts, and what to add to them. Strings are lists for findCue unless noted. */
export interface Language {
  /** Frequent words, between spaces: the evidence for the language. */
  readonly words: string
  /** Letters outside ASCII that the language has. */
  readonly letters: string
  /** Titles that the added section may have, the usual one first. */
  readonly titles: string
  /** Further titles of sections that hold requirements. */
  readonly sections: string
  /** How a prompt gives the model a role. */
  readonly roles: string
  /** Cues of prompts that fix the form of the answer, so that no line may add to it. */
  readonly form: string
  /** Cues of a topic, cues whose position decides, and cues that count where no other is near. */
  readonly early: CuesByKind
  readonly cues: CuesByKind
  readonly late: CuesByKind
  /** Kinds of pictures and sounds. */
  readonly media: CuesByKind
  /** Lines that ask for words in the answer, and lines that only ask for care. */
  readonly answerLines: LinesByKinds
  readonly lines: LinesByKinds
}

/** The languages that lines can be written in. */
export const LANGUAGES: readonly Language[] = Object.values(data.languages)

/** The languages that are told apart, with their frequent words; null for those that nothing is written in. */
const CANDIDATES: readonly { readonly language: Language | null; readonly known: ReadonlySet<string> }[] = [
  ...LANGUAGES.map((language) => ({ language, known: new Set(language.words.split(' ')) })),
  ...Object.values(data.otherLanguages).map((words) => ({ language: null, known: new Set(words.split(' ')) })),
]

const COLON_OR_QUOTE = /[:：\n"“„«`]/
/** How much of a prompt is looked at, in UTF-16 units. */
const MAX_LOOKED_AT = 2000
/** From this many words on, one known word may be chance. */
const MANY_WORDS = 5
/** The least share of known words; prose has three times as many. */
const MIN_SHARE = 0.1

/**
 * The language of a prompt; null for a text in another language, or with too little evidence. The start decides where it can:
 * what follows may be material in another language.
 */
export function detectLanguage(prompt: string): Language | null {
  const text = prompt.slice(0, MAX_LOOKED_AT)
  for (const part of [text.split(COLON_OR_QUOTE, 1)[0], text.split(/\n\s*\n/, 1)[0], text]) {
    const found = detect(part ?? '')
    if (found !== undefined) return found
  }
  return null
}

/** The language of a part of a prompt; null for another language, undefined where the part does not tell. */
function detect(text: string): Language | null | undefined {
  const words = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []
  const letters = words.join('')
  const latin = letters.match(/\p{Script=Latin}/gu)?.length ?? 0
  if (letters.length > 0 && latin * 2 < letters.length) return null
  const scores = CANDIDATES.map(({ language, known }) => {
    const hits = words.filter((word) => known.has(word)).length
    return { language, score: language ? hits + (hasCue(text, language.roles) ? 1 : 0) - countForeign(words, language.letters) : hits }
  }).toSorted((a, b) => b.score - a.score)
  const [best, second] = scores
  const least = Math.max(words.length < MANY_WORDS ? 1 : 2, words.length * MIN_SHARE)
  if (!best || best.score < least || best.score === second?.score) return undefined
  return best.language
}

/** How many words have a letter that a language does not have. */
function countForeign(words: readonly string[], letters: string): number {
  const own = new Set(letters)
  return words.filter((word) => [...word].some((letter) => letter > '\x7f' && !own.has(letter))).length
}
