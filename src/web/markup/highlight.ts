import { on } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { createTextCache, type Made } from './text-cache.ts'

/** The request to the thread: `maxLine` is the longest line looked at. */
export interface HighlightQuestion {
  readonly code: string
  readonly language: string
  readonly maxLine: number
}

/** Of each line the texts with their classes. */
export type HighlightedLines = readonly (readonly (readonly [className: string, text: string])[])[]

/** Its answer: first that the grammar is there, then the lines, null when it cannot. */
export type HighlightMessage = 'ready' | HighlightedLines | null

/** Longer code stays plain, in UTF-16 units. */
const MAX_CODE = 100_000
/** Longer lines stay plain: they are written by programs, and they are what patterns are slow on. */
const MAX_LINE = 1000
/** Processor time that one block of code may take. What a grammar takes to load does not count. */
const BLOCK_MS = 500
/** How long a grammar may take to load, the start of the thread included. */
const LOADING_MS = 10_000
/** How long all code of one text may take, that of others before it included. */
const PATIENCE_MS = 5000
/** The thread goes, and its memory with it, when nothing was asked for so long. */
const IDLE_MS = 60_000
/** Texts that may wait for the thread; more stay plain. */
const MAX_WAITING = 32
/** Of all that is remembered, in UTF-16 units. */
const MAX_REMEMBERED = 4 * 1024 * 1024
/** Memory of the thread's young and old objects. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

const remembered = createTextCache(MAX_REMEMBERED)
/** One block at a time, so that the time of each is its own. */
const inTurn = pLimit(1)
let worker: Worker | null = null
let idle: NodeJS.Timeout | undefined
let stopping = new AbortController()

/** The time that all code of one text may take together. */
export function createCodeBudget() {
  const over = new AbortController()
  return {
    signal: AbortSignal.any([over.signal, AbortSignal.timeout(PATIENCE_MS)]),
    /** With a block that is stopped the thread is lost, and all it had loaded: that is enough for one text. */
    end: () => over.abort(),
    hasHopelessBlock: () => over.signal.aborted,
  }
}

/**
 * Code as HTML with a class for each kind of word; its text is null when it stays plain: too long, a language that is not known, or too slow.
 * The work is done in a thread that starts with the first call and ends when it is not needed.
 * @param language one of those in `languages.ts`
 * @param budget of the text that the code is a part of. Default: a new one
 */
export async function highlightCode(code: string, language: string, budget = createCodeBudget()): Promise<Made> {
  if (code.length > MAX_CODE) return { text: null, isKept: true }
  return await remembered.find([language, code], async () => {
    const { promise: gone, resolve: leave } = Promise.withResolvers<undefined>()
    const signal = AbortSignal.any([budget.signal, stopping.signal])
    if (signal.aborted || inTurn.pendingCount >= MAX_WAITING) return { text: null, isKept: false }
    signal.addEventListener('abort', () => leave(undefined), { once: true })
    // What is in work goes on without its reader: it is short, and to stop it would cost the thread.
    const answer = await Promise.race([gone, inTurn(() => (signal.aborted ? undefined : ask({ code, language, maxLine: MAX_LINE })))])
    if (answer === 'hopeless') budget.end()
    if (!Array.isArray(answer)) return { text: null, isKept: answer !== undefined }
    return { text: answer.map((line) => line.map(toHtml).join('')).join('\n'), isKept: true }
  })
}

/** Has the thread answer a question. Undefined when it ended before, "hopeless" when that was for the time it took. */
async function ask(question: HighlightQuestion): Promise<HighlightedLines | null | undefined | 'hopeless'> {
  clearTimeout(idle)
  worker ??= startWorker()
  const thread = worker
  const done = new AbortController()
  const loading = setTimeout(() => thread.terminate(), LOADING_MS).unref()
  let isHopeless = false
  const stop = () => {
    isHopeless = true
    void thread.terminate()
  }
  try {
    thread.postMessage(question)
    for await (const [message] of on(thread, 'message', { close: ['exit'] })) {
      const answer: HighlightMessage = message
      if (answer !== 'ready') return answer
      clearTimeout(loading)
      passTime(thread, done.signal).then(stop, () => {})
    }
  } catch {
    // Its memory ran out.
  } finally {
    done.abort()
    clearTimeout(loading)
    idle = setTimeout(stopHighlighting, IDLE_MS).unref()
  }
  return isHopeless ? 'hopeless' : undefined
}

/** Waits until a thread has taken the processor time of a block, which it tells even while it works. @throws when aborted */
async function passTime(thread: Worker, signal: AbortSignal): Promise<void> {
  // Node cannot say before 24.6.
  const readMs = async () => {
    if (!('cpuUsage' in thread)) return performance.now()
    const { user, system } = await thread.cpuUsage()
    return (user + system) / 1000
  }
  const startMs = await readMs()
  for (let leftMs = BLOCK_MS; leftMs > 0; leftMs = startMs + BLOCK_MS - (await readMs()))
    await delay(leftMs, undefined, { signal, ref: false })
}

/** Ends the thread at once: what waits stays plain for now. */
export function stopHighlighting(): void {
  clearTimeout(idle)
  stopping.abort()
  stopping = new AbortController()
  void worker?.terminate()
  worker = null
}

function toHtml([className, text]: readonly [string, string]): string {
  return className === '' ? escapeHtml(text) : `<span class="${className}">${escapeHtml(text)}</span>`
}

/** A text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function startWorker(): Worker {
  // The build puts the worker next to the program.
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './highlight-worker.ts' : './highlight-worker.js', import.meta.url), {
    resourceLimits: LIMITS,
  })
  started.on('error', () => {})
  started.once('exit', () => {
    if (started === worker) worker = null
  })
  started.unref()
  return started
}
