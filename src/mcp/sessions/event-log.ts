import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Messages stored for one session. */
const MAX_EVENTS = 100
/** Bytes of stored messages of all sessions of the process. */
const MAX_BYTES = 64 * 1024 * 1024

interface LoggedEvent {
  readonly id: string
  readonly stream: string
  readonly number: number
  readonly message: JSONRPCMessage
  readonly bytes: number
}

/** Creates event logs with one shared budget. Beyond it the oldest messages of all are dropped. */
export function createEventLogs(maxBytes: number = MAX_BYTES): { open(): EventStore & { end(): void }; forget(): void } {
  const logs = new Set<LoggedEvent[]>()
  let bytes = 0
  let count = 0
  const drop = (log: LoggedEvent[]) => {
    bytes -= log.shift()?.bytes ?? 0
  }
  const dropOldest = () => {
    let oldest: LoggedEvent[] | undefined
    for (const log of logs) if (log[0] && log[0].number < (oldest?.[0]?.number ?? Number.POSITIVE_INFINITY)) oldest = log
    if (oldest) drop(oldest)
    return oldest !== undefined
  }
  return {
    /** The last messages of one session, for a client that resumes a broken stream (Last-Event-ID). */
    open() {
      const log: LoggedEvent[] = []
      logs.add(log)
      return {
        async storeEvent(stream, message) {
          const number = ++count
          const event = { id: `${stream}_${number}`, stream, number, message, bytes: Buffer.byteLength(JSON.stringify(message)) }
          log.push(event)
          bytes += event.bytes
          while (log.length > MAX_EVENTS) drop(log)
          while (bytes > maxBytes && dropOldest());
          return event.id
        },
        async getStreamIdForEventId(id) {
          const stream = id.slice(0, Math.max(0, id.lastIndexOf('_')))
          return log.some((event) => event.stream === stream) ? stream : undefined
        },
        async replayEventsAfter(lastId, { send }) {
          const separator = lastId.lastIndexOf('_')
          const stream = lastId.slice(0, separator)
          const last = Number(lastId.slice(separator + 1))
          for (const event of [...log]) {
            // A priming event has no message: it only gave the client an id to resume from.
            if (event.stream === stream && event.number > last && Object.keys(event.message).length > 0) await send(event.id, event.message)
          }
          return stream
        },
        end() {
          while (log.length > 0) drop(log)
          logs.delete(log)
        },
      }
    },
    /** Drops all messages: one may contain purged text. A client that reconnects resumes from now. */
    forget() {
      for (const log of logs) while (log.length > 0) drop(log)
    },
  }
}
