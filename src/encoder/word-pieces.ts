import type { Vocabulary } from './vocabulary.ts'

/** The words of a text as pieces of a vocabulary. */
interface Pieces {
  /** Numbers in the vocabulary. */
  readonly ids: readonly number[]
  /** Words that were read, without punctuation, and how many of them the vocabulary holds whole. */
  readonly words: number
  readonly knownWords: number
}

/** Cuts texts into pieces of words. */
export type WordPieces = ReturnType<typeof createWordPieces>

/** Longer words are unknown, in code points. */
const MAX_WORD = 100
/** The treatment of a class of ASCII characters. */
const SPACE = 1
const PUNCTUATION = 2
const REMOVED = 3
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code)
  if (/[\t\n\r ]/.test(char)) return SPACE
  if (code < 32 || code === 127) return REMOVED
  return /[a-z0-9]/i.test(char) ? 0 : PUNCTUATION
})
const REMOVED_CHARACTER = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/u
const WHITE_SPACE = /\s/u
const ACCENT = /\p{Mn}/u
const PUNCTUATION_CHARACTER = /[!-/:-@[-`{-~\p{P}]/u
/** The blocks that BERT counts as ideographs; its last range begins later than Unicode's. */
const IDEOGRAPH =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u
/** Tokens that texts may spell. */
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']
const UNKNOWN = '[UNK]'

/**
 * WordPiece of BERT, uncased, as the model's `tokenizer.json` defines it: control characters go, ideographs are words of their own, accents and case
 * are folded, punctuation marks are words, and each word is cut into the longest pieces from the left.
 * Characters are normalised one by one: a run of marks that normalisation would sort costs no more than others.
 * @throws Error when the vocabulary lacks one of the special tokens
 */
export function createWordPieces(vocabulary: Vocabulary) {
  const special = SPECIAL.map((text) => ({ text, id: idOf(vocabulary, text) }))
  const unknown = idOf(vocabulary, UNKNOWN)

  /** Appends the pieces of a word: one that is unknown when the vocabulary has not all of them. Gives how many. */
  const appendWord = (word: string, ids: number[]): number => {
    const before = ids.length
    for (let from = 0; from < word.length; ) {
      const id = vocabulary.findLongest(word, from)
      if (id < 0) {
        ids.length = before
        return ids.push(unknown) - before
      }
      ids.push(id)
      from += vocabulary.lengthOf(id)
    }
    return ids.length - before
  }

  return {
    /** The first `most` pieces of a text. Reads no further than that, in time linear in what it reads. */
    cut(text: string, most: number): Pieces {
      const ids: number[] = []
      let words = 0
      let knownWords = 0
      let word = ''
      /** Code points of the word; the word holds no more than one above the maximum. */
      let points = 0
      const append = (char: string) => {
        if (++points <= MAX_WORD) word += char
      }
      const endWord = () => {
        if (points === 0) return
        words++
        if (points > MAX_WORD) ids.push(unknown)
        else if (appendWord(word, ids) === 1 && ids.at(-1) !== unknown) knownWords++
        word = ''
        points = 0
      }
      const appendMark = (char: string) => {
        endWord()
        appendWord(char, ids)
      }
      const readSpecial = (at: number): number => {
        const found = special.find((token) => text.startsWith(token.text, at))
        if (!found) return 0
        endWord()
        ids.push(found.id)
        return found.text.length
      }
      for (let at = 0; at < text.length && ids.length < most; ) {
        const code = text.codePointAt(at) ?? 0
        const length = code === 0x5b ? readSpecial(at) : 0
        if (length > 0) {
          at += length
          continue
        }
        const char = String.fromCodePoint(code)
        at += char.length
        if (code < 128) {
          const kind = ASCII[code]
          if (kind === 0) append(char.toLowerCase())
          else if (kind === SPACE) endWord()
          else if (kind === PUNCTUATION) appendMark(char)
        } else if (REMOVED_CHARACTER.test(char)) {
          // Leaves no gap: the word continues.
        } else if (WHITE_SPACE.test(char)) endWord()
        else {
          const isWord = IDEOGRAPH.test(char)
          if (isWord) endWord()
          for (const part of char.normalize('NFD')) {
            if (ACCENT.test(part)) continue
            const lower = part.toLowerCase()
            if (PUNCTUATION_CHARACTER.test(lower)) appendMark(lower)
            else for (const one of lower) append(one)
          }
          if (isWord) endWord()
        }
      }
      if (ids.length < most) endWord()
      return { ids: ids.slice(0, most), words, knownWords }
    },
  }
}

function idOf(vocabulary: Vocabulary, text: string): number {
  const id = vocabulary.findLongest(text, 0)
  if (id < 0 || vocabulary.lengthOf(id) !== text.length) throw new Error(`the vocabulary has no ${text}`)
  return id
}
