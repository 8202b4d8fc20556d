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
  const kept = new Map<string, { readonly record: SessionRecord; readonly untilMs: number }>()
  return {
    get(sha256: string): SessionRecord | undefined {
      const known = kept.get(sha256)
      return known && known.untilMs > performance.now() ? known.record : undefined
    },
    async read(sha256: string): Promise<SessionRecord | null> {
      kept.delete(sha256)
      const found = await store.sessions.findSession(sha256, idleMs)
      if (!found) return null
      const declared = initializeRequest.safeParse(JSON.parse(found.initialize)).data?.params.capabilities
      const record = { owner: found.owner, canAsk: canAskByForm(declared), holder: found.holder }
      if (store.instances.isShared) return record
      const oldest = kept.size >= MAX_RECORDS ? kept.keys().next().value : undefined
      if (oldest !== undefined) kept.delete(oldest)
      kept.set(sha256, { record, untilMs: performance.now() + RECORD_MS })
      return record
    },
    forget: (sha256: string) => kept.delete(sha256),
  }
}
