import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSlug, MAX_SLUG, slugCandidates, slugify } from '../../domain/items/slug.ts'
import type { Visibility } from '../../domain/items/visibility.ts'
import type { Random } from '../../domain/ports/environment.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { prepareQuery, prepareStatement, slot, together } from '../prepared.ts'
import type { Database } from '../schema.ts'
import type { ItemRow } from './item-rows.ts'

const slugHolder = prepareQuery((db) => db.selectFrom('slug').select('item_seq').where('slug', '=', slot('slug')))
const retiredSlug = prepareQuery((db) =>
  db
    .selectFrom('retired_slug')
    .select('slug')
    .where((eb) => eb.or([eb('slug', '=', slot('slug')), eb('slug', '=', slot('retired'))])),
)

/** The stored form of a purged item's slug: recognisable, but unreadable. */
export function retireSlug(slug: string): string {
  return `#${createHash('sha256').update(slug).digest('hex')}`
}

/** Whether a slug is, or was, another item's. */
async function isTaken(db: Kysely<Database>, slug: string, itemSeq: number | null): Promise<boolean> {
  const [[holder], retired] = await together([slugHolder(db, { slug }), retiredSlug(db, { slug, retired: retireSlug(slug) })])
  return holder ? holder.item_seq !== itemSeq : retired.length > 0
}
/** Another item's slug is no conflict to ignore: somebody took it since it was found free. */
const insertSlug = prepareStatement(sql`
  insert into slug (slug, item_seq) select cast(${slot('slug')} as text), cast(${slot('itemSeq')} as integer)
  where not exists (select 1 from slug where slug = ${slot('slug')} and item_seq = ${slot('itemSeq')})`)

/** The first slug that is free or already this item's. Writes nothing. */
export async function findFreeSlug(
  db: Kysely<Database>,
  candidates: Iterable<string>,
  itemId: string,
  itemSeq: number | null,
): Promise<string> {
  for (const candidate of candidates) {
    if (candidate === itemId) return candidate
    if (!(await isTaken(db, candidate, itemSeq))) return candidate
  }
  throw new AppError('conflict', 'No free slug was found.')
}

/** Reserves a slug for this item for ever. An id needs no slug: ids are looked up first. */
export async function keepSlug(db: Kysely<Database>, slug: string, itemId: string, itemSeq: number): Promise<void> {
  if (slug === itemId) return
  await insertSlug(db, { slug, itemSeq })
}

/** Candidate slugs: the one of an export, then those from the title. */
export function* slugsFor(
  random: Random,
  item: { id: string; visibility: Visibility },
  title: string,
  kept: string | undefined,
): Generator<string> {
  if (kept !== undefined && isSlug(kept)) yield kept
  yield* slugCandidates(slugify(title), item, random.letters)
}

/** A slug stays unless another is requested or the item is first published, which drops the random suffix. */
export async function nextSlug(
  random: Random,
  db: Kysely<Database>,
  row: ItemRow,
  next: { readonly title: string; readonly visibility: Visibility },
  wanted: string | undefined,
): Promise<string> {
  const isFirstPublished = row.was_public === 0 && next.visibility === 'public'
  const isKnown = row.was_public === 1 || next.visibility === 'public'
  if (wanted !== undefined && wanted !== row.slug) {
    if (!isSlug(wanted)) {
      throw invalidInput(
        'slug',
        `slug must be 1 to ${MAX_SLUG} characters of a-z, 0-9 and single hyphens between them, and not look like an id.`,
      )
    }
    if (!isKnown) {
      return await findFreeSlug(db, slugCandidates(wanted, { id: row.id, visibility: next.visibility }, random.letters), row.id, row.seq)
    }
    if (await isTaken(db, wanted, row.seq)) throw new AppError('conflict', `The slug "${wanted}" is or was another item's; choose another.`)
    return await findFreeSlug(db, [wanted], row.id, row.seq)
  }
  if (!isFirstPublished) return row.slug
  return await findFreeSlug(db, slugCandidates(slugify(next.title), { id: row.id, visibility: 'public' }, random.letters), row.id, row.seq)
}
