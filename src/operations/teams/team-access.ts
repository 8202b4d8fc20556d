import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { type Actor, privateReaderId, withinOf } from '../../library/actor.ts'
import type { Team, TeamCaller } from '../../library/team-records.ts'
import { TEAM_ROLES, type TeamRole, teamNotFound } from '../../library/teams.ts'
import { usernameFault } from '../../library/username.ts'
import { DEFAULT_VISIBILITIES } from '../../library/visibility.ts'
import { refInput } from '../core/inputs.ts'
import { type Needs, requireUser } from '../core/procedure.ts'

export const teamInput = refInput.describe('Name of the team')
/** A person's name, as somebody writes it. */
export const memberInput = z.string().max(64).describe('Username')
export const roleInput = z
  .enum(TEAM_ROLES)
  .describe(
    'reader: sees private items; editor: also creates and edits; maintainer: also publishes, deletes, transfers and manages members',
  )
export const defaultVisibilityInput = z.enum(DEFAULT_VISIBILITIES).describe('Of new items of the team')

/** A new name of a team. */
export const teamNameField = z
  .string()
  .superRefine((name, issues) => {
    const fault = usernameFault(name)
    if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
  })
  .meta({ minLength: 1, maxLength: 64 })

/** A team as its members see it. */
export const teamRecord = z.object({
  name: z.string(),
  displayName: z.string().nullable(),
  description: z.string().nullable(),
  defaultVisibility: z.enum(DEFAULT_VISIBILITIES),
  createdAt: z.string().meta({ format: 'date-time' }),
})

export function toTeamRecord({ name, displayName, description, defaultVisibility, createdAt }: Team): z.infer<typeof teamRecord> {
  return { name, displayName, description, defaultVisibility, createdAt }
}

/**
 * Who changes a team: what administrators may beyond members, they may on the pages and from the command line alone.
 * @throws AppError `forbidden` for keys that read nothing private
 */
export function toCaller(actor: Actor): TeamCaller {
  const user = requireUser(actor)
  if (!user.scopes.has('read')) {
    throw new AppError('forbidden', 'Who is in a team decides who reads its private items, so this API key needs the "read" scope too.')
  }
  return { userId: user.userId, isAdmin: user.scopes.has('admin') }
}

/** The team of a name, for a change; the change reads the caller's role. @throws AppError `not_found` */
export async function findTeam({ store }: Needs<'teams'>, name: string): Promise<Team> {
  const team = await store.teams.findTeam(name)
  if (!team) throw teamNotFound()
  return team
}

/** The team of a name and the caller's role in it; null for others than members, and for keys that read nothing private. */
export async function findOwnTeam(context: Needs<'teams'>, name: string): Promise<{ readonly team: Team; readonly role: TeamRole | null }> {
  const team = await findTeam(context, name)
  const within = withinOf(context.actor)
  const isOutside = within !== null && !('team' in within && within.team === team.id)
  const userId = isOutside ? null : privateReaderId(context.actor)
  return { team, role: userId === null ? null : await context.store.teams.findTeamRole(userId, team.id) }
}

/** The team of a name, which the caller is in. @throws AppError `not_found` */
export async function requireOwnTeam(context: Needs<'teams'>, name: string): Promise<{ readonly team: Team; readonly role: TeamRole }> {
  const { team, role } = await findOwnTeam(context, name)
  if (role === null) throw teamNotFound()
  return { team, role }
}

/** An empty text takes a field away. */
export function clearable<T extends z.ZodType<string, string>>(field: T) {
  return z.union([z.literal(''), field]).optional()
}

/** What an optional text is kept as. */
export function toKept(text: string | undefined): string | null {
  return text || null
}
