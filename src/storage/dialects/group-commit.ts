import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import type { Database } from '../schema.ts'
import type { Finish } from './dialect.ts'

/** A group commits once it has this many writes, or has been open for this long, in milliseconds. */
const MAX_GROUP = 50
const MAX_GROUP_MS = 60
/** How often a write is run before a collision with another is its answer. The last time, no other group runs beside its own. */
const MAX_RUNS = 5

type Work<T> = (transaction: Kysely<Database>) => Promise<T>

/** A write that waits, or runs. `settle` answers it once its group has committed. */
interface Job {
  readonly caller: string
  readonly work: Work<unknown>
  readonly isConcurrent: boolean
  readonly finish: Finish<unknown> | undefined
  readonly finishMs: ((result: unknown) => number) | undefined
  runs: number
  /** Whether it shares its transaction with none: its group failed. */
  isAlone: boolean
  /** Whether it begins its group, where it may wait for locks: it has failed before. */
  isFirst: boolean
  result: unknown
  settle: () => void
  readonly reject: (error: unknown) => void
  readonly resolve: (result: unknown) => void
}

/** What a group needs of its engine. */
export interface GroupEngine {
  /** How many groups of concurrent writes may be open at once. */
  readonly lanes: number
  /**
   * Runs work in one transaction that is durable when this resolves, beside others when it is concurrent.
   * @throws what `work` throws, after rolling everything back
   */
  readonly run: (work: Work<void>, isConcurrent: boolean) => Promise<void>
  /** A savepoint of the open transaction. A rollback also forgets it. */
  readonly savepoint: Readonly<Record<'begin' | 'release' | 'rollback', (transaction: Kysely<Database>) => Promise<void> | void>>
  /** Whether statements of the transaction wait for locks of others from now on, or fail at once with a collision. */
  readonly setPatience: (transaction: Kysely<Database>, waits: boolean) => Promise<void> | void
  /** Whether the transaction is still open: the engine itself ends it after some faults. */
  readonly isOpen: () => boolean
  /** Whether a write failed because of another one that ran beside it, and may succeed when it runs again. */
  readonly isCollision: (error: unknown) => boolean
  /** The error that a write is answered with. `run` does this itself. */
  readonly explain: (error: unknown) => unknown
}

/**
 * Runs writes that arrive together in one transaction, so that they share its flush to disk. Each has a savepoint of its own: one that fails
 * changes nothing, and harms no other. All are answered after the commit, also those that were refused, because what refused them may have been
 * written by an earlier one. When the commit fails, all of its writes fail. Callers take turns, so that one with many writes waiting does not
 * keep others from theirs.
 *
 * Concurrent writes and others are never in one group. A concurrent one that would have to wait for a lock of another group runs again, first
 * in a later one, and the last time while no other group runs. The last steps of concurrent writes run together at the end of their group; other
 * writes each run their own.
 * @returns takes a write of a caller, and answers when it is durable
 */
