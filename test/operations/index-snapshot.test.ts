import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpLibrary, examineLibrary, migrateData, restoreLibrary } from '../../src/app.ts'
import { ANONYMOUS } from '../../src/domain/people/actor.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import { snapshotPath } from '../../src/storage/dialects/snapshot-file.ts'
import { openSqlite } from '../../src/storage/dialects/sqlite.ts'
import { dropValue, putValue, readValue } from '../../src/storage/kept-values.ts'
import { createStore, type LibraryStore } from '../../src/storage/store.ts'
import { countingRandom } from '../support/engines.ts'
import { PLAIN_PROMPT } from '../support/plain-prompt.ts'
import { makeSnapshotLibrary, type SnapshotLibrary } from '../support/snapshot-library.ts'

/** A snapshot of the search index makes a start fast, and changes nothing else. */

const PROMPT = PLAIN_PROMPT
const NO_BYTES = new Uint8Array()
/** Letters that stand nowhere else. */
const CANARY = 'xqzcanaryword'
const WORDS = ['walrus', 'invoice', 'quokka', 'tundra', 'glacier', 'pepper', 'saffron', 'violin']
const QUERIES = ['walrus', 'tundra glacier', 'pep', 'qoukka', 'violins', CANARY, 'saffron invoice walrus']

let folder: string
let library: SnapshotLibrary
let now = Date.UTC(2026, 0, 1)
const random = countingRandom()
const opened = new Set<LibraryStore>()

/** Those of the test. */
const libraries: SnapshotLibrary[] = []

