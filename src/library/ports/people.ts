import type { Role } from '../account.ts'
import type { User } from '../items.ts'
import type { DefaultVisibility } from '../visibility.ts'
import type { SearchResult } from './search.ts'

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

/** What a person is here: somebody who can sign in, a name kept for somebody, or the author of imported items. */
export const PERSON_KINDS = ['login', 'reserved', 'placeholder'] as const
export type PersonKind = (typeof PERSON_KINDS)[number]

/** A person in a list. `items`: what an author of imports is named in, and what others own, without the trash. */
interface ListedPerson extends Person {
  readonly items: number
}

/** Profile changes; absent or undefined fields stay. */
interface ProfileChange {
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
interface NewLogin {
  readonly username: string
  readonly email: string | null
  readonly passwordHash: string
  /** SHA-256 of the invite's secret, in hex. */
  readonly inviteSha256: string | null
}

/** What is there when a login is to be made. */
export interface SignUpState {
  /** Whether nobody can sign in yet. */
  readonly isFirst: boolean
  readonly invite: Invite | null
  /** Whoever has the name already. */
  readonly holder: Person | null
  readonly isEmailTaken: boolean
}

/** What the library holds, for administrators. */
interface LibraryCounts {
  readonly prompts: number
  readonly skills: number
  readonly inTrash: number
  readonly versions: number
  readonly people: number
  readonly logins: number
  readonly keys: number
}

/** What a new person does first. */
export interface FirstStepsStore {
  /** `hasKey`: one that is not revoked; `hasItem`: of any visibility, the trash included. */
  readFirstSteps(userId: string): Promise<{ hasKey: boolean; hasUsedKey: boolean; hasItem: boolean; isHidden: boolean }>
  hideFirstSteps(userId: string): Promise<void>
}

/** Users, their profiles and invites, and what administrators decide about them. */
export interface PeopleStore extends FirstStepsStore {
  /** A person, a placeholder or a team. */
  findUser(username: string): Promise<User | null>
  /** @throws AppError `conflict` when a person, a placeholder or a team has the name, or a team had it, in any case */
  createUser(user: {
    username: string
    defaultVisibility: DefaultVisibility
    /** Makes a team without members. */
    team?: { readonly displayName: string | null; readonly description: string | null }
  }): Promise<User>
  /** The placeholder for a contributor's name, made when there is none; it never attaches to an account. */
  ensurePlaceholder(contributor: string): Promise<User>
  findPerson(userId: string): Promise<Person | null>
  findPersonByName(username: string): Promise<Person | null>
  /** Whose email address this is, in lower case. */
  findPersonByEmail(email: string): Promise<Person | null>
  /** By name; `matching` is part of a name, in any case. `kind`: default any. */
  listPeople(page: {
    limit: number
    offset: number
    matching: string | null
    kind?: PersonKind | null
  }): Promise<SearchResult<ListedPerson>>
  countPeople(matching: string | null): Promise<Readonly<Record<PersonKind, number>>>
  /** @throws AppError `not_found`, also for placeholders, `conflict` for the last administrator */
  setSuspended(username: string, isSuspended: boolean): Promise<Person>
  /** Notes the day on which somebody was seen; writes at most once a day. */
  noteSeen(userId: string, day: string): Promise<void>
  hasLogins(): Promise<boolean>
  /**
   * Creates a login, and its user if the name is free, and uses up the invite. All or nothing. `decide` runs inside the transaction and
   * returns the role, or throws.
   * @throws AppError `conflict` while the previous user of the name is being removed
   */
  createLogin(login: NewLogin, decide: (state: SignUpState) => Role): Promise<Person>
  /** @throws AppError `conflict` when the email address is another's */
  changeProfile(userId: string, change: ProfileChange): Promise<Person>
  /** @throws AppError `not_found`, `conflict` for the last administrator */
  setRole(username: string, role: Role): Promise<Person>
  /**
   * Gives the items of somebody who is suspended to another user or team, with their versions and addresses.
   * @returns how many items the person owned, the trash included
   * @throws AppError `not_found`, `conflict` for an account that is not suspended, `forbidden` as `deletePerson`
   */
  handOverItems(userId: string, to: string, adminId: string): Promise<number>
  /**
   * Purges a person with everything they own. One transaction ends their rights and hides their items; many more delete the rest, with
   * other writes in between. A store continues this when it is opened. Slugs of once public items, and the name of their owner, are never
   * reused.
   * @param by.isByAdmin whether teams may be left without a maintainer. Default: false
   * @param by.handOverTo name of a user or team that gets the items instead, with their versions and addresses; a person gives them to a
   * team they maintain, `adminId` to anybody but themselves and teams they are in
   * @throws AppError `not_found`, `conflict` for the last administrator while others can sign in, and for the last maintainer of a team, `forbidden` for a hand-over that is not allowed
   */
  deletePerson(
    userId: string,
    by?: { readonly isByAdmin?: boolean; readonly handOverTo?: string | undefined; readonly adminId?: string | null },
  ): Promise<void>
  createInvite(invite: { sha256: string; username: string | null; role: Role; expiresAt: string }): Promise<Invite>
  findInvite(sha256: string): Promise<Invite | null>
  /** Newest first. */
  listInvites(page: { limit: number; offset: number }): Promise<SearchResult<Invite>>
  revokeInvite(id: string): Promise<Invite | null>
  countLibrary(): Promise<LibraryCounts>
}
