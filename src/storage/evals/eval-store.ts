import { type InferResult, type Kysely, sql } from 'kysely'
import { type CaseResult, caseResult, type EvalRun, type KeptRun, type RunState } from '../../domain/evals/evals.ts'
import type { Item } from '../../domain/items/items.ts'
import { LOCAL_KEY } from '../../domain/items/labels.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { countRows } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import { findUserSeq } from '../people/user-rows.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** Runs that are kept of one item, and the bytes of their results. */
const MAX_RUNS = 1_000
const MAX_BYTES = 64 * 2 ** 20
const RESULTS_A_STATEMENT = 200
/** A run that did not get on for so long has stopped: its process ended. */
const STALLED_MS = 10 * 60_000

function selectRuns(db: Kysely<Database>, itemId: string) {
  return db
    .selectFrom('eval_run')
    .innerJoin('item', 'item.seq', 'eval_run.item_seq')
    .leftJoin('user', 'user.seq', 'eval_run.user_seq')
    .select(['eval_run.seq', 'eval_run.version', 'text_digest as textDigest', 'format', 'runner', 'model', 'is_partial', 'passed'])
    .select(['failed', 'started_at as startedAt', 'reported_at as reportedAt', 'user.username as by', 'user.id as userId', 'state'])
    .select(['progress_at', 'total', 'cases_digest as casesDigest'])
    .select(
      sql<number | null>`(select max(eval_result.position) from eval_result where eval_result.run_seq = eval_run.seq)`.as('last_result'),
    )
    .where('item.id', '=', itemId)
}

type RunRow = InferResult<ReturnType<typeof selectRuns>>[number]

function toRunAt({ is_partial, progress_at, last_result, ...row }: RunRow, now: number): KeptRun {
  return {
    ...row,
    format: row.format as KeptRun['format'],
    isPartial: is_partial === 1,
    // A process that ended, or a library that was copied, leaves it as it was.
    state: row.state === 'running' && Date.parse(progress_at ?? '') < now - STALLED_MS ? 'failed' : row.state,
    done: last_result === null ? 0 : Number(last_result) + 1,
  }
}

