import type { Hono } from 'hono'
import type { HttpEnv } from '../rest.ts'

/** How the provider of embeddings does: `off` when there is none. When it does not answer, search does without. */
type EmbeddingsState = 'ok' | 'degraded' | 'off'

/** What `/readyz` asks. */
export interface Readiness {
  /** Rejects when the library does not answer. */
  check(): Promise<void>
  /** False while stopping. */
  isReady(): boolean
  embeddings(): EmbeddingsState
}

/** `/healthz`: the process answers. `/readyz`: it can serve, and what serves less well than it could. */
export function addHealthRoutes(app: Hono<HttpEnv>, { check, isReady, embeddings }: Readiness): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    try {
      if (!isReady()) return c.json({ status: 'stopping' }, 503)
      await check()
      return c.json({ status: 'ready', embeddings: embeddings() })
    } catch {
      return c.json({ status: 'unavailable', reason: 'the library does not answer' }, 503)
    }
  })
}
