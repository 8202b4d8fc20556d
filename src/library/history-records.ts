import { z } from 'zod'
import { bioField, displayNameField, languageField, websiteField } from './account.ts'
import { categoryNameField } from './category-name.ts'
import { MAX_COLLECTION_ITEMS } from './collections.ts'
import { contentField, descriptionField, MAX_TAGS, noteField, promptTypeField, textField, titleField } from './fields.ts'
import { isId } from './identifier.ts'
import { isSlug, MAX_SLUG } from './slug.ts'
import { TEAM_ROLES } from './teams.ts'
import { usernameFault } from './username.ts'
import { DEFAULT_VISIBILITIES, VISIBILITIES } from './visibility.ts'

/**
 * The lines of a whole export: categories, users and teams, members of teams and former names, and retired slugs, then each item with its
 * slugs, versions, votes and favourites, then collections, then the log of visible changes. Users precede
 * references to them. Row numbers, ids of users and credentials are left out.
 */

const when = z.iso.datetime()
const slugField = z.string().refine(isSlug, 'is not a slug')
const idField = z.string().refine(isId, 'is not an id')
const usernameField = z.string().superRefine((name, issues) => {
  const fault = usernameFault(name)
  if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
})
/** Far more versions than anybody writes; engines hold no larger numbers in every column. */
const count = z.number().int().min(1).max(1_000_000_000)

const categoryRecord = z.strictObject({
  record: z.literal('category'),
  slug: slugField,
  name: categoryNameField,
  parent: slugField.nullable(),
  position: z.number().int().min(0).max(1_000_000_000),
})

const userRecord = z.strictObject({
  record: z.literal('user'),
  username: usernameField,
  /** For placeholders alone: the contributor's name as an import finds it again. */
  contributor: textField({ min: 1, max: 10_000 }).nullable(),
  displayName: displayNameField.nullable(),
  bio: bioField.nullable(),
  website: websiteField.nullable(),
  /** Of the pages, where the person chose one. */
  language: languageField.optional(),
  createdAt: when,
  /** For teams alone. `newItems`: the default visibility; `deletedAt`: its row stays, so that nobody else gets its names. */
  team: z.strictObject({ newItems: z.enum(DEFAULT_VISIBILITIES), deletedAt: when.nullable() }).optional(),
})

/** Somebody is in a team. */
const teamMemberRecord = z.strictObject({
  record: z.literal('teamMember'),
  team: z.string(),
  user: z.string(),
  teamRole: z.enum(TEAM_ROLES),
  joinedAt: when,
})

/** A name, in lower case, that a team had before. */
const formerNameRecord = z.strictObject({ record: z.literal('formerName'), name: usernameField, team: z.string() })

