import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSlug, MAX_SLUG, slugCandidates, slugify } from '../domain/items/slug.ts'
import type { Visibility } from '../domain/items/visibility.ts'
import type { Random } from '../domain/ports/environment.ts'
import { isId } from '../domain/text/identifier.ts'
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
