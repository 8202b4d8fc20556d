import type { Kysely } from 'kysely'
import { createChangeCaches } from '../cache/change-caches.ts'
import { createRevisionCaches } from '../cache/revision-cache.ts'
import { ANONYMOUS } from '../library/actor.ts'
import type { AuditEntry, AuditOrigin } from '../library/audit.ts'
import type { Encoder } from '../library/ports/encoder.ts'
import type { Clock, Random } from '../library/ports/environment.ts'
import type { LibraryChange } from '../library/ports/instances.ts'
import type { LibraryStore } from '../library/ports/store.ts'
import { DEFAULT_QUOTA, type OwnerQuota } from '../library/quota.ts'
import type { SharedState } from '../library/shared-changes.ts'
import { ANALYSIS, type SearchableText } from '../search/analysis/indexed-text.ts'
import { createSearchIndex } from '../search/index/search-index.ts'
import type { WordVectors } from '../search/vectors/word-vectors.ts'
import { auditStore, collectEntries, createOrigins, writeEntries } from './audit-log.ts'
import { cacheCollected } from './cache/cached-collected.ts'
import { cacheQueries } from './cache/cached-queries.ts'
import { readPublicChanges } from './cache/public-changes.ts'
import { readCollectedRows } from './collections/collected-rows.ts'
import { countInTables } from './collections/count-collected.ts'
import { readCollections } from './collections/read-collections.ts'
import { writeCollections } from './collections/write-collections.ts'
import { copyBeforeUpgrade } from './copy/upgrade-copy.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { figureStore } from './figures.ts'
import { exportReader } from './history/export-items.ts'
import { notifyOfHistory, writeHistory } from './history/write-history.ts'
import { joinInstances, toChangeSignal } from './instances.ts'
import { readCategories, writeCategories } from './items/categories.ts'
import { embedStore } from './items/embeds.ts'
import { importStore } from './items/imports.ts'
import { readFilter } from './items/item-filters.ts'
import { markStore } from './items/item-marks.ts'
import { offerStore } from './items/item-offers.ts'
import { readSearchableText } from './items/item-parts.ts'
import { createItemQueries, findItemSeq } from './items/item-queries.ts'
import { ownItemStore } from './items/own-items.ts'
import { recountUsage } from './items/owner-usage.ts'
import { purgeStore } from './items/purges.ts'
import { readItems } from './items/read-items.ts'
import { logSharedChanges, readSharedStates } from './items/shared-changes.ts'
import { moveToTrash } from './items/trash.ts'
import type { WriteContext } from './items/write-context.ts'
import { writeItems } from './items/write-items.ts'
import { migrate } from './migrations/index.ts'
import { arrivalStore } from './people/arrivals.ts'
import { finishRemovals } from './people/delete-person.ts'
import { formDraftStore } from './people/form-drafts.ts'
import { budgetStore } from './people/improve-usage.ts'
import { installLinkStore } from './people/install-links.ts'
import { keyStore } from './people/keys.ts'
import { loginRecords } from './people/login-records.ts'
import { peopleStore } from './people/people.ts'
import { sessionStore } from './people/sessions.ts'
import { syncStore } from './people/sync-states.ts'
import { teamStore } from './people/teams.ts'
import { together } from './prepared.ts'
import { readRevision } from './revisions.ts'
import type { Database } from './schema.ts'
import { createClaims } from './search/claims.ts'
import { dropStaleEmbeddings, embeddingStore } from './search/embeddings.ts'
import { findSnapshot, indexSnapshots } from './search/index-snapshot.ts'
import { dropStaleVectors, itemVectorStore } from './search/item-vectors.ts'
import { createWordsWriter, type ReadItem } from './search/item-words.ts'
import { readSearchIndex } from './search/search-reader.ts'
import { type SnapshotRhythm, scheduleSnapshots } from './search/snapshot-schedule.ts'
import { readVectors } from './search/vector-reader.ts'
import { areWordsDue, clearWordsDue } from './search/words-due.ts'
import { secretStore } from './secrets.ts'
import { shareNext } from './share-next.ts'
import { isSweepDue, sweep } from './sweep.ts'
import { usageStore } from './use-counts.ts'
import { meterWork, noteWork } from './work-meter.ts'

