import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import type { Place } from '../test/support/processes.ts'
import { measureCommand } from './measured-command.ts'

/** A library that the service is started on, and how far the snapshot of its index is. */
export interface StartedLibrary {
  readonly url: string
  /** Where a server's library has its snapshot. */
  readonly dataFolder: string
  readState(): 'none' | 'writing' | 'whole'
  /** Of the library, and of its snapshot. */
  measure(): Promise<{ readonly libraryBytes: number; readonly snapshotBytes: number }>
  close(): Promise<void>
}

/** The snapshot in a folder whose name begins so. */
function findSnapshot(folder: string, prefix: string) {
  const names = () => readdirSync(folder).filter((name) => name.startsWith(prefix))
  const find = () => names().find((name) => name.endsWith('.search'))
  return {
    readState: () =>
      (names().some((name) => name.includes('.search.unfinished-')) ? 'writing' : find() ? 'whole' : 'none') as
        | 'none'
        | 'writing'
        | 'whole',
    measure: () => statSync(join(folder, find() ?? ''), { throwIfNoEntry: false })?.size ?? 0,
  }
}

/** A library file. */
export function startedFile(path: string): StartedLibrary {
  const snapshot = findSnapshot(dirname(path), basename(path))
  return {
    url: `sqlite:${path}`,
    dataFolder: dirname(path),
    readState: snapshot.readState,
    measure: async () => ({ libraryBytes: statSync(path).size, snapshotBytes: snapshot.readState() === 'none' ? 0 : snapshot.measure() }),
    close: async () => {},
  }
}

/** A copy of a library file on a server, which gets a database for it. */
export async function startedOnServer(server: PostgresServer, place: Place, path: string, name: string): Promise<StartedLibrary> {
  const administration = new pg.Client({ connectionString: server.url })
  await administration.connect()
  await administration.query(`create database ${name}`)
  await administration.end()
  const url = new URL(server.url)
  url.pathname = `/${name}`
  await measureCommand(place, ['migrate-data', '--from', `sqlite:${path}`, '--to', url.href], {})
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const dataFolder = `${path}.data`
  mkdirSync(dataFolder, { recursive: true })
  const snapshot = findSnapshot(dataFolder, 'postgres-')
  return {
    url: url.href,
    dataFolder,
    readState: snapshot.readState,
    async measure() {
      const { rows } = await client.query<{ library: string }>('select pg_database_size(current_database()) as library')
      return { libraryBytes: Number(rows[0]?.library), snapshotBytes: snapshot.readState() === 'none' ? 0 : snapshot.measure() }
    },
    close: () => client.end(),
  }
}
