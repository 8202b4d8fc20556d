import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { type SharedChange, type SharedVersion, sharedPath } from '../../domain/items/changes.ts'
import type { OwnerForItems, WalkPosition } from '../../domain/items/item-access.ts'
import { type Item, type ItemKind, type ItemOf, isOfKind, type Prompt } from '../../domain/items/items.ts'
import type { FindSimilar, ItemFilter, RelatedItem, SearchRequest, SearchResult, TextSearchResult } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, ANONYMOUS } from '../../domain/people/actor.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import type { Encoder } from '../../domain/ports/encoder.ts'
import { makeBody } from '../../domain/prompts/body.ts'
import { listSkillFiles, type SkillFile } from '../../domain/skills/skill.ts'
import { compareWords, MIN_NEARLY_SAME, readWordCounts } from '../../search/ranking/rank-similar.ts'
import { countFiles, readSharedChanges } from '../change-log.ts'
import { findOwner, findRole, listMemberIds, ownersSeenBy, ownersWith } from '../people/user-rows.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { SearchReader } from '../search/search-reader.ts'
import { applyFilter, isBeyond, readFilter } from './item-filters.ts'
import { isVersionVisible, selectLabelled } from './item-labels.ts'
import { type ItemQueries, withItems } from './item-queries.ts'
import { readPage, readTags, selectItems, seqOf, toItems } from './item-rows.ts'
import { readNamedPrompts, readParts } from './named-prompts.ts'
import { readManifests, readSharedSkills } from './read-skills.ts'
import { type readVersions, selectVisible } from './read-versions.ts'

const targetsJson = z.array(z.object({ version: z.number() })).min(1)

/** The version of the largest share; null where the label was removed. */
function topOf(json: string | null): number | null {
  return json === null ? null : (targetsJson.parse(JSON.parse(json))[0]?.version ?? null)
}

