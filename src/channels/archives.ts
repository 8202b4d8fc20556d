import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Zip, ZipPassThrough } from 'fflate'
import { LRUCache } from 'lru-cache'
import { fileMode, type SkillFile } from '../domain/skills/skill.ts'

/** Bytes of archives kept in memory. */
const MAX_BYTES = 64 * 1024 * 1024
/** Digests of archives kept in memory, some 200 bytes each. */
const MAX_DIGESTS = 100_000

/** A file as it is known before its bytes are read. */
export interface FileDigest {
  readonly filename: string
  /** In hex. */
  readonly sha256: string
  readonly mode?: number | null | undefined
}

/** An archive of files. The same files give the same bytes. */
export interface Archive {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** In hex. */
  readonly sha256: string
}

function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** Names files by what is in them: what the archive of them is kept under. */
export function archiveKey(files: readonly FileDigest[]): string {
  const key = createHash('sha256')
  for (const { filename, sha256, mode } of files) key.update(`${sha256} ${mode ?? ''} ${filename}\n`)
  return key.digest('base64')
}

type ReadFiles = () => Promise<readonly SkillFile[]>

/** Archives of skills and of several of them, made once and kept within bounds. */
export function createArchives() {
  const archives = new LRUCache<string, Archive>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes.length })
  const digests = new LRUCache<string, string>({ maxSize: MAX_DIGESTS, sizeCalculation: () => 1 })
  const pending = new Map<string, Promise<{ readonly key: string; readonly archive: Archive }>>()

  const make = async (read: ReadFiles) => {
    const files = await read()
    const bytes = await storeFiles(files)
    const archive = { bytes, sha256: sha256Of(bytes) }
    // Files that were changed after the listing was read have another key.
    const actualKey = archiveKey(files.map((file) => ({ ...file, sha256: sha256Of(file.bytes) })))
    archives.set(actualKey, archive)
    digests.set(actualKey, archive.sha256)
    return { key: actualKey, archive }
  }
  const get = async (key: string, read: ReadFiles): Promise<Archive> => {
    const known = archives.get(key)
    if (known) return known
    const running = pending.get(key)
    if (running) {
      // What another reader's files have become meanwhile is not for this one.
      const made = await running.catch(() => null)
      return made?.key === key ? made.archive : (await make(read)).archive
    }
    const making = make(read).finally(() => pending.delete(key))
    pending.set(key, making)
    return (await making).archive
  }
  return {
    get,
    /** The digest of an archive's bytes, in hex; makes the archive when it is not known. */
    digest: async (key: string, read: ReadFiles): Promise<string> => digests.get(key) ?? (await get(key, read)).sha256,
  }
}

/**
 * Packs files uncompressed, other work between them. What stands in the archive depends on the files alone: no time, no machine and no
 * version of a compressor.
 */
async function storeFiles(files: readonly SkillFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  const zip = new Zip((error, piece) => {
    if (error) throw error
    pieces.push(piece)
  })
  for (const file of files) {
    const entry = new ZipPassThrough(file.filename)
    // The first moment a zip can name. It is read by the local calendar, so it is made by the local calendar.
    entry.mtime = new Date(1980, 0, 1)
    entry.os = 3
    entry.attrs = (0o100000 | fileMode(file)) << 16
    zip.add(entry)
    entry.push(file.bytes, true)
    await nextTurn()
  }
  zip.end()
  return new Uint8Array(Buffer.concat(pieces))
}
