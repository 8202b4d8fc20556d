import { AsyncLocalStorage } from 'node:async_hooks'
import { type Kysely, sql } from 'kysely'
import { createRevisionCaches, type RevisionCaches } from '../cache/answer-cache.ts'
import type { LibraryChange } from '../domain/items/changes.ts'
import { DEFAULT_QUOTA, type OwnerQuota } from '../domain/people/usage.ts'
import type { Encoder } from '../domain/ports/encoder.ts'
import type { Clock, Random } from '../domain/ports/environment.ts'
import type { AuditEntry, AuditOrigin } from '../domain/service/audit.ts'
import type { OnCopied, WholeLibrary } from '../domain/service/transfer.ts'
import { ANALYSIS } from '../search/analysis/indexed-text.ts'
import { createSearchIndex } from '../search/index/search-index.ts'
import type { WordVectors } from '../search/vectors/word-vectors.ts'
import { auditStore, collectEntries, type Origins, writeEntries } from './audit-log.ts'
import { cacheQueries } from './cache/cached-queries.ts'
import { logChanges, readRevision } from './change-log.ts'
import { checkStore } from './checks/check-store.ts'
import { countInTables } from './collections/collection-rows.ts'
import { readCollections } from './collections/read-collections.ts'
import { writeCollections } from './collections/write-collections.ts'
import { toWhole } from './copy/copy-library.ts'
import { copyBeforeUpgrade, writeLibraryFile } from './copy/library-file.ts'
import { importWhole, notifyOfImport } from './copy/whole-import.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { caseStore } from './evals/case-store.ts'
import { evalStore } from './evals/eval-store.ts'
import { readCategories, writeCategories } from './items/categories.ts'
import { markStore, moveToTrash } from './items/item-marks.ts'
import { readSearchableText } from './items/item-parts.ts'
import { createItemQueries, type ItemQueries } from './items/item-queries.ts'
import { countRows } from './items/item-rows.ts'
import { labelStore } from './items/labels.ts'
import { ownItemStore } from './items/own-items.ts'
import { recountUsage } from './items/owner-usage.ts'
import { ownershipStore } from './items/ownership.ts'
import { purgeStore } from './items/purges.ts'
import { readItems } from './items/read-items.ts'
import { type ExportReader, exportReader } from './items/transfer-items.ts'
import type { WriteContext } from './items/write-context.ts'
import { writeItems } from './items/write-items.ts'
import { dropValue, readValue } from './kept-values.ts'
import { MIGRATIONS, migrate } from './migrations/index.ts'
import { arrivalStore } from './people/arrivals.ts'
import { finishRemovals } from './people/delete-person.ts'
import { keyStore } from './people/keys.ts'
import { endedSessionStore, loginRecords } from './people/login-records.ts'
import { peopleStore } from './people/people.ts'
import { embedStore, formDraftStore, syncStore } from './people/personal-records.ts'
import { teamStore } from './people/teams.ts'
import { together } from './prepared.ts'
import type { Database } from './schema.ts'
import { indexSnapshots } from './search/index-snapshot.ts'
import { createClaims, dropStaleVectors, itemVectorStore } from './search/item-vectors.ts'
import { createWordsWriter, type ReadItem } from './search/item-words.ts'
import { readSearchIndex, type SearchReader } from './search/search-reader.ts'
import { type SnapshotRhythm, scheduleSnapshots } from './search/snapshot-schedule.ts'
import { figureStore, joinInstances, secretStore, sweep, toChangeSignal } from './service.ts'
import { shareNext } from './share-next.ts'
import { budgetStore, usageStore } from './use-counts.ts'
import { meterWork, noteWork } from './work-meter.ts'
import { collectEffects, type WriteEffects } from './write-effects.ts'

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

/** The parts that the modules of a store share. */
interface StoreParts {
  readonly database: OpenDatabase
  readonly instance: string
  readonly cached: ItemQueries
  readonly search: SearchReader
  readonly encoder: Encoder | null
  readonly caches: RevisionCaches
  readonly origins: Origins
  readonly onProgress: (progress: OpeningProgress) => void
}

