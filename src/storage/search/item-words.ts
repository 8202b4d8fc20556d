import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { stemmer } from 'stemmer'
import {
  ANALYSIS,
  decodePostings,
  encodePostings,
  type IndexedText,
  indexText,
  type SearchableText,
} from '../../search/analysis/indexed-text.ts'
import type { Embedder } from '../../search/vectors/embedder.ts'
import { readRevision } from '../change-log.ts'
import { addUsage } from '../items/owner-usage.ts'
import { dropValue } from '../kept-values.ts'
import { batches, prepareListQuery, preparePut, prepareQuery, prepareStatement, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Items whose words are sent together. */
const ITEMS_TOGETHER = 50
/** Values per statement: engines allow tens of thousands, but long statements compile slowly. */
const WORDS_A_STATEMENT = 400
/** Words whose numbers are cached. */
const MAX_CACHED = 200_000
/** Words of an item that are looked up although its owner may bring no more: more than an ordinary text has. */
const MAX_ASKED = 500
/** Rows read, or words checked, before yielding to other work. */
const ROWS_A_TURN = 500

/** The change of an item: its words and their vector, or (null) anything else the index holds. */
export interface ReadItem {
  readonly seq: number
  /** For whom words count that no item had before; null for nobody. */
  readonly ownerSeq: number | null
  readonly indexed: IndexedText | null
  /** Numbers of words as they were cached, and the words that were not. */
  readonly cached: ReadonlyMap<string, number>
  readonly unknown: ReadonlySet<string>
  /** Last removal of words that the cache had seen. */
  readonly removal: number
  readonly vector: Uint8Array | null
}

/** The result of writing the words of items. */
interface WrittenWords {
  /** Call it after the commit: only then may new word numbers be cached. */
  remember(): void
  /** Words that an item brought, by its row number. */
  readonly newWords: ReadonlyMap<number, number>
}

const NOTHING_WRITTEN: WrittenWords = { remember() {}, newWords: new Map() }

const lastRemoval = prepareQuery((db) => db.selectFrom('word_removal').select((eb) => eb.fn.max('seq').as('last')))
const wordsAfter = prepareQuery((db) =>
  db
    .selectFrom('item_words')
    .select(['item_seq', 'words'])
    .where('item_seq', '>', sql<number>`${slot('after')}`)
    .orderBy('item_seq')
    .limit(ROWS_A_TURN),
)
const wordsSince = prepareQuery((db) =>
  db
    .selectFrom('change')
    .innerJoin('item_words', 'item_words.item_seq', 'change.item_seq')
    .select(['change.seq', 'item_words.words'])
    .where('change.seq', '>', sql<number>`${slot('after')}`)
    .orderBy('change.seq')
    .limit(ROWS_A_TURN),
)

const numbersOf = prepareListQuery<{ seq: number; word: string }, string>((db, words) =>
  db.selectFrom('word').select(['seq', 'word']).where('word', 'in', words),
)
const wordsUsed = prepareListQuery<{ owner_seq: number; words: number }>((db, owners) =>
  db.selectFrom('owner_usage').select(['owner_seq', 'words']).where('owner_seq', 'in', owners),
)
const newWord = prepareStatement(sql<{ seq: number; word: string }>`
  insert into word (word, stem, owner_seq) values (${slot('word')}, ${slot('stem')}, ${slot('owner')}) returning seq, word`)
const putPostings = preparePut('item_words', 'item_seq')

/**
 * A words writer with its own cache.
 * @param quota most words that an owner may bring; null for no limit
 */
export function createWordsWriter(embedder: Embedder, quota: number | null) {
  // A look-up in a map takes a quarter of one that also notes the use, and a text has hundreds. A full one is replaced, not emptied: who reads
  // it goes on.
  let wordNumbers = new Map<string, number>()
  /** Last removal of words the cache has seen. */
  let removal = 0
  const findUnknown = (words: Iterable<string>): ReadonlySet<string> => {
    const unknown = new Set<string>()
    for (const word of words) if (!wordNumbers.has(word)) unknown.add(word)
    return unknown
  }
  const findStored = async (db: Kysely<Database>, words: readonly string[]) =>
    (await together(Array.from(batches(words, WORDS_A_STATEMENT), (part) => numbersOf(db, part)))).flat()
  /** How many new words each owner may still bring. */
  const readRoom = async (db: Kysely<Database>, items: readonly ReadItem[]): Promise<Map<number | null, number>> => {
    const owners = quota === null ? [] : [...new Set(items.flatMap(({ ownerSeq, indexed }) => (indexed ? (ownerSeq ?? []) : [])))]
    const used = new Map(
      (owners.length === 0 ? [] : await wordsUsed(db, owners)).map(({ owner_seq: owner, words }) => [owner, Number(words)]),
    )
    return new Map(owners.map((owner) => [owner, Math.max(0, (quota ?? 0) - (used.get(owner) ?? 0))]))
  }
  /** Words that are looked up: of an item for whose owner there is little room not all, as most would be left out. */
  const listAsked = (items: readonly ReadItem[], room: ReadonlyMap<number | null, number>): string[] => {
    const asked = new Set<string>()
    for (const { ownerSeq, unknown } of items) {
      let left = (room.get(ownerSeq) ?? Number.POSITIVE_INFINITY) + MAX_ASKED
      for (const word of unknown) {
        if (left-- <= 0) break
        asked.add(word)
      }
    }
    return [...asked]
  }
  /** New words, each with the item that brings it: those for whose owners there is room. */
  const shareOut = (items: readonly ReadItem[], isNew: ReadonlySet<string>, room: Map<number | null, number>): Map<string, ReadItem> => {
    const brought = new Map<string, ReadItem>()
    for (const item of items) {
      let left = room.get(item.ownerSeq) ?? Number.POSITIVE_INFINITY
      for (const word of item.unknown) {
        if (left === 0) break
        if (!isNew.has(word) || brought.has(word)) continue
        brought.set(word, item)
        left--
      }
      if (room.has(item.ownerSeq)) room.set(item.ownerSeq, left)
    }
    return brought
  }
  const addWords = async (db: Kysely<Database>, brought: ReadonlyMap<string, ReadItem>): Promise<{ seq: number; word: string }[]> => {
    const rows = Array.from(brought, ([word, { ownerSeq }]) => ({ word, stem: stemmer(word), owner_seq: ownerSeq }))
    const byOwner = Map.groupBy(rows, ({ owner_seq: owner }) => owner)
    for (const [owner, { length }] of byOwner) if (owner !== null) await addUsage(db, owner, { words: length })
    const [row] = rows
    if (row && rows.length === 1) return await newWord(db, { word: row.word, stem: row.stem, owner: row.owner_seq })
    const added: { seq: number; word: string }[] = []
    for (const part of batches(rows, WORDS_A_STATEMENT))
      added.push(...(await db.insertInto('word').values(part).returning(['seq', 'word']).execute()))
    return added
  }
  return {
    /** Reads a text; null for an item whose text is as before. Touches no table. */
    read(seq: number, ownerSeq: number | null, text: SearchableText | null): ReadItem {
      const indexed = text && indexText(text)
      const vector = indexed && embedder.embedItem(indexed)
      const unknown = findUnknown(indexed?.words.keys() ?? [])
      return { seq, ownerSeq, indexed, cached: wordNumbers, unknown, removal, vector: vector ? new Uint8Array(vector.buffer) : null }
    },
    /** Writes in order. */
    async write(db: Kysely<Database>, read: readonly ReadItem[]): Promise<WrittenWords> {
      if (read.length === 0) return NOTHING_WRITTEN
      const [[removed], room] = await together([lastRemoval(db, {}), readRoom(db, read)])
      const seen = Number(removed?.last ?? 0)
      if (seen !== removal) wordNumbers = new Map()
      removal = seen
      const fresh = (item: ReadItem) => ({ ...item, cached: wordNumbers, unknown: findUnknown(item.indexed?.words.keys() ?? []) })
      const items = read.map((item) => (item.removal === seen ? item : fresh(item)))
      const asked = listAsked(items, room)
      const stored = await findStored(db, asked)
      const numbers = new Map(stored.map(({ word, seq }) => [word, seq]))
      const brought = shareOut(items, new Set(asked.filter((word) => !numbers.has(word))), room)
      const added = await addWords(db, brought)
      for (const { word, seq } of added) numbers.set(word, seq)
      for (const part of batches(items, ITEMS_TOGETHER)) {
        await together(part.flatMap((item) => (item.indexed ? putWords(db, item, item.indexed, numbers) : [])))
      }
      const newWords = new Map<number, number>()
      for (const { seq } of brought.values()) newWords.set(seq, (newWords.get(seq) ?? 0) + 1)
      return {
        newWords,
        remember() {
          if (seen !== removal) return
          const found = [...stored, ...added]
          if (wordNumbers.size + found.length > MAX_CACHED) wordNumbers = new Map()
          for (const { word, seq } of found) wordNumbers.set(word, seq)
        },
      }
    },
  }
}

/**
 * Removes words that no item holds. It reads all items' words in parts, beside other work. The removing transaction first reads the words of
 * items that changed meanwhile.
 */
export async function removeUnusedWords(
  reader: Kysely<Database>,
  transact: <T>(work: (db: Kysely<Database>) => Promise<T>) => Promise<T>,
): Promise<void> {
  const { last } = await reader
    .selectFrom('word')
    .select((eb) => eb.fn.max('seq').as('last'))
    .executeTakeFirstOrThrow()
  const isUsed = new Uint8Array(Number(last ?? 0) + 1)
  const note = (words: Uint8Array) =>
    decodePostings(words, (word) => {
      isUsed[word] = 1
    })
  let change = await readRevision(reader, 'library')
  for (let after = -1; ; await nextTurn()) {
    const rows = await wordsAfter(reader, { after })
    for (const { words } of rows) note(words)
    after = rows.at(-1)?.item_seq ?? after
    if (rows.length < ROWS_A_TURN) break
  }
  const readOn = async (db: Kysely<Database>): Promise<boolean> => {
    const rows = await wordsSince(db, { after: change })
    for (const { words } of rows) note(words)
    change = rows.at(-1)?.seq ?? change
    return rows.length === ROWS_A_TURN
  }
  const unused: number[] = []
  for (let word = 1; word < isUsed.length; word++) if (isUsed[word] === 0) unused.push(word)
  for (const part of batches(unused, WORDS_A_STATEMENT)) {
    await transact(async (db) => {
      while (await readOn(db)) await nextTurn()
      const still = part.filter((word) => isUsed[word] === 0)
      if (still.length === 0) return
      const removed = await db.deleteFrom('word').where('seq', 'in', still).returning('owner_seq').execute()
      if (removed.length === 0) return
      for (const [owner, { length }] of Map.groupBy(removed, ({ owner_seq: one }) => one)) {
        if (owner !== null) await addUsage(db, owner, { words: -length })
      }
      await db.insertInto('word_removal').defaultValues().execute()
      await dropValue(db, 'search_epoch')
    })
    await nextTurn()
  }
}

async function putWords(
  db: Kysely<Database>,
  { seq, cached, vector }: ReadItem,
  indexed: IndexedText,
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const postings = [...indexed.words].flatMap(([text, code]) => {
    const word = cached.get(text) ?? numbers.get(text)
    return word === undefined ? [] : { word, code }
  })
  await putPostings(db, {
    item_seq: seq,
    analysis: ANALYSIS,
    title_length: indexed.titleLength,
    body_length: indexed.bodyLength,
    words: encodePostings(postings),
    vector,
    left_out: indexed.words.size - postings.length,
  })
}
