import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { LEVELS } from '../../domain/check/findings.ts'
import { caseFiles, caseResult, RUN_FORMATS, RUN_STATES } from '../../domain/evals/evals.ts'
import { foldTitle } from '../../domain/items/collections.ts'
import {
  apiNameField,
  categoryNameField,
  checkedText,
  contentField,
  descriptionField,
  MAX_TAGS,
  noteField,
  promptTypeField,
  textField,
  titleField,
} from '../../domain/items/fields.ts'
import { LOCAL_KEY, labelName, MAX_GATE_KEYS, reasonField, targetsField } from '../../domain/items/labels.ts'
import { isSlug, MAX_SLUG } from '../../domain/items/slug.ts'
import { audienceOf, DEFAULT_VISIBILITIES, VISIBILITIES } from '../../domain/items/visibility.ts'
import { bioField, displayNameField, languageField, usernameFault, websiteField } from '../../domain/people/account.ts'
import { TEAM_ROLES } from '../../domain/people/teams.ts'
import { messagesField } from '../../domain/prompts/body.ts'
import { configField } from '../../domain/prompts/config.ts'
import { filenameFault, isGitName, normalizeFilename } from '../../domain/skills/filename.ts'
import { checkSkillFiles, MAX_FILE_BYTES } from '../../domain/skills/skill.ts'
import { isId } from '../../domain/text/addresses.ts'
import { tryJson } from '../../domain/text/json.ts'
import { AppError } from '../../errors.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { CHECKS } from '../doctor/checks.ts'
import { variablesJson } from '../items/item-rows.ts'
import type { Database } from '../schema.ts'
import { type Row, readPages, readTables, type TABLES } from './table-rows.ts'

/**
 * The rules for rows of a file without logins. A file may come from a stranger, and a database takes any text for a text; so each value has the
 * form that a save would have given it. References, and what must be unique, are up to the database.
 */

type ContentTable = { [Name in keyof typeof TABLES]: (typeof TABLES)[Name] extends 'content' ? Name : never }[keyof typeof TABLES]