/** Everything the service keeps, by aggregate, over the connections of `context`. */
function createModules({ database, search, encoder, caches, origins, ...parts }: StoreParts, context: WriteContext) {
  const { reader, transact } = context
  const isOutside = reader === database.reader
  const instances = joinInstances(database, parts.instance, context)
  const claims = createClaims(context, instances)
  // A transaction reads what others cannot see yet, so it bypasses the cache; it never waits for the encoder.
  const queries = isOutside ? parts.cached : createItemQueries(reader, search, null)
  const countCollected = isOutside ? parts.cached.countCollected : countInTables(reader)
  return {
    items: {
      ...readItems(reader, queries, search, isOutside ? encoder : null),
      ...writeItems(context),
      setDeleted: moveToTrash(context),
    },
    marks: markStore(reader, context),
    own: ownItemStore(reader, queries, context.quota),
    categories: { ...readCategories(queries), ...writeCategories(context) },
    labels: labelStore(reader, context),
    checks: checkStore(reader, context),
    evals: { ...evalStore(reader, context), ...caseStore(reader, context) },
    collections: { ...readCollections(reader, countCollected), ...writeCollections(context, countCollected) },
    purges: purgeStore(reader, context),
    people: peopleStore(reader, context),
    arrivals: arrivalStore(reader, context),
    teams: teamStore(reader, context),
    ownership: ownershipStore(reader, context),
    keys: keyStore(reader, context),
    syncs: syncStore(reader, context),
    logins: loginRecords(reader, context),
    formDrafts: formDraftStore(reader, context),
    embeds: embedStore(reader, context),
    itemVectors: itemVectorStore(reader, context, claims),
    budgets: budgetStore(context),
    usage: usageStore(reader, context),
    sessions: endedSessionStore(reader, context),
    instances,
    transfer: {
      ...exportReader(reader),
      /** Runs reads on one snapshot of the library. */
      readSnapshot: <T>(work: (reader: ExportReader) => Promise<T>): Promise<T> => database.readSnapshot((db) => work(exportReader(db))),
      /**
       * Writes the whole library without logins to a new file.
       * @throws AppError `conflict` when the file exists, `unavailable` while somebody is being removed
       */
      async exportWhole(file: string): Promise<WholeLibrary> {
        return toWhole(await writeLibraryFile(database, file, 'content', { now: new Date(context.clock()) }))
      },
      /**
       * Fills an empty library with such a file, a backup, or a whole export of 0.2.0, in one transaction: all of it or nothing. Replaces the
       * initial categories. People have no login. A library with exactly this content is left unchanged.
       * @param onCopied called as the rows of a table are copied
       * @throws AppError `conflict` when the library holds something else, `invalid_input` or `unavailable` naming what is wrong with the file
       */
      async importWhole(path: string, onCopied: OnCopied = () => {}): Promise<WholeLibrary & { readonly isNew: boolean }> {
        const imported = await importWhole(database, context.random, path, onCopied)
        // After a crash, the next process to open the library finishes this.
        if (imported.isNew) {
          await indexUnread(database.reader, transact, parts.onProgress)
          await transact(async (db, notes) => {
            await recountUsage(db)
            await notifyOfImport(db, notes)
          })
        }
        return imported
      },
    },
    audit: auditStore(reader, context, origins),
    service: {
      ...secretStore(reader, context),
      ...figureStore(database, search),
      /** Items of any kind and state, the trash included: whether the library is empty. */
      async isEmpty(): Promise<boolean> {
        return (await reader.selectFrom('item').select('seq').limit(1).executeTakeFirst()) === undefined
      },
      /** How many connections to a database server are busy and idle, and how much waits for one; null for a library in a file. */
      readUsage: () => database.readUsage(),
      /** How often public answers came from caches since the start. */
      readCacheUse: () => caches.readUse(),
      /** Checks that the library is usable: reads a row, and retries a write if the last one failed. @throws AppError `unavailable` */
      check: () => database.check(),
      /** Writes without changing anything. @throws AppError `unavailable` where the library cannot be written to */
      checkWrite: () => database.checkWrite(),
      /** Loads the search index; resolves when search is ready. */
      async loadSearch(): Promise<void> {
        await search.current()
      },
      /** Whether the library has more words than fit into memory: search finds items by their titles for the others. */
      isSearchCut: () => search.isCut(),
      /** Runs `work`, and adds to a meter what the writes that it begins take. */
      meterWork,
      /**
       * The current revision of a scope: another number whenever an answer of that scope could have changed, whoever wrote. Whatever the
       * request reads afterwards is of this revision or a later one.
       */
      readRevision: (scope: 'library' | 'public'): Promise<number> => readRevision(reader, scope),
    },
  }
}

/** Everything the service keeps, by aggregate. */
export interface LibraryStore extends ReturnType<typeof createModules> {
  /**
   * Several writes as one transaction. Nothing but store calls may be awaited inside.
   * A write that is refused with an AppError has written nothing, so the others may go on; any other error must end the transaction.
   * @param toEvents what is recorded in the audit log for the events of its writes, when `work` is done. Default: all of them
   */
  inTransaction<T>(
    work: (store: LibraryStore) => Promise<T>,
    toEvents?: (entries: readonly AuditEntry[]) => readonly AuditEntry[],
  ): Promise<T>
  close(): Promise<void>
}

