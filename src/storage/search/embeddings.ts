import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { EmbeddingStore, UnembeddedItem } from '../../library/ports/embeddings.ts'
import { type SearchableText, toEmbeddedText } from '../../search/analysis/indexed-text.ts'
import { toCode } from '../../search/vectors/vector-codes.ts'
import type { VectorTable } from '../dialects/dialect.ts'
import { readSearchableText } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { Claims } from './claims.ts'
import { toBytes } from './vector-bytes.ts'

/** Rows read before yielding to other work. */
const ROWS_A_TURN = 1000

const itemsByRevision = prepareQuery((db) =>
  db
    .selectFrom('item_words')
    .innerJoin('item', 'item.seq', 'item_words.item_seq')
    .leftJoin('embedding', (join) =>
      join.onRef('embedding.item_seq', '=', 'item.seq').on('embedding.model', '=', sql<string>`${slot('model')}`),
    )
    .select([
      'item_words.revision',
      'item.seq',
      'item.id',
      'item.version',
      'item.visibility',
      'item.deleted_at',
      'embedding.seq as embedding_seq',
    ])
    .where('item_words.revision', '>', sql<number>`${slot('after')}`)
    .orderBy('item_words.revision')
    .limit(ROWS_A_TURN),
)
const dropStale = prepareStatement(sql`
  delete from embedding
  where item_seq = ${slot('seq')} and (
    digest <> ${slot('digest')}
    or not exists (select 1 from item where seq = ${slot('seq')} and visibility = 'public' and deleted_at is null))`)

/**
 * Deletes the vectors of an item that is no longer public or whose text changed. Called in the transaction of that change.
 * @param text the new text; null when it did not change
 */
export async function dropStaleEmbeddings(db: Kysely<Database>, seq: number, text: SearchableText | null): Promise<void> {
  await dropStale(db, { seq, digest: text && digestOf(toEmbeddedText(text)) })
}

/** Provider vectors of public items. */
export function embeddingStore(reader: Kysely<Database>, context: WriteContext, claims: Claims, table: VectorTable | null): EmbeddingStore {
  const publicItems = (db: Kysely<Database>) => db.selectFrom('item').where('visibility', '=', 'public').where('deleted_at', 'is', null)

  /** Reads texts to embed. Drops items that changed meanwhile, so that a text is given out only while it is public. */
  const readTexts = async (rows: readonly { seq: number; id: string; version: number }[]): Promise<UnembeddedItem[]> => {
    const items: (UnembeddedItem & { seq: number })[] = []
    for (const { seq, id, version } of rows) {
      const text = toEmbeddedText(await readSearchableText(reader, seq))
      items.push({ seq, id, version, digest: digestOf(text), text })
    }
    const still = await publicItems(reader)
      .select(['seq', 'version'])
      .where(
        'seq',
        'in',
        items.map((item) => item.seq),
      )
      .execute()
    const versions = new Map(still.map((row) => [row.seq, row.version]))
    return items.flatMap(({ seq, ...item }) => (versions.get(seq) === item.version ? [item] : []))
  }
  return {
    async listUnembedded(model, after, limit, { stealsClaims = false } = {}) {
      let position = after
      for (;;) {
        const rows = await itemsByRevision(reader, { model, after: position })
        const missing: typeof rows = []
        for (const row of rows) {
          position = row.revision
          if (row.visibility === 'public' && row.deleted_at === null && row.embedding_seq === null) missing.push(row)
          if (missing.length >= limit) break
        }
        const mine = await claims.claim('embedding', model, missing, stealsClaims)
        const items = mine.length > 0 ? await readTexts(mine) : []
        const isEnd = rows.length < ROWS_A_TURN && position === (rows.at(-1)?.revision ?? position)
        if (items.length > 0 || isEnd) return { items, position }
        await nextTurn()
      }
    },
    claimMs: claims.claimMs,
    renewClaims: claims.renew,
    saveEmbeddings: (model, embeddings) =>
      context.transact(async (db) => {
        let saved = 0
        for (const { item, vector } of embeddings) {
          const row = await publicItems(db).select('seq').where('id', '=', item.id).where('version', '=', item.version).executeTakeFirst()
          if (!row) continue
          const dims = vector.length
          if (saved === 0) await dropOtherDimensions(db, model, dims)
          await db.deleteFrom('embedding').where('item_seq', '=', row.seq).where('model', '=', model).execute()
          await claims.release(db, model, row.seq)
          const { seq } = await db
            .insertInto('embedding')
            .values({ item_seq: row.seq, model, digest: item.digest, dims, code: toCode(vector) })
            .returning('seq')
            .executeTakeFirstOrThrow()
          await db
            .insertInto('embedding_vector')
            .values({ embedding_seq: seq, vector: toBytes(vector) })
            .execute()
          await table?.keep(db, seq, vector)
          saved++
        }
        return saved
      }),
    async countEmbeddings(model) {
      const { total } = await publicItems(reader)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      const { embedded } = await reader
        .selectFrom('embedding')
        .select((eb) => eb.fn.countAll<number>().as('embedded'))
        .where('model', '=', model)
        .executeTakeFirstOrThrow()
      return { total: Number(total), embedded: Number(embedded), pending: Math.max(0, Number(total) - Number(embedded)) }
    },
    forgetEmbeddings: (keep) =>
      context.transact(async (db) => {
        const all = db.deleteFrom('embedding')
        const { numDeletedRows } = await (keep === null ? all : all.where('model', '!=', keep)).executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      }),
  }
}

/** A model's vectors all have the same dimensions: when those change, the old vectors are deleted. */
async function dropOtherDimensions(db: Kysely<Database>, model: string, dims: number): Promise<void> {
  const any = await db.selectFrom('embedding').select('dims').where('model', '=', model).limit(1).executeTakeFirst()
  if (any && any.dims !== dims) await db.deleteFrom('embedding').where('model', '=', model).execute()
}

/** The digest that tells whether a text is still the one that was embedded: SHA-256 in hex. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
