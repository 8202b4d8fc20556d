import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import type { Question } from './check-worker.ts'

/** How long one check may take, and how long the thread stays without any. */
const MAX_MS = 5_000
const IDLE_MS = 60_000
/** Memory of the thread. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 }

const oneAtATime = pLimit(1)
let worker: Worker | null = null
let idle: NodeJS.Timeout | undefined
/** Takes the answer of the thread, undefined where there is none. */
let take: (answer: boolean | null | undefined) => void = () => {}

/** Whether an answer meets a schema or a pattern. Checks run in a thread, one at a time. @see TestModels.checkAnswer */
export function checkAnswer(question: Question): Promise<boolean | 'unusable' | 'slow'> {
  return oneAtATime(() => ask(question))
}

async function ask(question: Question): Promise<boolean | 'unusable' | 'slow'> {
  clearTimeout(idle)
  worker ??= start()
  const thread = worker
  const answer = await new Promise<boolean | null | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), MAX_MS)
    take = (outcome) => {
      clearTimeout(timer)
      resolve(outcome)
    }
    try {
      thread.postMessage(question)
    } catch {
      // It is nested too deep to be passed on.
      take(null)
    }
  })
  take = () => {}
  if (answer === undefined) stop()
  else idle = setTimeout(stop, IDLE_MS).unref()
  return answer === undefined ? 'slow' : (answer ?? 'unusable')
}

function start(): Worker {
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './check-worker.ts' : './check-worker.js', import.meta.url), { resourceLimits: LIMITS })
  const pass = (answer: boolean | null | undefined) => {
    if (started === worker) take(answer)
  }
  started.on('message', pass)
  const onEnd = () => {
    pass(undefined)
    if (started === worker) worker = null
  }
  started.on('error', onEnd)
  started.on('exit', onEnd)
  // After the listeners: one for messages keeps the process alive.
  started.unref()
  return started
}

function stop(): void {
  const ended = worker
  worker = null
  void ended?.terminate()
}
