import type { TeamRole } from '../teams.ts'
import type { DefaultVisibility } from '../visibility.ts'
import type { SearchResult } from './search.ts'

/** A team: an owner that nobody signs in as. */
export interface Team {
  readonly id: string
  /** Its present name, in the name space of users. */
  readonly name: string
  readonly displayName: string | null
  readonly description: string | null
  /** Of items that members save for it. */
  readonly defaultVisibility: DefaultVisibility
  readonly createdAt: string
}

export interface TeamMember {
  readonly userId: string
  readonly username: string
  readonly displayName: string | null
  readonly role: TeamRole
  readonly joinedAt: string
  /** Whether the account cannot act now. */
  readonly isSuspended: boolean
}

/** A team as administrators see it. */
interface ListedTeam extends Team {
  readonly members: number
  /** Owned, the trash included. */
  readonly items: number
  /** Maintainers whose accounts can act, by name: at most five. */
  readonly maintainers: readonly string[]
  /** Whether a group map names it, and no administrator has allowed yet that groups fill it. */
  readonly isAsked: boolean
}

/** Who changes a team. Administrators create teams for others and appoint maintainers of orphaned ones; an operator is no user. */
export interface TeamCaller {
  readonly userId: string
  readonly isAdmin: boolean
}

/** Absent fields stay. */
interface TeamChange {
  readonly name?: string | undefined
  readonly displayName?: string | null | undefined
  readonly description?: string | null | undefined
  readonly defaultVisibility?: DefaultVisibility | undefined
}

/**
 * Teams and their members. Changes read the caller's role in their own transaction. To others than members a team is `not_found`, and
 * what a member's role does not have is `forbidden`.
 */
export interface TeamStore {
  /** By a name of now or of earlier, in any case. */
  findTeam(name: string): Promise<Team | null>
  /** Whether a team has the name, or had it, also one that was deleted. */
  hasTeamName(name: string): Promise<boolean>
  findTeamRole(userId: string, teamId: string): Promise<TeamRole | null>
  /** Those that somebody is in, by name: at most MAX_TEAMS. */
  listTeamsOf(userId: string): Promise<readonly (Team & { readonly role: TeamRole })[]>
  /** Maintainers first, then editors, by name. `matching`: part of a name. */
  listMembers(teamId: string, page: { limit: number; offset: number; matching?: string | undefined }): Promise<SearchResult<TeamMember>>
  /** Names of accounts that could be added, in order; people whose account cannot act, and members, are left out. */
  listCandidates(teamId: string, limit: number): Promise<readonly string[]>
  countMembers(teamId: string): Promise<number>
  /** All teams, by name. `isOrphaned`: only those without a maintainer whose account can act. */
  listTeams(page: { limit: number; offset: number; matching: string | null; isOrphaned?: boolean }): Promise<SearchResult<ListedTeam>>
  /** Lets groups fill a team that a group map names. @throws AppError `not_found` */
  bindTeam(name: string): Promise<void>
  /**
   * @param team.maintainer a username; default: the caller
   * @throws AppError `conflict` for a taken name and at MAX_TEAMS, `forbidden` where others than administrators name somebody else
   */
  createTeam(
    caller: TeamCaller,
    team: Pick<Team, 'name' | 'displayName' | 'description' | 'defaultVisibility'> & { readonly maintainer?: string | undefined },
  ): Promise<Team>
  /** A new name leaves the old one, which leads to the team. @throws AppError `conflict` for a taken name */
  changeTeam(caller: TeamCaller, teamId: string, change: TeamChange): Promise<Team>
  /** Adds a member, or changes the role of one. @throws AppError `not_found` (no account), `conflict` (the last maintainer, limits) */
  setMember(caller: TeamCaller, teamId: string, username: string, role: TeamRole): Promise<TeamMember>
  /** Everybody may remove themselves. @throws AppError `not_found`, `conflict` for the last maintainer */
  removeMember(caller: TeamCaller, teamId: string, username: string): Promise<void>
  /** Its names stay taken. @throws AppError `conflict` while it owns items */
  deleteTeam(caller: TeamCaller, teamId: string): Promise<void>
}
