import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAt } from '../support/engines.ts'
import { createKey, createUser } from '../support/library-fixtures.ts'
import { createDatabaseNow, isOnPostgres } from '../support/postgres.ts'
import { createPlace, MAIN, type Place } from '../support/processes.ts'

/** Opening a library: from nothing, by many at once, after a kill, and by a version that is too old for it. */

let place: Place
let databaseUrl: string
beforeEach(() => {
  place = createPlace()
  databaseUrl = place.databaseUrl
})
afterEach(() => place.remove())

describe('migrations', () => {
  it('are done once when eight processes start on a missing file at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, n) => place.commonplace(['users', 'create', `user-${n}`])))
    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(made.map(() => [0, '']))
    expect((await place.commonplace(['users', 'list'])).stdout.trim().split('\n').length).toBe(8)
  })

  it('leave nothing half-done when killed at any moment', async () => {
    // A server is written to later after the start than a file is made.
    const moments = Array.from({ length: 10 }, (_, n) => (isOnPostgres() ? 250 + 25 * n : 6 * n))
    for (const waitMs of moments) {
      const own = createPlace()
      const child = spawn(process.execPath, [MAIN, 'users', 'create', 'ada'], { env: { ...process.env, ...own.env } })
      const file = own.env['DATABASE_URL']?.replace('sqlite:', '') ?? ''
      while (!isOnPostgres() && child.exitCode === null && !statSync(file, { throwIfNoEntry: false }))
        await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      const after = await own.commonplace(['users', 'list'])
      expect([after.code, after.stderr], `killed after ${waitMs} ms`).toEqual([0, ''])
      await own.remove()
    }
  }, 120_000)

  it('refuse a library that a newer version used, and say so', async () => {
    await createUser(databaseUrl, 'ada')
    const database = openAt(databaseUrl)
    await database.transact((db) => sql`insert into migration (name, applied_at) values ('9999-future', '')`.execute(db))
    await database.close()
    const refused = await place.commonplace(['users', 'list'])
    expect([refused.code, refused.stderr]).toEqual([69, expect.stringMatching(/newer version.*9999-future/)])
  })
})

describe('the library', () => {
  it.skipIf(isOnPostgres())('is its owner’s alone', async () => {
    await place.commonplace(['users', 'create', 'ada'])
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
    const started = performance.now()
    const read = await fetch(`${url}/api/prompts`, { headers: { 'X-API-Key': key } })
    // Not a benchmark: what is ruled out is waiting for the lock, which takes fifteen seconds.
    expect([read.status, performance.now() - started < 5000]).toEqual([200, true])
    release()
    await holding
    await holder.close()
  })
})

describe('a database server', () => {
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
    [
      'without the password it asks for',
      (url: URL) => (url.password = ''),
      /^Could not open the library at postgres:\S+: the server requires a password, and neither DATABASE_URL nor PGPASSWORD sets one\.$/,
    ],
    [
      'without the database',
      (url: URL) => (url.pathname = '/no-such'),
      /^Could not open the library at postgres:\S+: database "no-such" does not exist\.$/,
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
