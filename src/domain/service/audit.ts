import { z } from 'zod'
import type { ItemKind } from '../items/items.ts'
import { VISIBILITIES } from '../items/visibility.ts'
import { ROLES } from '../people/account.ts'
import { type Actor, SCOPES } from '../people/actor.ts'
import { TEAM_ROLES } from '../people/teams.ts'
import { isId } from '../text/addresses.ts'

/** Where a change came from; `service`: the process by itself. */
const SURFACES = ['web', 'rest', 'mcp', 'cli', 'service'] as const
export type Surface = (typeof SURFACES)[number]

type TargetKind = 'item' | 'user' | 'team' | 'key' | 'install_link' | 'invite' | 'category' | 'collection' | 'embed' | 'library'

/** Every action that is recorded, and what its target is. */
export const AUDIT_ACTIONS = {
  item_created: 'item',
  item_changed: 'item',
  item_visibility_changed: 'item',
  item_version_restored: 'item',
  item_deleted: 'item',
  item_restored: 'item',
  item_purged: 'item',
  versions_purged: 'item',
  file_purged: 'item',
  item_blocked: 'item',
  finding_waived: 'item',
  waiver_ended: 'item',
  check_level_changed: 'library',
  results_reported: 'item',
  cases_changed: 'item',
  results_removed: 'item',
  label_moved: 'item',
  label_removed: 'item',
  label_rule_changed: 'user',
  label_gate_changed: 'user',
  item_featured: 'item',
  item_unfeatured: 'item',
  item_held: 'item',
  item_released: 'item',
  item_offered: 'item',
  item_offer_declined: 'item',
  item_offer_withdrawn: 'item',
  item_given: 'item',
  item_received: 'item',
  items_handed_over: 'user',
  items_imported: 'user',
  /** Many items at once: one event for each owner. */
  items_changed: 'user',
  items_deleted: 'user',
  items_restored: 'user',
  key_created: 'key',
  key_revoked: 'key',
  /** A program signed in by OAuth: what it holds is a key of the person. */
  program_connected: 'key',
  program_disconnected: 'key',
  install_link_created: 'install_link',
  install_link_revoked: 'install_link',
  user_created: 'user',
  account_created: 'user',
  account_deleted: 'user',
  account_suspended: 'user',
  account_unsuspended: 'user',
  signed_in: 'user',
  sign_in_failed: 'user',
  /** The password was right, and what is asked beside it was not. */
  second_step_failed: 'user',
  factor_added: 'user',
  factor_removed: 'user',
  factors_reset: 'user',
  recovery_code_used: 'user',
  recovery_codes_renewed: 'user',
  passkey_added: 'user',
  passkey_removed: 'user',
  sessions_ended: 'user',
  identity_connected: 'user',
  identity_disconnected: 'user',
  password_changed: 'user',
  password_reset: 'user',
  reset_link_created: 'user',
  sign_in_link_created: 'user',
  profile_changed: 'user',
  role_changed: 'user',
  team_created: 'team',
  team_changed: 'team',
  team_renamed: 'team',
  team_deleted: 'team',
  team_member_added: 'user',
  team_member_role_changed: 'user',
  team_member_removed: 'user',
  invite_created: 'invite',
  invite_used: 'invite',
  invite_revoked: 'invite',
  category_created: 'category',
  category_renamed: 'category',
  category_deleted: 'category',
  category_moved: 'category',
  category_merged: 'category',
  collection_created: 'collection',
  collection_changed: 'collection',
  collection_visibility_changed: 'collection',
  collection_deleted: 'collection',
  collection_items_changed: 'collection',
  embed_saved: 'embed',
  embed_deleted: 'embed',
  setting_changed: 'library',
  backup_restored: 'library',
  library_copied: 'library',
} as const satisfies Readonly<Record<string, TargetKind>>
export type AuditAction = keyof typeof AUDIT_ACTIONS

export function isAuditAction(name: unknown): name is AuditAction {
  return typeof name === 'string' && Object.hasOwn(AUDIT_ACTIONS, name)
}

/** Fields of items and profiles, by name alone. */
const FIELDS = [
  'title',
  'description',
  'category',
  'tags',
  'type',
  'content',
  'config',
  'files',
  'slug',
  'visibility',
  'displayName',
  'bio',
  'language',
  'website',
  'email',
  'defaultVisibility',
] as const
export type AuditField = (typeof FIELDS)[number]

/** Settings that are kept in the library. */
const KEPT_SETTINGS = ['sealing_key', 'service_url'] as const

/** Most items that an event of many items names. */
const MAX_NAMED_ITEMS = 20

const count = z.number().int().min(0)
/**
 * The details of an event: only numbers and values of closed lists, so that no text gets into the log. `version` was written, `restored` is
 * its source; `first` to `last` were purged; `into` is the id of the category that has everything since a merge; of `count` items, `items`
 * has the ids of the first ones.
 */
