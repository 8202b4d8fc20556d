import { Kysely, PGliteDialect, sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCentroid } from '../../src/search/vectors/centroid.ts'
import { compareVectors, createVectorTable, keepVector } from '../../src/storage/dialects/pgvector.ts'
import type { Database } from '../../src/storage/schema.ts'
import { PGlite, vector as pgvector } from '../../tools/pglite.ts'

/** The queries of pgvector, on PostgreSQL compiled to run in this process: the server of the other tests has no pgvector. */

const DIMS = 24
const client = new PGlite({ extensions: { vector: pgvector } })
const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite: client }) })
/** Numbers that look random and are the same in every run. */
const unitVector = (seed: number) => {
  const raw = Array.from({ length: DIMS }, (_, at) => Math.sin(seed * 12.9898 + at * 78.233) + 0.4)
  const length = Math.hypot(...raw)
  return Float32Array.from(raw, (value) => value / length)
}
const vectors = new Map(Array.from({ length: 40 }, (_, at) => [at + 1, unitVector(at + 1)]))

beforeAll(async () => {
  await sql`create extension vector`.execute(db)
  await sql`create table item (seq integer primary key, visibility text not null, deleted_at text)`.execute(db)
  await sql`create table embedding (seq integer primary key, item_seq integer not null, model text not null, dims integer not null)`.execute(
    db,
  )
  await createVectorTable(db)
  // Made again by each process that starts.
  await createVectorTable(db)
  for (const [seq, vector] of vectors) {
    const visibility = seq % 10 === 0 ? 'private' : 'public'
    await sql`insert into item values (${seq}, ${visibility}, ${seq % 10 === 1 ? '2026-01-01' : null})`.execute(db)
    await sql`insert into embedding values (${seq + 100}, ${seq}, 'm', ${DIMS})`.execute(db)
    await keepVector(db, seq + 100, vector)
    await keepVector(db, seq + 100, vector)
  }
})
afterAll(() => db.destroy())

it('gives the cosines this process would, of public items alone', async () => {
  const centre = createCentroid()
  centre.learn(vectors, vectors.size)
  const mean = centre.mean ?? new Float32Array()
  const query = unitVector(0.5)
  const cosineWith = centre.compareWith(query) ?? (() => Number.NaN)
  const seqs = [...vectors.keys(), 999]
  const cosines = await compareVectors(db, { model: 'm', seqs, query, centre: mean })
  expect([...cosines.keys()].toSorted((a, b) => a - b)).toEqual([...vectors.keys()].filter((seq) => seq % 10 !== 0 && seq % 10 !== 1))
  for (const [seq, cosine] of cosines) expect(cosine).toBeCloseTo(cosineWith(vectors.get(seq) ?? query), 5)
  expect(new Set(cosines.values()).size).toBeGreaterThan(10)
  expect(await compareVectors(db, { model: 'other', seqs, query, centre: mean })).toEqual(new Map())
  expect(await compareVectors(db, { model: 'm', seqs: [], query, centre: mean })).toEqual(new Map())
})

it('takes a vector that is the centre itself for like nothing, and leaves out those of other dimensions', async () => {
  const query = unitVector(0.5)
  const cosines = await compareVectors(db, { model: 'm', seqs: [2, 3], query, centre: vectors.get(2) ?? query })
  expect(cosines.get(2)).toBe(0)
  expect(Math.abs(cosines.get(3) ?? 0)).toBeGreaterThan(0.01)
  await sql`insert into embedding values (500, 5, 'm', 3)`.execute(db)
  await keepVector(db, 500, Float32Array.of(1, 0, 0))
  expect((await compareVectors(db, { model: 'm', seqs: [5], query, centre: vectors.get(2) ?? query })).size).toBe(1)
})

it('forgets a vector with its embedding', async () => {
  await sql`delete from embedding where seq = 105`.execute(db)
  const { rows } = await sql`select 1 from embedding_pgvector where embedding_seq = 105`.execute(db)
  expect(rows).toEqual([])
})
