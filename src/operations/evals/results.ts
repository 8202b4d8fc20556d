import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type CaseResult, caseResult, type EvalRun, type KeptRun, MAX_RESULTS, RUN_STATES } from '../../domain/evals/evals.ts'
import { rowNumber, textField, titleField, versionNumber, writtenRowNumber } from '../../domain/items/fields.ts'
import type { Item } from '../../domain/items/items.ts'
import { LOCAL_KEY } from '../../domain/items/labels.ts'
import { hasRight, requireRight } from '../../domain/people/teams.ts'
import { variablesOf } from '../../domain/prompts/body.ts'
import { fromFileContent } from '../../domain/skills/skill.ts'
import { AppError } from '../../errors.ts'
import { compareRuns, digestOf, digestOfCases, passRateOf } from '../../evals/compare-runs.ts'
import { findHeldOut } from '../../evals/holdouts.ts'
import { readResultFiles } from '../../evals/results/read-results.ts'
import { defineOperation } from '../core/define-operation.ts'
import { itemTarget, requireItem } from '../core/inputs.ts'
import { defineProcedure, type Needs, requireUser } from '../core/procedure.ts'
import { itemUrl } from '../core/records.ts'
import { fileInput } from '../items/save-items.ts'
import { composePrompt } from '../prompts/compose.ts'
import { valuesInput } from '../prompts/get-prompt.ts'
import { readItemCases, readTested, requireTested, seesHoldouts, TREND, toTrendPoint } from './cases.ts'

/** Cases and results of one answer. */
const PAGE = 200
/** Cases of a comparison. */
const MAX_COMPARED = 1000

const passRate = z
  .object({
    cases: z.number().int(),
    rate: z.number().nullable().describe('0 to 1; null without graded cases'),
    lower: z.number(),
    upper: z.number().describe('The Wilson interval of 95 %'),
    isTooFew: z.boolean().describe('The interval is wider than 40 points'),
  })
  .describe('Cases that passed')
const arm = z.enum(['with', 'without']).nullable().describe('With or without the skill; null where the runner knows no such thing')
export const runRecord = z.object({
  run: z.number().int(),
  version: z.number().int(),
  textDigest: z.string().describe('SHA-256 of the text that ran, files of evals/ left out'),
  format: z.string(),
  runner: z.string().nullable(),
  model: z.string().nullable(),
  isPartial: z.boolean().describe('A part of the run is missing'),
  passed: z.number().int(),
  failed: z.number().int(),
  startedAt: z.string().nullable(),
  reportedAt: z.string().meta({ format: 'date-time' }),
  by: z.string().nullable().describe('null: the account is gone'),
  state: z.enum(RUN_STATES).nullable().describe('Of a run that is made here, until it is complete'),
  total: z.number().int().nullable().describe('Cases of a run that is made here'),
  done: z.number().int().describe('Results that are there'),
})
export const runInput = writtenRowNumber.describe('Number of the run')

export function toRunRecord({ seq, userId: _, casesDigest: __, ...run }: KeptRun): z.infer<typeof runRecord> {
  return { run: seq, ...run }
}

export async function readRun({ store }: Needs<'evals'>, item: Item, seq: number): Promise<{ kept: KeptRun; run: EvalRun }> {
  const kept = await store.evals.findRun(item.id, seq)
  if (!kept) throw new AppError('not_found', `Run ${seq} not found.`)
  const { format, runner, model, startedAt, isPartial } = kept
  const results = await store.evals.listResults(seq, { after: 0, limit: MAX_RESULTS })
  return { kept, run: { format, runner, model, startedAt, isPartial, results, remarks: [] } }
}

/** A run as the caller may see it. Results of held-out cases are left out for those who may not see the cases. */
async function readShownRun(context: Needs<'items' | 'evals'>, item: Item, seq: number): Promise<{ kept: KeptRun; run: EvalRun }> {
  const { kept, run } = await readRun(context, item, seq)
  if (await seesHoldouts(context, item)) return { kept, run }
  const { cases } = await readItemCases(context, item, kept.version)
  const mayBeHeld = findHeldOut(cases)
  const isShown = (result: CaseResult) => !result.isHeldOut && !mayBeHeld(result.case)
  return { kept, run: { ...run, results: run.results.filter(isShown) } }
}

