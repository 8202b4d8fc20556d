import type { KeptRun } from '../../domain/evals/evals.ts'

/** Versions of a trend. */
export const TREND = 30

/** The newest complete run of a version, as plots show it. */
export function toTrendPoint({ seq, version, passed, failed }: KeptRun) {
  return { run: seq, version, passed, failed }
}
