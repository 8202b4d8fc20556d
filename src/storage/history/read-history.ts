import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { promptTypeField } from '../../library/fields.ts'
import {
  createHistoryCounter,
  type FileEntry,
  type HistoryCounts,
  type HistoryRecord,
  type ItemState,
  type RecordOf,
  STATE_FIELDS,
  toHistoryLine,
} from '../../library/history-records.ts'
import { listSkillFiles, toFileMode } from '../../library/skill.ts'
import { type ItemRow, readTags, selectItems } from '../items/item-rows.ts'
import type { Database } from '../schema.ts'
import { SMALL_ROWS, walk, walkTexts } from './pages.ts'
import { readCollections } from './read-collections.ts'
import { readTeams } from './read-teams.ts'

/** Rows of a page, for tables with large rows. */
const LARGE_ROWS = 50
/** File contents of a page, of up to 1 MiB each. */
const BLOBS = 16

const namesJson = z.array(z.string())

/** The whole library as lines of an export, a page of rows at a time. @throws AppError `unavailable` while somebody is being removed */
export async function* readHistory(db: Kysely<Database>): AsyncGenerator<HistoryRecord> {
  const leaving = await db.selectFrom('user').select('seq').where('removal', 'is not', null).limit(1).executeTakeFirst()
  if (leaving) throw new AppError('unavailable', 'Somebody is being removed from the library at the moment; try again later.')
  yield* readCategories(db)
  for await (const row of walk((after) => pageOfUsers(db, after))) yield toUserRecord(row)
  yield* readTeams(db)
  yield* readRetiredSlugs(db)
  let after = 0
  for (;;) {
    const rows = await selectItems(db)
      .leftJoin('item_source', 'item_source.item_seq', 'item.seq')
      .select(['owner.username as owner_name', 'item.channel_name', 'item_source.source_id'])
      .where('item.seq', '>', after)
      .orderBy('item.seq')
      .limit(LARGE_ROWS)
      .execute()
    yield* readItems(db, rows)
    after = rows.at(-1)?.seq ?? after
    if (rows.length < LARGE_ROWS) break
  }
  yield* readCollections(db)
  yield* readChanges(db)
}

/**
 * The digest of the library, and its counts. The order of rows counts, not their numbers.
 * @param format 1: without the names that skills are installed under and the log of changes, which exports of that format lack
 */
export async function digestHistory(
  db: Kysely<Database>,
  { format = 2 }: { readonly format?: 1 | 2 } = {},
): Promise<{ digest: string; counts: HistoryCounts }> {
  const hash = createHash('sha256')
  const counter = createHistoryCounter()
  for await (const record of readHistory(db)) {
    if (format === 1 && record.record === 'change') continue
    hash.update(toHistoryLine(format === 1 ? withoutName(record) : record))
    counter.add(record)
  }
  return { digest: hash.digest('hex'), counts: counter.read() }
}

async function* readChanges(db: Kysely<Database>): AsyncGenerator<RecordOf<'change'>> {
  const page = async (after: number) =>
    await db
      .selectFrom('shared_change as change')
      .innerJoin('item', 'item.seq', 'change.item_seq')
      .leftJoin('user', (join) => join.onRef('user.id', '=', 'change.actor_id').on('user.removal', 'is', null))
      .selectAll('change')
      .select(['item.id', 'user.username'])
      .where('change.seq', '>', after)
      .orderBy('change.seq')
      .limit(SMALL_ROWS)
      .execute()
  for await (const { id, revision, version, audience, path, category, at, tags, actor_id: actorId, username } of walk(page)) {
    yield {
      record: 'change',
      item: id,
      revision: Number(revision),
      version,
      audience,
      path,
      category,
      at,
      ...(tags === null ? {} : { tags: namesJson.parse(JSON.parse(tags)) }),
      ...(actorId === null ? {} : { actor: username }),
    }
  }
}

function withoutName(record: HistoryRecord): HistoryRecord {
  if (record.record !== 'item') return record
  const { channelName: _, ...rest } = record
  return rest
}

/** The contents of all files that versions have, in the order of their digests. */
export async function* readBlobs(db: Kysely<Database>): AsyncGenerator<{ sha256: string; bytes: Uint8Array }> {
  for (let after = ''; ; ) {
    const rows = await db
      .selectFrom('blob')
      .selectAll()
      .where('sha256', '>', after)
      .where((eb) =>
        eb.or([
          eb.exists(eb.selectFrom('version_file').select('version_file.sha256').whereRef('version_file.sha256', '=', 'blob.sha256')),
          eb.exists(eb.selectFrom('skill_file').select('skill_file.sha256').whereRef('skill_file.sha256', '=', 'blob.sha256')),
        ]),
      )
      .orderBy('sha256')
      .limit(BLOBS)
      .execute()
    yield* rows
    after = rows.at(-1)?.sha256 ?? after
    if (rows.length < BLOBS) return
  }
}

