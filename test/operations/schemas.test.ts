import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { createApiKey } from '../../src/auth/api-key.ts'
import { LIBRARY_COLUMNS } from '../../src/storage/copy/library-columns.ts'
import { copyBeforeUpgrade } from '../../src/storage/copy/upgrade-copy.ts'
import { openSqlite, readSqliteFile, sqliteDialect } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { MIGRATIONS, migrate } from '../../src/storage/migrations/index.ts'
import { bringUpToDate, createStore } from '../../src/storage/store.ts'
import { readJson, rpc, testApp } from '../support/test-app.ts'

/**
 * Every schema a library ever had, with the same small library in it: `NUMBER-COMMIT.sql` was written by the first commit that had the schema,
 * `-then-COMMIT` by a later one that opened it. A library anybody may have is never refused.
 */
const FIXTURES = fileURLToPath(new URL('../fixtures/schemas/', import.meta.url))
/** The keys in them: Ada's, one she revoked, and Bob's. */
const [ADA, REVOKED, BOB] = [1, 2, 3].map((byte) => createApiKey(new Uint8Array(32).fill(byte)))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-schemas-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function makeFile(name: string, fixture: string): string {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  database.exec(readFileSync(join(FIXTURES, fixture), 'utf8'))
  database.close()
  return path
}

/** Tables with their columns, in any order, and indexes as they were made. */
function describeSchema(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const columns = database
    .prepare(
      `select tables.name || '.' || columns.name || ' ' || lower(columns.type) || ' ' || columns."notnull" || ' ' || coalesce(columns.dflt_value, '') as line
       from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`,
    )
    .all()
  const indexes = database.prepare("select sql as line from sqlite_master where type = 'index' and sql is not null").all()
  database.close()
  return [...columns, ...indexes].map(({ line }) => String(line)).toSorted()
}

describe.each(readdirSync(FIXTURES))('a library of %s', (fixture) => {
  it('opens whole', async () => {
    const path = makeFile(`${fixture}.db`, fixture)
    const { app, fetch, user, call, close } = await testApp({}, {}, null, { databaseUrl: `sqlite:${path}` })
    const get = async (address: string, key: string | undefined) => await readJson(await fetch(address, { key: key ?? '' }))
    const { prompts } = await get('/api/prompts?sort=oldest', ADA)
    expect(prompts).toMatchObject([{ title: 'Walrus', votes: 1, category: 'Writing', tags: ['Sea'] }])
    const walrus = await get(`/api/prompts/${prompts[0].id}`, ADA)
    expect(walrus).toMatchObject({ content: 'Write at length about a ${animal:walrus}.', author: 'Ada' })
    const { versions } = await get(`/api/prompts/${prompts[0].id}/versions`, ADA)
    expect(versions).toMatchObject([{ version: 2, note: 'longer' }, { version: 1 }])
    expect(await get(`/api/prompts/${prompts[0].id}/versions/1`, ADA)).toMatchObject({ content: 'Write about a ${animal:walrus}.' })
    expect(await get('/api/prompts?q=lengthy', ADA)).toMatchObject({ prompts: [{ title: 'Walrus' }] })

    const { skills } = await get('/api/skills', ADA)
    expect(skills).toMatchObject([{ title: 'Tidy' }])
    const raw = await fetch(`/api/skills/${skills[0].id}/files/data/raw.bin`, { key: ADA ?? '' })
    expect([...new Uint8Array(await raw.arrayBuffer())]).toEqual([0, 1, 254, 255])

    expect(await get('/api/prompts?author=bob', BOB)).toMatchObject({ prompts: [{ title: "Bob's diary" }] })
    expect((await fetch('/api/prompts', { key: REVOKED ?? '' })).status).toBe(401)
    const { actor } = await user('Ada')
    expect(await call(actor, 'list_trash', {})).toMatchObject({ items: [{ title: 'Trash' }] })

    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const initialize = rpc('initialize', params)
    const answer = await fetch('/api/mcp', {
      ...initialize,
      headers: { ...Object(initialize.headers), accept: 'application/json, text/event-stream' },
      key: ADA ?? '',
    })
    expect([answer.status, typeof answer.headers.get('mcp-session-id')]).toEqual([200, 'string'])
    expect(await app.store.service.isEmpty()).toBe(false)
    await close()

    const copy = readdirSync(folder).find((name) => name.startsWith(`${fixture}.db.before-`)) ?? ''
    expect(statSync(join(folder, copy)).mode & 0o777).toBe(0o600)
    const original = makeFile(`${fixture}-original.db`, fixture)
    expect(describeSchema(join(folder, copy))).toEqual(describeSchema(original))
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])

    const database = new DatabaseSync(path)
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
    const kept = database.prepare('select name, digest from migration order by name').all()
    expect(kept.map((row) => ({ ...row }))).toEqual(MIGRATIONS.map(({ name, digest }) => ({ name, digest })))
    database.close()
  })

  it('comes to have the schema of a new one, and is sound', async () => {
    const path = makeFile(`${fixture}-schema.db`, fixture)
    const fresh = join(folder, `${fixture}-fresh.db`)
    for (const file of [path, fresh]) await (await createStore(openSqlite(file), SYSTEM)).close()
    const findings = await readSqliteFile(path, (db) => examine(db, sqliteDialect))
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(describeSchema(path)).toEqual(describeSchema(fresh))
  })
})

