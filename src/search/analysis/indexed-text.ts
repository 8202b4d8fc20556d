import { cutCharacters } from '../../domain/text/characters.ts'
import { eachWord } from './words.ts'

/** The texts of an item that are searched. */
export interface SearchableText {
  readonly title: string
  readonly description: string
  readonly tags: string
  readonly content: string
}

/** Version of the words and vectors below. Raise it when they change: items stored with an older one are re-indexed at start. */
export const ANALYSIS = 3

/** Distinct words indexed per item, title words first; bounds the cost of one text. */
const MAX_WORDS = 8192

/**
 * A word's field code, eight bits: a flag each for title, description and tags, and its count in the text, at most 31. One byte, so that
 * millions of postings fit into memory.
 */
export const IN_TITLE = 0x80
export const IN_DESCRIPTION = 0x40
export const IN_TAGS = 0x20
export const COUNT_MASK = 0x1f

/** An item as the index stores it. */
export interface IndexedText {
  /** Distinct words with their field codes. */
  readonly words: ReadonlyMap<string, number>
  /** Words of the title, repeats counted. */
  readonly titleLength: number
  /** Words of description, tags and text, repeats counted. */
  readonly bodyLength: number
}

/** Reads an item's words. Linear in the text's length. */
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

/** A word of an item, by its number in the vocabulary. */
export interface Posting {
  readonly word: number
  /** Field code; see {@link IN_TITLE}. */
  readonly code: number
}

/** Encodes postings, ascending by word: the gap to the previous word as a varint (7 bits a byte, low first), then the field code. */
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

/** Decodes {@link encodePostings}. Truncated input ends early, without an error. */
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

/** Characters of an item that an embedding provider is sent: about what its models read. */
const MAX_EMBEDDED = 8_000

/** The text of an item to embed: title, description, then as much of the content as fits. */
export function toEmbeddedText({ title, description, content }: Pick<SearchableText, 'title' | 'description' | 'content'>): string {
  const text = [title, description, content].filter((part) => part !== '').join('\n\n')
  return cutCharacters(text, MAX_EMBEDDED)
}
