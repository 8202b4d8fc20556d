import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Database } from '../schema.ts'

/** A group commits once it has this many writes, or has been open for this long, in milliseconds. */
const MAX_GROUP = 50
const MAX_GROUP_MS = 60

/** Takes a command that was sent and need not be awaited yet. */
type Send = (result: Promise<void> | void) => void

type Work<T> = (transaction: Kysely<Database>) => Promise<T>

/** A write that waits, or runs. `settle` answers it once its group has committed. */
interface Job {
  readonly caller: string
  readonly work: Work<unknown>
  settle: () => void
  readonly reject: (error: unknown) => void
  readonly resolve: (result: unknown) => void
}

/** The operations of an engine that a group uses. */
export interface GroupEngine {
  /**
   * Runs work in one transaction that is durable when this resolves.
   * @throws what `work` throws, after rolling everything back
   */
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
 * changes nothing and does not fail the others. All are answered after the commit, also those that were refused, because what refused them
 * may have been written by an earlier one. When the commit fails, all of its writes fail; none runs twice. Callers take turns, so that one
 * with many writes waiting does not keep others from theirs.
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
  const put = (job: Job) => {
    const jobs = waiting.get(job.caller)
    if (jobs) jobs.push(job)
    else waiting.set(job.caller, [job])
    if (isRunning) return
    isRunning = true
    void runAll()
  }

  /**
   * Runs one write in its savepoint.
   * @throws what ended the whole transaction
   */
  const runJob = async (transaction: Kysely<Database>, job: Job, send: Send): Promise<void> => {
    send(engine.savepoint.begin(transaction))
    try {
      const result = await job.work(transaction)
      send(engine.savepoint.release(transaction))
      job.settle = () => job.resolve(result)
    } catch (error) {
      if (!engine.isOpen()) throw error
      await engine.savepoint.rollback(transaction)
      const reason = engine.explain(error)
      job.settle = () => job.reject(reason)
    }
  }

  const runGroup = async (first: Job): Promise<void> => {
    const group: Job[] = []
    const sent: Promise<void>[] = []
    const send: Send = (result) => {
      if (!result) return
      // Awaited before the commit. When it fails, so does what follows, which says why.
      result.catch(() => {})
      sent.push(result)
    }
    let hasBegun = false
    /** Those that waited when the group began: they fail with it when it cannot begin at all. */
    const before = [...waiting.values()].flat()
    try {
      await engine.run(async (transaction) => {
        hasBegun = true
        const until = performance.now() + MAX_GROUP_MS
        for (let job: Job | undefined = first; job; job = group.length < MAX_GROUP && performance.now() < until ? take() : undefined) {
          group.push(job)
          await runJob(transaction, job, send)
          // Reads are answered in between, and writes that arrive join.
          if (waiting.size > 0) await nextTurn()
        }
        await Promise.all(sent)
      })
      for (const job of group) job.settle()
    } catch (error) {
      if (!hasBegun) dropAll(new Set([first, ...before]), error)
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

  const runAll = async () => {
    // What arrives in this turn of the event loop is in the first group.
    await nextTurn()
    for (let job = take(); job; job = take()) {
      await runGroup(job)
      await nextTurn()
    }
    isRunning = false
  }

  return async <T>(work: Work<T>, caller: string) =>
    await new Promise<T>((resolve, reject) => {
      // In the caller's own context, not in that of whoever began the group.
      const inContext = AsyncLocalStorage.snapshot()
      put({
        caller,
        work: (transaction) => inContext(work, transaction),
        settle: () => reject(new AppError('internal', 'The write was not run')),
        reject,
        resolve: (result) => resolve(result as T),
      })
    })
}
