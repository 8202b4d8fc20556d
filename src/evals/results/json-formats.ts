import { z } from 'zod'
import {
  type Arm,
  type AssertionResult,
  type CaseResult,
  type EvalRun,
  toBoundedText,
  toCaseId,
  toVariablesId,
} from '../../domain/evals/evals.ts'
import { isObject } from '../../domain/text/json.ts'
import type { Fields } from '../../domain/text/yaml.ts'
import { AppError } from '../../errors.ts'

/** Longest text of an assertion, its evidence or an error, in characters. */
export const MAX_TEXT = 1_000
/** The case of results that are averages over all cases. */
export const ALL_CASES = '(all cases)'

/** A run as a format has it. */
export type RunParts = Omit<EvalRun, 'format'>

/** A field that need not be there: null when it is absent or of another type. */
const optional = <T>(schema: z.ZodType<T>) =>
  schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? null)
const id = z.union([z.string(), z.number()]).transform((value) => toCaseId(String(value)))
const text = z.string().transform((value) => toBoundedText(value, MAX_TEXT))
const share = z.number().min(0).max(1)
const [maybeText, maybeShare, flag] = [optional(text), optional(share), optional(z.boolean())]
/** Seconds, tokens or money: no more than a whole number of milliseconds can hold. */
export const amount = optional(z.number().min(0).max(1e12))

/** A result without a case or any measurement. */
export const UNMEASURED: CaseResult = {
  case: '',
  arm: null,
  passed: null,
  score: null,
  assertions: [],
  durationMs: null,
  tokens: null,
  costUsd: null,
  error: null,
}

/** A run of which a format says no more than this. */
export const UNSAID: RunParts = { runner: null, model: null, startedAt: null, isPartial: false, results: [], remarks: [] }

/** Seconds as whole milliseconds; null for none. */
export const toMs = (seconds: number | null): number | null => (seconds === null ? null : Math.round(seconds * 1000))

