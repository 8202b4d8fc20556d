import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpLibrary, examineLibrary, migrateData, restoreLibrary } from '../src/app.ts'
import { ANONYMOUS } from '../src/library/actor.ts'
import type { LibraryStore } from '../src/library/ports/store.ts'
import { parseQuery } from '../src/search/analysis/query.ts'
import { openSqlite } from '../src/storage/dialects/sqlite.ts'
import { endIndexEpoch, readIndexEpoch } from '../src/storage/search/index-epoch.ts'
import { snapshotPath } from '../src/storage/search/snapshot-file.ts'
import { areWordsDue, markWordsDue } from '../src/storage/search/words-due.ts'
import { createStore } from '../src/storage/store.ts'
import { countingRandom } from './support/engines.ts'

/** A snapshot of the search index beside the library makes a start fast, and changes nothing else. */

const PROMPT = {
  title: 'A title',
  content: 'Some text',
  description: null,
  category: null,
  tags: [],
  type: 'TEXT',
  visibility: 'public',
} as const
/** Letters that stand nowhere else. */
const CANARY = 'xqzcanaryword'
const WORDS = ['walrus', 'invoice', 'quokka', 'tundra', 'glacier', 'pepper', 'saffron', 'violin']
const QUERIES = ['walrus', 'tundra glacier', 'pep', 'qoukka', 'violins', CANARY, 'saffron invoice walrus']

let folder: string
let path: string
let now = Date.UTC(2026, 0, 1)
const random = countingRandom()
const opened = new Set<LibraryStore>()

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-snapshot-'))
  path = join(folder, 'library.db')
})
afterEach(async () => {
  for (const store of [...opened]) await close(store)
  rmSync(folder, { recursive: true, force: true })
})

/** A process of its own, as far as the store goes. `keeps`: writes a snapshot when it closes, and at no other time. */
async function start({ keeps = true, file = path } = {}) {
  const database = openSqlite(file)
  const rhythm = { minItems: 0, minChanges: 1, lookMs: 1_000_000 }
  const store = await createStore(database, { clock: () => (now += 1000), random, keepsSnapshots: keeps && rhythm })
  opened.add(store)
  return { database, store }
}

async function close(store: LibraryStore): Promise<void> {
  opened.delete(store)
  await store.close()
}

async function ask(store: LibraryStore, viewer: string | null = null) {
  const actor =
    viewer === null ? ANONYMOUS : ({ kind: 'user', userId: viewer, username: 'ada', scopes: new Set(['read'] as const) } as const)
  const answers: unknown[] = []
  for (const query of [...QUERIES, null]) {
    for (const sort of ['relevance', 'newest', 'votes'] as const) {
      const parsed = query === null ? null : parseQuery(query)
      const found = await store.items.searchPrompts(actor, { query: parsed, filter: {}, sort, limit: 20, offset: 0 })
      answers.push([query, sort, found.total, found.items.map(({ id, title }) => [id, title])])
    }
  }
  return answers
}

/** Some prompts of a user, with the index read. */
async function fill(store: LibraryStore, count = 12) {
  const ada = await store.people.createUser({ username: 'ada', defaultVisibility: 'public' })
  const by = { userId: ada.id, note: null }
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const words = WORDS.filter((_, place) => (i + place) % 3 !== 0).join(' ')
    const visibility = i % 5 === 4 ? 'private' : 'public'
    const { id } = await store.items.createPrompt(by, { ...PROMPT, title: `${WORDS[i % 8]} ${i}`, content: words, visibility })
    ids.push(id)
  }
  await store.service.loadSearch()
  return { ada, by, ids }
}

/** Whether a new process takes the snapshot, and what it answers. It writes none. */
async function readAnew(viewer: string | null = null) {
  const { store, database } = await start({ keeps: false })
  const before = existsSync(snapshotPath(path))
  const answers = await ask(store, viewer)
  const isTaken = before && existsSync(snapshotPath(path))
  await close(store)
  return { answers, isTaken, database }
}

