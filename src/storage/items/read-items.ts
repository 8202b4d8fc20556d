import type { Kysely } from 'kysely'
import { type Actor, ANONYMOUS } from '../../library/actor.ts'
import type { Encoder } from '../../library/ports/encoder.ts'
import type { ItemReader } from '../../library/ports/items.ts'
import type { RelatedItem, SearchRequest, TextSearchResult } from '../../library/ports/search.ts'
import { listSkillFiles, type SkillFile } from '../../library/skill.ts'
import { visibleSet } from '../../library/visibility.ts'
import { findOwner, findRole, listMemberIds, ownersWith } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'
import type { SearchReader } from '../search/search-reader.ts'
import type { VectorReader } from '../search/vector-reader.ts'
import { applyFilter, isBeyond, readFilter } from './item-filters.ts'
import { type FoundRows, findVisibleRow, type ItemQueries, type RelatedRow } from './item-queries.ts'
import { isInVisibleSet, selectItems, toPrompts, toSkills } from './item-rows.ts'
import { findNearDuplicate } from './near-duplicates.ts'
import { readManifests } from './read-manifests.ts'
import { readSharedSkills } from './read-shared-skills.ts'
import { readVersions, selectVisible } from './read-versions.ts'
import { readSharedChanges } from './shared-changes.ts'

/** A cosine as people read it: a whole number from 0 to 100. */
function toPercent(cosine: number): number {
  return Math.round(Math.min(1, Math.max(0, cosine)) * 100)
}

function seqsOf(rows: readonly RelatedRow[]): number[] {
  return rows.map(({ seq }) => seq)
}

/** Related items with what was read of them. One that was hidden meanwhile is left out. */
function withItems<T>(rows: readonly RelatedRow[], items: ReadonlyMap<number, T>): RelatedItem<T>[] {
  return rows.flatMap(({ seq, ...near }) => {
    const item = items.get(seq)
    return item ? [{ item, ...near }] : []
  })
}

/**
 * Reads of items over one connection. `primary` reads roles; `queries` are those over the same connection; `vectors` are a provider's, where there is one; `encoder`
 * reads texts that are compared with prompts, never inside a transaction.
 */