export type { ExportReader } from './items/transfer-items.ts'
export type { WorkMeter } from './work-meter.ts'

/**
 * The store over an opened database, brought up to date first. Reads go to the reading connection, writes are transactions on the writing
 * one.
 * @param outside.instance this process among those that share the database
 * @param outside.quota the most that an owner may keep. Default: `DEFAULT_QUOTA`
 * @param outside.maxWords as `readSearchIndex` takes it
 * @param outside.vectors word vectors for search; without them only words count
 * @param outside.keepsSnapshots whether a snapshot of the search index is written now and then. Default: false
 * @param outside.onSnapshotFault called with a sentence for the log when it cannot be written
 * @param outside.copiesBeforeUpgrade whether a library is copied to a file before its schema is changed. Default: false
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
    encoder?: Encoder | null
    keepsSnapshots?: boolean | SnapshotRhythm
    onSnapshotFault?: ((sentence: string) => void) | undefined
    copiesBeforeUpgrade?: boolean
    onProgress?: ((progress: OpeningProgress) => void) | undefined
  },
): Promise<LibraryStore> {
  const { instance = 'alone', copiesBeforeUpgrade = false, keepsSnapshots = false, onProgress = () => {} } = outside
  await bringUpToDate(database, copiesBeforeUpgrade, onProgress)
  const snapshots = database.snapshots && indexSnapshots(database, database.snapshots)
  await database.snapshots?.removeUnfinished().catch(() => {})
  // Removes one that is not of the library as it is now.
  const snapshot = (await snapshots?.find()) ?? null
  const { encoder = null } = outside
  const index = createSearchIndex(outside.vectors, encoder?.isProvider)
  const sink = encoder && { model: encoder.model, onVectors: index.applyVectors }
  const search = readSearchIndex(database.reader, index, sink, snapshots, outside.maxWords)
  const { onSnapshotFault = () => {} } = outside
  const schedule = keepsSnapshots ? scheduleSnapshots(search, onSnapshotFault, keepsSnapshots === true ? undefined : keepsSnapshots) : null
  const caches = createRevisionCaches(() => readRevision(database.reader, 'public'))
  const cached = cacheQueries(createItemQueries(database.reader, search, encoder), caches)
  const { quota = DEFAULT_QUOTA } = outside
  const words = createWordsWriter(index.embedder, quota.words)
  const origins = new AsyncLocalStorage<AuditOrigin>()
  const parts: StoreParts = { database, instance, cached, search, encoder, caches, origins, onProgress }
  const assemble = (context: WriteContext): LibraryStore => ({
    ...createModules(parts, context),
    inTransaction: (work, toEvents = (entries) => entries) =>
      context.transact(async (db, notes) => {
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
  })
  /** Writes what follows from a write, at the end of its transaction. Returns what to do after the commit. */
  const flush = async (db: Kysely<Database>, origin: AuditOrigin | undefined, effects: WriteEffects): Promise<() => void> => {
    const nowMs = outside.clock()
    const states = await effects.readStates(db)
    const items = Array.from(effects.items, ([seq, { text, ownerSeq, isNew }]) => ({
      ...words.read(seq, ownerSeq ?? null, text),
      text,
      isNew,
    }))
    const changes = effects.changes
    const [written] = await together([
      words.write(db, items),
      logChanges(db, states, effects.shown, { at: new Date(nowMs).toISOString(), by: origin?.actorId ?? null }),
      writeEntries(db, origin, effects.entries, nowMs),
      ...items.flatMap(({ seq, text, isNew }) => (isNew ? [] : [dropStaleVectors(db, seq, text)])),
      ...(changes.length > 0 && database.signals ? [database.signals.send(db, toChangeSignal(instance, changes))] : []),
    ])
    return () => {
      written.remember()
      noteWork(pointsOfWords(items, written.newWords))
      if (outside.onChange) for (const change of changes) outside.onChange(change)
    }
  }
  const transact: WriteContext['transact'] = async (work, { isUnseen = false, isLarge = false } = {}) => {
    const origin = origins.getStore()
    const { result, finish } = await database.transact(
      async (db) => {
        const effects = collectEffects()
        const result = await work(db, effects.notes)
        if (!isUnseen && effects.items.size === 0) effects.notes.shown('public')
        return { result, finish: await flush(db, origin, effects) }
      },
      { isLarge, caller: origin?.actorId ?? '' },
    )
    finish()
    return result
  }
  // Who wrote the snapshot had read every item before, unless an import or a repair was killed beside it.
  const hasUnread =
    !snapshot || (await readValue(database.reader, 'words_due')) !== null || (await hasOlderWords(database.reader, snapshot.revision))
  if (hasUnread) await indexUnread(database.reader, transact, onProgress)
  const context: WriteContext = {
    ...outside,
    now: () => new Date(outside.clock()).toISOString(),
    quota,
    requireRoom: () => database.file?.requireRoom(),
    reader: database.reader,
    transact,
    sideTransaction: (work) => transact((db, notes) => work(db, notes.audit), { isUnseen: true }),
    sweep: shareNext(() => sweep(database, transact)),
    emptyLog: async () => (await database.file?.emptyLog()) ?? true,
    async finishDeletions() {
      await finishRemovals(context)
      if ((await readValue(database.reader, 'sweep_due')) !== null) await context.sweep()
    },
  }
  await finishRemovals(context, (done, of) => onProgress({ step: 'finishing removals', detail: null, done, of }))
  // A library whose log cannot be emptied now is still usable; the service retries.
  if ((await readValue(database.reader, 'sweep_due')) !== null) await context.sweep().catch(() => false)
  return assemble(context)
}