/** Items reindexed in one transaction. */
const ITEMS_A_TRANSACTION = 200

/** Progress of opening a library: `done` of `of` parts of a step. */
export interface OpeningProgress {
  readonly step: 'copying' | 'migrating' | 'reading words' | 'finishing removals'
  /** The file being written, or the migration being run; null for other steps. */
  readonly detail: string | null
  readonly done: number
  readonly of: number
}

/**
 * The store over an opened database, brought up to date first. Reads go to the reading connection, writes are transactions on the writing
 * one.
 * @param outside.instance this process among those that share the database
 * @param outside.quota the most that an owner may keep. Default: `DEFAULT_QUOTA`
 * @param outside.maxWords as `readSearchIndex` takes it
 * @param outside.vectors word vectors for search; without them only words count
 * @param outside.keepsSnapshots whether a snapshot of the search index is written now and then. Default: false
 * @param outside.onSnapshotFault called with a sentence for the log when it cannot be written
 * @param outside.copiesBeforeUpgrade whether a library file is copied before its schema is changed. Default: false
 * @param outside.embeddingModel the provider's model whose vectors searches with a `vector` are compared with; none without it
 * @param outside.encoder encodes queries; the vectors of its model are compared with theirs. Default: none
 * @throws AppError `unavailable` when the database cannot be migrated
 */
