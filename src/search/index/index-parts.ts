import { z } from 'zod'
import type { ItemKind } from '../../domain/items/items.ts'
import type { HiddenItem } from './hidden-postings.ts'
import { clearSlots, columnOf, FREE, type ItemTable, putBlock, SLOTS_A_BLOCK, STATE_COLUMN, TAGS_COLUMN } from './item-table.ts'
import type { HeldAudience, HeldKind, KindIndex } from './kind-index.ts'
import type { Segment } from './postings.ts'
import type { Vocabulary } from './vocabulary.ts'

export const KINDS = ['prompt', 'skill'] as const satisfies readonly ItemKind[]

/** The layout of the parts. Raise it with each change of what the index holds or how it is written. */
export const INDEX_LAYOUT = 3

const WORDS_A_PART = 10_000
const NUMBERS_A_PART = 2 ** 18
const HIDDEN_A_PART = 500

/** An index at one moment, as parts of about a megabyte. Numbers are in the byte order of this machine. */
export type IndexCapture = ReturnType<typeof captureIndex>

/** Takes the parts of a capture. */
export type IndexLoad = ReturnType<typeof loadIndex>

const count = z.int().nonnegative()
/** The header before the numbers of a kind. */
const kindHead = z.object({
  capacity: count,
  types: z.array(z.string()),
  wordDims: count,
  sentenceDims: count,
  audiences: z.array(z.object({ audience: count, deleted: count, segments: z.array(z.object({ words: count, postings: count })) })),
  hidden: count,
})
const tagList = z.array(z.object({ slug: z.string(), name: z.string() }).nullable())

type Kinds = Readonly<Record<ItemKind, KindIndex>>
/** A generator that is given one part after the other. */
type Taking<T> = Generator<undefined, T, Uint8Array>

/** @see IndexCapture */
export function captureIndex(vocabulary: Vocabulary, indexes: Kinds) {
  const held = KINDS.map((kind) => [indexes[kind].table, indexes[kind].hold()] as const)
  const words = vocabulary.inOrder()
  return {
    /**
     * Each part in turn. Words for which `isKept` is false are left out, and so is all that was known of deleted items. A part is not changed
     * afterwards.
     */
    *parts(isKept: (word: number) => boolean): Generator<Uint8Array> {
      yield* writeWords(vocabulary, words, isKept)
      for (const [table, kind] of held) yield* writeKind(table, kind)
    },
    /** Ends it: until then, changes of the index copy what was not read. */
    release(): void {
      for (const [, kind] of held) kind.release()
    },
  }
}

/** @see IndexLoad */
export function loadIndex(vocabulary: Vocabulary, indexes: Kinds) {
  const taking = readIndex(vocabulary, indexes)
  let isComplete = taking.next().done === true
  return {
    /** @throws RangeError, SyntaxError or ZodError for what is no such part */
    take(part: Uint8Array): void {
      if (isComplete) throw new RangeError('there is a part after the last')
      isComplete = taking.next(part).done === true
    },
    /** Whether the last part was taken. */
    isComplete: (): boolean => isComplete,
  }
}

function* readIndex(vocabulary: Vocabulary, indexes: Kinds): Taking<void> {
  yield* readWords(vocabulary)
  for (const kind of KINDS) yield* readKind(indexes[kind])
}

/** A line is a word's number, the word and its stem: both hold neither spaces nor line breaks. In order, as sorting takes long. The last part is empty. */
function* writeWords(vocabulary: Vocabulary, words: readonly number[], isKept: (word: number) => boolean): Generator<Uint8Array> {
  let lines: string[] = []
  for (const id of words) {
    if (!isKept(id)) continue
    const word = vocabulary.wordOf(id)
    const stem = vocabulary.stemOf(id)
    lines.push(stem === word ? `${id}\t${word}` : `${id}\t${word}\t${stem}`)
    if (lines.length < WORDS_A_PART) continue
    yield encodeText(lines.join('\n'))
    lines = []
  }
  if (lines.length > 0) yield encodeText(lines.join('\n'))
  yield encodeText('')
}

function* readWords(vocabulary: Vocabulary): Taking<void> {
  for (;;) {
    const text = decodeText(yield)
    if (text === '') return
    for (const line of text.split('\n')) {
      const [id, word = '', stem = word] = line.split('\t')
      vocabulary.add(Number(id), word, stem)
    }
  }
}

