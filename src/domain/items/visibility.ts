import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { type Actor, privateReaderId, type Within, withinOf } from '../people/actor.ts'
import { hasRight, type TeamRole } from '../people/teams.ts'

/** From those that most may see to those that fewest may. */
export const VISIBILITIES = ['public', 'members', 'unlisted', 'private'] as const
export type Visibility = (typeof VISIBILITIES)[number]
export const visibilitySchema = z.enum(VISIBILITIES)

/** The visibilities of new items of a person where nothing else is said. */
export const DEFAULT_VISIBILITIES = ['private', 'members', 'public'] as const
export type DefaultVisibility = (typeof DEFAULT_VISIBILITIES)[number]

/**
 * How an item was reached: `id` (anyone with the id), `slug`, or `list` (every list, search, feed and count).
 */
export type Reach = 'id' | 'slug' | 'list'

/**
 * Members are signed in or have a key with `read`. Outsiders present nothing, in a library that is for its members alone. Strangers are
 * everybody else.
 */
export type Standing = 'outsider' | 'stranger' | 'member'

/**
 * THE visibility rule (contract, "Owner, author, visibility"): what others than the owner may see, by who they are and how they came by it.
 * The owner, and the members of a team that is the owner, see all of it. Both the check in memory and the condition in SQL are made from this table.
 */
const OTHERS_MAY_SEE: Record<Standing, Record<Reach, readonly Visibility[]>> = {
  outsider: { id: ['public'], slug: ['public'], list: [] },
  stranger: { id: ['public', 'unlisted'], slug: ['public'], list: ['public'] },
  member: { id: ['public', 'members', 'unlisted'], slug: ['public', 'members'], list: ['public', 'members'] },
}

/** The audiences of items in lists, the widest first. */
export const AUDIENCES = ['everybody', 'members', 'owner'] as const
export type ListAudience = (typeof AUDIENCES)[number]

/** The audience of an item in lists, now or before, by its visibilities. */
export function audienceOf(...visibilities: readonly Visibility[]): ListAudience {
  const isListed = (standing: Standing) => visibilities.some((one) => OTHERS_MAY_SEE[standing].list.includes(one))
  if (isListed('stranger')) return 'everybody'
  return isListed('member') ? 'members' : 'owner'
}

/** The wider of two audiences. */
export function widestAudience(one: ListAudience, other: ListAudience): ListAudience {
  return AUDIENCES.indexOf(one) < AUDIENCES.indexOf(other) ? one : other
}

/** Whether more people find an item of one visibility in lists than of another. */
export function isWiderThan(one: Visibility, other: Visibility): boolean {
  return AUDIENCES.indexOf(audienceOf(one)) < AUDIENCES.indexOf(audienceOf(other))
}

/** Whether a visibility stands below another in {@link VISIBILITIES}. */
export function isNarrower(one: Visibility, than: Visibility): boolean {
  return VISIBILITIES.indexOf(one) > VISIBILITIES.indexOf(than)
}

/**
 * The input of the store's condition: an undeleted item passes when its visibility is listed, or `readerId` is its owner or in the team
 * that is. Of those, a narrowed key sees what is `within`.
 */
export interface VisibleSet {
  readonly visibilities: readonly Visibility[]
  readonly readerId: string | null
  readonly within: Within | null
}

/** The standing of an actor towards items of others. */
export function standingOf(actor: Actor): Standing {
  if (actor.kind === 'anonymous') return actor.isOutside ? 'outsider' : 'stranger'
  return privateReaderId(actor) === null ? 'stranger' : 'member'
}

/** The visibilities of others that somebody of a standing may see through `reach`. */
export function othersMaySee(standing: Standing, reach: Reach): readonly Visibility[] {
  return OTHERS_MAY_SEE[standing][reach]
}

/** Whether an actor sees what everybody sees, so that answers made for one are right for the other. */
export function seesAsStranger(actor: Actor): boolean {
  return standingOf(actor) === 'stranger' && withinOf(actor) === null
}

/** The items `actor` may see through `reach`. Deleted items are in none of them. */
export function visibleSet(actor: Actor, reach: Reach): VisibleSet {
  return { visibilities: othersMaySee(standingOf(actor), reach), readerId: privateReaderId(actor), within: withinOf(actor) }
}

/** The visibilities of versions that others than the owner may see, of an item that they may see. */
export function visibleVersions(actor: Actor): readonly Visibility[] {
  return othersMaySee(standingOf(actor), 'list')
}

/** Whether one item is in `visibleSet(actor, reach)`, apart from what the key is narrowed to. @param role the actor's over the item's owner */
export function isVisible(
  actor: Actor,
  item: { readonly visibility: Visibility; readonly deletedAt: string | null },
  role: TeamRole | null,
  reach: Reach,
): boolean {
  const { visibilities, readerId } = visibleSet(actor, reach)
  return item.deletedAt === null && (visibilities.includes(item.visibility) || (readerId !== null && hasRight(role, 'see')))
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
  if (isHeld && audienceOf(visibility) !== 'owner') {
    throw new AppError(
      'forbidden',
      'An administrator has unlisted this item; it cannot be public or for members until an administrator relists it.',
    )
  }
}
