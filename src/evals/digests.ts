import { createHash } from 'node:crypto'
import type { SkillFile } from '../domain/skills/skill.ts'
import { isEvalFile } from './read-cases.ts'

const hash = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const hashAll = (parts: readonly string[]) => hash(parts.toSorted().join('\n'))

/** The SHA-256 of what is served, names and bytes, in any order: files in `evals/` do not count, so that a new case voids no results. */
export function digestOf(files: readonly Pick<SkillFile, 'filename' | 'bytes'>[]): string {
  return hashAll(
    files.filter(({ filename }) => !isEvalFile(filename)).map(({ filename, bytes }) => JSON.stringify([filename, hash(bytes)])),
  )
}