describe('the schema', () => {
  it('has the columns this build says it needs, and no others', async () => {
    const database = openSqlite(join(folder, 'columns.db'))
    await migrate(database)
    const columns = [...(await database.dialect.readColumns(database.reader))].filter((place) => !/^(migration|sqlite_\w+)\./.test(place))
    await database.close()
    const needed = Object.entries(LIBRARY_COLUMNS).flatMap(([table, names]) => names.map((name) => `${table}.${name}`))
    expect(columns.toSorted()).toEqual(needed.toSorted())
  })
})

describe('the copy before an upgrade', () => {
  const upgrade = async (path: string) => {
    const steps: string[] = []
    const database = openSqlite(path)
    try {
      await bringUpToDate(database, true, ({ step, detail }) => steps.push(`${step} ${detail}`))
    } finally {
      await database.close()
    }
    return steps
  }

  it('is made of a library that has something pending, once', async () => {
    const path = makeFile('upgraded.db', '0010-243fe49.sql')
    const pending = MIGRATIONS.slice(10).map(({ name }) => `migrating ${name}`)
    expect(await upgrade(path)).toEqual([`copying ${path}.before-0011`, ...pending])
    expect(await upgrade(path)).toEqual([])
    const fresh = join(folder, 'never-before.db')
    expect((await upgrade(fresh)).filter((step) => step.startsWith('copying'))).toEqual([])
  })

  it('is not replaced by one of after', async () => {
    const path = makeFile('raced.db', '0010-243fe49.sql')
    await upgrade(path)
    const file = openSqlite(path)
    const before = readFileSync(`${path}.before-0011`)
    await copyBeforeUpgrade({ path, copyTo: (...args) => file.file?.copyTo(...args) ?? Promise.reject() }, `${path}.before-0011`, '0011')
    await file.close()
    expect(readFileSync(`${path}.before-0011`).equals(before)).toBe(true)
  })

  it('stops the upgrade when it cannot be made', async () => {
    const path = makeFile('blocked.db', '0010-243fe49.sql')
    mkdirSync(`${path}.before-0011`)
    const before = describeSchema(path)
    await expect(upgrade(path)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The library was not upgraded, because it could not be copied to .*BACKUP_BEFORE_UPGRADE=false no copy is made\.$/,
      ),
    })
    expect(describeSchema(path)).toEqual(before)
  })
})

describe('a library that is refused', () => {
  const refuse = async (name: string, damage: string) => {
    const path = makeFile(`${name}.db`, '0010-243fe49.sql')
    const file = new DatabaseSync(path)
    file.exec(damage)
    file.close()
    const before = describeSchema(path)
    const database = openSqlite(path)
    const refusal = await migrate(database).then(
      () => '',
      (error: Error) => error.message,
    )
    await database.close()
    expect(describeSchema(path)).toEqual(before)
    return refusal
  }

  it('is left as the earlier build wrote it', async () => {
    expect(await refuse('lacking', 'alter table item drop column contributors')).toBe(
      'The database lacks item.contributors, which it should have by its migrations, and is as it was: restore a backup, or start the version that wrote it.',
    )
    // The last migration fails after it has mended what it could.
    const clash = 'alter table migration add column digest text; alter table session drop column holder'
    expect(await refuse('failing', clash)).toMatch(/^The database could not be brought up to date, and is as it was: duplicate column name/)
  })

  it('says that another program made it', async () => {
    const damage = `alter table migration add column digest text; update migration set digest = 'another' where name = '0007-accounts'`
    expect(await refuse('other', damage)).toBe(
      'The database was made by another program: its "0007-accounts" is not this one\'s. Start that program.',
    )
  })
})
