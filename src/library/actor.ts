/** What a key may do beyond reading what is public. `read`: the owner's private items. */
export const SCOPES = ['read', 'write', 'improve'] as const
export type Scope = (typeof SCOPES)[number]

/** Who is calling. Every store read that can return private data takes one. */
export type Actor =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'user'
      readonly userId: string
      readonly username: string
      readonly scopes: ReadonlySet<Scope>
      /** The key that was presented; absent for the local operator, who acts as a user from the command line. */
      readonly keyId?: string
    }

export const ANONYMOUS: Actor = { kind: 'anonymous' }

/** The id of the user whose private items this actor may read, or null. */
export function privateReaderId(actor: Actor): string | null {
  return actor.kind === 'user' && actor.scopes.has('read') ? actor.userId : null
}
