import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

/** Longest wait of a checkpoint for readers and writers. */
const LOCK_WAIT_MS = 1_000

/** Checkpoints the log as far as readers allow, then truncates it; posts whether it could. */
const CHECKPOINT = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const file = new DatabaseSync(workerData, { timeout: ${LOCK_WAIT_MS} })
  file.exec('pragma wal_checkpoint(passive)')
  const { busy } = file.prepare('pragma wal_checkpoint(truncate)').get()
  file.close()
  parentPort.postMessage(busy === 0)
`

/** Size of a library's log in bytes; 0 without one. */
export function sizeOfLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Checkpoints and truncates the log on a worker thread: a large one takes too long to block for. False when others hold it or it failed;
 * the data is safe in the log.
 */
export async function emptyLogBeside(path: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const worker = new Worker(CHECKPOINT, { eval: true, workerData: path })
    worker.once('message', resolve)
    worker.once('error', () => resolve(false))
    worker.once('exit', () => resolve(false))
  })
}

/** Flushes what a transaction wrote into the log, so that its commit is short. */
export async function flushLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
