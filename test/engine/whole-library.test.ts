import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { type Actor, ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { listCopies } from '../../src/storage/backup/library-copies.ts'
import { writeLibraryFile } from '../../src/storage/copy/library-file.ts'
import { TABLES, tablesOf } from '../../src/storage/copy/table-rows.ts'
import { openSqlite, readSqliteFile, sqliteDialect } from '../../src/storage/dialects/sqlite.ts'
import { examine } from '../../src/storage/doctor/examine.ts'
import { migrate } from '../../src/storage/migrations/index.ts'
import { MARKS } from '../../src/storage/schema.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { ENGINES, type Engine, EVERY_ENGINE } from '../support/engines.ts'
import { makeRichLibrary, SECRETS } from '../support/rich-library.ts'

const EARLIER = fileURLToPath(new URL('../fixtures/whole-export-0.2.0', import.meta.url))
const cleanUps: (() => Promise<void>)[] = []
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-whole-'))
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

/** A new library, and how another process opens it. */
async function openPlace(engine: Engine) {
  const place = await engine.create()
  cleanUps.push(place.remove)
  const open = async (): Promise<LibraryStore> => {
    const store = await createStore(place.open(), SYSTEM)
    cleanUps.push(() => store.close())
    return store
  }
  return { open, openDatabase: place.open }
}
const openNew = async (engine: Engine) => await (await openPlace(engine)).open()

async function actAs(store: LibraryStore, username: string): Promise<Actor> {
  const user = await store.people.findUser(username)
  if (!user) throw new Error(`there is no ${username}`)
  return { kind: 'user', userId: user.id, username: user.username, scopes: new Set(['read', 'write']) }
}
const titles = async (store: LibraryStore, actor: Actor, query: string) => {
  const request = { query: parseQuery(query), filter: {}, sort: 'relevance', limit: 10, offset: 0 } as const
  return (await store.items.searchItems(actor, 'prompt', request)).items.map((item) => item.title)
}
for (const engine of ENGINES) {
  describe(`a whole library on ${engine.name}`, () => {
    it('is the same again from its file, to the digest', async () => {
      // Of a file, so that the digest goes from one engine to the other and back.
      const [file = engine] = EVERY_ENGINE.filter(({ name }) => name === 'sqlite')
      const source = await openNew(file)
      const was = await makeRichLibrary(source)
      // A change of tags is in the log alone, with who made it.
      const { id: userId } = (await source.people.findUser('ada')) ?? { id: '' }
      await source.audit.actingAs({ actorId: userId, keyId: null, surface: 'web' }, () =>
        source.items.changeItem('prompt', was.published.id, { userId, note: null }, () => ({ tags: ['filed'] })),
      )
      const [one, two] = [join(folder, 'one.db'), join(folder, 'two.db')]
      const written = await source.transfer.exportWhole(one)
      expect(written.counts).toMatchObject({ category: 33, user: 6, item: 10, version: 14, vote: 4, collection: 2, favourite: 2 })
      const place = await openPlace(engine)
      const target = await place.open()
      const other = await place.open()
      // Both have answered before, from nothing.
      for (const store of [target, other]) expect(await titles(store, ANONYMOUS, 'walrus')).toEqual([])
      const read = await target.transfer.importWhole(one)
      expect(read).toEqual({ digest: written.digest, counts: written.counts, isNew: true })
      expect((await target.transfer.exportWhole(two)).digest).toBe(written.digest)
      const findings = await readSqliteFile(two, (db) => examine(db, sqliteDialect))
      expect(findings.filter(({ state, check }) => state === 'fault' && check !== 'search words')).toEqual([])
      for (const store of [target, other, await place.open()]) {
        expect(await titles(store, ANONYMOUS, 'walrus')).toEqual(['Quiet walrus'])
        expect(await titles(store, ANONYMOUS, 'marmot capybara held')).toEqual([])
      }
      const ada = await actAs(target, 'ada')
      const ben = await actAs(target, 'ben')
      expect(await titles(target, ben, 'marmot')).toEqual(['北京'])
      // Versions with their notes and texts, each under the visibility it was written under.
      const page = { before: null, limit: 10 }
      expect(await target.items.listVersions(ada, was.published.id, page)).toMatchObject([
        { version: 3, note: 'new address', author: 'Ada', visibility: 'public' },
        { version: 2, note: null, visibility: 'public' },
        { version: 1, note: 'first', visibility: 'private', createdAt: was.published.createdAt },
      ])
      expect((await target.items.listVersions(ANONYMOUS, was.published.id, page)).map(({ version }) => version)).toEqual([3, 2])
      expect(await target.items.findVersion(ada, was.published.id, 1)).toMatchObject({
        body: { content: 'Once ${name:the dé faut}\u2028\r\n' },
        category: 'passing',
        type: 'TEXT',
      })
      const last = await target.items.findLastChange(was.published.id)
      expect(last).toMatchObject({ version: 3, tags: ['filed'], actorId: ada.kind === 'user' && ada.userId, before: { version: 3 } })
      // Addresses of earlier lead on, and those of what is gone lead nowhere for ever.
      expect(await target.items.findItem(ANONYMOUS, 'prompt', 'quiet-walrus')).toMatchObject({ id: was.published.id })
      expect(await target.items.findItem(ada, 'prompt', was.published.slug)).toMatchObject({ id: was.published.id })
      expect(await target.items.findItem(ANONYMOUS, 'prompt', was.symbols.id)).toMatchObject({ slug: was.symbols.id })
      const fields = { title: 'Lost for good', content: 'c', description: null, category: null, tags: [], type: 'TEXT' as const }
      const again = await target.items.createItem(
        { userId: ada.kind === 'user' ? ada.userId : '', note: null },
        { kind: 'prompt', ...fields, visibility: 'public' },
      )
      expect(again.slug).toBe('lost-for-good-2')
    })

    it('is for its owner alone, and has nothing that lets somebody in', async () => {
      const { open, openDatabase } = await openPlace(engine)
      const store = await open()
      await makeRichLibrary(store)
      const out = join(folder, 'out.db')
      await store.transfer.exportWhole(out)
      expect(statSync(out).mode & 0o777).toBe(0o600)
      const all = readFileSync(out, 'latin1')
      for (const [name, secret] of Object.entries(SECRETS)) expect(all.includes(secret), name).toBe(false)
      expect(all).toContain('https://ada.example.org/')
      await expect(store.transfer.exportWhole(out)).rejects.toMatchObject({ code: 'conflict', message: expect.stringMatching(/exists/) })
      const database = openDatabase()
      await expect(writeLibraryFile(database, out, 'content', { replaces: false, now: new Date() })).rejects.toMatchObject({
        code: 'conflict',
      })
      await database.close()
    })

    it('changes nothing when it is imported again, and is refused where there is something else', async () => {
      const source = await openNew(engine)
      await makeRichLibrary(source)
      const out = join(folder, 'out.db')
      const written = await source.transfer.exportWhole(out)
      expect(await source.transfer.importWhole(out)).toEqual({ ...written, isNew: false })
      const target = await openNew(engine)
      await target.transfer.importWhole(out)
      expect(await target.transfer.importWhole(out)).toMatchObject({ isNew: false })

      // Somebody who can sign in here gets nothing from a file.
      const taken = await openNew(engine)
      await taken.people.createLogin({ username: 'ada', email: null, passwordHash: 'x', inviteSha256: null }, () => 'admin')
      await expect(taken.transfer.importWhole(out)).rejects.toMatchObject({ code: 'conflict' })
      expect(await taken.service.isEmpty()).toBe(true)
      await source.people.changeProfile((await source.people.findUser('ada'))?.id ?? '', { bio: 'changed' })
      await expect(source.transfer.importWhole(out)).rejects.toMatchObject({ code: 'conflict' })
    })

    it('comes out of a backup too, without its logins and rights', async () => {
      const { open, openDatabase } = await openPlace(engine)
      const store = await open()
      await makeRichLibrary(store)
      const [backup, out] = [join(folder, 'backup.db'), join(folder, 'out.db')]
      const database = openDatabase()
      await writeLibraryFile(database, backup, 'everything', { now: new Date() })
      await database.close()
      const { digest } = await store.transfer.exportWhole(out)
      const place = await openPlace(engine)
      const target = await place.open()
      expect(await target.transfer.importWhole(backup)).toMatchObject({ digest, isNew: true })
      const copy = place.openDatabase()
      for (const table of ['login', 'login_account', 'api_key', 'invite', 'audit_event'] as const) {
        const { rows } = await sql<{ action?: string }>`select * from ${sql.table(table)}`.execute(copy.reader)
        expect(
          rows.map(({ action }) => action),
          table,
        ).toEqual(table === 'audit_event' ? ['library_copied'] : [])
      }
      expect(await copy.reader.selectFrom('user').select('username').where('role', '=', 'admin').execute()).toEqual([])
      await copy.close()
    })

    it('comes out of a whole export of 0.2.0', async () => {
      const place = await openPlace(engine)
      const target = await place.open()
      const { counts } = await target.transfer.importWhole(EARLIER)
      expect(counts).toMatchObject({ category: 33, user: 4, item: 9, version: 13, vote: 4, skill_file: 6, change: 7 })
      expect(await titles(target, ANONYMOUS, 'walrus')).toEqual(['Quiet walrus'])
      const ada = await actAs(target, 'ada')
      const walrus = await target.items.findItem(ada, 'prompt', 'quiet-walrus')
      expect(walrus).toMatchObject({ slug: 'walrus-anew', description: '', type: 'IMAGE', content: 'Twice ${name}', version: 3 })
      expect(await target.items.findVersion(ada, walrus?.id ?? '', 1)).toMatchObject({
        body: { content: 'Once ${name:the dé faut}\u2028\r\n' },
        note: 'first',
      })
      expect(await target.items.findLastChange(walrus?.id ?? '')).toMatchObject({ version: 3, audience: 'public', actorId: null })
      const database = place.openDatabase()
      const names = database.reader.selectFrom('item').select('channel_name').where('kind', '=', 'skill').orderBy('seq')
      expect(await names.execute()).toEqual(['a-skill', 'bytes', 'old-skill'].map((name) => ({ channel_name: name })))
      const findings = await database.readSnapshot((db) => examine(db, database.dialect))
      expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
      await database.close()

      const changed = join(folder, 'changed')
      cpSync(EARLIER, changed, { recursive: true })
      const records = join(changed, 'history', 'records.jsonl')
      writeFileSync(records, readFileSync(records, 'utf8').replace('Twice', 'Thrice'))
      const other = await openNew(engine)
      await expect(other.transfer.importWhole(changed)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/records do not match/),
      })
      expect(await other.service.isEmpty()).toBe(true)
    })
  })
}

