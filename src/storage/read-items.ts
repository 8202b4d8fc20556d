import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Actor } from '../library/actor.ts'
import { PROMPT_TYPES } from '../library/fields.ts'
import { isId } from '../library/identifier.ts'
import type { ItemKind, Prompt, Skill } from '../library/items.ts'
import type { ItemFilter, LibraryReader, SearchRequest, SearchResult } from '../library/ports.ts'
import { WIDEN_BELOW } from '../library/search.ts'
import { type SkillFile, sortFilenames } from '../library/skill.ts'
import { type VisibleSet, visibleSet } from '../library/visibility.ts'
import type { Dialect } from './dialects/dialect.ts'
import { type ItemRow, isInVisibleSet, readVariables, selectItems, toPrompts, toSkills } from './item-rows.ts'
import { prepareQuery, slot } from './prepared.ts'
import { readManifests } from './read-manifests.ts'
import type { Database } from './schema.ts'

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

/** Adds what a filter asks for to a query over items. */
function applyFilter<O>(
  query: SelectQueryBuilder<Database, 'item', O>,
  kind: ItemKind,
  filter: ItemFilter,
  set: VisibleSet,
): SelectQueryBuilder<Database, 'item', O> {
  let narrowed = query.where('item.kind', '=', kind).where(isInVisibleSet(set))
  const { ids, type, categories, anyTags, allTags, authors } = filter
  if (ids) narrowed = narrowed.where('item.id', 'in', ids)
  if (type !== undefined) narrowed = narrowed.where('item.type', '=', type)
  if (categories) {
    narrowed = narrowed.where('item.category_seq', 'in', (eb) =>
      eb
        .selectFrom('category as c')
        .leftJoin('category as parent', 'parent.seq', 'c.parent_seq')
        .select('c.seq')
        .where((w) => w.or([w('c.slug', 'in', categories), w('parent.slug', 'in', categories)])),
    )
  }
  if (anyTags)
    narrowed = narrowed.where('item.seq', 'in', (eb) => eb.selectFrom('item_tag').select('item_seq').where('slug', 'in', anyTags))
  for (const tag of new Set(allTags)) {
    narrowed = narrowed.where('item.seq', 'in', (eb) => eb.selectFrom('item_tag').select('item_seq').where('slug', '=', tag))
  }
  if (authors) {
    const keys = authors.map((name) => name.toLowerCase())
    narrowed = narrowed.where('item.author_seq', 'in', (eb) => eb.selectFrom('user').select('user.seq').where('username_key', 'in', keys))
  }
  return narrowed
}

async function count(query: SelectQueryBuilder<Database, 'item', unknown>): Promise<number> {
  const row = await query.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return Number(row.n)
}

/** Row numbers of one page of a search, best first, and the exact number of matches. */
async function searchSeqs(
  db: Kysely<Database>,
  dialect: Dialect,
  actor: Actor,
  kind: ItemKind,
  request: SearchRequest,
): Promise<{ seqs: number[]; total: number }> {
  const set = visibleSet(actor, 'list')
  const { query, filter, limit, offset } = request
  const sort = request.sort === 'relevance' && !query ? 'newest' : request.sort
  const page = <O>(found: SelectQueryBuilder<Database, 'item', O>) => {
    const ordered =
      sort === 'oldest'
        ? found.orderBy('item.created_at').orderBy('item.seq')
        : sort === 'votes'
          ? found.orderBy('item.votes', 'desc').orderBy('item.seq', 'desc')
          : sort === 'newest'
            ? found.orderBy('item.created_at', 'desc').orderBy('item.seq', 'desc')
            : found
    return ordered.select('item.seq').limit(limit).offset(offset)
  }
  if (!query) {
    const all = applyFilter(db.selectFrom('item'), kind, filter, set)
    return { seqs: (await page(all).execute()).map((row) => row.seq), total: request.needsTotal ? await count(all) : 0 }
  }
  if (query.terms.length === 0) return { seqs: [], total: 0 }
  const matching = (words: 'all' | 'any') => {
    const match = dialect.matchText(kind, query, words, set.ownerId === null ? 'public' : 'everything').as('match')
    const joined = applyFilter(db.selectFrom('item'), kind, filter, set)
    return { joined: joined.innerJoin(match, 'match.seq', 'item.seq') }
  }
  const strict = matching('all').joined
  const strictSeqs = query.terms.length === 1 ? [] : (await strict.select('item.seq').limit(WIDEN_BELOW).execute()).map((row) => row.seq)
  const isWidened = query.terms.length > 1 && strictSeqs.length < WIDEN_BELOW
  const found = isWidened ? matching('any').joined : strict
  const wholeFirst =
    isWidened && strictSeqs.length > 0 ? found.orderBy(sql`case when item.seq in (${sql.join(strictSeqs)}) then 0 else 1 end`) : found
  const ranked = sort === 'relevance' ? wholeFirst.orderBy('match.rank').orderBy('item.votes', 'desc').orderBy('item.seq', 'desc') : found
  const rows = await page(ranked).execute()
  return { seqs: rows.map((row) => row.seq), total: request.needsTotal ? await count(found) : rows.length }
}

