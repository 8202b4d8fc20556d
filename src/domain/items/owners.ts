import { hasRight, requireRight, type TeamRole } from '../people/teams.ts'
import type { DefaultVisibility, Visibility } from './visibility.ts'

/** An owner of items, as somebody with a role over them sees it. */
export interface OwnerForItems {
  readonly id: string
  readonly name: string
  readonly role: TeamRole
  readonly isTeam: boolean
  /** Of new items. */
  readonly defaultVisibility: DefaultVisibility
}

/**
 * Refuses a new item of an owner: who may not publish chooses between `private` and what the owner's new items are anyway.
 * @throws AppError `forbidden`
 */
export function requireMayAdd({ role, defaultVisibility }: OwnerForItems, kind: 'prompt' | 'skill', visibility: Visibility): void {
  requireRight(role, 'edit', `add a ${kind} to it`)
  if (visibilityFor({ role, defaultVisibility }, visibility) !== visibility) requireRight(role, 'publish', `choose this visibility`)
}

/** The visibility of an item that somebody with a role over its owner may choose: as wanted, or nobody else. */
export function visibilityFor(
  { role, defaultVisibility }: Pick<OwnerForItems, 'role' | 'defaultVisibility'>,
  wanted: Visibility,
): Visibility {
  return wanted === defaultVisibility || hasRight(role, 'publish') ? wanted : 'private'
}
