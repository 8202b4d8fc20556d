import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { AppError, invalidInput } from '../errors.ts'
import { readNamedFrontmatter } from '../library/frontmatter.ts'
import { isId } from '../library/identifier.ts'
import type { ItemFields, ItemKind, Prompt, PromptFields, Skill, SkillFields, Tag } from '../library/items.ts'
import type {
  Clock,
  Editor,
  ImportedTwin,
  ImportOrigin,
  LibraryChange,
  LibraryWriter,
  PromptChange,
  Random,
  SkillChange,
} from '../library/ports.ts'
import { toIndexText } from '../library/search.ts'
import { decodeText, SKILL_MD, type SkillFile, sortFilenames } from '../library/skill.ts'
import { isSlug, MAX_SLUG, slugCandidates, slugify } from '../library/slug.ts'
import { toTags } from '../library/tags.ts'
import { parseVariables } from '../library/variables.ts'
import type { Visibility } from '../library/visibility.ts'
import type { IndexedText } from './dialects/dialect.ts'
import { type ItemRow, readTags, selectItems, toPrompts, toSkills } from './item-rows.ts'
import { prepareInsert, prepareQuery, prepareStatement, slot } from './prepared.ts'
import { findVisibleRow } from './read-items.ts'
import type { Database } from './schema.ts'

/** How much of a skill's files is searched, in UTF-16 units: SKILL.md comes first. Indexing a megabyte takes a tenth of a second. */
const MAX_INDEXED_LENGTH = 1024 * 1024

/** What the writing half needs: how to run a transaction, the engine's differences, time and randomness. */
export interface WriteContext {
  readonly clock: Clock
  readonly random: Random
  /** For reads: the reading connection, or the open transaction. */
  readonly reader: Kysely<Database>
  /** Runs `work` in a transaction: a new one, or the one that is open. */
  transact<T>(work: (db: Kysely<Database>, notes: WriteNotes) => Promise<T>): Promise<T>
}

/** What a write notes for the end of its transaction. */
interface WriteNotes {
  /** The text of an item for the index: engines merge many at once far faster. */
  index(kind: ItemKind, seq: number, text: IndexedText | null): void
  /** What changed, for those who listen. */
  changed(change: LibraryChange): void
}

/** What an item becomes: its fields, and what only one kind has. */
type NextState = ItemFields & ({ kind: 'prompt'; type: string; content: string } | { kind: 'skill'; files: readonly SkillFile[] | null })

const slugHolder = prepareQuery((db) => db.selectFrom('slug').select('item_seq').where('slug', '=', slot('slug')))
const insertSlug = prepareStatement(
  sql`insert into slug (slug, item_seq) values (${slot('slug')}, ${slot('itemSeq')}) on conflict (slug) do nothing`,
)
const insertItem = prepareInsert('item', [
  'id',
  'kind',
  'slug',
  'title',
  'description',
  'type',
  'content',
  'variables',
  'owner_seq',
  'author_seq',
  'contributors',
  'category_seq',
  'visibility',
  'was_public',
  'version',
  'imported_version',
  'created_at',
  'updated_at',
])
const insertVersion = prepareInsert('version', [
  'item_seq',
  'number',
  'title',
  'description',
  'type',
  'content',
  'category',
  'tags',
  'visibility',
  'note',
  'author_seq',
  'created_at',
])
const userSeq = prepareQuery((db) => db.selectFrom('user').select('seq').where('id', '=', slot('id')))

async function findUserSeq(db: Kysely<Database>, id: string): Promise<number> {
  const [user] = await userSeq(db, { id })
  if (!user) throw new AppError('not_found', 'This user does not exist.')
  return user.seq
}

/** @throws AppError `invalid_input` listing the valid slugs */
async function findCategorySeq(db: Kysely<Database>, slug: string | null): Promise<number | null> {
  if (slug === null) return null
  const categories = await db.selectFrom('category').select(['seq', 'slug']).orderBy('slug').execute()
  const found = categories.find((category) => category.slug === slug)
  if (found) return found.seq
  throw invalidInput('category', `category "${slug.slice(0, 80)}" does not exist; use one of: ${categories.map((c) => c.slug).join(', ')}.`)
}

/** The first slug that is free, or is this item's already. Nothing is written. */
async function findFreeSlug(db: Kysely<Database>, candidates: Iterable<string>, itemId: string, itemSeq: number | null): Promise<string> {
  for (const candidate of candidates) {
    if (candidate === itemId) return candidate
    const [holder] = await slugHolder(db, { slug: candidate })
    if (!holder || holder.item_seq === itemSeq) return candidate
  }
  throw new AppError('conflict', 'No free slug was found.')
}

