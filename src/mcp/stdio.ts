import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Binding } from './dispatcher.ts'
import { filterLines } from './stdio-lines.ts'

/** How long answers may still take after stdin has ended. */
const FINISH_WITHIN_MS = 10_000
/** Idle turns of the event loop after which no message is between reading and answering. */
const IDLE_TURNS = 5

/**
 * Serves MCP over stdin and stdout until stdin ends and all requests are answered. Nothing else may write to stdout. Resolves when the
 * connection has closed.
 */
export async function serveOverStdio(buildServer: (binding: Binding) => McpServer, binding: Binding): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  let underWay = 0
  const counted: Binding = {
    ...binding,
    async invoke(...call) {
      underWay++
      try {
        return await binding.invoke(...call)
      } finally {
        underWay--
      }
    },
  }
  // The SDK's transport cancels open requests when its input ends; this one finishes them.
  const lines = process.stdin.pipe(filterLines((line) => process.stdout.write(line)))
  const input = lines.pipe(new PassThrough(), { end: false })
  const connection = serveStdio(() => buildServer(counted), {
    transport: new StdioServerTransport(input, process.stdout),
    onerror: (error) => process.stderr.write(`${error.message}\n`),
  })
  await ended
  const deadline = performance.now() + FINISH_WITHIN_MS
  for (let idle = 0; idle < IDLE_TURNS && performance.now() < deadline; idle = underWay > 0 ? 0 : idle + 1) await nextTurn()
  await connection.close()
}
