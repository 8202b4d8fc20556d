import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startPostgres } from './postgres-server.ts'

/** Where this run's server is, for the processes of its tests. */
const ADDRESS = 'TEST_POSTGRES_URL'
/** The migrated database that others are copies of: a copy takes a tenth of the time that the migrations do. */
const TEMPLATE = 'TEST_POSTGRES_TEMPLATE'

/** One server for the whole run: that of TEST_DATABASE_URL, or one from the packages. */
export default async function providePostgres(): Promise<(() => Promise<void>) | undefined> {
  // Several projects of one run share it.
  if (process.env[ADDRESS] !== undefined) return undefined
  const given = process.env['TEST_DATABASE_URL']
  const server = given ? { url: given, stop: async () => {} } : await startPostgres()
  process.env[ADDRESS] = server.url
  const template = await createDatabase({ isEmpty: true })
  const [{ openPostgres }, { migrate }] = await Promise.all([
    import('../../src/storage/dialects/postgres.ts'),
    import('../../src/storage/migrations/index.ts'),
  ])
  const database = openPostgres(template.url, { readers: 1 })
  await migrate(database)
  await database.close()
  process.env[TEMPLATE] = new URL(template.url).pathname.slice(1)
  return async () => {
    await template.remove()
    await server.stop()
  }
}

/** Whether tests that run on one engine run on PostgreSQL: `npm run test:postgresql` says so. */
export function isOnPostgres(): boolean {
  return process.env['TEST_ENGINE'] === 'postgresql'
}

/** Makes a database on the server: that of an empty library, with `isEmpty` one without tables, or with `template` a copy of another. */
export async function createDatabase({ isEmpty = false, template = '' } = {}): Promise<{ readonly url: string; remove(): Promise<void> }> {
  const serverUrl = process.env[ADDRESS]
  if (serverUrl === undefined) throw new Error('There is no server: tests are run by vitest, which starts one')
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
  const copied = template === '' ? process.env[TEMPLATE] : new URL(template).pathname.slice(1)
  await run(`create database ${name}${isEmpty ? '' : ` template ${copied}`}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, remove: () => run(`drop database ${name} with (force)`) }
}

/** A database without tables for places, which are made before a test can wait. It goes with the server. */
export function createDatabaseNow(): string {
  const program = `import { createDatabase } from ${JSON.stringify(import.meta.url)}; process.stdout.write((await createDatabase({ isEmpty: true })).url)`
  return execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
}
