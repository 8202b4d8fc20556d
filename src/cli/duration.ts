import { AppError } from '../errors.ts'

const UNITS_MS: Partial<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 }
const MAX_MS = 100 * 31_536_000_000

/** A duration such as `90d` in milliseconds. Units: h, d, w, y. @throws AppError `invalid_input` */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? []
  const ms = Number(count) * (UNITS_MS[unit ?? ''] ?? Number.NaN)
  if (!(ms > 0 && ms <= MAX_MS))
    throw new AppError(
      'invalid_input',
      `--expires must be a number followed by h, d, w or y (such as 90d), at most 100 years; got "${text.slice(0, 40)}".`,
    )
  return ms
}
