import { type AppError, type ErrorCode, type ErrorDetail, toAppError } from '../errors.ts'

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

/** The one error shape of REST (contract, "REST"). */
interface ErrorBody {
  readonly error: ErrorCode
  readonly message: string
  readonly details?: readonly ErrorDetail[]
  readonly requestId: string
}

/** Headers that go with an error: how to authenticate on 401, when to try again on 429 and 503. */
export function errorHeaders(error: AppError): Record<string, string> {
  return {
    ...(HTTP_STATUS[error.code] === 401 ? { 'WWW-Authenticate': 'Bearer realm="commonplace"' } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) }),
  }
}

/** An error as REST shows it. */
export function toErrorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: error.code,
    message: error.message,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    requestId,
  }
}

/** Any thrown thing as REST shows it. */
export function toErrorResponse(thrown: unknown, requestId: string, headers: Record<string, string> = {}): Response {
  const error = toAppError(thrown)
  return Response.json(toErrorBody(error, requestId), {
    status: HTTP_STATUS[error.code],
    headers: { 'Cache-Control': 'no-store', ...errorHeaders(error), ...headers },
  })
}