/** The moves of a label as a history: what everybody who follows it had, one after the other. */
function readLabelChanges(db: Kysely<Database>, { findVersion }: Pick<ReturnType<typeof readVersions>, 'findVersion'>) {
  return {
    /** How many items of a kind within a scope the actor sees at each label, those with most items first. */
    async countLabels(actor: Actor, reach: 'list' | 'id', kind: ItemKind, filter: ItemFilter, limit: number) {
      const query = db
        .selectFrom('item')
        .innerJoin('label', 'label.item_seq', 'item.seq')
        .innerJoin('version', (join) => join.onRef('version.item_seq', '=', 'item.seq').onRef('version.number', '=', 'label.version'))
        .select(({ fn }) => ['label.name', fn.count<number>('item.seq').distinct().as('items')])
        .where(isVersionVisible(actor))
        .groupBy('label.name')
      const rows = await applyFilter(query, kind, await readFilter(db, actor, filter), visibleSet(actor, reach))
        .orderBy('items', 'desc')
        .orderBy('name')
        .limit(limit)
        .execute()
      return rows.map(({ name, items }) => ({ name, items: Number(items) }))
    },
    /** Moves of a label of items that the actor may see within a scope, by items after a position; of one that came back, those since. */
    async walkLabelChanges(
      actor: Actor,
      reach: 'list' | 'id',
      kind: ItemKind,
      filter: ItemFilter & { readonly label: string },
      after: number,
      limit: number,
    ): Promise<{ readonly changes: readonly SharedChange[]; readonly next: number | null }> {
      const { label, ...scope } = filter
      // The label is joined: as a filter, all its items would be read for each page.
      const labelled = applyFilter(selectLabelled(db, actor, label), kind, await readFilter(db, actor, scope), visibleSet(actor, reach))
      const items = await labelled
        .leftJoin('category', 'category.seq', 'item.category_seq')
        .select(['item.id', 'item.kind', 'item.slug', 'item.channel_name', 'item.skill_name', 'category.slug as category'])
        .where('item.seq', '>', after)
        .orderBy('item.seq')
        .limit(limit)
        .execute()
      const next = items.length < limit ? null : (items.at(-1)?.seq ?? null)
      if (items.length === 0) return { changes: [], next }
      const moves = await db
        .selectFrom('label_move')
        .select(['seq', 'item_seq', 'moved_to', 'moved_at'])
        .where('name', '=', label)
        .where('item_seq', 'in', items.map(seqOf))
        .orderBy('seq')
        .execute()
      const movesOf = Map.groupBy(moves, (row) => row.item_seq)
      const filesOf = await countFiles(db, items.map(seqOf), isVersionVisible(actor))
      const changes: SharedChange[] = []
      for (const item of items) {
        const all = movesOf.get(item.seq) ?? []
        const path = sharedPath({ ...item, name: item.channel_name ?? item.skill_name })
        for (const move of all.slice(all.findLastIndex((row) => row.moved_to === null) + 1)) {
          const version = topOf(move.moved_to) ?? item.version
          const files = filesOf.get(`${item.seq} ${version}`)
          if (files === undefined) continue
          const isKept = path === `plugins/${item.channel_name}`
          changes.push({ seq: move.seq, itemId: item.id, kind, revision: move.seq, version, path, at: move.moved_at, files, isKept })
        }
      }
      return { changes, next }
    },
    /** The versions of such moves by their numbers; those the actor may not see are left out. */
    async readLabelVersions(actor: Actor, moveSeqs: readonly number[]): Promise<readonly SharedVersion[]> {
      if (moveSeqs.length === 0) return []
      const rows = await db
        .selectFrom('label_move')
        .innerJoin('item', 'item.seq', 'label_move.item_seq')
        .innerJoin('user as author', 'author.seq', 'item.author_seq')
        .leftJoin('category', 'category.seq', 'item.category_seq')
        .leftJoin('user as mover', 'mover.seq', 'label_move.user_seq')
        .select(['label_move.seq', 'label_move.moved_to', 'label_move.reason', 'item.seq as item_seq', 'item.id', 'item.version'])
        .select(['author.username as author', 'mover.username as mover', 'category.slug as category'])
        .where('label_move.seq', 'in', moveSeqs)
        .execute()
      const tags = await readTags(db, [...new Set(rows.map((row) => row.item_seq))])
      const versions: SharedVersion[] = []
      for (const row of rows) {
        const found = await findVersion(actor, row.id, topOf(row.moved_to) ?? row.version)
        if (!found) continue
        versions.push({
          seq: row.seq,
          title: found.title,
          description: found.description,
          type: found.type ?? '',
          ...(found.body ?? makeBody({ content: '' })),
          category: row.category,
          tags: (tags.get(row.item_seq) ?? []).map(({ name }) => name),
          // Reasons are for those who own the item.
          note: null,
          author: row.author,
          writer: found.author,
          isByPerson: row.mover !== null,
          files: found.files ?? [],
        })
      }
      return versions
    },
  }
}

/** Items whose words are compared. */
const CANDIDATES = 5
/** Longest wait for the search index: whoever saves does not wait for it to catch up. */
const MAX_WAIT_MS = 250

const ownWords = prepareQuery((db) =>
  db
    .selectFrom('item')
    .innerJoin('item_words', 'item_words.item_seq', 'item.seq')
    .select(['item.seq', 'item_words.words'])
    .where('item.id', '=', slot('id'))
    .where('item.kind', '=', sql<ItemKind>`${slot('kind')}`)
    .where('item.owner_seq', 'in', ownersSeenBy(slot('readerId'))),
)

/**
 * The row number of the item that the words of one of the actor's items nearly repeat, among those the actor finds; null when there is
 * none, or the index is not ready. The caller applies the visibility rule to it once more, as it is read.
 */
