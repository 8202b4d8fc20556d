import type { ErrorCode } from '../errors.ts'

/** What each exit status means, for the reference. */
export const EXIT_STATUSES: Readonly<Record<number, string>> = {
  0: 'Done.',
  1: 'Done in part: an import refused entries, or a model refused texts to embed, each named on stderr. Or `doctor` found faults.',
  64: 'The command line is wrong: an unknown command or option, a missing argument, or a value that is not allowed.',
  65: 'The input is too large, or of a kind that is not taken.',
  66: 'The item, user, key or library does not exist, or you may not see it.',
  69: 'The library, a model or another server could not be used, the port is taken, or Node is too old.',
  70: 'An unexpected fault; stderr has the details.',
  75: 'Not now: somebody changed it first, the name is taken, or a limit is reached.',
  77: 'The key is missing, wrong, or not enough.',
}

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
