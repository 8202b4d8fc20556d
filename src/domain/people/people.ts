import type { User } from '../items/items.ts'
import type { DefaultVisibility } from '../items/visibility.ts'
import type { Role } from './account.ts'
import type { TeamRole } from './teams.ts'

/** A user as they and administrators see them. */
export interface Person extends User {
  readonly role: Role
  readonly displayName: string | null
  readonly bio: string | null
  readonly website: string | null
  /** The language of the pages they chose, as a code (BCP 47); null: as the browser says. */
  readonly language: string | null
  /** null: none was given, or there is no login. */
  readonly email: string | null
  readonly hasLogin: boolean
  /** Since when the account cannot act; null where it can. */
  readonly suspendedAt: string | null
  /** The day (`2026-01-31`, UTC) of the last use of a session or key; null where none is known. */
  readonly seenOn: string | null
}

/** The kind of a person: somebody who can sign in, a name kept for somebody, or the author of imported items. */
export const PERSON_KINDS = ['login', 'reserved', 'placeholder'] as const
export type PersonKind = (typeof PERSON_KINDS)[number]

/** A person in a list. `items`: what an author of imports is named in, and what others own, without the trash. */
export interface ListedPerson extends Person {
  readonly items: number
}

/** Profile changes; absent or undefined fields stay. */
export interface ProfileChange {
  readonly displayName?: string | null | undefined
  readonly bio?: string | null | undefined
  readonly website?: string | null | undefined
  readonly defaultVisibility?: DefaultVisibility | undefined
  readonly language?: string | null | undefined
  /** In lower case. */
  readonly email?: string | null | undefined
}

/** A sign-up link, without its secret. */
export interface Invite {
  readonly id: string
  /** The name it is for; null: whoever holds it chooses one. */
  readonly username: string | null
  readonly role: Role
  readonly createdAt: string
  readonly expiresAt: string
  readonly usedAt: string | null
  /** The name it was used for. */
  readonly usedBy: string | null
  readonly revokedAt: string | null
}

/** A new login. `passwordHash` as {@link Logins} makes it. */
export interface NewLogin {
  readonly username: string
  readonly email: string | null
  readonly passwordHash: string
  /** SHA-256 of the invite's secret, in hex. */
  readonly inviteSha256: string | null
}

/** The state of the library when a login is to be made. */
export interface SignUpState {
  /** Whether nobody can sign in yet. */
  readonly isFirst: boolean
  readonly invite: Invite | null
  /** Whoever has the name already. */
  readonly holder: Person | null
  readonly isEmailTaken: boolean
}

/** The counts of a library, for administrators. */
export interface LibraryCounts {
  readonly prompts: number
  readonly skills: number
  readonly inTrash: number
  readonly versions: number
  readonly people: number
  readonly logins: number
  readonly keys: number
}

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

/**
 * The drafts that pages keep for the next request of the same person, by kind: how many of each person's, and for how long. `upload` is the files of an
 * import, `import` what one would do or did.
 */
export const DRAFT_KINDS = {
  form: { most: 10, keptMs: 24 * 3600 * 1000 },
  bulk: { most: 10, keptMs: 24 * 3600 * 1000 },
  upload: { most: 1, keptMs: 15 * 60 * 1000 },
  import: { most: 2, keptMs: 15 * 60 * 1000 },
} as const
export type DraftKind = keyof typeof DRAFT_KINDS
