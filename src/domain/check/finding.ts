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
