import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAt } from '../support/engines.ts'
import { importStarter, savePrompts } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'

/** `doctor` on a library file, as people run it; what it sees is tested on both engines in test/engine/doctor.test.ts. */

let folder: string
let path: string
let place: Place
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-doctor-'))
  path = join(folder, 'library.db')
  place = createPlace(() => `sqlite:${path}`)
})
afterEach(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

async function harm(statement: string): Promise<void> {
  const database = openAt(place.databaseUrl)
  await database.transact((db) => sql.raw(statement).execute(db))
  await database.close()
}

describe('doctor', () => {
  it('finds the starter library sound beside a service, as a library and as a backup', async () => {
    await importStarter(place.databaseUrl, 'ada')
    await place.serveHere()
    const { code, stdout, stderr } = await place.commonplace(['doctor'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.trim().split('\n')).toEqual(
      [
        'schema',
        'structure',
        'references',
        'files',
        'unused files',
        'versions',
        'newest versions',
        'addresses',
        'teams',
        'votes',
        'search words',
        'item vectors',
      ].map((check) => `ok        ${check}`),
    )
    const backup = join(folder, 'backup.db')
    await place.commonplace(['backup', backup])
    const looked = await place.commonplace(['doctor', backup])
    expect([looked.code, looked.stdout]).toEqual([0, `ok        manifest\n${stdout}`])
    expect(await place.commonplace(['doctor', backup, '--repair'])).toMatchObject({ code: 64 })
  })

  it('ends with status 1 for a fault, and mends what can be made again', async () => {
    await savePrompts(place.databaseUrl, 'ada', [{ title: 'Walrus', content: 'Write about a walrus.' }])
    await harm('update item set votes = 3')
    const found = await place.commonplace(['doctor'])
    expect(found.code).toBe(1)
    expect(found.stdout).toMatch(/^fault {5}votes: 1 {2}\(fix with doctor --repair\)\n {10}prompt \S+ has another count than votes$/m)
    const mended = await place.commonplace(['doctor', '--repair'])
    expect([mended.code, /^repaired {2}votes$/m.test(mended.stdout)]).toEqual([0, true])

    await harm('delete from version')
    const lost = JSON.parse((await place.commonplace(['doctor', '--repair', '--json'])).stdout)
    expect(lost.filter(({ state }: { state: string }) => state === 'fault')).toMatchObject([
      { check: 'versions', count: 1, isRepairable: false },
    ])
  })

  it('gives back the room that removed rows left', async () => {
    const content = 'x'.repeat(100_000)
    await savePrompts(
      place.databaseUrl,
      'ada',
      Array.from({ length: 20 }, (_, n) => ({ title: `Long ${n}`, content })),
    )
    await harm("update item set content = ''; ")
    await harm("update version set content = ''")
    const before = statSync(path).size
    expect((await place.commonplace(['doctor', '--vacuum'])).code).toBe(0)
    expect(statSync(path).size).toBeLessThan(before / 2)
  })

  it('names what is damaged in the file', async () => {
    await savePrompts(place.databaseUrl, 'ada', [{ title: 'Walrus', content: 'x'.repeat(100_000) }])
    await harm('delete from ended_session')
    const file = openSync(path, 'r+')
    for (let page = 20; page < 60; page++) writeSync(file, Buffer.alloc(4096, 0x55), 0, 4096, page * 4096)
    closeSync(file)
    const { code, stdout } = await place.commonplace(['doctor'])
    expect([code, /^fault {5}structure: \d+$/m.test(stdout)]).toEqual([1, true])
  })
})
