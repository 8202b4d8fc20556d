import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LibraryStore } from '../../src/storage/store.ts'
import { openAt } from '../support/engines.ts'
import { createKey, createUser, savePrompts } from '../support/library-fixtures.ts'
import { createPlace, type Place } from '../support/processes.ts'
import { writeSchema } from '../support/schema-fixtures.ts'

let place: Place
let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-backup-'))
  path = join(folder, 'library.db')
  // In a file on every engine's run; the one of a server is asked for where it is meant.
  place = createPlace(() => `sqlite:${path}`)
})
afterEach(async () => {
  await place.remove()
  rmSync(folder, { recursive: true, force: true })
})

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

describe('a backup', () => {
  it('replaces no file, and never the library', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backup = join(place.folder, 'backup.db')
    const before = readFileSync(path)
    const manifest = JSON.parse(await must(['backup', backup, '--json']))
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(manifest).toMatchObject({ format: 1, schema: expect.stringMatching(/^\d{4}-/), tables: { user: { rows: 1 } } })
    expect(await place.commonplace(['backup', backup])).toMatchObject({
      code: 75,
      stderr: `${backup} exists. Use another name, or --force to replace it.\n`,
    })
    await must(['backup', backup, '--force'])
    expect((await place.commonplace(['backup', path, '--force'])).stderr).toBe(`${path} is the library itself. Use another name.\n`)
    expect((await place.commonplace(['backup', join(place.folder, 'no', 'where.db')])).code).toBe(66)
    expect(await readUsers()).toBe('ada')
  })
})

describe('a service with BACKUP_DIR', () => {
  it('makes a backup when none is new enough, and metrics tell of it', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backups = join(place.folder, 'backups')
    mkdirSync(backups)
    const token = 'metrics-token-of-the-test'
    const { url } = await place.serve({ instances: 1, env: { BACKUP_DIR: backups, METRICS_TOKEN: token } })
    const list = () => readdirSync(backups).filter((name) => !name.startsWith('.'))
    await vi.waitUntil(() => list().length > 0, { timeout: 100_000 })
    const [name = ''] = list()
    expect(name).toMatch(/^commonplace-\d{8}T\d{6}Z\.db$/)
    expect(statSync(join(backups, name)).mode & 0o777).toBe(0o600)
    const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
    expect(metrics).toMatch(/^commonplace_backup_last_success_timestamp_seconds 1\d{9}$/m)
    expect(metrics).toMatch(/^commonplace_backup_failures_total 0$/m)
  })

  it('does not start without the folder', async () => {
    const none = join(place.folder, 'none')
    expect(await place.commonplace(['serve'], { env: { BACKUP_DIR: none } })).toMatchObject({
      code: 64,
      stderr: `BACKUP_DIR must be an existing folder; ${none} is not.\n`,
    })
  })
})

