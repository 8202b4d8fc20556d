import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadPreparedVectors } from '../src/ai/kept-vectors.ts'
import type { Encoder, UnencodedItem, VectorModel } from '../src/domain/ports/encoder.ts'
import type { LibraryStore } from '../src/storage/store.ts'
import type { Place } from '../test/support/processes.ts'
import { LIBRARY_SEED, makeLibrary, openLibrary } from './library-files.ts'
import { readProcessorTime } from './processor-time.ts'
import { recombinePrompts, seededRandom } from './recombined-prompts.ts'

const NOISE_SEED = 20_261_123
/** Size of the noise beside the sum of three unit vectors, so that prompts made of the same three differ. */
const NOISE = 0.1
const ITEMS_A_LIST = 500
/** Numbers of the built-in encoder's vectors. */
const DIMENSIONS = 384

/** How the vectors of a library came about. */
export interface EncodingFigures {
  /** Prompts encoded in this run, and what that took, in seconds: by the clock, and of processor. */
  readonly encoded: number
  readonly seconds: number
  readonly cpuSeconds: number
}

/** Where the library of a size is. */
export function libraryPath(folder: string, size: number): string {
  return join(folder, `library-${size}.db`)
}

/**
 * Makes a library of `size` prompts in `folder`, each with its vector, at `libraryPath`. Real prompts are encoded once, and their vectors are
 * kept in `vectors.json` beside the libraries. A recombined prompt gets the normalised sum of the vectors of the three prompts it is made of and
 * a little noise, which is seeded.
 */
export async function makeEncodedLibrary(place: Place, folder: string, promptsFile: string, size: number): Promise<EncodingFigures> {
  const path = libraryPath(folder, size)
  await makeLibrary(place, path, promptsFile, size)
  const app = await openLibrary(path)
  try {
    if (!app.encoder) throw new Error('There is no encoder: ENCODER is off, or its weights are missing.')
    const store = app.store.itemVectors
    if ((await store.countVectors(app.encoder)).pending === 0) return { encoded: 0, seconds: 0, cpuSeconds: 0 }
    const sources = new Map<string, readonly string[]>()
    for await (const { title, sources: own } of recombinePrompts(promptsFile, size, LIBRARY_SEED)) sources.set(title, own)
    const real = await encodeReal(store, app.encoder, join(folder, 'vectors.json'), (title) => !sources.has(title))
    await deriveOthers(store, app.encoder, sources, real.byTitle)
    return real.figures
  } finally {
    await app.close()
  }
}

/** Goes through the items that have no vector, and saves those that `toVector` makes. */
async function saveEach(
  store: LibraryStore['itemVectors'],
  model: VectorModel,
  toVector: (item: UnencodedItem) => Int8Array | null | Promise<Int8Array | null>,
): Promise<void> {
  for (let upTo = await store.readLastChange(); upTo > 0; ) {
    const listed = await store.listUnencoded(model, { after: 0, upTo }, ITEMS_A_LIST)
    const made: { item: UnencodedItem; vector: Int8Array }[] = []
    for (const item of listed.items) {
      const vector = await toVector(item)
      if (vector) made.push({ item, vector })
    }
    await store.saveVectors(model, made)
    upTo = listed.upTo
  }
}

async function encodeReal(store: LibraryStore['itemVectors'], encoder: Encoder, file: string, isReal: (title: string) => boolean) {
  const cached = existsSync(file) ? loadPreparedVectors(encoder.model, () => {}, pathToFileURL(file)) : new Map<string, Int8Array>()
  const vectors = new Map(cached)
  const byTitle = new Map<string, Int8Array>()
  let [encoded, milliseconds, cpuMicroseconds] = [0, 0, 0]
  await saveEach(store, encoder, async ({ digest, text }) => {
    if (!isReal(text.title)) return null
    const [started, cpuBefore] = [performance.now(), readProcessorTime(process.pid)]
    const vector = vectors.get(digest) ?? (await encoder.encodeItems([text], new AbortController().signal))?.[0]
    if (!vector) throw new Error(`"${text.title}" could not be encoded.`)
    if (!vectors.has(digest)) {
      encoded++
      milliseconds += performance.now() - started
      cpuMicroseconds += readProcessorTime(process.pid) - cpuBefore
    }
    vectors.set(digest, vector)
    byTitle.set(text.title, vector)
    return vector
  })
  if (encoded > 0) writeVectors(file, encoder.model, vectors)
  return { byTitle, figures: { encoded, seconds: milliseconds / 1000, cpuSeconds: cpuMicroseconds / 1e6 } }
}

/** As `loadPreparedVectors` reads them. */
function writeVectors(file: string, model: string, vectors: ReadonlyMap<string, Int8Array>): void {
  const texts = Array.from(vectors, ([digest, vector]) => [digest, Buffer.from(vector).toString('base64')])
  writeFileSync(`${file}.unfinished`, JSON.stringify({ model, vectors: Object.fromEntries(texts) }))
  renameSync(`${file}.unfinished`, file)
}

async function deriveOthers(
  store: LibraryStore['itemVectors'],
  model: VectorModel,
  sources: ReadonlyMap<string, readonly string[]>,
  byTitle: ReadonlyMap<string, Int8Array>,
): Promise<void> {
  const random = seededRandom(NOISE_SEED)
  await saveEach(store, model, ({ text: { title } }) => {
    const own = (sources.get(title) ?? []).flatMap((source) => byTitle.get(source) ?? [])
    if (own.length === 0) throw new Error(`Nothing is known of what "${title}" is made of.`)
    return recombineVectors(own, random)
  })
}

/** The sum of some vectors, each of unit length, and noise; scaled as the encoder's are: the largest number is 127 or -127. */
export function recombineVectors(vectors: readonly Int8Array[], random: () => number): Int8Array {
  // Uniform numbers of this spread give a vector of about the length `NOISE`.
  const spread = NOISE * Math.sqrt(12 / DIMENSIONS)
  const sum = Float64Array.from({ length: DIMENSIONS }, () => (random() - 0.5) * spread)
  for (const vector of vectors) {
    const length = Math.hypot(...vector)
    for (const [place, value] of vector.entries()) sum[place] = (sum[place] ?? 0) + value / length
  }
  const largest = sum.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int8Array.from(sum, (value) => Math.round((value / largest) * 127))
}
