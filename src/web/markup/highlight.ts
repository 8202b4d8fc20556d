import { Worker } from 'node:worker_threads'
import { createTextCache } from './text-cache.ts'

/** What the thread is asked: `maxLine` is the longest line looked at. */
export interface HighlightQuestion {
  readonly number: number
  readonly code: string
  readonly language: string
  readonly maxLine: number
}

/** Its answer: of each line the texts with their classes; null when it cannot. */
export interface HighlightAnswer {
  readonly number: number
  readonly lines: readonly (readonly (readonly [className: string, text: string])[])[] | null
}

/** Longer code stays plain, in UTF-16 units. */
const MAX_CODE = 100_000
/** Longer lines stay plain: they are written by programs, and they are what patterns are slow on. */
const MAX_LINE = 1000
/** How long one text may hold the thread, which is ended then; and how long a page waits for it, others before it included. */
const TIMEOUT_MS = 4000
const PATIENCE_MS = 5000
/** The thread goes, and its memory with it, when nothing was asked for so long. */
const IDLE_MS = 60_000
/** Texts that may wait for the thread; more stay plain. */
const MAX_WAITING = 32
/** Of all that is remembered, in UTF-16 units. */
const MAX_REMEMBERED = 4 * 1024 * 1024
/** Memory of the thread's young and old objects. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 }

interface Waiting {
  readonly question: HighlightQuestion
  /** Undefined when there is no answer for now. */
  readonly resolve: (lines: HighlightAnswer['lines'] | undefined) => void
}

const remembered = createTextCache(MAX_REMEMBERED)
const waiting: Waiting[] = []
let worker: Worker | null = null
let timer: NodeJS.Timeout | undefined
let asked = 0

/**
 * Code as HTML with a class for each kind of word, or null when it stays plain: too long, a language that is not known, or too slow.
 * The work is done in a thread that starts with the first call and ends when it is not needed.
 * @param language one of those in `languages.ts`
 */
export async function highlightCode(code: string, language: string): Promise<string | null> {
  if (code.length > MAX_CODE) return null
  return await remembered.find([language, code], async () => {
    if (waiting.length >= MAX_WAITING) return undefined
    const lines = await new Promise<HighlightAnswer['lines'] | undefined>((resolve) => {
      setTimeout(resolve, PATIENCE_MS, undefined).unref()
      waiting.push({ question: { number: ++asked, code, language, maxLine: MAX_LINE }, resolve })
      if (waiting.length === 1) askNext()
    })
    if (!lines) return lines
    return lines.map((line) => line.map(toHtml).join('')).join('\n')
  })
}

/** Ends the thread at once: what waits stays plain. */
export function stopHighlighting(): void {
  clearTimeout(timer)
  void worker?.terminate()
  worker = null
  for (const { resolve } of waiting.splice(0)) resolve(undefined)
}

function toHtml([className, text]: readonly [string, string]): string {
  return className === '' ? escapeHtml(text) : `<span class="${className}">${escapeHtml(text)}</span>`
}

/** A text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** One text at a time, so that the time of each is its own. */
function askNext(): void {
  clearTimeout(timer)
  const [next] = waiting
  if (!next) {
    timer = setTimeout(stopHighlighting, IDLE_MS).unref()
    return
  }
  worker ??= startWorker()
  worker.postMessage(next.question)
  timer = setTimeout(giveUp, TIMEOUT_MS).unref()
}

/** The text that holds the thread stays plain; the others get a new one. */
function giveUp(): void {
  void worker?.terminate()
  worker = null
  waiting.shift()?.resolve(null)
  askNext()
}

function startWorker(): Worker {
  // The built program stands in one folder, and has the thread's program beside it.
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './highlight-worker.ts' : './highlight-worker.js', import.meta.url), {
    resourceLimits: LIMITS,
  })
  started.unref()
  started.on('message', ({ number, lines }: HighlightAnswer) => {
    if (started !== worker || waiting[0]?.question.number !== number) return
    waiting.shift()?.resolve(lines)
    askNext()
  })
  const onEnd = () => {
    if (started === worker) giveUp()
  }
  started.on('error', onEnd)
  started.on('exit', onEnd)
  return started
}
