import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { jsonAnswer } from '../exchange.ts'
import type { BoundRoute } from './route.ts'

/** How long the library may take to answer before it counts as not answering. */
const CHECK_MS = 2_000

/** How the provider of embeddings does: `off` when there is none. When it does not answer, search does without. */
type EmbeddingsState = 'ok' | 'degraded' | 'off'

/** How the encoder does: `embedding` while it starts or items lack a vector, `fallback` when search works without it. */
type EncoderState = 'embedding' | 'ready' | 'fallback' | 'off'

/** The checks of `/readyz`. */
export interface Readiness {
  /** Rejects when the library cannot be used: an AppError `unavailable` says why. */
  check(): Promise<void>
  /** Resolves when search has read the library. */
  loadSearch(): Promise<void>
  /** Whether search leaves words out, as they do not fit into memory. */
  isSearchCut(): boolean
  /** False while stopping. */
  isReady(): boolean
  embeddings(): EmbeddingsState
  encoder(): EncoderState
  /** Called when the library does not respond. */
  onFault(error: AppError): void
}

/** `/healthz`: the process answers. `/readyz`: it can serve, and what serves less well than it could. */
export function healthRoutes({ check, loadSearch, isSearchCut, isReady, embeddings, encoder, onFault }: Readiness): BoundRoute[] {
  let isSearchLoaded = false
  const look = async () => {
    await check()
    if (isSearchLoaded) return
    await loadSearch()
    isSearchLoaded = true
  }
  /** One look at a time, however often somebody asks: a library that does not answer is not asked again and again. */
  let looking: Promise<void> | null = null
  const lookOnce = () => {
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
  return [
    { method: 'GET', path: '/healthz', kind: 'probe', cost: 0, handle: () => jsonAnswer({ status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      kind: 'probe',
      cost: 0,
      async handle() {
        if (!isReady()) return jsonAnswer({ status: 'stopping' }, 503)
        const late = new AbortController()
        const tooLate = sleep(CHECK_MS, 'late', { signal: late.signal, ref: false }).catch(() => 'late')
        try {
          const outcome = await Promise.race([lookOnce(), tooLate])
          if (outcome !== 'late') {
            const search = isSearchCut() ? 'degraded' : 'ready'
            return jsonAnswer({ status: 'ready', search, embeddings: embeddings(), encoder: encoder() })
          }
          return isSearchLoaded
            ? jsonAnswer({ status: 'unavailable', reason: 'The library is not responding.' }, 503)
            : jsonAnswer({ status: 'starting', search: 'loading' }, 503)
        } catch (error) {
          const unavailable = error instanceof AppError && error.code === 'unavailable' ? error : null
          onFault(unavailable ?? new AppError('unavailable', 'The library is not responding.', { cause: error }))
          return jsonAnswer({ status: 'unavailable', reason: unavailable?.message ?? 'The library is not responding.' }, 503)
        } finally {
          late.abort()
        }
      },
    },
  ]
}