/** A slug that is not given again, or its fingerprint: `#` and its SHA-256 in hex. */
const retiredSlugRecord = z.strictObject({
  record: z.literal('retiredSlug'),
  slug: z.union([slugField, z.string().regex(/^#[0-9a-f]{64}$/)]),
})

const fileEntry = z.strictObject({
  filename: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex'),
  size: z.number().int().min(0),
  mode: z.literal([0o644, 0o755]).optional(),
})

const tagName = textField({ min: 1, max: 200 })

/** What an item and each of its versions hold. A prompt has `type` and `content`, a skill `files`. */
const stateFields = {
  title: titleField,
  description: descriptionField.nullable(),
  type: promptTypeField.optional(),
  content: contentField.optional(),
  files: z.array(fileEntry).optional(),
  category: z.string().max(MAX_SLUG).nullable(),
  tags: z.array(tagName).max(MAX_TAGS),
  visibility: z.enum(VISIBILITIES),
}

const itemRecord = z.strictObject({
  record: z.literal('item'),
  id: idField,
  kind: z.enum(['prompt', 'skill']),
  slug: z.union([slugField, idField]),
  ...stateFields,
  owner: z.string(),
  author: z.string(),
  contributors: z.array(z.string()),
  wasPublic: z.boolean(),
  /** Number of the newest version. */
  version: count,
  /** The version the last import wrote; null when it was saved by hand. */
  importedVersion: count.nullable(),
  createdAt: when,
  updatedAt: when,
  deletedAt: when.nullable(),
  featuredAt: when.nullable(),
  heldAt: when.nullable(),
  heldFrom: z.literal('public').nullable(),
  /** The id of the item that it was copied from, which may be gone. */
  source: idField.optional(),
  /** The name that a skill is installed under. */
  channelName: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'is not the name of a skill')
    .optional(),
})

/** A slug that leads to the item above: its own, or one of earlier. */
const slugRecord = z.strictObject({ record: z.literal('slug'), slug: slugField })

/** A version of the item above. The newest leaves out what is the same as in the item. */
const versionRecord = z.strictObject({
  record: z.literal('version'),
  number: count,
  ...z.object(stateFields).partial().shape,
  note: noteField.nullable(),
  author: z.string(),
  createdAt: when,
})

/** A vote on the item above. */
const voteRecord = z.strictObject({ record: z.literal('vote'), user: z.string(), createdAt: when })

/** Somebody has the item above among their favourites. */
const favouriteRecord = z.strictObject({ record: z.literal('favourite'), user: z.string(), createdAt: when })

/** A collection, after all items: its slugs of now and of earlier, and the ids of what is in it, in order. */
const collectionRecord = z.strictObject({
  record: z.literal('collection'),
  id: idField,
  slug: z.union([slugField, idField]),
  slugs: z.array(slugField),
  title: titleField,
  description: descriptionField.nullable(),
  visibility: z.enum(VISIBILITIES),
  owner: z.string(),
  wasPublic: z.boolean(),
  version: count,
  createdAt: when,
  updatedAt: when,
  items: z.array(idField).max(MAX_COLLECTION_ITEMS),
})

/** The fingerprint of a slug of a deleted collection, which is not given again. */
const retiredCollectionSlugRecord = z.strictObject({
  record: z.literal('retiredCollectionSlug'),
  slug: z.string().regex(/^#[0-9a-f]{64}$/),
})

/** An entry of the log that the Git remote's history is computed from, in order. They come last. */
const changeRecord = z.strictObject({
  record: z.literal('change'),
  item: idField,
  /** The same for entries that were written together. */
  revision: z.number().int().min(1),
  version: count,
  audience: z.enum([...VISIBILITIES, 'deleted']),
  path: z.string().regex(/^(?:plugins\/[a-z0-9-]{1,64}|prompts\/[a-z0-9-]{1,64}\/[a-z0-9-]{1,64}\.md)$/, 'is not a path of the Git remote'),
  category: z.string().max(MAX_SLUG).nullable(),
  at: when,
  tags: z.array(tagName).max(MAX_TAGS).optional(),
  /** Who made it, by username: null for an account that is gone, and absent where nobody is noted. */
  actor: z.string().max(64).nullable().optional(),
})

/** A line of a whole export, as JSON. */
export const historyRecord = z.discriminatedUnion('record', [
  categoryRecord,
  userRecord,
  teamMemberRecord,
  formerNameRecord,
  retiredSlugRecord,
  itemRecord,
  slugRecord,
  versionRecord,
  voteRecord,
  favouriteRecord,
  collectionRecord,
  retiredCollectionSlugRecord,
  changeRecord,
])

export type HistoryRecord = z.infer<typeof historyRecord>
/** One kind of line. */
export type RecordOf<Kind extends HistoryRecord['record']> = Extract<HistoryRecord, { record: Kind }>
export type FileEntry = z.infer<typeof fileEntry>

/** The fields of {@link stateFields}: of an item, and of each version. */
export const STATE_FIELDS = ['title', 'description', 'type', 'content', 'files', 'category', 'tags', 'visibility'] as const
export type ItemState = Pick<RecordOf<'item'>, (typeof STATE_FIELDS)[number]>

/** A record as its line, with the line's end. The digest of a library is the SHA-256 of all its lines in order. */
export function toHistoryLine(record: HistoryRecord): string {
  return `${JSON.stringify(record)}\n`
}

/** How many of each a whole export has. */
export interface HistoryCounts {
  readonly categories: number
  readonly users: number
  readonly items: number
  /** Of the items, those in the trash. */
  readonly inTrash: number
  readonly versions: number
  readonly votes: number
}

/** Counts records as they go by. */
export function createHistoryCounter(): { add(record: HistoryRecord): void; read(): HistoryCounts } {
  const counts = {
    category: 0,
    user: 0,
    teamMember: 0,
    formerName: 0,
    retiredSlug: 0,
    item: 0,
    slug: 0,
    version: 0,
    vote: 0,
    favourite: 0,
    collection: 0,
    retiredCollectionSlug: 0,
    change: 0,
  }
  let inTrash = 0
  return {
    add(record) {
      counts[record.record]++
      if (record.record === 'item' && record.deletedAt !== null) inTrash++
    },
    read: () => ({
      categories: counts.category,
      users: counts.user,
      items: counts.item,
      inTrash,
      versions: counts.version,
      votes: counts.vote,
    }),
  }
}
