import { setTimeout as sleep } from 'node:timers/promises'
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import type { Signals } from './dialect.ts'
import { FIRST_RETRY_MS, MOST_RETRY_MS } from './postgres-connections.ts'

/** The channel instances listen to. */
const CHANNEL = 'commonplace'
/** The only statement of a connection that listens. */
export const LISTEN = `listen ${CHANNEL}`

/** Signals between instances by LISTEN and NOTIFY, over a connection of its own that is reopened when it breaks. */
export function createSignals(config: pg.ClientConfig): Signals {
  return {
    async send(db, text) {
      await db.executeQuery(CompiledQuery.raw('select pg_notify($1, $2)', [CHANNEL, text]))
    },
    listen(onSignal) {
      const stopping = new AbortController()
      const listen = async () => {
        for (let delayMs = FIRST_RETRY_MS; !stopping.signal.aborted; delayMs = Math.min(delayMs * 2, MOST_RETRY_MS)) {
          const client = new pg.Client(config)
          const ended = new Promise<void>((resolve) => {
            client.on('error', () => resolve())
            client.on('end', resolve)
            stopping.signal.addEventListener('abort', () => resolve(), { once: true })
          })
          try {
            await client.connect()
            client.on('notification', ({ payload }) => onSignal(payload ?? null))
            await client.query(LISTEN)
            delayMs = FIRST_RETRY_MS
            // Signals may have been missed until now.
            onSignal(null)
            await ended
          } catch {
            // Tried again below.
          }
          await client.end().catch(() => {})
          await sleep(delayMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
        }
      }
      const listening = listen()
      return async () => {
        stopping.abort()
        await listening
      }
    },
  }
}
