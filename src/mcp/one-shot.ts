import type { JSONRPCMessage, McpServer, Transport } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { RequestMessage } from './messages.ts'

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
/** No request may hold its place for ever. Longer than any operation takes: the setting for improving prompts ends below it. */
const ANSWER_WITHIN_MS = 300_000

/**
 * Answers one request of the 2025 era without a session: a server and a transport that live for this message alone.
 * What the server says besides its answer is dropped: nobody listens.
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
  // What its schemas do not take the SDK drops without an answer; it only says so here.
  mcp.server.onerror = () => fail(INVALID_PARAMS, `The params of ${method.slice(0, 80)} are not valid.`)
  const deadline = setTimeout(() => fail(INTERNAL_ERROR, 'The answer took too long.'), ANSWER_WITHIN_MS)
  // The SDK takes whole numbers for ids only, and drops a message with any other without an answer.
  transport.onmessage?.({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) })
  try {
    const answer = await promise
    return answer === null ? null : tidyError({ ...answer, id }, method)
  } finally {
    clearTimeout(deadline)
    await mcp.close()
  }
}

const METHOD_NOT_FOUND = -32601

const errorAnswer = z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }) })
const issues = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number()])), expected: z.string().optional(), message: z.string() }))
  .min(1)
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['array', 'a list'],
])

/** The SDK's errors in our own words: one sentence about the first fault in place of all that its validator says, and always a code. */
function tidyError(answer: object, method: string): object {
  const failed = errorAnswer.safeParse(answer).data
  if (!failed) return answer
  const { code, message, data } = failed.error
  if (code === METHOD_NOT_FOUND) {
    return { ...failed, error: { code, message: `There is no method "${method.slice(0, 80)}".`, data: { code: 'not_found' } } }
  }
  const start = message.indexOf('[')
  const first = start === -1 ? undefined : readIssues(message.slice(start))
  if (first) return { ...failed, error: { code: INVALID_PARAMS, message: describeIssue(first), data: { code: 'invalid_input' } } }
  if (typeof data === 'object' && data !== null && 'code' in data) return answer
  return { ...failed, error: { code, message, data: { ...Object(data), code: code === INTERNAL_ERROR ? 'internal' : 'invalid_input' } } }
}

function describeIssue({ path, expected, message }: z.infer<typeof issues>[number]): string {
  const place = path.join('.') || 'params'
  if (message.endsWith('received undefined')) return `${place} is required.`
  const type = TYPE_NAMES.get(expected ?? '')
  return type === undefined ? `${place} is not valid.` : `${place} must be ${type}.`
}

function readIssues(text: string): z.infer<typeof issues>[number] | undefined {
  try {
    return issues.safeParse(JSON.parse(text)).data?.[0]
  } catch {
    return undefined
  }
}
