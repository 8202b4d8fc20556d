import { existsSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../../errors.ts'

/** A marker file beside a library file, which outlives it. */
function markerOf(path: string): string {
  return `${path}.made`
}

/**
 * Refuses to create an empty library where there was one before: its file was deleted, or the wrong folder is mounted.
 * @throws AppError `not_found`
 */
export function refuseLostLibrary(path: string, mayCreate: boolean): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > 0 || mayCreate || !existsSync(markerOf(path))) return
  throw new AppError(
    'not_found',
    `There was a library at ${path}, and it is gone. Put it back, restore a backup, or start with --create to make an empty one.`,
  )
}

/** Marks this path as holding a library. */
export function markLibrary(path: string): void {
  if (existsSync(markerOf(path))) return
  const text = `The library ${basename(path)} was made here on ${new Date().toISOString()}. Without it the service does not start on an empty one.\n`
  try {
    writeFileSync(markerOf(path), text, { mode: 0o600, flag: 'wx' })
  } catch {
    // Another process was faster, or only the file itself is writable: no marker then.
  }
}