/** Every byte of the files beside the library that belong to snapshots. */
function readSnapshots(): string {
  return readdirSync(folder)
    .filter((name) => name.includes('.search'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n')
}

describe('a snapshot of the search index', () => {
  it('is read by the next process instead of the tables, with all that was written since', async () => {
    const { store } = await start()
    const { ada, by, ids } = await fill(store)
    await close(store)
    expect(statSync(snapshotPath(path)).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([])
    // Another process writes without reading the index, and the tables lose the words that only the snapshot has then.
    const other = await start({ keeps: false })
    const { id } = await other.store.items.createPrompt(by, {
      ...PROMPT,
      title: 'walrus of later',
      content: 'unheard',
      visibility: 'private',
    })
    await other.store.items.changePrompt(ids[0] ?? '', by, () => ({ content: 'unheard zeppelin' }))
    await other.store.items.setDeleted('prompt', ids[1] ?? '', ada.id, true)
    const expected = [await ask(other.store), await ask(other.store, ada.id)]
    await sql`update item_words set words = x'' where item_seq not in (select seq from item where id in (${id}, ${ids[0]}))`.execute(
      other.database.writer,
    )
    await close(other.store)
    const [asAnybody, asAda] = [await readAnew(), await readAnew(ada.id)]
    expect([asAnybody.isTaken, asAda.isTaken]).toEqual([true, true])
    expect([asAnybody.answers, asAda.answers]).toEqual(expected)
    // The tables alone would not have told.
    rmSync(snapshotPath(path))
    expect((await readAnew()).answers).not.toEqual(expected[0])
  })

  it('lets a start read words anew that an older version wrote since, and no others', async () => {
    const { store } = await start()
    const { by, ids } = await fill(store)
    await close(store)
    const other = await start({ keeps: false })
    await other.store.items.changePrompt(ids[2] ?? '', by, () => ({ content: 'zeppelin' }))
    const written = sql`update item_words set analysis = 1, words = x'' where item_seq = (select seq from item where id = ${ids[2]})`
    await written.execute(other.database.writer)
    await close(other.store)
    const { store: last, database } = await start({ keeps: false })
    const query = parseQuery('zeppelin')
    const found = await last.items.searchPrompts(ANONYMOUS, { query, filter: {}, sort: 'relevance', limit: 3, offset: 0 })
    expect(found.items.map(({ id }) => id)).toEqual([ids[2]])
    const { rows } = await sql<{ n: number }>`select count(*) as n from item_words where analysis = 1`.execute(database.reader)
    expect(rows[0]?.n).toBe(0)
    await close(last)
  })

  it('is refused when it is cut off or a byte is wrong, anywhere, and the answers are the same', async () => {
    const { store } = await start()
    await fill(store, 6)
    await close(store)
    const { answers } = await readAnew()
    const whole = readFileSync(snapshotPath(path))
    const borders: number[] = [0]
    for (let at = 27; at < whole.length; at += 8 + whole.readUInt32LE(at)) borders.push(at, at + 4, at + 8)
    expect(borders.length).toBeGreaterThan(20)
    const offsets = new Set(borders.flatMap((at) => [at - 1, at, at + 1]).filter((at) => at >= 0 && at < whole.length))
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 30)) offsets.add(at)
    const { store: reader, database } = await start({ keeps: false })
    const isRefused = async (bytes: Buffer): Promise<boolean> => {
      writeFileSync(snapshotPath(path), bytes)
      const again = await createStore(database, { clock: () => now, random })
      const total = (
        await again.items.searchPrompts(ANONYMOUS, { query: parseQuery('walrus'), filter: {}, sort: 'newest', limit: 1, offset: 0 })
      ).total
      expect(total).toBeGreaterThan(0)
      return !existsSync(snapshotPath(path))
    }
    expect(await isRefused(whole)).toBe(false)
    for (const at of offsets) {
      expect([at, await isRefused(whole.subarray(0, at))]).toEqual([at, true])
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      expect([at, await isRefused(flipped)]).toEqual([at, true])
    }
    expect(await isRefused(Buffer.concat([whole, Buffer.from('x')]))).toBe(true)
    await close(reader)
    writeFileSync(snapshotPath(path), whole.subarray(0, whole.length - 1))
    expect((await readAnew()).answers).toEqual(answers)
  })

  it('answers as the tables do after any changes, by whichever process', async () => {
    const change = fc.record({
      what: fc.constantFrom('create', 'edit', 'hide', 'trash', 'restore', 'purge', 'vote', 'restart', 'other process'),
      place: fc.nat({ max: 30 }),
      words: fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' ')),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 18 }), async (changes) => {
        path = join(mkdtempSync(join(folder, 'run-')), 'library.db')
        let { store } = await start()
        const { ada, by, ids } = await fill(store, 5)
        for (const { what, place, words } of [...changes, { what: 'restart', place: 0, words: '' }]) {
          const id = ids[place % ids.length] ?? ''
          const actor = { kind: 'user', userId: ada.id, username: 'ada', scopes: new Set(['read', 'write'] as const) } as const
          const edit = async (fields: Record<string, unknown>) => {
            await store.items.changePrompt(id, by, () => fields).catch(() => null)
          }
          if (what === 'create')
            ids.push((await store.items.createPrompt(by, { ...PROMPT, title: words || 'none', tags: words.split(' ').filter(Boolean) })).id)
          if (what === 'edit') await edit({ content: words || 'none' })
          if (what === 'hide') await edit({ visibility: place % 2 ? 'private' : 'public' })
          if (what === 'trash' || what === 'restore') await store.items.setDeleted('prompt', id, ada.id, what === 'trash').catch(() => null)
          if (what === 'purge') await store.purges.purgeItem('prompt', id, ada.id, () => true)
          if (what === 'vote') await store.marks.setVote(actor, 'prompt', id, ada.id, place % 2 === 0)
          if (what === 'other process') {
            const other = await start({ keeps: place % 2 === 0 })
            await other.store.items.createPrompt(by, { ...PROMPT, title: `other ${words}` })
            if (place % 2 === 0) await other.store.service.loadSearch()
            await close(other.store)
          }
          if (what !== 'restart') continue
          await store.service.loadSearch()
          await close(store)
          ;({ store } = await start())
        }
        await close(store)
        const [loaded, mine] = [await readAnew(), await readAnew(ada.id)]
        expect(loaded.isTaken).toBe(true)
        rmSync(snapshotPath(path))
        expect([loaded.answers, mine.answers]).toEqual([(await readAnew()).answers, (await readAnew(ada.id)).answers])
      }),
      { numRuns: 8 },
    )
  })
})

