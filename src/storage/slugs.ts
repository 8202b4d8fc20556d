import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSlug, MAX_SLUG, slugCandidates, slugify, withSuffix } from '../domain/items/slug.ts'
import type { Visibility } from '../domain/items/visibility.ts'
import type { Random } from '../domain/ports/environment.ts'
import { isId } from '../domain/text/addresses.ts'
import { AppError, invalidInput } from '../errors.ts'
import { prepareQuery, prepareStatement, slot, together } from './prepared.ts'
import type { Database } from './schema.ts'

/** Slugs that are unique among each other. */
interface SlugSpace {
  readonly what: 'item' | 'collection'
  /** Whether a slug is, or was, another one's. */
  isTaken(db: Kysely<Database>, slug: string, seq: number | null): Promise<boolean>
  reserve(db: Kysely<Database>, slug: string, seq: number): Promise<unknown>
}

const slugHolder = prepareQuery((db) => db.selectFrom('slug').select('item_seq').where('slug', '=', slot('slug')))
const retiredSlug = prepareQuery((db) =>
  db
    .selectFrom('retired_slug')
    .select('slug')
    .where((eb) => eb.or([eb('slug', '=', slot('slug')), eb('slug', '=', slot('retired'))])),
)
/** Another item's slug is no conflict to ignore: somebody took it since it was found free. */
const insertSlug = prepareStatement(sql`
  insert into slug (slug, item_seq) select cast(${slot('slug')} as text), cast(${slot('seq')} as integer)
  where not exists (select 1 from slug where slug = ${slot('slug')} and item_seq = ${slot('seq')})`)

export const ITEM_SLUGS: SlugSpace = {
  what: 'item',
  async isTaken(db, slug, seq) {
    const [[holder], retired] = await together([slugHolder(db, { slug }), retiredSlug(db, { slug, retired: retireSlug(slug) })])
    return holder ? holder.item_seq !== seq : retired.length > 0
  },
  reserve: (db, slug, seq) => insertSlug(db, { slug, seq }),
}

export const COLLECTION_SLUGS: SlugSpace = {
  what: 'collection',
  async isTaken(db, slug, seq) {
    const named = db
      .selectFrom('collection_slug')
      .select('collection_seq')
      .where('slug', 'in', [slug, retireSlug(slug)])
    const holder = await named.executeTakeFirst()
    return holder !== undefined && (holder.collection_seq === null || holder.collection_seq !== seq)
  },
  reserve: (db, slug, seq) =>
    db
      .insertInto('collection_slug')
      .values({ slug, collection_seq: seq })
      .onConflict((c) => c.column('slug').doNothing())
      .execute(),
}

/** The stored form of the slug of what was deleted: recognisable, but unreadable. */
export function retireSlug(slug: string): string {
  return `#${createHash('sha256').update(slug).digest('hex')}`
}

/** The first slug that is free or already this one's. Writes nothing. */
export async function findFreeSlug(
  { isTaken }: SlugSpace,
  db: Kysely<Database>,
  candidates: Iterable<string>,
  seq: number | null,
): Promise<string> {
  for (const candidate of candidates) if (isId(candidate) || !(await isTaken(db, candidate, seq))) return candidate
  throw new AppError('conflict', 'No free slug was found.')
}

/** Reserves a slug for ever. An id needs no slug: ids are looked up first. */
export async function keepSlug({ reserve }: SlugSpace, db: Kysely<Database>, slug: string, seq: number): Promise<void> {
  if (!isId(slug)) await reserve(db, slug, seq)
}

/** A slug stays unless another is requested or it is the first publication, which drops the random suffix. */
export async function nextSlug(
  space: SlugSpace,
  random: Random,
  db: Kysely<Database>,
  row: { readonly seq: number; readonly id: string; readonly slug: string; readonly was_public: number },
  next: { readonly title: string; readonly visibility: Visibility },
  wanted: string | undefined,
): Promise<string> {
  const findFree = (base: string) =>
    findFreeSlug(space, db, slugCandidates(base, { id: row.id, visibility: next.visibility }, random.letters), row.seq)
  const isPublic = next.visibility === 'public'
  if (wanted === undefined || wanted === row.slug) return row.was_public === 0 && isPublic ? await findFree(slugify(next.title)) : row.slug
  if (!isSlug(wanted)) {
    throw invalidInput(
      'slug',
      `slug must be 1 to ${MAX_SLUG} characters of a-z, 0-9 and single hyphens between them, and not look like an id.`,
    )
  }
  if (row.was_public === 0 && !isPublic) return await findFree(wanted)
  if (!(await space.isTaken(db, wanted, row.seq))) return wanted
  throw new AppError('conflict', `The slug "${wanted}" is or was another ${space.what}'s; choose another.`)
}

/** How `retired_slug` holds the name of a removed skill: apart from slugs, and unreadable. */
export function retireChannelName(name: string): string {
  return `#${createHash('sha256').update(`channel ${name}`).digest('hex')}`
}

const publicItem = prepareQuery((db) =>
  db
    .selectFrom('item')
    .select(['kind', 'slug', 'skill_name', 'channel_name'])
    .where('seq', '=', sql<number>`${slot('seq')}`)
    .where('visibility', '=', 'public'),
)

/**
 * Gives a public skill the name under which it is installed, unless it has one: the name in its SKILL.md when that is valid and free, else
 * its slug. It stays for ever. Call it whenever an item may have become public.
 */
export async function keepChannelName(db: Kysely<Database>, seq: number): Promise<void> {
  const [item] = await publicItem(db, { seq })
  if (item?.kind !== 'skill' || item.channel_name !== null) return
  for (const name of candidates(item.skill_name, item.slug)) {
    if (await isTaken(db, name)) continue
    await db.updateTable('item').set({ channel_name: name }).where('seq', '=', seq).execute()
    return
  }
}

function* candidates(skillName: string | null, slug: string): Generator<string> {
  if (skillName !== null) yield skillName
  yield slug
  const base = isSlug(slug) ? slug : 'skill'
  for (let n = 2; ; n++) yield withSuffix(base, String(n))
}

async function isTaken(db: Kysely<Database>, name: string): Promise<boolean> {
  const holder = await db.selectFrom('item').select('seq').where('channel_name', '=', name).executeTakeFirst()
  if (holder) return true
  const retired = await db.selectFrom('retired_slug').select('slug').where('slug', '=', retireChannelName(name)).executeTakeFirst()
  return retired !== undefined
}
