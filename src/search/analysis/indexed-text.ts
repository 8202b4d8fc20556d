import { cutCharacters } from '../../library/characters.ts'
import { eachWord } from './words.ts'

/** The texts of an item that are searched. */
export interface SearchableText {
  readonly title: string
  readonly description: string
  readonly tags: string
  readonly content: string
}

/** The version of how texts are read into words and vectors: what an older one made is made anew when a library is opened. */
export const ANALYSIS = 2

/** Distinct words of one item that are indexed, those of the title first: a bound on what one text can cost. */
const MAX_WORDS = 8192

/**
 * Where a word stands in an item, in eight bits: title, description, tags, and how often in the text (at most 31).
 * What ranking needs, and no more, so that millions of them fit into memory.
 */
export const IN_TITLE = 0x80
export const IN_DESCRIPTION = 0x40
export const IN_TAGS = 0x20
export const COUNT_MASK = 0x1f

/** An item's words as the index keeps them. */
export interface IndexedText {
  /** Each distinct word with where it stands. */
  readonly words: ReadonlyMap<string, number>
  /** Words of the title, repeats counted. */
  readonly titleLength: number
  /** Words of description, tags and text, repeats counted. */
  readonly bodyLength: number
}

/** Reads the words of an item for the index. Linear in the text's length. */
export function indexText(text: SearchableText): IndexedText {
  const words = new Map<string, number>()
  let titleLength = 0
  let bodyLength = 0
  const add = (word: string, merge: (code: number) => number) => {
    const known = words.get(word)
    if (known === undefined && words.size >= MAX_WORDS) return
    words.set(word, merge(known ?? 0))
  }
  eachWord(text.title, (word) => {
    titleLength++
    add(word, (code) => code | IN_TITLE)
  })
  for (const [part, flag] of [
    [text.description, IN_DESCRIPTION],
    [text.tags, IN_TAGS],
  ] as const) {
    eachWord(part, (word) => {
      bodyLength++
      add(word, (code) => code | flag)
    })
  }
  eachWord(text.content, (word) => {
    bodyLength++
    add(word, (code) => ((code & COUNT_MASK) === COUNT_MASK ? code : code + 1))
  })
  return { words, titleLength, bodyLength }
}

/** One word of an item by the vocabulary's number for it. */
export interface Posting {
  readonly word: number
  /** Where it stands: see {@link IN_TITLE}. */
  readonly code: number
}

/** Postings as bytes, ascending by word: each the difference to the word before in groups of seven bits, then the code. */
export function encodePostings(postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = []
  let previous = 0
  for (const { word, code } of postings.toSorted((a, b) => a.word - b.word)) {
    let gap = word - previous
    previous = word
    while (gap >= 0x80) {
      bytes.push((gap & 0x7f) | 0x80)
      gap = Math.floor(gap / 0x80)
    }
    bytes.push(gap, code)
  }
  return Uint8Array.from(bytes)
}

/** Reads what {@link encodePostings} wrote; ends quietly where bytes end. */
export function decodePostings(bytes: Uint8Array, take: (word: number, code: number) => void): void {
  let word = 0
  for (let at = 0; at < bytes.length; ) {
    let gap = 0
    let factor = 1
    for (;;) {
      const byte = bytes[at++] ?? 0
      gap += (byte & 0x7f) * factor
      if (byte < 0x80 || at >= bytes.length) break
      factor *= 0x80
    }
    const code = bytes[at++]
    if (code === undefined) return
    word += gap
    take(word, code)
  }
}

/** How much of an item a provider is sent, in characters: about what its models read of one text. */
const MAX_EMBEDDED = 8_000

/** The text of an item whose meaning a provider is asked for: title, description, then as much of the text as fits. */
export function toEmbeddedText({ title, description, content }: Pick<SearchableText, 'title' | 'description' | 'content'>): string {
  const text = [title, description, content].filter((part) => part !== '').join('\n\n')
  return cutCharacters(text, MAX_EMBEDDED)
}
