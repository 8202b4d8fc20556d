import type { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Binding } from './server-factory.ts'

/** Serves MCP over stdin and stdout until stdin ends. Nothing else may write to stdout. Resolves when the connection has closed. */
export async function serveOverStdio(buildServer: (binding: Binding) => McpServer, binding: Binding): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  const connection = serveStdio(() => buildServer(binding), { onerror: (error) => process.stderr.write(`${error.message}\n`) })
  await ended
  await connection.close()
}
