import { z } from 'zod'
import { type CaseResult, type EvalCase, type KeptRun, MAX_CASES, type ModelAnswer, type RunState } from '../../domain/evals/evals.ts'
import { versionNumber } from '../../domain/items/fields.ts'
import type { Prompt } from '../../domain/items/items.ts'
import { hasRight } from '../../domain/people/teams.ts'
import { fillBody } from '../../domain/prompts/body.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { digestOf, digestOfCases } from '../../evals/compare-runs.ts'
import { UNMEASURED } from '../../evals/results/json-formats.ts'
import { type Ask, askModel, createJudge, digestOfQuestion, gradeAnswer, toQuestion } from '../../evals/run-cases.ts'
import { defineOperation, itemWrite } from '../core/define-operation.ts'
import { itemTarget, notFound } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'
import { readAt } from '../items/read-at.ts'
import { composePrompt } from '../prompts/compose.ts'
import { toValues, valuesInput } from '../prompts/get-prompt.ts'
import { readItemCases, readTested, requireTested } from './cases.ts'
import { runInput, runRecord, toRunRecord } from './results.ts'

type Testing = Needs<'items' | 'evals' | 'people', 'tests' | 'improver' | 'clock' | 'sealer'>

/** Models of one call. */
const MAX_MODELS = 4
/** Results that are written at once, and how long they wait for it. */
const WRITTEN_AT_ONCE = 20
const WRITE_EVERY_MS = 1_000
/** Interval at which a long case renews the heartbeat of its run. */
const ALIVE_EVERY_MS = 60_000
/** Calls to a model that may fail one after the other, until a run stops. */
const MAX_FAILURES = 5

const modelsInput = z.array(z.string().min(1).max(200)).min(1).max(MAX_MODELS)

/**
 * Asks models for an item; the day's budget of its owner holds. `replay` takes kept answers alone, `fresh` none of them; else a question that
 * was asked before is answered as then.
 */
function createAsk(context: Testing, item: Pick<Prompt, 'id' | 'ownerId'>, mode: 'replay' | 'kept' | 'fresh', signal: AbortSignal): Ask {
  const { store, tests, improver } = context
  const { maxOutputTokens, timeoutMs } = improver
  return async (question) => {
    const digest = digestOfQuestion(question)
    const kept = mode === 'fresh' ? null : await store.evals.findAnswer(item.id, digest)
    if (kept) return kept
    if (mode === 'replay') throw new AppError('not_found', `No answer of ${question.model} to this is kept.`)
    const known = tests.models.get(question.model)
    if (!known) throw unknownModel(context, question.model)
    return await tests.inPlace(requireUser(context.actor).userId, async () => {
      signal.throwIfAborted()
      await refuseOverBudget(context, item.ownerId)
      const limits = { maxOutputTokens, timeoutMs, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) }
      try {
        const answer = await askModel(known.model, question, limits, async ({ input, output }) => {
          const micro = microUsdOf(context, question.model, { inputTokens: input, outputTokens: output })
          await store.evals.countTestUsage(item.ownerId, input + output, micro ?? 0)
        })
        await store.evals.keepAnswer(item.id, digest, answer)
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof AppError) throw error
        throw new AppError('upstream_failed', `${question.model} took too long to answer.`)
      }
    })
  }
}

/** @throws AppError `rate_limited` when the budget of an owner's day is used up */
async function refuseOverBudget({ store, tests, clock }: Testing, ownerId: string): Promise<void> {
  const used = await store.evals.readTestUsage(ownerId, new Date(clock()).toISOString().slice(0, 10))
  const isOver =
    (tests.dailyTokens !== null && used.tokens >= tests.dailyTokens) || (tests.dailyUsd !== null && used.microUsd >= tests.dailyUsd * 1e6)
  if (isOver) throw new AppError('rate_limited', 'The budget for tests of this owner is used up. It resets at midnight UTC.')
}

function unknownModel({ tests }: Pick<Testing, 'tests'>, model: string): AppError {
  const names = [...tests.models.keys()]
  if (names.length === 0) return invalidInput('models', 'No test models are set up. The operator sets TEST_MODELS.')
  return invalidInput('models', `"${model.slice(0, 100)}" is not a model for tests. There are ${names.join(', ')}.`)
}

/** The price of an answer in millionths of a US dollar; null when it is not known. */
function microUsdOf(
  { tests }: Pick<Testing, 'tests'>,
  model: string,
  { inputTokens, outputTokens }: Pick<ModelAnswer, 'inputTokens' | 'outputTokens'>,
): number | null {
  const price = tests.models.get(model)?.price
  return price ? Math.ceil(inputTokens * price.input + outputTokens * price.output) : null
}

/** A prompt at a version, with its parts, filled with the values of a case. @throws AppError for a value that is missing */
async function toFilledQuestion(prompt: Prompt, model: string, input: EvalCase['input']) {
  const values = typeof input === 'string' ? { input } : input
  const texts = Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const)
  const filled = fillBody(prompt, new Map(texts))
  if (filled.unfilled.length > 0) throw invalidInput('variables', `There is no value for ${filled.unfilled.slice(0, 5).join(', ')}.`)
  return toQuestion(model, filled, prompt.config?.['temperature'])
}

