import type { User } from '../items/items.ts'
import type { DefaultVisibility } from '../items/visibility.ts'
import type { Role } from './account.ts'

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
