import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM } from '../../src/app.ts'
import { ANONYMOUS } from '../../src/library/actor.ts'
import type { LibraryStore } from '../../src/library/ports/store.ts'
import { parseQuery } from '../../src/search/analysis/query.ts'
import type { OpenDatabase } from '../../src/storage/dialects/dialect.ts'
import { openPostgres } from '../../src/storage/dialects/postgres.ts'
import { createStore } from '../../src/storage/store.ts'
import { createDatabase, isOnPostgres } from '../support/postgres.ts'

/** Letters that stand nowhere else. */
const CANARY = 'xqzcanaryword'
const PROMPT = { description: null, category: null, tags: [], type: 'TEXT', visibility: 'private' } as const

/** What a server keeps of the search index; test/operations/index-snapshot.test.ts has the file. */
describe.runIf(isOnPostgres())('a snapshot in a table', () => {
  let place: Awaited<ReturnType<typeof createDatabase>>
  const opened: LibraryStore[] = []
  const start = async () => {
    const database = openPostgres(place.url, { readers: 2 })
    const keepsSnapshots = { minItems: 0, minChanges: 1, lookMs: 1_000_000 }
    const store = await createStore(database, { ...SYSTEM, keepsSnapshots })
    opened.push(store)
    return { database, store }
  }
  const close = async (store: LibraryStore) => {
    opened.splice(opened.indexOf(store), 1)
    await store.close()
  }
  /** Every byte of snapshots, finished or not. */
  const readAll = async ({ reader }: OpenDatabase) =>
    (await sql<{ bytes: Uint8Array }>`select bytes from index_snapshot_part`.execute(reader)).rows
      .map(({ bytes }) => Buffer.from(bytes).toString('latin1'))
      .join('')

  beforeEach(async () => {
    place = await createDatabase()
  })
  afterEach(async () => {
    for (const store of [...opened]) await close(store)
    await place.remove()
  })

  it('is read by the next process, and loses what is deleted for good before that is acknowledged', async () => {
    const { store } = await start()
    const { id: userId } = await store.people.createUser({ username: 'ada', defaultVisibility: 'private' })
    const by = { userId, note: null }
    await store.items.createPrompt(by, { ...PROMPT, title: 'Walrus', content: 'x', visibility: 'public' })
    const { id } = await store.items.createPrompt(by, { ...PROMPT, title: CANARY, content: CANARY })
    await store.service.loadSearch()
    await close(store)
    const next = await start()
    expect(await readAll(next.database)).toContain(CANARY)
    // The tables have no words any more, so the answer is the snapshot's.
    await sql`update item_words set words = ${new Uint8Array()}`.execute(next.database.writer)
    const asked = { query: parseQuery('walrus'), filter: {}, sort: 'relevance', limit: 5, offset: 0 } as const
    expect((await next.store.items.searchPrompts(ANONYMOUS, asked)).total).toBe(1)
    expect(await next.store.purges.purgeItem('prompt', id, userId, () => true)).toBe(true)
    expect(await readAll(next.database)).toBe('')
  })
})