export async function createStore(
  database: OpenDatabase,
  outside: {
    clock: Clock
    random: Random
    quota?: OwnerQuota
    maxWords?: number
    instance?: string
    onChange?: (change: LibraryChange) => void
    vectors?: WordVectors | undefined
    embeddingModel?: string | undefined
    encoder?: Encoder | null
    keepsSnapshots?: boolean | SnapshotRhythm
    onSnapshotFault?: ((sentence: string) => void) | undefined
    copiesBeforeUpgrade?: boolean
    onProgress?: ((progress: OpeningProgress) => void) | undefined
  },
): Promise<LibraryStore> {
  const { instance = 'alone', copiesBeforeUpgrade = false, keepsSnapshots = false, onProgress = () => {} } = outside
  await bringUpToDate(database, copiesBeforeUpgrade, onProgress)
  await database.sideTransaction((db) => database.dialect.dropForeignMarks(db))
  const snapshot = await findSnapshot(database)
  const index = createSearchIndex(outside.vectors)
  const { embeddingModel, encoder = null } = outside
  const table = embeddingModel === undefined ? null : await database.dialect.openVectors(database)
  const vectors = embeddingModel === undefined ? null : readVectors(database.reader, index, embeddingModel, table)
  const sink = encoder && { model: encoder.model, onVectors: index.applyVectors }
  const search = readSearchIndex(database.reader, index, vectors, sink, indexSnapshots(database), outside.maxWords)
  const { onSnapshotFault = () => {} } = outside
  const schedule = keepsSnapshots ? scheduleSnapshots(search, onSnapshotFault, keepsSnapshots === true ? undefined : keepsSnapshots) : null
  const { replica } = database
  // What says who somebody is, and what they may, is read from the primary; so is what the index is made of.
  const itemReader = replica?.reader ?? database.reader
  const caches = createChangeCaches(readPublicChanges(database.reader))
  const collected = cacheCollected(
    readCollectedRows(database.reader),
    createRevisionCaches(() => readRevision(database.reader, 'library')),
  )
  const cached = cacheQueries(
    createItemQueries(itemReader, search, vectors, encoder, collected, database.reader),
    caches,
    (filter) => readFilter(database.reader, ANONYMOUS, filter),
    (id) => findItemSeq(database.reader, id),
    (revision) => replica?.revisionOfReads('public', revision) ?? revision,
  )
  const { quota = DEFAULT_QUOTA } = outside
  const words = createWordsWriter(index.embedder, quota.words)
  const origins = createOrigins(() => replica?.stayOnPrimary())
  const assemble = (context: WriteContext): LibraryStore => {
    const { reader, transact } = context
    const instances = joinInstances(database, instance, context)
    const claims = createClaims(context, instances)
    // A transaction reads what others cannot see yet, so it bypasses the cache; it never waits for the encoder.
    const queries = reader === database.reader ? cached : createItemQueries(reader, search, vectors, null, readCollectedRows(reader))
    const shown = reader === database.reader ? itemReader : reader
    const countCollected = reader === database.reader ? cached.countCollected : countInTables(reader)
    return {
      items: {
        ...readItems(shown, reader, queries, search, vectors, reader === database.reader ? encoder : null),
        ...writeItems(context),
        setDeleted: moveToTrash(context),
      },
      marks: markStore(reader, context),
      own: ownItemStore(shown, queries, context.quota),
      categories: { ...readCategories(queries), ...writeCategories(context) },
      collections: {
        ...readCollections(shown, reader, countCollected),
        ...writeCollections(context, countCollected),
      },
      purges: purgeStore(reader, context),
      people: peopleStore(reader, context),
      arrivals: arrivalStore(reader, context),
      teams: teamStore(reader, context),
      offers: offerStore(reader, context),
      keys: keyStore(reader, context),
      installLinks: installLinkStore(reader, context),
      syncs: syncStore(reader, context),
      logins: loginRecords(reader, context),
      formDrafts: formDraftStore(reader, context),
      imports: importStore(reader, context),
      embeds: embedStore(reader, context),
      embeddings: embeddingStore(reader, context, claims, table),
      itemVectors: itemVectorStore(reader, context, claims),
      budgets: budgetStore(context),
      usage: usageStore(reader, context),
      sessions: sessionStore(reader, context),
      instances,
      transfer: {
        ...exportReader(reader),
        readSnapshot: (work) => database.readSnapshot((db) => work(exportReader(db))),
        async importHistory(source, onItem = () => {}) {
          const imported = await writeHistory(database, outside.random, source, onItem)
          // After a crash, the next process to open the library finishes this.
          if (imported.isNew) {
            await indexUnread(database.reader, transact, onProgress)
            await transact(async (db, notes) => {
              await recountUsage(db)
              await notifyOfHistory(db, notes)
            })
          }
          return imported
        },
      },
      audit: auditStore(reader, context, origins),
      service: {
        ...secretStore(reader, context),
        ...figureStore(database, search),
        async isEmpty() {
          return (await reader.selectFrom('item').select('seq').limit(1).executeTakeFirst()) === undefined
        },
        readUsage: () => database.readUsage(),
        readCacheUse: () => caches.readUse(),
        check: () => database.check(),
        checkWrite: () => database.checkWrite(),
        async loadSearch() {
          await search.current()
        },
        isSearchCut: () => search.isCut(),
        meterWork,
        async readRevision(scope) {
          const revision = await readRevision(reader, scope)
          replica?.requireRevision(scope, revision)
          return revision
        },
        answer: (actor, work) => (replica ? replica.answer(actor.kind === 'user' ? actor.userId : null, work) : work()),
        readReplica: async () => (await replica?.readState()) ?? null,
        countReads: () => replica?.countReads() ?? null,
      },
      inTransaction: (work, toEvents = (entries) => entries) =>
        transact(async (db, notes) => {
          const audit = collectEntries()
          const result = await work(
            assemble({
              ...context,
              reader: db,
              transact: (inner) => inner(db, { ...notes, audit: audit.note }),
              sideTransaction: (inner) => inner(db, audit.note),
              sweep: async () => false,
              emptyLog: async () => false,
              finishDeletions: async () => {},
            }),
          )
          for (const entry of toEvents(audit.entries)) notes.audit(entry)
          return result
        }),
      async close() {
        await schedule?.stop()
        await database.close()
      },
    }
  }
  /** What a write leaves for the end of its transaction. */
  interface Noted {
    readonly origin: AuditOrigin | undefined
    readonly entries: readonly AuditEntry[]
    readonly items: readonly (ReadItem & { readonly text: SearchableText | null; readonly isNew: boolean })[]
    readonly states: readonly SharedState[]
    readonly changes: readonly LibraryChange[]
    remember: () => void
    /** Words that its items brought. */
    newWords: number
  }
  /** Writes what follows from the writes of a transaction, in their order: only here are numbers given in the order of commits. */
  const finish = async (db: Kysely<Database>, all: readonly Noted[]): Promise<void> => {
    const nowMs = outside.clock()
    const items = all.flatMap((noted) => noted.items)
    const states = all.flatMap(({ states, origin }) => states.map((state) => ({ ...state, actorId: origin?.actorId ?? null })))
    const changes = all.flatMap((noted) => noted.changes)
    const writeNumbered = async () => {
      // In every transaction: its commit locks more rows of `revision`, and all must lock them in one order.
      if (items.length === 0) return await database.dialect.lockNumbers(db)
      const [, , written] = await together([
        database.dialect.lockNumbers(db),
        logSharedChanges(db, states, new Date(nowMs).toISOString()),
        words.write(db, items),
      ])
      const [last] = all.slice(-1)
      if (last) last.remember = written.remember
      for (const noted of all) noted.newWords = noted.items.reduce((sum, { seq }) => sum + (written.newWords.get(seq) ?? 0), 0)
    }
    await together([
      ...all.map(({ origin, entries }) => writeEntries(db, origin, entries, nowMs)),
      ...items.flatMap(({ seq, text, isNew }) => (isNew ? [] : [dropStaleEmbeddings(db, seq, text), dropStaleVectors(db, seq, text)])),
      writeNumbered(),
      ...(changes.length > 0 && database.signals ? [database.signals.send(db, toChangeSignal(instance, changes))] : []),
    ])
  }
  const finishNoted = (db: Kysely<Database>, results: readonly { readonly noted: Noted }[]) =>
    finish(
      db,
      results.map(({ noted }) => noted),
    )
  const transact: WriteContext['transact'] = async (work, options) => {
    const origin = origins.getStore()
    replica?.stayOnPrimary()
    const { result, noted } = await database.transact(
      async (db) => {
        const texts = new Map<number, SearchableText | null>()
        const created = new Set<number>()
        const owners = new Map<number, number>()
        const known = new Map<number, SharedState | null>()
        const changes: LibraryChange[] = []
        const audit = collectEntries()
        const result = await work(db, {
          index: (seq, text, { isNew = false, ownerSeq, state = null } = {}) => {
            if (ownerSeq !== undefined) owners.set(seq, ownerSeq)
            if (text || !texts.has(seq)) texts.set(seq, text)
            if (isNew) created.add(seq)
            known.set(seq, state)
          },
          changed: (change) => changes.push(change),
          audit: audit.note,
        })
        const states = [...known].flatMap(([, state]) => state ?? [])
        const unknown = [...known].flatMap(([seq, state]) => (state ? [] : [seq]))
        if (unknown.length > 0) states.push(...(await readSharedStates(db, unknown)))
        const items = Array.from(texts, ([seq, text]) => ({
          ...words.read(seq, owners.get(seq) ?? null, text),
          text,
          isNew: created.has(seq),
        }))
        const noted: Noted = { origin, entries: audit.entries, items, states, changes, remember: () => {}, newWords: 0 }
        return { result, noted }
      },
      {
        ...options,
        caller: origin?.actorId ?? '',
        finish: finishNoted,
        finishMs: ({ noted: { items } }) => items.reduce((ms, { unknown }) => ms + unknown.size / NEW_WORDS_A_MS, 0),
      },
    )
    noted.remember()
    noteWork(pointsOfWords(noted.items, noted.newWords))
    if (outside.onChange) for (const change of noted.changes) outside.onChange(change)
    return result
  }
  // Who wrote the snapshot had read every item before, unless an import or a repair was killed beside it.
  const hasUnread = !snapshot || (await areWordsDue(database.reader)) || (await hasOlderWords(database.reader, snapshot.revision))
  if (hasUnread) await indexUnread(database.reader, transact, onProgress)
  const context: WriteContext = {
    ...outside,
    quota,
    requireRoom: () => database.requireRoom(),
    reader: database.reader,
    transact,
    sideTransaction: (work) => {
      const origin = origins.getStore()
      return database.sideTransaction(async (db) => {
        const audit = collectEntries()
        const result = await work(db, audit.note)
        await writeEntries(db, origin, audit.entries, outside.clock())
        return result
      })
    },
    sweep: shareNext(() => sweep(database, transact)),
    emptyLog: () => database.emptyLog(),
    async finishDeletions() {
      await finishRemovals(context)
      if (await isSweepDue(database.reader)) await context.sweep()
    },
  }
  await finishRemovals(context, (done, of) => onProgress({ step: 'finishing removals', detail: null, done, of }))
  // A library whose log cannot be emptied now is still usable; the service retries.
  if (await isSweepDue(database.reader)) await context.sweep().catch(() => false)
  return assemble(context)
}