/** Runs one case. @throws AppError `rate_limited` when the budget is used up */
async function runCase(
  context: Testing,
  prompt: Prompt,
  one: EvalCase,
  model: string,
  ask: Ask,
  signal: AbortSignal,
): Promise<{ readonly result: CaseResult; readonly hasFailed: boolean }> {
  const base = { ...UNMEASURED, case: one.id, ...(one.isHoldout && { isHeldOut: true }) }
  try {
    const answer = await ask(await toFilledQuestion(prompt, model, one.input))
    const micro = microUsdOf(context, model, answer)
    const graded = { ...answer, costUsd: micro === null ? null : micro / 1e6 }
    const [judge] = context.tests.models.keys()
    const { passed, score, assertions } = await gradeAnswer(one, graded, {
      judge: createJudge(ask, judge ?? model),
      checkAnswer: context.tests.checkAnswer,
      signal,
    })
    const tokens = answer.inputTokens + answer.outputTokens
    const measured = { durationMs: answer.durationMs, tokens, costUsd: graded.costUsd }
    return { result: { ...base, passed, score, assertions, ...measured }, hasFailed: false }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'rate_limited' || error.code === 'internal') throw error
    return { result: { ...base, error: error.message }, hasFailed: error.code === 'upstream_failed' }
  }
}

/** Runs all cases, until they end, the budget is used up, or whoever started the run loses the right. */
async function runAll(
  context: Testing,
  prompt: Prompt,
  cases: readonly EvalCase[],
  run: KeptRun,
  ask: Ask,
  signal: AbortSignal,
): Promise<void> {
  const { evals, items, people } = context.store
  const { userId } = requireUser(context.actor)
  const isAllowed = async () =>
    (await people.findPerson(userId))?.suspendedAt === null && hasRight(await items.findRole(userId, prompt.ownerId), 'edit')
  let waiting: CaseResult[] = []
  let writtenAt = performance.now()
  let failures = 0
  const write = async () => {
    if (waiting.length > 0 && !(await evals.addResults(prompt.id, run.seq, waiting))) return false
    waiting = []
    writtenAt = performance.now()
    return await isAllowed()
  }
  const end = async (state: Exclude<RunState, 'running'> | null) => {
    const isWritten = await write().catch(() => false)
    await evals.endRun(prompt.id, run.seq, state ?? (isWritten ? null : 'failed'))
  }
  // Also while it waits for a place, or for a slow answer.
  const alive = setInterval(() => void evals.addResults(prompt.id, run.seq, []).catch(() => {}), ALIVE_EVERY_MS).unref()
  try {
    if (!(await evals.addResults(prompt.id, run.seq, [])) || !(await isAllowed())) return await end('failed')
    for (const one of cases) {
      signal.throwIfAborted()
      const { result, hasFailed } = await runCase(context, prompt, one, run.model ?? '', ask, signal)
      failures = hasFailed ? failures + 1 : 0
      waiting.push(result)
      if (failures >= MAX_FAILURES) return await end('failed')
      const isTime = waiting.length >= WRITTEN_AT_ONCE || performance.now() - writtenAt > WRITE_EVERY_MS
      if (isTime && !(await write())) return await end('failed')
    }
    await end(null)
  } catch (error) {
    if (!signal.aborted && !(error instanceof AppError && error.code !== 'internal')) context.onFault?.(error)
    await end(error instanceof AppError && error.code === 'rate_limited' ? 'over-budget' : 'failed')
  } finally {
    clearInterval(alive)
  }
}

interface AskedModels {
  readonly id: string
  readonly version: number | undefined
  readonly models: readonly string[] | undefined
}

/** A prompt that the caller may change, at a version and with its parts, and the models that are asked for. @throws AppError */
async function readForModels(context: Testing, { id, version, models }: AskedModels, replay: boolean) {
  const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
  if (item.kind !== 'prompt') throw notFound('prompt')
  const number = version ?? item.version
  const prompt = await composePrompt(context, (await readAt(context, item, { version: number })).item)
  const wanted = [...new Set(models ?? [...context.tests.models.keys()].slice(0, 1))]
  const unknown = replay ? undefined : wanted.find((model) => !context.tests.models.has(model))
  if (unknown !== undefined || wanted.length === 0) throw unknownModel(context, unknown ?? '')
  return { item, number, prompt, wanted }
}