export const auditDetail = z
  .strictObject({
    kind: z.enum(['prompt', 'skill'] satisfies ItemKind[]),
    version: count,
    restored: count,
    first: count,
    last: count,
    fields: z.array(z.enum(FIELDS)),
    from: z.enum(VISIBILITIES),
    to: z.enum(VISIBILITIES),
    role: z.enum(ROLES),
    teamRole: z.enum(TEAM_ROLES),
    scopes: z.array(z.enum(SCOPES)),
    /** Of rights: whether a group at a sign-in provider or a proxy gave or took them. */
    byGroup: z.boolean(),
    /** Of a key: whether it is narrowed. */
    narrowed: z.boolean(),
    setting: z.enum(KEPT_SETTINGS),
    created: count,
    updated: count,
    added: count,
    removed: count,
    moved: count,
    into: z.string().regex(/^\d{1,19}$/),
    count,
    /** The name of a label, of the characters that one has. */
    label: z.string().regex(/^[a-z0-9_.-]{1,36}$/),
    items: z.array(z.string().refine(isId)).max(MAX_NAMED_ITEMS),
  })
  .partial()
export type AuditDetail = Readonly<z.infer<typeof auditDetail>>

/** The actor of changes, and their surface. */
export interface AuditOrigin {
  readonly actorId: string | null
  /** The API key that was presented. */
  readonly keyId: string | null
  readonly surface: Surface
}

/** The operator who runs a command, who is no user of the library. */
export const OPERATOR_ORIGIN: AuditOrigin = { actorId: null, keyId: null, surface: 'cli' }

/** An event to record. */
export interface AuditEntry {
  readonly action: AuditAction
  readonly targetId: string | null
  /** The person concerned besides the actor: the owner of the item or key, or the person themselves. */
  readonly ownerId: string | null
  readonly detail?: AuditDetail
  /** For people who become the actor with this event, such as by signing in. Default: the current actor */
  readonly actorId?: string
}

const OF_MANY: { readonly [Action in AuditAction]?: AuditAction } = {
  item_changed: 'items_changed',
  item_visibility_changed: 'items_changed',
  item_deleted: 'items_deleted',
  item_restored: 'items_restored',
}

/** Events of an action on many items as one for each owner; what was done to one item alone stays as it is. */
export function groupEntries(entries: readonly AuditEntry[]): AuditEntry[] {
  const groups = Map.groupBy(entries, ({ action, ownerId }) => `${OF_MANY[action] ?? ''} ${ownerId}`)
  return [...groups.values()].flatMap((group) => {
    const action = group[0] && OF_MANY[group[0].action]
    const ids = [...new Set(group.flatMap(({ targetId }) => targetId ?? []))]
    if (!action || ids.length < 2) return group
    const { ownerId = null, detail: { kind } = {} } = group[0] ?? {}
    const isOfVisibility = (entry: AuditEntry) => entry.action === 'item_visibility_changed'
    const fields = new Set(group.flatMap((entry) => (isOfVisibility(entry) ? ['visibility' as const] : (entry.detail?.fields ?? []))))
    const to = new Set(group.filter(isOfVisibility).flatMap(({ detail }) => detail?.to ?? []))
    const [only] = to
    const detail = {
      ...(kind === undefined ? {} : { kind }),
      count: ids.length,
      items: ids.slice(0, MAX_NAMED_ITEMS),
      ...(fields.size === 0 ? {} : { fields: [...fields] }),
      ...(to.size === 1 && only !== undefined ? { to: only } : {}),
    }
    return [{ action, targetId: ownerId, ownerId, detail }]
  })
}

/** The user behind an {@link Actor}: null for an operator on the command line, who is not a user. */
export function toOrigin(actor: Actor, surface: Surface): AuditOrigin {
  if (actor.kind === 'anonymous') return { actorId: null, keyId: null, surface }
  return { actorId: isId(actor.userId) ? actor.userId : null, keyId: actor.keyId ?? null, surface }
}

/** An event as it is read. Names and titles are those of now; null where there is none, or the reader may not see it. */
export interface AuditEvent {
  /** Where it stands among all events. */
  readonly order: number
  readonly at: string
  readonly action: AuditAction
  readonly surface: Surface
  readonly actorId: string | null
  readonly actorName: string | null
  readonly keyId: string | null
  /** Told to the owner of the key alone. */
  readonly keyName: string | null
  readonly targetId: string | null
  /** The title of an item or a collection, the name of a user or a category, the name of the reader's own key. */
  readonly targetName: string | null
  readonly ownerId: string | null
  readonly ownerName: string | null
  readonly detail: AuditDetail
  /** The name of the category that `detail.into` names. */
  readonly intoName: string | null
  /** The items that `detail.items` names, with the titles that the reader may see. */
  readonly items: readonly { readonly id: string; readonly name: string | null }[]
}

/** Which events, the newest first. */
export interface AuditQuery {
  /** Those a person caused, and those that concern them. */
  readonly aboutId?: string | undefined
  /** Those that concern a person or a team. */
  readonly ownerId?: string | undefined
  readonly action?: AuditAction | undefined
  /** The beginning of an id. */
  readonly target?: string | undefined
  /** ISO 8601. */
  readonly since?: string | undefined
  /** Only those before this place. */
  readonly before?: number | undefined
  readonly limit: number
}
