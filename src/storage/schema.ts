import type { Generated } from 'kysely'
import type { Role } from '../library/account.ts'
import type { AuditAction, Surface } from '../library/audit.ts'
import type { ItemKind } from '../library/items.ts'
import type { RevisionScope } from '../library/ports/store.ts'
import type { Visibility } from '../library/visibility.ts'

/** Row numbers (`seq`) are the store's own and never leave it; times are ISO 8601 text in UTC; booleans are 0 or 1; lists are JSON text. */
export interface Database {
  user: {
    seq: Generated<number>
    id: string
    username: string
    /** The username in lower case: names are unique without regard to case. */
    username_key: string
    /** For placeholders alone: the contributor's name in lower case, as the imported file wrote it. */
    contributor_key: string | null
    default_visibility: 'public' | 'private'
    created_at: string
    role: Generated<Role>
    display_name: string | null
    bio: string | null
    website: string | null
    /** While somebody is being removed: what becomes of the row at last. Nobody acts as, or owns anything new under, such a row. */
    removal: 'keep_name' | 'free_name' | null
  }
  /** Who can sign in, by the id of the user: one row each. The five tables of logins are kept as better-auth wants them, in snake_case. */
  login: {
    id: string
    name: string
    email: string
    email_verified: number
    image: string | null
    created_at: string
    updated_at: string
  }
  /** How somebody signs in: with `provider_id` "credential", by the hash of a password. */
  login_account: {
    id: string
    user_id: string
    provider_id: string
    account_id: string
    password: string | null
    access_token: string | null
    refresh_token: string | null
    id_token: string | null
    access_token_expires_at: string | null
    refresh_token_expires_at: string | null
    scope: string | null
    created_at: string
    updated_at: string
  }
  /** Browsers that are signed in; `token` is the hash of what the cookie holds. */
  login_session: {
    id: string
    user_id: string
    token: string
    expires_at: string
    ip_address: string | null
    user_agent: string | null
    created_at: string
    updated_at: string
  }
  /** What was sent out to be proved, such as password resets; `identifier` is a hash. */
  login_verification: { id: string; identifier: string; value: string; expires_at: string; created_at: string; updated_at: string }
  /** Links that let somebody make an account, once; `username` is the name it is for, when it is for one. */
  invite: {
    id: string
    sha256: string
    username: string | null
    role: Role
    created_at: string
    expires_at: string
    used_at: string | null
    used_by: string | null
    revoked_at: string | null
  }
  /**
   * Slugs of items that are gone for good and were public once: they are not given again either. A slug tells of a title, so all but the
   * oldest are kept as `#` and their SHA-256 in hex.
   */
  retired_slug: { slug: string }
  /**
   * What was deleted for good, by ids alone: an item (no versions, no key); with a key, a version or what a file held in versions, which a restored
   * backup must not bring back; without one, versions that are missing, for whatever reason.
   */
  purge: {
    seq: Generated<number>
    item_id: string
    first_version: number | null
    last_version: number | null
    /** A SHA-256 in hex, of what only who has the version or the file knows. */
    file_key: string | null
    made_at: string
  }
  api_key: {
    seq: Generated<number>
    id: string
    user_seq: number
    name: string
    sha256: string
    scopes: string
    created_at: string
    last_used_at: string | null
    expires_at: string | null
    revoked_at: string | null
  }
  category: { seq: Generated<number>; slug: string; name: string; parent_seq: number | null; position: number }
  item: {
    seq: Generated<number>
    id: string
    kind: ItemKind
    slug: string
    title: string
    description: string | null
    type: string | null
    content: string
    variables: string
    owner_seq: number
    author_seq: number
    contributors: string
    category_seq: number | null
    visibility: Visibility
    /** Whether it was ever public: until then its slug carries a random suffix. */
    was_public: number
    votes: Generated<number>
    version: number
    /** The version the last import wrote; null when saved here. */
    imported_version: number | null
    created_at: string
    updated_at: string
    deleted_at: string | null
    /** For skills: the name in the frontmatter of SKILL.md, when it is a proper one. Several skills of one owner may share it. */
    skill_name: string | null
    /** When an administrator put it on the first page; null when none did. */
    featured_at: string | null
    /** When an administrator took it out of the lists; until that is lifted its owner cannot make it public. */
    held_at: string | null
    /** What lifting that makes it again: null once its owner has chosen another visibility meanwhile. */
    held_from: 'public' | null
  }
  /** Every slug that leads or ever led to an item; never given again. */
  slug: { slug: string; item_seq: number }
  item_tag: { item_seq: number; slug: string; name: string; position: number }
  vote: { item_seq: number; user_seq: number; created_at: string }
  version: {
    seq: Generated<number>
    item_seq: number
    number: number
    title: string
    description: string | null
    type: string | null
    content: string
    category: string | null
    tags: string
    visibility: Visibility
    note: string | null
    author_seq: number
    created_at: string
  }
  /** File contents by digest: a version that changes one file of a skill stores one file. */
  blob: { sha256: string; bytes: Uint8Array }
  skill_file: { item_seq: number; filename: string; sha256: string; size: number }
  version_file: { version_seq: number; filename: string; sha256: string; size: number }
  /** What the service keeps for itself by name: secrets, and the address at which it was last reached. */
  secret: { name: string; value: string }
  session: {
    seq: Generated<number>
    sha256: string
    owner: string
    quota: string
    initialize: string
    holder: string | null
    seen_at: string
  }
  /** Every word that stands or stood in an item, and its stem. */
  word: { seq: Generated<number>; word: string; stem: string }
  /** A row for each time words were removed: whoever remembers numbers of words forgets them when there is a newer one. */
  word_removal: { seq: Generated<number> }
  /**
   * The words of each item, as `encodePostings` writes them, and its vector, under the version of the analysis that made them.
   * A row outlives its item; its revision grows with every change of the item or what it refers to, so that what changed is found by it.
   */
  item_words: {
    item_seq: number
    revision: number
    analysis: number
    title_length: number
    body_length: number
    words: Uint8Array
    vector: Uint8Array | null
  }
  /**
   * What a provider's model says items mean, of public ones alone: `code` has the signs of the vector as `toCode` makes them, `digest` is of the
   * text it was made of. A row is never changed: a newer one has a higher `seq`.
   */
  embedding: {
    seq: Generated<number>
    item_seq: number
    model: string
    digest: string
    dims: number
    code: Uint8Array
  }
  /** The vectors themselves: as many 32-bit floats (little-endian) as the embedding has dimensions, of unit length. */
  embedding_vector: { embedding_seq: number; vector: Uint8Array }
  /** What callers of improve_prompt spent on a day (`2026-01-31`, UTC). */
  improve_usage: { caller: string; day: string; requests: number; characters: number }
  /** Configurations of embeds that people keep, as JSON. */
  embed: { id: string; owner_seq: number; config: string; created_at: string }
  /** Forms that people are still writing, as JSON. */
  form_draft: { id: string; owner_seq: number; body: string; created_at: string }
  /**
   * What was done, by whom and from where: rows are added and, when they are old, removed, never changed. Ids alone, which may name what is gone; what
   * an action's target is stands in `AUDIT_ACTIONS`, `detail` is JSON as `auditDetail` has it, and `owner_id` is whom it concerns.
   */
  audit_event: {
    seq: Generated<number>
    at: string
    actor_id: string | null
    key_id: string | null
    surface: Surface
    action: AuditAction
    target_id: string | null
    owner_id: string | null
    detail: string
  }
  /** A number for each scope of answers, raised by triggers with every change that such an answer can show. */
  revision: { scope: RevisionScope; value: number }
  /** What one instance has to say to another, until that has read it. */
  instance_mail: { seq: Generated<number>; instance: string; body: string; created_at: string }
  /** What callers did in a stretch of time, over all instances. */
  counter: { name: string; ends_at: string; points: number }
  /** Items an instance is embedding at the moment; anybody's again after `until`. */
  embedding_claim: { item_seq: number; model: string; instance: string; until: string }
}
