import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Messages kept for a client that reconnects, over all streams of one session. */
const MAX_EVENTS = 200
/** Bytes of messages kept, about. */
const MAX_BYTES = 4 * 1024 * 1024

/** The last messages of one session, so that a client whose stream broke can go on from the last it saw (Last-Event-ID). */
export function createEventLog(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage; bytes: number }[] = []
  let count = 0
  let bytes = 0
  return {
    async storeEvent(stream, message) {
      const event = { id: `${stream}_${++count}`, stream, message, bytes: JSON.stringify(message).length }
      events.push(event)
      bytes += event.bytes
      while (events.length > MAX_EVENTS || (bytes > MAX_BYTES && events.length > 1)) bytes -= events.shift()?.bytes ?? 0
      return event.id
    },
    async getStreamIdForEventId(id) {
      const separator = id.lastIndexOf('_')
      return separator > 0 && events.some((event) => event.stream === id.slice(0, separator)) ? id.slice(0, separator) : undefined
    },
    async replayEventsAfter(lastId, { send }) {
      const stream = lastId.slice(0, lastId.lastIndexOf('_'))
      const last = Number(lastId.slice(lastId.lastIndexOf('_') + 1))
      for (const event of [...events]) {
        const number = Number(event.id.slice(event.id.lastIndexOf('_') + 1))
        // A priming event holds no message: it only gave the client a place to go on from.
        if (event.stream === stream && number > last && Object.keys(event.message).length > 0) await send(event.id, event.message)
      }
      return stream
    },
  }
}