it('is imported by a working copy that a purge of copies finds, and that does not stay', async () => {
  const source = await createStore(openSqlite(join(folder, 'source.db')), SYSTEM)
  cleanUps.push(() => source.close())
  await makeRichLibrary(source)
  const out = join(folder, 'out.db')
  await source.transfer.exportWhole(out)
  const path = join(folder, 'target.db')
  const target = await createStore(openSqlite(path), SYSTEM)
  cleanUps.push(() => target.close())
  const during = new Set<string>()
  await target.transfer.importWhole(out, () => {
    for (const copy of listCopies(path, null)) during.add(`${copy.kind} ${basename(copy.path).replace(/[0-9a-f]{8}/, 'x')}`)
  })
  expect([...during]).toEqual(['replaced .target.db.importing.x.tmp'])
  expect(readdirSync(folder).filter((name) => name.includes('importing'))).toEqual([])
})

describe('a file without logins', () => {
  it('has nothing of any column that is marked secret, nor of tables that are no content', async () => {
    const path = join(folder, 'library.db')
    const store = await createStore(openSqlite(path), SYSTEM)
    await makeRichLibrary(store)
    const scope = openSqlite(path)
    const content = new Map((await tablesOf('content', scope.reader, sqliteDialect)).map((table) => [table.name, table.columns]))
    await scope.close()
    // A text of its own in each such column, past all rules.
    const file = new DatabaseSync(path)
    file.exec('pragma foreign_keys = off')
    const seeded: string[] = []
    for (const table of Object.keys(TABLES)) {
      const columns = file.prepare('select name, lower(type) as type from pragma_table_info(?)').all(table)
      const meant = columns.filter(({ name, type }) => type === 'text' && !content.get(table)?.includes(String(name)))
      if (meant.length === 0) continue
      const texts = meant.map(({ name }) => `seeded-${table}-${name}`)
      // While somebody is being removed there is no export.
      const isKept = (name: unknown) => `${table}.${name}` !== 'user.removal'
      seeded.push(...texts.filter((_, index) => isKept(meant[index]?.['name'])))
      if (content.has(table)) {
        for (const [index, { name }] of meant.entries())
          if (isKept(name)) file.prepare(`update "${table}" set "${name}" = ?`).run(texts[index] ?? '')
        continue
      }
      const others = columns.filter(({ name, type }) => type !== 'text' && name !== 'seq')
      const values = [...texts, ...others.map(({ type }) => (type === 'integer' ? 1 : new Uint8Array([1])))]
      const names = [...meant, ...others].map(({ name }) => `"${name}"`)
      file.prepare(`insert or replace into "${table}" (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`).run(...values)
    }
    file.close()
    expect(seeded).toEqual(
      expect.arrayContaining(['seeded-user-role', 'seeded-team_member-given_by', 'seeded-api_key-sha256', 'seeded-secret-value']),
    )
    const source = readFileSync(path, 'latin1') + readFileSync(`${path}-wal`, 'latin1')
    const out = join(folder, 'out.db')
    await store.transfer.exportWhole(out)
    const written = readFileSync(out, 'latin1')
    for (const text of seeded) expect([text, source.includes(text), written.includes(text)]).toEqual([text, true, false])
    await store.close()
  })

  it('is written by marks that know every column of people, keys, sessions, programs, factors, links and sealed values', async () => {
    const database = openSqlite(join(folder, 'library.db'))
    await migrate(database)
    const columns = Map.groupBy(await sqliteDialect.readColumns(database.reader), (place) => place.split('.')[0] ?? '')
    await database.close()
    const about = [...columns.keys()].filter((name) =>
      /^(user|team_member|api_key|ended_session|invite|secret|login.*|oauth_.*)$/.test(name),
    )
    expect(about.length).toBeGreaterThan(18)
    const marks: Readonly<Record<string, Readonly<Record<string, string>>>> = MARKS
    const purposes: Readonly<Record<string, string>> = TABLES
    for (const table of about) {
      const mark = marks[table]
      if (!mark) expect(purposes[table], table).toMatch(/^(own|passing)$/)
      else {
        const marked = Object.keys(mark).map((column) => `${table}.${column}`)
        expect(marked.toSorted(), table).toEqual(columns.get(table)?.toSorted())
      }
    }
  })
})