/** Notes a slug as this item's for ever. One that is the id needs no note: ids are looked up before slugs. */
async function keepSlug(db: Kysely<Database>, slug: string, itemId: string, itemSeq: number): Promise<void> {
  if (slug === itemId) return
  await insertSlug(db, { slug, itemSeq })
}

/**
 * Tags under the spelling first used where their writer can see it; a spelling known from others' private items alone is never taken over.
 */
async function spellTags(db: Kysely<Database>, tags: readonly Tag[], ownerSeq: number): Promise<Tag[]> {
  const spelled: Tag[] = []
  for (const tag of tags) {
    const first = await db
      .selectFrom('item_tag')
      .innerJoin('item', 'item.seq', 'item_tag.item_seq')
      .select('item_tag.name')
      .where('item_tag.slug', '=', tag.slug)
      .where((eb) =>
        eb.or([eb.and([eb('item.visibility', '=', 'public'), eb('item.deleted_at', 'is', null)]), eb('item.owner_seq', '=', ownerSeq)]),
      )
      .orderBy('item_tag.item_seq')
      .limit(1)
      .executeTakeFirst()
    spelled.push(first ? { slug: tag.slug, name: first.name } : tag)
  }
  return spelled
}

async function storeFiles(
  db: Kysely<Database>,
  files: readonly SkillFile[],
): Promise<{ filename: string; sha256: string; size: number }[]> {
  const rows: { filename: string; sha256: string; size: number }[] = []
  for (const file of files) {
    const sha256 = createHash('sha256').update(file.bytes).digest('hex')
    await db
      .insertInto('blob')
      .values({ sha256, bytes: file.bytes })
      .onConflict((c) => c.column('sha256').doNothing())
      .execute()
    rows.push({ filename: file.filename, sha256, size: file.bytes.length })
  }
  return rows
}

/** Writes tags, files and a new version of an item whose row stands already. `files` null: those it has stay. */
async function writeParts(
  db: Kysely<Database>,
  item: { seq: number; version: number; editorSeq: number; note: string | null; at: string },
  next: NextState,
  tags: readonly Tag[],
): Promise<void> {
  const { seq } = item
  if (item.version > 1) await db.deleteFrom('item_tag').where('item_seq', '=', seq).execute()
  if (tags.length > 0) {
    await db
      .insertInto('item_tag')
      .values(tags.map((tag, position) => ({ item_seq: seq, slug: tag.slug, name: tag.name, position })))
      .execute()
  }
  if (next.kind === 'skill' && next.files) {
    const stored = await storeFiles(db, next.files)
    await db.deleteFrom('skill_file').where('item_seq', '=', seq).execute()
    const skillMd = next.files.find((file) => file.filename === SKILL_MD)
    const skillName = readNamedFrontmatter((skillMd && decodeText(skillMd.bytes)) ?? '')?.name ?? null
    await db.updateTable('item').set({ skill_name: skillName }).where('seq', '=', seq).execute()
    for (const file of stored)
      await db
        .insertInto('skill_file')
        .values({ item_seq: seq, ...file })
        .execute()
  }
  const versionSeq = await insertVersion(db, {
    item_seq: seq,
    number: item.version,
    title: next.title,
    description: next.description,
    type: next.kind === 'prompt' ? next.type : null,
    content: next.kind === 'prompt' ? next.content : '',
    category: next.category,
    tags: JSON.stringify(tags.map((tag) => tag.name)),
    visibility: next.visibility,
    note: item.note,
    author_seq: item.editorSeq,
    created_at: item.at,
  })
  if (next.kind === 'skill') {
    await db
      .insertInto('version_file')
      .columns(['version_seq', 'filename', 'sha256', 'size'])
      .expression((eb) =>
        eb
          .selectFrom('skill_file')
          .select([sql<number>`cast(${versionSeq} as integer)`.as('version_seq'), 'filename', 'sha256', 'size'])
          .where('item_seq', '=', seq),
      )
      .execute()
  }
}

const textRow = prepareQuery((db) =>
  db
    .selectFrom('item')
    .select(['kind', 'title', 'description', 'content', 'visibility', 'deleted_at'])
    .where('seq', '=', sql<number>`${slot('seq')}`),
)