/** Runs of tests of items' versions, with their results. The caller checks who may report and read them. */
export function evalStore(reader: Kysely<Database>, context: WriteContext) {
  const toRun = (row: RunRow) => toRunAt(row, context.clock())
  return {
    /**
     * Keeps a run of an item's version: reported with its results, or begun here, which {@link addResults} fills.
     * @param options.refusesOthers while one that was begun here still gets on
     * @throws AppError `invalid_input` for more than an item keeps, `conflict`
     */
    async addRun(
      item: Pick<Item, 'id' | 'kind' | 'ownerId'>,
      run: Pick<EvalRun, 'format' | 'runner' | 'model' | 'startedAt' | 'isPartial' | 'results'> & {
        readonly version: number
        readonly textDigest: string
        readonly casesDigest: string | null
        readonly userId: string
        readonly keyId: string | null
        /** Cases of a run that begins here; null for one that was reported. */
        readonly total: number | null
      },
      { refusesOthers = false } = {},
    ): Promise<KeptRun> {
      const seq = await context.transact(async (db, notes) => {
        const row = await findItem(db, item.id)
        if (!row) throw new AppError('not_found', 'This item does not exist.')
        if ((await countRows(db.selectFrom('eval_run').where('item_seq', '=', row.seq))) >= MAX_RUNS) {
          throw invalidInput('results', `This ${item.kind} keeps ${MAX_RUNS} runs at most. Remove old runs first.`)
        }
        const since = new Date(context.clock() - STALLED_MS).toISOString()
        const running = db.selectFrom('eval_run').select('seq').where('item_seq', '=', row.seq).where('state', '=', 'running')
        // Their process ended before they did.
        const stalled = running.where('progress_at', '<=', since)
        if (refusesOthers) await db.updateTable('eval_run').set({ state: 'failed' }).where('seq', 'in', stalled).execute()
        if (refusesOthers && (await running.executeTakeFirst()))
          throw new AppError('conflict', `Tests of this ${item.kind} are running already. Wait, or cancel the run.`)
        const now = context.now()
        const { seq: made } = await db
          .insertInto('eval_run')
          .values({
            item_seq: row.seq,
            version: run.version,
            text_digest: run.textDigest,
            cases_digest: run.casesDigest,
            format: run.format,
            runner: run.runner,
            model: run.model,
            is_partial: run.isPartial || run.total !== null ? 1 : 0,
            passed: 0,
            failed: 0,
            started_at: run.startedAt,
            reported_at: now,
            user_seq: await findUserSeq(db, run.userId),
            key_id: run.keyId,
            state: run.total === null ? null : 'running',
            progress_at: run.total === null ? null : now,
            total: run.total,
          })
          .returning('seq')
          .executeTakeFirstOrThrow()
        await writeResults(db, row.seq, made, run.results)
        const detail = { kind: item.kind, version: run.version, count: run.total ?? run.results.length }
        notes.audit({ action: 'results_reported', targetId: item.id, ownerId: item.ownerId, detail })
        return made
      })
      return toRun(await selectRuns(reader, item.id).where('eval_run.seq', '=', seq).executeTakeFirstOrThrow())
    },
    /** Adds results to a run that was begun here. False when it is cancelled or gone. @throws AppError `invalid_input` for more than an item keeps */
    addResults: (itemId: string, seq: number, results: readonly CaseResult[]): Promise<boolean> =>
      context.sideTransaction(async (db) => {
        const row = await findItem(db, itemId)
        const progress_at = context.now()
        // Those that wait for this one are alive too.
        const running = await db
          .updateTable('eval_run')
          .set({ progress_at })
          .where('item_seq', '=', row?.seq ?? 0)
          .where('state', '=', 'running')
          .returning('seq')
          .execute()
        const isRunning = running.some((one) => one.seq === seq)
        if (row && isRunning && results.length > 0) await writeResults(db, row.seq, seq, results)
        return isRunning
      }),
    /** Ends a run that was begun here: complete without a state. Nothing when it has ended. */
    endRun: (itemId: string, seq: number, state: Exclude<RunState, 'running'> | null): Promise<boolean> =>
      context.sideTransaction(async (db) => {
        const ended = await db
          .updateTable('eval_run')
          .set({ state, is_partial: state === null ? 0 : 1 })
          .where('seq', '=', seq)
          .where('state', '=', 'running')
          .where('item_seq', 'in', db.selectFrom('item').select('seq').where('id', '=', itemId))
          .returning('seq')
          .executeTakeFirst()
        return ended !== undefined
      }),
    /** Runs of an item, the newest first, with numbers below `before`. */
    async listRuns(itemId: string, { before, limit }: { readonly before: number | null; readonly limit: number }): Promise<KeptRun[]> {
      let query = selectRuns(reader, itemId)
      if (before !== null) query = query.where('eval_run.seq', '<', before)
      return (await query.orderBy('eval_run.seq', 'desc').limit(limit).execute()).map(toRun)
    },
    /** The newest complete run of a text that was made here, or that one of some keys reported which still work; null for none. */
    async findCountedRun(itemId: string, textDigest: string, keyIds: readonly string[]): Promise<KeptRun | null> {
      const now = context.now()
      const row = await selectRuns(reader, itemId)
        .where('text_digest', '=', textDigest)
        .where('is_partial', '=', 0)
        .where((eb) => {
          const working = eb
            .selectFrom('api_key')
            .select('api_key.id')
            .where('api_key.id', 'in', [...keyIds, ''])
            .where('revoked_at', 'is', null)
            .where((of) => of.or([of('expires_at', 'is', null), of('expires_at', '>', now)]))
          const isLocal = keyIds.includes(LOCAL_KEY) ? [eb('key_id', '=', LOCAL_KEY)] : []
          return eb.or([eb('format', '=', 'commonplace'), eb('key_id', 'in', working), ...isLocal])
        })
        .orderBy('eval_run.seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? toRun(row) : null
    },
    /** The newest complete run of each version of an item, the oldest version first; the newest so many. */
    async listTrend(itemId: string, limit: number): Promise<KeptRun[]> {
      const newest = reader
        .selectFrom('eval_run')
        .innerJoin('item', 'item.seq', 'eval_run.item_seq')
        .select((eb) => eb.fn.max('eval_run.seq').as('seq'))
        .where('item.id', '=', itemId)
        .where('is_partial', '=', 0)
        .groupBy('eval_run.version')
      const rows = await selectRuns(reader, itemId)
        .where('eval_run.seq', 'in', newest)
        .orderBy('eval_run.version', 'desc')
        .limit(limit)
        .execute()
      return rows.map(toRun).toReversed()
    },
    /** The verdicts of some cases in some runs: by run, and then by case. */
    async listVerdicts(runs: readonly number[], names: readonly string[]): Promise<Map<number, Map<string, boolean | null>>> {
      const verdicts = new Map(runs.map((run) => [run, new Map<string, boolean | null>()]))
      if (runs.length === 0) return verdicts
      for (const part of batches(names, RESULTS_A_STATEMENT)) {
        const rows = await reader
          .selectFrom('eval_result')
          .selectAll()
          .where('run_seq', 'in', [...runs])
          .where('name', 'in', part)
          .execute()
        for (const { run_seq, name, result } of rows) {
          const { passed, arm } = caseResult.parse(JSON.parse(result))
          const before = verdicts.get(run_seq)?.get(name)
          // One failure of several runs is a failure.
          if (arm !== 'without' && before !== false) verdicts.get(run_seq)?.set(name, passed ?? before ?? null)
        }
      }
      return verdicts
    },
    /** A run of an item; null for none. */
    async findRun(itemId: string, seq: number): Promise<KeptRun | null> {
      const row = await selectRuns(reader, itemId).where('eval_run.seq', '=', seq).executeTakeFirst()
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
    removeRun: (item: Pick<Item, 'id' | 'kind' | 'ownerId'>, seq: number): Promise<boolean> =>
      context.transact(async (db, notes) => {
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
      }),
  }
}

/** The row of an item; undefined for none. */
export const findItem = (db: Kysely<Database>, id: string) => db.selectFrom('item').select('seq').where('id', '=', id).executeTakeFirst()

/** Adds results after those that a run has. @throws AppError `invalid_input` for more than an item keeps */
async function writeResults(db: Kysely<Database>, itemSeq: number, run: number, results: readonly CaseResult[]): Promise<void> {
  const texts = results.map((result) => JSON.stringify(result))
  const kept = await db
    .selectFrom('eval_result')
    .innerJoin('eval_run', 'eval_run.seq', 'eval_result.run_seq')
    .select([
      sql<number | null>`sum(octet_length(eval_result.result))`.as('bytes'),
      sql<number | null>`max(case when run_seq = ${run} then position end)`.as('last'),
    ])
    .where('item_seq', '=', itemSeq)
    .executeTakeFirstOrThrow()
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), Number(kept.bytes ?? 0))
  if (bytes > MAX_BYTES) throw invalidInput('results', `An item keeps ${MAX_BYTES / 2 ** 20} MiB of results. Remove old runs first.`)
  const first = kept.last === null ? 0 : Number(kept.last) + 1
  for (const part of batches([...results.entries()], RESULTS_A_STATEMENT)) {
    const rows = part.map(([place, { case: name }]) => ({ run_seq: run, position: first + place, name, result: texts[place] ?? '' }))
    await db.insertInto('eval_result').values(rows).execute()
  }
  const counted = results.filter(({ arm }) => arm !== 'without')
  const passed = counted.filter((result) => result.passed === true).length
  const failed = counted.filter((result) => result.passed === false).length
  await db
    .updateTable('eval_run')
    .set((eb) => ({ passed: eb('passed', '+', passed), failed: eb('failed', '+', failed) }))
    .where('seq', '=', run)
    .execute()
}
