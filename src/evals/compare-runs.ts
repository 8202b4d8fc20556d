import { createHash } from 'node:crypto'
import { type Arm, type CaseResult, type EvalCase, type EvalRun, isEvalFile } from '../domain/evals/evals.ts'
import type { SkillFile } from '../domain/skills/skill.ts'

/** The share of cases that pass, with its Wilson interval of 95 %. Runs of a case are not independent: they count as one, by their mean. */
export interface PassRate {
  /** Cases with at least one graded run. */
  readonly cases: number
  /** 0 to 1; null without cases. */
  readonly rate: number | null
  readonly lower: number
  readonly upper: number
  /** Whether the interval is wider than 40 points: 5 cases that all pass, or 20 of which half do. */
  readonly isTooFew: boolean
}

/** How a case did after, against before. `unmeasured`: one of the runs graded nothing in it. */
type Outcome = 'better' | 'worse' | 'same' | 'only-before' | 'only-after' | 'unmeasured'

/** The mean scores of a case in one arm, 0 to 1; null where nothing was graded, or the case did not run. */
interface ArmComparison {
  readonly arm: Arm
  readonly before: number | null
  readonly after: number | null
  readonly outcome: Outcome
}

/** Two runs side by side. */
export interface RunComparison {
  readonly cases: readonly { readonly case: string; readonly arms: readonly ArmComparison[] }[]
  readonly passRates: readonly { readonly arm: Arm; readonly before: PassRate; readonly after: PassRate }[]
  /** Assertions that pass in every run with the skill and in every run without it: they do not measure the skill. */
  readonly alwaysPassing: readonly { readonly case: string; readonly text: string }[]
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959963984540054
const MAX_WIDTH = 0.4
/** Scores that differ by less are the same: means of the same numbers may differ in their last digit. */
const TOLERANCE = 1e-9
const ARMS: readonly Arm[] = ['with', 'without', null]

/**
 * The Wilson score interval of 95 % (Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference"), without continuity
 * correction. @param passed 0 to total, whole or not
 */
export function wilsonInterval(passed: number, total: number): { readonly lower: number; readonly upper: number } {
  if (total === 0) return { lower: 0, upper: 1 }
  const rate = passed / total
  const center = (rate + Z ** 2 / (2 * total)) / (1 + Z ** 2 / total)
  const half = (Z / (1 + Z ** 2 / total)) * Math.sqrt((rate * (1 - rate)) / total + Z ** 2 / (4 * total ** 2))
  return { lower: Math.max(0, center - half), upper: Math.min(1, center + half) }
}

/** The pass rate of one arm of a run. */
export function passRateOf(run: EvalRun, arm: Arm): PassRate {
  const byCase = Map.groupBy(
    run.results.filter((one) => one.arm === arm && one.passed !== null),
    (one) => one.case,
  )
  const passed = [...byCase.values()].reduce((sum, runs) => sum + runs.filter((one) => one.passed).length / runs.length, 0)
  const cases = byCase.size
  const interval = wilsonInterval(passed, cases)
  const isTooFew = interval.upper - interval.lower > MAX_WIDTH
  return { cases, rate: cases === 0 ? null : passed / cases, ...interval, isTooFew }
}

/** Compares two runs case by case, in each arm that one of them has. */
export function compareRuns(before: EvalRun, after: EvalRun): RunComparison {
  const groups = [before, after].map((run) => Map.groupBy(run.results, (one) => one.case))
  const names = [...new Set([...before.results, ...after.results].map((one) => one.case))]
  const arms = ARMS.filter((arm) => [before, after].some(({ results }) => results.some((one) => one.arm === arm)))
  const cases = names.map((name) => {
    const compared = arms.flatMap((arm): ArmComparison[] => {
      const [old, now] = groups.map((group) => (group.get(name) ?? []).filter((one) => one.arm === arm))
      return old?.length || now?.length ? [compareArm(arm, old ?? [], now ?? [])] : []
    })
    return { case: name, arms: compared }
  })
  return {
    cases,
    passRates: arms.map((arm) => ({ arm, before: passRateOf(before, arm), after: passRateOf(after, arm) })),
    alwaysPassing: names.flatMap((name) =>
      findAlwaysPassing(groups.flatMap((group) => group.get(name) ?? [])).map((text) => ({ case: name, text })),
    ),
  }
}

function compareArm(arm: Arm, old: readonly CaseResult[], now: readonly CaseResult[]): ArmComparison {
  const [before, after] = [meanScore(old), meanScore(now)]
  const outcomeOf = (): Outcome => {
    if (old.length === 0) return 'only-after'
    if (now.length === 0) return 'only-before'
    if (before === null || after === null) return 'unmeasured'
    return Math.abs(after - before) < TOLERANCE ? 'same' : after > before ? 'better' : 'worse'
  }
  return { arm, before, after, outcome: outcomeOf() }
}

function meanScore(results: readonly CaseResult[]): number | null {
  const scores = results.flatMap(({ score, passed }) => score ?? (passed === null ? [] : Number(passed)))
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length
}

function findAlwaysPassing(results: readonly CaseResult[]): string[] {
  const graded = results.filter(({ assertions }) => assertions.length > 0)
  if (!graded.some(({ arm }) => arm === 'with') || !graded.some(({ arm }) => arm === 'without')) return []
  const passes = new Map<string, number>()
  for (const { assertions } of graded) {
    for (const text of new Set(assertions.filter(({ passed }) => passed).map((one) => one.text)))
      passes.set(text, (passes.get(text) ?? 0) + 1)
  }
  return [...passes].flatMap(([text, count]) => (count === graded.length ? [text] : []))
}

const hash = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const hashAll = (parts: readonly string[]) => hash(parts.toSorted().join('\n'))

/** The SHA-256 of what is served, names and bytes, in any order: files in `evals/` do not count, so that a new case voids no results. */
export function digestOf(files: readonly Pick<SkillFile, 'filename' | 'bytes'>[]): string {
  return hashAll(
    files.filter(({ filename }) => !isEvalFile(filename)).map(({ filename, bytes }) => JSON.stringify([filename, hash(bytes)])),
  )
}

/** The SHA-256 of cases in any order. Their file and layout do not count, so that they can be moved and converted. */
export function digestOfCases(cases: readonly EvalCase[]): string {
  return hashAll(
    cases.map(({ id, input, expected, graders, shouldTrigger }) => hash(toCanonical({ id, input, expected, graders, shouldTrigger }))),
  )
}

/** JSON with its keys in order. */
function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${toCanonical(inner)}`).join()}}`
}
