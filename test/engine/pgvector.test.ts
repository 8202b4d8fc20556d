import { Kysely, PGliteDialect, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCentroid } from '../../src/search/vectors/centroid.ts'
import { compareVectors, createVectorTable, keepVector } from '../../src/storage/dialects/pgvector.ts'
import type { Database } from '../../src/storage/schema.ts'
import { PGlite, vector as pgvector } from '../../tools/pglite.ts'
import { isOnPostgres } from '../support/postgres.ts'

/** The queries of pgvector, on PostgreSQL compiled to run in this process: the server of the other tests has no pgvector. */
describe.runIf(isOnPostgres())('pgvector', () => {
  const vectors = new Map([1, 2, 3, 4].map((seq) => [seq, Float32Array.of(Math.cos(seq), Math.sin(seq), 0)]))
  let db: Kysely<Database>
  beforeAll(async () => {
    db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite: new PGlite({ extensions: { vector: pgvector } }) }) })
    await sql`create extension vector`.execute(db)
    await sql`create table item (seq integer primary key, visibility text not null, deleted_at text)`.execute(db)
    await sql`create table embedding (seq integer primary key, item_seq integer not null, model text not null, dims integer not null)`.execute(
      db,
    )
    await createVectorTable(db)
    for (const [seq, vector] of vectors) {
      await sql`insert into item values (${seq}, ${seq === 4 ? 'private' : 'public'}, ${seq === 3 ? '2026-01-01' : null})`.execute(db)
      await sql`insert into embedding values (${seq}, ${seq}, 'm', 3)`.execute(db)
      await keepVector(db, seq, vector)
    }
  })
  afterAll(() => db.destroy())

  it('gives the cosines this process would, of public items alone, and forgets a vector with its embedding', async () => {
    const centre = createCentroid()
    centre.learn(vectors, vectors.size)
    const query = Float32Array.of(0, 1, 0)
    const asked = { model: 'm', seqs: [...vectors.keys()], query, centre: centre.mean ?? new Float32Array() }
    const cosines = await compareVectors(db, asked)
    expect([...cosines.keys()].toSorted()).toEqual([1, 2])
    for (const [seq, cosine] of cosines) expect(cosine).toBeCloseTo(centre.compareWith(query)?.(vectors.get(seq) ?? query) ?? 0, 5)
    await sql`delete from embedding where seq = 1`.execute(db)
    expect([...(await compareVectors(db, asked)).keys()]).toEqual([2])
  })
})
