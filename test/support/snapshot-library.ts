import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { snapshotPath } from '../../src/storage/dialects/snapshot-file.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { writeEmptyLibrary } from './library-file.ts'

/** A library, and the bytes of the snapshot of its search index past the program that writes them. */
export interface SnapshotLibrary {
  readonly url: string
  open(): OpenDatabase
  /** The finished snapshot. */
  has(): Promise<boolean>
  take(): Promise<Buffer>
  put(bytes: Buffer): Promise<void>
  drop(): Promise<void>
  hasDraft(): Promise<boolean>
  /** Every byte of snapshots, finished or not. */
  readAll(): Promise<string>
  /** Copies the library while nobody uses it; the function puts the copy in its place, and leaves the snapshot that is there then. */
  copy(): Promise<() => Promise<void>>
  remove(): Promise<void>
}

/** An empty library in a file. */
export async function makeSnapshotLibrary(): Promise<SnapshotLibrary> {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-snapshot-'))
  const path = join(folder, 'library.db')
  const snapshot = snapshotPath(path)
  await writeEmptyLibrary(path)
  return {
    url: `sqlite:${path}`,
    open: () => openSqlite(path),
    has: async () => existsSync(snapshot),
    take: async () => readFileSync(snapshot),
    put: async (bytes) => writeFileSync(snapshot, bytes),
    drop: async () => rmSync(snapshot, { force: true }),
    hasDraft: async () => readdirSync(folder).some((name) => name.includes('unfinished')),
    readAll: async () =>
      readdirSync(folder)
        .filter((name) => name.includes('.search'))
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join('\n'),
    async copy() {
      copyFileSync(path, `${path}-copy`)
      return async () => {
        for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
        copyFileSync(`${path}-copy`, path)
      }
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
