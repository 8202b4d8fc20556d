// Encodes in a thread of its own: a long item takes half a second of processor time, which the event loop does not have.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { EncodedQuery, ItemText } from '../domain/ports/encoder.ts'
import type { Request, ThreadData, ThreadMessage } from './encoder.ts'
import { describeFault, enclose, finish, type Model, openModel, planWindows, poolWindows, QUERY_TOKENS } from './model.ts'

/** Where each kind of text works, so that a query can be encoded between two layers of an item. */
const ITEM_PLACE = 0
const QUERY_PLACE = 1

type Query = Extract<Request, { query: string }>
type Item = Extract<Request, { item: ItemText }>

function encodeQuery({ pieces, encode }: Model, text: string): EncodedQuery {
  const { ids, words, knownWords } = pieces.cut(text, QUERY_TOKENS)
  return { vector: finish(encode(enclose(ids), QUERY_PLACE)), knownShare: words === 0 ? 0 : knownWords / words }
}

/** Each step takes a layer of a window. */
function* encodeItem({ pieces, encode }: Model, item: ItemText): Generator<undefined, Int8Array> {
  const windows = planWindows(pieces, item)
  const vectors: Float32Array[] = []
  for (const window of windows) vectors.push(yield* encode(window, ITEM_PLACE))
  return poolWindows(
    vectors,
    windows.map((window) => window.length),
  )
}

/** Answers requests until the thread ends: queries first, and between any two layers of an item. */
function answerRequests(port: MessagePort, model: Model): void {
  const queries: Query[] = []
  const items: Item[] = []
  const post = (message: ThreadMessage) => port.postMessage(message)
  const enqueue = (request: Request) => ('query' in request ? queries.push(request) : items.push(request))
  const answerQueries = () => {
    for (;;) {
      for (let found = receiveMessageOnPort(port); found; found = receiveMessageOnPort(port)) enqueue(found.message)
      const query = queries.shift()
      if (!query) return
      const isLate = Date.now() >= query.endsAt
      post({ kind: 'query', number: query.number, answer: isLate ? null : encodeQuery(model, query.query) })
    }
  }
  port.on('message', (request: Request) => {
    enqueue(request)
    answerQueries()
    for (let item = items.shift(); item; item = items.shift()) {
      const work = encodeItem(model, item.item)
      let step = work.next()
      for (; !step.done; step = work.next()) answerQueries()
      post({ kind: 'item', number: item.number, answer: step.value })
      answerQueries()
    }
  })
  post({ kind: 'ready' })
}

function start(port: MessagePort): void {
  const { file, model }: ThreadData = workerData
  let opened: Model
  try {
    opened = openModel(file, model)
  } catch (error) {
    port.postMessage({ kind: 'broken', reason: describeFault(error) } satisfies ThreadMessage)
    return
  }
  answerRequests(port, opened)
}

if (parentPort) start(parentPort)
