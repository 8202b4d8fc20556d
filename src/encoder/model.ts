/// <reference path="./web-assembly.d.ts" />
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { DIMENSIONS } from './pooling.ts'
import { createVocabulary, type Vocabulary } from './vocabulary.ts'
import { fileBytes, HEADER_BYTES, readHeader, type WeightsHeader } from './weights-file.ts'
import { createWordPieces, type WordPieces } from './word-pieces.ts'

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
