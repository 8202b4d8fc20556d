import type { Kysely } from 'kysely'
import { slugify } from '../../library/slug.ts'
import type { Visibility } from '../../library/visibility.ts'
import type { Database } from '../schema.ts'
import type { WriteNotes } from './item-parts.ts'
import type { ItemRow } from './item-rows.ts'

/** How long the person who published an item may take that back. */
const TAKEN_BACK_WITHIN_MS = 10 * 60_000

/** The publication that an item's newest version is. */
interface Publication {
  /** What the item was before. */
  readonly from: Visibility
  /** Whether no version before it was public: the item got its slug with it. */
  readonly isFirst: boolean
  /** Until when it can be taken back; ISO 8601. */
  readonly until: string
}

type Published = Pick<ItemRow, 'seq' | 'visibility' | 'version' | 'updated_at'>

/** The publication that this person may still take back: the newest version made the item public, and is theirs. Null: none. */
export async function findPublication(db: Kysely<Database>, row: Published, userId: string, now: number): Promise<Publication | null> {
  const until = Date.parse(row.updated_at) + TAKEN_BACK_WITHIN_MS
  if (row.visibility !== 'public' || now >= until) return null
  const [newest, before] = await db
    .selectFrom('version')
    .innerJoin('user', 'user.seq', 'version.author_seq')
    .select(['version.number', 'version.visibility', 'version.created_at', 'user.id as author'])
    .where('version.item_seq', '=', row.seq)
    .orderBy('version.number', 'desc')
    .limit(2)
    .execute()
  if (newest?.number !== row.version || newest.author !== userId || before === undefined || before.visibility === 'public') return null
  if (newest.visibility !== 'public') return null
  const earlier = await db
    .selectFrom('version')
    .select((eb) => [
      eb.fn.countAll<number>().as('n'),
      eb.fn.max<string | null>(eb.case().when('visibility', '=', 'public').then('yes').end()).as('anyPublic'),
    ])
    .where('item_seq', '=', row.seq)
    .where('number', '<', row.version)
    .executeTakeFirstOrThrow()
  // Where versions are gone, one of them may have been public.
  const isFirst = earlier.anyPublic === null && Number(earlier.n) === row.version - 1
  return { from: before.visibility, isFirst, until: new Date(until).toISOString() }
}

/**
 * Makes an item what it was before its publication, which its version then never says. After a first publication its random slug comes
 * back. The other stays reserved for the item, and leads to it for those who may see it.
 * @returns the item's slug
 */
export async function takeBackPublication(
  db: Kysely<Database>,
  notes: WriteNotes,
  row: ItemRow,
  { from, isFirst }: Publication,
  now: string,
): Promise<string> {
  const slug = isFirst ? await findEarlierSlug(db, row) : row.item_slug
  await db
    .updateTable('item')
    .set({ slug, visibility: from, updated_at: now, ...(isFirst ? { was_public: 0 } : {}) })
    .where('seq', '=', row.seq)
    .execute()
  await db.updateTable('version').set({ visibility: from }).where('item_seq', '=', row.seq).where('number', '=', row.version).execute()
  notes.index(row.seq, null)
  notes.changed({ kind: row.kind, ownerId: row.owner_id, audience: 'everybody' })
  const detail = { kind: row.kind, version: row.version, from: 'public' as const, to: from }
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