describe('what was deleted for good', () => {
  const addCanary = async (store: LibraryStore, by: { userId: string; note: null }, visibility: 'public' | 'private') =>
    await store.items.createPrompt(by, { ...PROMPT, title: `${CANARY}a`, content: `${CANARY}b walrus`, tags: [`${CANARY}c`], visibility })

  it.each(['public', 'private'] as const)(
    'is in no byte of a snapshot when the deletion is acknowledged, nor later: %s',
    async (visibility) => {
      const { store } = await start()
      const { by, ada } = await fill(store)
      const { id } = await addCanary(store, by, visibility)
      await close(store)
      expect(readSnapshots()).toContain(CANARY)
      const second = await start()
      expect(await ask(second.store, ada.id)).toBeTruthy()
      expect(await second.store.purges.purgeItem('prompt', id, ada.id, () => true)).toBe(true)
      expect(existsSync(snapshotPath(path))).toBe(false)
      await close(second.store)
      // Written anew by a process whose memory knew the words.
      expect(existsSync(snapshotPath(path))).toBe(true)
      expect(readSnapshots()).not.toContain(CANARY)
      expect((await readAnew(ada.id)).isTaken).toBe(true)
    },
  )

  it('goes with an account, and with a purge by another process', async () => {
    const { store } = await start()
    const { by, ada } = await fill(store)
    await store.people.createUser({ username: 'grace', defaultVisibility: 'public' })
    await addCanary(store, by, 'private')
    await close(store)
    expect(readSnapshots()).toContain(CANARY)
    const other = await start({ keeps: false })
    await other.store.people.deletePerson(ada.id, { isByAdmin: true })
    expect(readSnapshots()).not.toContain(CANARY)
    expect(existsSync(snapshotPath(path))).toBe(false)
    expect(await readIndexEpoch(other.database.reader)).toBeNull()
  })

  it('is not in one that was being written then', async () => {
    const { store } = await start()
    const { by, ada } = await fill(store)
    const other = await start({ keeps: false })
    let written = 0
    for (let round = 0; round < 25; round++) {
      const { id } = await addCanary(store, by, round % 2 === 0 ? 'public' : 'private')
      const writing = close((await startLoaded()).store)
      for (let turn = 0; turn < round % 13; turn++) await new Promise((resolve) => setImmediate(resolve))
      await other.store.purges.purgeItem('prompt', id, ada.id, () => true)
      expect(readSnapshots()).not.toContain(CANARY)
      await writing
      expect(readSnapshots()).not.toContain(CANARY)
      if (existsSync(snapshotPath(path))) written++
      rmSync(snapshotPath(path), { force: true })
    }
    expect(written).toBeLessThan(25)
  })
})

