import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server whose user may create databases. */
    postgresUrl: string
  }
}

/** One server for the whole run: that of TEST_DATABASE_URL, or one from the packages. */
export default async function providePostgres(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given)
    return undefined
  }
  const server = await startPostgres()
  project.provide('postgresUrl', server.url)
  return () => server.stop()
}

/** Makes an empty database on a server. */
export async function createDatabase(serverUrl: string): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const run = async (text: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }
  await run(`create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, remove: () => run(`drop database ${name} with (force)`) }
}