describe('a restore', () => {
  const backUp = async () => {
    const backup = join(place.folder, 'backup.db')
    await must(['backup', backup])
    return backup
  }

  it('is refused while a service runs, however quiet it is', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backup = await backUp()
    await createUser(place.databaseUrl, 'bob')
    await place.serve({ instances: 1 })
    expect(await place.commonplace(['restore-backup', backup])).toMatchObject({
      code: 75,
      stderr: `The library at ${path} is in use: stop the service and every command that works on it, then restore.\n`,
    })
    expect(await place.commonplace(['restore-backup', backup, '--force'])).toMatchObject({ code: 75 })
    expect(await readUsers()).toBe('ada bob')
  })

  it('keeps what stood there, ends sessions and links, and applies what was revoked and removed since', async () => {
    const [kept, revoked, removed] = await Promise.all(['ada', 'bob', 'carol'].map((name) => createKey(place.databaseUrl, name)))
    await savePrompts(place.databaseUrl, 'carol', [{ title: 'Carol’s secret', content: 'carol-was-here' }])
    expect((await place.commonplace(['users', 'invite', 'dora'])).code).toBe(0)
    const file = new DatabaseSync(path)
    file.exec("insert into login_verification values ('v', 'i', 'x', '2099-01-01', '2026-01-01', '2026-01-01')")
    file.close()
    const backup = await backUp()

    const bobsKey = JSON.parse(await must(['keys', 'list', '--user', 'bob'])).keys[0].id
    await must(['keys', 'revoke', bobsKey])
    const database = openAt(place.databaseUrl)
    const { id } = await database.reader.selectFrom('user').select('id').where('username', '=', 'carol').executeTakeFirstOrThrow()
    await database.close()
    const { createStore } = await import('../../src/storage/store.ts')
    const { SYSTEM } = await import('../../src/app.ts')
    const store = await createStore(openAt(place.databaseUrl), SYSTEM)
    await store.people.deletePerson(id)
    await store.close()
    const newer = await createKey(place.databaseUrl, 'eve')

    const report = JSON.parse(await must(['restore-backup', backup, '--json']))
    const [newest, before] = (await must(['audit'])).split('\n').map((line) => JSON.parse(line || 'null'))
    expect(newest).toMatchObject({ action: 'backup_restored', surface: 'cli', actor: null })
    expect(before).toMatchObject({ action: 'key_revoked', surface: 'cli', actor: null })
    expect(report).toMatchObject({
      hadManifest: true,
      knewLater: true,
      revokedKeys: 1,
      removedUsers: ['carol'],
      validKeys: [{ username: 'ada' }],
    })
    expect(report.keptAs).toMatch(/library\.db\.replaced-\d{8}T\d{6}Z$/)
    expect(readFileSync(path).includes('carol-was-here')).toBe(false)
    const restored = new DatabaseSync(path, { readOnly: true })
    for (const table of ['login_session', 'login_verification']) {
      expect(restored.prepare(`select count(*) as rows from ${table}`).get()).toEqual({ rows: 0 })
    }
    expect(restored.prepare('select count(*) as rows from invite where revoked_at is null').get()).toEqual({ rows: 0 })
    expect(restored.prepare("select name from sqlite_master where name = 'backup_manifest'").all()).toEqual([])
    // Space of removed rows goes back to the disk.
    expect(restored.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
    restored.close()
    const old = createPlace(() => `sqlite:${report.keptAs}`)
    expect(await readUsers(old)).toBe('ada bob carol eve')
    await old.remove()

    const { url } = await place.serveHere()
    const statuses = await Promise.all(
      [kept, revoked, removed, newer].map(
        async (key) => (await fetch(`${url}/api/prompts`, { headers: { 'X-API-Key': key ?? '' } })).status,
      ),
    )
    expect(statuses).toEqual([200, 401, 401, 401])
  })

  it('brings back no member or role that ended since, nor an account that was the only maintainer', async () => {
    const { createStore } = await import('../../src/storage/store.ts')
    const { SYSTEM } = await import('../../src/app.ts')
    const within = async <T>(work: (store: LibraryStore) => Promise<T>): Promise<T> => {
      const store = await createStore(openAt(place.databaseUrl), SYSTEM)
      return await work(store).finally(() => store.close())
    }
    for (const name of ['ann', 'ben', 'cleo', 'dan', 'eve']) await createUser(place.databaseUrl, name)
    const idOf = async (store: LibraryStore, name: string) => (await store.people.findUser(name))?.id ?? ''
    const { ann, corp, crew } = await within(async (store) => {
      const ann = { userId: await idOf(store, 'ann'), isAdmin: false }
      const dan = { userId: await idOf(store, 'dan'), isAdmin: false }
      const about = { displayName: null, description: null, defaultVisibility: 'private' as const, maintainer: undefined }
      const corp = await store.teams.createTeam(ann, { name: 'corp', ...about })
      const crew = await store.teams.createTeam(dan, { name: 'crew', ...about })
      for (const [name, role] of [
        ['ben', 'reader'],
        ['cleo', 'maintainer'],
        ['dan', 'editor'],
        ['eve', 'reader'],
      ] as const) {
        await store.teams.setMember(ann, corp.id, name, role)
      }
      await store.teams.setMember(dan, crew.id, 'ann', 'reader')
      await store.teams.setMember(ann, corp.id, 'cleo', 'editor')
      await store.teams.setMember(ann, corp.id, 'cleo', 'maintainer')
      await store.keys.createKey({
        name: 'narrow',
        userId: await idOf(store, 'ben'),
        sha256: 'b'.repeat(64),
        scopes: ['read'],
        expiresAt: null,
        within: { team: corp.id },
      })
      return { ann, corp, crew }
    })
    const backup = await backUp()
    await within(async (store) => {
      await store.teams.removeMember(ann, corp.id, 'ben')
      await store.teams.setMember(ann, corp.id, 'cleo', 'reader')
      await store.teams.setMember(ann, corp.id, 'dan', 'maintainer')
      await store.teams.setMember(ann, corp.id, 'dan', 'editor')
      await store.people.deletePerson(ann.userId, { isByAdmin: true })
    })

    const report = JSON.parse(await must(['restore-backup', backup, '--json']))
    expect(report).toMatchObject({ removedUsers: ['ann'], returnedUsers: [], loweredMemberships: 2, revokedKeys: 1, validKeys: [] })
    await within(async (store) => {
      expect(await store.people.findUser('ann')).toBeNull()
      const { items } = await store.teams.listMembers(corp.id, { limit: 10, offset: 0 })
      expect(items.map(({ username, role }) => `${username} ${role}`)).toEqual(['dan editor', 'cleo reader', 'eve reader'])
      expect((await store.teams.listMembers(crew.id, { limit: 10, offset: 0 })).items.map(({ username }) => username)).toEqual(['dan'])
    })
    expect(await must(['restore-backup', backup])).toContain('Ended or lowered again in teams (as after the backup): 2 memberships.')
  })

  it('ends keys narrowed to a team that their owner is not in any more, whichever library stood there', async () => {
    const { createStore } = await import('../../src/storage/store.ts')
    const { SYSTEM } = await import('../../src/app.ts')
    for (const name of ['ann', 'ben']) await createUser(place.databaseUrl, name)
    await must(['create-team', 'corp', '--user', 'ann'])
    const older = join(place.folder, 'older.db')
    await must(['backup', older])
    await must(['set-team-member', 'corp', 'ben', 'reader', '--user', 'ann'])
    const store = await createStore(openAt(place.databaseUrl), SYSTEM)
    for (const name of ['ann', 'ben']) {
      const [user, corp] = [await store.people.findUser(name), await store.teams.findTeam('corp')]
      const key = { name: 'narrow', sha256: name.padEnd(64, '0'), scopes: ['read'] as const, expiresAt: null }
      await store.keys.createKey({ ...key, userId: user?.id ?? '', within: { team: corp?.id ?? '' } })
    }
    await store.close()
    const newer = await backUp()
    await must(['restore-backup', older])
    const report = JSON.parse(await must(['restore-backup', newer, '--json']))
    expect(report).toMatchObject({ loweredMemberships: 1, revokedKeys: 1, validKeys: [{ username: 'ann' }] })
  })

  it('names the keys that work again where nothing of later is known, and ends them when told to', async () => {
    await createKey(place.databaseUrl, 'ada')
    const backup = await backUp()
    rmSync(path)
    expect(await must(['restore-backup', backup])).toMatch(/These keys work again.*\n.*\n\S+ +test +ada\n/)
    expect(await must(['restore-backup', backup, '--revoke-keys'])).toContain('Revoked 1 key.')
    expect(JSON.parse(await must(['restore-backup', backup, '--json'])).validKeys).toEqual([])
  })

  it('takes no file that is damaged, was changed, is newer, or has another log beside it', async () => {
    await createUser(place.databaseUrl, 'ada')
    await savePrompts(place.databaseUrl, 'ada', [{ title: 'Walrus', content: 'x'.repeat(50_000) }])
    const backup = await backUp()
    const refuse = async (spoil: (file: string) => void) => {
      const spoiled = join(place.folder, 'spoiled.db')
      for (const suffix of ['', '-wal']) rmSync(`${spoiled}${suffix}`, { force: true })
      copyFileSync(backup, spoiled)
      spoil(spoiled)
      const { code, stderr } = await place.commonplace(['restore-backup', spoiled])
      expect(await readUsers()).toBe('ada')
      return `${code} ${stderr.replaceAll(place.folder, '')}`
    }
    const change = (statement: string) => (file: string) => {
      const database = new DatabaseSync(file)
      database.exec(statement)
      database.close()
    }
    expect(await refuse((file) => truncateSync(file, statSync(file).size - 20_480))).toMatch(/^69 \/spoiled\.db cannot be used: /)
    expect(await refuse((file) => writeFileSync(file, 'no database, but long enough to look at'))).toMatch(/^69 .*not a database/)
    expect(await refuse(change("update version set content = 'another'"))).toBe(
      '69 /spoiled.db cannot be used: It does not match its manifest in: version.\n',
    )
    expect(await refuse(change("insert into migration (name, applied_at) values ('9999-future', '')"))).toMatch(
      /newer version \(it has "9999-future"\)/,
    )
    expect(await refuse((file) => writeFileSync(`${file}-wal`, 'of another'))).toMatch(/^75 \/spoiled\.db-wal lies next to the backup\./)
    expect(await refuse((file) => rmSync(file))).toMatch(/^66 No backup found/)
  })

  it('brings a backup of an early version up to date, and reads its words as the service would', async () => {
    const early = join(folder, 'early.db')
    writeSchema('0003-01bba77', early)
    expect(await must(['restore-backup', early])).toContain('its structure is valid, but completeness could not be checked')
    const opened = createPlace(() => `sqlite:${early}`)
    await must(['users', 'list'], opened)
    await opened.remove()
    const [restored, other] = [path, early].map((library) => {
      const database = new DatabaseSync(library, { readOnly: true })
      const rows = database.prepare('select item_seq, title_length, body_length, vector from item_words order by item_seq').all()
      database.close()
      return rows
    })
    expect(restored?.length).toBe(4)
    expect(restored).toEqual(other)
    expect((await place.commonplace(['doctor'])).code).toBe(0)
  })

  it.runIf(process.getuid?.() === 0)('gives what root restores to the owner of the library', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backup = await backUp()
    chownSync(path, 1000, 1000)
    await must(['restore-backup', backup])
    expect([statSync(path).uid, statSync(path).gid]).toEqual([1000, 1000])
  })

  it('takes a copy another tool made, and says that it could check less', async () => {
    await createUser(place.databaseUrl, 'ada')
    const copy = join(place.folder, 'copy.db')
    const file = new DatabaseSync(path)
    file.prepare('vacuum into ?').run(copy)
    file.close()
    chmodSync(copy, 0o644)
    expect(await must(['restore-backup', copy])).toContain('its structure is valid, but completeness could not be checked')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('replaces a library that cannot be read only when told to, and keeps every file of it', async () => {
    await createUser(place.databaseUrl, 'ada')
    const backup = await backUp()
    writeFileSync(path, 'x'.repeat(5000))
    writeFileSync(`${path}-shm`, 'y')
    expect(await place.commonplace(['restore-backup', backup])).toMatchObject({
      code: 75,
      stderr: expect.stringMatching(/cannot be read.*--force/),
    })
    const { keptAs } = JSON.parse(await must(['restore-backup', backup, '--force', '--json']))
    expect([readFileSync(keptAs, 'utf8').length, readFileSync(`${keptAs}-shm`, 'utf8')]).toEqual([5000, 'y'])
    expect(await readUsers()).toBe('ada')
  })

  it('that was cut off without a library in place is told of by everything that opens it', async () => {
    mkdirSync(join(place.folder, 'empty'))
    const cut = join(place.folder, 'empty', 'library.db')
    writeFileSync(`${cut}.restoring`, '')
    const other = createPlace(() => `sqlite:${cut}`)
    for (const command of [['users', 'create', 'ada'], ['list-prompts'], ['serve']]) {
      expect(await other.commonplace(command)).toMatchObject({
        code: 69,
        stderr: expect.stringMatching(/^A restore of the library at \S+ was interrupted\. Run the same restore again/),
      })
    }
    await other.remove()
  })
})
