import { randomBytes } from 'node:crypto'
import { readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { syncFile } from './sqlite-copy.ts'

/** Of the snapshot beside a library file, and of one that is being written. */
const SUFFIX = '.search'
const UNFINISHED = `${SUFFIX}.unfinished-`
/** Bytes after which what was written goes to disk, so that a commit beside never waits for much. */
const BYTES_A_SYNC = 8 * 2 ** 20
const FIRST_BUFFER = 2 ** 20
/** Files of a killed process are removed at a start after this. */
const STALE_MS = 3600 * 1000
/** Room that must be free on the disk, as a multiple of the library: saves go before snapshots, which are always smaller. */
const FREE_ROOM = 2

/** The bytes of a snapshot of the search index, in their order. */
export type SnapshotSource = ReturnType<typeof readFrom>

/** A snapshot that is being written. */
export type SnapshotDraft = Awaited<ReturnType<typeof draftSnapshot>>

/** The file of a library's snapshot, and those that are being written. */
export type SnapshotFile = ReturnType<typeof snapshotFile>

/** The library's file itself: who opens it by a link and who does not find the same snapshot. */
function realLibrary(library: string): string {
  try {
    return realpathSync(library)
  } catch {
    return library
  }
}

/** Where the snapshot of a library is. */
export function snapshotPath(library: string): string {
  return `${realLibrary(library)}${SUFFIX}`
}

/**
 * Removes the snapshot of a library, finished or not. The order matters: one that is renamed meanwhile is found by its final name.
 * @throws what the file system says, other than that there is none
 */
export function removeSnapshots(library: string): void {
  removeUnfinished(library)
  rmSync(snapshotPath(library), { force: true })
}

/** Removes what killed processes left. A process still writing one loses its work. @param olderMs since it was written to */
function removeUnfinished(library: string, olderMs = 0): void {
  const file = realLibrary(library)
  const prefix = `${basename(file)}${UNFINISHED}`
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue
    const path = join(dirname(file), name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    if (olderMs === 0 || mtimeMs < Date.now() - olderMs) rmSync(path, { force: true })
  }
}

/** @throws AppError `unavailable` where the disk has too little room for a snapshot beside what the library will need */
async function requireRoom(library: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(realLibrary(library)))
  if (bavail * bsize < FREE_ROOM * (statSync(library, { throwIfNoEntry: false })?.size ?? 0)) {
    throw new AppError('unavailable', 'The disk has too little room for a snapshot of the search index.')
  }
}

/** Begins a snapshot, under a name of its own and readable by its owner alone. */
async function draftSnapshot(library: string) {
  const path = `${realLibrary(library)}${UNFINISHED}${randomBytes(8).toString('hex')}`
  const file = await open(path, 'wx', 0o600)
  let unsynced = 0
  return {
    async write(bytes: Uint8Array): Promise<void> {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
      unsynced += bytes.length
      if (unsynced >= BYTES_A_SYNC) {
        await file.datasync()
        unsynced = 0
      }
    },
    /** Removes it. */
    async discard(): Promise<void> {
      await file.close().catch(() => {})
      rmSync(path, { force: true })
    },
    /** Puts it in the place of the last one. False when it was removed meanwhile: what it holds may have been purged. */
    async finish(): Promise<boolean> {
      await file.sync()
      await file.close()
      try {
        await rename(path, snapshotPath(library))
      } catch (error) {
        if (isMissing(error)) return false
        throw error
      }
      syncFile(dirname(path))
      return true
    },
  }
}

function readFrom(file: FileHandle) {
  let buffer = Buffer.alloc(FIRST_BUFFER)
  return {
    /** The next bytes, valid until the next call. @throws RangeError where fewer are left */
    async read(length: number): Promise<Buffer> {
      if (length > buffer.length) buffer = Buffer.alloc(length)
      for (let at = 0; at < length; ) {
        const { bytesRead } = await file.read(buffer, at, length - at)
        if (bytesRead === 0) throw new RangeError('The snapshot is cut off.')
        at += bytesRead
      }
      return buffer.subarray(0, length)
    },
    isAtEnd: async (): Promise<boolean> => (await file.read(Buffer.alloc(1), 0, 1)).bytesRead === 0,
  }
}

/** The snapshot in a file beside a library file, or beside the path that one would have. */
export function snapshotFile(library: string) {
  return {
    /** Its files are named for this one. */
    path: library,
    /**
     * Runs `work` on the finished snapshot, which stays the same meanwhile; null when there is none.
     * @throws what the file system says
     */
    async read<T>(work: (source: SnapshotSource) => Promise<T>): Promise<T | null> {
      let file: FileHandle
      try {
        file = await open(snapshotPath(library), 'r')
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
      try {
        return await work(readFrom(file))
      } finally {
        await file.close()
      }
    },
    /**
     * Begins a snapshot, which nobody reads before it is finished.
     * @throws AppError `unavailable` where there is too little room for one
     */
    async draft(): Promise<SnapshotDraft> {
      removeUnfinished(library)
      await requireRoom(library)
      return await draftSnapshot(library)
    },
    /** Removes every snapshot, finished or not. */
    async remove(): Promise<void> {
      removeSnapshots(library)
    },
    /** Removes what killed processes left. */
    async removeUnfinished(): Promise<void> {
      removeUnfinished(library, STALE_MS)
    },
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
