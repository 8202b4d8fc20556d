import type { Ask } from './drive.ts'

/** What the requests name. */
export interface Library {
  readonly url: string
  /** Of a user that may have prompts improved. */
  readonly key: string
  readonly queries: readonly string[]
  readonly prompts: readonly { readonly id: string; readonly slug: string; readonly title: string }[]
}

/** A kind of request that is measured. */
export interface MeasuredRequest {
  readonly name: string
  /** Most that it may cost, as a multiple of the floor: 64 connections, the smallest library. */
  readonly budget?: number
  /** Most that the guard lets it cost while its budget is not met, as a multiple of the floor. Without it, three times the budget. */
  readonly guardLimit?: number
  /** It names one prompt: it must not become dearer as the library grows. */
  readonly isLookUp?: boolean
  /** The plain request that this is another form of, and the most it may cost as a multiple of that one. */
  readonly beside?: { readonly name: string; readonly limit: number }
  /** Somebody saves a public prompt every 50 ms meanwhile. */
  readonly isWhileSaving?: boolean
  makeAsks(library: Library): Ask[] | Promise<Ask[]>
  /** Gives requests that were never made before; those of `makeAsks` are then a sample of them, for `keepAnswered`. */
  makeNext?(library: Library): () => Ask
  /** Whether an answer is the whole of what was asked for. */
  isAnswer(body: string): boolean
}

/** As browsers ask for pages. */
export const HTML_HEADERS = { accept: 'text/html,application/xhtml+xml' }
export const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

export function callMcp(id: number, method: string, params?: object): Ask {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
  return { method: 'POST', path: '/api/mcp', headers: JSON_HEADERS, body }
}

export function callTool(id: number, name: string, args: object): Ask {
  return callMcp(id, 'tools/call', { name, arguments: args })
}

export function get(path: string, headers: Ask['headers'] = { accept: 'application/json' }): Ask {
  return { method: 'GET', path, headers }
}
