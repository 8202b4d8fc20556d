import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { type Actor, ANONYMOUS } from '../../library/actor.ts'
import { PROMPT_TYPES } from '../../library/fields.ts'
import { isId } from '../../library/identifier.ts'
import type { ItemKind, Prompt, Skill } from '../../library/items.ts'
import type { ItemFilter, LibraryReader, SearchRequest, TextSearchResult, WalkPage, WalkPosition } from '../../library/ports.ts'
import type { Keeper } from '../../library/public-reads.ts'
import { shareRecord } from '../../library/shared-records.ts'
import { type SkillFile, sortFilenames } from '../../library/skill.ts'
import { visibleSet } from '../../library/visibility.ts'
import { type KeptReads, keyOf, MAX_KEPT_KEY, NAME_WEIGHT, weighPrompt, weighSkill } from '../kept-reads.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { SearchReader } from '../search/search-reader.ts'
import type { VectorReader } from '../search/vector-reader.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { type ItemRow, isInVisibleSet, readVariables, selectItems, toPrompts, toSkills } from './item-rows.ts'
import { readManifests } from './read-manifests.ts'

const stringsJson = z.array(z.string())

/** The two look-ups behind every read of one item, prepared: they are the hottest statements there are. */
const findById = prepareQuery<ItemRow>((db) =>
  selectItems(db)
    .where('item.id', '=', slot('ref'))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where(isInVisibleSet({ ...visibleSet({ kind: 'anonymous' }, 'id'), ownerId: slot('ownerId') })),
)
const findBySlug = prepareQuery<ItemRow>((db) =>
  selectItems(db)
    .innerJoin('slug', 'slug.item_seq', 'item.seq')
    .where('slug.slug', '=', slot('ref'))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where(isInVisibleSet({ ...visibleSet({ kind: 'anonymous' }, 'slug'), ownerId: slot('ownerId') })),
)

/** The row of the item `ref` names, when the actor may see it; an id wins over a slug. */
export async function findVisibleRow(db: Kysely<Database>, actor: Actor, kind: ItemKind, ref: string): Promise<ItemRow | null> {
  const reach = isId(ref) ? 'id' : 'slug'
  const rows = await (reach === 'id' ? findById : findBySlug)(db, { ref, kind, ownerId: visibleSet(actor, reach).ownerId })
  return rows[0] ?? null
}

const userSeq = prepareQuery((db) => db.selectFrom('user').select('seq').where('id', '=', slot('id')))

/** The row number of a user whose own items are found too; null for everybody else. */
async function findViewer(db: Kysely<Database>, actor: Actor): Promise<number | null> {
  const { ownerId } = visibleSet(actor, 'list')
  if (ownerId === null) return null
  const [user] = await userSeq(db, { id: ownerId })
  return user?.seq ?? null
}

/** A cosine as people read it: a whole number from 0 to 100. */
function toPercent(cosine: number): number {
  return Math.round(Math.min(1, Math.max(0, cosine)) * 100)
}

/** Rows by number, in the order asked for; the visibility rule is applied to them again as they are now. */
async function readRows(db: Kysely<Database>, actor: Actor, seqs: readonly number[]): Promise<ItemRow[]> {
  if (seqs.length === 0) return []
  const visible = selectItems(db)
    .where('item.seq', 'in', seqs)
    .where(isInVisibleSet(visibleSet(actor, 'list')))
  const rows = new Map((await visible.execute()).map((row) => [row.seq, row]))
  return seqs.flatMap((seq) => rows.get(seq) ?? [])
}

/**
 * The reading half of the store over one connection. `vectors` are a provider's, where there is one.
 * @param kept what is remembered of public reads; null on a connection that sees what others do not see yet
 */
