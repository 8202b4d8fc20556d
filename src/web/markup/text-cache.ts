import { createHash } from 'node:crypto'

/** Texts made from other texts, the least used forgotten first. */
export interface TextCache {
  /** What is kept for these parts, or what `make` makes of them now; null is kept, too, and undefined is null for now. */
  find(parts: readonly string[], make: () => Promise<string | null | undefined>): Promise<string | null>
}

/** @param maxLength of all texts kept together, in UTF-16 units */
export function createTextCache(maxLength: number): TextCache {
  const kept = new Map<string, string | null>()
  let length = 0
  const forget = (key: string) => {
    length -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return {
    async find(parts, make) {
      const hash = createHash('sha256')
      for (const part of parts) hash.update(`${part.length}:`).update(part)
      const key = hash.digest('base64')
      const known = kept.get(key)
      if (known !== undefined) {
        // Put in again, it is the last that is forgotten.
        kept.delete(key)
        kept.set(key, known)
        return known
      }
      const made = await make()
      if (made === undefined) return null
      forget(key)
      kept.set(key, made)
      length += made?.length ?? 0
      for (const oldest of kept.keys()) {
        if (length <= maxLength && kept.size <= MAX_ENTRIES) break
        forget(oldest)
      }
      return made
    },
  }
}

/** Short texts take room beside their length. */
const MAX_ENTRIES = 2000