/**
 * Migrates a database, after copying it to a file if asked to.
 * @throws AppError `unavailable`
 */
export async function bringUpToDate(
  database: OpenDatabase,
  copiesFirst: boolean,
  onProgress: (progress: OpeningProgress) => void = () => {},
): Promise<void> {
  // A server's library is copied to the folder that its other files are in, where there is one.
  const path = database.file?.path ?? database.snapshots?.path
  await migrate(database, {
    ...(copiesFirst && path !== undefined
      ? {
          beforeUpgrade: async (first) => {
            const target = `${path}.before-${first}`
            onProgress({ step: 'copying', detail: target, done: 0, of: 1 })
            await copyBeforeUpgrade(database, target, first)
          },
        }
      : {}),
    onMigration: (name, done, of) => {
      // A new library takes all migrations, and is no upgrade.
      if (of < MIGRATIONS.length) onProgress({ step: 'migrating', detail: name, done, of })
    },
  })
}

/** New words that are written in a millisecond, and others that are read in it, as measured with texts of 8,192 words. */
const NEW_WORDS_A_MS = 25
const WORDS_A_MS = 200

/** Points of indexing: about a millisecond each. */
function pointsOfWords(items: readonly ReadItem[], newWords: ReadonlyMap<number, number>): number {
  const words = items.reduce((sum, { indexed }) => sum + (indexed?.words.size ?? 0), 0)
  const brought = items.reduce((sum, { seq }) => sum + (newWords.get(seq) ?? 0), 0)
  return Math.floor(brought / NEW_WORDS_A_MS + words / WORDS_A_MS)
}

/** Whether an item was written after this change by a version with an older analysis. */
async function hasOlderWords(reader: Kysely<Database>, after: number): Promise<boolean> {
  const older = reader
    .selectFrom('change')
    .innerJoin('item_words', 'item_words.item_seq', 'change.item_seq')
    .select('change.seq')
    .where('change.seq', '>', after)
    .where('item_words.analysis', '<', ANALYSIS)
  return (await older.limit(1).executeTakeFirst()) !== undefined
}

/** Items without words, or with words of an older analysis. */
function unreadItems(db: Kysely<Database>) {
  return db
    .selectFrom('item')
    .where(sql<boolean>`not exists (select 1 from item_words where item_words.item_seq = item.seq and item_words.analysis >= ${ANALYSIS})`)
}

/** Reindexes items without words, or with words of an older analysis: once, after an upgrade or import. */
async function indexUnread(
  reader: Kysely<Database>,
  transact: WriteContext['transact'],
  onProgress: (progress: OpeningProgress) => void,
): Promise<void> {
  // Counted without an order first: by an index instead of the whole items.
  const of = await countRows(unreadItems(reader))
  for (let done = 0; of > 0; done += ITEMS_A_TRANSACTION) {
    const unread = await unreadItems(reader).select('item.seq').orderBy('item.seq').limit(ITEMS_A_TRANSACTION).execute()
    if (unread.length === 0) break
    onProgress({ step: 'reading words', detail: null, done, of: Math.max(of, done) })
    await transact(async (db, notes) => {
      for (const { seq } of unread) notes.index(seq, await readSearchableText(db, seq))
    })
  }
  if ((await readValue(reader, 'words_due')) === null) return
  await transact(async (db) => {
    if (!(await unreadItems(db).select('item.seq').limit(1).executeTakeFirst())) await dropValue(db, 'words_due')
  })
}
