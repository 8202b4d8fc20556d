import { PassThrough, Transform, type TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { isObject } from '../domain/text/json.ts'
import type { Binding } from './dispatcher.ts'
import { asRequest, describeFault, describeMetaFault, idOf, isMessage, toResponse } from './messages.ts'

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
/** Longest line taken, in UTF-16 units: a skill of 8 MiB in base64 fits. */
const MAX_LINE = 64 * 1024 * 1024
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

/**
 * Filters JSON-RPC lines for the SDK's transport, which drops invalid messages without an answer: they are answered here, unknown members
 * are removed, and a malformed response becomes a failed one.
 * @param answer writes a line to the client
 */
export function filterLines(answer: (line: string) => void): Transform {
  const decoder = new StringDecoder('utf8')
  /** The pieces of the current line: a long one is joined once. */
  let pieces: string[] = []
  let length = 0
  const begin = (text: string) => {
    pieces = text === '' ? [] : [text]
    length = text.length
  }
  const refuse = (code: number, message: string, id: string | number | null = null): null => {
    answer(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data: { code: 'invalid_input' } } })}\n`)
    return null
  }
  /** The line to pass on, or null when it was answered here. */
  const admit = (line: string): string | null => {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      return refuse(PARSE_ERROR, 'This is not JSON.')
    }
    if (Array.isArray(value)) return refuse(INVALID_REQUEST, 'Batches are not supported over stdio. Send one message at a time.')
    if (!isMessage(value) || !isObject(value)) return refuse(INVALID_REQUEST, describeFault(value), idOf(value))
    if (!('method' in value)) return JSON.stringify(toResponse(value))
    const request = asRequest(value)
    if (!request) return JSON.stringify({ jsonrpc: '2.0', method: value['method'], params: value['params'] })
    if (typeof request.id === 'number' && !Number.isSafeInteger(request.id)) {
      return refuse(INVALID_REQUEST, 'This is not a JSON-RPC 2.0 message: id must be a string or an integer.', request.id)
    }
    const fault = describeMetaFault(request.params)
    return fault === null ? JSON.stringify(request) : refuse(INVALID_PARAMS, fault, request.id)
  }
  const take = (stream: Transform, line: string) => {
    const admitted = line.trim() === '' ? null : admit(line)
    if (admitted !== null) stream.push(`${admitted}\n`)
  }
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      const [first = '', ...lines] = decoder.write(chunk).split('\n')
      pieces.push(first)
      length += first.length
      const last = lines.pop()
      if (last !== undefined) {
        take(this, pieces.join(''))
        for (const line of lines) take(this, line)
        begin(last)
      }
      if (length > MAX_LINE) {
        begin('')
        refuse(INVALID_REQUEST, `A message can have up to ${MAX_LINE} characters.`)
      }
      done()
    },
    flush(done: TransformCallback) {
      take(this, pieces.join(''))
      done()
    },
  })
}
