import { hash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { brotliDecompressSync } from 'node:zlib'
import type { PackedRuntime, RuntimeFile } from './pack-runtime.ts'

/** Longest wait for another process that unpacks. */
const LOCK_WAIT_MS = 120_000
/** Folders that an interrupted start left. */
const UNFINISHED = '.unpacking-'

/** Where the executable unpacks itself: a folder of this user. systemd sets CACHE_DIRECTORY. */
export function cacheFolder(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const { COMMONPLACE_CACHE: own, CACHE_DIRECTORY: unit, XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = environment
  if (own) return own
  if (unit) return unit.split(':', 1).join('')
  if (xdg) return join(xdg, 'commonplace')
  return platform === 'win32' && local ? join(local, 'commonplace', 'cache') : join(homedir(), '.cache', 'commonplace')
}

/**
 * Gives the folder with the files of a packed runtime, made on the first call: of several processes that start at once one unpacks and the
 * others wait. Every call compares each file with its digest, and unpacks again when one differs, is missing or does not belong there.
 * @param cache made when missing. Nobody else may be able to write to it: what is unpacked there is run.
 */
export function unpackRuntime(runtime: PackedRuntime, cache: string): string {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  requirePrivate(cache)
  const folder = join(cache, runtime.name)
  if (isWhole(folder, runtime.files)) return folder
  // The lock of a database goes with its process, however that ends. Who can read the file could keep others waiting.
  const lockFile = join(cache, '.lock')
  writeFileSync(lockFile, '', { flag: 'a', mode: 0o600 })
  const lock = new DatabaseSync(lockFile, { timeout: LOCK_WAIT_MS })
  try {
    lock.exec('begin exclusive')
    if (!isWhole(folder, runtime.files)) replace(folder, runtime)
  } finally {
    lock.close()
  }
  return folder
}

/** @throws Error when others than this user could put files there */
function requirePrivate(folder: string): void {
  const { uid, mode } = statSync(folder)
  // Windows has neither.
  if (process.getuid === undefined) return
  if (uid !== process.getuid()) throw new Error(`${folder} belongs to another user`)
  if ((mode & 0o022) !== 0) throw new Error(`others may write to ${folder}`)
}

/** Whether a folder has the files of the list as they were packed, and nothing else. */
function isWhole(folder: string, files: readonly RuntimeFile[]): boolean {
  try {
    requirePrivate(folder)
    return (
      countFiles(folder) === files.length && files.every(({ path, digest }) => hash('sha256', readFileSync(join(folder, path))) === digest)
    )
  } catch {
    return false
  }
}

/** How many files there are. @throws Error when there is something else, such as a link */
function countFiles(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((count, entry) => {
    if (!entry.isDirectory() && !entry.isFile()) throw new Error(`${entry.name} is no file`)
    return count + (entry.isFile() ? 1 : countFiles(join(folder, entry.name)))
  }, 0)
}

/** Unpacks beside the folder and swaps the two by renaming, so that nobody ever sees half of one. Only for the holder of the lock. */
function replace(folder: string, runtime: PackedRuntime): void {
  const cache = dirname(folder)
  for (const name of readdirSync(cache)) if (name.startsWith(UNFINISHED)) rmSync(join(cache, name), { recursive: true, force: true })
  const fresh = join(cache, `${UNFINISHED}${randomBytes(8).toString('hex')}`)
  try {
    const bytes = brotliDecompressSync(runtime.readArchive())
    let at = 0
    for (const { path, size, digest } of runtime.files) {
      const content = bytes.subarray(at, at + size)
      at += size
      if (hash('sha256', content) !== digest) throw new Error('the executable is damaged, get it again')
      const target = join(fresh, path.replaceAll('/', sep))
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      writeFileSync(target, content, { mode: 0o600 })
    }
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    throw error
  }
}
