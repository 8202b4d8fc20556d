import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/** A group commits once it has this many writes, or has been open for this long, in milliseconds. */
const MAX_GROUP = 50
const MAX_GROUP_MS = 30

type Work<T> = (transaction: Kysely<Database>) => Promise<T>

/** A write that waits, or runs. `settle` answers it once its group has committed. */
interface Job {
  readonly work: Work<unknown>
  settle: () => void
  readonly reject: (error: unknown) => void
  readonly resolve: (result: unknown) => void
}

/** What a group needs of its engine. */
export interface GroupEngine {
  /** Runs work in one transaction that is durable when this resolves. @throws what `work` throws, after rolling everything back */
  readonly run: (work: Work<void>) => Promise<void>
  /** A savepoint of the open transaction. A rollback also forgets it. */
  readonly savepoint: Readonly<Record<'begin' | 'release' | 'rollback', (transaction: Kysely<Database>) => Promise<void> | void>>
  /** Whether the transaction is still open: the engine itself ends it after some faults. */
  readonly isOpen: () => boolean
  /** The error that a write is answered with. `run` does this itself. */
  readonly explain: (error: unknown) => unknown
}

/**
 * Runs writes that arrive together in one transaction, so that they share its flush to disk. Each has a savepoint of its own: one that fails
 * changes nothing, and harms no other. All are answered after the commit, also those that were refused, because what refused them may have been
 * written by an earlier one. When the commit fails, all of its writes fail. Callers take turns, so that one with many writes waiting does not
 * keep others from theirs.
 * @returns takes a write of a caller, and answers when it is durable
 */
export function createGroupCommit(engine: GroupEngine): <T>(work: Work<T>, caller: string) => Promise<T> {
  /** First in, first out for each caller; the caller whose turn is next comes first. */
  const waiting = new Map<string, Job[]>()
  let isRunning = false

  const take = (): Job | undefined => {
    const [first] = waiting
    if (!first) return undefined
    const [caller, jobs] = first
    const job = jobs.shift()
    waiting.delete(caller)
    if (jobs.length > 0) waiting.set(caller, jobs)
    return job
  }

  /** @throws what ended the whole transaction */
  const runJob = async (transaction: Kysely<Database>, job: Job, isFirst: boolean): Promise<void> => {
    if (!isFirst) await engine.savepoint.begin(transaction)
    try {
      const result = await job.work(transaction)
      if (!isFirst) await engine.savepoint.release(transaction)
      job.settle = () => job.resolve(result)
    } catch (error) {
      // Alone so far: the whole transaction is rolled back.
      if (isFirst || !engine.isOpen()) throw error
      const reason = engine.explain(error)
      job.settle = () => job.reject(reason)
      await engine.savepoint.rollback(transaction)
    }
  }

  const runGroup = async (): Promise<void> => {
    const group: Job[] = []
    /** Those that waited when the group began: they fail with it when it cannot begin at all. */
    const before = new Set([...waiting.values()].flat())
    try {
      await engine.run(async (transaction) => {
        const until = performance.now() + MAX_GROUP_MS
        for (let job = take(); job; job = take()) {
          group.push(job)
          await runJob(transaction, job, group.length === 1)
          if (waiting.size === 0 || group.length >= MAX_GROUP || performance.now() > until) return
          // Reads are answered in between, and writes that arrive join.
          await nextTurn()
        }
      })
      for (const job of group) job.settle()
    } catch (error) {
      if (group.length === 0) dropAll(before, error)
      for (const job of group) job.reject(error)
    }
  }

  const dropAll = (jobs: ReadonlySet<Job>, error: unknown): void => {
    for (const [caller, list] of waiting) {
      const rest = list.filter((job) => !jobs.has(job))
      if (rest.length > 0) waiting.set(caller, rest)
      else waiting.delete(caller)
    }
    for (const job of jobs) job.reject(error)
  }

  const runAll = async (): Promise<void> => {
    isRunning = true
    // What arrives in this turn of the event loop is in the first group.
    for (await nextTurn(); waiting.size > 0; await nextTurn()) await runGroup()
    isRunning = false
  }

  return async <T>(work: Work<T>, caller: string) =>
    await new Promise<T>((resolve, reject) => {
      // In the caller's own context, not in that of whoever began the group.
      const inContext = AsyncLocalStorage.snapshot()
      const job: Job = {
        work: (transaction) => inContext(work, transaction),
        settle: () => {},
        reject,
        resolve: (result) => resolve(result as T),
      }
      const jobs = waiting.get(caller)
      if (jobs) jobs.push(job)
      else waiting.set(caller, [job])
      if (!isRunning) void runAll()
    })
}