/** A date as ISO 8601 in UTC; null for what is none. */
export function toTime(value: string | null = null): string | null {
  const at = Date.parse(value ?? '')
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Counts: `n thing` or `n things`. */
const countOf = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

const haveAllPassed = (checks: readonly AssertionResult[]) => (checks.length === 0 ? null : checks.every(({ passed }) => passed))

/**
 * A format that is known by one of its fields. Its schema has those that are read; the error names the missing ones, as other versions of a
 * runner leave some out.
 */
function define<T>(title: string, keys: readonly string[], schema: z.ZodType<T>, toRun: (data: T, filename: string) => Partial<RunParts>) {
  const read = (fields: Fields, filename: string): RunParts => {
    const parsed = schema.safeParse(fields)
    if (parsed.success) return { ...UNSAID, ...toRun(parsed.data, filename) }
    const paths = [...new Set(parsed.error.issues.map(({ path }) => toBoundedText(path.join('.'), 80)))].slice(0, 5)
    const fault = `${paths.join(', ')} ${paths.length === 1 ? 'is' : 'are'} missing or not as expected`
    const remedy = 'It may be of another version: update the runner, or send JUnit XML'
    throw new AppError('invalid_input', `${filename} looks like ${title}, but ${fault}. ${remedy}.`)
  }
  return { title, matches: (fields: Fields) => keys.some((key) => key in fields), read }
}

const pluginGrader = z.object({ name: text, passed: z.boolean(), explanation: maybeText, evidence: maybeText, scored: flag })
const pluginRun = z.object({
  score: share,
  passed: z.boolean(),
  costUsd: amount,
  durationSeconds: amount,
  error: maybeText,
  skippedPaidGraders: flag,
  aborted: optional(z.object({ server: text, tool: text, reason: maybeText })),
  graders: z.array(pluginGrader),
})
const pluginArms = z.object({ with: z.array(pluginRun), without: z.array(pluginRun).default([]) })

/** `aggregate-result.json` of `claude plugin eval`, version 1 (code.claude.com/docs/en/plugin-evals, "JSON result"). */
const pluginEval = define(
  'a result of claude plugin eval (schemaVersion 1)',
  ['schemaVersion'],
  z.object({
    schemaVersion: z.literal(1),
    claudeVersion: maybeText,
    startedAt: maybeText,
    partial: z.boolean(),
    partialReason: maybeText,
    suite: z.object({ modelOverride: maybeText }),
    cases: z.array(z.object({ name: id, model: maybeText, arms: pluginArms })),
  }),
  (data) => {
    let skipped = 0
    const results = data.cases.flatMap(({ name, arms }) =>
      (['with', 'without'] as const).flatMap((arm) =>
        arms[arm].map((run): CaseResult => {
          if (run.skippedPaidGraders === true) skipped++
          // A run that was not set up has score 0 and no graders; one whose paid graders were skipped has a score that compares with none.
          // One that a mock aborted has failed, with or without graders.
          const isGraded = (run.graders.length > 0 || run.aborted !== null) && run.skippedPaidGraders !== true
          const grade = isGraded ? { passed: run.passed, score: run.score } : {}
          const assertions = run.graders.map(({ name: called, passed, explanation, evidence, scored }) => {
            return { text: scored === false ? `${called} (not scored)` : called, passed, evidence: explanation ?? evidence }
          })
          const { costUsd, error, aborted } = run
          if (aborted) assertions.push({ text: `no abort by ${aborted.server}/${aborted.tool}`, passed: false, evidence: aborted.reason })
          return { ...UNMEASURED, case: name, arm, ...grade, assertions, durationMs: toMs(run.durationSeconds), costUsd, error }
        }),
      ),
    )
    const models = new Set(data.cases.map(({ model }) => data.suite.modelOverride ?? model))
    return {
      runner: `claude plugin eval${data.claudeVersion ? ` ${data.claudeVersion}` : ''}`,
      model: models.size === 1 ? ([...models][0] ?? null) : null,
      startedAt: toTime(data.startedAt),
      isPartial: data.partial || skipped > 0,
      results,
      remarks: [
        ...(data.partial ? [`the run is partial${data.partialReason ? ` (${data.partialReason})` : ''}`] : []),
        ...(skipped > 0 ? [`${countOf(skipped, 'run')} skipped paid graders: not counted`] : []),
      ],
    }
  },
)

const expectation = z.object({ text, passed: z.boolean(), evidence: maybeText })
const average = optional(z.object({ mean: amount }).transform((one) => one.mean))
const averages = z.object({ pass_rate: average, time_seconds: average, tokens: average }).optional()
const benchmarkRun = z.object({
  eval_id: id,
  configuration: z.string(),
  result: z.object({ pass_rate: share, total: amount, time_seconds: amount, tokens: amount }),
  expectations: z.array(expectation).default([]),
})
/** Arms by the names of folders and configurations. */
const ARMS = new Map<string, Arm>(Object.entries({ with_skill: 'with', new_skill: 'with', without_skill: 'without' } as const))
/** The configuration of a run of another version. */
const OTHER_VERSION = 'old_skill'

/**
 * `benchmark.json`: with `runs` by skill-creator (anthropics/skills, references/schemas.md and scripts/aggregate_benchmark.py), with averages
 * alone by agentskills (docs/skill-creation/evaluating-skills.mdx). Its zeros of time and tokens mean that they were not measured.
 */
const benchmark = define(
  'a benchmark.json of a skill',
  ['run_summary', 'runs'],
  z.object({
    metadata: optional(z.object({ executor_model: maybeText, timestamp: maybeText })),
    runs: z.array(benchmarkRun).optional(),
    run_summary: z.object({ with_skill: averages, without_skill: averages }).optional(),
  }),
  ({ metadata, runs, run_summary: summary }) => {
    const own = (runs ?? []).filter(({ configuration }) => configuration !== OTHER_VERSION)
    const others = (runs ?? []).length - own.length
    const unknown = new Set(own.map(({ configuration }) => configuration).filter((one) => !ARMS.has(one)))
    const spend = (one: { time_seconds: number | null; tokens: number | null }) => {
      return { durationMs: toMs(one.time_seconds) || null, tokens: one.tokens || null }
    }
    const results = own.map(({ eval_id, configuration, result, expectations: assertions }): CaseResult => {
      const passed = result.total === 0 ? null : (haveAllPassed(assertions) ?? result.pass_rate === 1)
      const grade = { passed, score: passed === null ? null : result.pass_rate, assertions }
      return { ...UNMEASURED, case: eval_id, arm: ARMS.get(configuration) ?? null, ...grade, ...spend(result) }
    })
    const means = (['with', 'without'] as const).flatMap((arm): CaseResult[] => {
      const of = summary?.[`${arm}_skill`]
      return of ? [{ ...UNMEASURED, case: ALL_CASES, arm, score: maybeShare.parse(of.pass_rate), ...spend(of) }] : []
    })
    const model = metadata?.executor_model ?? null
    return {
      // aggregate_benchmark.py writes "<model-name>" for a person to fill in.
      model: model?.startsWith('<') ? null : model,
      startedAt: toTime(metadata?.timestamp ?? null),
      results: runs ? results : means,
      remarks: [
        ...(runs ? [] : ['only averages over all cases: send the grading.json files too']),
        ...(others > 0 ? [`${countOf(others, 'run')} of old_skill left out: it is another version`] : []),
        ...[...unknown].slice(0, 3).map((one) => `unknown configuration ${toBoundedText(one, 40)}: neither with nor without the skill`),
      ],
    }
  },
)

/** `grading.json` of one run, by agentskills (`assertion_results` until 2026, then `expectations`) and by skill-creator; its path names the case. */
const grading = define(
  'a grading.json of a skill',
  ['assertion_results', 'expectations'],
  z.object({
    assertion_results: z.array(expectation).optional(),
    expectations: z.array(expectation).default([]),
    summary: optional(z.object({ pass_rate: maybeShare })),
    timing: optional(z.object({ total_duration_seconds: amount })),
  }),
  ({ assertion_results, expectations, summary, timing }, filename) => {
    const folders = filename.split('/').slice(0, -1)
    const at = folders.findIndex((folder) => ARMS.has(folder) || folder === OTHER_VERSION)
    if (folders[at] === OTHER_VERSION) return { remarks: ['a run of old_skill left out: it is another version'] }
    const name = toCaseId((folders[at - 1] ?? '').replace(/^eval-/, ''))
    if (name === '') {
      const remedy = 'Send it with its path, such as eval-NAME/with_skill/grading.json'
      throw new AppError('invalid_input', `${filename} does not name its case. ${remedy}.`)
    }
    const assertions = assertion_results ?? expectations
    const passed = haveAllPassed(assertions)
    const score = passed === null ? null : (summary?.pass_rate ?? mean(assertions.map((one) => (one.passed ? 1 : 0))))
    const durationMs = toMs(timing?.total_duration_seconds ?? null) || null
    return { results: [{ ...UNMEASURED, case: name, arm: ARMS.get(folders[at] ?? '') ?? null, passed, score, assertions, durationMs }] }
  },
)

const variables = z.record(z.string(), z.unknown())
const ghVerdict = z.object({ evaluatorName: text, score: z.number(), passed: z.boolean(), details: maybeText })

/** `gh models eval --json` (github/gh-models, cmd/eval/eval.go and its test "json output format"): Go writes an empty list as null. */
const ghModels = define(
  'a result of gh models eval --json',
  ['testResults'],
  z.object({
    model: maybeText,
    testResults: z.array(z.object({ testCase: variables, evaluationResults: z.array(ghVerdict).nullable() })).nullable(),
  }),
  ({ model, testResults }) => ({
    runner: 'gh models eval',
    model,
    results: (testResults ?? []).map(({ testCase, evaluationResults }) => {
      const graded = evaluationResults ?? []
      const assertions = graded.map((one) => ({ text: one.evaluatorName, passed: one.passed, evidence: one.details }))
      // Scores of a model's choices may be any number.
      const score = maybeShare.parse(mean(graded.map((one) => one.score)))
      return { ...UNMEASURED, case: toVariablesId(testCase), passed: haveAllPassed(assertions), score, assertions }
    }),
  }),
)

/** Rows of `failureReason` 2 failed for another reason than an assertion (promptfoo/promptfoo, src/types/results.ts). */
const REASON_ERROR = 2
const assertion = z.object({ type: z.string(), metric: z.string().nullish(), value: z.unknown().optional(), metricOnly: flag })
const component = optional(z.object({ pass: z.boolean(), reason: maybeText, assertion: optional(assertion) }))
const promptfooRow = z.object({
  success: z.boolean(),
  score: maybeShare,
  error: maybeText,
  failureReason: z.unknown().optional(),
  latencyMs: amount,
  cost: amount,
  tokenUsage: optional(z.object({ total: amount })),
  provider: optional(z.union([z.string(), z.object({ id: z.string() }).transform((one) => one.id)])),
  vars: variables.default({}),
  testCase: optional(z.object({ description: z.string().nullish(), vars: variables.nullish() })),
  gradingResult: optional(z.object({ reason: maybeText, componentResults: z.array(component).nullish() })),
  promptId: maybeText,
})
/** The reason of a test that passes because it has no assertions (promptfoo/promptfoo, src/assertions). */
const UNCHECKED = 'No assertions'

/** promptfoo's output JSON: `EvaluateSummaryV3` alone or in a file with its config, and version 2 (promptfoo/promptfoo, src/types). */
const promptfoo = define(
  'an output of promptfoo',
  ['results'],
  z.preprocess(
    (fields) => (isObject(fields) && isObject(fields['results']) ? { ...fields['results'], metadata: fields['metadata'] } : fields),
    z.object({
      timestamp: maybeText,
      metadata: optional(z.object({ promptfooVersion: maybeText })),
      results: z.array(promptfooRow),
    }),
  ),
  ({ timestamp, metadata, results }) => {
    const prompts = new Set(results.flatMap(({ promptId }) => promptId ?? [])).size
    const models = [...new Set(results.flatMap(({ provider }) => (provider ? [toBoundedText(provider, 100)] : [])))]
    const rows = results.map((row): CaseResult => {
      const isError = row.failureReason === REASON_ERROR || (!row.success && !row.gradingResult)
      const isUnchecked = row.success && row.gradingResult?.reason === UNCHECKED
      const grade = isError ? { error: row.error ?? 'no answer' } : isUnchecked ? {} : { passed: row.success, score: row.score }
      const assertions = (row.gradingResult?.componentResults ?? []).flatMap((one) => {
        if (one === null || one.assertion?.metricOnly === true) return []
        return [{ text: nameCheck(one.assertion), passed: one.pass, evidence: one.reason }]
      })
      const name = toCaseId(row.testCase?.description ?? '') || toVariablesId(row.testCase?.vars ?? row.vars)
      const spent = { durationMs: row.latencyMs, tokens: row.tokenUsage?.total ?? null, costUsd: row.cost }
      return { ...UNMEASURED, case: name, ...grade, assertions, ...spent }
    })
    const errors = rows.filter(({ error }) => error !== null).length
    return {
      runner: `promptfoo${metadata?.promptfooVersion ? ` ${metadata.promptfooVersion}` : ''}`,
      model: models.length === 1 ? (models[0] ?? null) : null,
      startedAt: toTime(timestamp),
      isPartial: errors > 0,
      results: rows,
      remarks: [
        ...(models.length > 1 ? [`results of ${models.length} models are counted together: ${models.slice(0, 5).join(', ')}`] : []),
        ...(prompts > 1 ? [`results of ${prompts} prompts are counted together`] : []),
        ...(errors > 0 ? [`${countOf(errors, 'test')} ended with an error: not counted`] : []),
      ],
    }
  },
)

function nameCheck(check: z.infer<typeof assertion> | null): string {
  if (!check) return 'assertion'
  const value = typeof check.value === 'string' ? check.value : (JSON.stringify(check.value) ?? '')
  return toBoundedText(check.metric || (value === '' ? check.type : `${check.type}: ${value}`), MAX_TEXT)
}

/** JSON formats, in the order in which a file is compared with them. */
export const JSON_FORMATS = { 'plugin-eval': pluginEval, 'gh-models': ghModels, benchmark, grading, promptfoo } as const
