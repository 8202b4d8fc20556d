import type { Kysely } from 'kysely'
import { slugify } from '../../library/slug.ts'
import { isWiderThan, VISIBILITIES, type Visibility } from '../../library/visibility.ts'
import type { Database } from '../schema.ts'
import type { WriteNotes } from './item-parts.ts'
import type { ItemRow } from './item-rows.ts'
import { addUsage } from './owner-usage.ts'
import { readLastChange } from './shared-changes.ts'

/** How long the person who published an item may take that back. */
const TAKEN_BACK_WITHIN_MS = 10 * 60_000

/** The last change of an item, where it showed the item to more people. */
interface Publication {
  /** Its entry of the log. */
  readonly seq: number
  /** What the item was before. */
  readonly from: Visibility
  /** Whether it was never public before: it got its slug with it. */
  readonly isFirst: boolean
  /** Who its newest version was for before, and with which tags, where the log knows them. */
  readonly versionFrom: Visibility
  readonly filedFrom: { readonly category: string | null; readonly tags: string } | null
  /** Until when it can be taken back; ISO 8601. */
  readonly until: string
}

type Published = Pick<ItemRow, 'seq' | 'visibility' | 'version'>

/** The publication that this person may still take back: the last change made the item public or for members, and is theirs. Null: none. */
export async function findPublication(db: Kysely<Database>, row: Published, userId: string, now: number): Promise<Publication | null> {
  const last = await readLastChange(db, row.seq)
  if (last?.actorId !== userId || last.version !== row.version || last.audience !== row.visibility) return null
  const from = last.before?.audience ?? 'deleted'
  const until = Date.parse(last.at) + TAKEN_BACK_WITHIN_MS
  if (from === 'deleted' || !isWiderThan(row.visibility, from) || now >= until) return null
  const earlier = await db
    .selectFrom('shared_change')
    .select(['version', 'audience', 'category', 'tags'])
    .where('item_seq', '=', row.seq)
    .where('seq', '<', last.seq)
    .orderBy('seq')
    .execute()
  const older = await db
    .selectFrom('version')
    .select('visibility')
    .where('item_seq', '=', row.seq)
    .where('number', '<', row.version)
    .execute()
  // Where versions are gone, one of them may have been public.
  const wasPublic = [...earlier.map(({ audience }) => audience), ...older.map(({ visibility }) => visibility)].includes('public')
  const isFirst = row.visibility === 'public' && !wasPublic && older.length === row.version - 1
  const seenBy = new Set(earlier.flatMap(({ version, audience }) => (version === row.version ? [audience] : [])))
  const versionFrom = VISIBILITIES.find((one) => one === from || seenBy.has(one)) ?? from
  const shown = earlier.findLast(({ version, audience }) => version === row.version && audience === versionFrom)
  const filedFrom = typeof shown?.tags === 'string' ? { category: shown.category, tags: shown.tags } : null
  return { seq: last.seq, from, isFirst, versionFrom, filedFrom, until: new Date(until).toISOString() }
}

/**
 * Makes an item what it was before its publication, and its newest version too. After a first publication its random slug comes back. The
 * other stays reserved for the item, and leads to it for those who may see it. The log says that the item was never published: another
 * publication may be the first one again.
 * @returns the item's slug
 */
export async function takeBackPublication(
  db: Kysely<Database>,
  notes: WriteNotes,
  row: ItemRow,
  { seq, from, isFirst, versionFrom, filedFrom }: Publication,
): Promise<string> {
  const slug = isFirst ? await findEarlierSlug(db, row) : row.item_slug
  await db
    .updateTable('item')
    .set({ slug, visibility: from, ...(isFirst ? { was_public: 0 } : {}) })
    .where('seq', '=', row.seq)
    .execute()
  // Whoever sees less than before had no entry of that time in their history, and whoever sees as much keeps it.
  await db.updateTable('shared_change').set({ audience: from }).where('seq', '=', seq).execute()
  const newest = await db
    .selectFrom('version')
    .select(['seq', 'tags'])
    .where('item_seq', '=', row.seq)
    .where('number', '=', row.version)
    .executeTakeFirstOrThrow()
  await db
    .updateTable('version')
    .set({ visibility: versionFrom, ...filedFrom })
    .where('seq', '=', newest.seq)
    .execute()
  const bytes = filedFrom ? Buffer.byteLength(filedFrom.tags) - Buffer.byteLength(newest.tags) : 0
  if (bytes !== 0) await addUsage(db, row.owner_seq, { bytes })
  notes.index(row.seq, null)
  notes.changed({ kind: row.kind, ownerId: row.owner_id, audience: 'everybody' })
  const detail = { kind: row.kind, version: row.version, from: row.visibility, to: from }
  notes.audit({ action: 'item_visibility_changed', targetId: row.id, ownerId: row.owner_id, detail })
  return slug
}

/** A slug the item had before: the one of its title rather than others, which all have random endings. */
async function findEarlierSlug(db: Kysely<Database>, row: ItemRow): Promise<string> {
  const others = await db
    .selectFrom('slug')
    .select('slug')
    .where('item_seq', '=', row.seq)
    .where('slug', '<>', row.item_slug)
    .orderBy('slug')
    .execute()
  const base = slugify(row.title)
  return (others.find(({ slug }) => slug.startsWith(base)) ?? others[0])?.slug ?? row.item_slug
}
