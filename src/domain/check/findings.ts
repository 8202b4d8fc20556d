/** From the gravest to the least. */
export const SEVERITIES = ['high', 'medium', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A place in an item that a rule speaks about. `line` and `column` count from 1; a column is in UTF-16 units. */
export interface Finding {
  /** `family/name`. */
  readonly rule: string
  readonly severity: Severity
  /** The path in a skill; `prompt` for the text of a prompt. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** The text that the rule speaks about, at most 120 characters, secrets masked and invisible characters spelled out. */
  readonly evidence: string
  readonly why: string
  readonly fix: string
  /** Why somebody accepted it, and until when. */
  readonly waived?: { readonly reason: string; readonly by: string; readonly until: string | null } | undefined
}

/** A severity a step lower or higher; the ends stay. */
export function shiftSeverity(severity: Severity, steps: number): Severity {
  const at = Math.min(Math.max(SEVERITIES.indexOf(severity) - steps, 0), SEVERITIES.length - 1)
  return SEVERITIES[at] ?? severity
}

/** Findings by severity, those waived apart. */
export interface FindingCounts {
  readonly high: number
  readonly medium: number
  readonly low: number
  readonly waived: number
}

/** Counts findings. */
export function countFindings(findings: readonly Finding[]): FindingCounts {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity && !finding.waived).length
  return { high: count('high'), medium: count('medium'), low: count('low'), waived: findings.filter(({ waived }) => waived).length }
}

/** Levels of a rule, from the mildest: its findings are left out, shown, or keep their version from others. */
export const LEVELS = ['off', 'warn', 'block'] as const
export type Level = (typeof LEVELS)[number]
/** The level of a rule that nobody set. */
export const DEFAULT_LEVEL: Level = 'warn'

/** Levels by rule, where they are set. */
export type Levels = ReadonlyMap<string, Level>

/** The level of a rule for an owner: a team may only be stricter than the service. */
export function levelOf(rule: string, service: Levels, own: Levels): Level {
  const set = service.get(rule) ?? DEFAULT_LEVEL
  const asked = own.get(rule) ?? set
  return LEVELS.indexOf(asked) > LEVELS.indexOf(set) ? asked : set
}

/** A finding, and what tells it from another of its rule: its evidence with its line, as a digest. */
export interface MarkedFinding extends Finding {
  readonly mark: string
}

/** The verdict on the version that is served, as everybody sees it who sees the item. */
export interface ServedVerdict extends FindingCounts {
  /** 0: the rules changed since. */
  readonly ruleSet: number
  readonly version: number
}

/** The counts of a verdict as channels give them; undefined for a version that was not checked. */
export function toCheckNote(verdict: ServedVerdict | undefined, version: number) {
  if (!verdict || verdict.version !== version) return undefined
  const { ruleSet, high, medium, low, waived } = verdict
  return { ruleSet, high, medium, low, waived }
}
export type CheckNote = ReturnType<typeof toCheckNote>

/** A finding that somebody accepted. Times are ISO 8601; `until` null: without end. */
export interface Waiver {
  readonly waiver: number
  readonly rule: string
  readonly file: string
  readonly reason: string
  /** The name of whoever accepted it; null: the account is gone. */
  readonly by: string | null
  readonly until: string | null
  readonly createdAt: string
}

/** The outcome of a check of a version: findings that are not off, those waived among them, and which of them block it. */
export interface Verdict {
  readonly findings: readonly MarkedFinding[]
  readonly blocking: readonly MarkedFinding[]
}