/**
 * Migrates a database, after copying its file if asked to.
 * @throws AppError `unavailable`
 */
export async function bringUpToDate(
  database: OpenDatabase,
  copiesFirst: boolean,
  onProgress: (progress: OpeningProgress) => void = () => {},
): Promise<void> {
  const { file } = database
  await migrate(database, {
    ...(copiesFirst && file
      ? {
          beforeUpgrade: async (first) => {
            const target = `${file.path}.before-${first}`
            onProgress({ step: 'copying', detail: target, done: 0, of: 1 })
            await copyBeforeUpgrade(file, target, first)
          },
        }
      : {}),
    onMigration: (name, done, of) => onProgress({ step: 'migrating', detail: name, done, of }),
  })
}

/** New words that are written in a millisecond, and others that are read in it, as measured with texts of 8,192 words. */
const NEW_WORDS_A_MS = 25
const WORDS_A_MS = 200

/** Points of indexing: about a millisecond each. */
function pointsOfWords(items: readonly ReadItem[], newWords: number): number {
  const words = items.reduce((sum, { indexed }) => sum + (indexed?.words.size ?? 0), 0)
  return Math.floor(newWords / NEW_WORDS_A_MS + words / WORDS_A_MS)
}

/** Whether an item was written after this revision by a version with an older analysis. */
async function hasOlderWords(reader: Kysely<Database>, after: number): Promise<boolean> {
  const older = reader.selectFrom('item_words').select('item_seq').where('revision', '>', after).where('analysis', '<', ANALYSIS)
  return (await older.limit(1).executeTakeFirst()) !== undefined
}

