import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { type CaseFiles, caseFiles, caseFilesFault, type ModelAnswer } from '../../domain/evals/evals.ts'
import { AppError, invalidInput } from '../../errors.ts'
import type { WriteContext } from '../items/write-context.ts'
import { findUserSeq } from '../people/user-rows.ts'
import type { Database } from '../schema.ts'
import { findItem } from './eval-store.ts'

/** Answers of models that are kept of one item. */
const MAX_ANSWERS = 5_000

/** Cases that are kept beside versions, answers of models to them, and what those took. The caller checks who may read and write them. */
export function caseStore(reader: Kysely<Database>, context: WriteContext) {
  return {
    /** The files with cases beside a version of an item. */
    readCaseFiles: (itemId: string, version: number): Promise<CaseFiles> => selectCaseFiles(reader, itemId, version),
    /** Writes the files with cases beside the newest version of an item: in the place of all that were, or of those with their names. */
    writeCaseFiles: (itemId: string, files: CaseFiles, { replaces }: { readonly replaces: boolean }): Promise<void> =>
      context.transact(async (db, notes) => {
        const row = await db
          .selectFrom('item')
          .innerJoin('user', 'user.seq', 'item.owner_seq')
          .select(['item.seq', 'item.kind', 'version', 'user.id as owner'])
          .where('item.id', '=', itemId)
          .executeTakeFirst()
        if (!row) throw new AppError('not_found', 'This item does not exist.')
        const { version } = row
        const before = replaces ? [] : await selectCaseFiles(db, itemId, version)
        const names = new Set(files.map(({ filename }) => filename))
        const written = [...before.filter(({ filename }) => !names.has(filename)), ...files]
        const fault = caseFilesFault(written)
        if (fault !== null) throw invalidInput('files', `The files with cases ${fault}.`)
        if (!replaces && isDeepStrictEqual(written, before)) return
        const text = JSON.stringify(caseFiles.parse(written))
        await db
          .insertInto('case_set')
          .values({ item_seq: row.seq, version, files: text })
          .onConflict((conflict) => conflict.columns(['item_seq', 'version']).doUpdateSet({ files: text }))
          .execute()
        const detail = { kind: row.kind, version, count: written.length }
        notes.audit({ action: 'cases_changed', targetId: itemId, ownerId: row.owner, detail })
      }),
    /** The kept answer to a request; null for none. */
    async findAnswer(itemId: string, digest: string): Promise<ModelAnswer | null> {
      const row = await reader
        .selectFrom('model_answer')
        .innerJoin('item', 'item.seq', 'model_answer.item_seq')
        .select(['answer as text', 'input_tokens as inputTokens', 'output_tokens as outputTokens', 'duration_ms as durationMs'])
        .where('item.id', '=', itemId)
        .where('digest', '=', digest)
        .executeTakeFirst()
      return row ?? null
    },
    /** Counts what an answer took, or the attempt at one, for the day of an owner. */
    countTestUsage: (ownerId: string, tokens: number, microUsd: number): Promise<void> =>
      context.sideTransaction(async (db) => {
        const day = context.now().slice(0, 10)
        const owner = await findUserSeq(db, ownerId)
        await db
          .insertInto('test_usage')
          .values({ owner_seq: owner, day, tokens, micro_usd: microUsd })
          .onConflict((conflict) =>
            conflict.columns(['owner_seq', 'day']).doUpdateSet((eb) => ({
              tokens: eb('test_usage.tokens', '+', tokens),
              micro_usd: eb('test_usage.micro_usd', '+', microUsd),
            })),
          )
          .execute()
      }),
    /** Keeps an answer. The oldest answers of an item make room. */
    keepAnswer: (itemId: string, digest: string, { text, inputTokens, outputTokens, durationMs }: ModelAnswer): Promise<void> =>
      context.sideTransaction(async (db) => {
        const now = context.now()
        const row = await findItem(db, itemId)
        if (!row) return
        const oldest = db
          .selectFrom('model_answer')
          .select('digest')
          .where('item_seq', '=', row.seq)
          .orderBy('answered_at', 'desc')
          .orderBy('digest')
          .offset(MAX_ANSWERS - 1)
          .limit(1000)
        await db.deleteFrom('model_answer').where('item_seq', '=', row.seq).where('digest', 'in', oldest).execute()
        await db
          .insertInto('model_answer')
          .values({
            item_seq: row.seq,
            digest,
            answer: text,
            input_tokens: inputTokens,
            output_tokens: outputTokens,
            duration_ms: durationMs,
            answered_at: now,
          })
          .onConflict((conflict) => conflict.columns(['item_seq', 'digest']).doNothing())
          .execute()
      }),
    /** Tokens, and millionths of a US dollar, that the tests of an owner's items took on a day (`2026-01-31`). */
    async readTestUsage(ownerId: string, day: string): Promise<{ readonly tokens: number; readonly microUsd: number }> {
      const row = await reader
        .selectFrom('test_usage')
        .innerJoin('user', 'user.seq', 'test_usage.owner_seq')
        .select(['tokens', 'micro_usd'])
        .where('user.id', '=', ownerId)
        .where('day', '=', day)
        .executeTakeFirst()
      return { tokens: Number(row?.tokens ?? 0), microUsd: Number(row?.micro_usd ?? 0) }
    },
  }
}

async function selectCaseFiles(db: Kysely<Database>, itemId: string, version: number): Promise<CaseFiles> {
  const row = await db
    .selectFrom('case_set')
    .innerJoin('item', 'item.seq', 'case_set.item_seq')
    .select('files')
    .where('item.id', '=', itemId)
    .where('case_set.version', '<=', version)
    .orderBy('case_set.version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? caseFiles.parse(JSON.parse(row.files)) : []
}
