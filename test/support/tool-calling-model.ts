import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { listenHere } from './children.ts'

/** A model for programs that call tools only when a model tells them to: it has them save a prompt once, then says that it is done. */
export interface ToolCallingModel {
  readonly url: string
  close(): Promise<void>
}

/** What a program asks its model, so that it saves a prompt of that title: letters, digits and hyphens. */
export function askToSave(title: string): string {
  return `save_as:${title}`
}

/** Starts it on a free port, with the streams of Anthropic's Messages and of Google's generateContent. */
export async function startToolCallingModel(): Promise<ToolCallingModel> {
  const server = createServer(async (asked, answer) => {
    let body = ''
    for await (const chunk of asked) body += chunk
    const tool = /"name":"(\w*save_prompt)"/.exec(body)?.[1]
    const title = /save_as:([\w-]+)/.exec(body)?.[1]
    const isOver = /"tool_result"|"functionResponse"/.test(body)
    const call = tool === undefined || title === undefined || isOver ? null : { tool, args: { title, content: 'Saved by a program.' } }
    const { pathname } = new URL(asked.url ?? '/', 'http://127.0.0.1')
    if (pathname === '/v1/messages') return streamMessage(answer, call)
    if (pathname.endsWith(':streamGenerateContent')) return streamContent(answer, call)
    answer.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return {
    url: `http://127.0.0.1:${await listenHere(server)}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface ToolCall {
  readonly tool: string
  readonly args: object
}

function streamMessage(answer: ServerResponse, call: ToolCall | null): void {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'stub', content: [], stop_reason: null, stop_sequence: null, usage }
  const block = call ? { type: 'tool_use', id: 'toolu_1', name: call.tool, input: {} } : { type: 'text', text: '' }
  const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) } : { type: 'text_delta', text: 'Done.' }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  answer.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

function streamContent(answer: ServerResponse, call: ToolCall | null): void {
  const part = call ? { functionCall: { name: call.tool, args: call.args } } : { text: 'Done.' }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  const said = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }], usageMetadata }
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  answer.end(`data: ${JSON.stringify(said)}\n\n`)
}