/** Items without words, or with words of an older analysis. */
function unreadItems(db: Kysely<Database>) {
  return db
    .selectFrom('item')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb.selectFrom('item_words').select('item_seq').whereRef('item_words.item_seq', '=', 'item.seq').where('analysis', '>=', ANALYSIS),
        ),
      ),
    )
}

/** Reindexes items without words, or with words of an older analysis: once, after an upgrade or import. */
async function indexUnread(
  reader: Kysely<Database>,
  transact: WriteContext['transact'],
  onProgress: (progress: OpeningProgress) => void,
): Promise<void> {
  // Counted without an order first: by an index instead of the whole items.
  const { count } = await unreadItems(reader)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const of = Number(count)
  for (let done = 0; of > 0; done += ITEMS_A_TRANSACTION) {
    const unread = await unreadItems(reader).select('item.seq').orderBy('item.seq').limit(ITEMS_A_TRANSACTION).execute()
    if (unread.length === 0) break
    onProgress({ step: 'reading words', detail: null, done, of: Math.max(of, done) })
    await transact(async (db, notes) => {
      for (const { seq } of unread) notes.index(seq, await readSearchableText(db, seq))
    })
  }
  if (!(await areWordsDue(reader))) return
  await transact(async (db) => {
    if (!(await unreadItems(db).select('item.seq').limit(1).executeTakeFirst())) await clearWordsDue(db)
  })
}
