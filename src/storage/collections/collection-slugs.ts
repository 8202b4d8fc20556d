import type { Kysely } from 'kysely'
import { isSlug, MAX_SLUG, slugCandidates, slugify } from '../../domain/items/slug.ts'
import type { Visibility } from '../../domain/items/visibility.ts'
import { isId } from '../../domain/text/identifier.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { retireSlug } from '../items/item-slugs.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'
import type { CollectionRow } from './collection-rows.ts'

async function isTaken(db: Kysely<Database>, slug: string, collectionSeq: number | null): Promise<boolean> {
  const holder = await db
    .selectFrom('collection_slug')
    .select('collection_seq')
    .where('slug', 'in', [slug, retireSlug(slug)])
    .executeTakeFirst()
  return holder !== undefined && (holder.collection_seq === null || holder.collection_seq !== collectionSeq)
}

/** The first of some slugs that is no other collection's. */
export async function findFreeSlug(db: Kysely<Database>, candidates: Iterable<string>, collectionSeq: number | null): Promise<string> {
  for (const candidate of candidates) if (!(await isTaken(db, candidate, collectionSeq))) return candidate
  throw new AppError('conflict', 'No free slug was found.')
}

/** Reserves a slug for a collection. An id needs none: ids are looked up first. */
export async function keepSlug(db: Kysely<Database>, slug: string, collectionSeq: number): Promise<void> {
  if (isId(slug)) return
  await db
    .insertInto('collection_slug')
    .values({ slug, collection_seq: collectionSeq })
    .onConflict((c) => c.column('slug').doNothing())
    .execute()
}

/** As with items: a slug stays unless another is requested or the collection is first published, which drops the random suffix. */
export async function nextSlug(
  context: WriteContext,
  db: Kysely<Database>,
  row: CollectionRow,
  next: { readonly title: string; readonly visibility: Visibility },
  wanted: string | undefined,
): Promise<string> {
  const candidates = (base: string, visibility: Visibility) =>
    findFreeSlug(db, slugCandidates(base, { id: row.id, visibility }, context.random.letters), row.seq)
  const isPublic = next.visibility === 'public'
  if (wanted !== undefined && wanted !== row.slug) {
    if (!isSlug(wanted)) {
      throw invalidInput(
        'slug',
        `slug must be 1 to ${MAX_SLUG} characters of a-z, 0-9 and single hyphens between them, and not look like an id.`,
      )
    }
    if (row.was_public === 0 && !isPublic) return await candidates(wanted, next.visibility)
    if (await isTaken(db, wanted, row.seq)) {
      throw new AppError('conflict', `The slug "${wanted}" is or was another collection's; choose another.`)
    }
    return wanted
  }
  return row.was_public === 0 && isPublic ? await candidates(slugify(next.title), 'public') : row.slug
}
