import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPlace, MAIN, type Place } from '../support/processes.ts'

/** Opening a library: from nothing, by many at once, after a kill, and by a version that is too old for it. */

let place: Place
let path: string
beforeEach(() => {
  place = createPlace()
  path = place.env['DATABASE_URL']?.replace('sqlite:', '') ?? ''
})
afterEach(() => place.remove())

describe('migrations', () => {
  it('are done once when eight processes start on a missing file at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, (_, n) => place.commonplace(['users', 'create', `user-${n}`])))
    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(made.map(() => [0, '']))
    expect((await place.commonplace(['users', 'list'])).stdout.trim().split('\n').length).toBe(8)
  })

  it('leave nothing half-done when killed at any moment', async () => {
    for (let waitMs = 0; waitMs < 60; waitMs += 6) {
      const own = createPlace()
      const child = spawn(process.execPath, [MAIN, 'users', 'create', 'ada'], { env: { ...process.env, ...own.env } })
      const file = own.env['DATABASE_URL']?.replace('sqlite:', '') ?? ''
      while (child.exitCode === null && !statSync(file, { throwIfNoEntry: false })) await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      const after = await own.commonplace(['users', 'list'])
      expect([after.code, after.stderr], `killed after ${waitMs} ms`).toEqual([0, ''])
      await own.remove()
    }
  }, 120_000)

  it('refuse a library that a newer version used, and say so', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const file = new DatabaseSync(path)
    file.exec("insert into migration (name, applied_at) values ('9999-future', '')")
    file.close()
    const refused = await place.commonplace(['users', 'list'])
    expect([refused.code, refused.stderr]).toEqual([69, expect.stringMatching(/newer version.*9999-future/)])
  })
})

describe('the file', () => {
  it('is its owner’s alone', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    expect(statSync(path).mode & 0o077).toBe(0)
  })

  it('can be read with a key while another process holds the write lock', async () => {
    await place.commonplace(['users', 'create', 'ada'])
    const key = (await place.commonplace(['keys', 'create', '--user', 'ada', '--name', 'k'])).stdout.trim()
    const { url } = await place.serve()
    const holder = new DatabaseSync(path)
    holder.exec('begin immediate')
    const started = performance.now()
    const read = await fetch(`${url}/api/prompts`, { headers: { 'X-API-Key': key } })
    // Not a benchmark: what is ruled out is waiting for the lock, which takes fifteen seconds.
    expect([read.status, performance.now() - started < 5000]).toEqual([200, true])
    holder.exec('rollback')
    holder.close()
  })
})
