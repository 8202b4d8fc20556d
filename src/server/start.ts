import type { Logger } from 'pino'
import type { App } from '../app.ts'
import { createHttpApp, type HttpOptions, type ServerSettings } from './http-app.ts'
import { listen } from './listen.ts'

/** How long open requests may finish after a stop was asked for. */
const DRAIN_MS = 5_000

/** A server that listens; `close` lets open requests finish for a moment. */
export interface RunningServer {
  close(): Promise<void>
}

/** Starts listening. @throws AppError `unavailable` when the port is taken or not allowed */
export async function startServer(
  app: App,
  settings: ServerSettings,
  logger: Logger,
  options: Pick<HttpOptions, 'extras'> = {},
): Promise<RunningServer> {
  let isReady = true
  const http = createHttpApp(app, settings, logger, { ...options, isReady: () => isReady })
  const server = await listen({ host: settings.HOST, port: settings.PORT }, http.pipeline, http.turns)
  app.embeddings?.start((message) => logger.warn(message))
  const stopListening = app.listen(http.receive)
  return {
    async close() {
      isReady = false
      await app.embeddings?.stop()
      await http.close()
      await stopListening()
      await new Promise<void>((resolve) => {
        const giveUp = setTimeout(() => {
          server.closeAllConnections()
        }, DRAIN_MS)
        server.close(() => {
          clearTimeout(giveUp)
          resolve()
        })
        server.closeIdleConnections()
      })
    },
  }
}
