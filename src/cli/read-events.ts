/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Reads server-sent events (html.spec.whatwg.org, 9.2) as they come; comments are skipped, and so is an event that is cut off. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const utf8 = new TextDecoder()
  let buffer = ''
  for await (const chunk of chunks) {
    buffer = (buffer + utf8.decode(chunk, { stream: true })).replaceAll('\r\n', '\n')
    for (let end = buffer.indexOf('\n\n'); end !== -1; end = buffer.indexOf('\n\n')) {
      const found = readEvent(buffer.slice(0, end))
      buffer = buffer.slice(end + 2)
      if (found) yield found
    }
  }
}

function readEvent(block: string): ServerEvent | null {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?(.*)$/.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length > 0 ? { event, data: data.join('\n') } : null
}
