import type { ClientOfRequest } from '../../library/client-of-request.ts'
import type { Needs } from '../core/define-operation.ts'

/** Where a call came from; nothing is known of calls that are made here. */
export function clientOf(context: Needs): ClientOfRequest {
  return context.client ?? { address: '', caller: '', userAgent: null, cookies: '' }
}
