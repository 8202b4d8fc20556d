import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import type { SchemaQuestion } from './schema-worker.ts'

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

/** Whether a value is valid against a JSON Schema; null when the schema is not usable, or too slow. Checks run one at a time, in a thread. */
export function matchesSchema(value: unknown, schema: object): Promise<boolean | null> {
  return oneAtATime(() => ask({ value, schema }))
}

async function ask(question: SchemaQuestion): Promise<boolean | null> {
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
  return answer ?? null
}

function start(): Worker {
  const isSource = import.meta.url.endsWith('.ts')
  const started = new Worker(new URL(isSource ? './schema-worker.ts' : './schema-worker.js', import.meta.url), { resourceLimits: LIMITS })
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
