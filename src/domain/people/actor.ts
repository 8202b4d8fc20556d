import { z } from 'zod'

/** Scopes that a key gets by default, and all that a program can ask for. `read`: the owner's private items. */
export const DEFAULT_SCOPES = ['read', 'write', 'improve'] as const
/** Scopes of a key, beyond public reads. `results`: report test results; a key that has it alone can do nothing else. */
export const SCOPES = [...DEFAULT_SCOPES, 'results'] as const
export type Scope = (typeof SCOPES)[number]

/** Rights of a person signed in on the pages: those of a key, and those no key has. `account`: their own settings, keys and sessions. */
export const PERSON_RIGHTS = [...SCOPES, 'account'] as const
/** The rights of an administrator who is signed in. */
export const ADMIN_RIGHTS = [...PERSON_RIGHTS, 'admin'] as const
export type Right = (typeof ADMIN_RIGHTS)[number]

/** The restriction of a key: the items of a team, or those in collections. By id. */
export const withinSchema = z.union([z.strictObject({ team: z.string() }), z.strictObject({ collections: z.array(z.string()) })])
export type Within = Readonly<z.infer<typeof withinSchema>>

/** The caller. Every read of private data takes one. */
export type Actor =
  | {
      readonly kind: 'anonymous'
      /** Of a library that is for its members alone. */
      readonly isOutside?: true
    }
  | {
      readonly kind: 'user'
      readonly userId: string
      readonly username: string
      readonly scopes: ReadonlySet<Right>
      /** The key that was presented; absent for the local operator, who acts as a user from the command line. */
      readonly keyId?: string
      /** The program that holds the key by OAuth. */
      readonly clientId?: string
      /** The session of the browser that is signed in, where one is. */
      readonly sessionId?: string
      /** The language they chose for the pages, as a code (BCP 47); null: as the browser says. */
      readonly language?: string | null
      /** Of a narrowed key. */
      readonly within?: Within | undefined
    }

export const ANONYMOUS: Actor = { kind: 'anonymous' }
const OUTSIDER: Actor = { kind: 'anonymous', isOutside: true }

/** Whoever presents neither a key nor a session, by whether the library is for its members alone. */
export function strangerTo({ isForMembers }: { readonly isForMembers: boolean }): Actor {
  return isForMembers ? OUTSIDER : ANONYMOUS
}

/** A user without a key or a session, for whom the service or its operator acts. */
export function actorOf({ id, username }: { readonly id: string; readonly username: string }, rights: Iterable<Right>) {
  return { kind: 'user', userId: id, username, scopes: new Set(rights) } as const satisfies Actor
}

/** The restriction of the key; null for everybody else. */
export function withinOf(actor: Actor): Within | null {
  return actor.kind === 'user' ? (actor.within ?? null) : null
}

/** Keys the cached answers of those who see the same. */
export function readerKey(actor: Actor): string {
  return JSON.stringify([privateReaderId(actor), withinOf(actor)])
}

/** The id of the user whose private items this actor may read, or null. */
export function privateReaderId(actor: Actor): string | null {
  return actor.kind === 'user' && actor.scopes.has('read') ? actor.userId : null
}