async function* readCategories(db: Kysely<Database>): AsyncGenerator<RecordOf<'category'>> {
  const rows = await db
    .selectFrom('category')
    .leftJoin('category as parent', 'parent.seq', 'category.parent_seq')
    .select(['category.slug', 'category.name', 'category.position', 'parent.slug as parent'])
    // Parents come before their children.
    .orderBy('category.seq')
    .execute()
  for (const { slug, name, parent, position } of rows) yield { record: 'category', slug, name, parent, position }
}

async function pageOfUsers(db: Kysely<Database>, after: number) {
  return await db.selectFrom('user').selectAll().where('seq', '>', after).orderBy('seq').limit(SMALL_ROWS).execute()
}

function toUserRecord(row: Selectable<Database['user']>): RecordOf<'user'> {
  return {
    record: 'user',
    username: row.username,
    contributor: row.contributor_key,
    displayName: row.display_name,
    bio: row.bio,
    website: row.website,
    ...(row.language === null ? {} : { language: row.language }),
    createdAt: row.created_at,
    ...(row.is_team === 1 ? { team: { newItems: row.default_visibility, deletedAt: row.suspended_at } } : {}),
  }
}

async function* readRetiredSlugs(db: Kysely<Database>): AsyncGenerator<RecordOf<'retiredSlug'>> {
  const page = async (after: string) =>
    await db.selectFrom('retired_slug').select('slug').where('slug', '>', after).orderBy('slug').limit(SMALL_ROWS).execute()
  for await (const { slug } of walkTexts(page, (row) => row.slug)) yield { record: 'retiredSlug', slug }
}

type ExportedRow = ItemRow & { readonly owner_name: string; readonly channel_name: string | null; readonly source_id: string | null }

/** A page of items with their parts. Versions, votes and favourites, which may be many, are read by cursors. */
async function* readItems(db: Kysely<Database>, rows: readonly ExportedRow[]): AsyncGenerator<HistoryRecord> {
  if (rows.length === 0) return
  const seqs = rows.map((row) => row.seq)
  const tags = await readTags(db, seqs)
  const files = groupFiles(
    await db
      .selectFrom('skill_file')
      .select(['item_seq as of', 'filename', 'sha256', 'size', 'mode'])
      .where('item_seq', 'in', seqs)
      .execute(),
  )
  const slugs = createCursor(readSlugs(db, seqs))
  const versions = createCursor(readVersions(db, seqs))
  const votes = createCursor(readMarks(db, 'vote', seqs))
  const favourites = createCursor(readMarks(db, 'favourite', seqs))
  for (const row of rows) {
    const item = toItemRecord(row, tags.get(row.seq)?.map((tag) => tag.name) ?? [], files.get(row.seq) ?? [])
    yield item
    for await (const { slug } of slugs.take(row.seq)) yield { record: 'slug', slug }
    for await (const version of versions.take(row.seq)) yield toVersionRecord(item, version)
    for await (const vote of votes.take(row.seq)) yield { record: 'vote', user: vote.username, createdAt: vote.created_at }
    for await (const one of favourites.take(row.seq)) yield { record: 'favourite', user: one.username, createdAt: one.created_at }
  }
}

/** A cursor over rows sorted by item, one item after the other. */
function createCursor<Row extends { readonly item_seq: number }>(rows: AsyncGenerator<Row>) {
  let next: IteratorResult<Row> | null = null
  return {
    async *take(itemSeq: number): AsyncGenerator<Row> {
      next ??= await rows.next()
      while (!next.done && next.value.item_seq === itemSeq) {
        yield next.value
        next = await rows.next()
      }
    },
  }
}

async function* readSlugs(db: Kysely<Database>, seqs: readonly number[]) {
  yield* await db
    .selectFrom('slug')
    .select(['item_seq', 'slug'])
    .where('item_seq', 'in', seqs)
    .orderBy('item_seq')
    .orderBy('slug')
    .execute()
}

type VersionRow = Selectable<Database['version']> & { author_name: string; files: readonly FileEntry[] }

