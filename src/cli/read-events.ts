import { AppError } from '../errors.ts'

/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Longest event taken, in UTF-16 units: an improved prompt and its original fit many times over. */
export const MAX_EVENT = 1024 * 1024

/**
 * Reads server-sent events (html.spec.whatwg.org, 9.2) as they come; comments are skipped, and so is an event that is cut off.
 * Every unit is looked at once, however the chunks are cut.
 * @throws AppError `upstream_failed` for an event that does not end within {@link MAX_EVENT}
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const utf8 = new TextDecoder()
  let lines: string[] = []
  let line = ''
  let size = 0
  let endedWithReturn = false
  for await (const chunk of chunks) {
    const decoded = utf8.decode(chunk, { stream: true })
    if (decoded === '') continue
    const text = endedWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    endedWithReturn = decoded.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\r|\n/)
    line += first
    size += first.length
    for (const next of rest) {
      if (line !== '') lines.push(line)
      else {
        const found = readEvent(lines)
        lines = []
        size = 0
        if (found) yield found
      }
      line = next
      size += next.length
      refuseLong(size)
    }
    refuseLong(size)
  }
}

function refuseLong(size: number): void {
  if (size > MAX_EVENT) throw new AppError('upstream_failed', `The answer has an event of more than ${MAX_EVENT} characters.`)
}

function readEvent(lines: readonly string[]): ServerEvent | null {
  let event = 'message'
  const data: string[] = []
  for (const line of lines) {
    const [, field, value = ''] = /^([a-z]+):? ?(.*)$/.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length > 0 ? { event, data: data.join('\n') } : null
}
