import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { EncodedQuery, Encoder, ItemText } from '../domain/ports/encoder.ts'
import { describeFault, FILE_NAME, inspectFile, shortenItem, shortenQuery } from './model.ts'

/** How the encoder is made. */
export interface EncoderOptions {
  /** Called once, when the weights cannot be used, with a sentence for the log. */
  readonly onFault: (message: string) => void
  /** Path of the weights. Default: those of the build. */
  readonly file?: string
  /** Whether to load the weights now; otherwise with the first text. Default: false. */
  readonly startsNow?: boolean
  /** Wait before a thread that died is started again; doubles up to a minute. Default: 1,000. */
  readonly firstBackOffMs?: number
  /** Starts the thread. Default: a thread of `encoder-worker.ts`. */
  readonly startThread?: (options: WorkerOptions) => Worker
}

/** Two folders below the root, as the sources and the built program both stand. */
const FOLDER = new URL('../../dist/encoder/', import.meta.url)
/** Texts that may wait for the thread; more get null. */
const MAX_QUERIES = 64
const MAX_ITEMS = 64
/** Longest wait for a query's vector. */
const QUERY_MS = 1_000
const FIRST_BACK_OFF_MS = 1_000
const MAX_BACK_OFF_MS = 60_000
/** Remembered queries, and the longest of them in UTF-16 units: at most a megabyte. */
const MAX_REMEMBERED = 256
const MAX_REMEMBERED_LENGTH = 200
/** Memory of the thread's objects. The weights are outside of it. */
const LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 }

/** A request that was sent. */
interface Sent {
  readonly kind: 'query' | 'item'
  end(message: ThreadMessage | null): void
}

/**
 * The encoder in a thread of its own, at most one core. The thread keeps no process alive unless an answer is due.
 * A thread that dies is started again; meanwhile every vector is null. Weights that are missing or damaged leave it in `fallback` for good.
 */
export function createEncoder(options: EncoderOptions): Encoder {
  const file = options.file ?? fileURLToPath(new URL(FILE_NAME, FOLDER))
  const { startThread = startWorker, firstBackOffMs = FIRST_BACK_OFF_MS } = options
  const remembered = new LRUCache<string, EncodedQuery>({ max: MAX_REMEMBERED })
  const sent = new Map<number, Sent>()
  let thread: Worker | null = null
  /** Since when the thread is ready, by `performance.now()`. */
  let readySince: number | null = null
  let failures = 0
  let retry: NodeJS.Timeout | undefined
  let hasEnded = false
  let fault: string | null = null
  let numbers = 0

  const breakDown = (reason: string) => {
    if (fault !== null || hasEnded) return
    fault = `The encoder cannot use its weights at ${file}: ${reason}. Search works without it; build or install again.`
    options.onFault(fault)
  }
  let model = ''
  try {
    model = inspectFile(file).model
  } catch (error) {
    breakDown(describeFault(error))
  }

  /** Whether the thread is there, or can be started now. */
  const isUsable = () => fault === null && !hasEnded && retry === undefined
  const endAll = () => {
    for (const { end } of sent.values()) end(null)
    sent.clear()
  }
  const loseThread = () => {
    const hasLived = readySince !== null && performance.now() - readySince >= MAX_BACK_OFF_MS
    failures = hasLived ? 1 : failures + 1
    thread = null
    readySince = null
    endAll()
    if (fault !== null || hasEnded) return
    const delayMs = Math.min(MAX_BACK_OFF_MS, firstBackOffMs * 2 ** Math.min(failures - 1, 16))
    retry = setTimeout(() => {
      retry = undefined
      start()
    }, delayMs).unref()
  }
  const read = (message: ThreadMessage) => {
    if (message.kind === 'ready') readySince = performance.now()
    else if (message.kind === 'broken') {
      breakDown(message.reason)
      void thread?.terminate()
      loseThread()
    } else {
      const request = sent.get(message.number)
      sent.delete(message.number)
      if (sent.size === 0) thread?.unref()
      request?.end(message)
    }
  }
  const start = () => {
    let started: Worker
    try {
      // Without the flags of this process, some of which are for its script alone.
      started = startThread({ workerData: { file, model } satisfies ThreadData, resourceLimits: LIMITS, execArgv: [] })
    } catch {
      // Too little memory, for example.
      loseThread()
      return
    }
    thread = started
    started.on('message', (message: ThreadMessage) => {
      if (started === thread) read(message)
    })
    // An error is followed by the exit.
    started.on('error', () => {})
    started.on('exit', () => {
      if (started === thread) loseThread()
    })
    // After the listeners: one for messages keeps the process alive.
    started.unref()
  }
  const countSent = (kind: Sent['kind']) => [...sent.values()].filter((one) => one.kind === kind).length
  /** Sends a request. Resolves with its answer; null when the thread died. */
  const send = (kind: Sent['kind'], makeRequest: (number: number) => Request) =>
    new Promise<ThreadMessage | null>((end) => {
      if (!thread) start()
      if (!thread) return end(null)
      const number = ++numbers
      sent.set(number, { kind, end })
      thread.ref()
      thread.postMessage(makeRequest(number))
    })

  const askQuery = async (query: string): Promise<EncodedQuery | null> => {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, QUERY_MS, null)
    })
    const message = await Promise.race([send('query', (number) => ({ number, query, endsAt: Date.now() + QUERY_MS })), timeout])
    clearTimeout(timer)
    return message?.kind === 'query' ? message.answer : null
  }

  if (options.startsNow && isUsable()) start()
  return {
    model,
    isProvider: false,
    batchSize: 1,
    start() {
      if (!thread && isUsable()) start()
    },
    state: () => (fault !== null ? 'fallback' : readySince === null ? 'starting' : 'ready'),
    fault: () => fault,
    async encodeQuery(text) {
      const query = shortenQuery(text)
      const known = remembered.get(query)
      if (known) return known
      if (!isUsable() || countSent('query') >= MAX_QUERIES) return null
      const answer = await askQuery(query)
      if (answer && query.length <= MAX_REMEMBERED_LENGTH) remembered.set(query, answer)
      return answer
    },
    async encodeItems([item]) {
      if (!item || !isUsable() || countSent('item') >= MAX_ITEMS) return [null]
      const message = await send('item', (number) => ({ number, item: shortenItem(item) }))
      return [message?.kind === 'item' ? message.answer : null]
    },
    async close() {
      hasEnded = true
      clearTimeout(retry)
      remembered.clear()
      endAll()
      const ending = thread
      // A late answer would let go of the thread before it has ended, and the process with it.
      thread = null
      await ending?.terminate()
    },
  }
}

function startWorker(options: WorkerOptions): Worker {
  // The build puts the worker next to the program.
  const name = import.meta.url.endsWith('.ts') ? './encoder-worker.ts' : './encoder-worker.js'
  return new Worker(new URL(name, import.meta.url), options)
}

/** The data of the thread: the file, and the name of the model that it must have. */
export interface ThreadData {
  readonly file: string
  readonly model: string
}

/** A text for the thread. A query that waited until `endsAt` (ms since 1970) is not worth encoding. */
export type Request =
  | { readonly number: number; readonly query: string; readonly endsAt: number }
  | { readonly number: number; readonly item: ItemText }

/** The thread's news: it is ready, it cannot load the model, or it has the answer to a request; null when it was too late. */
export type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'query'; readonly number: number; readonly answer: EncodedQuery | null }
  | { readonly kind: 'item'; readonly number: number; readonly answer: Int8Array }
