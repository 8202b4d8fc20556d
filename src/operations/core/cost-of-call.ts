import type { Operation } from './define-operation.ts'
import { MAX_SAVED } from './inputs.ts'

/** Collections beyond these are charged no more: no input takes them. */
const MAX_CHARGED = 10

/** Inputs that are lists of items to save. */
const SAVED = ['prompts', 'skills'] as const

/** Points that a call takes beside those of its operation: one for each collection that it is narrowed to, and each item that it saves. */
export function pointsOfInput({ input }: Pick<Operation, 'input'>, raw: Readonly<Record<string, unknown>>): number {
  const collections = 'collections' in input.shape ? pointsOfCollections(raw['collections']) : 0
  return SAVED.reduce((points, name) => points + (name in input.shape ? Math.min(lengthOf(raw[name]), MAX_SAVED) : 0), collections)
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

/** Points of a list of collections, as a caller sent it. */
export function pointsOfCollections(collections: unknown): number {
  return Array.isArray(collections) ? Math.min(collections.length, MAX_CHARGED) : 0
}
