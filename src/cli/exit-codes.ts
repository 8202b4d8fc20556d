import type { ErrorCode } from '../errors.ts'

/** Exit status of each error code, after sysexits.h where it has one. */
export const EXIT_CODES: Record<ErrorCode, number> = {
  invalid_input: 64,
  unauthenticated: 77,
  invalid_api_key: 77,
  forbidden: 77,
  not_found: 66,
  method_not_allowed: 64,
  conflict: 75,
  too_large: 65,
  unsupported_media_type: 65,
  rate_limited: 75,
  upstream_failed: 69,
  unavailable: 69,
  internal: 70,
}
