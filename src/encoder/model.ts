/// <reference path="./web-assembly.d.ts" />
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { ItemText } from '../domain/ports/encoder.ts'
import { createVocabulary, createWordPieces, type Vocabulary, type WordPieces } from './word-pieces.ts'

/** The file of the encoder, as `scripts/make-encoder.ts` writes it: a header, the compiled kernel, the vocabulary, the weights. */
export const FILE_NAME = 'all-minilm-l6-v2.bin'
/** Size of the header, in bytes. */
const HEADER_BYTES = 128

const MAGIC = 'CPENCODE'
const FORMAT = 1
/** Where the texts of the header stand, and how long they may be. */
const MODEL_AT = 32
const RECIPE_AT = 64
const TEXT_BYTES = { model: 32, recipe: 64 }

/** The header of the file. */
export interface WeightsHeader {
  /** Names weights and pooling: at most 32 ASCII characters. */
  readonly model: string
  /** SHA-256 of what the file was made from, as hex. */
  readonly recipe: string
  /** CRC-32 of everything after the header. */
  readonly crc: number
  readonly kernelBytes: number
  readonly vocabularyBytes: number
  readonly weightsBytes: number
}

/** Size of the whole file, in bytes. */
function fileBytes({ kernelBytes, vocabularyBytes, weightsBytes }: WeightsHeader): number {
  return HEADER_BYTES + kernelBytes + vocabularyBytes + weightsBytes
}

/** The header as bytes. */
export function writeHeader(header: WeightsHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 'latin1')
  const numbers = [FORMAT, header.crc, header.kernelBytes, header.vocabularyBytes, header.weightsBytes]
  for (const [place, number] of numbers.entries()) bytes.writeUInt32LE(number, MAGIC.length + place * 4)
  bytes.write(header.model, MODEL_AT, TEXT_BYTES.model, 'latin1')
  bytes.write(header.recipe, RECIPE_AT, TEXT_BYTES.recipe, 'latin1')
  return bytes
}

/** Reads a header. @throws Error when the bytes are none, or of another format */
function readHeader(bytes: Buffer): WeightsHeader {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it is not a file of the encoder')
  const numbers = Array.from({ length: 5 }, (_, place) => bytes.readUInt32LE(MAGIC.length + place * 4))
  const [format, crc = 0, kernelBytes = 0, vocabularyBytes = 0, weightsBytes = 0] = numbers
  if (format !== FORMAT) throw new Error(`it has format ${format}, not ${FORMAT}`)
  const readText = (at: number, length: number) => bytes.toString('latin1', at, at + length).replace(/\0+$/, '')
  return {
    model: readText(MODEL_AT, TEXT_BYTES.model),
    recipe: readText(RECIPE_AT, TEXT_BYTES.recipe),
    crc,
    kernelBytes,
    vocabularyBytes,
    weightsBytes,
  }
}

/** Raised when the same weights give items other vectors: a part of the model's name. */
export const POOLING = 1
/** Numbers in a vector. */
export const DIMENSIONS = 384
/** Tokens of a window, without the two that enclose it. */
export const WINDOW_TOKENS = 126
/** Tokens of a query that count: beyond, its meaning hardly changes, but its time grows. */
export const QUERY_TOKENS = 62
const MAX_WINDOWS = 3
/** Tokens of a title that count, so that it leaves room for the text. */
const TITLE_TOKENS = 32
/** The length that is looked at, in UTF-16 units: more than windows of prose need, and little enough to be copied to a thread. */
const MAX_LENGTH = { title: 1_000, text: 32_000, query: 2_000 }
const CLASSIFY = 101
const SEPARATE = 102
const MAX_INTEGER = 127

/** The part of an item that its vector depends on. */
export function shortenItem({ title, text }: ItemText): ItemText {
  return { title: title.slice(0, MAX_LENGTH.title), text: text.slice(0, MAX_LENGTH.text) }
}

/** The part of a query that its vector depends on. */
export function shortenQuery(text: string): string {
  return text.slice(0, MAX_LENGTH.query)
}