export function readItems(
  db: Kysely<Database>,
  primary: Kysely<Database>,
  queries: ItemQueries,
  search: SearchReader,
  vectors: VectorReader | null,
  encoder: Pick<Encoder, 'encodeQuery'> | null,
): ItemReader {
  const inOrder = <T>({ seqs, scores, total, corrections, facets }: FoundRows, items: ReadonlyMap<number, T>): TextSearchResult<T> => ({
    items: seqs.flatMap((seq) => items.get(seq) ?? []),
    scores: scores.filter((_, place) => items.has(seqs[place] ?? 0)),
    total,
    corrections,
    facets,
  })
  const selectFiles = (actor: Actor, skillId: string) =>
    db
      .selectFrom('skill_file')
      .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
      .select(['skill_file.filename', 'skill_file.mode', 'blob.bytes'])
      .where('skill_file.item_seq', 'in', selectVisible(db, actor, skillId))
  return {
    walkPrompts: queries.walkPrompts,
    walkSkills: queries.walkSkills,
    async walkWholePrompts(actor, filter, order, after, limit) {
      const direction = order === 'newest' ? 'desc' : 'asc'
      let query = applyFilter(selectItems(db), 'prompt', await readFilter(db, actor, filter), visibleSet(actor, 'list'))
      if (after) query = query.where((eb) => isBeyond(after, order)(eb))
      const rows = await query.orderBy('item.created_at', direction).orderBy('item.seq', direction).limit(limit).execute()
      const last = rows.length < limit ? undefined : rows.at(-1)
      return { prompts: await toPrompts(db, rows), next: last ? { createdAt: last.created_at, order: last.seq } : null }
    },
    countPrompts: queries.countPrompts,
    findLanguages: queries.findLanguages,
    listVersions: queries.listVersions,
    findVersion: readVersions(db).findVersion,
    findSkillAt: readManifests(db).findSkillAt,
    walkSharedSkills: readSharedSkills(db),
    ...readSharedChanges(db),
    async findPrompt(actor, ref) {
      return (await queries.findPrompt(actor, ref))?.prompt ?? null
    },
    async findSkill(actor, ref) {
      const row = await findVisibleRow(db, actor, 'skill', ref)
      return row ? ((await toSkills(db, [row]))[0] ?? null) : null
    },
    async searchPrompts(actor: Actor, request: SearchRequest) {
      const found = await queries.findRows(actor, 'prompt', request)
      return inOrder(found, await queries.readPrompts(actor, found.seqs))
    },
    async searchSkills(actor: Actor, request: SearchRequest) {
      const found = await queries.findRows(actor, 'skill', request)
      return inOrder(found, await queries.readSkills(actor, found.seqs))
    },
    async findSource(actor, kind, ref) {
      const row = await findVisibleRow(db, actor, kind, ref)
      if (!row) return null
      const source = await selectItems(db)
        .innerJoin('item_source', 'item_source.source_id', 'item.id')
        .where('item_source.item_seq', '=', row.seq)
        .where(isInVisibleSet(visibleSet(actor, 'list')))
        .executeTakeFirst()
      if (!source) return null
      const [item] = source.kind === 'prompt' ? await toPrompts(db, [source]) : await toSkills(db, [source])
      return item ?? null
    },
    async findSimilarPrompts(text, { types, limit, vector }) {
      const [index, sentence] = await Promise.all([search.current(), encoder && !vector ? encoder.encodeQuery(text) : null])
      const cosines = vectors && vector ? await vectors.compareLike('prompt', { types }, vector) : null
      const found = index.similar('prompt', text, { types }, limit, cosines, sentence)
      const prompts = await queries.readPrompts(
        ANONYMOUS,
        found.map(({ seq }) => seq),
      )
      return found.flatMap(({ seq, similarity }) => {
        const prompt = prompts.get(seq)
        return prompt ? [{ prompt, similarity: toPercent(similarity) }] : []
      })
    },
    async findRelatedPrompts(actor, id, limit) {
      const related = await queries.findRelated(actor, 'prompt', id, limit)
      return withItems(related, await queries.readPrompts(actor, seqsOf(related)))
    },
    async findRelatedSkills(actor, id, limit) {
      const related = await queries.findRelated(actor, 'skill', id, limit)
      return withItems(related, await queries.readSkills(actor, seqsOf(related)))
    },
    async findNearDuplicate(actor, kind, id) {
      const seq = await findNearDuplicate(db, search, queries, actor, kind, id)
      if (seq === null) return null
      const items = kind === 'prompt' ? await queries.readPrompts(actor, [seq]) : await queries.readSkills(actor, [seq])
      return items.get(seq) ?? null
    },
    findRole: (userId, ownerId) => findRole(primary, userId, ownerId),
    listMemberIds: (ownerIds) => listMemberIds(primary, ownerIds),
    findOwner: (userId, asked) => findOwner(primary, userId, asked),
    async readSkillFiles(actor, skillId, filenames) {
      const files = selectFiles(actor, skillId)
      return listSkillFiles<SkillFile>(await (filenames ? files.where('skill_file.filename', 'in', filenames) : files).execute())
    },
    async readSkillFile(actor, skillId, filename) {
      const files = await selectFiles(actor, skillId).where('skill_file.filename', '=', filename).execute()
      return listSkillFiles<SkillFile>(files)[0] ?? null
    },
    async listTrash(userId, page) {
      const mine = db.selectFrom('item').where('item.owner_seq', 'in', ownersWith('edit', userId)).where('item.deleted_at', 'is not', null)
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
  }
}
