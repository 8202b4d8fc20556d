import { createServer, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { answerEmbeddings, fail } from './embedding-stub.ts'

/**
 * A server that speaks OpenAI's protocol as a program of its own, for tests. How it behaves is the model's name in the request.
 * Prints its address. `GET /log` tells what it was sent, and whether the caller left before the end.
 */

const body = z.object({
  model: z.string(),
  stream: z.literal(true),
  max_tokens: z.number(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})
type Body = z.infer<typeof body>

interface Entry {
  readonly model: string
  readonly messages: Body['messages']
  readonly maxTokens: number
  readonly authorization: string | null
  readonly at: number
  hasLeft: boolean
  isDone: boolean
}

interface Call {
  readonly entry: Entry
  readonly response: ServerResponse
  /** How many requests this model had before this one. */
  readonly earlier: number
  /** The prompt between its delimiters, as the last question has it. */
  readonly prompt: string
}

const log: Entry[] = []

function begin(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' })
}

function chunk(choice: object): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'stub', choices: [{ index: 0, ...choice }] })}\n\n`
}

/** Writes text as a model does, in small pieces. */
function write(response: ServerResponse, text: string): void {
  begin(response)
  for (let at = 0; at < text.length; at += 40)
    response.write(chunk({ delta: { role: 'assistant', content: text.slice(at, at + 40) }, finish_reason: null }))
}

function end(response: ServerResponse, reason = 'stop'): void {
  response.end(`${chunk({ delta: {}, finish_reason: reason })}data: [DONE]\n\n`)
}

function answer(response: ServerResponse, text: string): void {
  write(response, text)
  end(response)
}

/** Answers at once and not as a stream. */
function answerAtOnce(response: ServerResponse, content: string, reason = 'stop'): void {
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reason }] }))
}

/** Writes one piece again and again until the caller leaves. */
async function writeForever(response: ServerResponse, piece: string): Promise<void> {
  while (!response.destroyed) {
    response.write(piece)
    await sleep(1)
  }
}

const BEHAVIOURS: Readonly<Record<string, (call: Call) => void | Promise<void>>> = {
  normal: ({ response, prompt }) => answer(response, `You are an expert.\n\n${prompt}\n`),
  echo: ({ response, entry }) => answer(response, entry.messages.map(({ role, content }) => `[${role}]\n${content}`).join('\n')),
  'at-once': ({ response, prompt }) => answerAtOnce(response, `All: ${prompt}`),
  'at-once-too-long': ({ response }) => answerAtOnce(response, 'You are', 'length'),
  'at-once-garbage': ({ response }) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"choices": []}'),
  'at-once-huge': ({ response }) => writeForever(response.writeHead(200, { 'Content-Type': 'application/json' }), ' '.repeat(100_000)),
  thinking: ({ response, prompt }) => answer(response, `<think>What does this want?\n</think>\n\nDone: ${prompt}`),
  async slow({ response, prompt }) {
    for (let i = 0; i < 2_000 && !response.destroyed; i++) {
      write(response, `${i} `)
      await sleep(100)
    }
    answer(response, prompt)
  },
  /** Every third word in capitals, variables and others as they are. */
  edits: ({ response, prompt }) =>
    answer(
      response,
      prompt
        .split(' ')
        .map((word, at) => (at % 3 === 1 && !word.includes('$') ? word.toUpperCase() : word))
        .join(' '),
    ),
  async 'half-a-second'({ response, prompt }) {
    await sleep(500)
    answer(response, prompt)
  },
  'busy-once': ({ response, earlier, prompt }) =>
    earlier === 0 ? fail(response, 429, 'Slow down', { 'Retry-After': '1' }) : answer(response, `After waiting: ${prompt}`),
  'busy-for-long': ({ response }) => fail(response, 429, 'Slow down', { 'Retry-After': '3600' }),
  'broken-once': ({ response, earlier, prompt }) => (earlier === 0 ? fail(response, 503, 'Starting') : answer(response, prompt)),
  broken: ({ response, entry }) => fail(response, 500, `Fault with ${entry.authorization} on ${entry.messages.at(-1)?.content}`),
  'bad-key': ({ response, entry }) => fail(response, 401, `Incorrect API key provided: ${entry.authorization}`),
  elsewhere: ({ response }) => void response.writeHead(307, { Location: '/v1/elsewhere' }).end(),
  garbage: ({ response }) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Welcome to the proxy</html>'),
  'garbage-events'({ response }) {
    begin(response)
    response.end('data: {"nonsense": \n\ndata: 42\n\n')
  },
  'error-event'({ response }) {
    begin(response)
    response.end(`data: ${JSON.stringify({ error: { message: 'out of memory', type: 'server_error', code: 500 } })}\n\n`)
  },
  async cut({ response }) {
    write(response, 'You are an expert and')
    await sleep(50)
    response.destroy()
  },
  'cut-quietly'({ response }) {
    write(response, 'You are an expert and')
    response.end()
  },
  'too-long'({ response }) {
    write(response, 'You are an expert and')
    end(response, 'length')
  },
  filtered({ response }) {
    begin(response)
    end(response, 'content_filter')
  },
  async huge({ response }) {
    while (!response.destroyed) {
      write(response, 'word '.repeat(8))
      if (response.writableLength > 1_000_000) await sleep(5)
    }
  },
  async 'huge-line'({ response }) {
    begin(response)
    response.write('data: ')
    await writeForever(response, 'x'.repeat(100_000))
  },
  never: () => {},
  blank: ({ response, earlier, prompt }) => answer(response, earlier === 0 ? ' \n ' : prompt),
  json: ({ response }) => answer(response, '```json\n{"role": "writer", "task": "write"}\n```'),
  'bad-json-once': ({ response, earlier }) => answer(response, earlier === 0 ? '{"role": "writer", }' : '{"role": "writer"}'),
  'bad-json': ({ response }) => answer(response, 'Sure! {"role": "writer"}'),
  yaml: ({ response }) => answer(response, '```yaml\nrole: writer\ntask: write\n```'),
  'bad-yaml-once': ({ response, earlier }) => answer(response, earlier === 0 ? 'role: "writer' : 'role: writer'),
  /** Behaves as the end of the prompt says, such as `[edits]`, for tests that share a service. */
  'by-text'(call) {
    const name = /\[([a-z-]+)\]\s*$/.exec(call.prompt)?.[1] ?? 'normal'
    const earlier = log.slice(0, log.indexOf(call.entry)).filter(({ messages }) => findPrompt(messages) === call.prompt).length
    return BEHAVIOURS[name]?.({ ...call, earlier })
  },
  'forgets-once': ({ response, earlier, prompt }) => answer(response, earlier === 0 ? 'Write it well.' : `Write it well: ${prompt}`),
  /** A judge passes what says `good`, by its criterion alone; else the last line of the prompt is the answer. */
  tests({ response, entry }) {
    const asked = entry.messages.at(-1)?.content ?? ''
    const isJudge = asked.startsWith('<criterion-')
    const passed = /<answer-[^>]*>\n[^<]*good/.test(asked)
    answer(response, isJudge ? JSON.stringify({ passed, reason: 'Because.' }) : (asked.split('\n').at(-1) ?? ''))
  },
  forgets: ({ response }) => answer(response, 'Write it well.'),
}

/** The prompt between its delimiters, without the one the last line of the question names. */
function findPrompt(messages: Body['messages']): string {
  const question = messages.find((message) => message.role === 'user')?.content ?? ''
  return /<prompt-([a-z0-9]+)>\n([\s\S]*)\n<\/prompt-\1>\n\nWrite/.exec(question)?.[2] ?? ''
}

const server = createServer(async (request, response) => {
  if (request.url === '/log') {
    response.end(JSON.stringify(log))
    return
  }
  if (await answerEmbeddings(request, response)) return
  if (request.url !== '/v1/chat/completions') {
    log.push({ model: request.url ?? '', messages: [], maxTokens: 0, authorization: null, at: Date.now(), hasLeft: false, isDone: true })
    fail(response, 404, 'No such address')
    return
  }
  const { model, messages, max_tokens: maxTokens } = body.parse(await json(request))
  const authorization = request.headers.authorization ?? null
  const entry: Entry = { model, messages, maxTokens, authorization, at: Date.now(), hasLeft: false, isDone: false }
  const earlier = log.filter((one) => one.model === model).length
  log.push(entry)
  response.on('error', () => {})
  response.once('finish', () => {
    entry.isDone = true
  })
  response.once('close', () => {
    entry.hasLeft = !entry.isDone
  })
  // What comes after a colon tells apart the tests that want the same behaviour.
  const behave = BEHAVIOURS[model.split(':')[0] ?? '']
  if (behave) await behave({ entry, response, earlier, prompt: findPrompt(messages) })
  else fail(response, 404, `The model ${model} does not exist`)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  process.stdout.write(`http://127.0.0.1:${address.port}\n`)
})
