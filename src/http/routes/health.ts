import type { Hono } from 'hono'
import type { HttpEnv } from '../rest.ts'

/** `/healthz`: the process answers. `/readyz`: it can serve. `isReady` false while stopping. */
export function addHealthRoutes(app: Hono<HttpEnv>, check: () => Promise<void>, isReady: () => boolean): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    try {
      if (!isReady()) return c.json({ status: 'stopping' }, 503)
      await check()
      return c.json({ status: 'ready' })
    } catch {
      return c.json({ status: 'unavailable', reason: 'the library does not answer' }, 503)
    }
  })
}
