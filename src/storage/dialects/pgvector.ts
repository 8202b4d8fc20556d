import { type Kysely, sql } from 'kysely'
import type { Database } from '../schema.ts'
import { toVector } from '../search/vector-bytes.ts'
import type { OpenDatabase, VectorRequest, VectorTable } from './dialect.ts'

/** Vectors copied in one transaction. */
const VECTORS_A_TRANSACTION = 200

/** A vector as pgvector reads it (github.com/pgvector/pgvector). */
function toLiteral(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}

/** Cosines of a query with vectors of public items, after subtracting the centre, computed by the server. */
export async function compareVectors(
  db: Kysely<Database>,
  { model, seqs, query, centre }: VectorRequest,
): Promise<ReadonlyMap<number, number>> {
  const asked = query.map((value, place) => value - (centre[place] ?? 0))
  const { rows } = await sql<{ item_seq: number; cosine: number }>`
    select embedding.item_seq, 1 - ((kept.vector - ${toLiteral(centre)}::vector) <=> ${toLiteral(asked)}::vector) as cosine
    from embedding
    join embedding_pgvector as kept on kept.embedding_seq = embedding.seq
    join item on item.seq = embedding.item_seq
    where embedding.item_seq = any(${[...seqs]}::int[]) and embedding.model = ${model} and embedding.dims = ${query.length}
      and item.visibility = 'public' and item.deleted_at is null`.execute(db)
  // A vector equal to the centre has no direction.
  return new Map(rows.map(({ item_seq, cosine }) => [item_seq, Number.isFinite(cosine) ? cosine : 0]))
}

/** Writes a vector for pgvector. */
export async function keepVector(db: Kysely<Database>, embeddingSeq: number, vector: Float32Array): Promise<void> {
  await sql`insert into embedding_pgvector (embedding_seq, vector) values (${embeddingSeq}, ${toLiteral(vector)}::vector)
    on conflict (embedding_seq) do nothing`.execute(db)
}

/** Creates the table of vectors, a copy of `embedding_vector`. */
export async function createVectorTable(db: Kysely<Database>): Promise<void> {
  await sql`create table if not exists embedding_pgvector (
    embedding_seq integer primary key references embedding (seq) on delete cascade,
    vector vector not null)`.execute(db)
}

/**
 * The table of vectors where the server has pgvector (`create extension vector` in this database), filled with the stored vectors;
 * otherwise null.
 */
export async function openVectorTable(database: OpenDatabase): Promise<VectorTable | null> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'vector'`.execute(database.reader)
  if (rows.length === 0) return null
  await database.transact(createVectorTable, { isLong: true })
  for (;;) {
    const copied = await database.transact(async (db) => {
      const { rows: missing } = await sql<{ embedding_seq: number; vector: Uint8Array }>`
        select embedding_vector.embedding_seq, embedding_vector.vector
        from embedding_vector
        left join embedding_pgvector as kept on kept.embedding_seq = embedding_vector.embedding_seq
        where kept.embedding_seq is null
        order by embedding_vector.embedding_seq
        limit ${VECTORS_A_TRANSACTION}`.execute(db)
      for (const row of missing) await keepVector(db, row.embedding_seq, toVector(row.vector))
      return missing.length
    })
    if (copied === 0) return { keep: keepVector, compare: compareVectors }
  }
}
