import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { MIGRATIONS, migrate } from '../../src/storage/migrations/index.ts'
import { createStore } from '../../src/storage/store.ts'
import { openAt } from '../support/engines.ts'
import { createKey, createUser } from '../support/library-fixtures.ts'
import { createDatabaseNow, isOnPostgres } from '../support/postgres.ts'
import { createPlace, type Place } from '../support/processes.ts'

/** Opening a library: from nothing, by many at once, after a kill, and by a version that is too old for it. */

const KILLED_MIGRATION = fileURLToPath(new URL('../support/killed-migration.ts', import.meta.url))

let place: Place
let databaseUrl: string
beforeEach(() => {
  place = createPlace()
  databaseUrl = place.databaseUrl
})
afterEach(() => place.remove())

describe('migrations', () => {
  it('are done once when processes start on nothing at once', async () => {
    const made = await Promise.all(['ada', 'ben', 'cleo'].map((name) => place.commonplace(['users', 'create', name])))
    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(made.map(() => [0, '']))
    expect(JSON.parse((await place.commonplace(['users', 'list'])).stdout).users.length).toBe(3)
  })

  it.each([0, 20, MIGRATIONS.length - 1])('leave nothing half-done when killed before the one after %i', async (done) => {
    const killed = spawn(process.execPath, [KILLED_MIGRATION, databaseUrl, String(done)])
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL'])
    const database = openAt(databaseUrl)
    expect([...(await database.dialect.readColumns(database.reader))].filter((column) => /^(user|item|migration)\./.test(column))).toEqual(
      [],
    )
    const store = await createStore(database, SYSTEM)
    const findings = await database.readSnapshot((db) => examine(db, database.dialect))
    expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
    await store.close()
  })

  it('refuse a library that a newer version used, and say so', async () => {
    const database = openAt(databaseUrl)
    await migrate(database)
    await database.transact((db) => sql`insert into migration (name, applied_at) values ('9999-future', '')`.execute(db))
    await expect(createStore(database, SYSTEM)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/newer version.*9999-future/),
    })
    await database.close()
  })
})

describe('the library', () => {
  it.skipIf(isOnPostgres())('is its owner’s alone', async () => {
    await createUser(databaseUrl, 'ada')
    expect(statSync(databaseUrl.replace('sqlite:', '')).mode & 0o077).toBe(0)
  })

  it('can be read with a key while another process holds the write lock', async () => {
    const key = await createKey(databaseUrl, 'ada')
    const { url } = await place.serve()
    const holder = openAt(databaseUrl)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: held, resolve: hold } = Promise.withResolvers<void>()
    const holding = holder.transact(async () => {
      hold()
      await released
    })
    await held
    // It is released after the answer: a read that waited for it would have none.
    expect((await fetch(`${url}/api/prompts`, { headers: { 'X-API-Key': key } })).status).toBe(200)
    release()
    await holding
    await holder.close()
  })
})

describe.runIf(isOnPostgres())('a database server', () => {
  it.each([
    [
      'that is not there',
      (url: URL) => (url.port = '1'),
      /^Could not open the library at postgres:\/\/127\.0\.0\.1:1\/\S+: .*ECONNREFUSED/,
    ],
    [
      'with another password',
      (url: URL) => (url.password = 'hush-hush'),
      /^Could not open the library at postgres:\S+: password authentication failed for user "\w+"\.$/,
    ],
  ])('%s is told of in a sentence, without the password', async (_, change, sentence) => {
    const url = new URL(createDatabaseNow())
    change(url)
    const refused = await place.commonplace(['users', 'list'], { env: { DATABASE_URL: url.href, PGPASSWORD: '' } })
    expect([refused.code, refused.stdout, refused.stderr.trim()]).toEqual([69, '', expect.stringMatching(sentence)])
    expect(refused.stderr.trim().split('\n').length).toBe(1)
    if (url.password !== '') expect(refused.stderr).not.toContain(url.password)
  })
})
