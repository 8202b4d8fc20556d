import { createParser } from 'eventsource-parser'
import { AppError } from '../errors.ts'

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Longest event taken, in UTF-16 units: an improved prompt and its original fit many times over. */
export const MAX_EVENT = 1024 * 1024

/**
 * Reads server-sent events as they come; comments and an event that is cut off are skipped.
 * @throws AppError `upstream_failed` for an event that does not end within {@link MAX_EVENT}
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const utf8 = new TextDecoder()
  let events: ServerEvent[] = []
  let isTooLong = false
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ event = 'message', data }) => events.push({ event, data }),
    onError(error) {
      isTooLong ||= error.type === 'max-buffer-size-exceeded'
    },
  })
  for await (const chunk of chunks) {
    parser.feed(utf8.decode(chunk, { stream: true }))
    yield* events
    events = []
    if (isTooLong) throw new AppError('upstream_failed', `The response contains an event of more than ${MAX_EVENT} characters.`)
  }
}
