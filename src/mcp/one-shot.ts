import type { JSONRPCMessage, JSONRPCRequest, McpServer, Transport } from '@modelcontextprotocol/server'

/**
 * Answers one request of the 2025 era without a session: a server and a transport that live for this message alone.
 * What the server says besides its answer is dropped: nobody listens.
 */
export async function answerOnce(server: McpServer, request: JSONRPCRequest): Promise<JSONRPCMessage | null> {
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage | null>()
  const transport: Transport = {
    start: async () => {},
    send: async (answer) => {
      if ('id' in answer && !('method' in answer)) resolve(answer)
    },
    close: async () => resolve(null),
  }
  await server.connect(transport)
  transport.onmessage?.(request)
  try {
    return await promise
  } finally {
    await server.close()
  }
}
