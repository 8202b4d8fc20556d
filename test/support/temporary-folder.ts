import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const NAME = /^commonplace-tests-(\d+)$/
/** A run needs less; memory that the system lacks slows everything down. */
const MIN_FREE_BYTES = 8 * 2 ** 30

/**
 * Keeps the temporary files of this process and its children in memory, where there is room: each commit of a library waits for the disk, which
 * takes longer than most tests. The files go when the process ends, or with the next run if it was killed.
 */
export function useMemoryForFiles(): void {
  if (process.env['TMPDIR'] !== undefined) return
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < MIN_FREE_BYTES) return
    for (const name of readdirSync(MEMORY)) {
      const [, pid] = NAME.exec(name) ?? []
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true })
    }
    const folder = join(MEMORY, `commonplace-tests-${process.pid}`)
    mkdirSync(folder)
    process.env['TMPDIR'] = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  } catch {
    // Not every system has it; the disk does as well.
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process may not be signalled, but it runs.
    return Object(error).code === 'EPERM'
  }
}
