import type { Finding } from './finding.ts'

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

/** A finding that somebody accepted. Times are ISO 8601; `until` null: without end. */
export interface Waiver {
  readonly seq: number
  readonly rule: string
  readonly file: string
  readonly reason: string
  /** The name of whoever accepted it; null: the account is gone. */
  readonly by: string | null
  readonly until: string | null
  readonly madeAt: string
}

/** The outcome of a check of a version: findings that are not off, those waived among them, and which of them block it. */
export interface Verdict {
  readonly findings: readonly MarkedFinding[]
  readonly blocking: readonly MarkedFinding[]
}
