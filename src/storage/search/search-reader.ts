import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { type Kysely, sql } from 'kysely'
import type { ItemKind, Tag } from '../../domain/items/items.ts'
import { audienceOf, type ListAudience, type Visibility } from '../../domain/items/visibility.ts'
import { decodePostings, encodePostings, type Posting } from '../../search/analysis/indexed-text.ts'
import { titleKey } from '../../search/analysis/query.ts'
import { type Audience, MEMBERS, PUBLIC } from '../../search/index/item-table.ts'
import type { ItemChange, VectorChange } from '../../search/index/kind-index.ts'
import type { SearchIndex } from '../../search/index/search-index.ts'
import { readRevision } from '../change-log.ts'
import { batches, prepareListQuery, prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { shareNext } from '../share-next.ts'
import type { IndexSnapshots, ReadPosition } from './index-snapshot.ts'
import { toNumbers } from './item-vectors.ts'

/** Changes applied before yielding to other work. */
const ROWS_A_TURN = 250
/** The same while the index is read for the first time: adding a batch costs as much as the library has words. */
const FIRST_ROWS_A_TURN = 2000
/** Bytes of their words, where items have many: 30,000 words take some 10 ms. */
const BYTES_A_TURN = 100_000
const FIRST_BYTES_A_TURN = 4_000_000
const VECTORS_A_TURN = 2000
const WORDS_A_STATEMENT = 400
const ITEMS_A_STATEMENT = 100
const TAGS_A_STATEMENT = 100
/**
 * A generous estimate of the memory of a word, in bytes, and the share of the heap that all words may take: 400,000 in 700 MB. Search passes
 * over the others.
 */
const BYTES_A_WORD = 450
const WORDS_SHARE = 0.25
const MAX_WORDS = Math.floor((getHeapStatistics().heap_size_limit * WORDS_SHARE) / BYTES_A_WORD)

const KINDS = ['prompt', 'skill'] as const satisfies readonly ItemKind[]

/** The readers besides its owner who find an item, in the index. */
const AUDIENCE_OF: Record<ListAudience, Audience | null> = { everybody: PUBLIC, members: MEMBERS, owner: null }

/** The readers besides its owner who find an item of a visibility; null for nobody. */
export function indexAudience(visibility: Visibility): Audience | null {
  return AUDIENCE_OF[audienceOf(visibility)]
}

/** Gets the encoder's vectors of one model, after the words of the items they belong to. */
export interface VectorSink {
  readonly model: string
  onVectors(kind: ItemKind, changes: readonly VectorChange[]): void
}

/** Keeps an in-memory search index up to date with the library, whichever process wrote to it. */
export type SearchReader = ReturnType<typeof readSearchIndex>

const indexedItems = (db: Kysely<Database>) =>
  db
    .selectFrom('item_words')
    .innerJoin('item', 'item.seq', 'item_words.item_seq')
    .leftJoin('item_vector', (join) =>
      join.onRef('item_vector.item_seq', '=', 'item_words.item_seq').on('item_vector.model', '=', sql<string>`${slot('model')}`),
    )
    .select([
      'item_words.item_seq',
      'item_words.title_length',
      'item_words.body_length',
      'item_words.words',
      'item_words.vector',
      'item.kind',
      'item.title',
      'item.owner_seq',
      'item.author_seq',
      'item.category_seq',
      'item.type',
      'item.visibility',
      'item.created_at',
      'item.votes',
      'item.deleted_at',
      'item_vector.vector as encoded',
    ])
/** All items in the order of their numbers, for an index that is empty. */
const nextItems = prepareQuery((db) =>
  indexedItems(db).where('item_words.item_seq', '>', slotNumber('after')).orderBy('item_words.item_seq').limit(slotNumber('limit')),
)
const itemsOf = prepareListQuery((db, seqs) => indexedItems(db).where('item_words.item_seq', 'in', seqs))
const nextChanges = prepareQuery((db) =>
  db.selectFrom('change').select(['seq', 'item_seq']).where('seq', '>', slotNumber('after')).orderBy('seq').limit(slotNumber('limit')),
)
const tagsOf = prepareListQuery((db, seqs) =>
  db.selectFrom('item_tag').select(['item_seq', 'slug', 'name']).where('item_seq', 'in', seqs).orderBy('item_seq').orderBy('position'),
)
const wordsOf = prepareListQuery<{ seq: number; word: string; stem: string }, number>((db, seqs) =>
  db.selectFrom('word').select(['seq', 'word', 'stem']).where('seq', 'in', seqs),
)
const newWords = prepareQuery((db) =>
  db.selectFrom('word').select(['seq', 'word', 'stem']).where('seq', '>', slotNumber('after')).orderBy('seq').limit(2000),
)
const lastVector = prepareQuery((db) =>
  db
    .selectFrom('item_vector')
    .select((eb) => eb.fn.max('seq').as('last'))
    .where('model', '=', sql<string>`${slot('model')}`),
)
const newVectors = prepareQuery((db) =>
  db
    .selectFrom('item_vector')
    .select(['seq', 'item_seq', 'vector'])
    .where('model', '=', sql<string>`${slot('model')}`)
    .where('seq', '>', slotNumber('after'))
    .orderBy('seq')
    .limit(VECTORS_A_TURN),
)

function slotNumber(name: string) {
  return sql<number>`${slot(name)}`
}

/**
 * Reads the library into `index` on demand, and the encoder's vectors into `sink`.
 * @param snapshots where the index is read from at first, when they have one. Default: the tables alone
 * @param maxWords most words that are kept. Default: what a quarter of the heap holds
 */
export function readSearchIndex(
  db: Kysely<Database>,
  index: SearchIndex,
  sink: VectorSink | null = null,
  snapshots: IndexSnapshots | null = null,
  maxWords = MAX_WORDS,
) {
  const { vocabulary } = index
  const model = sink?.model ?? ''
  let revision = 0
  let lastWord = 0
  /** Where the last snapshot was written, or read. */
  let saved: ReadPosition | null = null
  let readAt: number | null = null
  /** Vectors up to this one came with the words of their items. */
  let readVectors: number | null = null
  let isCut = false
  /** Whether items were read without some of their words, which only a start reads again. */
  let wasCut = false

  /** Reads the words after the last one, as many as there is room for. */
  const readNewWords = async (): Promise<void> => {
    while (!isCut) {
      const words = await newWords(db, { after: lastWord })
      if (words.length === 0) return
      for (const { seq, word, stem } of words) {
        isCut = vocabulary.size >= maxWords
        wasCut ||= isCut
        if (isCut) return
        vocabulary.add(seq, word, stem)
        lastWord = seq
      }
    }
  }
  /** The words of an item, without those for which there is no room. Words that no item held any more are read again. */
  const takeWords = async (rows: readonly ChangedRow[]): Promise<(words: Uint8Array) => Uint8Array> => {
    const missing = new Set<number>()
    const note = (word: number) => {
      if (vocabulary.wordOf(word) === '') missing.add(word)
    }
    for (const { words } of rows) decodePostings(words, note)
    const asked = [...missing]
    for (let at = 0; at < asked.length && vocabulary.size < maxWords; at += WORDS_A_STATEMENT) {
      const found = await wordsOf(db, asked.slice(at, at + WORDS_A_STATEMENT))
      for (const { seq, word, stem } of found) if (vocabulary.size < maxWords) vocabulary.add(seq, word, stem)
    }
    isCut = vocabulary.size >= maxWords
    wasCut ||= isCut
    if (!isCut) return (words) => words
    return (words) => {
      const kept: Posting[] = []
      decodePostings(words, (word, code) => {
        if (vocabulary.wordOf(word) !== '') kept.push({ word, code })
      })
      return encodePostings(kept)
    }
  }

  const refreshVectors = async ({ model, onVectors }: VectorSink, after: number): Promise<void> => {
    for (let last = after; ; ) {
      const rows = await newVectors(db, { model, after: last })
      const changes: Record<ItemKind, VectorChange[]> = { prompt: [], skill: [] }
      for (const { item_seq: seq, vector } of rows) {
        const kind = index.kindOf(seq)
        // Without one, the item is newer than this refresh: its vector comes with its words.
        if (kind !== undefined) changes[kind].push({ seq, vector: toNumbers(vector) })
      }
      for (const kind of KINDS) if (changes[kind].length > 0) onVectors(kind, changes[kind])
      last = rows.at(-1)?.seq ?? last
      readVectors = last
      if (rows.length < VECTORS_A_TURN) return
      await nextTurn()
    }
  }

  /** Applies what items are now. `gone` are those that have been removed. */
  const applyRows = async (rows: readonly ChangedRow[], gone: readonly number[] = []): Promise<void> => {
    const tags = new Map<number, Tag[]>()
    for (const part of batches(
      rows.map((row) => row.item_seq),
      TAGS_A_STATEMENT,
    )) {
      for (const row of await tagsOf(db, part)) {
        const list = tags.get(row.item_seq) ?? []
        list.push({ slug: row.slug, name: row.name })
        tags.set(row.item_seq, list)
      }
    }
    const withoutCut = await takeWords(rows)
    const changes: Record<ItemKind, ItemChange[]> = { prompt: [], skill: [] }
    const encoded: Record<ItemKind, VectorChange[]> = { prompt: [], skill: [] }
    for (const row of rows) {
      const { item_seq: seq, kind } = row
      if (row.encoded || index.kindOf(seq)) encoded[kind].push({ seq, vector: row.encoded && toNumbers(row.encoded) })
      changes[kind].push(toChange({ ...row, words: withoutCut(row.words) }, tags.get(seq) ?? []))
    }
    for (const seq of gone) {
      const kind = index.kindOf(seq)
      if (kind === undefined) continue
      changes[kind].push({ seq, item: null, words: null })
      encoded[kind].push({ seq, vector: null })
    }
    for (const kind of KINDS) {
      index.apply(kind, changes[kind])
      if (encoded[kind].length > 0) sink?.onVectors(kind, encoded[kind])
    }
    index.releaseWords()
  }
  const applyParts = async (rows: readonly ChangedRow[], maxBytes: number): Promise<void> => {
    for (const part of partsOf(rows, maxBytes)) {
      await applyRows(part)
      await nextTurn()
    }
  }
  /** Reads all items into an empty index. What changes meanwhile is read afterwards. */
  const readAll = async (): Promise<void> => {
    for (let after = -1; ; ) {
      await readNewWords()
      const rows = await nextItems(db, { after, model, limit: FIRST_ROWS_A_TURN })
      await applyParts(rows, FIRST_BYTES_A_TURN)
      after = rows.at(-1)?.item_seq ?? after
      if (rows.length < FIRST_ROWS_A_TURN) return
    }
  }
  /** Reads what the log of changes names after the last one read. */
  const readOn = async (): Promise<void> => {
    for (;;) {
      const changes = await nextChanges(db, { after: revision, limit: ROWS_A_TURN })
      if (changes.length === 0) return
      const seqs = [...new Set(changes.flatMap(({ item_seq: seq }) => seq ?? []))]
      if (seqs.length > 0) {
        await readNewWords()
        const rows: ChangedRow[] = []
        for (const part of batches(seqs, ITEMS_A_STATEMENT)) rows.push(...(await itemsOf(db, part, { model })))
        const found = new Set(rows.map((row) => row.item_seq))
        await applyParts(rows, BYTES_A_TURN)
        await applyRows(
          [],
          seqs.filter((seq) => !found.has(seq)),
        )
      }
      revision = changes.at(-1)?.seq ?? revision
      if (changes.length < ROWS_A_TURN) return
    }
  }

  const refresh = async (): Promise<void> => {
    const current = await readRevision(db, 'library')
    if (current === readAt) return
    if (readAt === null && snapshots && revision === 0) {
      saved = await snapshots.load(index, model)
      if (saved) {
        revision = saved.revision
        lastWord = saved.lastWord
        if (sink) readVectors = saved.lastVector
      }
    }
    if (sink && readVectors === null) {
      const [row] = await lastVector(db, { model: sink.model })
      readVectors = Number(row?.last ?? 0)
    }
    if (readAt === null && revision === 0) {
      await readAll()
      revision = current
    }
    await readOn()
    if (sink) await refreshVectors(sink, readVectors ?? 0)
    readAt = current
  }
  const refreshAgain = shareNext(refresh)
  const current = async (): Promise<SearchIndex> => {
    // A refresh that began before this call may have missed later writes: those who come meanwhile share the next.
    await refreshAgain()
    return index
  }
  return {
    /** Whether the library has been read once. */
    isReady: (): boolean => readAt !== null,
    /** Whether the library has more words than fit into memory, so that search passes over some. */
    isCut: (): boolean => wasCut,
    /** The index, with every change that was durable at the time of the call. */
    current,
    /** Changes that a snapshot written now would hold, and the last one lacks, whoever wrote it; infinite when there is none. */
    async countUnsaved(): Promise<number> {
      const found = await snapshots?.find()
      if (!found) return Number.POSITIVE_INFINITY
      // Processes with different encoders replace the other's now and then, and not at every look.
      const last = found.model === model ? found : saved
      if (!last) return Number.POSITIVE_INFINITY
      return revision - last.revision + (readVectors ?? 0) - last.lastVector
    },
    /** Writes a snapshot of the index. @returns and throws as `IndexSnapshots.save` */
    async save(signal: AbortSignal): Promise<boolean> {
      // A snapshot has all words: with more memory, a cut one would stay cut.
      if (snapshots) await current()
      if (!snapshots || wasCut) return false
      let position: ReadPosition | null = null
      const bringUpToDate = async (): Promise<ReadPosition> => {
        await current()
        position = { revision, lastWord, lastVector: readVectors ?? 0 }
        return position
      }
      const isSaved = await snapshots.save(index, model, bringUpToDate, signal)
      saved = isSaved ? position : null
      return isSaved
    },
  }
}

/** Rows in parts of at most so many bytes of words, or of one row. */
function* partsOf(rows: readonly ChangedRow[], maxBytes: number): Generator<readonly ChangedRow[]> {
  let from = 0
  let bytes = 0
  for (const [place, { words }] of rows.entries()) {
    if (place > from && bytes + words.length > maxBytes) {
      yield rows.slice(from, place)
      from = place
      bytes = 0
    }
    bytes += words.length
  }
  if (from < rows.length) yield rows.slice(from)
}

type ChangedRow = Awaited<ReturnType<typeof nextItems>>[number]

function toChange(row: ChangedRow, tags: readonly Tag[]): ItemChange {
  const seq = row.item_seq
  if (row.deleted_at !== null) return { seq, item: null, words: null }
  return {
    seq,
    words: row.words,
    item: {
      seq,
      ownerSeq: row.owner_seq,
      authorSeq: row.author_seq,
      categorySeq: row.category_seq,
      type: row.type,
      audience: indexAudience(row.visibility),
      createdAt: Date.parse(row.created_at),
      votes: row.votes,
      tags,
      titleLength: row.title_length,
      bodyLength: row.body_length,
      titleKey: titleKey(row.title),
      vector: row.vector && toNumbers(row.vector),
    },
  }
}
