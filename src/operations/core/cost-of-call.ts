import type { Operation } from './define-operation.ts'

/** Collections beyond these are charged no more: no input takes them. */
const MAX_CHARGED = 10

/** Points that a call takes beside those of its operation: one for each collection that it is narrowed to. */
export function pointsOfInput({ input }: Pick<Operation, 'input'>, raw: Readonly<Record<string, unknown>>): number {
  return 'collections' in input.shape ? pointsOfCollections(raw['collections']) : 0
}

/** Points of a list of collections, as a caller sent it. */
export function pointsOfCollections(collections: unknown): number {
  return Array.isArray(collections) ? Math.min(collections.length, MAX_CHARGED) : 0
}