function* writeKind(table: ItemTable, { columns: held, audiences, hidden }: HeldKind): Generator<Uint8Array> {
  const { capacity, columns, wordDims, sentenceDims } = held
  const head: z.infer<typeof kindHead> = {
    capacity,
    types: table.types,
    wordDims,
    sentenceDims,
    audiences: audiences.map(({ audience, deleted, segments }) => ({
      audience,
      deleted: deleted.length,
      segments: segments.map(({ words, postings }) => ({ words: words.length, postings: postings.length })),
    })),
    hidden: hidden.length,
  }
  yield encodeText(JSON.stringify(head))
  const usedTags = new Set<number>()
  let from = 0
  for (const block of held.blocks()) {
    const slots = Math.min(SLOTS_A_BLOCK, capacity - from)
    const states = columnOf(columns, block, slots, STATE_COLUMN)
    clearSlots(columns, block, slots, (place) => states[place] === FREE)
    for (const tag of toNumbers(columnOf(columns, block, slots, TAGS_COLUMN))) if (tag > 0) usedTags.add(tag)
    from += slots
    yield block
  }
  let lastTag = 0
  for (const tag of usedTags) lastTag = Math.max(lastTag, tag)
  const tags = Array.from({ length: lastTag }, (_, place) => (usedTags.has(place + 1) ? table.tagNumbers.tagOf(place + 1) : null))
  yield encodeText(JSON.stringify(tags))
  for (const { deleted, segments } of audiences) {
    yield* writeNumbers(deleted)
    for (const { words, starts, ends, postings } of segments) {
      for (const numbers of [words, starts, ends, postings]) yield* writeNumbers(numbers)
    }
  }
  for (let at = 0; at < hidden.length; at += HIDDEN_A_PART) yield writeHidden(hidden.slice(at, at + HIDDEN_A_PART))
}

function* readKind(index: KindIndex): Taking<void> {
  const { table } = index
  const head = kindHead.parse(JSON.parse(decodeText(yield)))
  table.reserve(head.capacity, head)
  table.types.push(...head.types)
  const columns = table.allColumns().filter(({ numbers }) => numbers.length > 0)
  for (let from = 0; from < head.capacity; from += SLOTS_A_BLOCK) {
    putBlock(columns, from, Math.min(head.capacity, from + SLOTS_A_BLOCK), yield)
  }
  table.tagNumbers.load(tagList.parse(JSON.parse(decodeText(yield))))
  const audiences: HeldAudience[] = []
  for (const { audience, deleted, segments } of head.audiences) {
    const slots = yield* readNumbers(deleted)
    const read: Segment[] = []
    for (const { words, postings } of segments) {
      read.push({
        words: yield* readNumbers(words),
        starts: yield* readNumbers(words),
        ends: yield* readNumbers(words),
        postings: yield* readNumbers(postings),
      })
    }
    audiences.push({ audience, deleted: slots, segments: read })
  }
  const hidden: HiddenItem[] = []
  while (hidden.length < head.hidden) hidden.push(...readHidden(yield))
  index.complete(audiences, hidden)
}

/** Views of the numbers: nothing is copied. */
function* writeNumbers(numbers: Uint32Array): Generator<Uint8Array> {
  for (let at = 0; at < numbers.length; at += NUMBERS_A_PART) {
    const part = numbers.subarray(at, at + NUMBERS_A_PART)
    yield new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
  }
}

function* readNumbers(length: number): Taking<Uint32Array> {
  const numbers = new Uint32Array(length)
  const bytes = new Uint8Array(numbers.buffer)
  for (let at = 0; at < bytes.length; ) {
    const part = yield
    if (part.length === 0) throw new RangeError('a list of numbers ends early')
    bytes.set(part, at)
    at += part.length
  }
  return numbers
}

/** How many items; their owners, slots and numbers of words; then all words, and all field codes. */
function writeHidden(items: readonly HiddenItem[]): Uint8Array {
  const heads = items.flatMap(({ owner, slot, words }) => [owner, slot, words.length])
  const total = items.reduce((sum, { words }) => sum + words.length, 0)
  const numbers = new Uint32Array(1 + heads.length + total)
  numbers[0] = items.length
  numbers.set(heads, 1)
  const bytes = new Uint8Array(numbers.byteLength + total)
  let at = 1 + heads.length
  let codesAt = numbers.byteLength
  for (const { words, codes } of items) {
    numbers.set(words, at)
    bytes.set(codes, codesAt)
    at += words.length
    codesAt += codes.length
  }
  bytes.set(new Uint8Array(numbers.buffer))
  return bytes
}

function readHidden(part: Uint8Array): HiddenItem[] {
  const items = toNumbers(part.subarray(0, 4))[0] ?? 0
  const heads = toNumbers(part.subarray(4, 4 + items * 12))
  let at = 4 + items * 12
  let codesAt = at
  for (let place = 0; place < items; place++) codesAt += 4 * (heads[place * 3 + 2] ?? 0)
  return Array.from({ length: items }, (_, place) => {
    const [owner = 0, slot = 0, length = 0] = heads.subarray(place * 3, place * 3 + 3)
    const item = { owner, slot, words: toNumbers(part.subarray(at, at + 4 * length)), codes: part.slice(codesAt, codesAt + length) }
    at += 4 * length
    codesAt += length
    return item
  })
}

/** A copy, at whatever place the bytes are. */
function toNumbers(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer)
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
