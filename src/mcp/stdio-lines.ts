import { Transform, type TransformCallback } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { asRequest, describeFault, describeMetaFault, idOf, isMessage, isObject, toResponse } from './messages.ts'

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const INVALID_PARAMS = -32602
/** Longest line taken, in UTF-16 units: a skill of 8 MiB in base64 fits. */
const MAX_LINE = 64 * 1024 * 1024

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
  const refuse = (code: number, message: string, id: string | number | null = null) =>
    answer(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data: { code: 'invalid_input' } } })}\n`)
  /** The line to pass on, or null when it was answered here. */
  const admit = (line: string): string | null => {
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      refuse(PARSE_ERROR, 'This is not JSON.')
      return null
    }
    if (Array.isArray(value)) {
      refuse(INVALID_REQUEST, 'Batches are not supported over stdio. Send one message at a time.')
      return null
    }
    if (!isMessage(value) || !isObject(value)) {
      refuse(INVALID_REQUEST, describeFault(value), idOf(value))
      return null
    }
    if (!('method' in value)) return JSON.stringify(toResponse(value))
    const request = asRequest(value)
    if (!request) return JSON.stringify({ jsonrpc: '2.0', method: value['method'], params: value['params'] })
    if (typeof request.id === 'number' && !Number.isSafeInteger(request.id)) {
      refuse(INVALID_REQUEST, 'This is not a JSON-RPC 2.0 message: id must be a string or an integer.', request.id)
      return null
    }
    const fault = describeMetaFault(request.params)
    if (fault === null) return JSON.stringify(request)
    refuse(INVALID_PARAMS, fault, request.id)
    return null
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