async function findNearDuplicate(
  db: Kysely<Database>,
  search: SearchReader,
  { findViewer }: Pick<ItemQueries, 'findViewer'>,
  actor: Actor,
  kind: ItemKind,
  id: string,
): Promise<number | null> {
  if (!search.isReady() || actor.kind !== 'user') return null
  const [[own], viewer] = await Promise.all([ownWords(db, { id, kind, readerId: actor.userId }), findViewer(actor)])
  if (!own) return null
  const index = await Promise.race([search.current(), sleep(MAX_WAIT_MS, null, { ref: false })])
  if (!index) return null
  const counts = readWordCounts(own.words)
  const seqs = index.shareWords(kind, own.seq, counts.keys(), viewer, CANDIDATES)
  if (seqs.length === 0) return null
  const rarityOf = index.rarityFor(kind, viewer)
  const rows = await db.selectFrom('item_words').select(['item_seq', 'words']).where('item_seq', 'in', seqs).execute()
  const compared = rows.map(({ item_seq: seq, words }) => ({ seq, similarity: compareWords(counts, readWordCounts(words), rarityOf) }))
  const nearest = compared.sort((a, b) => b.similarity - a.similarity || a.seq - b.seq)[0]
  return nearest && nearest.similarity >= MIN_NEARLY_SAME ? nearest.seq : null
}

/** A cosine as people read it: a whole number from 0 to 100. */
function toPercent(cosine: number): number {
  return Math.round(Math.min(1, Math.max(0, cosine)) * 100)
}

/**
 * Reads of items over one connection. `queries` are those over the same connection; `encoder` reads texts that are compared with prompts,
 * never inside a transaction.
 */