async function makeLibrary(): Promise<SnapshotLibrary> {
  library = await makeSnapshotLibrary()
  libraries.push(library)
  return library
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-snapshot-'))
  await makeLibrary()
})
afterEach(async () => {
  for (const store of [...opened]) await close(store)
  for (const one of libraries.splice(0)) await one.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** A process of its own, as far as the store goes. `keeps`: writes a snapshot when it closes, and at no other time. */
async function start({ keeps = true, database = library.open() } = {}) {
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
      const found = await store.items.searchItems(actor, 'prompt', { query: parsed, filter: {}, sort, limit: 20, offset: 0 })
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
    const { id } = await store.items.createItem(by, {
      kind: 'prompt',
      ...PROMPT,
      title: `${WORDS[i % 8]} ${i}`,
      content: words,
      visibility,
    })
    ids.push(id)
  }
  await store.service.loadSearch()
  return { ada, by, ids }
}

/** Whether a new process takes the snapshot, and what it answers. It writes none. */
async function readAnew(viewer: string | null = null) {
  const { store, database } = await start({ keeps: false })
  const before = await library.has()
  const answers = await ask(store, viewer)
  const isTaken = before && (await library.has())
  await close(store)
  return { answers, isTaken, database }
}

describe('a snapshot of the search index', () => {
  it('is read by the next process instead of the tables, with all that was written since', async () => {
    const { store } = await start()
    const { ada, by, ids } = await fill(store)
    await close(store)
    expect(await library.hasDraft()).toBe(false)
    // Another process writes without reading the index, and the tables lose the words that only the snapshot has then.
    const other = await start({ keeps: false })
    const { id } = await other.store.items.createItem(by, {
      kind: 'prompt',
      ...PROMPT,
      title: 'walrus of later',
      content: 'unheard',
      visibility: 'private',
    })
    await other.store.items.changeItem('prompt', ids[0] ?? '', by, () => ({ content: 'unheard zeppelin' }))
    await other.store.items.setDeleted('prompt', ids[1] ?? '', ada.id, true)
    await other.store.items.changeItem('prompt', ids[2] ?? '', by, () => ({ visibility: 'private' }))
    const actor = { kind: 'user', userId: ada.id, username: 'ada', scopes: new Set(['read', 'write'] as const) } as const
    await other.store.marks.setVote(actor, 'prompt', ids[3] ?? '', ada.id, true)
    const expected = [await ask(other.store), await ask(other.store, ada.id)]
    await sql`update item_words set words = ${NO_BYTES} where item_seq not in (select seq from item where id in (${id}, ${ids[0]}, ${ids[2]}, ${ids[3]}))`.execute(
      other.database.writer,
    )
    await close(other.store)
    const [asAnybody, asAda] = [await readAnew(), await readAnew(ada.id)]
    expect([asAnybody.isTaken, asAda.isTaken]).toEqual([true, true])
    expect([asAnybody.answers, asAda.answers]).toEqual(expected)
    // The tables alone would not have told.
    await library.drop()
    expect((await readAnew()).answers).not.toEqual(expected[0])
  })

  it('is refused when it is cut off or a byte is wrong, anywhere, and the answers are the same', async () => {
    const { store } = await start()
    await fill(store, 6)
    await close(store)
    const { answers } = await readAnew()
    const whole = await library.take()
    const borders: number[] = [0]
    for (let at = 27; at < whole.length; at += 8 + whole.readUInt32LE(at)) borders.push(at, at + 4, at + 8)
    expect(borders.length).toBeGreaterThan(20)
    const offsets = new Set(
      borders.flatMap((at, place) => (place < 9 ? [at - 1, at, at + 1] : [at])).filter((at) => at >= 0 && at < whole.length),
    )
    const { store: reader, database } = await start({ keeps: false })
    const isRefused = async (bytes: Buffer): Promise<boolean> => {
      await library.put(bytes)
      const again = await createStore(database, { clock: () => now, random })
      const total = (
        await again.items.searchItems(ANONYMOUS, 'prompt', { query: parseQuery('walrus'), filter: {}, sort: 'newest', limit: 1, offset: 0 })
      ).total
      expect(total).toBeGreaterThan(0)
      return !(await library.has())
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
    await library.put(whole.subarray(0, whole.length - 1))
    expect((await readAnew()).answers).toEqual(answers)
  })
})

describe('what was deleted for good', () => {
  const addCanary = async (store: LibraryStore, by: { userId: string; note: null }, visibility: 'public' | 'private') =>
    await store.items.createItem(by, {
      kind: 'prompt',
      ...PROMPT,
      title: `${CANARY}a`,
      content: `${CANARY}b walrus`,
      tags: [`${CANARY}c`],
      visibility,
    })

  it.each(['public', 'private'] as const)(
    'is in no byte of a snapshot when the deletion is acknowledged, nor later: %s',
    async (visibility) => {
      const { store } = await start()
      const { by, ada } = await fill(store)
      const { id } = await addCanary(store, by, visibility)
      await close(store)
      expect(await library.readAll()).toContain(CANARY)
      const second = await start()
      expect(await ask(second.store, ada.id)).toBeTruthy()
      expect(await second.store.purges.purgeItem('prompt', id, ada.id, () => true)).toBe(true)
      expect(await library.has()).toBe(false)
      await close(second.store)
      // Written anew by a process whose memory knew the words.
      expect(await library.has()).toBe(true)
      expect(await library.readAll()).not.toContain(CANARY)
      expect((await readAnew(ada.id)).isTaken).toBe(true)
    },
  )

  it('goes with an account, and with a purge by another process', async () => {
    const { store } = await start()
    const { by, ada } = await fill(store)
    await store.people.createUser({ username: 'grace', defaultVisibility: 'public' })
    await addCanary(store, by, 'private')
    await close(store)
    expect(await library.readAll()).toContain(CANARY)
    const other = await start({ keeps: false })
    await other.store.people.deletePerson(ada.id, { isByAdmin: true })
    expect(await library.readAll()).not.toContain(CANARY)
    expect(await library.has()).toBe(false)
    expect(await readValue(other.database.reader, 'search_epoch')).toBeNull()
  })
})

it('keeps no word that was purged, when one is written while the words are being removed', async () => {
  const { store } = await start({ keeps: false })
  const { by, ada } = await fill(store)
  const { id } = await store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: CANARY, content: CANARY, visibility: 'private' })
  const saving = await startLoaded()
  const database = library.open()
  let transactions = 0
  let written = ''
  const purging = await createStore(
    {
      ...database,
      async transact(work, options) {
        // The first one purges, and the next removes the words.
        if (++transactions === 2) {
          await close(saving.store)
          written = await library.readAll()
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
  expect(await library.readAll()).not.toContain(CANARY)
})

it('hides no item that an import or a repair left without words when it was killed', async () => {
  const { store, database } = await start()
  const { by } = await fill(store)
  const { id } = await store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: CANARY })
  // What a killed process leaves.
  const { seq } = await database.reader.selectFrom('item').select('seq').where('id', '=', id).executeTakeFirstOrThrow()
  await database.transact(async (db) => {
    await db.deleteFrom('item_words').where('item_seq', '=', seq).execute()
    await putValue(db, 'words_due', '')
  })
  await close(store)
  const second = await start({ keeps: false })
  const found = await second.store.items.searchItems(ANONYMOUS, 'prompt', {
    query: parseQuery(CANARY),
    filter: {},
    sort: 'relevance',
    limit: 5,
    offset: 0,
  })
  expect(found.items.map((item) => item.id)).toEqual([id])
  expect(await readValue(second.database.reader, 'words_due')).toBeNull()
})

/** A process that has read the index. */
async function startLoaded() {
  const made = await start()
  await made.store.service.loadSearch()
  return made
}

/** A copy of the library, whose items and snapshot then go on without it. @returns puts the copy in their place */
async function outgrowCopy() {
  const first = await start()
  const { by } = await fill(first.store)
  await close(first.store)
  const putBack = await library.copy()
  const second = await startLoaded()
  for (let i = 0; i < 3; i++) await second.store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `${CANARY} ${i}` })
  await ask(second.store)
  await close(second.store)
  return { by, putBack }
}

