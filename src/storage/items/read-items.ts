import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { WalkPosition } from '../../domain/items/item-access.ts'
import { type Item, type ItemKind, type ItemOf, isOfKind, type Prompt } from '../../domain/items/items.ts'
import type { OwnerForItems } from '../../domain/items/owners.ts'
import type { FindSimilar, ItemFilter, RelatedItem, SearchRequest, SearchResult, TextSearchResult } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import { type Actor, ANONYMOUS } from '../../domain/people/actor.ts'
import type { TeamRole } from '../../domain/people/teams.ts'
import type { Encoder } from '../../domain/ports/encoder.ts'
import { listSkillFiles, type SkillFile } from '../../domain/skills/skill.ts'
import { compareWords, MIN_NEARLY_SAME, readWordCounts } from '../../search/ranking/near-duplicates.ts'
import { readSharedChanges } from '../change-log.ts'
import { findOwner, findRole, listMemberIds, ownersSeenBy, ownersWith } from '../people/team-roles.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { SearchReader } from '../search/search-reader.ts'
import { applyFilter, isBeyond, readFilter } from './item-filters.ts'
import { type ItemQueries, withItems } from './item-queries.ts'
import { readPage, selectItems, seqOf, toItems } from './item-rows.ts'
import { readLabelChanges } from './label-changes.ts'
import { readNamedPrompts } from './named-prompts.ts'
import { readParts } from './parts.ts'
import { readManifests } from './read-manifests.ts'
import { readSharedSkills } from './read-shared-skills.ts'
import { selectVisible } from './read-versions.ts'

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
