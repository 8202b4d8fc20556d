import type { DiffPiece } from './text-diff.ts'

/** A place where two texts differ: what it removes from the older one, and what it puts there. One of the two may be empty. */
export interface TextChange {
  readonly removed: string
  readonly added: string
}

/** A comparison as the text that stayed and the changes, in their order. Changes that touch each other are one. */
export function toChanges(pieces: readonly DiffPiece[]): (string | TextChange)[] {
  const parts: (string | TextChange)[] = []
  for (const { kind, text } of pieces) {
    const last = parts.at(-1)
    if (kind === 'same') parts.push(text)
    else if (last === undefined || typeof last === 'string') parts.push({ removed: '', added: '', [kind]: text })
    else parts.splice(-1, 1, { ...last, [kind]: last[kind] + text })
  }
  return parts
}

/** How many changes there are. */
export function countChanges(parts: readonly (string | TextChange)[]): number {
  return parts.filter((part) => typeof part !== 'string').length
}

/** The text with some changes made. `taken` has their numbers, counted from 0. */
export function takeChanges(parts: readonly (string | TextChange)[], taken: ReadonlySet<number>): string {
  let number = 0
  return parts.map((part) => (typeof part === 'string' ? part : taken.has(number++) ? part.added : part.removed)).join('')
}
