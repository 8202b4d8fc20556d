import { AppError } from '../../errors.ts'
import { textField } from '../items/fields.ts'

export const TEAM_ROLES = ['reader', 'editor', 'maintainer'] as const
/** The rights of a member over the items of a team. A person is the maintainer of their own items. */
export type TeamRole = (typeof TEAM_ROLES)[number]

/**
 * `see`: private items too; `edit`: create, change and restore; `publish`: change who else may see; `delete`: to the trash and for good;
 * `transfer`: give to another owner; `manage`: the team, its members and its collections' visibility.
 */
export type TeamRight = 'see' | 'edit' | 'publish' | 'delete' | 'transfer' | 'manage'

/** THE table of roles (docs/teams.md). */
const RIGHTS: Record<TeamRole, readonly TeamRight[]> = {
  reader: ['see'],
  editor: ['see', 'edit'],
  maintainer: ['see', 'edit', 'publish', 'delete', 'transfer', 'manage'],
}

/** The roles that have a right. */
export function rolesWith(right: TeamRight): readonly TeamRole[] {
  return TEAM_ROLES.filter((role) => RIGHTS[role].includes(right))
}

/** The people who may, as the end of a sentence. */
const ONLY: Record<TeamRight, string> = {
  see: 'a member',
  edit: 'an editor or a maintainer',
  publish: 'a maintainer',
  delete: 'a maintainer',
  transfer: 'a maintainer',
  manage: 'a maintainer',
}

export const MAX_TEAM_MEMBERS = 20_000
/** Teams one person may be in. */
export const MAX_TEAMS = 200
/** Earlier names that a team keeps. */
export const MAX_FORMER_NAMES = 20

export const teamDescriptionField = textField({ max: 500 })

/** The same for a team that does not exist and one that the caller is not in. */
export function teamNotFound(): AppError {
  return new AppError('not_found', 'Team not found, or you are not in it. Check the name.')
}

/** Whether a role over an item's owner has a right; null is of somebody who is neither the owner nor in the team. */
export function hasRight(role: TeamRole | null, right: TeamRight): boolean {
  return role !== null && RIGHTS[role].includes(right)
}

/**
 * Refuses what a member's role does not have.
 * @param what what the caller wants, as `delete this prompt`
 * @throws AppError `forbidden`
 */
export function requireRight(role: TeamRole | null, right: TeamRight, what: string): void {
  if (hasRight(role, right)) return
  if (role === null) throw new AppError('forbidden', `Only the owner can ${what}.`)
  throw new AppError('forbidden', `You are ${role === 'editor' ? 'an' : 'a'} ${role} of the team; only ${ONLY[right]} can ${what}.`)
}