const when = z.iso.datetime()
const ruleId = z.string().regex(/^[a-z-]{2,40}\/[a-z-]{2,60}$/)
const flag = z.literal([0, 1])
/** Far more than there are; engines hold no larger numbers in every column. */
const count = z.number().int().min(0).max(1_000_000_000)
const id = z.string().refine(isId, 'is not an id')
const slug = z.string().refine(isSlug, 'is not a slug')
const fingerprint = z.string().regex(/^#[0-9a-f]{64}$/)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex')
const visibility = z.enum(VISIBILITIES)
const audience = z.enum([...VISIBILITIES, 'deleted']).nullable()
const skillName = z.string().regex(/^[a-z0-9-]{1,64}$/, 'is not the name of a skill')
const categorySlug = z.string().max(MAX_SLUG).nullable()
const tagName = textField({ min: 1, max: 200 })
const username = checkedText(usernameFault)

/** A text of JSON. */
function json(shape: z.ZodType) {
  return z.string().refine((text) => shape.safeParse(tryJson(text)).success, 'is not the JSON it should be')
}

const tags = json(z.array(tagName).max(MAX_TAGS))
const hasGitName = (name: string) => name.split('/').some(isGitName)
/** Names that Git reads as its own are in versions of before; nothing shows them. */
const filename = checkedText((name) => {
  const parts = name.split('/').map((part) => (isGitName(part) ? 'git' : part))
  return filenameFault(parts.join('/')) ?? (normalizeFilename(name) === name ? null : 'is not in NFC')
})
const file = z.object({ filename, sha256, size: count.max(MAX_FILE_BYTES), mode: z.literal([0o644, 0o755]).nullable() })
const isPublished = (row: { was_public: 0 | 1; visibility: string }) => row.was_public === 1 || row.visibility !== 'public'
const body = { messages: json(messagesField).nullable(), config: json(configField).nullable(), syntax: z.literal([1, 2]) }
const state = { title: titleField, description: descriptionField.nullable(), type: promptTypeField.nullable() }

const ROWS: Readonly<Record<ContentTable, z.ZodType>> = {
  user: z
    .object({
      id,
      username,
      username_key: z.string(),
      contributor_key: textField({ min: 1, max: 10_000 }).nullable(),
      default_visibility: z.enum(DEFAULT_VISIBILITIES),
      created_at: when,
      display_name: displayNameField.nullable(),
      bio: bioField.nullable(),
      website: websiteField.nullable(),
      language: languageField.nullable(),
      hides_first_steps: flag,
      suspended_at: when.nullable(),
      is_team: flag,
    })
    .refine((row) => row.username_key === row.username.toLowerCase(), 'has the key of another username')
    .refine((row) => row.contributor_key === null || row.is_team === 0, 'is a team and stands for a contributor'),
  team_member: z.object({ role: z.enum(TEAM_ROLES), joined_at: when }),
  former_name: z.object({ username_key: username }),
  category: z.object({ slug, name: categoryNameField, position: count }),
  item: z
    .object({
      id,
      kind: z.enum(['prompt', 'skill']),
      slug: z.union([slug, id]),
      ...state,
      content: z.string(),
      ...body,
      api_name: apiNameField.nullable(),
      variables: json(variablesJson),
      contributors: json(z.array(z.string())),
      visibility,
      was_public: flag,
      votes: count,
      version: count.min(1),
      imported_version: count.nullable(),
      created_at: when,
      updated_at: when,
      deleted_at: when.nullable(),
      skill_name: skillName.nullable(),
      channel_name: skillName.nullable(),
      featured_at: when.nullable(),
      held_at: when.nullable(),
      held_from: z.literal('public').nullable(),
      blocked_version: count.min(2).nullable(),
    })
    .refine((row) => row.held_at === null || audienceOf(row.visibility) === 'owner', 'is held and readable by others at once')
    .refine((row) => row.held_at !== null || row.held_from === null, 'is not held, but would be published by lifting that')
    .refine((row) => isPublished(row) && (row.held_at === null || row.was_public === 1), 'is public and never was')
    .refine((row) => row.kind === 'prompt' || row.channel_name === null || row.was_public === 1, 'is installed and never was public')
    .refine((row) => row.kind === 'skill' || row.channel_name === null, 'is no skill and has a name to install it under')
    .refine(
      (row) => (row.kind === 'prompt' ? row.type !== null && contentField.safeParse(row.content).success : row.content === ''),
      'has not the content of its kind',
    ),
  change: z.object({
    kind: z.enum(['prompt', 'skill']),
    audience_before: audience,
    audience_after: audience,
    at: when,
    actor_id: textField({ max: 64 }).nullable(),
    batch: count,
    version: count.min(1),
    path: z
      .string()
      .regex(/^(?:plugins\/[a-z0-9-]{1,64}|prompts\/[a-z0-9-]{1,64}\/[a-z0-9-]{1,64}\.md)$/, 'is not a path of the Git remote')
      .nullable(),
    category: categorySlug,
    tags: tags.nullable(),
  }),
  slug: z.object({ slug }),
  retired_slug: z.object({ slug: z.union([slug, fingerprint]) }),
  purge: z.object({
    item_id: id,
    first_version: count.nullable(),
    last_version: count.nullable(),
    file_key: sha256.nullable(),
    made_at: when,
  }),
  item_tag: z.object({ slug: tagName, name: tagName, position: count }),
  vote: z.object({ created_at: when }),
  item_source: z.object({ source_id: id }),
  import_source: z.object({ source: textField({ max: 10_000 }) }),
  favourite: z.object({ created_at: when }),
  collection: z
    .object({
      id,
      slug: z.union([slug, id]),
      title: titleField,
      title_key: z.string(),
      description: descriptionField.nullable(),
      visibility,
      was_public: flag,
      version: count.min(1),
      created_at: when,
      updated_at: when,
    })
    .refine((row) => row.title_key === foldTitle(row.title), 'has the key of another title')
    .refine(isPublished, 'is public and never was'),
  collection_slug: z.object({ slug: z.union([slug, fingerprint]) }),
  collection_item: z.object({ position: count }),
  item_part: z.object({}),
  label: z.object({ name: labelName, version: count.min(1), weight: count.min(1).max(100) }),
  label_move: z.object({
    name: labelName,
    moved_from: json(targetsField).nullable(),
    moved_to: json(targetsField).nullable(),
    reason: reasonField.nullable(),
    moved_at: when,
    is_override: flag,
    is_former: flag,
  }),
  verdict: z.object({
    version: count.min(1),
    rule_set: count,
    high: count,
    medium: count,
    low: count,
    waived: count,
    rules: json(z.array(ruleId)),
    rules_before: json(z.array(ruleId)).nullable(),
    is_due: flag,
  }),
  eval_run: z.object({
    version: count.min(1),
    text_digest: sha256,
    format: z.enum(RUN_FORMATS),
    runner: z.string().nullable(),
    model: z.string().nullable(),
    is_partial: flag,
    passed: count,
    failed: count,
    started_at: z.string().nullable(),
    reported_at: when,
    state: z.enum(RUN_STATES).nullable(),
    key_id: z.union([id, z.literal(LOCAL_KEY)]).nullable(),
    cases_digest: sha256.nullable(),
    progress_at: when.nullable(),
    total: count.nullable(),
  }),
  case_set: z.object({ version: count.min(1), files: json(caseFiles) }),
  eval_result: z.object({ position: count, name: z.string(), result: json(caseResult) }),
  check_level: z.object({ rule: ruleId, level: z.enum(LEVELS) }),
  label_gate: z.object({
    name: labelName,
    min_percent: count.nullable(),
    max_days: count.nullable(),
    max_drop: count.nullable(),
    needs_check: flag,
    keys: json(z.array(z.union([id, z.literal(LOCAL_KEY)])).max(MAX_GATE_KEYS)),
  }),
  label_rule: z.object({ name: labelName, is_protected: flag, is_automatic: flag }),
  version: z.object({
    number: count.min(1),
    ...state,
    content: z.union([z.literal(''), contentField]),
    ...body,
    category: categorySlug,
    tags,
    visibility,
    note: noteField.nullable(),
    created_at: when,
    filings: count,
    is_blocked: flag,
  }),
  blob: z.object({ sha256, bytes: z.instanceof(Uint8Array).refine(({ length }) => length <= MAX_FILE_BYTES, 'is too long') }),
  skill_file: file,
  version_file: file,
}

const SHAPES: Readonly<Record<string, z.ZodType>> = ROWS
/** Checks of `doctor` that hold for every library that was not damaged. */
const SOUND: ReadonlySet<string> = new Set(['files', 'versions', 'newest versions', 'addresses', 'teams', 'votes'])

/** Faults that no library has, and that no reference or check of `doctor` finds. */
const wrongPlaces = sql<{ name: string }>`
  select 'item ' || item.id || ' is owned by a contributor' as name from item join "user" on "user".seq = item.owner_seq
  where "user".contributor_key is not null
  union all
  select 'collection ' || collection.id || ' is owned by a contributor' from collection join "user" on "user".seq = collection.owner_seq
  where "user".contributor_key is not null
  union all
  select 'category ' || category.slug || ' stands below one that is below another' from category
  join category as parent on parent.seq = category.parent_seq where parent.parent_seq is not null
  union all
  select item.id || ' is a prompt and has files' from item join skill_file on skill_file.item_seq = item.seq where item.kind = 'prompt'`

/** Checks rows of a table of a file without logins. @throws AppError `invalid_input` that names the first wrong value */
export function checkRows(table: string, rows: readonly Row[]): void {
  for (const row of rows) {
    const parsed = SHAPES[table]?.safeParse(row)
    if (parsed?.success !== false) continue
    const [issue] = parsed.error.issues
    const name = row['id'] ?? row['username'] ?? row['slug'] ?? row['item_id'] ?? row['filename'] ?? row['seq'] ?? ''
    const column = issue?.path.join('.') || 'it'
    refuse(`${table} ${shorten(String(name))}: ${column} ${issue?.message}`)
  }
}

/** Checks how the rows of a library that was just filled go together. @throws AppError `invalid_input` that names the first fault */
export async function checkWhole(db: Kysely<Database>, dialect: Dialect): Promise<void> {
  for (const { name, find } of CHECKS) {
    const [fault] = SOUND.has(name) ? ((await find(db, dialect)) ?? []) : []
    if (fault !== undefined) refuse(fault)
  }
  const [wrong] = (await wrongPlaces.execute(db)).rows
  if (wrong) refuse(wrong.name)
  for (const table of await readTables(db, dialect, ['skill_file', 'version_file'])) {
    let of: Row[string] | undefined
    let files: { filename: string; bytes: { length: number } }[] = []
    const check = () => {
      if (files.length > 0) checkSkillFiles(files)
    }
    for await (const page of readPages(db, table)) {
      for (const row of page) {
        const next = row['item_seq'] ?? row['version_seq']
        if (next !== of) {
          check()
          files = []
        }
        of = next
        const name = String(row['filename'])
        if (!hasGitName(name)) files.push({ filename: name, bytes: { length: Number(row['size']) } })
      }
    }
    check()
  }
}

function shorten(text: string): string {
  return text.slice(0, 80).toWellFormed()
}

/** @throws AppError `invalid_input` */
export function refuse(reason: string): never {
  throw new AppError('invalid_input', `The library cannot be imported: ${reason}.`)
}
