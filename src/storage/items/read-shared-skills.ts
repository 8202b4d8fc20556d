import type { Kysely } from 'kysely'
import { toCheckNote } from '../../domain/check/policy.ts'
import type { SharedSkill } from '../../domain/items/items.ts'
import type { ItemFilter } from '../../domain/items/search.ts'
import { visibleSet } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { describeSkill } from '../../domain/skills/frontmatter.ts'
import { listSkillFiles, SKILL_MD } from '../../domain/skills/skill.ts'
import { readVerdicts } from '../checks/read-verdicts.ts'
import type { Database } from '../schema.ts'
import { applyFilter, readFilter } from './item-filters.ts'
import { selectLabelled } from './item-labels.ts'
import { readTags, seqOf } from './item-rows.ts'
import { readParsed } from './read-manifests.ts'

/** Descriptions kept, of at most 2 KB each. */
const MAX_DESCRIBED = 20_000

/** The files of versions at a label that are not the newest. */
async function readOlderFiles(db: Kysely<Database>, rows: readonly { readonly seq: number }[], versionOf: ReadonlyMap<number, number>) {
  if (rows.length === 0) return []
  const files = await db
    .selectFrom('version')
    .innerJoin('version_file', 'version_file.version_seq', 'version.seq')
    .select([
      'version.item_seq',
      'version.number',
      'version_file.filename',
      'version_file.sha256',
      'version_file.size',
      'version_file.mode',
    ])
    .where('version.item_seq', 'in', rows.map(seqOf))
    .execute()
  return files.flatMap(({ number, ...file }) => (versionOf.get(file.item_seq) === number ? [{ ...file, isOlder: true as const }] : []))
}

/** Skills with names and digests, for channels. */
export function readSharedSkills(db: Kysely<Database>) {
  const describe = readParsed(db, MAX_DESCRIBED, describeSkill)
  return async (
    actor: Actor,
    reach: 'list' | 'id',
    filter: ItemFilter,
    after: number,
    limit: number,
  ): Promise<{ readonly skills: readonly SharedSkill[]; readonly next: number | null }> => {
    const query = db
      .selectFrom('item')
      .innerJoin('user as author', 'author.seq', 'item.author_seq')
      .leftJoin('category', 'category.seq', 'item.category_seq')
      .select([
        'item.seq',
        'item.id',
        'item.slug',
        'item.title',
        'item.visibility',
        'item.version',
        'item.updated_at',
        'item.channel_name',
        'author.username as author',
        'category.slug as category',
      ])
    // The joins only add columns; the filter is over items.
    const narrowed = applyFilter(query, 'skill', await readFilter(db, actor, filter), visibleSet(actor, reach))
    const rows = await narrowed.where('item.seq', '>', after).orderBy('item.seq').limit(limit).execute()
    const seqs = rows.map(seqOf)
    if (seqs.length === 0) return { skills: [], next: null }
    const tags = await readTags(db, seqs)
    const verdicts = await readVerdicts(db, seqs)
    const labelled =
      filter.label === undefined ? [] : await selectLabelled(db, actor, filter.label).where('label.item_seq', 'in', seqs).execute()
    const versionOf = new Map(labelled.map(({ seq, version }) => [seq, version]))
    const isOlder = ({ seq, version }: (typeof rows)[number]) => (versionOf.get(seq) ?? version) !== version
    const files = [
      ...(await db
        .selectFrom('skill_file')
        .select(['item_seq', 'filename', 'sha256', 'size', 'mode'])
        .where('item_seq', 'in', seqs)
        .execute()),
      ...(await readOlderFiles(db, rows.filter(isOlder), versionOf)),
    ]
    const older = new Set(rows.filter(isOlder).map(seqOf))
    const filesOf = Map.groupBy(
      files.filter((file) => 'isOlder' in file || !older.has(file.item_seq)),
      ({ item_seq: seq }) => seq,
    )
    const digestOf = (seq: number) => filesOf.get(seq)?.find(({ filename }) => filename === SKILL_MD)?.sha256 ?? ''
    const descriptions = await describe(seqs.map(digestOf))
    const skills = rows.map((row) => ({
      id: row.id,
      slug: row.slug,
      title: row.title,
      author: row.author,
      category: row.category,
      tags: (tags.get(row.seq) ?? []).map(({ slug }) => slug),
      isPublic: row.visibility === 'public',
      version: versionOf.get(row.seq) ?? row.version,
      check: toCheckNote(verdicts.get(row.seq), versionOf.get(row.seq) ?? row.version),
      updatedAt: row.updated_at,
      channelName: row.channel_name,
      described: descriptions.get(digestOf(row.seq)) ?? describeSkill(''),
      files: listSkillFiles((filesOf.get(row.seq) ?? []).map(({ filename, sha256, size, mode }) => ({ filename, sha256, size, mode }))),
    }))
    return { skills, next: rows.length < limit ? null : (seqs.at(-1) ?? null) }
  }
}
