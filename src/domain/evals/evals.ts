import { z } from 'zod'
import { blankForbiddenCharacters, cutCharacters } from '../text/characters.ts'

/**
 * Layouts of eval cases, each named for its source. Of a skill: `agentskills` (agentskills/agentskills,
 * docs/skill-creation/evaluating-skills.mdx), `skill-creator` (anthropics/skills, skills/skill-creator/references/schemas.md),
 * `plugin-eval` (code.claude.com/docs/en/plugin-evals), `tessl` (docs.tessl.io, "Evaluate skill quality using scenarios"),
 * `triggers` (agentskills, docs/skill-creation/optimizing-descriptions.mdx). Of a prompt: `prompt-yml` (github/gh-models,
 * cmd/eval/eval.go), `promptfoo` (promptfoo/promptfoo, src/types/testCases.ts).
 */
export const CASE_LAYOUTS = ['agentskills', 'skill-creator', 'plugin-eval', 'tessl', 'triggers', 'prompt-yml', 'promptfoo'] as const
export type CaseLayout = (typeof CASE_LAYOUTS)[number]

/** Most cases of an item, and of a run. */
export const MAX_CASES = 10_000
/** Most members of the JSON of a file of cases. */
export const MAX_CASE_MEMBERS = 500_000
/** Most results of a run: a case may run several times in both arms. */
export const MAX_RESULTS = 100_000
/** Longest id and name of a case, in characters. */
const MAX_CASE_NAME = 200

/**
 * One check of an answer. Kinds are the same for all layouts: `rubric` is a statement in `text` that a model or a person judges;
 * `equals`, `contains`, `icontains`, `starts-with`, `istarts-with`, `iends-with` and `regex` compare with `value`, the `i` forms without
 * regard to case. Other kinds are called as in their source (`tool_used`, `is-json`, `github/similarity`).
 */
