import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { ChangeRange, ItemText, UnencodedItem, VectorCounts, VectorModel } from '../../domain/ports/encoder.ts'
import { type SearchableText, toEmbeddedText } from '../../search/analysis/indexed-text.ts'
import { readRevision } from '../change-log.ts'
import { readSearchableText } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import { batches, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Rows read at once, before yielding to other work: few at first, as most have no vector while there is much to do, then more each time. */
const FIRST_ROWS = 32
const MOST_ROWS = 1000
/** Vectors that one transaction writes or deletes: a few milliseconds, so that others can write in between. */
const ROWS_A_TRANSACTION = 200

/** Items by their last change in `after < seq <= upTo`, the newest first, with the number of their vector of a model. */
function selectLatest(db: Kysely<Database>, model: string, after: number, upTo: number) {
  return (
    db
      .selectFrom('change')
      .innerJoin('item', 'item.seq', 'change.item_seq')
      .leftJoin('item_vector', (join) => join.onRef('item_vector.item_seq', '=', 'item.seq').on('item_vector.model', '=', model))
      .select([
        'change.seq as revision',
        'item.seq',
        'item.id',
        'item.version',
        'item.visibility',
        'item.deleted_at',
        'item_vector.seq as vector_seq',
      ])
      .where('change.seq', '>', after)
      .where('change.seq', '<=', upTo)
      // Each item at its last change.
      .where(sql<boolean>`not exists (select 1 from change as later where later.item_seq = change.item_seq and later.seq > change.seq)`)
      .orderBy('change.seq', 'desc')
  )
}
const dropStale = prepareStatement(sql`
  delete from item_vector
  where item_seq = ${slot('seq')} and (
    digest <> ${slot('digest')}
    or not exists (
      select 1 from item
      where item.seq = ${slot('seq')} and item.deleted_at is null and (item.visibility = 'public' or item_vector.is_provided = 0)))`)

/**
 * Deletes the vectors of an item that is in the trash or whose text changed, and a provider's if it is not public. Called in the transaction of that change.
 * @param text the new text; null when it did not change
 */
export async function dropStaleVectors(db: Kysely<Database>, seq: number, text: SearchableText | null): Promise<void> {
  await dropStale(db, { seq, digest: text && digestItemText(toItemText(text)) })
}

/** Of one moment, and each by an index: counting what is not in the trash would read every row with its text. */
const counts = z.object({ total: z.coerce.number(), embedded: z.coerce.number() })
const PUBLIC = sql`(select count(*) from item where visibility = 'public' and deleted_at is null)`
const ALL = sql`(select count(*) from item) - (select count(*) from item where deleted_at is not null)`

/** A vector that was made of an item. */
interface MadeVector {
  readonly item: UnencodedItem
  readonly vector: Int8Array
}

/**
 * The vectors of items, by model: for a provider of public items, otherwise of all outside the trash. A write that changes an item's text,
 * moves it to the trash, or hides it from a provider, deletes its vectors in the same transaction. So the items without a vector are all the
 * work there is.
 */
export function itemVectorStore(reader: Kysely<Database>, context: WriteContext, claims: Claims) {
  /** For operators alone, as it may count private items. */
  const countVectors = async ({ model, isProvider }: VectorModel): Promise<VectorCounts> => {
    const embeddedNow = sql`(select count(*) from item_vector where model = ${model})`
    const { rows } = await sql`select ${isProvider ? PUBLIC : ALL} as total, ${embeddedNow} as embedded`.execute(reader)
    const { total, embedded } = counts.parse(rows[0])
    return { total, embedded, pending: Math.max(0, total - embedded) }
  }
  /** Those of the rows that are still public: asked after their texts were read, so that a text is sent only while it is public. */
  const keepPublic = async <Row extends { readonly seq: number; readonly version: number }>(rows: readonly Row[]): Promise<Row[]> => {
    const seqs = rows.map(({ seq }) => seq)
    const still = await reader
      .selectFrom('item')
      .select(['seq', 'version'])
      .where('seq', 'in', seqs)
      .where('visibility', '=', 'public')
      .where('deleted_at', 'is', null)
      .execute()
    const versions = new Map(still.map(({ seq, version }) => [seq, version]))
    return rows.filter(({ seq, version }) => versions.get(seq) === version)
  }
  const readTexts = async (
    { isProvider }: VectorModel,
    rows: readonly { readonly seq: number; readonly id: string; readonly version: number; readonly revision: number }[],
  ): Promise<UnencodedItem[]> => {
    const items: (UnencodedItem & { readonly seq: number })[] = []
    for (const { seq, id, version, revision } of rows) {
      const text = toItemText(await readSearchableText(reader, seq))
      items.push({ seq, id, version, position: revision, digest: digestItemText(text), text })
    }
    const wanted = isProvider && items.length > 0 ? await keepPublic(items) : items
    return wanted.map(({ seq: _, ...item }) => item)
  }
  const dropModel = async (model: string): Promise<number> => {
    for (let dropped = 0; ; ) {
      const rows = await context.transact((db) => {
        const some = db.selectFrom('item_vector').select('seq').where('model', '=', model).orderBy('seq').limit(ROWS_A_TRANSACTION)
        return db.deleteFrom('item_vector').where('seq', 'in', some).returning('seq').execute()
      })
      dropped += rows.length
      if (rows.length < ROWS_A_TRANSACTION) return dropped
    }
  }
  const savePart = ({ model, isProvider }: VectorModel, vectors: readonly MadeVector[]): Promise<number> =>
    context.transact(async (db) => {
      const ids = vectors.map(({ item }) => item.id)
      const rows = await db
        .selectFrom('item')
        .select(['seq', 'id', 'version', 'visibility'])
        .where('id', 'in', ids)
        .where('deleted_at', 'is', null)
        .execute()
      const rowOf = new Map(rows.map((row) => [row.id, row]))
      const saved = vectors.flatMap(({ item: { id, version, digest }, vector }) => {
        const row = rowOf.get(id)
        if (row?.version !== version || (isProvider && row.visibility !== 'public')) return []
        return [{ item_seq: row.seq, model, digest, vector: toBytes(vector), is_provided: Number(isProvider) }]
      })
      if (saved.length === 0) return 0
      const seqs = saved.map((row) => row.item_seq)
      await db.deleteFrom('item_vector').where('model', '=', model).where('item_seq', 'in', seqs).execute()
      await claims.release(db, model, seqs)
      await db.insertInto('item_vector').values(saved).execute()
      return saved.length
    })
  return {
    /** The position of the last change; cheap. */
    readLastChange: () => readRevision(reader, 'library'),
    /**
     * Items in the range without a vector of this model, last changed first. `upTo` is where the next call continues: the range is done when
     * it is `after`. `skipsClaimed`: others are claimed by another instance, and left out.
     */
    async listUnencoded(model: VectorModel, { after, upTo, isFirst = false }: ChangeRange, limit: number) {
      // After a start: walking through a million items takes seconds, counting them does not.
      if (after === 0 && isFirst && (await countVectors(model)).pending === 0) return { items: [], upTo: after, skipsClaimed: false }
      let position = upTo
      let skipsClaimed = false
      for (let most = FIRST_ROWS; ; most = Math.min(MOST_ROWS, most * 4)) {
        const rows = await selectLatest(reader, model.model, after, position).limit(most).execute()
        const missing: typeof rows = []
        for (const row of rows) {
          position = row.revision - 1
          const isWanted = row.deleted_at === null && (row.visibility === 'public' || !model.isProvider)
          if (isWanted && row.vector_seq === null) missing.push(row)
          if (missing.length >= limit) break
        }
        const mine = await claims.claim(model.model, missing)
        if (mine.length < missing.length) skipsClaimed = true
        const items = await readTexts(model, mine)
        const isEnd = missing.length < limit && rows.length < most
        if (items.length > 0 || isEnd) return { items, upTo: isEnd ? after : position, skipsClaimed }
        await nextTurn()
      }
    },
    /** How long claims last without `renewClaims`, in milliseconds; null for a single instance. */
    claimMs: claims.claimMs,
    renewClaims: claims.renew,
    /**
     * Saves vectors for items that are still unchanged, and public if a provider made them; returns how many. Each call empties the caches of
     * answers, so callers save several at once. Vectors of the model with other dimensions than the last of these are not kept.
     */
    async saveVectors(model: VectorModel, vectors: readonly MadeVector[]): Promise<number> {
      const dims = vectors.at(-1)?.vector.length
      const latest = reader.selectFrom('item_vector').select('vector').where('model', '=', model.model).orderBy('seq', 'desc').limit(1)
      const earlier = await latest.executeTakeFirst()
      if (dims !== undefined && earlier && earlier.vector.length !== dims) await dropModel(model.model)
      const alike = vectors.filter(({ vector }) => vector.length === dims)
      let saved = 0
      for (const part of batches(alike, ROWS_A_TRANSACTION)) saved += await savePart(model, part)
      return saved
    },
    countVectors,
    /** The vectors of items, by id, that there are. The caller has seen the items under the visibility rule. */
    async readVectors(model: string, ids: readonly string[]): Promise<ReadonlyMap<string, Int8Array>> {
      const found = new Map<string, Int8Array>()
      for (const part of batches(ids, ROWS_A_TRANSACTION)) {
        const rows = reader
          .selectFrom('item_vector')
          .innerJoin('item', 'item.seq', 'item_vector.item_seq')
          .select(['item.id', 'item_vector.vector'])
          .where('item_vector.model', '=', model)
          .where('item.id', 'in', part)
        for (const { id, vector } of await rows.execute()) found.set(id, toNumbers(vector))
      }
      return found
    },
    /** Deletes the vectors of every model but one, or of all (null); returns how many there were. */
    async forgetOtherVectors(keep: string | null): Promise<number> {
      const models = await reader.selectFrom('item_vector').select('model').distinct().execute()
      let dropped = 0
      for (const { model } of models) if (model !== keep) dropped += await dropModel(model)
      return dropped
    },
  }
}

/** The same bytes as unsigned ones. */
function toBytes({ buffer, byteOffset, byteLength }: Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The same bytes as signed numbers. */
export function toNumbers({ buffer, byteOffset, byteLength }: Uint8Array): Int8Array {
  return new Int8Array(buffer, byteOffset, byteLength)
}

/** The input of the encoder for an item: the title, and as much of description and content as it reads. */
function toItemText({ title, description, content }: SearchableText): ItemText {
  return { title, text: toEmbeddedText({ title: '', description, content }) }
}

/** SHA-256 in hex: tells whether a text is still the one that was encoded. */
function digestItemText({ title, text }: ItemText): string {
  return createHash('sha256')
    .update(JSON.stringify([title, text]))
    .digest('hex')
}

/** Lease time of a claim: other instances may take the items over when it ends. */
const CLAIM_MS = 10_000

/** Which items this instance encodes, so that no other one does the same work. */
export type Claims = ReturnType<typeof createClaims>

/** Claims of items by model, in `embedding_claim`. */
export function createClaims(context: WriteContext, { instance, isShared }: { readonly instance: string; readonly isShared: boolean }) {
  const release = async (db: Kysely<Database>, model: string, seqs: readonly number[]): Promise<void> => {
    if (isShared && seqs.length > 0)
      await db.deleteFrom('embedding_claim').where('model', '=', model).where('item_seq', 'in', seqs).execute()
  }
  return {
    /** Lease time in milliseconds; null for a single instance, which claims nothing. */
    claimMs: isShared ? CLAIM_MS : null,
    /**
     * Claims items for this instance, and returns those it got, in the given order: without those that another instance has claimed, or has
     * saved a vector of since the caller looked.
     */
    async claim<Row extends { readonly seq: number }>(model: string, rows: readonly Row[]): Promise<readonly Row[]> {
      if (!isShared || rows.length === 0) return rows
      const now = context.clock()
      const until = new Date(now + CLAIM_MS).toISOString()
      const mine = await context.sideTransaction(async (db) => {
        const claimed = await db
          .insertInto('embedding_claim')
          .values(
            rows
              .map(({ seq }) => seq)
              .toSorted((a, b) => a - b)
              .map((seq) => ({ item_seq: seq, model, instance, until })),
          )
          .onConflict((conflict) =>
            conflict
              .columns(['item_seq', 'model'])
              .doUpdateSet({ instance, until })
              .where((eb) =>
                eb.or([eb('embedding_claim.instance', '=', instance), eb('embedding_claim.until', '<', new Date(now).toISOString())]),
              ),
          )
          .returning('item_seq')
          .execute()
        const seqs = new Set(claimed.map((row) => row.item_seq))
        if (seqs.size === 0) return seqs
        // A claim ends in the transaction that saves the vector, so whoever gets the next claim sees the vector.
        const done = await db
          .selectFrom('item_vector')
          .select('item_seq')
          .where('model', '=', model)
          .where('item_seq', 'in', [...seqs])
          .execute()
        const saved = done.map((row) => row.item_seq)
        await release(db, model, saved)
        for (const seq of saved) seqs.delete(seq)
        return seqs
      })
      return rows.filter((row) => mine.has(row.seq))
    },
    async renew(model: string): Promise<void> {
      const until = new Date(context.clock() + CLAIM_MS).toISOString()
      await context.sideTransaction((db) =>
        db.updateTable('embedding_claim').set({ until }).where('model', '=', model).where('instance', '=', instance).execute(),
      )
    },
    /** Ends the claims of items whose vectors are saved in this transaction. */
    release,
  }
}
