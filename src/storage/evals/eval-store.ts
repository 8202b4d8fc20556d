import { type Kysely, type Selectable, sql } from 'kysely'
import { type CaseResult, caseResult, type EvalRun, type KeptRun, type ResultFormat } from '../../domain/evals/evals.ts'
import type { Item } from '../../domain/items/items.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { batches } from '../batches.ts'
import type { WriteContext } from '../items/write-context.ts'
import { findUserSeq } from '../items/write-items.ts'
import type { Database } from '../schema.ts'

/** Runs that are kept of one item, and the bytes of their results. */
const MAX_RUNS = 1_000
const MAX_BYTES = 64 * 2 ** 20
const RESULTS_A_STATEMENT = 200

type RunRow = Omit<Selectable<Database['eval_run']>, 'item_seq' | 'user_seq'> & {
  readonly username: string | null
  readonly user_id: string | null
}

function toRun(row: RunRow): KeptRun {
  const { seq, version, format, runner, model, passed, failed } = row
  return {
    seq,
    version,
    textDigest: row.text_digest,
    format: format as ResultFormat,
    runner,
    model,
    isPartial: row.is_partial === 1,
    passed,
    failed,
    startedAt: row.started_at,
    reportedAt: row.reported_at,
    by: row.username,
    userId: row.user_id,
  }
}

/** Runs of tests of items' versions, with their results. The caller checks who may report and read them. */
export function evalStore(reader: Kysely<Database>, context: WriteContext) {
  const findItem = (db: Kysely<Database>, id: string) => db.selectFrom('item').select('seq').where('id', '=', id).executeTakeFirst()
  const selectRuns = (itemId: string) =>
    reader
      .selectFrom('eval_run')
      .innerJoin('item', 'item.seq', 'eval_run.item_seq')
      .leftJoin('user', 'user.seq', 'eval_run.user_seq')
      .select([
        'eval_run.seq',
        'eval_run.version',
        'text_digest',
        'format',
        'runner',
        'model',
        'is_partial',
        'passed',
        'failed',
        'started_at',
        'reported_at',
        'user.username',
        'user.id as user_id',
      ])
      .where('item.id', '=', itemId)
  return {
    /**
     * Keeps a run of an item's version.
     * @throws AppError `invalid_input` for more than an item keeps
     */
    async addRun(
      item: Pick<Item, 'id' | 'kind' | 'ownerId'>,
      version: number,
      textDigest: string,
      run: EvalRun,
      userId: string,
    ): Promise<KeptRun> {
      const results = run.results.map((result) => JSON.stringify(result))
      const seq = await context.transact(async (db, notes) => {
        const row = await findItem(db, item.id)
        if (!row) throw new AppError('not_found', 'This item does not exist.')
        const kept = await db
          .selectFrom('eval_run')
          .leftJoin('eval_result', 'eval_result.run_seq', 'eval_run.seq')
          .select((eb) => [
            eb.fn.count<number>('eval_run.seq').distinct().as('runs'),
            sql<number | null>`sum(octet_length(eval_result.result))`.as('bytes'),
          ])
          .where('item_seq', '=', row.seq)
          .executeTakeFirstOrThrow()
        if (Number(kept.runs) >= MAX_RUNS || Number(kept.bytes ?? 0) + bytesOf(results) > MAX_BYTES) {
          throw invalidInput(
            'results',
            `This ${item.kind} keeps ${MAX_RUNS} runs and ${MAX_BYTES / 2 ** 20} MiB of results at most. Remove old runs first.`,
          )
        }
        const { seq: made } = await db
          .insertInto('eval_run')
          .values({
            item_seq: row.seq,
            version,
            text_digest: textDigest,
            format: run.format,
            runner: run.runner,
            model: run.model,
            is_partial: run.isPartial ? 1 : 0,
            passed: run.results.filter(({ passed }) => passed === true).length,
            failed: run.results.filter(({ passed }) => passed === false).length,
            started_at: run.startedAt,
            reported_at: new Date(context.clock()).toISOString(),
            user_seq: await findUserSeq(db, userId),
          })
          .returning('seq')
          .executeTakeFirstOrThrow()
        for (const part of batches([...results.entries()], RESULTS_A_STATEMENT)) {
          const rows = part.map(([position, result]) => ({ run_seq: made, position, name: run.results[position]?.case ?? '', result }))
          await db.insertInto('eval_result').values(rows).execute()
        }
        notes.audit({
          action: 'results_reported',
          targetId: item.id,
          ownerId: item.ownerId,
          detail: { kind: item.kind, version, count: results.length },
        })
        return made
      })
      const kept = await selectRuns(item.id).where('eval_run.seq', '=', seq).executeTakeFirstOrThrow()
      return toRun(kept)
    },
    /** Runs of an item, the newest first, with numbers below `before`. */
    async listRuns(itemId: string, { before, limit }: { readonly before: number | null; readonly limit: number }): Promise<KeptRun[]> {
      let query = selectRuns(itemId)
      if (before !== null) query = query.where('eval_run.seq', '<', before)
      return (await query.orderBy('eval_run.seq', 'desc').limit(limit).execute()).map(toRun)
    },
    /** The ids of those who reported complete runs of a text. */
    async listReporters(itemId: string, textDigest: string): Promise<string[]> {
      const rows = await reader
        .selectFrom('eval_run')
        .innerJoin('item', 'item.seq', 'eval_run.item_seq')
        .innerJoin('user', 'user.seq', 'eval_run.user_seq')
        .select('user.id')
        .distinct()
        .where('item.id', '=', itemId)
        .where('text_digest', '=', textDigest)
        .where('is_partial', '=', 0)
        .execute()
      return rows.map(({ id }) => id)
    },
    /** The newest complete run of a text that one of some people reported; null for none. */
    async findNewestRun(itemId: string, textDigest: string, userIds: readonly string[]): Promise<KeptRun | null> {
      if (userIds.length === 0) return null
      const runs = selectRuns(itemId).where('text_digest', '=', textDigest).where('is_partial', '=', 0).where('user.id', 'in', userIds)
      const row = await runs.orderBy('eval_run.seq', 'desc').limit(1).executeTakeFirst()
      return row ? toRun(row) : null
    },
    /** A run of an item; null for none. */
    async findRun(itemId: string, seq: number): Promise<KeptRun | null> {
      const row = await selectRuns(itemId).where('eval_run.seq', '=', seq).executeTakeFirst()
      return row ? toRun(row) : null
    },
    /** Results of a run in the order reported, from `after` on. */
    async listResults(run: number, { after, limit }: { readonly after: number; readonly limit: number }): Promise<CaseResult[]> {
      const rows = await reader
        .selectFrom('eval_result')
        .select('result')
        .where('run_seq', '=', run)
        .where('position', '>=', after)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map(({ result }) => caseResult.parse(JSON.parse(result)))
    },
    /** Removes a run. False when there is none. */
    async removeRun(item: Pick<Item, 'id' | 'kind' | 'ownerId'>, seq: number): Promise<boolean> {
      const removed = await context.transact(async (db, notes) => {
        const row = await findItem(db, item.id)
        if (!row) return false
        const gone = await db
          .deleteFrom('eval_run')
          .where('seq', '=', seq)
          .where('item_seq', '=', row.seq)
          .returning('seq')
          .executeTakeFirst()
        if (gone) notes.audit({ action: 'results_removed', targetId: item.id, ownerId: item.ownerId, detail: { kind: item.kind } })
        return gone !== undefined
      })
      return removed ?? false
    },
  }
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
