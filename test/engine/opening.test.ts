import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { checkLibraryFile } from '../../src/storage/copy/library-file.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { readSqliteFile } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { MIGRATIONS, migrate } from '../../src/storage/migrations/index.ts'
import type { Database } from '../../src/storage/schema.ts'
import { createStore, type OpeningProgress } from '../../src/storage/store.ts'
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

/** An empty library as it was before a migration. */
async function openBefore(first: string): Promise<OpenDatabase> {
  const database = openAt(databaseUrl)
  await database.transact(async (db) => {
    await sql`create table migration (name text primary key, applied_at text not null)`.execute(db)
    for (const { name, up } of MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((one) => one.name === first),
    )) {
      await up(db, database.dialect)
      await sql`insert into migration (name, applied_at) values (${name}, '2026-01-01')`.execute(db)
    }
  })
  return database
}

async function insertUsers(db: Kysely<Database>, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await sql`insert into "user" (id, username, username_key, default_visibility, created_at)
      values (${name}, ${name}, ${name}, 'private', '')`.execute(db)
  }
}

/** An item of the first user. */
async function insertItem(db: Kysely<Database>, id: string): Promise<void> {
  await sql`insert into item (id, kind, slug, title, content, variables, owner_seq, author_seq, contributors, visibility, was_public, version, created_at, updated_at)
    values (${id}, 'skill', ${id}, '', '', '[]', 1, 1, '[]', 'private', 0, 1, '', '')`.execute(db)
}

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

  it('wait until no process of an earlier version uses the library', async () => {
    const earlier = await openBefore('0046-sealed-sessions')
    // On a server, a process that serves listens.
    const heard = Promise.withResolvers<void>()
    const stop = earlier.signals?.listen(() => heard.resolve())
    if (stop) await heard.promise
    const refused = await place.commonplace(['users', 'create', 'ada'])
    expect([refused.code, refused.stderr]).not.toEqual([0, ''])
    expect(refused.stderr).toContain('A process of an earlier version still uses the library, which is as it was.')
    await stop?.()
    await earlier.close()
    expect((await place.commonplace(['users', 'create', 'ada'])).code).toBe(0)
    // An up-to-date library is shared.
    const beside = openAt(databaseUrl)
    await beside.reader.selectFrom('item').select('seq').execute()
    expect((await place.commonplace(['users', 'create', 'ben'])).code).toBe(0)
    await beside.close()
  })

  it('run after a copy that holds everything, and says where it is', async () => {
    const before = await openBefore('0044-change-log')
    await before.transact(async (db) => {
      await sql`insert into "user" (id, username, username_key, default_visibility, created_at) values ('u', 'ada', 'ada', 'private', '')`.execute(
        db,
      )
    })
    await before.close()
    const beside = join(place.folder, 'beside')
    const database = isOnPostgres() ? openPostgres(databaseUrl, { readers: 2, snapshotPath: beside }) : openAt(databaseUrl)
    const copy = `${database.file?.path ?? beside}.before-0044`
    const steps: unknown[] = []
    const onProgress = ({ step, detail }: OpeningProgress) => steps.push([step, detail])
    const store = await createStore(database, { ...SYSTEM, copiesBeforeUpgrade: true, onProgress })
    await store.close()
    expect(steps).toContainEqual(['copying', copy])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const copied = await readSqliteFile(copy, async (db) => [
      await db.selectFrom('user').select('username').execute(),
      (await sql`select name from migration where name >= '0044'`.execute(db)).rows,
    ])
    expect(copied).toEqual([[{ username: 'ada' }], []])
    // One of a file is the file as it was, without a manifest.
    const said = await checkLibraryFile(copy)
    expect(said?.schema ?? null).toBe(isOnPostgres() ? '0043-change-tags' : null)
  })

  it('decline offers of items that are open', async () => {
    const database = await openBefore('0045-drop-offers-and-links')
    await database.transact(async (db) => {
      await insertUsers(db, 'ada', 'ben')
      for (const [id, until] of [
        ['open', '9999'],
        ['over', '2026'],
      ] as const) {
        await insertItem(db, id)
        await sql`insert into item_offer (id, item_seq, to_seq, by_seq, leaves_out_private, created_at, expires_at)
          select ${id}, seq, 2, 1, 0, '', ${until} from item where id = ${id}`.execute(db)
      }
    })
    await migrate(database)
    const events = await database.reader.selectFrom('audit_event').select(['action', 'target_id', 'owner_id', 'detail']).execute()
    expect(events).toEqual([{ action: 'item_offer_declined', target_id: 'open', owner_id: 'ada', detail: '{"kind":"skill"}' }])
    await database.close()
  })

  it('move the vectors of a provider that have the dimensions of their model', async () => {
    const database = await openBefore('0047-one-vector-table')
    const floats = (...numbers: readonly number[]) => {
      const bytes = new DataView(new ArrayBuffer(numbers.length * 4))
      for (const [place, value] of numbers.entries()) bytes.setFloat32(place * 4, value, true)
      return new Uint8Array(bytes.buffer)
    }
    const old = Array.from({ length: 250 }, (_, n) => `old${n}`)
    await database.transact(async (db) => {
      await insertUsers(db, 'ada')
      for (const id of ['first', 'second', 'third', ...old]) await insertItem(db, id)
      const embed = async (id: string, model: string, ...numbers: readonly number[]) => {
        await sql`insert into embedding (item_seq, model, digest, dims, code)
          select seq, ${model}, ${`of ${id}`}, ${numbers.length}, ${new Uint8Array(4)} from item where id = ${id}`.execute(db)
        await sql`insert into embedding_vector (embedding_seq, vector) select max(seq), ${floats(...numbers)} from embedding`.execute(db)
      }
      await embed('first', 'new', 1, 0, 0)
      await embed('second', 'new', 0.6, -0.8)
      await embed('third', 'new', -0.5, 0.25)
      for (const id of old) await embed(id, 'old', 0, 0)
      await sql`insert into item_vector (item_seq, model, digest, vector) values (1, 'built in', 'd', ${new Uint8Array(384)})`.execute(db)
    })
    await migrate(database)
    const rows = await database.reader
      .selectFrom('item_vector')
      .select(['item_seq', 'model', 'digest', 'vector', 'is_provided'])
      .orderBy('seq')
      .execute()
    expect(
      rows.slice(0, 3).map(({ vector, ...row }) => ({ ...row, vector: [...new Int8Array(Uint8Array.from(vector).buffer)].slice(0, 3) })),
    ).toEqual([
      { item_seq: 1, model: 'built in', digest: 'd', is_provided: 0, vector: [0, 0, 0] },
      { item_seq: 2, model: 'new', digest: 'of second', is_provided: 1, vector: [95, -127] },
      { item_seq: 3, model: 'new', digest: 'of third', is_provided: 1, vector: [-127, 64] },
    ])
    expect(rows.slice(3).map(({ model }) => model)).toEqual(old.map(() => 'old'))
    await database.close()
  })

  it('make install links keys of their own kind, which work as before', async () => {
    const database = await openBefore('0048-links-are-keys')
    await database.transact(async (db) => {
      await insertUsers(db, 'ada')
      await sql`insert into api_key (id, user_seq, name, sha256, scopes, created_at) values ('key', 1, 'k', 'of key', '["read"]', '')`.execute(
        db,
      )
      for (const [id, revokedAt] of [
        ['works', null],
        ['over', '2026-01-01T00:00:00.000Z'],
      ] as const) {
        await sql`insert into install_link (id, user_seq, name, sha256, scope, created_at, expires_at, revoked_at, made_by)
          values (${id}, 1, ${id}, ${`of ${id}`}, '/tags/x', '', '9999', ${revokedAt}, 'key')`.execute(db)
      }
    })
    const { keys, close } = await createStore(database, SYSTEM)
    expect(await keys.findLink('of works')).toMatchObject({
      id: 'works',
      path: '/tags/x',
      scopes: ['read'],
      username: 'ada',
      revokedAt: null,
    })
    expect([await keys.findKey('of works'), await keys.findLink('of key'), await keys.findLink('of over')]).toEqual([
      null,
      null,
      expect.objectContaining({ revokedAt: '2026-01-01T00:00:00.000Z' }),
    ])
    expect((await keys.listLinks('ada')).map(({ id }) => id)).toEqual(['over', 'works'])
    expect((await keys.listKeys('ada')).map(({ id }) => id)).toEqual(['key'])
    await keys.revokeKey('key')
    expect(await keys.findLink('of works')).toMatchObject({ revokedAt: expect.any(String) })
    await close()
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
