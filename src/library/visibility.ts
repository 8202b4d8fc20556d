import { z } from 'zod'
import { AppError } from '../errors.ts'
import { type Actor, privateReaderId } from './actor.ts'

export const VISIBILITIES = ['public', 'unlisted', 'private'] as const
export type Visibility = (typeof VISIBILITIES)[number]
export const visibilitySchema = z.enum(VISIBILITIES)

/**
 * How an item was reached: `id` (anyone with the id), `slug`, or `list` (every list, search, feed and count).
 */
export type Reach = 'id' | 'slug' | 'list'

/**
 * THE visibility rule (contract, "Owner, author, visibility"): what others than the owner may see, by how they came by it.
 * The owner sees all of it. Both the check in memory and the condition in SQL are made from this table.
 */
const OTHERS_MAY_SEE: Record<Reach, readonly Visibility[]> = {
  id: ['public', 'unlisted'],
  slug: ['public'],
  list: ['public'],
}

/** What the store turns into a condition: an undeleted item passes when its visibility is listed or its owner is `ownerId`. */
export interface VisibleSet {
  readonly visibilities: readonly Visibility[]
  readonly ownerId: string | null
}

/** The items `actor` may see through `reach`. Deleted items are in none of them. */
export function visibleSet(actor: Actor, reach: Reach): VisibleSet {
  return { visibilities: OTHERS_MAY_SEE[reach], ownerId: privateReaderId(actor) }
}

/** Whether one item is in `visibleSet(actor, reach)`. */
export function isVisible(
  actor: Actor,
  item: { visibility: Visibility; ownerId: string; deletedAt: string | null },
  reach: Reach,
): boolean {
  const set = visibleSet(actor, reach)
  return item.deletedAt === null && (set.visibilities.includes(item.visibility) || item.ownerId === set.ownerId)
}

/** The visibility asked for by the two spellings of an input, or null when neither was given. The schema refuses both together. */
export function askedVisibility(input: { visibility?: Visibility | undefined; isPrivate?: boolean | undefined }): Visibility | null {
  if (input.visibility !== undefined) return input.visibility
  if (input.isPrivate !== undefined) return input.isPrivate ? 'private' : 'public'
  return null
}

/**
 * Keeps an item out of the lists while an administrator holds it there: it may be unlisted or private, whatever its owner asks for.
 * @throws AppError `forbidden`
 */
export function refuseWhileHeld(isHeld: boolean, visibility: Visibility): void {
  if (isHeld && visibility === 'public') {
    throw new AppError('forbidden', 'An administrator has unlisted this item; it cannot be public until an administrator relists it.')
  }
}