export function createGroupCommit(engine: GroupEngine): <T>(work: Work<T>, options: GroupOptions<T>) => Promise<T> {
  /** First in, first out for each caller; the caller whose turn is next comes first. */
  const waiting = new Map<string, Job[]>()
  let lanes = 0

  const peek = (): Job | undefined => {
    for (const [job] of waiting.values()) return job
    return undefined
  }
  const take = (): Job | undefined => {
    const [first] = waiting
    if (!first) return undefined
    const [caller, jobs] = first
    const job = jobs.shift()
    waiting.delete(caller)
    if (jobs.length > 0) waiting.set(caller, jobs)
    return job
  }
  /** The next job that may join a group. */
  const takeLike = ({ isConcurrent, isAlone }: Job): Job | undefined => {
    const next = peek()
    return next && !isAlone && !next.isAlone && !next.isFirst && next.isConcurrent === isConcurrent ? take() : undefined
  }
  const put = (job: Job) => {
    const jobs = waiting.get(job.caller)
    if (jobs) jobs.push(job)
    else waiting.set(job.caller, [job])
    if (lanes < engine.lanes) {
      lanes++
      void runLane()
    }
  }
  /** What a concurrent write is answered with that was not run again, or not any more. */
  const explain = (error: unknown): unknown =>
    engine.isCollision(error)
      ? new AppError('unavailable', 'Others changed the same thing at the same time; try again.', { cause: error, retryAfterSeconds: 1 })
      : engine.explain(error)
  const mayRunAgain = ({ isConcurrent, runs }: Job) => isConcurrent && runs < MAX_RUNS

  /**
   * Whether the job is part of the transaction now, be it as one that was refused. The first of a group has no savepoint, and no `send`.
   * @throws what ended the whole transaction
   */
  const runJob = async (transaction: Kysely<Database>, job: Job, send: Send | null): Promise<boolean> => {
    job.runs++
    send?.(engine.savepoint.begin(transaction))
    try {
      const result = await (job.isConcurrent ? job.work : finishing(job.work, job.finish))(transaction)
      send?.(engine.savepoint.release(transaction))
      job.result = result
      job.settle = () => job.resolve(result)
    } catch (error) {
      // Alone so far: the whole transaction is rolled back.
      if (!send || !engine.isOpen()) throw error
      await engine.savepoint.rollback(transaction)
      if (engine.isCollision(error) && mayRunAgain(job)) return false
      const reason = job.isConcurrent ? explain(error) : engine.explain(error)
      job.settle = () => job.reject(reason)
      job.result = REFUSED
    }
    return true
  }

  const finishTogether = async (transaction: Kysely<Database>, group: readonly Job[]): Promise<void> => {
    const written = group.filter(({ isConcurrent, finish, result }) => isConcurrent && finish && result !== REFUSED)
    for (const [finish, jobs] of Map.groupBy(written, (job) => job.finish)) {
      await finish?.(
        transaction,
        jobs.map(({ result }) => result),
      )
    }
  }

  const runGroup = async (first: Job): Promise<void> => {
    const group: Job[] = [first]
    const collided: Job[] = []
    /** A write that collided each time so far runs while no others do. */
    const mayCollide = first.isConcurrent && first.runs < MAX_RUNS - 1
    let hasBegun = false
    /** Whether the commit was sent: from then on nobody knows whether it was made. */
    let isCommitting = false
    const sent: Promise<void>[] = []
    const send = (result: Promise<void> | void) => {
      if (!result) return
      // Awaited before the commit. When it fails, so does what follows, which says why.
      result.catch(() => {})
      sent.push(result)
    }
    /** Those that waited when the group began: they fail with it when it cannot begin at all. */
    const before = new Set([...waiting.values()].flat())
    try {
      await engine.run(async (transaction) => {
        hasBegun = true
        const until = performance.now() + MAX_GROUP_MS
        let finishMs = 0
        const noteFinish = ({ result, finishMs: of }: Job) => {
          if (result !== REFUSED) finishMs += of?.(result) ?? 0
        }
        await runJob(transaction, first, null)
        noteFinish(first)
        // Only the first waits for locks, while the group has none: two groups never wait for each other.
        if (first.isConcurrent) send(engine.setPatience(transaction, false))
        while (group.length < MAX_GROUP && performance.now() + finishMs < until) {
          // Reads are answered in between, and writes that arrive join.
          if (waiting.size > 0) await nextTurn()
          const job = takeLike(first)
          if (!job) break
          group.push(job)
          if (await runJob(transaction, job, send)) {
            noteFinish(job)
            continue
          }
          group.pop()
          job.isFirst = true
          collided.push(job)
        }
        if (first.isConcurrent) send(engine.setPatience(transaction, true))
        await finishTogether(transaction, group)
        await Promise.all(sent)
        isCommitting = true
      }, mayCollide)
      for (const job of group) job.settle()
    } catch (error) {
      // Another lane may still serve them.
      if (!hasBegun && lanes === 1) dropAll(before, error)
      // What the caller did not cause may be the fault of another in the group.
      const isOfOthers = hasBegun && (engine.isCollision(error) || (!isCommitting && group.length > 1 && !(error instanceof AppError)))
      for (const job of group) {
        if (!isOfOthers || !mayRunAgain(job)) {
          job.reject(job.isConcurrent ? explain(error) : error)
          continue
        }
        job.isAlone = group.length > 1
        job.isFirst = true
        put(job)
      }
    }
    for (const job of collided) put(job)
  }

  const dropAll = (jobs: ReadonlySet<Job>, error: unknown): void => {
    for (const [caller, list] of waiting) {
      const rest = list.filter((job) => !jobs.has(job))
      if (rest.length > 0) waiting.set(caller, rest)
      else waiting.delete(caller)
    }
    for (const job of jobs) job.reject(error)
  }

  const runLane = async () => {
    // What arrives in this turn of the event loop is in the first group.
    await nextTurn()
    for (let job = take(); job; job = take()) {
      await runGroup(job)
      await nextTurn()
    }
    lanes--
  }

  return async <T>(work: Work<T>, { caller, isConcurrent, finish, finishMs }: GroupOptions<T>) =>
    await new Promise<T>((resolve, reject) => {
      // In the caller's own context, not in that of whoever began the group.
      const inContext = AsyncLocalStorage.snapshot()
      put({
        caller,
        work: (transaction) => inContext(work, transaction),
        isConcurrent,
        finish: finish as Finish<unknown> | undefined,
        finishMs: finishMs as Job['finishMs'],
        runs: 0,
        isAlone: false,
        isFirst: false,
        result: REFUSED,
        settle: () => {},
        reject,
        resolve: (result) => resolve(result as T),
      })
    })
}

/** Work with its last steps. */
export function finishing<T>(work: Work<T>, finish: Finish<T> | undefined): Work<T> {
  return async (transaction) => {
    const result = await work(transaction)
    await finish?.(transaction, [result])
    return result
  }
}

/** Takes what was sent and need not be awaited yet. */
type Send = (result: Promise<void> | void) => void

/** The result of a write that has none. */
const REFUSED = Symbol('refused')

interface GroupOptions<T> {
  readonly caller: string
  readonly isConcurrent: boolean
  readonly finish?: Finish<T> | undefined
  readonly finishMs?: ((result: T) => number) | undefined
}