it('keeps no word that was purged, when one is written while the words are being removed', async () => {
  const { store } = await start({ keeps: false })
  const { by, ada } = await fill(store)
  const { id } = await store.items.createPrompt(by, { ...PROMPT, title: CANARY, content: CANARY, visibility: 'private' })
  const saving = await startLoaded()
  const database = openSqlite(path)
  let transactions = 0
  let written = ''
  const purging = await createStore(
    {
      ...database,
      async transact(work, options) {
        // The first one purges, and the next removes the words.
        if (++transactions === 2) {
          await close(saving.store)
          written = readSnapshots()
        }
        return await database.transact(work, options)
      },
    },
    { clock: () => (now += 1000), random },
  )
  opened.add(purging)
  transactions = 0
  expect(await purging.purges.purgeItem('prompt', id, ada.id, () => true)).toBe(true)
  expect(written).toContain(CANARY)
  expect(readSnapshots()).not.toContain(CANARY)
})

it('hides no item that an import or a repair left without words when it was killed', async () => {
  const { store, database } = await start()
  const { by } = await fill(store)
  const { id } = await store.items.createPrompt(by, { ...PROMPT, title: CANARY })
  // What a killed process leaves.
  const { seq } = await database.reader.selectFrom('item').select('seq').where('id', '=', id).executeTakeFirstOrThrow()
  await database.transact(async (db) => {
    await db.deleteFrom('item_words').where('item_seq', '=', seq).execute()
    await markWordsDue(db)
  })
  await close(store)
  const second = await start({ keeps: false })
  const found = await second.store.items.searchPrompts(ANONYMOUS, {
    query: parseQuery(CANARY),
    filter: {},
    sort: 'relevance',
    limit: 5,
    offset: 0,
  })
  expect(found.items.map((item) => item.id)).toEqual([id])
  expect(await areWordsDue(second.database.reader)).toBe(false)
})

it('is left alone by a process with another encoder, and drafts of killed processes go at a start', async () => {
  const { store } = await start()
  await fill(store)
  await close(store)
  const draft = `${path}.search.unfinished-0123456789abcdef`
  const fresh = `${path}.search.unfinished-fedcba9876543210`
  for (const name of [draft, fresh]) writeFileSync(name, 'half')
  utimesSync(draft, new Date(Date.now() - 2 * 3600_000), new Date(Date.now() - 2 * 3600_000))
  const database = openSqlite(path)
  const encoder = {
    model: 'another',
    state: () => 'loading' as const,
    encodeItem: async () => null,
    encodeQuery: async () => null,
    close: async () => {},
  }
  const other = await createStore(database, { clock: () => (now += 1000), random, encoder: encoder as never })
  opened.add(other)
  await ask(other)
  expect(existsSync(snapshotPath(path))).toBe(true)
  expect([existsSync(draft), existsSync(fresh)]).toEqual([false, true])
  await close(other)
  expect((await readAnew()).isTaken).toBe(true)
})

/** A process that has read the index. */
async function startLoaded() {
  const made = await start()
  await made.store.service.loadSearch()
  return made
}

