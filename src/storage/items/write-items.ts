import { isDeepStrictEqual } from 'node:util'
import { type Kysely, sql } from 'kysely'
import { type SharedState, sharedPath } from '../../domain/items/changes.ts'
import { isCategoryNamed } from '../../domain/items/fields.ts'
import { toTags } from '../../domain/items/filing.ts'
import {
  atVersion,
  type ChangeOf,
  type Decide,
  type Editor,
  type ImportOrigin,
  type ItemChange,
  requireMayAdd,
} from '../../domain/items/item-access.ts'
import {
  type FullVersion,
  type Item,
  type ItemFields,
  type ItemKind,
  type ItemOf,
  isOfKind,
  type NewItem,
  type Tag,
} from '../../domain/items/items.ts'
import { isSlug, slugCandidates, slugify } from '../../domain/items/slug.ts'
import { audienceOf, isNarrower, isWiderThan, othersMaySee, refuseWhileHeld, type Visibility } from '../../domain/items/visibility.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import type { Random } from '../../domain/ports/environment.ts'
import { changeBody, isSameText, makeBody, variablesOf } from '../../domain/prompts/body.ts'
import type { AuditField } from '../../domain/service/audit.ts'
import { isSameFile, type SkillFile } from '../../domain/skills/skill.ts'
import { isId } from '../../domain/text/addresses.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { type Checked, filesToCheck, judge, nameFindings, withChecks, writeVerdict } from '../checks/judge.ts'
import { findOwner, findRole, findUser, findUserSeq } from '../people/user-rows.ts'
import { firstOf, prepareInsert, prepareQuery, prepareUpdate, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { findFreeSlug, ITEM_SLUGS, keepChannelName, keepSlug, nextSlug } from '../slugs.ts'
import { readCategories } from './item-filters.ts'
import {
  fileNewestVersion,
  type NextState,
  readFiles,
  spellTags,
  takeVersionRoom,
  toBodyColumns,
  toSearchableText,
  type WriteNotes,
  writeParts,
  writeTags,
} from './item-parts.ts'
import { type ItemRow, isNamed, isWithin, namesOfTags, readTags, selectItems, toItems } from './item-rows.ts'
import { requireFreeName, writePartRefs } from './named-prompts.ts'
import { readVersion } from './read-versions.ts'
import { findTwins, keepImportSource } from './transfer-items.ts'
import type { WriteContext } from './write-context.ts'

const insertItem = prepareInsert('item')

interface NamedCategory {
  readonly seq: number
  readonly slug: string
  readonly name: string
}

/** The category of this slug, or else of this name. @throws AppError `invalid_input` listing the valid slugs */
function findCategory(categories: readonly NamedCategory[], name: string | null): NamedCategory | null {
  if (name === null) return null
  const found = categories.find(({ slug }) => slug === name) ?? categories.find((category) => isCategoryNamed(category, name))
  if (found) return found
  throw invalidInput('category', `category "${name.slice(0, 80)}" does not exist; use one of: ${categories.map((c) => c.slug).join(', ')}.`)
}

/** The category that an older version names; null when it was removed since. */
function findOldCategory(categories: readonly NamedCategory[], slug: string | null): NamedCategory | null {
  return categories.find((category) => category.slug === slug) ?? null
}

/** The state of a prompt that others see, for the log; null for a skill, whose name is found later. */
function stateOf(
  seq: number,
  version: number,
  { kind, visibility, category }: NextState,
  slug: string,
  tags: readonly Tag[],
): SharedState | null {
  if (kind === 'skill') return null
  const path = sharedPath({ kind, slug, name: null, category })
  return { seq, kind, version, audience: visibility, path, category, tags: namesOfTags(tags) }
}

/** Candidate slugs: the one of an export, then those from the title. */
function* slugsFor(
  random: Random,
  item: { id: string; visibility: Visibility },
  title: string,
  kept: string | undefined,
): Generator<string> {
  if (kept !== undefined && isSlug(kept)) yield kept
  yield* slugCandidates(slugify(title), item, random.letters)
}

async function createItem(
  context: WriteContext,
  db: Kysely<Database>,
  notes: WriteNotes,
  owner: Editor,
  fields: NewItem,
  origin: ImportOrigin | undefined,
  checked: Checked,
): Promise<Written> {
  const wanted: NextState = fields.kind === 'prompt' ? { ...fields, ...makeBody(fields), apiName: fields.apiName ?? null } : fields
  const tags = toTags(wanted.tags)
  const variables = wanted.kind === 'prompt' ? variablesOf(wanted) : []
  const held = origin?.held
  refuseWhileHeld(held !== undefined, wanted.visibility)
  const ownerId = owner.ownerId ?? owner.userId
  const found = findUser(db, owner.userId)
  const findOther = (userId: string) => (userId === owner.userId ? found : findUser(db, userId))
  const [editor, { seq: ownerSeq }, author, categories] = await together([
    found,
    findOther(ownerId),
    findOther(origin?.authorId ?? owner.userId),
    wanted.category === null ? Promise.resolve([]) : readCategories(db, {}),
  ])
  const category = findCategory(categories, wanted.category)
  if (ownerId !== owner.userId) {
    const team = await findOwner(db, owner.userId, { id: ownerId })
    if (!team) throw new AppError('not_found', 'You are not in this team any more.')
    requireMayAdd(team, wanted.kind, wanted.visibility)
  }
  const now = context.now()
  const verdict = await judge(db, { seq: null, ownerSeq }, filesToCheck(wanted), now, checked)
  const asked: NextState = { ...wanted, category: category?.slug ?? null }
  // No version was served before, and only the owner sees a blocked one.
  const next: NextState = verdict.blocking.length > 0 ? { ...asked, visibility: 'private' } : asked
  if (next.kind === 'prompt') await requireFreeName(db, ownerSeq, next.apiName)
  const spelled = await spellTags(db, tags, ownerSeq, next.visibility)
  await takeVersionRoom(db, { ownerSeq, isNew: true, note: owner.note }, next, spelled, context.quota)
  const id = await freeId(context, db, origin?.id)
  const slug = await findFreeSlug(
    ITEM_SLUGS,
    db,
    slugsFor(context.random, { id, visibility: next.visibility }, next.title, origin?.slug),
    null,
  )
  const item = {
    id,
    kind: next.kind,
    title: next.title,
    description: next.description,
    type: next.kind === 'prompt' ? next.type : null,
    ...toBodyColumns(next),
    api_name: next.kind === 'prompt' ? next.apiName : null,
    variables: JSON.stringify(variables),
    owner_seq: ownerSeq,
    author_seq: author.seq,
    contributors: JSON.stringify(origin?.contributors ?? []),
    category_seq: category?.seq ?? null,
    visibility: next.visibility,
    // Only public items are ever held.
    was_public: next.visibility === 'public' || held ? 1 : 0,
    version: 1,
    imported_version: origin ? 1 : null,
    created_at: origin?.createdAt ?? now,
    updated_at: origin?.updatedAt ?? now,
    held_at: held?.at ?? null,
    held_from: held?.from ?? null,
    blocked_version: null,
  }
  const seq = await insertItem(db, { ...item, slug })
  if (owner.copies !== undefined) await db.insertInto('item_source').values({ item_seq: seq, source_id: owner.copies }).execute()
  notes.changed({ kind: next.kind, ownerId, audience: audienceOf(next.visibility) })
  await together([
    keepSlug(ITEM_SLUGS, db, slug, seq),
    ...(hasParts(next) ? [writePartRefs(db, { seq, ownerSeq, isNew: true }, next)] : []),
    writeTags(db, seq, spelled, true),
    writeParts(db, { seq, ownerSeq, version: 1, editorSeq: editor.seq, note: owner.note, at: now }, next, spelled),
    writeVerdict(db, { seq, version: 1 }, verdict),
  ])
  if (next.kind === 'skill') await keepChannelName(db, seq)
  notes.index(seq, await toSearchableText(db, seq, next, spelled), { isNew: true, ownerSeq, state: stateOf(seq, 1, next, slug, spelled) })
  if (origin) notes.audit({ action: 'items_imported', targetId: ownerId, ownerId, detail: { created: 1, updated: 0 } })
  else {
    const detail = { kind: next.kind, version: 1, to: next.visibility }
    notes.audit({ action: 'item_created', targetId: id, ownerId, detail })
  }
  const names = {
    owner_id: ownerId,
    author_name: author.username,
    category_slug: category?.slug ?? null,
    category_name: category?.name ?? null,
  }
  // As it would be read back.
  return { row: { ...item, ...names, seq, slug, votes: 0, deleted_at: null, featured_at: null }, tags: spelled }
}

/** An item after a write; `blocked` is its newest version, where others see an older one. */
interface Written {
  readonly blocked?: FullVersion
  readonly row: ItemRow
  readonly tags: readonly Tag[]
}

async function freeId(context: WriteContext, db: Kysely<Database>, wanted: string | undefined): Promise<string> {
  if (wanted === undefined || !isId(wanted)) return context.random.id()
  const taken = await db.selectFrom('item').select('seq').where('id', '=', wanted).executeTakeFirst()
  return taken ? context.random.id() : wanted
}

const prepareRow = (by: 'id' | 'slug') =>
  prepareQuery<ItemRow>((db) =>
    selectItems(db)
      .where(isNamed(slot('ref'), by))
      .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
      .where('item.deleted_at', 'is', null),
  )
const ROWS = { id: prepareRow('id'), slug: prepareRow('slug') }
const updateItem = prepareUpdate('item')

/** The row `ref` names, whoever owns it, unless deleted. `decide` checks the right. */
export async function findRow(db: Kysely<Database>, kind: ItemKind, ref: string, { userId, within }: Editor): Promise<ItemRow | null> {
  const [row] = await ROWS[isId(ref) ? 'id' : 'slug'](db, { kind, ref })
  if (!row) return null
  if (!within) return row
  const isInside = isWithin({ visibilities: othersMaySee('member', 'list'), readerId: userId, within })
  const inside = await db.selectFrom('item').select('item.seq').where('item.seq', '=', row.seq).where(isInside).executeTakeFirst()
  return inside ? row : null
}

/** The data of an item that a change reads first. */
interface Known<T> {
  readonly current: T
  readonly role: TeamRole | null
  readonly editorSeq: number
  readonly categories: readonly NamedCategory[]
  /** The newest version where the check blocks it; the change applies to it. */
  readonly blocked: FullVersion | null
  /** The item as others see it. */
  readonly served: T
}

/** An item as its owner edits it: with its newest text, which others may not see. */
function asEdited<Kind extends ItemKind>(item: ItemOf<Kind>, blocked: FullVersion | null): ItemOf<Kind> {
  return blocked ? { ...atVersion(item, blocked), version: blocked.version } : item
}

async function readKnown<Kind extends ItemKind>(
  db: Kysely<Database>,
  row: ItemRow,
  editor: Editor,
  items: Promise<ItemOf<Kind>[]>,
): Promise<Known<ItemOf<Kind>>> {
  const blocked = row.blocked_version === null ? null : await readVersion(db, row.seq, row.blocked_version)
  const [served, role, editorSeq, categories] = await together([
    firstOf(items),
    findRole(db, editor.userId, row.owner_id),
    findUserSeq(db, editor.userId),
    readCategories(db, {}),
  ])
  return { current: asEdited(served, blocked), role, editorSeq, categories, blocked, served }
}

/**
 * Writes the new state of an item. A change of its tags, category or visibility alone is no version, and leaves the time of its last change.
 * Nothing changes when the state is the same, except that an import notes what it found.
 */
async function changeItem(
  context: WriteContext,
  db: Kysely<Database>,
  notes: WriteNotes,
  row: ItemRow,
  editor: Editor,
  { current: edited, editorSeq, categories, blocked, served }: Known<Item>,
  asked: NextState,
  wantedSlug: string | undefined,
  origin: ImportOrigin | undefined,
  checked: Checked,
): Promise<Written> {
  // What files a blocked version files what is served. Made private, it is its owner's again, with the newest text.
  const keepsFiles = asked.kind === 'prompt' || areSameFiles(blocked?.files ?? [], asked.files ?? [])
  const isFiling =
    blocked !== null && !editor.makesVersion && asked.visibility !== 'private' && keepsFiles && listTextChanges(edited, asked).length === 0
  const current = isFiling ? served : edited
  const wanted = isFiling ? { ...(await toNextState(db, row.seq, served, {}, null)), ...filingOf(asked) } : asked
  const isBase = blocked !== null && !isFiling
  refuseWhileHeld(row.held_at !== null, wanted.visibility)
  const tags = toTags(wanted.tags)
  const category = (editor.restores === undefined ? findCategory : findOldCategory)(categories, wanted.category)
  // A spelling that fewer know may have to change before more readers.
  const known = wanted.visibility === current.visibility ? current.tags : []
  const spelled = await spellTags(db, tags, row.owner_seq, wanted.visibility, known)
  const next: NextState = { ...wanted, category: category?.slug ?? null }
  if (next.kind === 'prompt' && next.apiName !== row.api_name) await requireFreeName(db, row.owner_seq, next.apiName)
  const now = context.now()
  const slug = await nextSlug(ITEM_SLUGS, context.random, db, row, next, wantedSlug)
  const changed = listChanges(current, next, spelled)
  if (slug !== row.slug) changed.push('slug')
  if (!(await hasSameFiles(db, row.seq, next))) changed.push('files')
  const isSame = changed.length === 0 && next.visibility === current.visibility && !editor.makesVersion
  if (isSame && !origin) return { row, tags: spelled, ...(blocked && { blocked }) }
  // A publication gives an address, too.
  const isVersion =
    isBase ||
    editor.makesVersion ||
    changed.some((field) => (field === 'slug' ? wantedSlug !== undefined : field !== 'tags' && field !== 'category'))
  const version = isVersion ? Math.max(row.version, row.blocked_version ?? 0) + 1 : row.version
  const isWider = isWiderThan(next.visibility, current.visibility) || (current.visibility === 'private' && next.visibility !== 'private')
  const verdict =
    isVersion || isWider
      ? await judge(db, { seq: row.seq, ownerSeq: row.owner_seq }, await toChecked(db, row.seq, next), now, checked)
      : null
  if (verdict && verdict.blocking.length > 0 && next.visibility !== 'private') {
    if (isWider)
      throw new AppError(
        'forbidden',
        `The check blocks this ${next.kind}, so that only its owner may see it: ${nameFindings(verdict.blocking)}.`,
      )
    if (isVersion) {
      if (wantedSlug !== undefined) throw invalidInput('slug', 'The check blocks this text. Change the slug by itself.')
      // Where it is filed and who sees it hold for what is served.
      const filing = { ...(await toNextState(db, row.seq, edited, {}, blocked)), ...filingOf(asked) }
      const { makesVersion: _m, restores: _r, ...filer } = editor
      const known = { current: edited, role: null, editorSeq, categories, blocked, served }
      const filed = await changeItem(context, db, notes, row, filer, known, filing, undefined, undefined, checked)
      return await writeBlocked(context, db, notes, filed.row, editor, { editorSeq, next, spelled, version, now })
    }
  }
  if (isVersion) await takeVersionRoom(db, { ownerSeq: row.owner_seq, isNew: false, note: editor.note }, next, spelled, context.quota)
  else if (!isSame) {
    // Whoever has no room left can still hide an item.
    const quota = isNarrower(next.visibility, current.visibility) ? null : context.quota
    await fileNewestVersion(db, { seq: row.seq, version, ownerSeq: row.owner_seq }, { ...next, tags: spelled }, quota)
  }
  notes.changed({ kind: next.kind, ownerId: row.owner_id, audience: audienceOf(row.visibility, next.visibility) })
  const { type, api_name, variables } =
    next.kind === 'prompt' ? { type: next.type, api_name: next.apiName, variables: JSON.stringify(variablesOf(next)) } : row
  const written = {
    title: next.title,
    description: next.description,
    type,
    ...toBodyColumns(next),
    api_name,
    variables,
    contributors: origin ? JSON.stringify(origin.contributors) : row.contributors,
    category_seq: category?.seq ?? null,
    visibility: next.visibility,
    was_public: row.was_public === 1 || next.visibility === 'public' ? 1 : 0,
    version,
    // What was filed here since its import was edited here, as what was written here.
    imported_version: origin ? version : isVersion ? row.imported_version : null,
    updated_at: isVersion ? now : row.updated_at,
    // A visibility chosen while the item is held stays: lifting the hold does not publish it.
    held_from: next.visibility === row.visibility ? row.held_from : null,
    blocked_version: isVersion ? null : row.blocked_version,
  }
  await together([
    updateItem(db, { seq: row.seq, slug, ...written }),
    ...(slug === row.slug ? [] : [keepSlug(ITEM_SLUGS, db, slug, row.seq)]),
    ...(hasParts(next) || hasParts(current) ? [writePartRefs(db, { seq: row.seq, ownerSeq: row.owner_seq, isNew: false }, next)] : []),
    ...(changed.includes('tags') ? [writeTags(db, row.seq, spelled, false)] : []),
    ...(isVersion
      ? [writeParts(db, { seq: row.seq, ownerSeq: row.owner_seq, version, editorSeq, note: editor.note, at: now }, next, spelled)]
      : []),
    ...(isVersion && verdict ? [writeVerdict(db, { seq: row.seq, version }, verdict)] : []),
  ])
  if (next.kind === 'skill') await keepChannelName(db, row.seq)
  notes.index(row.seq, await toSearchableText(db, row.seq, next, spelled), {
    ownerSeq: row.owner_seq,
    state: stateOf(row.seq, version, next, slug, spelled),
  })
  const target = { targetId: row.id, ownerId: row.owner_id }
  const { kind } = next
  const said = isVersion ? { kind, version } : { kind }
  if (origin) notes.audit({ action: 'items_imported', targetId: row.owner_id, ownerId: row.owner_id, detail: { created: 0, updated: 1 } })
  else if (editor.restores !== undefined) {
    notes.audit({ action: 'item_version_restored', ...target, detail: { kind, version, restored: editor.restores } })
  } else if (changed.length > 0 || isVersion) {
    notes.audit({ action: 'item_changed', ...target, detail: { ...said, ...(changed.length > 0 && { fields: changed }) } })
  }
  if (!origin && next.visibility !== row.visibility) {
    notes.audit({ action: 'item_visibility_changed', ...target, detail: { ...said, from: row.visibility, to: next.visibility } })
  }
  const names = { category_slug: category?.slug ?? null, category_name: category?.name ?? null }
  const left = isVersion ? null : blocked
  return { row: { ...row, ...written, ...names, slug }, tags: spelled, ...(left && { blocked: left }) }
}

/** The fields that file an item and say who sees it. */
function filingOf({ category, tags, visibility }: NextState) {
  return { category, tags, visibility }
}

/** The texts of a state for the check; the files of a skill that keeps them are read. */
async function toChecked(db: Kysely<Database>, seq: number, next: NextState): Promise<ReturnType<typeof filesToCheck>> {
  return filesToCheck(next.kind === 'skill' && !next.files ? { ...next, files: await readFiles(db, seq) } : next)
}

/** Writes a version that the check blocks: its owner sees it, and everybody else what was served before. */
async function writeBlocked(
  context: WriteContext,
  db: Kysely<Database>,
  notes: WriteNotes,
  row: ItemRow,
  editor: Editor,
  { editorSeq, next, spelled, version, now }: { editorSeq: number; next: NextState; spelled: readonly Tag[]; version: number; now: string },
): Promise<Written> {
  const whole: NextState = next.kind === 'skill' && !next.files ? { ...next, files: await readFiles(db, row.seq) } : next
  await takeVersionRoom(db, { ownerSeq: row.owner_seq, isNew: false, note: editor.note }, whole, spelled, context.quota)
  await writeParts(db, { seq: row.seq, ownerSeq: row.owner_seq, version, editorSeq, note: editor.note, at: now }, whole, spelled, true)
  await db.updateTable('item').set({ blocked_version: version }).where('seq', '=', row.seq).execute()
  notes.changed({ kind: next.kind, ownerId: row.owner_id, audience: 'owner' })
  notes.index(row.seq, null)
  notes.audit({ action: 'item_blocked', targetId: row.id, ownerId: row.owner_id, detail: { kind: next.kind, version } })
  const blocked = await readVersion(db, row.seq, version)
  return { row: { ...row, blocked_version: version }, tags: await currentTags(db, row.seq), ...(blocked && { blocked }) }
}

async function currentTags(db: Kysely<Database>, seq: number): Promise<readonly Tag[]> {
  return (await readTags(db, [seq])).get(seq) ?? []
}

/** Whether a text may take in others: a quick look, before it is taken apart. */
function hasParts(item: Item | NextState): boolean {
  return item.kind === 'prompt' && item.content.includes('${>')
}

/** The changed fields of what an item says. */
function listTextChanges(item: Item, next: NextState): AuditField[] {
  return listChanges(item, next, item.tags).filter((field) => field !== 'category')
}

/** The changed fields, except visibility, slug and files. */
function listChanges(item: Item, next: NextState, tags: readonly Tag[]): AuditField[] {
  const isChanged: readonly (readonly [AuditField, boolean])[] = [
    ['title', item.title !== next.title],
    ['description', item.description !== next.description],
    ['category', (item.category?.slug ?? null) !== next.category],
    ['tags', !isDeepStrictEqual(item.tags, tags)],
    ['type', item.kind === 'prompt' && next.kind === 'prompt' && item.type !== next.type],
    ['content', item.kind === 'prompt' && next.kind === 'prompt' && !isSameText(item, next)],
    ['config', item.kind === 'prompt' && next.kind === 'prompt' && !isDeepStrictEqual(item.config, next.config)],
    ['slug', item.kind === 'prompt' && next.kind === 'prompt' && item.apiName !== next.apiName],
  ]
  return isChanged.flatMap(([field, is]) => (is ? [field] : []))
}

async function hasSameFiles(db: Kysely<Database>, seq: number, next: NextState): Promise<boolean> {
  return next.kind === 'prompt' || !next.files || areSameFiles(await readFiles(db, seq), next.files)
}

function areSameFiles(files: readonly SkillFile[], others: readonly SkillFile[]): boolean {
  const before = new Map(files.map((file) => [file.filename, file]))
  return (
    files.length === others.length &&
    others.every((file) => {
      const known = before.get(file.filename)
      return known !== undefined && isSameFile(known, file)
    })
  )
}

/** The state of an item after a change. `files` null keeps those that it has; after a blocked version, its files are what changes. */
async function toNextState(
  db: Kysely<Database>,
  seq: number,
  item: Item,
  change: ItemChange,
  blocked: FullVersion | null,
): Promise<NextState> {
  const fields: ItemFields = {
    title: change.title ?? item.title,
    description: change.description === undefined ? item.description : change.description,
    category: change.category === undefined ? (item.category?.slug ?? null) : change.category,
    tags: change.tags ?? item.tags.map((tag) => tag.name),
    visibility: change.visibility ?? item.visibility,
  }
  if (item.kind === 'prompt') {
    const { type = item.type, apiName = item.apiName } = change
    return { ...fields, kind: item.kind, type, apiName, ...changeBody(item, change) }
  }
  const { files = blocked?.files ?? null } = change
  return { ...fields, kind: item.kind, files: typeof files === 'function' ? files(blocked?.files ?? (await readFiles(db, seq))) : files }
}

/** An item as it was just written. */
async function readWritten<Kind extends ItemKind>(
  db: Kysely<Database>,
  kind: Kind,
  { row, tags, blocked }: Written,
): Promise<ItemOf<Kind>> {
  const [item] = (await toItems(db, [row], new Map([[row.seq, tags]]))).filter(isOfKind(kind))
  if (!item) throw new AppError('internal', `The ${kind} that was written is of another kind`)
  return asEdited(item, blocked ?? null)
}

/** Writes of items. */
export function writeItems(context: WriteContext) {
  const write = async <T>(work: (db: Kysely<Database>, notes: WriteNotes, checked: Checked) => Promise<T>): Promise<T> => {
    context.requireRoom()
    return await withChecks((checked) => context.transact((db, notes) => work(db, notes, checked), { isUnseen: true }))
  }
  return {
    ...findTwins(context.reader),
    /** Notes where an import found an item. */
    keepImportSource: (id: string, source: string): Promise<void> => context.transact((db) => keepImportSource(db, id, source)),
    createItem: <Kind extends ItemKind>(
      owner: Editor,
      fields: NewItem & { readonly kind: Kind },
      origin?: ImportOrigin,
    ): Promise<ItemOf<Kind>> =>
      write(
        async (db, notes, checked) =>
          await readWritten(db, fields.kind, await createItem(context, db, notes, owner, fields, origin, checked)),
      ),
    /**
     * Finds by id, or by slug among all items; null when there is none or it is in the trash. `decide` checks the caller's rights; null from
     * it is no change.
     */
    changeItem: <Kind extends ItemKind>(
      kind: Kind,
      ref: string,
      editor: Editor,
      decide: Decide<ItemOf<Kind>, ChangeOf<Kind> | null>,
      origin?: ImportOrigin,
    ): Promise<ItemOf<Kind> | null> =>
      write(async (db, notes, checked) => {
        const row = await findRow(db, kind, ref, editor)
        if (!row) return null
        const items = toItems(db, [row]).then((read) => read.filter(isOfKind(kind)))
        const known = await readKnown(db, row, editor, items)
        const { current } = known
        const decided: ItemChange | null = decide(current, known.role)
        if (!decided) return current
        const next = await toNextState(db, row.seq, current, decided, known.blocked)
        return await readWritten(db, kind, await changeItem(context, db, notes, row, editor, known, next, decided.slug, origin, checked))
      }),
  }
}