/** Notes an item's text for the index, as the item stands now; what is in the trash is in no index. */
async function noteText(notes: WriteNotes, db: Kysely<Database>, seq: number): Promise<void> {
  const row = await first(textRow(db, { seq }))
  if (row.deleted_at !== null) return notes.index(row.kind, seq, null)
  const tags = (await readTags(db, [seq])).get(seq) ?? []
  notes.index(row.kind, seq, {
    title: toIndexText(row.title),
    description: toIndexText(row.description ?? ''),
    tags: toIndexText(tags.map((tag) => tag.name).join(' ')),
    content: toIndexText(row.kind === 'prompt' ? row.content : await readIndexableFiles(db, seq)),
    isPublic: row.visibility === 'public',
  })
}

/** The names and text files of a skill as one text, for the index alone. */
async function readIndexableFiles(db: Kysely<Database>, seq: number): Promise<string> {
  const files = await db
    .selectFrom('skill_file')
    .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
    .select(['skill_file.filename', 'blob.bytes'])
    .where('skill_file.item_seq', '=', seq)
    .execute()
  return sortFilenames<SkillFile>(files)
    .map((file) => `${file.filename}\n${decodeText(file.bytes) ?? ''}`)
    .join('\n')
    .slice(0, MAX_INDEXED_LENGTH)
    .toWellFormed()
}

async function createItem(
  context: WriteContext,
  db: Kysely<Database>,
  notes: WriteNotes,
  owner: Editor,
  next: NextState,
  origin: ImportOrigin | undefined,
): Promise<ItemRow> {
  const tags = toTags(next.tags)
  const variables = next.kind === 'prompt' ? parseVariables(next.content).variables : []
  const ownerSeq = await findUserSeq(db, owner.userId)
  const authorSeq = origin ? await findUserSeq(db, origin.authorId) : ownerSeq
  const categorySeq = await findCategorySeq(db, next.category)
  const spelled = await spellTags(db, tags, ownerSeq)
  const id = await freeId(context, db, origin?.id)
  const now = new Date(context.clock()).toISOString()
  const slug = await findFreeSlug(db, slugsFor(context, { id, visibility: next.visibility }, next.title, origin?.slug), id, null)
  const seq = await insertItem(db, {
    id,
    kind: next.kind,
    slug,
    title: next.title,
    description: next.description,
    type: next.kind === 'prompt' ? next.type : null,
    content: next.kind === 'prompt' ? next.content : '',
    variables: JSON.stringify(variables),
    owner_seq: ownerSeq,
    author_seq: authorSeq,
    contributors: JSON.stringify(origin?.contributors ?? []),
    category_seq: categorySeq,
    visibility: next.visibility,
    was_public: next.visibility === 'public' ? 1 : 0,
    version: 1,
    imported_version: origin ? 1 : null,
    created_at: origin?.createdAt ?? now,
    updated_at: origin?.updatedAt ?? now,
  })
  await keepSlug(db, slug, id, seq)
  notes.changed({ kind: next.kind, ownerId: owner.userId, isPublic: next.visibility === 'public' })
  await writeParts(db, { seq, version: 1, editorSeq: ownerSeq, note: owner.note, at: now }, next, spelled)
  await noteText(notes, db, seq)
  return await readRow(db, seq)
}

async function freeId(context: WriteContext, db: Kysely<Database>, wanted: string | undefined): Promise<string> {
  if (wanted === undefined || !isId(wanted)) return context.random.id()
  const taken = await db.selectFrom('item').select('seq').where('id', '=', wanted).executeTakeFirst()
  return taken ? context.random.id() : wanted
}

/** The slugs to try for an item: the one an export kept, then those its title gives. */
function* slugsFor(
  context: WriteContext,
  item: { id: string; visibility: Visibility },
  title: string,
  kept: string | undefined,
): Generator<string> {
  if (kept !== undefined && isSlug(kept)) yield kept
  yield* slugCandidates(slugify(title), item, context.random.letters)
}

