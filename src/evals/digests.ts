import { createHash } from 'node:crypto'
import type { EvalCase } from '../domain/evals/evals.ts'
import { isEvalFile } from '../domain/evals/evals.ts'
import type { SkillFile } from '../domain/skills/skill.ts'

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
