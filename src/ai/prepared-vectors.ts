import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** Two folders below the root, as the sources and the built program both stand. */
const FILE = new URL('../../assets/starter-vectors.json', import.meta.url)

/** Vectors in base64 by the digest of their item's text, both as a library stores them in `item_vector`. */
const preparedVectors = z.object({ model: z.string(), vectors: z.record(z.string(), z.base64()) })

/**
 * The vectors of the starter library that come with the program, by digest; none without the file, or for another model.
 * @param onRemark is called when the file cannot be read; its vectors are then made like any others
 */
export function loadPreparedVectors(model: string, onRemark: (message: string) => void, file: URL = FILE): ReadonlyMap<string, Int8Array> {
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
