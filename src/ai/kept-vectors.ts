import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Encoder, ItemText, TextVectors } from '../domain/ports/encoder.ts'
import { readWordVectors, type WordVectors } from '../search/vectors/word-vectors.ts'

/** Remembered vectors, of 384 bytes and a digest each: at most 4 MB. */
const MAX_REMEMBERED = 8_000

/** Vectors of an encoder's texts, remembered by the digest of the text. */
export function rememberVectors(encoder: Encoder): TextVectors {
  const remembered = new LRUCache<string, Int8Array>({ max: MAX_REMEMBERED })
  const encodeText = async (text: ItemText, signal: AbortSignal): Promise<Int8Array | null> => {
    const digest = createHash('sha256')
      .update(JSON.stringify([text.title, text.text]))
      .digest('base64')
    const known = remembered.get(digest)
    if (known) return known
    const made = signal.aborted ? null : ((await encoder.encodeItems([text], signal))?.[0] ?? null)
    if (made) remembered.set(digest, made)
    return made
  }
  return {
    model: encoder.model,
    encodeQuery: (text) => encoder.encodeQuery(text),
    async encodeTexts(texts, signal) {
      const vectors: (Int8Array | null)[] = []
      // One after the other: the encoder takes few texts at a time, and other work comes in between.
      for (const text of texts) vectors.push(await encodeText(text, signal))
      return vectors
    },
  }
}

/** Two folders below the root, as the sources and the built program both stand. */
const WORDS_FILE = new URL('../../assets/english-words.bin', import.meta.url)

let loaded: WordVectors | undefined

/** The word vectors that come with the program. @throws AppError `internal` when the file is damaged */
export function loadWordVectors(): WordVectors {
  loaded ??= readWordVectors(readFileSync(WORDS_FILE))
  return loaded
}

/** Two folders below the root, as the sources and the built program both stand. */
const PREPARED_FILE = new URL('../../assets/starter-vectors.json', import.meta.url)

/** Vectors in base64 by the digest of their item's text, both as a library stores them in `item_vector`. */
const preparedVectors = z.object({ model: z.string(), vectors: z.record(z.string(), z.base64()) })

/**
 * The vectors of the starter library that come with the program, by digest; none without the file, or for another model.
 * @param onRemark is called when the file cannot be read; its vectors are then made like any others
 */
export function loadPreparedVectors(
  model: string,
  onRemark: (message: string) => void,
  file: URL = PREPARED_FILE,
): ReadonlyMap<string, Int8Array> {
  const vectors = new Map<string, Int8Array>()
  try {
    const prepared = preparedVectors.parse(JSON.parse(readFileSync(file, 'utf8')))
    if (prepared.model !== model) return vectors
    for (const [digest, text] of Object.entries(prepared.vectors)) vectors.set(digest, Int8Array.from(Buffer.from(text, 'base64')))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) onRemark('assets/starter-vectors.json cannot be read: the vectors of the starter library are made again.')
  }
  return vectors
}
