import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

/** Longest wait of a checkpoint for those who read or write. */
const LOCK_WAIT_MS = 1_000

/** Copies the log into the library, as far as readers let it, then empties it; what it posts is whether it could. */
const CHECKPOINT = `
  const { DatabaseSync } = require('node:sqlite')
  const { parentPort, workerData } = require('node:worker_threads')
  const file = new DatabaseSync(workerData, { timeout: ${LOCK_WAIT_MS} })
  file.exec('pragma wal_checkpoint(passive)')
  const { busy } = file.prepare('pragma wal_checkpoint(truncate)').get()
  file.close()
  parentPort.postMessage(busy === 0)
`

/** How large the log of a library file is, in bytes; 0 where there is none. */
export function sizeOfLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Empties the log into the library on a thread of its own: a large one takes the disk for too long to wait for it here. False when others held it,
 * or it could not be done: what is in the log is safe there.
 */
export async function emptyLogBeside(path: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const worker = new Worker(CHECKPOINT, { eval: true, workerData: path })
    worker.once('message', resolve)
    worker.once('error', () => resolve(false))
    worker.once('exit', () => resolve(false))
  })
}

/** Has the disk take what a transaction wrote into the log, so that its commit need not wait for that. */
export async function flushLog(path: string): Promise<void> {
  const log = await open(`${path}-wal`, 'r+')
  try {
    await log.datasync()
  } finally {
    await log.close()
  }
}