describe('a snapshot of another time or library', () => {
  it('is not read after an older copy of the library took its place, whatever was written since', async () => {
    const { by, putBack } = await outgrowCopy()
    expect(await library.readAll()).toContain(CANARY)
    await putBack()
    expect(await library.readAll()).toContain(CANARY)
    // A command opens the library and writes past the revision of the snapshot, without a search.
    const third = await start({ keeps: false })
    for (let i = 0; i < 9; i++) await third.store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `tundra ${i}` })
    await close(third.store)
    const { answers, isTaken } = await readAnew()
    expect(isTaken).toBe(false)
    expect(JSON.stringify(answers)).not.toContain(`${CANARY} `)
    expect(JSON.stringify(answers)).toContain('tundra 8')
  })

  it('is not read after a restore', async () => {
    const first = await start()
    const { by } = await fill(first.store)
    await close(first.store)
    await backUpLibrary(library.url, join(folder, 'backup.db'))
    expect(readFileSync(join(folder, 'backup.db')).includes(Buffer.from('Commonplace search index'))).toBe(false)
    const second = await startLoaded()
    await second.store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `${CANARY} of later` })
    await ask(second.store)
    await close(second.store)
    const ofLater = await library.take()
    expect(ofLater.includes(CANARY)).toBe(true)
    await restoreLibrary(join(folder, 'backup.db'), library.url, {})
    expect(await library.has()).toBe(false)
    const third = await start({ keeps: false })
    for (let i = 0; i < 9; i++) await third.store.items.createItem(by, { kind: 'prompt', ...PROMPT, title: `tundra ${i}` })
    await close(third.store)
    await library.put(ofLater)
    const restored = await readAnew()
    expect([restored.isTaken, JSON.stringify(restored.answers).includes(`${CANARY} of`)]).toEqual([false, false])
  })

  it('is in no backup or copy, and is not read after a repair', async () => {
    const first = await start()
    await fill(first.store)
    await close(first.store)
    expect((await readAnew()).isTaken).toBe(true)
    const [backup, copy] = [join(folder, 'backup.db'), join(folder, 'copy.db')]
    await backUpLibrary(library.url, backup)
    expect((await migrateData(library.url, `sqlite:${copy}`, () => {})).fault).toBeNull()
    for (const file of [backup, copy]) expect(readFileSync(file).includes(Buffer.from('Commonplace search index'))).toBe(false)
    const epochs = await Promise.all(
      [library.open(), openSqlite(copy)].map(async (database) => {
        const { store } = await start({ database, keeps: false })
        const epoch = await readValue(database.reader, 'search_epoch')
        await close(store)
        return epoch
      }),
    )
    expect(epochs).toEqual([expect.any(String), null])
    await examineLibrary(library.url, { repairs: true, compacts: false })
    expect((await readAnew()).isTaken).toBe(false)
  })

  it('is not read when it is of another library or epoch', async () => {
    const first = await start()
    await fill(first.store)
    await close(first.store)
    const own = await library.take()
    const before = library
    await makeLibrary()
    const other = await start()
    await fill(other.store)
    await close(other.store)
    await library.put(own)
    expect((await readAnew()).isTaken).toBe(false)
    library = before
    expect((await readAnew()).isTaken).toBe(true)
    const third = await start({ keeps: false })
    await third.database.transact((db) => dropValue(db, 'search_epoch'))
    await close(third.store)
    expect((await readAnew()).isTaken).toBe(false)
    // One of the epoch before, as a crash between two steps may leave it.
    await close((await startLoaded()).store)
    expect((await readAnew()).isTaken).toBe(true)
    await library.put(own)
    expect((await readAnew()).isTaken).toBe(false)
  })
})

