import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { LibraryChange, SharedState } from '../../domain/items/changes.ts'
import type { PromptType } from '../../domain/items/fields.ts'
import type { ItemFields, Tag } from '../../domain/items/items.ts'
import { audienceOf, isNarrower, othersMaySee, type Visibility } from '../../domain/items/visibility.ts'
import type { OwnerQuota } from '../../domain/people/usage.ts'
import type { PromptBody } from '../../domain/prompts/body.ts'
import type { AuditEntry } from '../../domain/service/audit.ts'
import { readNamedFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodeText, listSkillFiles, SKILL_MD, type SkillFile } from '../../domain/skills/skill.ts'
import type { SearchableText } from '../../search/analysis/indexed-text.ts'
import { batches, firstOf, isOneOf, prepareInsert, prepareListQuery, prepareQuery, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { noteWork } from '../work-meter.ts'
import { labelNewVersion } from './item-labels.ts'
import { namesOfTags, readTags } from './item-rows.ts'
import { addUsage, takeRoom } from './owner-usage.ts'

/** Indexed text of a skill's files, in UTF-16 units, SKILL.md first. Indexing a megabyte takes a tenth of a second. */
const MAX_INDEXED_LENGTH = 1024 * 1024

/** Files written by one statement, which a server takes whole. */
const FILES_A_STATEMENT = 50
/** Files that are stored in about a millisecond. */
const FILES_A_POINT = 5

/** The effects of a write at the end of its transaction. */
export interface WriteNotes {
  /**
   * The text of an item for the index; null when only its state or references changed. `isNew` for an item of this transaction. Words that no
   * item had before count for `ownerSeq`, without it for nobody. `state` is what the item is now, where that is known without reading it.
   */
  index(
    seq: number,
    text: SearchableText | null,
    about?: { readonly isNew?: boolean; readonly ownerSeq?: number; readonly state?: SharedState | null },
  ): void
  /** Something that is no item, and that these see, changed. */
  shown(audience: Visibility): void
  /** A change to announce. */
  changed(change: LibraryChange): void
  /** An entry for the audit log. Call it last, so that refused writes leave no entry. */
  audit(entry: AuditEntry): void
}

/** The new state of an item. */
export type NextState = ItemFields &
  (({ kind: 'prompt'; type: PromptType; apiName: string | null } & PromptBody) | { kind: 'skill'; files: readonly SkillFile[] | null })

/** The columns of an item or version that hold what it says. */
export function toBodyColumns(next: NextState) {
  if (next.kind === 'skill') return { content: '', messages: null, config: null, syntax: 2 }
  const { content, messages, config, syntax } = next
  return { content, messages: messages && JSON.stringify(messages), config: config && JSON.stringify(config), syntax }
}

const insertVersion = prepareInsert('version')

/** The slugs of an item's tags in their order, with `name N` for the spelling of the Nth from 0. */
const insertTags = prepareListQuery<never, string>((_, slugs) => {
  const rows = slugs.map((slug, position) => sql`(${slot('seq')}, ${slug}, ${slot(`name ${position}`)}, ${sql.lit(position)})`)
  return sql<never>`insert into item_tag (item_seq, slug, name, position) values ${sql.join(rows)}`
})
const removeTags = prepareQuery((db) => db.deleteFrom('item_tag').where('item_seq', '=', sql<number>`${slot('seq')}`))

/**
 * The first use of each tag by an owner, or where everybody of a standing finds it. Uses are looked at in their order until one fits: there may
 * be as many as items.
 */
const prepareFirstUses = (standing: 'member' | 'stranger') =>
  prepareListQuery<Tag, string>((_, slugs) => {
    const seen = sql`(
      select item.seq from item where item.seq = item_tag.item_seq and (item.owner_seq = ${slot('ownerSeq')}
      or (${isOneOf('item.visibility', othersMaySee(standing, 'list'))} and item.deleted_at is null)))`
    // Nested, because SQLite orders and limits no part of a compound.
    const uses = slugs.map(
      (slug) => sql`select * from (
        select slug, name from item_tag where slug = ${slug} and ${seen} is not null order by item_seq limit 1) as first_use`,
    )
    return sql<Tag>`${sql.join(uses, sql` union all `)}`
  })
const firstUses = { member: prepareFirstUses('member'), stranger: prepareFirstUses('stranger') }

/**
 * Tags in the spelling first used, by the writer's own items or by items that every reader of this one finds: a spelling reveals that there
 * is an item with it. `spelled` were before.
 */
export async function spellTags(
  db: Kysely<Database>,
  tags: readonly Tag[],
  ownerSeq: number,
  visibility: Visibility,
  spelled: readonly Tag[] = [],
): Promise<Tag[]> {
  const names = new Set(spelled.map(({ name }) => name))
  const asked = tags.filter(({ name }) => !names.has(name)).map(({ slug }) => slug)
  if (asked.length === 0) return [...tags]
  const uses = await firstUses[audienceOf(visibility) === 'members' ? 'member' : 'stranger'](db, asked, { ownerSeq })
  const nameOf = new Map(uses.map(({ slug, name }) => [slug, name]))
  return tags.map((tag) => (names.has(tag.name) ? tag : { slug: tag.slug, name: nameOf.get(tag.slug) ?? tag.name }))
}

/** The spellings of tags, as {@link insertTags} takes them. */
function spellingsOf(tags: readonly Tag[]): Record<string, string> {
  return Object.fromEntries(tags.map(({ name }, position) => [`name ${position}`, name]))
}

/** Digests of contents; they are asked for twice in a write. */
const digests = new WeakMap<Uint8Array, string>()
function digestOf(bytes: Uint8Array): string {
  const digest = digests.get(bytes) ?? createHash('sha256').update(bytes).digest('hex')
  digests.set(bytes, digest)
  return digest
}

/**
 * Takes room for a new version of an item: for its texts, and for contents of files that the library has not yet.
 * @throws AppError `too_large` where its owner has none left
 */
export async function takeVersionRoom(
  db: Kysely<Database>,
  item: { readonly ownerSeq: number; readonly isNew: boolean; readonly note: string | null },
  next: NextState,
  tags: readonly Tag[],
  quota: OwnerQuota,
): Promise<void> {
  const { content, messages, config } = toBodyColumns(next)
  const texts = [next.title, next.description ?? '', content, messages ?? '', config ?? '', item.note ?? '', namesOfTags(tags)]
  const contents = new Map((next.kind === 'skill' ? (next.files ?? []) : []).map(({ bytes }) => [digestOf(bytes), bytes.length]))
  for (const part of batches([...contents.keys()])) {
    const known = await db.selectFrom('blob').select('sha256').where('sha256', 'in', part).execute()
    for (const { sha256 } of known) contents.delete(sha256)
  }
  const bytes = [...texts.map((text) => Buffer.byteLength(text)), ...contents.values()].reduce((sum, size) => sum + size, 0)
  await takeRoom(db, item.ownerSeq, { items: item.isNew ? 1 : 0, versions: 1, bytes }, quota)
}

/** Stores contents that the library has not yet, for an owner. @returns what the files of an item are */
async function storeFiles(
  db: Kysely<Database>,
  files: readonly SkillFile[],
  item: { readonly seq: number; readonly ownerSeq: number },
): Promise<Omit<Database['skill_file'], 'item_seq'>[]> {
  const before = await db.selectFrom('skill_file').select(['filename', 'mode']).where('item_seq', '=', item.seq).execute()
  const modes = new Map(before.map(({ filename, mode }) => [filename, mode]))
  const contents = new Map(files.map(({ bytes }) => [digestOf(bytes), bytes]))
  for (const part of batches([...contents], FILES_A_STATEMENT)) {
    await db
      .insertInto('blob')
      .values(part.map(([sha256, bytes]) => ({ sha256, bytes, owner_seq: item.ownerSeq })))
      .onConflict((c) => c.column('sha256').doNothing())
      .execute()
  }
  return files.map(({ filename, bytes, mode }) => ({
    filename,
    sha256: digestOf(bytes),
    size: bytes.length,
    mode: mode ?? modes.get(filename) ?? null,
  }))
}

/** Writes the tags of an item. @param isNew whether it has none yet */
export async function writeTags(db: Kysely<Database>, seq: number, tags: readonly Tag[], isNew: boolean): Promise<void> {
  const slugs = tags.map(({ slug }) => slug)
  await together([
    ...(isNew ? [] : [removeTags(db, { seq })]),
    ...(slugs.length === 0 ? [] : [insertTags(db, slugs, { seq, ...spellingsOf(tags) })]),
  ])
}

/**
 * Makes the newest version of an item say where the item is filed and who sees it, which is no version of its own. A version that more
 * people saw stays as they saw it. Each time counts as a version for the owner, because the log keeps it: commits that were cloned stay.
 * @param quota null where none applies, and nothing is counted
 * @throws AppError `too_large` where the owner has no room
 */
export async function fileNewestVersion(
  db: Kysely<Database>,
  item: { readonly seq: number; readonly version: number; readonly ownerSeq: number },
  { visibility, category, tags }: { readonly visibility: Visibility; readonly category: string | null; readonly tags: readonly Tag[] },
  quota: OwnerQuota | null,
): Promise<void> {
  const names = namesOfTags(tags)
  const [before] = await filedVersion(db, { seq: item.seq, version: item.version })
  if (!before) return
  const isKept = isNarrower(visibility, before.visibility)
  const bytes = isKept ? 0 : Buffer.byteLength(names) - Buffer.byteLength(before.tags)
  if (quota) await takeRoom(db, item.ownerSeq, { versions: 1, bytes }, quota)
  else if (bytes !== 0) await addUsage(db, item.ownerSeq, { bytes })
  await db
    .updateTable('version')
    .set({ ...(isKept ? {} : { visibility, category, tags: names }), filings: before.filings + (quota ? 1 : 0) })
    .where('seq', '=', before.seq)
    .execute()
}

const filedVersion = prepareQuery((db) =>
  db
    .selectFrom('version')
    .select(['seq', 'visibility', 'tags', 'filings'])
    .where('item_seq', '=', sql<number>`${slot('seq')}`)
    .where('number', '=', sql<number>`${slot('version')}`),
)

/** Writes files and a new version of an item. `files` null keeps its files. A version that is blocked leaves those that are served. */
export async function writeParts(
  db: Kysely<Database>,
  item: { seq: number; ownerSeq: number; version: number; editorSeq: number; note: string | null; at: string },
  next: NextState,
  tags: readonly Tag[],
  isBlocked = false,
): Promise<void> {
  const { seq } = item
  noteWork(1)
  if (!isBlocked) await labelNewVersion(db, item)
  const versionSeq = await insertVersion(db, {
    item_seq: seq,
    number: item.version,
    title: next.title,
    description: next.description,
    type: next.kind === 'prompt' ? next.type : null,
    ...toBodyColumns(next),
    category: next.category,
    tags: namesOfTags(tags),
    visibility: isBlocked ? 'private' : next.visibility,
    note: item.note,
    author_seq: item.editorSeq,
    created_at: item.at,
    is_blocked: isBlocked ? 1 : 0,
  })
  if (next.kind === 'prompt') return
  const kept = db.selectFrom('skill_file').select(['filename', 'sha256', 'size', 'mode']).where('item_seq', '=', seq)
  const stored = next.files ? await storeFiles(db, next.files, item) : await kept.execute()
  const isServed = next.files !== null && !isBlocked
  if (next.files && isServed) {
    await db.deleteFrom('skill_file').where('item_seq', '=', seq).execute()
    const skillMd = next.files.find((file) => file.filename === SKILL_MD)
    const skillName = readNamedFrontmatter((skillMd && decodeText(skillMd.bytes)) ?? '')?.name ?? null
    await db.updateTable('item').set({ skill_name: skillName }).where('seq', '=', seq).execute()
  }
  for (const part of batches(stored, FILES_A_STATEMENT)) {
    const files = part.map((file) => ({ item_seq: seq, ...file }))
    if (isServed) await db.insertInto('skill_file').values(files).execute()
    await db
      .insertInto('version_file')
      .values(part.map((file) => ({ version_seq: versionSeq, ...file })))
      .execute()
  }
  if (next.files) noteWork(stored.length / FILES_A_POINT)
}

const textRow = prepareQuery((db) =>
  db
    .selectFrom('item')
    .select(['kind', 'title', 'description', 'content'])
    .where('seq', '=', sql<number>`${slot('seq')}`),
)

/** The current searchable text of an item. */
export async function readSearchableText(db: Kysely<Database>, seq: number): Promise<SearchableText> {
  const row = await firstOf(textRow(db, { seq }))
  const tags = (await readTags(db, [seq])).get(seq) ?? []
  return {
    title: row.title,
    description: row.description ?? '',
    tags: tags.map((tag) => tag.name).join('\n'),
    content: row.kind === 'prompt' ? row.content : await readIndexableFiles(db, seq),
  }
}

/** The searchable text of an item that was just written, without reading it again where the new state has all of it. */
export async function toSearchableText(db: Kysely<Database>, seq: number, next: NextState, tags: readonly Tag[]): Promise<SearchableText> {
  if (next.kind === 'skill') return await readSearchableText(db, seq)
  return { title: next.title, description: next.description ?? '', tags: tags.map((tag) => tag.name).join('\n'), content: next.content }
}

/** The names and text files of a skill as one text, for the index alone. */
async function readIndexableFiles(db: Kysely<Database>, seq: number): Promise<string> {
  return (await readFiles(db, seq))
    .map((file) => `${file.filename}\n${decodeText(file.bytes) ?? ''}`)
    .join('\n')
    .slice(0, MAX_INDEXED_LENGTH)
    .toWellFormed()
}

/** All files of the skill, SKILL.md first, without a visibility check: for writes and exports, which check it. */
export async function readFiles(db: Kysely<Database>, seq: number): Promise<SkillFile[]> {
  const rows = await db
    .selectFrom('skill_file')
    .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
    .select(['skill_file.filename', 'skill_file.mode', 'blob.bytes'])
    .where('skill_file.item_seq', '=', seq)
    .execute()
  return listSkillFiles<SkillFile>(rows)
}
