import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'

/** Vectors moved at once. */
const ROWS_AT_ONCE = 200

/**
 * All vectors of items are in one table, in 8 bits for each number. Those of a provider are moved, if they have as many numbers as the last
 * one of its model. pgvector's copy goes too; the extension stays.
 */
export async function moveProviderVectors(db: Kysely<Database>): Promise<void> {
  await db.schema
    .alterTable('item_vector')
    .addColumn('is_provided', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  for (let after = 0; ; ) {
    const { rows } = await sql<{ seq: number; item_seq: number; model: string; digest: string; vector: Uint8Array }>`
      select embedding.seq, embedding.item_seq, embedding.model, embedding.digest, embedding_vector.vector
      from embedding join embedding_vector on embedding_vector.embedding_seq = embedding.seq
      where embedding.seq > ${after}
        and embedding.dims = (select latest.dims from embedding as latest where latest.model = embedding.model order by latest.seq desc limit 1)
      order by embedding.seq limit ${ROWS_AT_ONCE}`.execute(db)
    for (const { item_seq, model, digest, vector } of rows) {
      await sql`
        insert into item_vector (item_seq, model, digest, vector, is_provided)
        values (${item_seq}, ${model}, ${digest}, ${quantize(vector)}, 1) on conflict (item_seq, model) do nothing`.execute(db)
    }
    if (rows.length < ROWS_AT_ONCE) break
    after = rows.at(-1)?.seq ?? after
  }
  for (const table of ['embedding_pgvector', 'embedding_vector', 'embedding'])
    await sql`drop table if exists ${sql.table(table)}`.execute(db)
}

/** 32-bit floats, little-endian, as signed bytes of which the largest is 127. */
function quantize(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const numbers = Array.from({ length: Math.floor(bytes.byteLength / 4) }, (_, place) => view.getFloat32(place * 4, true))
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
  return new Uint8Array(Int8Array.from(numbers, (value) => Math.round((value / largest) * 127)).buffer)
}