export const reportResults = defineOperation({
  name: 'report_results',
  title: 'Report test results',
  summary:
    'Keep the results of a test run with a version: aggregate-result.json of claude plugin eval, benchmark.json with grading.json, gh models eval --json, promptfoo output, JUnit XML. Results of another text are refused.',
  scope: 'results',
  writes: true,
  cost: 10,
  surfaces: { rest: 'POST /api/{collection}/{id}/versions/{version}/results 201', cli: 'report-results collection id version' },
  input: z.object({
    ...itemTarget,
    version: versionNumber,
    files: z.array(fileInput).min(1).max(50).describe('The files that the runner wrote'),
    textDigest: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('SHA-256 of the text that ran, as runs have it'),
  }),
  output: z.object({ success: z.literal(true), run: runRecord, remarks: z.array(z.string()) }),
  async run(caller: Needs<'items' | 'evals'>, { version, files, textDigest, ...target }) {
    const actor = requireUser(caller.actor)
    // A key with the scope `results` alone may look up the item it reports on; the answer shows nothing of it.
    const context = { ...caller, actor: { ...actor, scopes: new Set([...actor.scopes, 'read' as const]) } }
    const item = await requireTested(context, target, 'edit', 'report results')
    const digest = digestOf((await readTested(context, item, version)).files)
    if (textDigest !== undefined && textDigest !== digest) {
      throw new AppError('conflict', `These results are of another text: version ${version} has the digest ${digest}.`)
    }
    const run = readResultFiles(files.map((file, index) => fromFileContent(file, `files[${index}].`)))
    const names = new Set(run.results.map((result) => result.case))
    const { cases } = await readItemCases(context, item, version)
    const known = cases.filter(({ id }) => names.has(id))
    const mayBeHeld = findHeldOut(cases)
    const results = run.results.map((result) => (mayBeHeld(result.case) ? { ...result, isHeldOut: true } : result))
    const { userId, keyId = context.surface === 'cli' ? LOCAL_KEY : null } = actor
    const casesDigest = known.length === names.size ? digestOfCases(known) : null
    const kept = await context.store.evals.addRun(item, {
      ...run,
      results,
      version,
      textDigest: digest,
      casesDigest,
      userId,
      keyId,
      total: null,
    })
    return { success: true as const, run: toRunRecord(kept), remarks: [...run.remarks] }
  },
})

export const listRuns = defineOperation({
  name: 'list_runs',
  title: 'List test runs',
  summary: 'Test runs of a prompt or skill you own, newest first.',
  scope: 'read',
  surfaces: { rest: 'GET /api/{collection}/{id}/runs', cli: 'list-runs collection id' },
  input: z.object({
    ...itemTarget,
    before: rowNumber.optional().describe('Only runs below this number'),
    limit: z.number().int().min(1).max(100).default(50),
  }),
  output: z.object({ runs: z.array(runRecord), nextBefore: z.number().int().nullable() }),
  async run(context: Needs<'items' | 'evals'>, { before = null, limit, ...target }) {
    const item = await requireTested(context, target, 'see')
    const runs = await context.store.evals.listRuns(item.id, { before, limit: limit + 1 })
    const page = runs.slice(0, limit)
    return { runs: page.map(toRunRecord), nextBefore: runs.length > limit ? (page.at(-1)?.seq ?? null) : null }
  },
})

export const getRun = defineOperation({
  name: 'get_run',
  title: 'Get a test run',
  summary: 'One test run of a prompt or skill you own: its pass rates with their intervals, and the result of each case.',
  scope: 'read',
  cost: 20,
  surfaces: { rest: 'GET /api/{collection}/{id}/runs/{run}', cli: 'get-run collection id run' },
  input: z.object({
    ...itemTarget,
    run: runInput,
    after: z.number().int().min(0).default(0).describe('nextAfter of the page before'),
    limit: z.number().int().min(1).max(PAGE).default(PAGE),
  }),
  output: z.object({
    run: runRecord,
    passRates: z.array(z.object({ arm, passRate })),
    results: z.array(caseResult),
    nextAfter: z.number().int().nullable(),
  }),
  async run(context: Needs<'items' | 'evals'>, { run: seq, after, limit, ...target }) {
    const item = await requireTested(context, target, 'see')
    const { kept, run } = await readShownRun(context, item, seq)
    const arms = [...new Set(run.results.map((result) => result.arm))]
    return {
      run: toRunRecord(kept),
      passRates: arms.map((one) => ({ arm: one, passRate: passRateOf(run, one) })),
      results: run.results.slice(after, after + limit),
      nextAfter: after + limit < run.results.length ? after + limit : null,
    }
  },
})

const outcome = z.enum(['better', 'worse', 'same', 'only-before', 'only-after', 'unmeasured'])
const armOutcome = z.object({ arm, before: z.number().nullable(), after: z.number().nullable(), outcome })