/** Encloses tokens as the model was trained with. */
export function enclose(ids: readonly number[]): number[] {
  return [CLASSIFY, ...ids, SEPARATE]
}

/** The windows of an item, one to three: tokens of the title, then of the next part of the text. */
export function planWindows(pieces: WordPieces, item: ItemText): readonly number[][] {
  const { title, text } = shortenItem(item)
  const titleIds = pieces.cut(title, TITLE_TOKENS).ids
  const size = WINDOW_TOKENS - titleIds.length
  const { ids } = pieces.cut(text, MAX_WINDOWS * size)
  const count = Math.max(1, Math.ceil(ids.length / size))
  return Array.from({ length: count }, (_, window) => enclose([...titleIds, ...ids.slice(window * size, (window + 1) * size)]))
}

/**
 * An item's vector from those of its windows: the first plus the mean of all, weighted by their tokens. The first says what the item is about.
 * @param vectors of unit length
 * @param tokens of each window
 * @returns integers from -127 to 127, the largest of which is 127 or -127
 */
export function poolWindows(vectors: readonly Float32Array[], tokens: readonly number[]): Int8Array {
  const all = tokens.reduce((sum, count) => sum + count, 0)
  const pooled = new Float64Array(DIMENSIONS)
  for (const [window, vector] of vectors.entries()) {
    const weight = (window === 0 ? 1 : 0) + (tokens[window] ?? 0) / all
    for (const [place, value] of vector.entries()) pooled[place] = (pooled[place] ?? 0) + weight * value
  }
  const largest = pooled.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
  return Int8Array.from(pooled, (value) => Math.round((value / largest) * MAX_INTEGER))
}

/** A text in work: each step takes a layer of the model, and the last gives the vector, of unit length. */
export type Encoding = Generator<undefined, Float32Array>

/** The model, loaded. */
export interface Model {
  readonly pieces: WordPieces
  /**
   * Begins to encode 2 to 128 tokens.
   * @param place where it works. Two texts can be in work at once, each in its own place
   */
  encode(tokens: readonly number[], place: 0 | 1): Encoding
}

/** The exports of the compiled kernel. Addresses are offsets in its memory. */
interface Kernel {
  scratchBytes(): number
  layerBytes(): number
  tokensOffset(): number
  vectorOffset(): number
  embed(table: number, positions: number, norm: number, scratch: number, tokens: number, vocabulary: number): void
  layer(weights: number, scratch: number, tokens: number): void
  pool(scratch: number, tokens: number): void
}

const LAYERS = 6
const MAX_TOKENS = 128
const PAGE = 65_536
/** The compiler's own data end below. */
const WEIGHTS_AT = PAGE
const FLOAT = 4

/** Reads the header of a file. @throws Error when the file is missing, damaged or of another length than the header says */
export function inspectFile(file: string): WeightsHeader {
  return withFile(file, (descriptor) => {
    const header = readHeader(readBytes(descriptor, Buffer.alloc(HEADER_BYTES), 0))
    const { size } = fstatSync(descriptor)
    if (size !== fileBytes(header)) throw new Error(`it has ${size} bytes instead of ${fileBytes(header)}`)
    return header
  })
}

/**
 * Loads the model. The weights are read straight into the kernel's memory, so that they are in memory once.
 * @param model the model that the file must have
 * @throws Error when the file is missing, damaged or of another model
 */
