import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { createApiKey } from '../../src/auth/credentials.ts'
import { openSqlite, readSqliteFile, sqliteDialect } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { MIGRATIONS } from '../../src/storage/migrations/index.ts'
import { createStore } from '../../src/storage/store.ts'
import { makeFolder } from './folders.ts'
import { SCHEMAS, writeSchema } from './schema-fixtures.ts'
import { readJson, rpc, testApp } from './test-app.ts'

/** The keys in the fixtures: Ada's, one she revoked, and Bob's. */
const [ADA, REVOKED, BOB] = [1, 2, 3].map((byte) => createApiKey(new Uint8Array(32).fill(byte)))
/** Tables that the program derives from the others, its own counters, and tables that a migration has dropped since. */
const DERIVED =
  /^(migration|kysely_\w+|sqlite_\w+|\w+_text(_\w+)?|word\w*|item_words|change|write_count|revision|public_change|read_mark|shared_change|item_offer|embedding|embedding_vector|install_link|import|import_entry|session|instance_mail)$/

/** Tables with their columns, in any order, and indexes as they were made. */
export function describeSchema(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const columns = database
    .prepare(
      `select tables.name || '.' || columns.name || ' ' || lower(columns.type) || ' ' || columns."notnull" || ' ' || coalesce(columns.dflt_value, '') as line
       from sqlite_master as tables, pragma_table_info(tables.name) as columns where tables.type = 'table'`,
    )
    .all()
  const indexes = database.prepare("select sql as line from sqlite_master where type = 'index' and sql is not null").all()
  database.close()
  // A fixture has each statement on one line.
  return [...columns, ...indexes].map(({ line }) => String(line).replaceAll(/\s+/g, ' ')).toSorted()
}

/** All rows but the derived ones, by table. */
function readRows(path: string): Record<string, Record<string, unknown>[]> {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
  const kept = tables.map(({ name }) => String(name)).filter((name) => !DERIVED.test(name))
  const rows = kept.map((name) => [
    name,
    database
      .prepare(`select * from "${name}" order by rowid`)
      .all()
      .map((row) => ({ ...row })),
  ])
  database.close()
  return Object.fromEntries(rows)
}

/** Without times, which differ between fixtures, and sessions, which the oldest has not. */
function withoutTimes({ session: _, ...tables }: ReturnType<typeof readRows>) {
  const drop = (row: object) => Object.fromEntries(Object.entries(row).filter(([column]) => !/^at$|_at$/.test(column)))
  return Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows.map(drop)]))
}

/** Opens libraries of earlier schemas: each is copied first, keeps everything, and works. */
export function testSchemas(fixtures: readonly string[]): void {
  const folder = makeFolder()
  const makeFile = (name: string, fixture: string) => {
    writeSchema(fixture, join(folder, name))
    return join(folder, name)
  }

  describe.each(fixtures)('a library of %s', (fixture) => {
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

    it('comes to have the schema of a new one and keeps its rows, and is sound', async () => {
      const path = makeFile(`${fixture}-schema.db`, fixture)
      const recorded = readRows(path)
      const fresh = join(folder, `${fixture}-fresh.db`)
      const newest = makeFile(`${fixture}-newest.db`, SCHEMAS.at(-1) ?? '')
      for (const file of [path, fresh, newest]) await (await createStore(openSqlite(file), SYSTEM)).close()
      const findings = await readSqliteFile(path, (db) => examine(db, sqliteDialect))
      expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
      expect(describeSchema(path)).toEqual(describeSchema(fresh))
      expect(readRows(path)).toMatchObject(recorded)
      expect(withoutTimes(readRows(path))).toEqual(withoutTimes(readRows(newest)))
    })
  })
}
