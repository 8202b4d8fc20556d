import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'

/** A text that was made of another. */
export interface Made {
  /** Null when there is none. */
  readonly text: string | null
  /** Whether it is the same each time it is made. If not, it is made again for the next reader. */
  readonly isKept: boolean
}

/** Work on a text that is not done. */
interface Work {
  readonly made: Promise<Made>
  readonly left: AbortController
  readers: number
}

/** Texts that are kept at most, however short they are. */
const MAX_ENTRIES = 2000
const NOTHING: Made = { text: null, isKept: false }

/** Texts made from other texts, the least used forgotten first. @param maxLength of all texts kept together, in UTF-16 units */
export function createTextCache(maxLength: number) {
  const cache = new LRUCache<string, { readonly text: string | null }>({
    max: MAX_ENTRIES,
    maxSize: maxLength,
    sizeCalculation: ({ text }) => Math.max(1, text?.length ?? 0),
  })
  const working = new Map<string, Work>()
  const begin = (key: string, make: (signal: AbortSignal) => Promise<Made>, isShared: boolean): Work => {
    const left = new AbortController()
    const made = make(left.signal).then((result) => {
      if (result.isKept) cache.set(key, { text: result.text })
      return result
    })
    const work = { made, left, readers: 0 }
    if (isShared) {
      working.set(key, work)
      const end = () => endWork(key, work)
      made.then(end, end)
    }
    return work
  }
  const endWork = (key: string, work: Work) => {
    if (working.get(key) === work) working.delete(key)
  }
  return {
    /**
     * The cached value of these parts, or the one that `make` makes now. Readers of the same text share the work on it; its signal is aborted when
     * the last of them has left. A disconnected reader gets no text.
     * @param options.signal aborted when this reader leaves
     * @param options.isShared false for work that others must not depend on. Default: true
     */
    async find(
      parts: readonly string[],
      make: (signal: AbortSignal) => Promise<Made>,
      { signal, isShared = true }: { readonly signal?: AbortSignal | undefined; readonly isShared?: boolean } = {},
    ): Promise<Made> {
      const hash = createHash('sha256')
      for (const part of parts) hash.update(`${part.length}:`).update(part)
      const key = hash.digest('base64')
      const cached = cache.get(key)
      if (cached) return { text: cached.text, isKept: true }
      if (signal?.aborted) return NOTHING
      const work = (isShared ? working.get(key) : undefined) ?? begin(key, make, isShared)
      work.readers++
      const gone = Promise.withResolvers<Made>()
      const leave = () => {
        gone.resolve(NOTHING)
        if (--work.readers > 0) return
        endWork(key, work)
        work.left.abort()
      }
      signal?.addEventListener('abort', leave, { once: true })
      try {
        return await Promise.race([work.made, gone.promise])
      } finally {
        signal?.removeEventListener('abort', leave)
      }
    },
  }
}

/** The request to the thread: `maxLine` is the longest line looked at. */
export interface HighlightQuestion {
  readonly number: number
  readonly code: string
  readonly language: string
  readonly maxLine: number
}

/** Of each line the texts with their classes. */
export type HighlightedLines = readonly (readonly (readonly [className: string, text: string])[])[]

/** Its answer: whether the time of the text in work runs, from which processor time of the thread on; and in the end the lines, null when it cannot. */
export type HighlightMessage =
  | { readonly number: number; readonly isRunning: boolean; readonly atMs: number }
  | { readonly number: number; readonly lines: HighlightedLines | null }

/** The time that all code of one text may take together. */
export interface CodeBudget {
  leftMs: number
  /** When its reader stops waiting, by `performance.now()`. */
  readonly endsAt: number
  /** Whether a block took all the time of a block. */
  hasHopelessBlock: boolean
}

/** Longer code stays plain, in UTF-16 units. */
const MAX_CODE = 100_000
/** Longer lines stay plain: they are written by programs, and they are what patterns are slow on. */
const MAX_LINE = 1000
/** Processor time that one block of code may take, and all blocks of one text. What a grammar takes to load does not count. */
const BLOCK_MS = 500
const TEXT_MS = 1000
/** How long a grammar may take to load, the start of the thread included. */
const LOADING_MS = 10_000
/** How long the reader of a text waits for its code, that of others before it included. */
const PATIENCE_MS = 5000
/** The thread goes, and its memory with it, when nothing was asked for so long. */
const IDLE_MS = 60_000
/** Texts that may wait for the thread; more stay plain. */
const MAX_WAITING = 32
/** Of all that is remembered, in UTF-16 units. */
const MAX_REMEMBERED = 4 * 1024 * 1024
/** Memory of the thread's young and old objects. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

/** The outcome for a block: `lines` are null when it stays plain for good, undefined when there is no answer for now. */
interface Outcome {
  readonly lines: HighlightedLines | null | undefined
  readonly spentMs: number
  readonly wasStopped: boolean
}

interface Waiting {
  readonly question: HighlightQuestion
  readonly limitMs: number
  end(outcome: Outcome): void
}

const remembered = createTextCache(MAX_REMEMBERED)
/** The first is in work. */
const waiting: Waiting[] = []
let worker: Worker | null = null
let timer: NodeJS.Timeout | undefined
let asked = 0
/** The processor time of the block in work: what it has spent, and since when it runs. Null while it stands still. */
let clock: { spentMs: number; since: number | null } = { spentMs: 0, since: null }

/** The budget of a text whose reader comes now. */
export function createCodeBudget(): CodeBudget {
  return { leftMs: TEXT_MS, endsAt: performance.now() + PATIENCE_MS, hasHopelessBlock: false }
}

