import type { Operation } from './define-operation.ts'
import { MAX_SAVED } from './inputs.ts'

/** Collections beyond these are charged no more: no input takes them. */
const MAX_CHARGED = 10

/** Inputs that are lists of items to save. */
const SAVED = ['prompts', 'skills'] as const

/** Characters of files that are read for one point. */
const CHARACTERS_A_POINT = 10_000
/** No single call takes more than a caller has. */
const MAX_OF_FILES = 100

/**
 * Points that a call takes beside those of its operation: one for each collection that it is narrowed to, and each item that it saves; and one
 * for 10,000 characters of files that are read and not kept.
 */
export function pointsOfInput({ input, writes }: Pick<Operation, 'input' | 'writes'>, raw: Readonly<Record<string, unknown>>): number {
  const collections = 'collections' in input.shape ? pointsOfCollections(raw['collections']) : 0
  const files = 'files' in input.shape && !writes ? pointsOfFiles(raw['files']) : 0
  return SAVED.reduce((points, name) => points + (name in input.shape ? Math.min(lengthOf(raw[name]), MAX_SAVED) : 0), collections + files)
}

function pointsOfFiles(files: unknown): number {
  if (!Array.isArray(files)) return 0
  const characters = files.reduce<number>((sum, file: unknown) => {
    const content: unknown = typeof file === 'object' && file !== null && 'content' in file ? file.content : ''
    return sum + (typeof content === 'string' ? content.length : 0)
  }, 0)
  return Math.min(Math.floor(characters / CHARACTERS_A_POINT), MAX_OF_FILES)
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

/** Points of a list of collections, as a caller sent it. */
export function pointsOfCollections(collections: unknown): number {
  return Array.isArray(collections) ? Math.min(collections.length, MAX_CHARGED) : 0
}
