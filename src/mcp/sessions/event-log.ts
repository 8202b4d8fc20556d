import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** Messages kept for one session whose client may reconnect. */
const MAX_EVENTS = 100
/** Bytes of messages kept over all sessions of the process. */
const MAX_BYTES = 64 * 1024 * 1024

interface LoggedEvent {
  readonly id: string
  readonly stream: string
  readonly number: number
  readonly message: JSONRPCMessage
  readonly bytes: number
}

/** Makes event logs that share one budget: where it is passed, the oldest messages go first, whosever they are. */
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
    /** The last messages of one session, so that a client whose stream broke can go on from the last it saw (Last-Event-ID). */
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
            // A priming event holds no message: it only gave the client a place to go on from.
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
    /** Drops all messages: one may hold a text that was deleted for good. A client that comes back goes on from now. */
    forget() {
      for (const log of logs) while (log.length > 0) drop(log)
    },
  }
}
