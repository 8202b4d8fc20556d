import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import pg from 'pg'
import type { PostgresServer } from '../test/support/postgres-server.ts'
import type { Place } from '../test/support/processes.ts'
import { measureCommand } from './measured-command.ts'

/** A library that the service is started on, and how far the snapshot of its index is. */
export interface StartedLibrary {
  readonly url: string
  readState(): Promise<'none' | 'writing' | 'whole'>
  /** Of the library, and of its snapshot. */
  measure(): Promise<{ readonly libraryBytes: number; readonly snapshotBytes: number }>
  close(): Promise<void>
}

/** A library file. */
export function startedFile(path: string): StartedLibrary {
  const snapshot = `${path}.search`
  return {
    url: `sqlite:${path}`,
    async readState() {
      const isWriting = readdirSync(dirname(path)).some((name) => name.startsWith(`${basename(snapshot)}.unfinished-`))
      return isWriting ? 'writing' : existsSync(snapshot) ? 'whole' : 'none'
    },
    measure: async () => ({ libraryBytes: statSync(path).size, snapshotBytes: statSync(snapshot, { throwIfNoEntry: false })?.size ?? 0 }),
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
  return {
    url: url.href,
    async readState() {
      const { rows } = await client.query<{ is_whole: boolean }>('select is_whole from index_snapshot order by is_whole limit 1')
      return rows[0] ? (rows[0].is_whole ? 'whole' : 'writing') : 'none'
    },
    async measure() {
      const { rows } = await client.query<{ library: string; snapshot: string }>(`
        select pg_database_size(current_database()) - pg_total_relation_size('index_snapshot_part') as library,
          coalesce((select sum(octet_length(bytes)) from index_snapshot_part), 0) as snapshot`)
      return { libraryBytes: Number(rows[0]?.library), snapshotBytes: Number(rows[0]?.snapshot) }
    },
    close: () => client.end(),
  }
}
