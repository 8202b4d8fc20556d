import { type Kysely, sql } from 'kysely'
import { stemmer } from 'stemmer'
import type { Embedder } from '../library/search/embedder.ts'
import { ANALYSIS, encodePostings, type IndexedText, indexText, type SearchableText } from '../library/search/indexed-text.ts'
import { prepareQuery, slot } from './prepared.ts'
import type { Database } from './schema.ts'

/** Values of one statement; engines take some tens of thousands, and long statements are slow to compile. */
const WORDS_A_STATEMENT = 400
/** Words whose numbers are remembered. */
const MAX_REMEMBERED = 200_000

/** What a write says of an item's words: new ones, or that the item or what it refers to is no longer as it was. */
type WordsNote = { readonly seq: number; readonly text: SearchableText | null }

/** Writes the words of changed items, at the end of the transaction that changed them. */
export interface WordsWriter {
  /** Gives what to call once the transaction is durable: only then may the numbers it gave be remembered. */
  write(db: Kysely<Database>, notes: readonly WordsNote[]): Promise<() => void>
}

const lastRevision = prepareQuery((db) => db.selectFrom('item_words').select((eb) => eb.fn.max('revision').as('last')))
const touchItem = prepareQuery<{ item_seq: number }>((db) =>
  db
    .updateTable('item_words')
    .set({ revision: sql<number>`${slot('revision')}` })
    .where('item_seq', '=', sql<number>`${slot('seq')}`)
    .returning('item_seq'),
)

/** A writer of words for one process. */
export function createWordsWriter(embedder: Embedder): WordsWriter {
  const remembered = new Map<string, number>()
  const numberWords = async (db: Kysely<Database>, words: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> => {
    const numbers = new Map<string, number>()
    let unknown: string[] = []
    for (const word of words) {
      const seq = remembered.get(word)
      if (seq === undefined) unknown.push(word)
      else numbers.set(word, seq)
    }
    const take = (rows: readonly { seq: number; word: string }[]) => {
      for (const { word, seq } of rows) numbers.set(word, seq)
    }
    for (const part of chunks(unknown)) take(await db.selectFrom('word').select(['seq', 'word']).where('word', 'in', part).execute())
    unknown = unknown.filter((word) => !numbers.has(word))
    for (const part of chunks(unknown)) {
      const rows = part.map((word) => ({ word, stem: stemmer(word) }))
      take(await db.insertInto('word').values(rows).returning(['seq', 'word']).execute())
    }
    return numbers
  }
  return {
    async write(db, notes) {
      if (notes.length === 0) return () => {}
      const [row] = await lastRevision(db, {})
      let revision = Number(row?.last ?? 0)
      const texts = notes.flatMap(({ seq, text }) => (text ? [{ seq, indexed: indexText(text) }] : []))
      const numbers = await numberWords(db, new Set(texts.flatMap(({ indexed }) => [...indexed.words.keys()])))
      for (const { seq, indexed } of texts) await putWords(db, seq, ++revision, indexed, numbers, embedder)
      for (const { seq, text } of notes) if (!text) await touchItem(db, { seq, revision: ++revision })
      return () => {
        if (remembered.size + numbers.size > MAX_REMEMBERED) remembered.clear()
        for (const [word, seq] of numbers) remembered.set(word, seq)
      }
    },
  }
}

async function putWords(
  db: Kysely<Database>,
  seq: number,
  revision: number,
  indexed: IndexedText,
  numbers: ReadonlyMap<string, number>,
  embedder: Embedder,
): Promise<void> {
  const postings = [...indexed.words].map(([word, code]) => ({ word: numbers.get(word) ?? 0, code }))
  const vector = embedder.embedItem(indexed)
  const row = {
    revision,
    analysis: ANALYSIS,
    title_length: indexed.titleLength,
    body_length: indexed.bodyLength,
    words: encodePostings(postings),
    vector: vector ? new Uint8Array(vector.buffer) : null,
  }
  await db
    .insertInto('item_words')
    .values({ item_seq: seq, ...row })
    .onConflict((c) => c.column('item_seq').doUpdateSet(row))
    .execute()
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += WORDS_A_STATEMENT) yield items.slice(at, at + WORDS_A_STATEMENT)
}
