import { randomBytes } from 'node:crypto'
import { readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { syncFile } from '../dialects/sqlite-copy.ts'

/** Of the snapshot beside a library file, and of one that is being written. */
const SUFFIX = '.search'
const UNFINISHED = `${SUFFIX}.unfinished-`
const MAGIC = 'Commonplace search index 1\n'
/** Before each record: its length, and the checksum of everything up to its end. */
const RECORD_HEAD = 8
/** No record is larger: a larger length is damage. */
const MAX_RECORD = 64 * 2 ** 20
/** Bytes after which what was written goes to disk, so that a commit beside never waits for much. */
const BYTES_A_SYNC = 8 * 2 ** 20

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

/** Removes what killed processes left. Who is still writing such a file writes it in vain. @param olderMs since it was written to */
export function removeUnfinished(library: string, olderMs = 0): void {
  const file = realLibrary(library)
  const prefix = `${basename(file)}${UNFINISHED}`
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue
    const path = join(dirname(file), name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    if (olderMs === 0 || mtimeMs < Date.now() - olderMs) rmSync(path, { force: true })
  }
}

/** A snapshot that is being written. */
export interface SnapshotDraft {
  write(record: Uint8Array): Promise<void>
  /** Puts it in place. False when it was removed meanwhile: what it holds may have been purged. */
  finish(): Promise<boolean>
  /** Removes it. */
  discard(): Promise<void>
}

/** Room that must be free on the disk, as a multiple of the library: saves go before snapshots, which are always smaller. */
const FREE_ROOM = 2

/** @throws AppError `unavailable` where the disk has too little room for a snapshot beside what the library will need */
export async function requireRoom(library: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(realLibrary(library)))
  if (bavail * bsize < FREE_ROOM * (statSync(library, { throwIfNoEntry: false })?.size ?? 0)) {
    throw new AppError('unavailable', 'The disk has too little room for a snapshot of the search index.')
  }
}

/** Begins a snapshot, under a name of its own and readable by its owner alone. */
export async function draftSnapshot(library: string): Promise<SnapshotDraft> {
  const path = `${realLibrary(library)}${UNFINISHED}${randomBytes(8).toString('hex')}`
  const file = await open(path, 'wx', 0o600)
  let checksum = crc32(MAGIC)
  let unsynced = 0
  const put = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    unsynced += bytes.length
    if (unsynced < BYTES_A_SYNC) return
    await file.datasync()
    unsynced = 0
  }
  const write = async (record: Uint8Array): Promise<void> => {
    const head = new DataView(new ArrayBuffer(RECORD_HEAD))
    head.setUint32(0, record.length, true)
    checksum = crc32(record, crc32(new Uint8Array(head.buffer, 0, 4), checksum))
    head.setUint32(4, checksum, true)
    await put(new Uint8Array(head.buffer))
    await put(record)
  }
  const discard = async () => {
    await file.close().catch(() => {})
    rmSync(path, { force: true })
  }
  try {
    await put(Buffer.from(MAGIC))
  } catch (error) {
    await discard()
    throw error
  }
  return {
    write,
    discard,
    async finish() {
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

/**
 * Reads the records of a snapshot, in their order; each is valid until the next. Null when there is no snapshot.
 * @throws RangeError when a record is damaged or the file ends within one
 */
export async function openSnapshot(library: string): Promise<SnapshotRecords | null> {
  let file: FileHandle
  try {
    file = await open(snapshotPath(library), 'r')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  const fault = () => new RangeError('The snapshot is damaged.')
  let buffer = Buffer.alloc(2 ** 20)
  const read = async (length: number): Promise<Buffer> => {
    if (length > buffer.length) buffer = Buffer.alloc(length)
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(buffer, at, length - at)
      if (bytesRead === 0) throw fault()
      at += bytesRead
    }
    return buffer.subarray(0, length)
  }
  const isAtEnd = async (): Promise<boolean> => (await file.read(Buffer.alloc(1), 0, 1)).bytesRead === 0
  let checksum = 0
  return {
    async next() {
      if (checksum === 0) {
        const magic = await read(MAGIC.length)
        if (magic.toString('latin1') !== MAGIC) throw fault()
        checksum = crc32(MAGIC)
      }
      const head = Buffer.from(await read(RECORD_HEAD))
      const length = head.readUInt32LE(0)
      if (length > MAX_RECORD) throw fault()
      const record = await read(length)
      checksum = crc32(record, crc32(head.subarray(0, 4), checksum))
      if (checksum !== head.readUInt32LE(4)) throw fault()
      return record
    },
    isAtEnd,
    close: () => file.close(),
  }
}

/** A snapshot that is being read. */
export interface SnapshotRecords {
  next(): Promise<Uint8Array>
  /** Whether nothing follows. Only to be called after the last record. */
  isAtEnd(): Promise<boolean>
  close(): Promise<void>
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
