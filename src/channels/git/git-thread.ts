import { Worker } from 'node:worker_threads'
import type { SharedChange, SharedVersion } from '../../domain/items/shared-changes.ts'
import { AppError } from '../../errors.ts'
import type { WorkMeter } from '../../storage/store.ts'
import type { FetchPlan, FetchRequest } from './fetch.ts'
import type { RepositoryAbout } from './history.ts'
import type { ObjectId } from './objects.ts'

/** Heap of the thread; objects of histories are outside of it. */
const LIMITS = { maxOldGenerationSizeMb: 1024 }

/** Processor time that a point pays for. */
const MS_A_POINT = 10

/** A request to the thread of histories. A history is called by its key. */
export type GitQuestion =
  /** A page of the entries that a history shall hold; the first page begins a new list. */
  | { readonly kind: 'list'; readonly key: string; readonly isFirst: boolean; readonly changes: readonly SharedChange[] }
  /** Opens a history that holds the listed entries. What it holds already is kept where it is their beginning. */
  | { readonly kind: 'open'; readonly key: string; readonly about: RepositoryAbout }
  /** The texts that were asked for. */
  | { readonly kind: 'add'; readonly key: string; readonly versions: readonly SharedVersion[] }
  | { readonly kind: 'tip'; readonly key: string }
  | { readonly kind: 'fetch'; readonly keys: readonly string[]; readonly request: FetchRequest }
  /** The next piece of a pack. */
  | { readonly kind: 'next'; readonly pack: string }
  | { readonly kind: 'cancel'; readonly pack: string }

/** Its answer. */
export type GitAnswer =
  /** How many entries are listed. */
  | { readonly kind: 'listed'; readonly count: number }
  /** The entries whose texts come next, by number; none when the history holds all. */
  | { readonly kind: 'wanted'; readonly changes: readonly number[] }
  | { readonly kind: 'tip'; readonly tip: ObjectId | null; readonly bytes: number }
  | { readonly kind: 'plan'; readonly plan: Omit<FetchPlan, 'objects'>; readonly pack: string | null }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array<ArrayBuffer> | null }
  /** The history is not there, or not any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly reason: 'too-large' | 'fault'; readonly message: string }

/** Numbered, so that answers find their questions. */
export interface NumberedQuestion {
  readonly number: number
  readonly question: GitQuestion
}
export interface NumberedAnswer {
  readonly number: number
  /** Processor time that the thread took for it, in milliseconds. */
  readonly cpuMs: number
  readonly answer: GitAnswer
}

/** The thread that builds histories and packs. */
export type GitThread = ReturnType<typeof createGitThread>

/** A thread that starts with the first question and, empty, with the first one after it ended. */
export function createGitThread() {
  const pending = new Map<number, { resolve(answer: GitAnswer): void; reject(error: AppError): void; work: WorkMeter | undefined }>()
  let worker: Worker | null = null
  let last = 0
  let hasEnded = false

  const start = (): Worker => {
    const started = startWorker()
    started.on('message', ({ number, answer, cpuMs }: NumberedAnswer) => {
      const waiting = pending.get(number)
      if (waiting?.work) waiting.work.points += cpuMs / MS_A_POINT
      pending.delete(number)
      if (pending.size === 0) started.unref()
      if (answer.kind !== 'failed') waiting?.resolve(answer)
      else waiting?.reject(answer.reason === 'too-large' ? tooLarge() : unavailable(new Error(answer.message)))
    })
    const onEnd = (error?: unknown) => {
      if (worker !== started) return
      worker = null
      const lost = [...pending.values()]
      pending.clear()
      for (const { reject } of lost) reject(unavailable(error))
    }
    started.on('error', onEnd)
    started.on('exit', () => onEnd())
    started.unref()
    return started
  }
  return {
    /**
     * @param work gets the points of the processor time that the answer took
     * @throws AppError `unavailable` when the thread cannot start, ends, or fails
     */
    ask: (question: GitQuestion, work?: WorkMeter) =>
      new Promise<GitAnswer>((resolve, reject) => {
        if (hasEnded) return reject(unavailable())
        try {
          worker ??= start()
        } catch (error) {
          return reject(unavailable(error))
        }
        const number = ++last
        pending.set(number, { resolve, reject, work })
        worker.ref()
        worker.postMessage({ number, question } satisfies NumberedQuestion)
      }),
    async close(): Promise<void> {
      hasEnded = true
      await worker?.terminate()
    },
  }
}

function tooLarge(): AppError {
  return new AppError('unavailable', 'There is too much here for one Git repository. Clone a tag, a category or a user instead.')
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The Git repository could not be made. Try again in a moment.', { cause })
}

function startWorker(): Worker {
  // The build puts the worker next to the program.
  const name = import.meta.url.endsWith('.ts') ? './git-worker.ts' : './git-worker.js'
  return new Worker(new URL(name, import.meta.url), { resourceLimits: LIMITS, execArgv: [] })
}
