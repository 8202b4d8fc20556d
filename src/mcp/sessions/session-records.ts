import { LRUCache } from 'lru-cache'
import type { SessionLimits } from '../../library/ports/sessions.ts'
import type { LibraryStore } from '../../library/ports/store.ts'
import { canAskByForm } from '../ask-variables.ts'
import { initializeRequest } from '../messages.ts'

/** Lifetime and size of the cache. Most requests of a session come close together. */
const RECORD_MS = 30_000
const MAX_RECORDS = 2_000

/** A session's record as requests need it. */
interface SessionRecord {
  readonly owner: string
  readonly canAsk: boolean
  readonly holder: string | null
}

/** Caches session records. A store that several processes share is read every time. */
export function createRecordCache(store: Pick<LibraryStore, 'sessions' | 'instances'>, { idleMs }: SessionLimits) {
  const cache = new LRUCache<string, SessionRecord>({ max: MAX_RECORDS, ttl: RECORD_MS })
  return {
    get(sha256: string): SessionRecord | undefined {
      return cache.get(sha256)
    },
    async read(sha256: string): Promise<SessionRecord | null> {
      cache.delete(sha256)
      const found = await store.sessions.findSession(sha256, idleMs)
      if (!found) return null
      const declared = initializeRequest.safeParse(JSON.parse(found.initialize)).data?.params.capabilities
      const record = { owner: found.owner, canAsk: canAskByForm(declared), holder: found.holder }
      if (store.instances.isShared) return record
      cache.set(sha256, record)
      return record
    },
    forget: (sha256: string) => cache.delete(sha256),
  }
}
