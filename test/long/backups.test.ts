import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RESTORE_STEPS } from '../../src/storage/backup/restore-backup.ts'
import { makeFolder } from '../support/folders.ts'
import { createUser } from '../support/library-fixtures.ts'
import { createPlace, type Place, run } from '../support/processes.ts'

/** Backups beside a service, and what comes back of them. */

const KILLED_RESTORE = fileURLToPath(new URL('../support/killed-restore.ts', import.meta.url))

/** The sample of `.ci/run` is killed after every second step. */
const STEPS = RESTORE_STEPS.filter((_, place) => process.env['IS_SAMPLE'] !== 'true' || place % 2 === 0)

const folder = makeFolder()
let place: Place
let path: string
beforeEach(() => {
  path = join(mkdtempSync(join(folder, 'place-')), 'library.db')
  // In a file on every engine's run; the one of a server is asked for where it is meant.
  place = createPlace(() => `sqlite:${path}`)
})
afterEach(() => place.remove())

/** A command that must go well; its output. */
async function must(args: readonly string[], on: Place = place): Promise<string> {
  const { code, stdout, stderr } = await on.commonplace(args)
  expect([code, stderr], args.join(' ')).toEqual([0, ''])
  return stdout
}

/** The usernames in a library, and whether it is sound. */
async function readUsers(on: Place = place): Promise<string> {
  const { users } = JSON.parse(await must(['users', 'list'], on))
  return users.map(({ username }: { username: string }) => username).join(' ')
}

describe('a restore', () => {
  const backUp = async () => {
    const backup = join(place.folder, 'backup.db')
    await must(['backup', backup])
    return backup
  }

  it.each(STEPS)('that is killed when it has %s leaves the old or the new library whole', async (step) => {
    await createUser(place.databaseUrl, 'new')
    const backup = await backUp()
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    await createUser(place.databaseUrl, 'old')
    const killed = await run(process.execPath, [KILLED_RESTORE, backup, place.databaseUrl, step])
    expect([killed.code, killed.stderr]).toEqual([null, ''])
    expect(await readUsers()).toBe(RESTORE_STEPS.indexOf(step) < RESTORE_STEPS.indexOf('placed') ? 'old' : 'new')
    await must(['restore-backup', backup])
    expect(await readUsers()).toBe('new')
    expect(existsSync(`${path}.restoring`)).toBe(false)
  })

  it.each(STEPS)('over a library that cannot be read, killed when it has %s, is refused or whole until it is run again', async (step) => {
    await createUser(place.databaseUrl, 'new')
    const backup = await backUp()
    writeFileSync(path, 'x'.repeat(5000))
    const killed = await run(process.execPath, [KILLED_RESTORE, backup, place.databaseUrl, step, '--force'])
    expect([killed.code, killed.stderr]).toEqual([null, ''])
    const { code, stdout } = await place.commonplace(['users', 'list'])
    expect(code === 0 ? JSON.parse(stdout).users[0].username === 'new' : code).toBe(
      RESTORE_STEPS.indexOf(step) < RESTORE_STEPS.indexOf('placed') ? 69 : true,
    )
    await must(['restore-backup', backup, '--force'])
    expect(await readUsers()).toBe('new')
  })
})

describe('a library file', () => {
  it('that was put beside the log of another is refused, and not damaged', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backup = join(place.folder, 'backup.db')
    await must(['backup', backup])
    const { child } = await place.serve({ instances: 1 })
    await createUser(place.databaseUrl, 'bob')
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
    copyFileSync(backup, path)
    expect(await place.commonplace(['users', 'list'])).toMatchObject({
      code: 69,
      stderr: `${path}-wal does not belong to ${path}, which was put there without it, and would damage it. Move ${path}-wal and ${path}-shm away.\n`,
    })
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    expect(await readUsers()).toBe('ada')
  })
})
