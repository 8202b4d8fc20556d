import type { Role } from './account.ts'
import type { Scope } from './actor.ts'
import type { AuditAction } from './audit.ts'
import type { User } from './items.ts'
import type { SearchResult } from './search-result.ts'

/** An API key as stored: everything but the key. */
export interface StoredKey {
  readonly id: string
  readonly name: string
  readonly userId: string
  readonly username: string
  readonly scopes: readonly Scope[]
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

/** People, keys and the service's own secrets. */
export interface AccountStore {
  findUser(username: string): Promise<User | null>
  /** @throws AppError `conflict` when the name is taken in any case */
  createUser(user: { username: string; defaultVisibility: 'public' | 'private' }): Promise<User>
  /** The placeholder for a contributor's name, made when there is none; it never attaches to an account. */
  ensurePlaceholder(contributor: string): Promise<User>
  /** Forgets keys that were over for more than 30 days. @throws AppError `not_found`, `conflict` for somebody with MAX_KEYS keys that work */
  createKey(key: { name: string; userId: string; sha256: string; scopes: readonly Scope[]; expiresAt: string | null }): Promise<StoredKey>
  findKey(sha256: string): Promise<StoredKey | null>
  /** Everybody's, or one person's in the order they were made: at most 200, those that work and then the newest. */
  listKeys(username: string | null): Promise<StoredKey[]>
  revokeKey(id: string): Promise<StoredKey | null>
  /** Those of these keys that are revoked, expired or not there. */
  findOverKeys(ids: readonly string[]): Promise<string[]>
  /** Notes that a key was used now. */
  touchKey(id: string): Promise<void>
  /** A secret of the service by name, made from `make` on first use and kept. */
  ensureSecret(name: 'sealing_key', make: () => string): Promise<string>
  /** The address at which the service was last reached, or null when it never listened. */
  findServiceUrl(): Promise<string | null>
  /** Notes the address at which the service is reached from now on. */
  keepServiceUrl(url: string): Promise<void>
}

/** A user as they and administrators see them. */
export interface Person extends User {
  readonly role: Role
  readonly displayName: string | null
  readonly bio: string | null
  readonly website: string | null
  /** null: none was given, or there is no login. */
  readonly email: string | null
  readonly hasLogin: boolean
}

/** What people say of themselves; what is absent or undefined stays. */
interface ProfileChange {
  readonly displayName?: string | null | undefined
  readonly bio?: string | null | undefined
  readonly website?: string | null | undefined
  readonly defaultVisibility?: 'public' | 'private' | undefined
  /** In lower case. */
  readonly email?: string | null | undefined
}

/** A link that lets somebody make an account, without its secret. */
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

/** People who sign in, their profiles, invites, and what administrators decide. */
export interface PeopleStore {
  findPerson(userId: string): Promise<Person | null>
  findPersonByName(username: string): Promise<Person | null>
  /** Whose e-mail address this is, in lower case. */
  findPersonByEmail(email: string): Promise<Person | null>
  /** By name; `matching` is part of a name, in any case. */
  listPeople(page: { limit: number; offset: number; matching: string | null }): Promise<SearchResult<Person>>
  hasLogins(): Promise<boolean>
  /**
   * Makes a login, and its user where the name is free; the invite counts as used. All of it or nothing.
   * `decide` runs inside the transaction and gives the role, or throws.
   * @throws AppError `conflict` while what the name had is being removed
   */
  createLogin(login: NewLogin, decide: (state: SignUpState) => Role): Promise<Person>
  /** @throws AppError `conflict` when the e-mail address is another's */
  changeProfile(userId: string, change: ProfileChange): Promise<Person>
  /** @throws AppError `not_found`, `conflict` for the last administrator */
  setRole(username: string, role: Role): Promise<Person>
  /**
   * Removes a person with all they own, for good. One transaction ends all their rights and hides what is theirs; the rest goes in many, between
   * which others write, and a store that is opened takes up what was left. Slugs of what was public once, and the name it stood under, are not given again.
   * @throws AppError `not_found`, `conflict` for the last administrator while others can sign in
   */
  deletePerson(userId: string): Promise<void>
  createInvite(invite: { sha256: string; username: string | null; role: Role; expiresAt: string }): Promise<Invite>
  findInvite(sha256: string): Promise<Invite | null>
  /** Newest first. */
  listInvites(page: { limit: number; offset: number }): Promise<SearchResult<Invite>>
  revokeInvite(id: string): Promise<Invite | null>
  countLibrary(): Promise<LibraryCounts>
}

/** The tables better-auth keeps its rows in. */
export type LoginTable = 'login' | 'login_account' | 'login_session' | 'login_verification'
/** A row of one of them, by column. */
export type LoginRow = Readonly<Record<string, string | number | null>>
/** Narrows rows; conditions joined by OR are alternatives of each other. */
export interface LoginCondition {
  readonly field: string
  readonly operator: 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'not_in'
  readonly value: string | number | null | readonly (string | number)[]
  readonly connector: 'AND' | 'OR'
}

/** What happens to rows of logins, by its name in the audit log. */
export type LoginAction = Extract<
  AuditAction,
  'signed_in' | 'sessions_ended' | 'password_changed' | 'password_reset' | 'reset_link_created'
>
/** What a change of rows is recorded as, when there were any. */
interface LoginEvent {
  readonly action: LoginAction
  readonly userId: string
}

/** The rows behind sign-in. Names of tables and columns come from the program, never from a caller. */
export interface LoginRecords {
  insertLoginRow(table: LoginTable, row: LoginRow): Promise<LoginRow>
  findLoginRows(
    table: LoginTable,
    conditions: readonly LoginCondition[],
    page: { limit: number; offset: number; sortBy?: { field: string; direction: 'asc' | 'desc' } | undefined },
  ): Promise<LoginRow[]>
  countLoginRows(table: LoginTable, conditions: readonly LoginCondition[]): Promise<number>
  /** The rows as they are afterwards. */
  updateLoginRows(table: LoginTable, conditions: readonly LoginCondition[], values: LoginRow, event?: LoginEvent): Promise<LoginRow[]>
  /** The rows that went; at most `limit`, or all. */
  deleteLoginRows(table: LoginTable, conditions: readonly LoginCondition[], limit: number | null, event?: LoginEvent): Promise<LoginRow[]>
}

/** Where a request came from. */
export interface ClientOfRequest {
  /** Its network address; empty where there is no socket. */
  readonly address: string
  /** Whom its requests are counted for: the address, or the network of one where a machine has a whole network. */
  readonly caller: string
  readonly userAgent: string | null
  /** The Cookie header. */
  readonly cookies: string
}

/** Sends a mail of plain text. @throws AppError `upstream_failed` */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<void>

/** A browser that is signed in. */
export interface BrowserSession {
  readonly id: string
  readonly userAgent: string | null
  readonly address: string | null
  readonly createdAt: string
  /** Renewed once a day while it is used. */
  readonly updatedAt: string
  readonly expiresAt: string
}

/** Passwords and the sessions of browsers. `cookies` are Set-Cookie headers to send. */
export interface Logins {
  hashPassword(password: string): Promise<string>
  /** Counts somebody who makes an account. @throws AppError `rate_limited` */
  countSignUp(client: ClientOfRequest): Promise<void>
  /** Signs in who just made an account: failures of others at the same address do not matter. No cookies when it did not work. */
  signInNew(login: { name: string; password: string }, client: ClientOfRequest): Promise<{ cookies: string[] }>
  /** @throws AppError `unauthenticated` in the same words and time whatever is wrong, `rate_limited` after too many failures */
  signIn(login: { name: string; password: string; isRemembered: boolean }, client: ClientOfRequest): Promise<{ cookies: string[] }>
  signOut(client: ClientOfRequest): Promise<{ cookies: string[] }>
  /** @throws AppError `rate_limited` */
  isPasswordOf(userId: string, password: string): Promise<boolean>
  /** Sets a password, and ends all sessions but `keptSessionId`. */
  setPassword(userId: string, password: string, keptSessionId: string | null): Promise<void>
  /** What proves once, within an hour, that its holder may set a new password. `isAsked`: by anybody, so it is counted. @throws AppError `rate_limited` */
  createResetToken(userId: string, isAsked: boolean): Promise<string>
  /** Whose token this is; it stays good. */
  findResetToken(token: string): Promise<string | null>
  /** Sets a password by a token, which is used up, and ends all sessions. False when the token is not, or no longer, good. */
  resetPassword(token: string, password: string): Promise<boolean>
  listSessions(userId: string): Promise<BrowserSession[]>
  /** Ends one session of a user, or all but `keptSessionId`. Felt on the next request. */
  endSession(userId: string, sessionId: string): Promise<boolean>
  endSessions(userId: string, keptSessionId: string | null): Promise<void>
  /** Ends the links for a new password that are out. A new password does so by itself. */
  endResetLinks(userId: string): Promise<void>
  /** Must be told when what a session may do has changed by other ways; the other instances hear of it. */
  forgetSessions(): Promise<void>
}
