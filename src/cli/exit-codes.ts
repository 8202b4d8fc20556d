import type { ErrorCode } from '../errors.ts'

/** Exit status of each error code, after sysexits.h where it has one. */
export const EXIT_CODES = {
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
} as const satisfies Record<ErrorCode, number>

/** The meaning of each exit status, for the reference. */
export const EXIT_STATUSES: Readonly<Record<0 | 1 | 2 | (typeof EXIT_CODES)[ErrorCode], string>> = {
  0: 'Done.',
  1: 'Partly done: an import or an embedding model rejected entries, each named on stderr. Or `doctor` or `check` found something.',
  2: '`check` could not be made.',
  64: 'Usage error: an unknown command or option, a missing argument, or an invalid value.',
  65: 'The input is too large or has an unsupported type.',
  66: 'The item, user, key or library does not exist or is not visible to you.',
  69: 'The library, a model or another server is unavailable, the port is in use, or Node is too old.',
  70: 'Unexpected error; see stderr for details.',
  75: 'Conflict or limit: the item changed meanwhile, the name is taken, or a limit is reached.',
  77: 'The API key is missing or invalid, or lacks permission.',
}