export function readItems(db: Kysely<Database>, queries: ItemQueries, search: SearchReader, encoder: Pick<Encoder, 'encodeQuery'> | null) {
  const { walkPrompts, walkSkills, countPrompts, findLanguages, listVersions, findVersion, listAtLabel, readItemPage } = queries
  const selectFiles = (actor: Actor, skillId: string) =>
    db
      .selectFrom('skill_file')
      .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
      .select(['skill_file.filename', 'skill_file.mode', 'blob.bytes'])
      .where('skill_file.item_seq', 'in', selectVisible(db, actor, skillId))
  return {
    walkPrompts,
    walkSkills,
    countPrompts,
    findLanguages,
    listVersions,
    findVersion,
    listAtLabel,
    readItemPage,
    /** Whole prompts by the time they were made, after `after`; stable while items are added. `next` is null at the end. */
    async walkWholePrompts(
      actor: Actor,
      filter: ItemFilter,
      order: 'newest' | 'oldest',
      after: WalkPosition | null,
      limit: number,
    ): Promise<{ readonly prompts: readonly Prompt[]; readonly next: WalkPosition | null }> {
      const direction = order === 'newest' ? 'desc' : 'asc'
      let query = applyFilter(selectItems(db), 'prompt', await readFilter(db, actor, filter), visibleSet(actor, 'list'))
      if (after) query = query.where((eb) => isBeyond(after, order)(eb))
      const rows = await query.orderBy('item.created_at', direction).orderBy('item.seq', direction).limit(limit).execute()
      const last = rows.length < limit ? undefined : rows.at(-1)
      return {
        prompts: (await toItems(db, rows)).filter(isOfKind('prompt')),
        next: last ? { createdAt: last.created_at, order: last.seq } : null,
      }
    },
    /** The skill that stands at `path` below an owner (in any case), when the actor may see it by its address. */
    findSkillAt: readManifests(db).findSkillAt,
    /**
     * Skills that the actor may see, oldest first, after a position (0 is the beginning), for channels. `reach` is `id` for one that its
     * address names. Their frontmatter is read, their files are not.
     */
    walkSharedSkills: readSharedSkills(db),
    ...readSharedChanges(db),
    ...readLabelChanges(db, queries),
    ...readParts(db),
    ...readNamedPrompts(db),
    async findItem<Kind extends ItemKind>(actor: Actor, kind: Kind, ref: string): Promise<ItemOf<Kind> | null> {
      return (await queries.findItem(actor, kind, ref))?.item ?? null
    },
    async searchItems<Kind extends ItemKind>(actor: Actor, kind: Kind, request: SearchRequest): Promise<TextSearchResult<ItemOf<Kind>>> {
      const { seqs, scores, total, corrections, facets } = await queries.findRows(actor, kind, request)
      const items = await queries.readItems(actor, kind, seqs)
      return {
        items: seqs.flatMap((seq) => items.get(seq) ?? []),
        scores: scores.filter((_, place) => items.has(seqs[place] ?? 0)),
        total,
        corrections,
        facets,
      }
    },
    /** Public prompts of these types, nearest to `text` in meaning first. */
    async findSimilarPrompts(...[text, { types, limit }]: Parameters<FindSimilar>): ReturnType<FindSimilar> {
      const [index, sentence] = await Promise.all([search.current(), encoder?.encodeQuery(text)])
      const found = index.similar('prompt', text, { types }, limit, sentence)
      const prompts = await queries.readItems(ANONYMOUS, 'prompt', found.map(seqOf))
      return found.flatMap(({ seq, similarity }) => {
        const prompt = prompts.get(seq)
        return prompt ? [{ prompt, similarity: toPercent(similarity) }] : []
      })
    },
    /** Items the actor finds in lists, nearest in meaning to one that it sees; none when it sees no such item. */
    async findRelated<Kind extends ItemKind>(actor: Actor, kind: Kind, id: string, limit: number): Promise<RelatedItem<ItemOf<Kind>>[]> {
      const related = await queries.findRelated(actor, kind, id, limit)
      return withItems(related, await queries.readItems(actor, kind, related.map(seqOf)))
    },
    /** The item that one of the actor's own nearly repeats, among those the actor finds; null when there is none or search is not ready. */
    async findNearDuplicate(actor: Actor, kind: ItemKind, id: string): Promise<Item | null> {
      const seq = await findNearDuplicate(db, search, queries, actor, kind, id)
      return seq === null ? null : ((await queries.readItems(actor, kind, [seq])).get(seq) ?? null)
    },
    /** The role of a user over what an owner has: maintainer of their own things, or the role in the team; null for none. */
    findRole: (userId: string, ownerId: string): Promise<TeamRole | null> => findRole(db, userId, ownerId),
    /** The ids of all members of the teams among these owners. */
    listMemberIds: (ownerIds: readonly string[]): Promise<string[]> => listMemberIds(db, ownerIds),
    /** A possible owner of new items: the user, or a team that the user is in, by id, name or former name. */
    findOwner: (userId: string, asked: { readonly id: string } | { readonly name: string }): Promise<OwnerForItems | null> =>
      findOwner(db, userId, asked),
    /** All files of a skill the actor may see (checked again here), SKILL.md first; empty when it may not. */
    async readSkillFiles(actor: Actor, skillId: string, filenames?: readonly string[]): Promise<SkillFile[]> {
      const files = selectFiles(actor, skillId)
      return listSkillFiles<SkillFile>(await (filenames ? files.where('skill_file.filename', 'in', filenames) : files).execute())
    },
    async readSkillFile(actor: Actor, skillId: string, filename: string): Promise<SkillFile | null> {
      const files = await selectFiles(actor, skillId).where('skill_file.filename', '=', filename).execute()
      return listSkillFiles<SkillFile>(files)[0] ?? null
    },
    /** Deleted items that the user may restore: their own, and those of teams. */
    async listTrash(
      userId: string,
      page: { limit: number; offset: number },
    ): Promise<SearchResult<{ id: string; kind: ItemKind; title: string; deletedAt: string }>> {
      const mine = db
        .selectFrom('item')
        .select(['item.id', 'item.kind', 'item.title', 'item.deleted_at'])
        .where('item.owner_seq', 'in', ownersWith('edit', userId))
        .where('item.deleted_at', 'is not', null)
        .orderBy('item.deleted_at', 'desc')
        .orderBy('item.seq', 'desc')
      const { rows, total } = await readPage(mine, page)
      return { items: rows.map(({ id, kind, title, deleted_at: at }) => ({ id, kind, title, deletedAt: at ?? '' })), total }
    },
  }
}