export const compareTestRuns = defineOperation({
  name: 'compare_runs',
  title: 'Compare test runs',
  summary:
    'Two test runs of a prompt or skill you own: cases that are better, worse or the same, pass rates with their intervals, and assertions that always pass.',
  scope: 'read',
  cost: 40,
  surfaces: { rest: 'GET /api/{collection}/{id}/runs/{before}/compare/{run}', cli: 'compare-runs collection id before run' },
  input: z.object({ ...itemTarget, before: runInput, run: runInput }),
  output: z.object({
    before: runRecord,
    after: runRecord,
    passRates: z.array(z.object({ arm, before: passRate, after: passRate })),
    cases: z.array(z.object({ case: z.string(), arms: z.array(armOutcome) })).describe('Those that are worse first; at most 1,000'),
    hasSameCases: z.boolean().nullable().describe('Whether both ran the same cases; null: not known here'),
    alwaysPassing: z.array(z.object({ case: z.string(), text: z.string() })).describe('They do not measure the skill; at most 200'),
  }),
  async run(context: Needs<'items' | 'evals'>, { before, run, ...target }) {
    const item = await requireTested(context, target, 'see')
    const [one, other] = [await readShownRun(context, item, before), await readShownRun(context, item, run)]
    const { cases, passRates, alwaysPassing } = compareRuns(one.run, other.run)
    const isWorse = ({ arms }: (typeof cases)[number]) => arms.some((result) => result.outcome === 'worse')
    const sorted = [...cases.filter(isWorse), ...cases.filter((of) => !isWorse(of))]
    return {
      before: toRunRecord(one.kept),
      after: toRunRecord(other.kept),
      passRates: passRates.map((rate) => ({ ...rate })),
      cases: sorted.slice(0, MAX_COMPARED).map(({ case: name, arms }) => ({ case: name, arms: arms.map((result) => ({ ...result })) })),
      hasSameCases: one.kept.casesDigest && other.kept.casesDigest ? one.kept.casesDigest === other.kept.casesDigest : null,
      alwaysPassing: alwaysPassing.slice(0, PAGE).map((assertion) => ({ ...assertion })),
    }
  },
})

export const removeRun = defineOperation({
  name: 'remove_run',
  title: 'Remove a test run',
  summary: 'Remove a test run of a prompt or skill you own, with its results.',
  scope: 'write',
  writes: true,
  surfaces: { rest: 'DELETE /api/{collection}/{id}/runs/{run}', cli: 'remove-run collection id run' },
  input: z.object({ ...itemTarget, run: runInput }),
  output: z.object({ success: z.literal(true) }),
  async run(context: Needs<'items' | 'evals'>, { run, ...target }) {
    const item = await requireTested(context, target, 'edit', 'remove results')
    const user = requireUser(context.actor)
    const kept = await context.store.evals.findRun(item.id, run)
    // Gates count runs of maintainers: nobody else takes one of them away.
    if (kept && kept.userId !== user.userId)
      requireRight(await context.store.items.findRole(user.userId, item.ownerId), 'manage', 'remove results of others')
    if (!(await context.store.evals.removeRun(item, run))) throw new AppError('not_found', `Run ${run} not found.`)
    return { success: true as const }
  },
})

/** Runs of which each case shows the verdict. */
const STRIP = 8

/** An item with the trend of its tests, and the verdicts of its cases in the newest runs, as its page of tests shows them. */
export const showTestsPage = defineProcedure({
  scope: null,
  input: z.object({ ...itemTarget, cases: z.array(z.string()).max(200).default([]).describe('Names of those whose verdicts are shown') }),
  async run(context: Needs<'items' | 'evals', 'baseUrl' | 'sealer' | 'tests'>, { cases, ...target }) {
    const { actor, store, baseUrl, tests } = context
    const item = await requireItem(context, target)
    const role = actor.kind === 'user' ? await store.items.findRole(actor.userId, item.ownerId) : null
    const trend = hasRight(role, 'see') ? await store.evals.listTrend(item.id, TREND) : []
    const strip = trend.slice(-STRIP)
    const verdicts = await store.evals.listVerdicts(
      strip.map(({ seq }) => seq),
      cases,
    )
    return {
      title: item.title,
      url: itemUrl(baseUrl, item.kind, item),
      version: item.version,
      isOwn: hasRight(role, 'see'),
      mayEdit: hasRight(role, 'edit'),
      mayManage: hasRight(role, 'manage'),
      models: [...tests.models.keys()],
      trend: trend.map(toTrendPoint),
      strips: cases.map((name) => strip.map(({ seq, version }) => ({ version, passed: verdicts.get(seq)?.get(name) ?? null }))),
    }
  },
})

/** The variables of a prompt with its parts, for the page that tries it. */
export const showTryPage = defineProcedure({
  scope: 'read',
  input: z.object({ id: itemTarget.id }),
  async run(context: Needs<'items', 'baseUrl' | 'sealer' | 'tests'>, { id }) {
    const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
    const variables = item.kind === 'prompt' ? variablesOf(await composePrompt(context, item)) : []
    return { title: item.title, url: itemUrl(context.baseUrl, item.kind, item), variables, models: [...context.tests.models.keys()] }
  },
})

/** Keeps values as a case of a prompt: its answer must contain a text. */
export const keepCase = defineProcedure({
  scope: 'write',
  writes: true,
  input: z.object({
    id: itemTarget.id,
    name: titleField,
    contains: textField({ max: 10_000, blank: false }),
    variables: valuesInput.optional(),
  }),
  async run(context: Needs<'items' | 'evals'>, { id, name, contains, variables = {} }) {
    const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
    const made = { description: name, vars: variables, assert: [{ type: 'contains', value: contains }] }
    const content = `${JSON.stringify({ tests: [made] }, null, 2)}\n`
    // A file each, so that of two at once none is lost.
    const filename = `kept-${createHash('sha256').update(content).digest('hex').slice(0, 12)}.json`
    await context.store.evals.writeCaseFiles(item.id, [{ filename, content }], { replaces: false })
    return { filename }
  },
})
