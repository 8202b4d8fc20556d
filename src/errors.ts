/**
 * The closed list of error codes. Each transport completes a full map from it
 * (HTTP status, MCP, exit code), so that adding a line here makes the compiler ask for the rest.
 */
export const ERROR_CODES = {
  invalid_input: 'A field is missing, malformed or out of range; the message names it.',
  unauthenticated: 'The call needs an API key and has none.',
  invalid_api_key: 'The API key is malformed, unknown, expired or revoked.',
  forbidden: 'The caller is not allowed to do this: not the owner, a missing scope, or a foreign origin or host.',
  not_found: 'Nothing with this id or slug is visible to the caller.',
  method_not_allowed: 'The path does not support this HTTP method; see the Allow header.',
  conflict: 'The item changed meanwhile, or the name is taken. Read it again and retry.',
  too_large: 'The body or the resulting text exceeds its limit.',
  unsupported_media_type: 'The body is not application/json.',
  rate_limited: 'Too many calls; wait for the time in Retry-After.',
  upstream_failed: 'An upstream service failed.',
  unavailable: 'The service is starting, stopping or overloaded; retry later.',
  internal: 'Unexpected error; find the request id in the log.',
} as const

/** One code of the closed list {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES

/** One refused field: `path` as the caller wrote it (`files[2].filename`), `message` a sentence. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

/** The faults that keep a library from being used. */
export type StorageFault = 'full' | 'readonly' | 'io' | 'damaged' | 'moved' | 'unreachable' | 'other'

/** The one error callers are meant to see: a code to act on and a sentence to read. Never holds a secret or a prompt's text. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[]
  /** When a caller may try again, where that is known. */
  readonly retryAfterSeconds: number | undefined
  /** For figures: what is wrong with the library, where that is it. */
  readonly fault: StorageFault | undefined

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: readonly ErrorDetail[]; retryAfterSeconds?: number; fault?: StorageFault; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fault = options.fault
  }
}

/** Refuses one field with `invalid_input`. @example throw invalidInput('title', 'title is blank; give it a name.') */
export function invalidInput(path: string, message: string): AppError {
  return new AppError('invalid_input', message, { details: [{ path, message }] })
}

/** Anything thrown, as an {@link AppError}: itself, or `internal` with the original as cause. */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError ? error : new AppError('internal', 'Internal error', { cause: error })
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set(['invalid_input', 'forbidden', 'not_found', 'conflict', 'too_large'])

/** Whether an error is about the one thing that was asked for, so that the next may go well. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && REFUSALS.has(error.code)
}
