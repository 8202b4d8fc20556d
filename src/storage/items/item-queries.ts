import { type Kysely, sql } from 'kysely'
import type { ItemPage, ItemPageSizes, WalkPage, WalkPosition } from '../../domain/items/item-access.ts'
import type { Item, ItemKind, ItemOf } from '../../domain/items/items.ts'
import {
  type Facets,
  type HitScore,
  type ItemFilter,
  MAX_FACET_TAGS,
  type RelatedItem,
  type SearchRequest,
} from '../../domain/items/search.ts'
import { othersMaySee, type Reach, type Standing, standingOf, type VisibleSet, visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { Encoder } from '../../domain/ports/encoder.ts'
import { isId } from '../../domain/text/addresses.ts'
import { DERIVED_FROM } from '../../domain/text/excerpts.ts'
import { titleKey } from '../../search/analysis/query.ts'
import type { Audience, Viewer } from '../../search/index/item-table.ts'
import type { FacetCounts } from '../../search/index/select-items.ts'
import type { NearItem } from '../../search/ranking/rank-similar.ts'
import { type CountCollected, countInTables, findNarrowedSeqs, readCollectedRows } from '../collections/collection-rows.ts'
import { ownersSeenBy, seqOfUser } from '../people/user-rows.ts'
import { isOneOf, prepareListQuery, prepareQuery, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { indexAudience, type SearchReader } from '../search/search-reader.ts'
import { applyFilter, createTableLists, isBeyond, listAtLabel, readCategories, readFilter, toIndexFilter } from './item-filters.ts'
import {
  type ItemRow,
  isInVisibleSet,
  isNamed,
  readMarks,
  readRowsAs,
  readSource,
  readVariables,
  selectItems,
  seqOf,
  toItems,
} from './item-rows.ts'
import { readManifests } from './read-skills.ts'
import { readVersions } from './read-versions.ts'

/** The result of a search: row numbers, best first, and how many there are over all pages. */
interface FoundRows {
  readonly seqs: readonly number[]
  readonly scores: readonly HitScore[]
  readonly total: number
  readonly corrections: ReadonlyMap<string, string>
  /** Whether the encoder was starting or busy: the same search soon gives a better answer. */
  readonly isProvisional: boolean
  readonly facets?: Facets | undefined
}

/** An item near another in meaning. */
export type RelatedRow = NearItem

/** Related items with what was read of them. One that was hidden meanwhile is left out. */
export function withItems<T>(rows: readonly RelatedRow[], items: ReadonlyMap<number, T>): RelatedItem<T>[] {
  return rows.flatMap(({ seq, ...near }) => {
    const item = items.get(seq)
    return item ? [{ item, ...near }] : []
  })
}

/** The reads whose anonymous answers `cacheQueries` caches. Each applies the visibility rule to its actor. */
export type ItemQueries = ReturnType<typeof createItemQueries>

/** A statement for each standing, with the id of a member as the slot `readerId`. */
function prepareForEach<T>(reach: Reach, prepare: (set: VisibleSet) => T): Record<Standing, T> {
  const of = (standing: Standing, readerId: string | null) =>
    prepare({ visibilities: othersMaySee(standing, reach), readerId, within: null })
  return { outsider: of('outsider', null), stranger: of('stranger', null), member: of('member', slot('readerId')) }
}

/** The look-up behind every read of one item. */
const lookUp = (db: Kysely<Database>, by: 'id' | 'slug', set: VisibleSet, kind: string, ref: string) =>
  selectItems(db).where(isNamed(ref, by)).where('item.kind', '=', sql<ItemKind>`${kind}`).where(isInVisibleSet(set))
/** The same prepared: these are the hottest statements there are. */
const prepareLookUp = (by: 'id' | 'slug') =>
  prepareForEach(by, (set) => prepareQuery<ItemRow>((db) => lookUp(db, by, set, slot('kind'), slot('ref'))))
const PREPARED_LOOK_UPS = { id: prepareLookUp('id'), slug: prepareLookUp('slug') }

/** The row of the item `ref` names, when the actor may see it; an id wins over a slug. */
export async function findVisibleRow(db: Kysely<Database>, actor: Actor, kind: ItemKind, ref: string): Promise<ItemRow | null> {
  const reach = isId(ref) ? 'id' : 'slug'
  const set = visibleSet(actor, reach)
  if (set.within) return (await lookUp(db, reach, set, kind, ref).executeTakeFirst()) ?? null
  const rows = await PREPARED_LOOK_UPS[reach][standingOf(actor)](db, { ref, kind, readerId: set.readerId })
  return rows[0] ?? null
}

/** Selected directly: as a condition on users, SQLite would first fill a temporary index with them. */
const seenOwners = prepareStatement(sql<{ seq: number }>`select seq from ${ownersSeenBy(slot('readerId'))} as seen`)

/** The audiences of the index that somebody of a standing finds. */
function audiencesOf(standing: Standing): readonly Audience[] {
  return othersMaySee(standing, 'list').flatMap((visibility) => indexAudience(visibility) ?? [])
}

async function findViewer(db: Kysely<Database>, actor: Actor): Promise<Viewer> {
  const { readerId, within } = visibleSet(actor, 'list')
  const audiences = audiencesOf(standingOf(actor))
  const owners = readerId === null ? [] : await seenOwners(db, { readerId })
  const viewer = { audiences, seenOwners: new Set(owners.map(seqOf)) }
  if (within === null) return viewer
  if ('team' in within) {
    return { ...viewer, within: { owner: await seqOfUser(db, within.team) } }
  }
  const { own, others } = await findNarrowedSeqs(db, actor)
  const collected = await readCollectedRows(db, [...own, ...others])
  const rowsOf = (collections: readonly number[]) => new Set(collections.flatMap((seq) => collected.get(seq) ?? []))
  return { ...viewer, within: { items: rowsOf(own), openItems: rowsOf(others) } }
}

const rowsBySeq = prepareForEach('list', (set) =>
  prepareListQuery<ItemRow>((db, seqs) => selectItems(db).where('item.seq', 'in', seqs).where(isInVisibleSet(set))),
)

/** Rows by number, in no order; the visibility rule is applied to them as they are now. */
async function readRows(db: Kysely<Database>, actor: Actor, seqs: readonly number[]): Promise<ItemRow[]> {
  if (seqs.length === 0) return []
  const set = visibleSet(actor, 'list')
  const { readerId, within } = set
  if (within === null) return await rowsBySeq[standingOf(actor)](db, seqs, { readerId })
  if ('team' in within) return await selectItems(db).where(isOneOf('item.seq', seqs)).where(isInVisibleSet(set)).execute()
  // As a condition on items, an engine first reads all that is in the collections.
  const { own, others } = await findNarrowedSeqs(db, actor)
  const collected = await db
    .selectFrom('collection_item')
    .select(['item_seq', 'collection_seq'])
    .where(isOneOf('item_seq', seqs))
    .where(isOneOf('collection_seq', [...own, ...others]))
    .execute()
  if (collected.length === 0) return []
  const rows = await rowsBySeq[standingOf(actor)](db, [...new Set(collected.map(({ item_seq: seq }) => seq))], { readerId })
  const inOwn = new Set(collected.flatMap(({ item_seq: seq, collection_seq: collection }) => (own.includes(collection) ? [seq] : [])))
  return rows.filter(({ seq, visibility }) => inOwn.has(seq) || set.visibilities.includes(visibility))
}

/** Counts as callers get them: categories by slug, and the most used tags. */
async function toFacets(db: Kysely<Database>, { types, categories, tags, exact }: FacetCounts): Promise<Facets> {
  const slugs = new Map((await readCategories(db, {})).map(({ seq, slug }) => [seq, slug]))
  return {
    types: [...types].map(([type, count]) => ({ type, count })).sort((a, b) => (a.type < b.type ? -1 : 1)),
    categories: [...slugs].flatMap(([seq, slug]) => {
      const count = categories.get(seq)
      return count === undefined ? [] : [{ slug, count }]
    }),
    tags: tags.slice(0, MAX_FACET_TAGS),
    exact,
  }
}

/** The queries over one connection, uncached. `encoder` is asked about each query. */
export function createItemQueries(db: Kysely<Database>, search: SearchReader, encoder: Pick<Encoder, 'encodeQuery' | 'state'> | null) {
  const viewerOf = (actor: Actor) => findViewer(db, actor)
  const countCollectedInTables = countInTables(db)
  const manifests = readManifests(db)
  const versions = readVersions(db)
  const lists = createTableLists(db)
  const relatedTo = async (actor: Actor, { kind, seq }: ItemRow, limit: number): Promise<RelatedRow[]> => {
    const [index, viewer] = await Promise.all([search.current(), viewerOf(actor)])
    return index.related(kind, seq, viewer, limit)
  }
  /** Items by row number; those the actor may not list are left out. */
  const readItems = async <Kind extends ItemKind>(
    actor: Actor,
    kind: Kind,
    seqs: readonly number[],
  ): Promise<ReadonlyMap<number, ItemOf<Kind>>> => {
    const found = await readRowsAs(db, await readRows(db, actor, seqs), kind)
    return new Map(found.map(({ row, item }) => [row.seq, item]))
  }
  return {
    walkSkills: manifests.walkSkills,
    listVersions: versions.listVersions,
    findVersion: versions.findVersion,
    listAtLabel: listAtLabel(db),
    /** An item by id or slug, with its row number. */
    async findItem<Kind extends ItemKind>(actor: Actor, kind: Kind, ref: string) {
      const row = await findVisibleRow(db, actor, kind, ref)
      const [found] = row ? await readRowsAs(db, [row], kind) : []
      return found ? { seq: found.row.seq, item: found.item } : null
    },
    async findRows(
      actor: Actor,
      kind: ItemKind,
      { query, text, sort, limit, offset, filter: asked, wantsFacets }: SearchRequest,
    ): Promise<FoundRows> {
      const rowFilter = await readFilter(db, actor, asked)
      if (query === null && !search.isReady()) {
        const listed = await lists.findRows(actor, kind, rowFilter, { sort, limit, offset })
        const facets = wantsFacets ? await toFacets(db, await lists.countFacets(actor, kind, rowFilter)) : undefined
        return { ...listed, scores: [], corrections: new Map(), isProvisional: false, facets }
      }
      const filter = await toIndexFilter(db, rowFilter)
      const viewer = await viewerOf(actor)
      const isEncoded = encoder !== null && text !== undefined && query !== null && query.words.length > 0
      const [index, sentence] = await Promise.all([search.current(), isEncoded ? encoder.encodeQuery(text) : null])
      const isProvisional = isEncoded && sentence === null && encoder.state() !== 'fallback'
      const request = { query, titleKey: titleKey(text ?? ''), sentence, sort, limit, offset, filter, viewer, wantsFacets }
      const { facets, ...found } = index.search(kind, request)
      if (query?.words.length && search.isCut() && found.scores.every(({ isApproximate }) => isApproximate)) {
        const listed = await lists.findByTitle(actor, kind, rowFilter, query.words, { limit, offset })
        const scores = listed.seqs.map(() => ({ score: 1, isApproximate: false }))
        if (listed.total > 0) return { ...listed, scores, corrections: new Map(), isProvisional: true, facets: undefined }
      }
      return {
        ...found,
        isProvisional,
        facets: facets && (await toFacets(db, facets)),
      }
    },
    /** Items near one in meaning, nearest first, by row number with their cosine. */
    async findRelated(actor: Actor, kind: ItemKind, id: string, limit: number) {
      const row = await findVisibleRow(db, actor, kind, id)
      return row ? await relatedTo(actor, row, limit) : []
    },
    /** An item and what its page shows with it, read after one look-up; null for what the actor may not see. */
    async readItemPage(actor: Actor, kind: ItemKind, ref: string, most: ItemPageSizes): Promise<ItemPage | null> {
      const row = await findVisibleRow(db, actor, kind, ref)
      if (!row) return null
      const readRelated = async () => {
        const near = await relatedTo(actor, row, most.related)
        return withItems<Item>(near, await readItems(actor, kind, near.map(seqOf)))
      }
      const [[item], listed, related, source, marks] = await Promise.all([
        toItems(db, [row]),
        versions.listVersionsOf(actor, row, { before: null, limit: most.versions }),
        readRelated(),
        readSource(db, actor, row),
        actor.kind === 'user' ? readMarks(db, actor, row) : null,
      ])
      return item ? { item, versions: listed, related, source, marks } : null
    },
    readItems,
    /** Prompts newest first, after `after`; stable while items are added. Texts are not read. */
    async walkPrompts(actor: Actor, filter: ItemFilter, after: WalkPosition | null, limit: number): Promise<WalkPage> {
      let query = applyFilter(db.selectFrom('item'), 'prompt', await readFilter(db, actor, filter), visibleSet(actor, 'list'))
      if (after) query = query.where(isBeyond(after, 'newest'))
      const rows = await query
        .select(['item.seq', 'item.id', 'item.slug', 'item.title', 'item.description', 'item.variables', 'item.created_at'])
        .select(sql<string>`case when item.description is null then substr(item.content, 1, ${DERIVED_FROM}) else '' end`.as('start'))
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
          start: row.start,
          variables: readVariables(row.variables),
          createdAt: row.created_at,
          position: { createdAt: row.created_at, order: row.seq },
        })),
      }
    },
    async countPrompts(actor: Actor, asked: ItemFilter): Promise<number> {
      const rowFilter = await readFilter(db, actor, asked)
      if (!search.isReady()) return await lists.countItems(actor, 'prompt', rowFilter)
      const filter = await toIndexFilter(db, rowFilter)
      const viewer = await viewerOf(actor)
      const index = await search.current()
      return index.search('prompt', { query: null, sort: 'newest', limit: 0, offset: 0, filter, viewer }).total
    },
    async listCategories(actor: Actor) {
      const rows = await db
        .selectFrom('category as c')
        .leftJoin('category as parent', 'parent.seq', 'c.parent_seq')
        .select(['c.seq', 'c.slug', 'c.name', 'parent.slug as parent'])
        .orderBy((eb) => eb.fn.coalesce('parent.position', 'c.position'))
        .orderBy((eb) => eb.case().when('parent.slug', 'is', null).then(0).else(1).end())
        .orderBy('c.position')
        .execute()
      const viewer = await viewerOf(actor)
      const count = async (kind: ItemKind) =>
        search.isReady() ? (await search.current()).countCategories(kind, viewer) : await lists.countByCategory(actor, kind)
      const [prompts, skills] = [await count('prompt'), await count('skill')]
      return rows.map(({ seq, ...category }) => ({ ...category, prompts: prompts.get(seq) ?? 0, skills: skills.get(seq) ?? 0 }))
    },
    /** The part of the index that the actor finds, by the visibility rule. */
    findViewer: viewerOf,
    async countCollected(...[actor, collectionSeqs]: Parameters<CountCollected>): ReturnType<CountCollected> {
      if (collectionSeqs.length === 0 || !search.isReady()) return await countCollectedInTables(actor, collectionSeqs)
      const viewer = await viewerOf(actor)
      const index = await search.current()
      const collected = await readCollectedRows(db, collectionSeqs)
      return new Map(
        [...collected].map(([seq, items]) => [
          seq,
          { prompt: index.countAmong('prompt', viewer, items), skill: index.countAmong('skill', viewer, items) },
        ]),
      )
    },
    async countTags(actor: Actor) {
      const viewer = await viewerOf(actor)
      return (await search.current()).countTags(viewer)
    },
    /** Languages of the texts that others share with the actor, by ISO 639-1 code, most texts first; `share` is about the share of texts. */
    async findLanguages(actor: Actor) {
      const viewer = await viewerOf(actor)
      return viewer.within ? [] : (await search.current()).findLanguages(viewer)
    },
  }
}
