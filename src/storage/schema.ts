import type { Generated } from 'kysely'
import type { Level, Severity } from '../domain/check/findings.ts'
import type { RunState } from '../domain/evals/evals.ts'
import type { Audience } from '../domain/items/changes.ts'
import type { ItemKind } from '../domain/items/items.ts'
import type { DefaultVisibility, Visibility } from '../domain/items/visibility.ts'
import type { Role } from '../domain/people/account.ts'
import type { DraftKind } from '../domain/people/people.ts'
import type { TeamRole } from '../domain/people/teams.ts'
import type { UseKind, UseSurface } from '../domain/people/usage.ts'
import type { AuditAction, Surface } from '../domain/service/audit.ts'

/** Tables of earlier schemas, which migrations that have landed write to. */
interface DroppedTables {
  revision: { scope: string; value: number }
  public_change: { revision: number; what: string; seq: number; effect: number }
  embedding: { seq: number }
  install_link: { seq: number }
}

/** All that a statement may name. */
export interface Database extends LibraryTables, DroppedTables {}

/** Row numbers (`seq`) are the store's own and never leave it; times are ISO 8601 text in UTC; booleans are 0 or 1; lists are JSON text. */
export interface LibraryTables {
  user: {
    seq: Generated<number>
    id: string
    username: string
    /** The username in lower case: names are unique without regard to case. */
    username_key: string
    /** For placeholders alone: the contributor's name in lower case, as the imported file wrote it. */
    contributor_key: string | null
    default_visibility: DefaultVisibility
    created_at: string
    role: Generated<Role>
    display_name: string | null
    bio: string | null
    website: string | null
    /** The language of the pages that the person chose, as a code (BCP 47); null: as the browser says. */
    language: string | null
    /**
     * Set while a person is being removed: what happens to the row at the end. Nobody can act as such a user, and nothing new can belong to
     * it.
     */
    removal: 'keep_name' | 'free_name' | null
    /** Whether the person put away the list of first steps. */
    hides_first_steps: Generated<number>
    /** When an administrator suspended the account: it cannot act until that is undone. For teams: when it was deleted. */
    suspended_at: string | null
    /** The day (`2026-01-31`, UTC) on which the account was last used, with a session or a key. */
    seen_on: string | null
    /** Whether it is a team: a user that nobody signs in as, with members. */
    is_team: Generated<number>
    /** The sign-in provider that gave the admin role because of a group; null: somebody here did. */
    role_given_by: string | null
    /** Of a team: whether groups of a sign-in provider fill it, or a map of them names it and nobody allowed it yet. */
    filled_by_groups: Generated<'bound' | 'asked' | null>
  }
  /** The members of teams. `given_by`: the sign-in provider that gave the membership because of a group; null: somebody here did. */
  team_member: { team_seq: number; user_seq: number; role: TeamRole; joined_at: string; given_by: string | null }
  /** Names, in lower case, that teams had before. They lead to the team and are never given to others. */
  former_name: { username_key: string; user_seq: number }
  /**
   * People who can sign in, by the id of the user. The login and oauth tables have the schema of better-auth, in snake_case: the types of
   * `LOGIN_TABLES` name only the columns that statements of the store use.
   */
  login: {
    id: string
    name: string
    email: string
    email_verified: number
    image: string | null
    created_at: string
    updated_at: string
  }
  /** How a person signs in; `provider_id` "credential" is a password hash. */
  login_account: {
    id: string
    user_id: string
    provider_id: string
    account_id: string
    password: string | null
    created_at: string
    updated_at: string
  }
  /** Signed-in browsers; `token` is the hash of the cookie. */
  login_session: { id: string; user_id: string }
  /** Codes of an app (TOTP): the secret is sealed, and no step up to `last_step` is taken again. */
  login_factor: { id: string; user_id: string; secret: string; last_step: number; created_at: string }
  login_recovery_code: { id: string; user_id: string; sha256: string }
  login_passkey: { id: string; user_id: string }
  /** Pending verifications, such as password resets; `identifier` is a hash. */
  login_verification: { value: string; expires_at: string }
  /** Programs that registered, or whose metadata document was read. */
  oauth_client: { client_id: string; created_at: string | null }
  /** The resources of tokens. */
  oauth_resource: { identifier: string }
  /** Not used: every client may ask for every resource. */
  oauth_client_resource: { client_id: string }
  /** Digests of refresh tokens; `reference_id` is the id of the key they belong to. */
  oauth_refresh_token: {
    token: string
    user_id: string
    reference_id: string | null
    expires_at: string
    revoked: string | null
    rotation_replay_expires_at: string | null
  }
  /** Digests of access tokens; `reference_id` is the id of the key they act for. */
  oauth_access_token: {
    token: string
    user_id: string | null
    reference_id: string | null
    resources: string | null
    expires_at: string
    revoked: string | null
    scopes: string
  }
  /** The consents of people, one for each time they were asked. */
  oauth_consent: { user_id: string | null; reference_id: string | null; created_at: string }
  /** Proofs of clients that were used, so that none is used twice. */
  oauth_client_assertion: { expires_at: string }
  /** Invites: links with which one account can be created. `username` is set when the invite is for that name. */
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
   * Slugs of purged items that were once public, which are never reused. A slug reveals a title, so all but the oldest rows hold `#` and
   * the SHA-256 in hex.
   */
  retired_slug: { slug: string }
  /**
   * Purges, by ids alone: an item (no versions, no key); with a key, a version or the content of a file, which a restored backup must not
   * bring back; without a key, versions that are missing for any reason.
   */
  purge: {
    seq: Generated<number>
    item_id: string
    first_version: number | null
    last_version: number | null
    /** SHA-256 in hex, of something only a holder of the version or file knows. */
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
    /** The restriction of the key, as JSON of `Within`; null for none. */
    within: Generated<string | null>
    /** The program that holds it by OAuth; null for a key that a person holds. */
    client_id: Generated<string | null>
    /** Id of the session that connected the program, or of the key or session that made the link: it ends when that is ended. */
    made_by: Generated<string | null>
    /** A link is taken in the path of its channel alone, a key never in a path. */
    kind: Generated<'key' | 'link'>
    /** Of a link: the path of the scope that it reads; empty for all that its maker sees. */
    path: Generated<string | null>
  }
  /** The last synced state of both sides, by folder and path. `item_id` is of an item that may be gone. */
  sync_state: {
    user_seq: number
    target: string
    path: string
    item_id: string
    digest: string
    library_digest: string
    version: number
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
    /** JSON of `Message`s; null for a text, whose content then shows them. */
    messages: string | null
    /** A JSON object; null without one. */
    config: string | null
    /** 1: written before backslashes and parts; 2: with them. */
    syntax: number
    variables: string
    /** The name that programs know it by, unique among live items of its owner; null: by its slug. */
    api_name: Generated<string | null>
    owner_seq: number
    author_seq: number
    contributors: string
    category_seq: number | null
    visibility: Visibility
    /** Whether it was ever public; until then its slug has a random suffix. */
    was_public: number
    votes: Generated<number>
    version: number
    /** The version the last import wrote; null when saved here. */
    imported_version: number | null
    created_at: string
    updated_at: string
    deleted_at: string | null
    /** For skills: the valid name in the frontmatter of SKILL.md. Several skills of one owner may share it. */
    skill_name: string | null
    /** For skills that were ever public: the name under which channels give it. Unique, and never changed. */
    channel_name: string | null
    /** When an administrator featured it on the home page; null when not featured. */
    featured_at: string | null
    /** When an administrator unlisted it; until that is lifted its owner cannot make it public. */
    held_at: string | null
    /** The visibility that lifting the hold restores; null once the owner chose another. */
    held_from: 'public' | null
    /** The newest version, where the check blocks it: it is above `version`, which everybody else sees. */
    blocked_version: Generated<number | null>
  }
  /**
   * The log of changes, in the order of commits. Each write has a row for each item that it changed, or one without an item. A row with a
   * `version` says what the item became for those who read the Git remote, and stays as long as the item; of others, an item has the last one.
   */
  change: {
    seq: Generated<number>
    /** null where no item changed. It may name an item that is gone. */
    item_seq: number | null
    /** `library` for any change that answers may show, `logins` where sessions ended or rights changed. */
    /** `logins` are entries of earlier versions. */
    kind: ItemKind | 'library' | 'logins'
    /** The audience of the item or the change; null: nobody. */
    audience_before: Audience | null
    audience_after: Audience | null
    at: string
    actor_id: string | null
    /** The same for rows of one write; it grows with each. */
    batch: number
    version: number | null
    path: string | null
    category: string | null
    /** Names, as JSON; null when they are not known. */
    tags: string | null
  }
  /** Every current and former slug of an item; never reused. */
  slug: { slug: string; item_seq: number }
  item_tag: { item_seq: number; slug: string; name: string; position: number }
  vote: { item_seq: number; user_seq: number; created_at: string }
  /** The id of the item that another was copied from, which may be gone. */
  item_source: { item_seq: number; source_id: string }
  /** The file or folder that an item was last imported from, as `placeName` writes it. */
  import_source: { item_seq: number; source: string }
  /** Named, ordered sets of items. */
  collection: {
    seq: Generated<number>
    id: string
    slug: string
    owner_seq: number
    title: string
    /** The title as searches compare it: NFKC, in lower case. */
    title_key: string
    description: string | null
    visibility: Visibility
    /** Whether it was ever public; until then its slug has a random suffix. */
    was_public: number
    /** Raised by every change of it and of what is in it. */
    version: number
    created_at: string
    updated_at: string
  }
  /** Every current and former slug of a collection. Of a deleted one that was public, as `retireSlug` makes them, with null. */
  collection_slug: { slug: string; collection_seq: number | null }
  /** The members of collections, in the order of `position`; between two there is room for others. */
  collection_item: { collection_seq: number; item_seq: number; position: number }
  /** Items that people marked for themselves alone. */
  favourite: { item_seq: number; user_seq: number; created_at: string }
  version: {
    seq: Generated<number>
    item_seq: number
    number: number
    title: string
    description: string | null
    type: string | null
    content: string
    /** JSON of `Message`s; null for a text, whose content then shows them. */
    messages: string | null
    /** A JSON object; null without one. */
    config: string | null
    /** 1: written before backslashes and parts; 2: with them. */
    syntax: number
    category: string | null
    tags: string
    visibility: Visibility
    note: string | null
    author_seq: number
    created_at: string
    /** How often it was filed otherwise since, each of which counts as a version of its owner. */
    filings: Generated<number>
    /** 1: the check blocked it, so that only its owner's people see it. */
    is_blocked: Generated<number>
  }
  /** The prompts that the newest text of a prompt takes in. */
  item_part: { item_seq: number; part_seq: number }
  /** The versions that labels of items point at, with their shares in percent. */
  label: { item_seq: number; name: string; version: number; weight: number }
  /** The moves of labels; `moved_from` and `moved_to` are JSON of `LabelTarget`s, null for no label. */
  label_move: {
    seq: Generated<number>
    item_seq: number
    name: string
    moved_from: string | null
    moved_to: string | null
    reason: string | null
    user_seq: number | null
    moved_at: string
    /** 1: somebody moved it although the gate refused. */
    is_override: Generated<number>
    /** 1: made before the item came to its owner. */
    is_former: Generated<number>
  }
  /** Verdicts of the check on the versions that are served; `rules` are the ids of what it found, `rules_before` those of an earlier rule set. */
  verdict: {
    item_seq: number
    version: number
    rule_set: number
    high: number
    medium: number
    low: number
    waived: number
    rules: string
    rules_before: string | null
    /** 1: what is served is to be blocked, and an administrator has not confirmed it. */
    is_due: number
  }
  /** Findings that somebody accepted; `evidence` is an HMAC of the evidence with its line. */
  waiver: {
    seq: Generated<number>
    item_seq: number
    rule: string
    file: string
    evidence: string
    /** Of the finding when it was accepted: a worse one is not. */
    severity: Severity
    reason: string
    user_seq: number | null
    until: string | null
    made_at: string
  }
  /** Runs of tests of versions, as runners report them; `text_digest` is of the text that ran. */
  eval_run: {
    seq: Generated<number>
    item_seq: number
    version: number
    text_digest: string
    format: string
    runner: string | null
    model: string | null
    is_partial: number
    passed: number
    failed: number
    started_at: string | null
    reported_at: string
    user_seq: number | null
    /** Of a run that is made here; null once it is complete, and for reported ones. */
    state: RunState | null
    /** The id of the key that reported it. */
    key_id: string | null
    /** SHA-256 of the cases that ran, where they are known here. */
    cases_digest: string | null
    /** When a run that is made here last got on. */
    progress_at: string | null
    /** Cases of a run that is made here. */
    total: number | null
  }
  /** Files with cases beside a version, as JSON; in force until a later version has its own. */
  case_set: { item_seq: number; version: number; files: string }
  /** Answers of models in tests of an item, by the SHA-256 of the request: the same request is asked once. */
  model_answer: {
    item_seq: number
    digest: string
    answer: string
    input_tokens: number
    output_tokens: number
    duration_ms: number
    answered_at: string
  }
  /** Tokens and money that the tests of an owner's items took on a day (`2026-01-31`, UTC); money in millionths of a US dollar. */
  test_usage: { owner_seq: number; day: string; tokens: number; micro_usd: number }
  /** Results of the cases of a run, in the order reported, as JSON of `CaseResult`. */
  eval_result: { run_seq: number; position: number; name: string; result: string }
  /** Levels of rules; of the service without an owner. */
  check_level: { seq: Generated<number>; owner_seq: number | null; rule: string; level: Level }
  /** Gates of labels: what owners ask of a version before a label moves to it. Shares in percent; null asks for none of it. */
  label_gate: {
    owner_seq: number
    name: string
    min_percent: number | null
    max_days: number | null
    max_drop: number | null
    needs_check: number
    /** Ids of the keys whose reports count, as JSON. */
    keys: Generated<string>
  }
  /** Rules of owners for labels of their items. */
  label_rule: { owner_seq: number; name: string; is_protected: number; is_automatic: number }
  /** File contents by digest: a version that changes one file of a skill stores one file. */
  blob: {
    sha256: string
    bytes: Uint8Array
    /** For whom it counts: the owner whose item brought it. */
    owner_seq: Generated<number | null>
  }
  skill_file: { item_seq: number; filename: string; sha256: string; size: number; mode: number | null }
  version_file: { version_seq: number; filename: string; sha256: string; size: number; mode: number | null }
  /** The service's own values: secrets, and its last known address. */
  secret: { name: string; value: string }
  /** Sessions of MCP clients that were ended before the end that their ids, which are sealed tokens, state. */
  ended_session: { id: string; ends_at: string }
  /** Every word of the items, with its stem, and the owner whose item brought it, for whom it counts. */
  word: { seq: Generated<number>; word: string; stem: string; owner_seq: Generated<number | null> }
  /** The usage of each owner; see `OwnerUsage`. */
  owner_usage: {
    owner_seq: number
    items: Generated<number>
    versions: Generated<number>
    bytes: Generated<number>
    words: Generated<number>
  }
  /** One row for each removal of words. Caches of word numbers are cleared when there is a newer row. */
  word_removal: { seq: Generated<number> }
  /**
   * The words of each item, as `encodePostings` writes them, and its vector, under the version of the analysis that made them.
   */
  item_words: {
    item_seq: number
    analysis: number
    title_length: number
    body_length: number
    words: Uint8Array
    vector: Uint8Array | null
    /** Words of the item that are not indexed, as its owner's quota was used up. */
    left_out: Generated<number>
  }
  /**
   * The encoder's vectors of items, a signed byte for each number, by its model; `digest` is of the text they were made of. Items in the trash
   * have none, and with `is_provided`, of a provider's model, only public ones have. A row is never changed: a newer one has a higher `seq`.
   */
  item_vector: {
    seq: Generated<number>
    item_seq: number
    model: string
    digest: string
    vector: Uint8Array
    is_provided: Generated<number>
  }
  /** Use of improve_prompt by caller and day (`2026-01-31`, UTC). */
  improve_usage: { caller: string; day: string; requests: number; characters: number }
  /**
   * Uses by day (`2026-01-31`, UTC). Totals have neither item nor key, an item's rows no key, and a key's no item; what is not there is
   * empty, or 0.
   */
  use_count: { day: string; kind: UseKind; surface: UseSurface; item_id: string; version: number; key_id: string; count: number }
  /** Saved embeds, as JSON. */
  embed: { id: string; owner_seq: number; config: string; created_at: string }
  /** Unfinished forms, as JSON. */
  form_draft: { id: string; owner_seq: number; kind: DraftKind; body: string; created_at: string }
  /**
   * The audit log. Rows are added and, when old, removed; never changed. Ids only, possibly of deleted things. `AUDIT_ACTIONS` says what
   * the target of an action is, `detail` is JSON of `auditDetail`, and `owner_id` is the person concerned.
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
  /** Points of callers in a time window, over all instances. */
  counter: { name: string; ends_at: string; points: number }
  /** Items that an instance is encoding; free again after `until`. */
  embedding_claim: { item_seq: number; model: string; instance: string; until: string }
}

/** Whether a file without logins may hold a column. */
type Mark = 'open' | 'secret'

/**
 * The marks of the columns of tables about people that a file without logins has; it has no other table about people. `secret` is what lets
 * somebody in, gives a right, or says how to reach or follow somebody. The compiler and a test demand a mark for a new column.
 */
export const MARKS = {
  user: {
    seq: 'open',
    id: 'open',
    username: 'open',
    username_key: 'open',
    contributor_key: 'open',
    default_visibility: 'open',
    created_at: 'open',
    role: 'secret',
    display_name: 'open',
    bio: 'open',
    website: 'open',
    language: 'open',
    removal: 'secret',
    hides_first_steps: 'open',
    suspended_at: 'open',
    seen_on: 'secret',
    is_team: 'open',
    role_given_by: 'secret',
    filled_by_groups: 'secret',
  },
  team_member: { team_seq: 'open', user_seq: 'open', role: 'open', joined_at: 'open', given_by: 'secret' },
} as const satisfies { readonly [T in keyof LibraryTables]?: Readonly<Record<keyof LibraryTables[T], Mark>> }
