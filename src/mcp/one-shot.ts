import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server'
import { describeMetaFault, type RequestMessage } from './messages.ts'

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
/** Time limit of a request, above that of every operation. */
const ANSWER_WITHIN_MS = 300_000

/**
 * Answers one request of the 2025 era without a session: with a server and a transport for this message alone. Notifications of the server
 * are dropped: nobody listens.
 */
export async function answerOnce(mcp: McpServer, { id, method, params }: RequestMessage): Promise<object | null> {
  const { promise, resolve } = Promise.withResolvers<JSONRPCMessage | null>()
  const transport: Transport = {
    start: async () => {},
    send: async (answer) => {
      if ('id' in answer && !('method' in answer)) resolve(answer)
    },
    close: async () => resolve(null),
  }
  await mcp.connect(transport)
  const fail = (code: number, message: string) =>
    resolve({ jsonrpc: '2.0', id: 1, error: { code, message, data: { code: 'invalid_input' } } })
  // The SDK drops invalid messages without an answer; it only reports them here.
  mcp.server.onerror = () => fail(INVALID_PARAMS, describeMetaFault(params) ?? `The params of ${method.slice(0, 80)} are not valid.`)
  const deadline = setTimeout(() => fail(INTERNAL_ERROR, 'The response timed out.'), ANSWER_WITHIN_MS)
  // The SDK accepts only integers as numeric ids, and drops others without an answer.
  transport.onmessage?.({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) })
  try {
    const answer = await promise
    return answer === null ? null : { ...answer, id }
  } finally {
    clearTimeout(deadline)
    await mcp.close()
  }
}