export const runTests = defineOperation({
  name: 'run_tests',
  title: 'Run the tests of a prompt',
  summary:
    'Run the cases of a prompt with models of this service, in the background: one run for each model. Answers are kept, so that the same run again asks no model.',
  ...itemWrite,
  cost: 10,
  surfaces: { rest: 'POST /api/prompts/{id}/runs 201', cli: 'run-tests id' },
  input: z.object({
    id: itemTarget.id,
    version: versionNumber.optional().describe('Default: the newest'),
    models: modelsInput.optional().describe('Default: the first of TEST_MODELS'),
    replay: z.boolean().default(false).describe('true: use kept answers alone, and ask no model'),
  }),
  output: z.object({ success: z.literal(true), runs: z.array(runRecord) }),
  async run(context: Testing, { id, version, models, replay }) {
    const { item, number, prompt, wanted } = await readForModels(context, { id, version, models }, replay)
    const { cases } = await readItemCases(context, item, number)
    if (cases.length === 0) throw invalidInput('id', 'This prompt has no test cases. Set some with set_cases.')
    const { userId, keyId = null } = requireUser(context.actor)
    const base = {
      version: number,
      textDigest: digestOf((await readTested(context, item, number)).files),
      casesDigest: digestOfCases(cases),
      format: 'commonplace',
      runner: null,
      startedAt: new Date(context.clock()).toISOString(),
      isPartial: true,
      results: [],
      userId,
      keyId,
      total: Math.min(cases.length, MAX_CASES),
    } as const
    const begin = async () => {
      const runs: KeptRun[] = []
      try {
        for (const model of wanted)
          runs.push(await context.store.evals.addRun(item, { ...base, model }, { refusesOthers: runs.length === 0 }))
        return runs
      } catch (error) {
        for (const { seq } of runs) await context.store.evals.endRun(item.id, seq, 'failed')
        throw error
      }
    }
    const { made: runs, done } = await context.tests.inBackground(userId, begin, async (all, stopping) => {
      for (const run of all) {
        await context.tests.untilCancelled(`${item.id}/${run.seq}`, stopping, async (signal) => {
          await runAll(context, prompt, cases, run, createAsk(context, item, replay ? 'replay' : 'kept', signal), signal)
        })
      }
    })
    // A command ends with its work.
    if (context.surface === 'cli') await done
    const ended = context.surface === 'cli' ? await Promise.all(runs.map(({ seq }) => context.store.evals.findRun(item.id, seq))) : runs
    return { success: true as const, runs: ended.flatMap((run) => (run ? [toRunRecord(run)] : [])) }
  },
})

export const cancelRun = defineOperation({
  name: 'cancel_run',
  title: 'Cancel a test run',
  summary: 'Stop a test run that is made here. What it has measured stays, as a partial run.',
  scope: 'write',
  surfaces: { rest: 'POST /api/prompts/{id}/runs/{run}/cancel', cli: 'cancel-run id run' },
  input: z.object({ id: itemTarget.id, run: runInput }),
  output: z.object({ success: z.literal(true), run: runRecord }),
  async run(context: Needs<'items' | 'evals', 'tests'>, { id, run: seq }) {
    const item = await requireTested(context, { collection: 'prompts', id }, 'edit', 'test it')
    if (await context.store.evals.endRun(item.id, seq, 'cancelled')) context.tests.cancel(`${item.id}/${seq}`)
    const run = await context.store.evals.findRun(item.id, seq)
    if (!run) throw new AppError('not_found', `Run ${seq} not found.`)
    return { success: true as const, run: toRunRecord(run) }
  },
})

export const tryPrompt = defineOperation({
  name: 'try_prompt',
  title: 'Try a prompt',
  summary: 'Fill in one of your prompts and compare fresh answers of models of this service.',
  scope: 'write',
  cost: 10,
  isLong: true,
  surfaces: { rest: 'POST /api/prompts/{id}/try', cli: 'try-prompt id' },
  input: z.object({
    id: itemTarget.id,
    version: versionNumber.optional().describe('Default: the newest'),
    models: modelsInput.optional().describe('Default: the first of TEST_MODELS'),
    variables: valuesInput.optional(),
  }),
  output: z.object({
    answers: z.array(
      z.object({
        model: z.string(),
        answer: z.string().nullable(),
        error: z.string().nullable(),
        tokens: z.number().int().nullable(),
        durationMs: z.number().int().nullable(),
        costUsd: z.number().nullable().describe('null: the price is not known'),
      }),
    ),
  }),
  async run(context: Testing, { id, version, models, variables = {} }) {
    const { item, prompt, wanted } = await readForModels(context, { id, version, models }, false)
    const left = context.signal ?? new AbortController().signal
    const ask = createAsk(context, item, 'fresh', AbortSignal.any([left, context.tests.stopping]))
    const questions = await Promise.all(wanted.map((model) => toFilledQuestion(prompt, model, Object.fromEntries(toValues(variables)))))
    const answers = await Promise.all(
      questions.map(async (question) => {
        const none = { model: question.model, answer: null, error: null, tokens: null, durationMs: null, costUsd: null }
        try {
          const answer = await ask(question)
          const micro = microUsdOf(context, question.model, answer)
          const tokens = answer.inputTokens + answer.outputTokens
          return { ...none, answer: answer.text, tokens, durationMs: answer.durationMs, costUsd: micro === null ? null : micro / 1e6 }
        } catch (error) {
          if (!(error instanceof AppError) || error.code === 'internal') throw error
          return { ...none, error: error.message }
        }
      }),
    )
    return { answers }
  },
})
