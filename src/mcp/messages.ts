import { z } from 'zod'

const messageId = z.union([z.string(), z.number()])
const params = z.record(z.string(), z.unknown()).optional()

/** A JSON-RPC 2.0 request (jsonrpc.org/specification): its id is a text or a number, never null. */
export const requestMessage = z.object({ jsonrpc: z.literal('2.0'), id: messageId, method: z.string(), params })
const notificationMessage = z.object({ jsonrpc: z.literal('2.0'), method: z.string(), params })
const responseMessage = z.object({ jsonrpc: z.literal('2.0'), id: messageId, method: z.never().optional() })

/** What a client says when it no longer wants an answer. */
export const cancelledNotification = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: messageId }),
})

/** The request that opens a connection of the 2025 era, as far as it matters here. */
export const initializeRequest = z.object({
  method: z.literal('initialize'),
  params: z.looseObject({
    protocolVersion: z.string(),
    capabilities: z.looseObject({ elicitation: z.looseObject({}).optional() }).default({}),
  }),
})

/** Whether a value is a JSON-RPC message at all: a request, a notification, or a response. */
export function isMessage(value: unknown): boolean {
  if (requestMessage.safeParse(value).success || responseMessage.safeParse(value).success) return true
  return notificationMessage.safeParse(value).success && !hasId(value)
}

function hasId(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'id' in value
}

/** The id an answer to `value` carries; null where none can be read. */
export function idOf(value: unknown): string | number | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null
  return messageId.safeParse(value.id).data ?? null
}

/** Whether a client takes an answer as a stream of events. */
export function takesStream(accept: string | null): boolean {
  return /text\/event-stream/i.test(accept ?? '')
}

/** Whether a client takes an answer as JSON; one that says nothing does. */
export function takesJson(accept: string | null): boolean {
  return !accept || accept.split(',').some((range) => /^\s*(\*\/\*|application\/(\*|json))\s*(;|$)/i.test(range))
}
