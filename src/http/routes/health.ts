import { jsonAnswer } from '../../exchange.ts'
import type { BoundRoute } from '../call.ts'

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
export function healthRoutes({ check, isReady, embeddings }: Readiness): BoundRoute[] {
  return [
    { method: 'GET', path: '/healthz', kind: 'probe', cost: 0, handle: () => jsonAnswer({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      kind: 'probe',
      cost: 0,
      async handle() {
        if (!isReady()) return jsonAnswer({ status: 'stopping' }, 503)
        try {
          await check()
        } catch {
          return jsonAnswer({ status: 'unavailable', reason: 'the library does not answer' }, 503)
        }
        return jsonAnswer({ status: 'ready', embeddings: embeddings() })
      },
    },
  ]
}
