import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import { type AppError, type ErrorCode, toAppError } from '../errors.ts'

/** JSON-RPC codes (jsonrpc.org/specification#error_object): bad parameters, and internal error. */
const JSON_RPC_CODES: Partial<Record<ErrorCode, number>> = { invalid_input: -32602, not_found: -32602, internal: -32603 }
/** The code of the server's own errors. */
const SERVER_ERROR = -32000

/** The JSON-RPC error a client of prompts/list or prompts/get sees. */
export function toProtocolError(error: AppError): ProtocolError {
  return new ProtocolError(JSON_RPC_CODES[error.code] ?? SERVER_ERROR, error.message, { code: error.code })
}

/** A failed tool call as the model sees it: a sentence to read and a code to act on. */
export function toToolError(error: AppError): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify({ error: error.message, code: error.code }) }], isError: true }
}

/** The body of an answer that is not 2xx: a JSON-RPC error, with the request's id when it was read. */
export function toErrorBody(
  error: unknown,
  requestId: string,
  id: string | number | null = null,
  code?: number,
): { jsonrpc: '2.0'; id: string | number | null; error: { code: number; message: string; data: { code: ErrorCode; requestId: string } } } {
  const shown = toAppError(error)
  return {
    jsonrpc: '2.0',
    id,
    error: { code: code ?? JSON_RPC_CODES[shown.code] ?? SERVER_ERROR, message: shown.message, data: { code: shown.code, requestId } },
  }
}
