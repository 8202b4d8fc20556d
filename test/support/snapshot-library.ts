import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { snapshotPath } from '../../src/storage/dialects/snapshot-file.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { createDatabase, isOnPostgres } from './postgres.ts'

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

/** An empty library on the engine of this run. */
export async function makeSnapshotLibrary(): Promise<SnapshotLibrary> {
  if (!isOnPostgres()) return makeFile()
  const database = await createDatabase()
  return onServer(database.url, [database])
}

function makeFile(): SnapshotLibrary {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-snapshot-'))
  const path = join(folder, 'library.db')
  const snapshot = snapshotPath(path)
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

interface Part {
  readonly part: number
  readonly bytes: Buffer
}

/** A library in a database. @param made databases that go with it */
export function onServer(address: string, made: { remove(): Promise<void> }[] = []): SnapshotLibrary {
  let url = address
  const connect = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
  const ask = async <Row extends object>(text: string): Promise<Row[]> => (await connect((client) => client.query<Row>(text))).rows
  const whole = 'select id from index_snapshot where is_whole'
  const library: SnapshotLibrary = {
    get url() {
      return url
    },
    open: () => openPostgres(url, { readers: 2 }),
    has: async () => (await ask(whole)).length > 0,
    take: async () =>
      Buffer.concat(
        (await ask<Part>(`select part, bytes from index_snapshot_part where snapshot_id = (${whole}) order by part`)).map(
          ({ bytes }) => bytes,
        ),
      ),
    async put(bytes) {
      const id = randomUUID()
      await connect(async (client) => {
        await client.query('delete from index_snapshot where is_whole')
        await client.query('insert into index_snapshot (id, is_whole) values ($1, true)', [id])
        for (const [part, chunk] of [bytes.subarray(0, 4096), bytes.subarray(4096)].entries())
          if (chunk.length > 0) await client.query('insert into index_snapshot_part values ($1, $2, $3)', [id, part, chunk])
      })
    },
    async drop() {
      await ask('delete from index_snapshot where is_whole')
    },
    hasDraft: async () => (await ask('select 1 from index_snapshot where not is_whole')).length > 0,
    readAll: async () =>
      (await ask<Part>('select part, bytes from index_snapshot_part order by snapshot_id, part'))
        .map(({ bytes }) => bytes.toString('latin1'))
        .join(''),
    async copy() {
      const copy = await createDatabase({ template: url })
      made.push(copy)
      return async () => {
        const snapshot = await library.take()
        const next = await createDatabase({ template: copy.url })
        made.push(next)
        url = next.url
        await library.put(snapshot)
      }
    },
    async remove() {
      for (const database of made) await database.remove()
    },
  }
  return library
}