export interface CaseGrader {
  readonly kind: string
  readonly name: string | null
  readonly text: string | null
  readonly value: unknown
  readonly weight: number | null
  /** Other fields of the source, such as `flags` of a regular expression. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** One test of a skill or prompt, whatever file it came from. */
export interface EvalCase {
  /** The name of the case in results. */
  readonly id: string
  readonly name: string
  /** The prompt for a skill, or the variables of a prompt. */
  readonly input: string | Readonly<Record<string, unknown>>
  readonly expected: string | null
  readonly graders: readonly CaseGrader[]
  /** Whether the skill should be used at all; null where the case does not say. */
  readonly shouldTrigger: boolean | null
  /** Other fields of the source, such as `files` or `max_turns`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly layout: CaseLayout
  readonly file: string
  /** Whether the file claims that nobody may see the case before a run. */
  readonly isHoldout: boolean
}

/** A fault of a case, or of a whole file, as a sentence without its full stop. */
export interface CaseProblem {
  readonly file: string
  /** The id of the case; null for the file as a whole. */
  readonly case: string | null
  readonly problem: string
}

/** Formats of result files; `src/evals/results` names the source of each. */
export const RESULT_FORMATS = ['plugin-eval', 'benchmark', 'grading', 'gh-models', 'promptfoo', 'junit'] as const
export type ResultFormat = (typeof RESULT_FORMATS)[number]
/** Formats of runs; `commonplace`: it was made here. */
export const RUN_FORMATS = ['commonplace', ...RESULT_FORMATS] as const
type RunFormat = (typeof RUN_FORMATS)[number]

/** How far a run that is made here is; one that ended early stays partial. `failed`: the results found no room, or its maker lost the right. */
export const RUN_STATES = ['running', 'cancelled', 'over-budget', 'failed'] as const
export type RunState = (typeof RUN_STATES)[number]

/** With or without the skill; null where the runner knows no such thing. */
export type Arm = 'with' | 'without' | null

const assertionResult = z.object({ text: z.string(), passed: z.boolean(), evidence: z.string().nullable() })
/** One check of one answer. */
export type AssertionResult = Readonly<z.infer<typeof assertionResult>>

/** One run of one case: a case that ran three times in two arms has six. */
export const caseResult = z.object({
  case: z.string(),
  arm: z.enum(['with', 'without']).nullable(),
  /** Null when nothing was graded: the run broke off, was skipped, or has no grader. */
  passed: z.boolean().nullable(),
  /** 0 to 1. */
  score: z.number().nullable(),
  assertions: z.array(assertionResult),
  durationMs: z.number().nullable(),
  tokens: z.number().nullable(),
  costUsd: z.number().nullable(),
  error: z.string().nullable(),
  /** Whether the case was held out when it ran: then results are for those who see the case. */
  isHeldOut: z.boolean().optional(),
})
/** A result as it is stored. */
export type CaseResult = Readonly<z.infer<typeof caseResult>>

/** A report of a runner. Its texts come from outside and are kept as they are, but bounded in length. */
export interface EvalRun {
  readonly format: RunFormat
  /** Program and version. */
  readonly runner: string | null
  readonly model: string | null
  /** ISO 8601, in UTC. */
  readonly startedAt: string | null
  /** Whether a part of the run is missing: partial runs stay out of trends. */
  readonly isPartial: boolean
  readonly results: readonly CaseResult[]
  readonly remarks: readonly string[]
}

/** A run as it is kept, without the results of its cases. Times are ISO 8601. */
export interface KeptRun extends Omit<EvalRun, 'results' | 'remarks'> {
  readonly seq: number
  readonly version: number
  /** Of the text that ran: versions with the same text share its results. */
  readonly textDigest: string
  /** Results that passed, and that did not; those without a verdict, and those without the skill, count for neither. */
  readonly passed: number
  readonly failed: number
  readonly reportedAt: string
  /** The name of whoever reported it; null: the account is gone. */
  readonly by: string | null
  readonly userId: string | null
  /** Of a run that is made here; null once it is complete, and for reported ones. */
  readonly state: RunState | null
  /** Cases of a run that is made here. */
  readonly total: number | null
  /** Results that are there, of a run that is made here. */
  readonly done: number
  /** SHA-256 of the cases that ran, where they are known here. */
  readonly casesDigest: string | null
}

/** Longest file of cases that is kept beside a version, in characters, and the most of them. */
const MAX_CASE_FILE = 512 * 1024
const MAX_CASE_FILES = 500

/** Files with cases that are kept beside a version, never among its own. */
export const caseFiles = z
  .array(
    z.object({
      filename: z.string().min(1).max(300),
      content: z.string().max(MAX_CASE_FILE),
      encoding: z.literal('base64').optional().describe('For what is no text'),
    }),
  )
  .max(MAX_CASE_FILES)
export type CaseFiles = Readonly<z.infer<typeof caseFiles>>

/** Bytes of the files with cases beside one version. */
const MAX_CASE_BYTES = 4 * 2 ** 20

/** Why files cannot be kept beside a version, as the end of a sentence; null when they can. */
export function caseFilesFault(files: readonly object[]): string | null {
  if (!caseFiles.safeParse(files).success) return `are more than ${MAX_CASE_FILES}, or one has more than ${MAX_CASE_FILE} characters`
  return JSON.stringify(files).length > MAX_CASE_BYTES ? `have more than ${MAX_CASE_BYTES / 2 ** 20} MiB` : null
}

/** An answer of a model. Tokens are estimated where a provider does not tell. */
export interface ModelAnswer {
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly durationMs: number
}

/** A text from outside: bounded, with nothing that cannot be stored. */
export function toBoundedText(text: string, limit: number): string {
  return cutCharacters(blankForbiddenCharacters(text.slice(0, limit * 2)), limit)
}

/** A case id from outside: one line of at most {@link MAX_CASE_NAME} characters. */
export function toCaseId(text: string): string {
  return toBoundedText(text, MAX_CASE_NAME * 4)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_CASE_NAME)
    .toWellFormed()
}

/**
 * The id of a case that has none but its variables: `name: value` of each, in order of the names. Readers of cases and of results both use
 * it, so that they agree. A long one ends with a checksum (FNV-1a) of all of it, for texts that begin alike.
 */
export function toVariablesId(variables: Readonly<Record<string, unknown>>): string {
  const all = Object.entries(variables)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : (JSON.stringify(value) ?? '')}`)
    .join(', ')
  const id = toCaseId(all)
  if (all.length <= MAX_CASE_NAME) return id || 'no variables'
  let sum = 0x811c9dc5
  for (let at = 0; at < all.length; at++) sum = Math.imul(sum ^ all.charCodeAt(at), 0x01000193)
  return `${id.slice(0, MAX_CASE_NAME - 10).toWellFormed()} #${(sum >>> 0).toString(16).padStart(8, '0')}`
}

/** Whether a file of a skill belongs to its tests, not to what agents are served. */
export function isEvalFile(filename: string): boolean {
  return filename.startsWith('evals/')
}
