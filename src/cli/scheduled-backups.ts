import { execFile } from 'node:child_process'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listBackups, nameBackup } from '../app.ts'
import { AppError } from '../errors.ts'

/** Longest wait before a backup that failed is tried again. */
const RETRY_MS = 600_000
/** Longest wait at once: the clock may be set meanwhile. */
const MAX_SLEEP_MS = 60_000
/** When what a killed backup left is removed. */
const LEFT_OVER_MS = 86_400_000
const LEFT_OVER = /^\.commonplace-\d{8}T\d{6}Z\.db\.[0-9a-f]{8}\.tmp/

/** When and where backups are made. */
export interface Schedule {
  readonly folder: string
  readonly everyMs: number
  /** How many stay. */
  readonly keep: number
  readonly clock: () => number
  /** Writes a backup to a file that does not exist. */
  readonly write: (file: string, signal: AbortSignal) => Promise<void>
  readonly onDone: (file: string) => void
  readonly onFailure: (error: unknown) => void
}

/** Backups that are made by themselves. */
export type ScheduledBackups = ReturnType<typeof startBackups>

/** @throws AppError `invalid_input` when the folder does not exist */
export function requireFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  throw new AppError('invalid_input', `BACKUP_DIR must be an existing folder; ${folder} is not.`)
}

/** Begins to make backups. The folder says when the last one was made, so that a restart makes none too many. */
export function startBackups(schedule: Schedule) {
  const { folder, everyMs, keep, clock } = schedule
  const stopping = new AbortController()
  let failures = 0
  const makeOne = async () => {
    const name = nameBackup(clock())
    removeLeftOvers(folder, clock())
    await schedule.write(join(folder, name), stopping.signal)
    for (const old of listBackups(folder).slice(0, -keep)) rmSync(join(folder, old.name), { force: true })
    schedule.onDone(join(folder, name))
  }
  const run = async () => {
    let retryAt = 0
    for (;;) {
      const newest = findNewest(folder)
      // A time to come is no reason to wait for it: a clock that was wrong made that name.
      const due = newest === null || newest > clock() ? retryAt : Math.max(newest + everyMs, retryAt)
      if (due > clock()) await sleep(Math.min(due - clock(), MAX_SLEEP_MS), undefined, { signal: stopping.signal, ref: false })
      else {
        try {
          await makeOne()
        } catch (error) {
          stopping.signal.throwIfAborted()
          failures++
          retryAt = clock() + Math.min(everyMs, RETRY_MS)
          schedule.onFailure(error)
        }
      }
    }
  }
  // Ends by being stopped alone.
  const running = run().catch((error) => {
    if (!stopping.signal.aborted) schedule.onFailure(error)
  })
  return {
    /** When the newest one was made; null when there is none. */
    lastBackup(): Date | null {
      const newest = findNewest(folder)
      return newest === null ? null : new Date(newest)
    },
    /** How many could not be made, since the start. */
    failures: () => failures,
    /** Ends with the one that is being written, which is dropped. */
    async stop(): Promise<void> {
      stopping.abort()
      await running
    },
  }
}

/** Runs `backup` in a process of its own: SQLite copies in one step, which would hold up this one. */
export async function writeInProcess(program: string, file: string, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [program, 'backup', file], { signal }, (error, _, stderr) => {
      if (error) reject(new Error(stderr.trim() || error.message))
      else resolve()
    })
  })
}

function findNewest(folder: string): number | null {
  try {
    return listBackups(folder).at(-1)?.at ?? null
  } catch {
    // The folder may come back: the next backup says what is wrong with it.
    return null
  }
}

function removeLeftOvers(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((one) => LEFT_OVER.test(one))) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: now }
    if (now - mtimeMs > LEFT_OVER_MS) rmSync(join(folder, name), { force: true })
  }
}