/**
 * Code as HTML with a class for each kind of word; its text is null when it stays plain: too long, a language that is not known, or too slow.
 * The work is done in a thread that starts with the first call and ends when it is not needed.
 * @param language one of those in `markdown.ts`
 * @param options.signal aborted when the reader leaves
 * @param options.budget of the text that the code is a part of. Default: a new one
 */
export async function highlightCode(
  code: string,
  language: string,
  { signal, budget = createCodeBudget() }: { signal?: AbortSignal | undefined; budget?: CodeBudget } = {},
): Promise<Made> {
  if (code.length > MAX_CODE) return { text: null, isKept: true }
  const limitMs = Math.min(BLOCK_MS, budget.leftMs)
  const make = async (left: AbortSignal): Promise<Made> => {
    if (limitMs <= 0 || waiting.length >= MAX_WAITING) return { text: null, isKept: false }
    const { lines, spentMs, wasStopped } = await ask({ number: ++asked, code, language, maxLine: MAX_LINE }, limitMs, budget.endsAt, left)
    // With a block that is stopped the thread is lost, and all it had loaded: that is enough for one text.
    budget.leftMs = wasStopped ? 0 : budget.leftMs - spentMs
    if (wasStopped && lines === null) budget.hasHopelessBlock = true
    if (!lines) return { text: null, isKept: lines === null }
    return { text: lines.map((line) => line.map(toHtml).join('')).join('\n'), isKept: true }
  }
  // The remaining budget applies to this text only.
  return await remembered.find([language, code], make, { signal, isShared: limitMs === BLOCK_MS })
}

/** Has the thread answer a question in its turn; without an answer when the readers leave or their patience ends. */
async function ask(question: HighlightQuestion, limitMs: number, endsAt: number, left: AbortSignal): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const job: Waiting = { question, limitMs, end: resolve }
  const drop = () => {
    // What is in work goes on: it is short, and to stop it would cost the thread.
    const place = waiting.indexOf(job)
    if (place > 0) waiting.splice(place, 1)
    resolve({ lines: undefined, spentMs: 0, wasStopped: false })
  }
  const patience = setTimeout(drop, endsAt - performance.now()).unref()
  left.addEventListener('abort', drop, { once: true })
  waiting.push(job)
  if (waiting.length === 1) askNext()
  return await promise.finally(() => {
    clearTimeout(patience)
    left.removeEventListener('abort', drop)
  })
}

/** Ends the thread at once: what waits stays plain for now. */
export function stopHighlighting(): void {
  clearTimeout(timer)
  void worker?.terminate()
  worker = null
  for (const { end } of waiting.splice(0)) end({ lines: undefined, spentMs: 0, wasStopped: false })
}

function toHtml([className, text]: readonly [string, string]): string {
  return className === '' ? escapeHtml(text) : `<span class="${className}">${escapeHtml(text)}</span>`
}

/** A text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** One block at a time, so that the time of each is its own. */
function askNext(): void {
  clearTimeout(timer)
  const [next] = waiting
  if (!next) {
    timer = setTimeout(stopHighlighting, IDLE_MS).unref()
    return
  }
  worker ??= startWorker()
  worker.postMessage(next.question)
  clock = { spentMs: 0, since: null }
  lookAfter(LOADING_MS)
}

/** Looks after the block in work after so long, unless there is news of it in the meantime. */
function lookAfter(delayMs: number): void {
  clearTimeout(timer)
  const due = setTimeout(async () => {
    const isRunning = clock.since !== null
    const nowMs = await readThreadMs()
    // News that came meanwhile was read first.
    if (timer !== due) return
    if (isRunning && nowMs !== null) setClock(true, nowMs)
    const [job] = waiting
    if (!isRunning || nowMs === null || (job && clock.spentMs >= job.limitMs)) stopWork()
  }, delayMs).unref()
  timer = due
}

/** Processor time of the thread, in milliseconds, which it tells even while it works; null where Node cannot say (before 24.6). */
async function readThreadMs(): Promise<number | null> {
  if (!worker || !('cpuUsage' in worker)) return null
  const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
  return (user + system) / 1000
}

/** Takes note of whether the time of the block in work runs. */
function setClock(isRunning: boolean, atMs: number): void {
  const [job] = waiting
  if (!job) return
  if (clock.since !== null) clock.spentMs += Math.max(0, atMs - clock.since)
  clock.since = isRunning ? atMs : null
  lookAfter(isRunning ? Math.max(1, job.limitMs - clock.spentMs) : LOADING_MS)
}

/** The block that holds the thread goes; the others get a new one. One that had all the time of a block stays plain for good. */
function stopWork(): void {
  void worker?.terminate()
  worker = null
  const job = waiting.shift()
  const wasStopped = clock.since !== null
  job?.end({ lines: wasStopped && job.limitMs === BLOCK_MS ? null : undefined, spentMs: clock.spentMs, wasStopped })
  askNext()
}

function startWorker(): Worker {
  // The build puts the worker next to the program.
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './highlight-worker.ts' : './highlight-worker.js', import.meta.url), {
    resourceLimits: LIMITS,
  })
  started.on('message', (message: HighlightMessage) => {
    const [job] = waiting
    if (started !== worker || job?.question.number !== message.number) return
    if ('isRunning' in message) return setClock(message.isRunning, message.atMs)
    waiting.shift()
    job.end({ lines: message.lines, spentMs: clock.spentMs, wasStopped: false })
    askNext()
  })
  const onEnd = () => {
    if (started === worker) stopWork()
  }
  started.on('error', onEnd)
  started.on('exit', onEnd)
  // After the listeners: one for messages keeps the process alive.
  started.unref()
  return started
}