describe('a snapshot of another time or library', () => {
  it('is not read after an older copy of the library took its place, whatever was written since', async () => {
    const first = await start()
    const { by } = await fill(first.store)
    await close(first.store)
    const older = join(folder, 'older')
    copyFileSync(path, older)
    const second = await startLoaded()
    for (let i = 0; i < 3; i++) await second.store.items.createPrompt(by, { ...PROMPT, title: `${CANARY} ${i}` })
    await ask(second.store)
    await close(second.store)
    expect(readSnapshots()).toContain(CANARY)
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    copyFileSync(older, path)
    // A command opens the library and writes past the revision of the snapshot, without a search.
    const third = await start({ keeps: false })
    for (let i = 0; i < 9; i++) await third.store.items.createPrompt(by, { ...PROMPT, title: `tundra ${i}` })
    await close(third.store)
    const { answers, isTaken } = await readAnew()
    expect(isTaken).toBe(false)
    expect(JSON.stringify(answers)).not.toContain(`${CANARY} `)
    expect(JSON.stringify(answers)).toContain('tundra 8')
  })

  it('is not read after a restore, a repair, or by a copy', async () => {
    const first = await start()
    const { by } = await fill(first.store)
    await close(first.store)
    await backUpLibrary(`sqlite:${path}`, join(folder, 'backup.db'))
    expect(readFileSync(join(folder, 'backup.db')).includes(Buffer.from('Commonplace search index'))).toBe(false)
    const second = await startLoaded()
    await second.store.items.createPrompt(by, { ...PROMPT, title: `${CANARY} of later` })
    await ask(second.store)
    await close(second.store)
    const ofLater = readFileSync(snapshotPath(path))
    expect(ofLater.includes(CANARY)).toBe(true)
    await restoreLibrary(join(folder, 'backup.db'), `sqlite:${path}`, {})
    expect(existsSync(snapshotPath(path))).toBe(false)
    const third = await start({ keeps: false })
    for (let i = 0; i < 9; i++) await third.store.items.createPrompt(by, { ...PROMPT, title: `tundra ${i}` })
    await close(third.store)
    writeFileSync(snapshotPath(path), ofLater)
    const restored = await readAnew()
    expect([restored.isTaken, JSON.stringify(restored.answers).includes(`${CANARY} of`)]).toEqual([false, false])

    await close((await startLoaded()).store)
    expect((await readAnew()).isTaken).toBe(true)
    const copy = join(folder, 'copy.db')
    expect((await migrateData(`sqlite:${path}`, `sqlite:${copy}`, () => {})).fault).toBeNull()
    const epochs = await Promise.all(
      [path, copy].map(async (file) => {
        const { database, store } = await start({ file, keeps: false })
        const epoch = await readIndexEpoch(database.reader)
        await close(store)
        return epoch
      }),
    )
    expect(epochs).toEqual([expect.any(String), null])
    await examineLibrary(`sqlite:${path}`, { repairs: true, compacts: false })
    expect((await readAnew()).isTaken).toBe(false)
  })

  it('is not read when it is of another library or epoch', async () => {
    const first = await start()
    await fill(first.store)
    await close(first.store)
    const own = readFileSync(snapshotPath(path))
    const library = path
    path = join(folder, 'other.db')
    const other = await start()
    await fill(other.store)
    await close(other.store)
    writeFileSync(snapshotPath(path), own)
    expect((await readAnew()).isTaken).toBe(false)
    path = library
    expect((await readAnew()).isTaken).toBe(true)
    const third = await start({ keeps: false })
    await third.database.transact(endIndexEpoch)
    await close(third.store)
    expect((await readAnew()).isTaken).toBe(false)
  })
})

it('leaves a sound library when its writer is killed, and goes with the next', async () => {
  const { store } = await start()
  await fill(store, 40)
  await close(store)
  rmSync(snapshotPath(path))
  const { answers } = await readAnew()
  for (const part of [0, 1, 3, 6]) {
    const killed = spawn(process.execPath, [fileURLToPath(new URL('support/killed-snapshot.ts', import.meta.url)), path, String(part)])
    const [, signal] = (await once(killed, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    expect(readdirSync(folder).some((name) => name.includes('unfinished'))).toBe(true)
    expect(existsSync(snapshotPath(path))).toBe(false)
    expect((await readAnew()).answers).toEqual(answers)
  }
  await close((await startLoaded()).store)
  expect(readdirSync(folder).some((name) => name.includes('unfinished'))).toBe(false)
  expect(await readAnew()).toMatchObject({ answers, isTaken: true })
})
