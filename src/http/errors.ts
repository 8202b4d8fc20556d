import type { AppError, ErrorCode } from '../errors.ts'
import { type Answer, type AnswerHeaders, jsonAnswer } from '../exchange.ts'

/** HTTP status of each error code. */
export const HTTP_STATUS = {
  invalid_input: 400,
  unauthenticated: 401,
  invalid_api_key: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  upstream_failed: 502,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>

/** Headers that go with an error: how to authenticate on 401, when to try again on 429 and 503. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    ...(HTTP_STATUS[error.code] === 401 ? { 'www-authenticate': 'Bearer realm="commonplace"' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  }
}

/** An error in the one shape that REST shows (contract, "REST"). */
export function toErrorBody(error: AppError, requestId: string) {
  return {
    error: error.code,
    message: error.message,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    requestId,
  }
}

/** An error as a REST answer. */
export function toErrorAnswer(error: AppError, requestId: string, headers: AnswerHeaders = {}): Answer {
  return jsonAnswer(toErrorBody(error, requestId), HTTP_STATUS[error.code], {
    'cache-control': 'no-store',
    ...errorHeaders(error),
    ...headers,
  })
}
