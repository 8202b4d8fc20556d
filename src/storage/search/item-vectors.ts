import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { AppError } from '../../errors.ts'
import type { ItemText } from '../../library/ports/encoder.ts'
import { ITEM_VECTOR_LENGTH, type ItemVectorStore, type UnencodedItem } from '../../library/ports/item-vectors.ts'
import { type SearchableText, toEmbeddedText } from '../../search/analysis/indexed-text.ts'
import { readSearchableText } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, prepareStatement, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { Claims } from './claims.ts'
import { digestOf } from './embeddings.ts'

/** Rows read at once, before yielding to other work: few at first, as most have no vector while there is much to do, then more each time. */
const FIRST_ROWS = 32
const MOST_ROWS = 1000

const lastChange = prepareQuery((db) => db.selectFrom('item_words').select((eb) => eb.fn.max('revision').as('last')))
const latestItems = prepareQuery((db) =>
  db
    .selectFrom('item_words')
    .innerJoin('item', 'item.seq', 'item_words.item_seq')
    .leftJoin('item_vector', (join) =>
      join.onRef('item_vector.item_seq', '=', 'item.seq').on('item_vector.model', '=', sql<string>`${slot('model')}`),
    )
    .select(['item_words.revision', 'item.seq', 'item.id', 'item.version', 'item.deleted_at', 'item_vector.seq as vector_seq'])
    .where('item_words.revision', '>', sql<number>`${slot('after')}`)
    .where('item_words.revision', '<=', sql<number>`${slot('upTo')}`)
    .orderBy('item_words.revision', 'desc')
    .limit(sql<number>`${slot('limit')}`),
)
const dropStale = prepareStatement(sql`
  delete from item_vector
  where item_seq = ${slot('seq')} and (
    digest <> ${slot('digest')} or not exists (select 1 from item where seq = ${slot('seq')} and deleted_at is null))`)

/**
 * Deletes the vectors of an item that is in the trash or whose text changed. Called in the transaction of that change.
 * @param text the new text; null when it did not change
 */
export async function dropStaleVectors(db: Kysely<Database>, seq: number, text: SearchableText | null): Promise<void> {
  await dropStale(db, { seq, digest: text && digestItemText(toItemText(text)) })
}

const encodedItem = prepareQuery((db) =>
  db
    .selectFrom('item')
    .select('seq')
    .where('id', '=', slot('id'))
    .where('version', '=', sql<number>`${slot('version')}`)
    .where('deleted_at', 'is', null),
)
const dropVector = prepareQuery((db) =>
  db
    .deleteFrom('item_vector')
    .where('item_seq', '=', sql<number>`${slot('seq')}`)
    .where('model', '=', slot('model')),
)
const putVector = prepareStatement(
  sql`insert into item_vector (item_seq, model, digest, vector) values (${slot('seq')}, ${slot('model')}, ${slot('digest')}, ${slot('vector')})`,
)

/** Of one moment, and each by an index: counting what is not in the trash would read every row with its text. */
const counts = prepareQuery<{ items: number; trashed: number; embedded: number }>((db) => {
  const text = sql<{ items: number; trashed: number; embedded: number }>`select (select count(*) from item) as items,
    (select count(*) from item where deleted_at is not null) as trashed,
    (select count(*) from item_vector where model = ${slot('model')}) as embedded`
  return { compile: () => text.compile(db) }
})

/** The encoder's vectors of all items. */
export function itemVectorStore(reader: Kysely<Database>, context: WriteContext, claims: Claims): ItemVectorStore {
  const countVectors: ItemVectorStore['countVectors'] = async (model) => {
    const [row] = await counts(reader, { model })
    const [all, inTrash, embedded] = [Number(row?.items), Number(row?.trashed), Number(row?.embedded)]
    return { total: all - inTrash, embedded, pending: Math.max(0, all - inTrash - embedded) }
  }
  return {
    async readLastChange() {
      const [row] = await lastChange(reader, {})
      return Number(row?.last ?? 0)
    },
    async listUnencoded(model, { after, upTo, isFirst = false }, limit) {
      // After a start: walking through a million items takes seconds, counting them does not.
      if (after === 0 && isFirst && (await countVectors(model)).pending === 0) return { items: [], upTo: after, skipsClaimed: false }
      let position = upTo
      let skipsClaimed = false
      for (let most = FIRST_ROWS; ; most = Math.min(MOST_ROWS, most * 4)) {
        const rows = await latestItems(reader, { model, after, upTo: position, limit: most })
        const missing: typeof rows = []
        for (const row of rows) {
          position = row.revision - 1
          if (row.deleted_at === null && row.vector_seq === null) missing.push(row)
          if (missing.length >= limit) break
        }
        const mine = await claims.claim('item_vector', model, missing)
        if (mine.length < missing.length) skipsClaimed = true
        const items: UnencodedItem[] = []
        for (const { seq, id, version, revision } of mine) {
          const text = toItemText(await readSearchableText(reader, seq))
          items.push({ id, version, position: revision, digest: digestItemText(text), text })
        }
        const isEnd = missing.length < limit && rows.length < most
        if (items.length > 0 || isEnd) return { items, upTo: isEnd ? after : position, skipsClaimed }
        await nextTurn()
      }
    },
    claimMs: claims.claimMs,
    renewClaims: claims.renew,
    saveVectors: (model, vectors) =>
      context.transact(async (db) => {
        const wrong = vectors.find(({ vector }) => vector.length !== ITEM_VECTOR_LENGTH)
        if (wrong) {
          throw new AppError('internal', `The encoder made a vector of ${wrong.vector.length} numbers instead of ${ITEM_VECTOR_LENGTH}.`)
        }
        const found = await together(vectors.map(({ item: { id, version } }) => encodedItem(db, { id, version })))
        // In the order of claims, for which others wait.
        const saved = vectors
          .flatMap((one, index) => (found[index] ?? []).map(({ seq }) => ({ ...one, seq })))
          .toSorted((a, b) => a.seq - b.seq)
        await together(
          saved.flatMap(({ seq, item, vector }) => [
            dropVector(db, { seq, model }),
            claims.release(db, model, seq),
            putVector(db, { seq, model, digest: item.digest, vector: new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength) }),
          ]),
        )
        return saved.length
      }),
    countVectors,
    forgetOtherVectors: (model) =>
      context.transact(async (db) => {
        const { numDeletedRows } = await db.deleteFrom('item_vector').where('model', '!=', model).executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      }),
  }
}

/** What the encoder gets of an item: the title, and as much of description and content as it reads. */
function toItemText({ title, description, content }: SearchableText): ItemText {
  return { title, text: toEmbeddedText({ title: '', description, content }) }
}

function digestItemText({ title, text }: ItemText): string {
  return digestOf(JSON.stringify([title, text]))
}
