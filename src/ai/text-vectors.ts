import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Encoder, ItemText, TextVectors } from '../domain/ports/encoder.ts'

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