const rowBySeq = prepareQuery<ItemRow>((db) => selectItems(db).where('item.seq', '=', sql<number>`${slot('seq')}`))
const importedRows = prepareQuery<ItemRow>((db) =>
  selectItems(db)
    .where('item.owner_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('ownerId')))
    .where('item.author_seq', '=', (eb) => eb.selectFrom('user').select('user.seq').where('user.id', '=', slot('authorId')))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.title', '=', slot('title'))
    .orderBy('item.seq'),
)

async function readRow(db: Kysely<Database>, seq: number): Promise<ItemRow> {
  return await first(rowBySeq(db, { seq }))
}

/** The row `ref` names whoever owns it, deleted ones left out: for writes, whose `decide` answers for who may. */
async function findRow(db: Kysely<Database>, kind: ItemKind, ref: string): Promise<ItemRow | null> {
  const found = selectItems(db).where('item.kind', '=', kind).where('item.deleted_at', 'is', null)
  const row = isId(ref)
    ? await found.where('item.id', '=', ref).executeTakeFirst()
    : await found.innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', ref).executeTakeFirst()
  return row ?? null
}

async function changeItem(
  context: WriteContext,
  db: Kysely<Database>,
  notes: WriteNotes,
  row: ItemRow,
  editor: Editor,
  next: NextState,
  wantedSlug: string | undefined,
  origin: ImportOrigin | undefined,
): Promise<ItemRow> {
  const tags = toTags(next.tags)
  const editorSeq = await findUserSeq(db, editor.userId)
  const categorySeq = await findCategorySeq(db, next.category)
  const spelled = await spellTags(db, tags, row.owner_seq)
  const now = new Date(context.clock()).toISOString()
  const version = row.version + 1
  const slug = await nextSlug(context, db, row, next, wantedSlug)
  await keepSlug(db, slug, row.id, row.seq)
  notes.changed({ kind: next.kind, ownerId: row.owner_id, isPublic: row.visibility === 'public' || next.visibility === 'public' })
  await db
    .updateTable('item')
    .set({
      slug,
      title: next.title,
      description: next.description,
      ...(next.kind === 'prompt'
        ? { type: next.type, content: next.content, variables: JSON.stringify(parseVariables(next.content).variables) }
        : {}),
      category_seq: categorySeq,
      visibility: next.visibility,
      was_public: row.was_public === 1 || next.visibility === 'public' ? 1 : 0,
      version,
      updated_at: now,
      ...(origin ? { imported_version: version, contributors: JSON.stringify(origin.contributors) } : {}),
    })
    .where('seq', '=', row.seq)
    .execute()
  await writeParts(db, { seq: row.seq, version, editorSeq, note: editor.note, at: now }, next, spelled)
  await noteText(notes, db, row.seq)
  return await readRow(db, row.seq)
}

/** A slug stays, unless another is asked for or the item is published for the first time (which takes the random suffix off). */
async function nextSlug(
  context: WriteContext,
  db: Kysely<Database>,
  row: ItemRow,
  next: NextState,
  wanted: string | undefined,
): Promise<string> {
  const isFirstPublished = row.was_public === 0 && next.visibility === 'public'
  const isKnown = row.was_public === 1 || next.visibility === 'public'
  if (wanted !== undefined && wanted !== row.item_slug) {
    if (!isSlug(wanted)) {
      throw invalidInput(
        'slug',
        `slug must be 1 to ${MAX_SLUG} characters of a-z, 0-9 and single hyphens between them, and not look like an id.`,
      )
    }
    if (!isKnown) {
      return await findFreeSlug(
        db,
        slugCandidates(wanted, { id: row.id, visibility: next.visibility }, context.random.letters),
        row.id,
        row.seq,
      )
    }
    const [holder] = await slugHolder(db, { slug: wanted })
    if (holder && holder.item_seq !== row.seq)
      throw new AppError('conflict', `The slug "${wanted}" is or was another item's; choose another.`)
    return await findFreeSlug(db, [wanted], row.id, row.seq)
  }
  if (!isFirstPublished) return row.item_slug
  return await findFreeSlug(
    db,
    slugCandidates(slugify(next.title), { id: row.id, visibility: 'public' }, context.random.letters),
    row.id,
    row.seq,
  )
}

async function readFiles(db: Kysely<Database>, seq: number): Promise<SkillFile[]> {
  const rows = await db
    .selectFrom('skill_file')
    .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
    .select(['skill_file.filename', 'blob.bytes'])
    .where('skill_file.item_seq', '=', seq)
    .execute()
  return sortFilenames<SkillFile>(rows)
}

/** The fields both kinds have, after a change. */
function changedFields(item: Prompt | Skill, change: PromptChange | SkillChange): ItemFields {
  return {
    title: change.title ?? item.title,
    description: change.description === undefined ? item.description : change.description,
    category: change.category === undefined ? (item.category?.slug ?? null) : change.category,
    tags: change.tags ?? item.tags.map((tag) => tag.name),
    visibility: change.visibility ?? item.visibility,
  }
}

async function first<T>(items: Promise<T[]>): Promise<T> {
  const [item] = await items
  if (item === undefined) throw new AppError('internal', 'A row that was just written could not be read back')
  return item
}

/** The writing half of the store. */
export function writeLibrary(context: WriteContext): Omit<LibraryWriter, 'inTransaction'> {
  async function findImported(kind: 'prompt', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Prompt>[]>
  async function findImported(kind: 'skill', ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Skill>[]>
  async function findImported(kind: ItemKind, ownerId: string, authorId: string, title: string): Promise<ImportedTwin<Prompt | Skill>[]> {
    const rows = await importedRows(context.reader, { ownerId, authorId, title, kind })
    const items: (Prompt | Skill)[] = kind === 'prompt' ? await toPrompts(context.reader, rows) : await toSkills(context.reader, rows)
    return items.flatMap((item, index) => {
      const row = rows[index]
      return row ? [{ item, isEditedHere: row.imported_version !== row.version }] : []
    })
  }
  return {
    findImported,
    createPrompt: (owner, fields: PromptFields, origin) =>
      context.transact(async (db, notes) =>
        first(toPrompts(db, [await createItem(context, db, notes, owner, { kind: 'prompt', ...fields }, origin)])),
      ),
    createSkill: (owner, fields: SkillFields, origin) =>
      context.transact(async (db, notes) =>
        first(toSkills(db, [await createItem(context, db, notes, owner, { kind: 'skill', ...fields }, origin)])),
      ),
    changePrompt: (ref, editor, decide, origin) =>
      context.transact(async (db, notes) => {
        const row = await findRow(db, 'prompt', ref)
        if (!row) return null
        const current = await first(toPrompts(db, [row]))
        const decided = decide(current)
        if (!decided) return current
        const { type = current.type, content = current.content } = decided
        const next: NextState = { kind: 'prompt', type, content, ...changedFields(current, decided) }
        return await first(toPrompts(db, [await changeItem(context, db, notes, row, editor, next, decided.slug, origin)]))
      }),
    changeSkill: (ref, editor, decide, origin) =>
      context.transact(async (db, notes) => {
        const row = await findRow(db, 'skill', ref)
        if (!row) return null
        const current = await first(toSkills(db, [row]))
        const decided = decide(current)
        if (!decided) return current
        const files = typeof decided.files === 'function' ? decided.files(await readFiles(db, row.seq)) : (decided.files ?? null)
        const next: NextState = { kind: 'skill', files, ...changedFields(current, decided) }
        return await first(toSkills(db, [await changeItem(context, db, notes, row, editor, next, decided.slug, origin)]))
      }),
    setDeleted: (kind, ref, ownerId, deleted) =>
      context.transact(async (db, notes) => {
        const base = selectItems(db)
          .where('item.kind', '=', kind)
          .where('owner.id', '=', ownerId)
          .where('item.deleted_at', deleted ? 'is' : 'is not', null)
        const row = isId(ref)
          ? await base.where('item.id', '=', ref).executeTakeFirst()
          : await base.innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', ref).executeTakeFirst()
        if (!row) return null
        const now = new Date(context.clock()).toISOString()
        await db
          .updateTable('item')
          .set({ deleted_at: deleted ? now : null })
          .where('seq', '=', row.seq)
          .execute()
        await noteText(notes, db, row.seq)
        notes.changed({ kind, ownerId: row.owner_id, isPublic: row.visibility === 'public' })
        return { id: row.id, slug: row.item_slug, title: row.title }
      }),
    setVote: (actor, kind, ref, userId, voted) =>
      context.transact(async (db) => {
        const row = await findVisibleRow(db, actor, kind, ref)
        if (!row) return null
        const voter = await findUserSeq(db, userId)
        if (voted) {
          await db
            .insertInto('vote')
            .values({ item_seq: row.seq, user_seq: voter, created_at: new Date(context.clock()).toISOString() })
            .onConflict((c) => c.columns(['item_seq', 'user_seq']).doNothing())
            .execute()
        } else {
          await db.deleteFrom('vote').where('item_seq', '=', row.seq).where('user_seq', '=', voter).execute()
        }
        const { votes } = await db
          .updateTable('item')
          .set((eb) => ({
            votes: eb
              .selectFrom('vote')
              .select((v) => v.fn.countAll<number>().as('n'))
              .where('vote.item_seq', '=', row.seq),
          }))
          .where('item.seq', '=', row.seq)
          .returning('votes')
          .executeTakeFirstOrThrow()
        return { id: row.id, votes }
      }),
  }
}
