import type { RevisionCaches } from '../../cache/revision-cache.ts'
import type { ReadCollected } from '../collections/collected-rows.ts'

/** Row numbers of all cached collections together; each takes four bytes. */
const MAX_ROWS = 2_000_000
/** What a collection takes beside them, in row numbers. */
const COLLECTION_SIZE = 50

/** Reads what is in collections once for each revision of the library. It is the same for every reader: who sees what is decided afterwards. */
export function cacheCollected(read: ReadCollected, caches: RevisionCaches): ReadCollected {
  const cache = caches.create<Uint32Array>(MAX_ROWS)
  return async (collectionSeqs) => {
    if (collectionSeqs.length === 0) return new Map()
    const revision = await caches.refresh()
    const rows = new Map(collectionSeqs.flatMap((seq) => [[seq, cache.get(String(seq))] as const]).filter(isCached))
    const missing = collectionSeqs.filter((seq) => !rows.has(seq))
    if (missing.length === 0) return rows
    for (const [seq, items] of await read(missing)) {
      rows.set(seq, items)
      cache.put(revision, String(seq), items, items.length + COLLECTION_SIZE)
    }
    return rows
  }
}

function isCached(entry: readonly [number, Uint32Array | undefined]): entry is [number, Uint32Array] {
  return entry[1] !== undefined
}