async function* readVersions(db: Kysely<Database>, seqs: readonly number[]): AsyncGenerator<VersionRow> {
  let last = { item_seq: 0, number: 0 }
  for (;;) {
    const { item_seq: itemSeq, number } = last
    const rows = await db
      .selectFrom('version')
      .innerJoin('user as author', 'author.seq', 'version.author_seq')
      .selectAll('version')
      .select('author.username as author_name')
      .where('item_seq', 'in', seqs)
      .where((eb) => eb.or([eb('item_seq', '>', itemSeq), eb.and([eb('item_seq', '=', itemSeq), eb('number', '>', number)])]))
      .orderBy('item_seq')
      .orderBy('number')
      .limit(LARGE_ROWS)
      .execute()
    if (rows.length === 0) return
    const files = groupFiles(
      await db
        .selectFrom('version_file')
        .select(['version_seq as of', 'filename', 'sha256', 'size', 'mode'])
        .where(
          'version_seq',
          'in',
          rows.map((row) => row.seq),
        )
        .execute(),
    )
    for (const row of rows) yield { ...row, files: files.get(row.seq) ?? [] }
    last = rows.at(-1) ?? last
  }
}

/** What people marked items with. */
async function* readMarks(db: Kysely<Database>, table: 'vote' | 'favourite', seqs: readonly number[]) {
  let last = { item_seq: 0, user_seq: 0 }
  for (;;) {
    const { item_seq: itemSeq, user_seq: userSeq } = last
    const marks = table === 'vote' ? db.selectFrom('vote as mark') : db.selectFrom('favourite as mark')
    const rows = await marks
      .innerJoin('user', 'user.seq', 'mark.user_seq')
      .select(['mark.item_seq', 'mark.user_seq', 'mark.created_at', 'user.username'])
      .where('item_seq', 'in', seqs)
      .where((eb) => eb.or([eb('item_seq', '>', itemSeq), eb.and([eb('item_seq', '=', itemSeq), eb('user_seq', '>', userSeq)])]))
      .orderBy('mark.item_seq')
      .orderBy('mark.user_seq')
      .limit(SMALL_ROWS)
      .execute()
    yield* rows
    last = rows.at(-1) ?? last
    if (rows.length < SMALL_ROWS) return
  }
}

function groupFiles(
  rows: readonly (Omit<FileEntry, 'mode'> & { readonly of: number; readonly mode: number | null })[],
): Map<number, FileEntry[]> {
  const groups = new Map<number, FileEntry[]>()
  for (const { of, mode, ...file } of rows) {
    const group = groups.get(of) ?? []
    group.push({ ...file, ...(mode !== null && { mode: toFileMode(mode) }) })
    groups.set(of, group)
  }
  for (const [of, group] of groups) groups.set(of, listSkillFiles(group))
  return groups
}

/** The fields of one kind. */
function contentOf(kind: ItemRow['kind'], row: { type: string | null; content: string }, files: readonly FileEntry[]) {
  return kind === 'prompt' ? { type: promptTypeField.parse(row.type), content: row.content } : { files: [...files] }
}

function toItemRecord(row: ExportedRow, tags: string[], files: readonly FileEntry[]): RecordOf<'item'> {
  return {
    record: 'item',
    id: row.id,
    kind: row.kind,
    slug: row.item_slug,
    title: row.title,
    description: row.description,
    ...contentOf(row.kind, row, files),
    category: row.category_slug,
    tags,
    visibility: row.visibility,
    owner: row.owner_name,
    author: row.author_name,
    contributors: namesJson.parse(JSON.parse(row.contributors)),
    wasPublic: row.was_public === 1,
    version: row.version,
    importedVersion: row.imported_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
    featuredAt: row.featured_at,
    heldAt: row.held_at,
    heldFrom: row.held_from,
    ...(row.source_id === null ? {} : { source: row.source_id }),
    ...(row.channel_name === null ? {} : { channelName: row.channel_name }),
  }
}

function toVersionRecord(item: RecordOf<'item'>, row: VersionRow): RecordOf<'version'> {
  const state: ItemState = {
    title: row.title,
    description: row.description,
    ...contentOf(item.kind, row, row.files),
    category: row.category,
    tags: namesJson.parse(JSON.parse(row.tags)),
    visibility: row.visibility,
  }
  const written = STATE_FIELDS.filter((field) => row.number !== item.version || !isDeepStrictEqual(state[field], item[field]))
  return {
    record: 'version',
    number: row.number,
    ...Object.fromEntries(written.flatMap((field) => (state[field] === undefined ? [] : [[field, state[field]]]))),
    note: row.note,
    author: row.author_name,
    createdAt: row.created_at,
  }
}
