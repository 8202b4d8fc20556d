import type { DefaultVisibility } from '../items/visibility.ts'
import type { TeamRole } from './teams.ts'

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
export interface ListedTeam extends Team {
  readonly members: number
  /** Owned, the trash included. */
  readonly items: number
  /** Maintainers whose accounts can act, by name: at most five. */
  readonly maintainers: readonly string[]
  /** Whether a group map names it, and no administrator has allowed yet that groups fill it. */
  readonly isAsked: boolean
}

/** The caller who changes a team. Administrators create teams for others and appoint maintainers of orphaned ones; an operator is no user. */
export interface TeamCaller {
  readonly userId: string
  readonly isAdmin: boolean
}

/** Absent fields stay. */
export interface TeamChange {
  readonly name?: string | undefined
  readonly displayName?: string | null | undefined
  readonly description?: string | null | undefined
  readonly defaultVisibility?: DefaultVisibility | undefined
}