/** Rows by number, in the order asked for. */
async function readRows(db: Kysely<Database>, seqs: readonly number[]): Promise<ItemRow[]> {
  if (seqs.length === 0) return []
  const rows = new Map((await selectItems(db).where('item.seq', 'in', seqs).execute()).map((row) => [row.seq, row]))
  return seqs.flatMap((seq) => rows.get(seq) ?? [])
}

/** The reading half of the store over one connection. */
export function readLibrary(db: Kysely<Database>, dialect: Dialect): LibraryReader {
  const search = async <T>(
    actor: Actor,
    kind: ItemKind,
    request: SearchRequest,
    read: (rows: ItemRow[]) => Promise<T[]>,
  ): Promise<SearchResult<T>> => {
    const { seqs, total } = await searchSeqs(db, dialect, actor, kind, request)
    return { items: await read(await readRows(db, seqs)), total }
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
  return {
    ...readManifests(db),
    async findPrompt(actor, ref) {
      const row = await findVisibleRow(db, actor, 'prompt', ref)
      return row ? ((await toPrompts(db, [row]))[0] ?? null) : null
    },
    async findSkill(actor, ref) {
      const row = await findVisibleRow(db, actor, 'skill', ref)
      return row ? ((await toSkills(db, [row]))[0] ?? null) : null
    },
    searchPrompts: (actor, request) => search<Prompt>(actor, 'prompt', request, (rows) => toPrompts(db, rows)),
    searchSkills: (actor, request) => search<Skill>(actor, 'skill', request, (rows) => toSkills(db, rows)),
    async walkPrompts(actor, filter, after, limit) {
      let query = applyFilter(db.selectFrom('item'), 'prompt', filter, visibleSet(actor, 'list'))
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
    },
    countPrompts: (actor, filter) => count(applyFilter(db.selectFrom('item'), 'prompt', filter, visibleSet(actor, 'list'))),
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
    async listCategories(actor) {
      const rows = await db
        .selectFrom('category as c')
        .leftJoin('category as parent', 'parent.seq', 'c.parent_seq')
        .select(['c.seq', 'c.slug', 'c.name', 'parent.slug as parent'])
        .orderBy((eb) => eb.fn.coalesce('parent.position', 'c.position'))
        .orderBy((eb) => eb.case().when('parent.slug', 'is', null).then(0).else(1).end())
        .orderBy('c.position')
        .execute()
      const counts = await db
        .selectFrom('item')
        .where(isInVisibleSet(visibleSet(actor, 'list')))
        .where('item.category_seq', 'is not', null)
        .groupBy(['item.category_seq', 'item.kind'])
        .select((eb) => ['item.category_seq', 'item.kind', eb.fn.countAll<number>().as('n')])
        .execute()
      const countOf = (seq: number, kind: ItemKind) => Number(counts.find((row) => row.category_seq === seq && row.kind === kind)?.n ?? 0)
      return rows.map((row) => ({
        slug: row.slug,
        name: row.name,
        parent: row.parent,
        prompts: countOf(row.seq, 'prompt'),
        skills: countOf(row.seq, 'skill'),
      }))
    },
    async listTags(actor, page) {
      const used = db
        .selectFrom('item_tag')
        .innerJoin('item', 'item.seq', 'item_tag.item_seq')
        .where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
        .groupBy('item_tag.slug')
      const rows = await used
        .select((eb) => ['item_tag.slug', eb.fn.min('item_tag.name').as('name'), eb.fn.countAll<number>().as('n')])
        .orderBy('n', 'desc')
        .orderBy('item_tag.slug')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      const all = await db
        .selectFrom(used.select('item_tag.slug').as('tag'))
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return { items: rows.map((row) => ({ slug: row.slug, name: row.name, count: Number(row.n) })), total: Number(all.n) }
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