export function readLibrary(
  db: Kysely<Database>,
  searchReader: SearchReader,
  vectors: VectorReader | null,
  kept: KeptReads | null,
): LibraryReader {
  /** What is kept, as it is now, for a read of nobody in particular; null for everybody else. */
  const openKept = async (actor: Actor) => (kept !== null && actor.kind === 'anonymous' ? { ...kept, state: await kept.refresh() } : null)
  /** Reads what nobody in particular asks for once, and then remembers it. `toKept` makes it ready for that, and says what it weighs. */
  const readOnce = async <T>(
    actor: Actor,
    place: (all: KeptReads) => Keeper<T>,
    key: string,
    read: () => Promise<T>,
    toKept: (value: T) => number = () => 1,
  ): Promise<T> => {
    const open = key.length > MAX_KEPT_KEY ? null : await openKept(actor)
    if (!open) return await read()
    const keeper = place(open)
    const known = keeper.get(key)
    if (known !== undefined) return known
    const value = await read()
    keeper.put(open.state, key, value, toKept(value))
    return value
  }
  const askIndex = async (actor: Actor, kind: ItemKind, { query, sort, limit, offset, filter: asked, vector }: SearchRequest) => {
    const filter = await readFilter(db, asked)
    const viewer = await findViewer(db, actor)
    const index = await searchReader.current()
    const request = { query, sort, limit, offset, filter, viewer }
    const cosines = vectors && vector ? await vectors.compare(kind, request, vector) : null
    return index.search(kind, request, cosines)
  }
  const search = async <T extends Prompt | Skill>(
    actor: Actor,
    kind: ItemKind,
    request: SearchRequest,
    { place, weigh, read }: { place(all: KeptReads): Keeper<T>; weigh(item: T): number; read(rows: ItemRow[]): Promise<T[]> },
  ): Promise<TextSearchResult<T>> => {
    const { query, sort, limit, offset, filter } = request
    const ask = () => askIndex(actor, kind, request)
    // What a provider says of a query may be another thing a moment later.
    const { seqs, total, corrections } =
      vectors === null ? await readOnce(actor, (all) => all.searches, keyOf(kind, query, sort, limit, offset, filter), ask) : await ask()
    const open = await openKept(actor)
    if (!open) return { items: await read(await readRows(db, actor, seqs)), total, corrections }
    const keeper = place(open)
    const items = new Map(seqs.map((seq) => [seq, keeper.get(String(seq))]))
    const rows = await readRows(
      db,
      actor,
      seqs.filter((seq) => items.get(seq) === undefined),
    )
    for (const [at, item] of (await read(rows)).entries()) {
      const seq = rows[at]?.seq ?? 0
      items.set(seq, item)
      keeper.put(open.state, String(seq), shareRecord(item), weigh(item))
    }
    return { items: seqs.flatMap((seq) => items.get(seq) ?? []), total, corrections }
  }
  const visibleItem = (actor: Actor, itemId: string) =>
    db
      .selectFrom('item')
      .select(['item.seq', 'item.owner_seq'])
      .where('item.id', '=', itemId)
      .where(isInVisibleSet(visibleSet(actor, 'id')))
  const seesAllVersions = async (actor: Actor, itemId: string) => {
    const ownerId = visibleSet(actor, 'id').ownerId
    if (ownerId === null) return false
    const owned = await db
      .selectFrom('item')
      .innerJoin('user', 'user.seq', 'item.owner_seq')
      .select('item.seq')
      .where('item.id', '=', itemId)
      .where('user.id', '=', ownerId)
      .executeTakeFirst()
    return owned !== undefined
  }
  const versions = async (actor: Actor, itemId: string) => {
    const all = db
      .selectFrom('version')
      .innerJoin('user', 'user.seq', 'version.author_seq')
      .where('version.item_seq', 'in', visibleItem(actor, itemId).clearSelect().select('item.seq'))
    return (await seesAllVersions(actor, itemId)) ? all : all.where('version.visibility', '=', 'public')
  }
  const walkPrompts = async (actor: Actor, filter: ItemFilter, after: WalkPosition | null, limit: number): Promise<WalkPage> => {
    let query = applyFilter(db.selectFrom('item'), 'prompt', await readFilter(db, filter), visibleSet(actor, 'list'))
    if (after) {
      query = query.where((eb) =>
        eb.or([
          eb('item.created_at', '<', after.createdAt),
          eb.and([eb('item.created_at', '=', after.createdAt), eb('item.seq', '<', after.order)]),
        ]),
      )
    }
    const rows = await query
      .select(['item.seq', 'item.id', 'item.slug', 'item.title', 'item.description', 'item.variables', 'item.created_at'])
      .orderBy('item.created_at', 'desc')
      .orderBy('item.seq', 'desc')
      .limit(limit)
      .execute()
    return {
      limit,
      entries: rows.map((row) => ({
        id: row.id,
        slug: row.slug,
        title: row.title,
        description: row.description,
        variables: readVariables(row.variables),
        createdAt: row.created_at,
        position: { createdAt: row.created_at, order: row.seq },
      })),
    }
  }
  const countPrompts = async (actor: Actor, filter: ItemFilter): Promise<number> => {
    const narrowed = await readFilter(db, filter)
    const viewer = await findViewer(db, actor)
    const index = await searchReader.current()
    return index.search('prompt', { query: null, sort: 'newest', limit: 0, offset: 0, filter: narrowed, viewer }).total
  }
  const listVersions: LibraryReader['listVersions'] = async (actor, itemId, page) => {
    let query = await versions(actor, itemId)
    if (page.before !== null) query = query.where('version.number', '<', page.before)
    const rows = await query
      .select(['version.number', 'version.note', 'user.username', 'version.created_at', 'version.visibility'])
      .orderBy('version.number', 'desc')
      .limit(page.limit)
      .execute()
    return rows.map((row) => ({
      version: row.number,
      note: row.note,
      author: row.username,
      createdAt: row.created_at,
      visibility: row.visibility,
    }))
  }
  const listCategories: LibraryReader['listCategories'] = async (actor) => {
    const rows = await db
      .selectFrom('category as c')
      .leftJoin('category as parent', 'parent.seq', 'c.parent_seq')
      .select(['c.seq', 'c.slug', 'c.name', 'parent.slug as parent'])
      .orderBy((eb) => eb.fn.coalesce('parent.position', 'c.position'))
      .orderBy((eb) => eb.case().when('parent.slug', 'is', null).then(0).else(1).end())
      .orderBy('c.position')
      .execute()
    const viewer = await findViewer(db, actor)
    const index = await searchReader.current()
    const prompts = index.countCategories('prompt', viewer)
    const skills = index.countCategories('skill', viewer)
    return rows.map((row) => ({
      slug: row.slug,
      name: row.name,
      parent: row.parent,
      prompts: prompts.get(row.seq) ?? 0,
      skills: skills.get(row.seq) ?? 0,
    }))
  }
  const manifests = readManifests(db)
  return {
    findSkillAt: manifests.findSkillAt,
    walkSkills: (actor, after, limit) =>
      readOnce(
        actor,
        (all) => all.manifests,
        keyOf(after, limit),
        () => manifests.walkSkills(actor, after, limit),
        (page) => page.reduce((sum, { files }) => sum + files.length, 1),
      ),
    async findPrompt(actor, ref) {
      const open = await openKept(actor)
      const known = open?.prompts.get(`ref ${ref}`)
      if (known) return known
      const row = await findVisibleRow(db, actor, 'prompt', ref)
      if (!row) return null
      const [prompt = null] = await toPrompts(db, [row])
      if (!open || prompt?.visibility !== 'public') return prompt
      const shared = open.prompts.get(String(row.seq)) ?? shareRecord(prompt)
      open.prompts.put(open.state, String(row.seq), shared, weighPrompt(shared))
      for (const name of new Set([ref, shared.id])) open.prompts.put(open.state, `ref ${name}`, shared, NAME_WEIGHT)
      return shared
    },
    async findSkill(actor, ref) {
      const row = await findVisibleRow(db, actor, 'skill', ref)
      return row ? ((await toSkills(db, [row]))[0] ?? null) : null
    },
    searchPrompts: (actor, request) =>
      search<Prompt>(actor, 'prompt', request, { place: (all) => all.prompts, weigh: weighPrompt, read: (rows) => toPrompts(db, rows) }),
    searchSkills: (actor, request) =>
      search<Skill>(actor, 'skill', request, { place: (all) => all.skills, weigh: weighSkill, read: (rows) => toSkills(db, rows) }),
    walkPrompts: (actor, filter, after, limit) =>
      readOnce(
        actor,
        (all) => all.walks,
        keyOf(filter, after, limit),
        () => walkPrompts(actor, filter, after, limit),
        (page) => shareRecord(page).entries.length + 1,
      ),
    countPrompts: (actor, filter) =>
      readOnce(
        actor,
        (all) => all.counts,
        keyOf(filter),
        () => countPrompts(actor, filter),
      ),
    async findSimilarPrompts(text, { types, limit, vector }) {
      const index = await searchReader.current()
      const cosines = vectors && vector ? await vectors.compareLike('prompt', { types }, vector) : null
      const found = new Map(index.similar('prompt', text, { types }, limit, cosines).map(({ seq, similarity }) => [seq, similarity]))
      const rows = await readRows(db, ANONYMOUS, [...found.keys()])
      const prompts = await toPrompts(db, rows)
      return prompts.map((prompt, place) => ({ prompt, similarity: toPercent(found.get(rows[place]?.seq ?? 0) ?? 0) }))
    },
    async readSkillFiles(actor, skillId) {
      const rows = await db
        .selectFrom('skill_file')
        .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
        .select(['skill_file.filename', 'blob.bytes'])
        .where('skill_file.item_seq', 'in', visibleItem(actor, skillId).clearSelect().select('item.seq'))
        .execute()
      return sortFilenames<SkillFile>(rows)
    },
    async readSkillFile(actor, skillId, filename) {
      const row = await db
        .selectFrom('skill_file')
        .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
        .select(['skill_file.filename', 'blob.bytes'])
        .where('skill_file.item_seq', 'in', visibleItem(actor, skillId).clearSelect().select('item.seq'))
        .where('skill_file.filename', '=', filename)
        .executeTakeFirst()
      return row ?? null
    },
    async listVersions(actor, itemId, page) {
      const open = await openKept(actor)
      // Whether an item is public is known of those that are kept.
      if (open?.prompts.get(`ref ${itemId}`) === undefined) return await listVersions(actor, itemId, page)
      const key = keyOf(itemId, page)
      const known = open.versions.get(key)
      if (known !== undefined) return known
      const read = shareRecord(await listVersions(actor, itemId, page))
      open.versions.put(open.state, key, read, 1)
      return read
    },
    async findVersion(actor, itemId, version) {
      const row = await (await versions(actor, itemId))
        .innerJoin('item', 'item.seq', 'version.item_seq')
        .selectAll('version')
        .select(['user.username', 'item.kind'])
        .where('version.number', '=', version)
        .executeTakeFirst()
      if (!row) return null
      const files =
        row.kind === 'skill'
          ? await db
              .selectFrom('version_file')
              .innerJoin('blob', 'blob.sha256', 'version_file.sha256')
              .select(['version_file.filename', 'blob.bytes'])
              .where('version_file.version_seq', '=', row.seq)
              .execute()
          : null
      return {
        version: row.number,
        note: row.note,
        author: row.username,
        createdAt: row.created_at,
        visibility: row.visibility,
        title: row.title,
        description: row.description,
        category: row.category,
        tags: stringsJson.parse(JSON.parse(row.tags)),
        type: row.type === null ? null : z.enum(PROMPT_TYPES).parse(row.type),
        content: row.kind === 'prompt' ? row.content : null,
        files: files ? sortFilenames<SkillFile>(files) : null,
      }
    },
    listCategories: (actor) =>
      readOnce(
        actor,
        (all) => all.categories,
        '',
        () => listCategories(actor),
      ),
    async listTags(actor, page) {
      const count = async () => (await searchReader.current()).countTags(await findViewer(db, actor))
      const tags = await readOnce(actor, (all) => all.tags, '', count)
      return { items: tags.slice(page.offset, page.offset + page.limit), total: tags.length }
    },
    async listTrash(ownerId, page) {
      const mine = db
        .selectFrom('item')
        .innerJoin('user', 'user.seq', 'item.owner_seq')
        .where('user.id', '=', ownerId)
        .where('item.deleted_at', 'is not', null)
      const rows = await mine
        .select(['item.id', 'item.kind', 'item.title', 'item.deleted_at'])
        .orderBy('item.deleted_at', 'desc')
        .orderBy('item.seq', 'desc')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      const total = await mine.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      return {
        items: rows.map((row) => ({ id: row.id, kind: row.kind, title: row.title, deletedAt: row.deleted_at ?? '' })),
        total: Number(total.n),
      }
    },
  } satisfies LibraryReader
}