export function openModel(file: string, model: string): Model {
  const header = inspectFile(file)
  if (header.model !== model) throw new Error('it was replaced by that of another model')
  return withFile(file, (descriptor) => {
    const { kernelBytes, vocabularyBytes, weightsBytes } = header
    const front = readBytes(descriptor, Buffer.alloc(kernelBytes + vocabularyBytes), HEADER_BYTES)
    const memory = new WebAssembly.Memory({ initial: pagesFor(weightsBytes), maximum: pagesFor(weightsBytes) + 2 * SCRATCH_PAGES })
    readBytes(descriptor, new Uint8Array(memory.buffer, WEIGHTS_AT, weightsBytes), HEADER_BYTES + front.length)
    if (crc32(new Uint8Array(memory.buffer, WEIGHTS_AT, weightsBytes), crc32(front)) !== header.crc)
      throw new Error('its checksum is wrong')
    const kernel = startKernel(front.subarray(0, kernelBytes), memory)
    const vocabulary = createVocabulary(front.toString('utf8', kernelBytes))
    return createModel(kernel, memory, vocabulary, weightsBytes)
  })
}

/** Upper bound of the memory that one text in work needs. */
const SCRATCH_PAGES = 64
const pagesFor = (bytes: number) => Math.ceil((WEIGHTS_AT + bytes) / PAGE)

function startKernel(bytes: Uint8Array<ArrayBuffer>, memory: WebAssembly.Memory): Kernel {
  const imports = {
    env: {
      memory,
      abort() {
        throw new Error('the kernel failed')
      },
    },
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports)
  if (!isKernel(exports)) throw new Error('its kernel is not that of this program')
  return exports
}

const KERNEL_FUNCTIONS = [
  'scratchBytes',
  'layerBytes',
  'tokensOffset',
  'vectorOffset',
  'embed',
  'layer',
  'pool',
] as const satisfies readonly (keyof Kernel)[]

function isKernel(exports: object): exports is Kernel {
  return KERNEL_FUNCTIONS.every((name) => typeof Reflect.get(exports, name) === 'function')
}

function createModel(kernel: Kernel, memory: WebAssembly.Memory, vocabulary: Vocabulary, weightsBytes: number): Model {
  const row = DIMENSIONS * FLOAT
  const positions = WEIGHTS_AT + vocabulary.size * (FLOAT + DIMENSIONS)
  const norm = positions + MAX_TOKENS * row
  const layers = norm + 2 * row
  const layerBytes = kernel.layerBytes()
  if (layers + LAYERS * layerBytes !== WEIGHTS_AT + weightsBytes) throw new Error('its weights are not those of its kernel')
  const scratchPages = Math.ceil(kernel.scratchBytes() / PAGE)
  const first = pagesFor(weightsBytes) * PAGE
  // Growing detaches every array that was taken of the memory before.
  memory.grow(2 * scratchPages)
  return {
    pieces: createWordPieces(vocabulary),
    *encode(tokens, place) {
      const count = tokens.length
      if (count < 2 || count > MAX_TOKENS) throw new RangeError(`A text has 2 to ${MAX_TOKENS} tokens, not ${count}.`)
      const scratch = first + place * scratchPages * PAGE
      new Uint32Array(memory.buffer, scratch + kernel.tokensOffset(), count).set(tokens)
      kernel.embed(WEIGHTS_AT, positions, norm, scratch, count, vocabulary.size)
      for (let layer = 0; layer < LAYERS; layer++) {
        kernel.layer(layers + layer * layerBytes, scratch, count)
        yield
      }
      kernel.pool(scratch, count)
      return new Float32Array(memory.buffer, scratch + kernel.vectorOffset(), DIMENSIONS).slice()
    },
  }
}

/** Why a file cannot be used, as the end of a sentence. */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error) return error.code === 'ENOENT' ? 'it is missing' : `it cannot be read (${error.code})`
  return error.message
}

/** The vector of an encoding, with all of its steps taken at once. */
export function finish(encoding: Encoding): Float32Array {
  for (;;) {
    const step = encoding.next()
    if (step.done) return step.value
  }
}

function withFile<T>(file: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'r')
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Fills `bytes` from a place of the file. */
function readBytes<T extends Uint8Array>(descriptor: number, bytes: T, place: number): T {
  for (let at = 0; at < bytes.length; ) {
    const count = readSync(descriptor, bytes, at, bytes.length - at, place + at)
    if (count === 0) throw new Error('it ends too early')
    at += count
  }
  return bytes
}
