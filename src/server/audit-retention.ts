import { setImmediate as nextTurn } from 'node:timers/promises'
import type { App } from '../app.ts'

const DAY_MS = 86_400_000
/** How often old events are looked for. */
const EVERY_MS = DAY_MS
/** Events of one transaction, between which others write. */
const EVENTS_A_BATCH = 500

/** What removes old events of the audit log. */
export interface AuditRetention {
  /** Ends it, after the batch that is being removed. */
  stop(): Promise<void>
}

/**
 * Removes events of the audit log that are older than `days`, now and once a day. Every instance does; what one has removed, another does not find.
 * @param days null keeps all
 */
export function startAuditRetention(
  { store, clock }: Pick<App, 'clock'> & { readonly store: Pick<App['store'], 'removeEvents'> },
  days: number | null,
  onFailure: (error: unknown) => void,
): AuditRetention {
  if (days === null) return { stop: async () => {} }
  let isStopped = false
  const removeOld = async () => {
    const before = new Date(clock() - days * DAY_MS).toISOString()
    while (!isStopped && (await store.removeEvents(before, EVENTS_A_BATCH)) === EVENTS_A_BATCH) await nextTurn()
  }
  let removing = removeOld().catch(onFailure)
  const timer = setInterval(() => {
    removing = removing.then(removeOld).catch(onFailure)
  }, EVERY_MS)
  timer.unref()
  return {
    async stop() {
      isStopped = true
      clearInterval(timer)
      await removing
    },
  }
}