it('leaves a sound library when its writer is killed, and goes with the next', async () => {
  const { store } = await start()
  await fill(store, 20)
  await close(store)
  await library.drop()
  const { answers } = await readAnew()
  for (const part of [0, 3]) {
    const program = fileURLToPath(new URL('../support/killed-snapshot.ts', import.meta.url))
    const killed = spawn(process.execPath, [program, library.url, String(part)])
    const [, signal] = (await once(killed, 'exit')) as [number | null, string | null]
    expect(signal).toBe('SIGKILL')
    expect(await library.hasDraft()).toBe(true)
    expect(await library.has()).toBe(false)
    expect((await readAnew()).answers).toEqual(answers)
  }
  await close((await startLoaded()).store)
  expect(await library.hasDraft()).toBe(false)
  expect(await readAnew()).toMatchObject({ answers, isTaken: true })
})

it('says once that it cannot be written, and harms nothing', async () => {
  const sentences: string[] = []
  const database = library.open()
  if (!database.snapshots) throw new Error('a file has snapshots')
  const failing = { ...database, snapshots: { ...database.snapshots, draft: () => Promise.reject(new Error('no room')) } }
  const rhythm = { minItems: 0, minChanges: 1, lookMs: 1_000_000 }
  const options = { clock: () => (now += 1000), random, keepsSnapshots: rhythm, onSnapshotFault: (text: string) => sentences.push(text) }
  const store = await createStore(failing, options)
  opened.add(store)
  await fill(store)
  await close(store)
  expect(sentences).toEqual([expect.stringMatching(/^The snapshot of the search index could not be written, .*no room/)])
  expect((await readAnew()).isTaken).toBe(false)
})

describe('a snapshot beside a file', () => {
  it('is readable by its owner alone, and drafts of killed processes go at a start', async () => {
    const { store, database } = await start()
    const snapshot = snapshotPath(database.file?.path ?? '')
    await fill(store)
    await close(store)
    expect(statSync(snapshot).mode & 0o777).toBe(0o600)
    const draft = `${snapshot}.unfinished-0123456789abcdef`
    const fresh = `${snapshot}.unfinished-fedcba9876543210`
    for (const name of [draft, fresh]) writeFileSync(name, 'half')
    utimesSync(draft, new Date(Date.now() - 2 * 3600_000), new Date(Date.now() - 2 * 3600_000))
    expect((await readAnew()).isTaken).toBe(true)
    expect([existsSync(draft), existsSync(fresh)]).toEqual([false, true])
  })
})
