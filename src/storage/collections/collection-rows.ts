import type { ExpressionBuilder, Kysely } from 'kysely'
import { type Actor, privateReaderId, withinOf } from '../../library/actor.ts'
import { isId } from '../../library/identifier.ts'
import { othersMaySee, type Reach, standingOf } from '../../library/visibility.ts'
import { isOneOf } from '../is-one-of.ts'
import { ownersSeenBy } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'

/** A query for collections with their owners; the caller adds conditions. */
export function selectCollections(db: Kysely<Database>) {
  return db
    .selectFrom('collection')
    .innerJoin('user as owner', 'owner.seq', 'collection.owner_seq')
    .selectAll('collection')
    .select(['owner.id as owner_id', 'owner.username as owner_name', 'owner.is_team'])
}

/** A collection's row with its owner. */
export type CollectionRow = Awaited<ReturnType<ReturnType<typeof selectCollections>['execute']>>[number]

/** The visibility rule for collections: the table that items have. A narrowed key sees those of its team, or those it is narrowed to. */
export function isCollectionVisible(actor: Actor, reach: Reach) {
  const within = withinOf(actor)
  return (eb: ExpressionBuilder<Database, 'collection'>) =>
    eb.and([
      eb.or([
        isOneOf('collection.visibility', othersMaySee(standingOf(actor), reach)),
        eb('collection.owner_seq', 'in', ownersSeenBy(privateReaderId(actor))),
      ]),
      ...(within === null
        ? []
        : 'team' in within
          ? [eb('collection.owner_seq', '=', eb.selectFrom('user').select('user.seq').where('user.id', '=', within.team))]
          : [isOneOf('collection.id', within.collections)]),
    ])
}

/** The row of the collection that `ref` names, when the actor may see it; an id wins over a slug. */
export async function findCollectionRow(db: Kysely<Database>, actor: Actor, ref: string): Promise<CollectionRow | null> {
  const named = isId(ref)
    ? selectCollections(db)
        .where('collection.id', '=', ref)
        .where((eb) => isCollectionVisible(actor, 'id')(eb))
    : selectCollections(db)
        .innerJoin('collection_slug', 'collection_slug.collection_seq', 'collection.seq')
        .where('collection_slug.slug', '=', ref)
        .where((eb) => isCollectionVisible(actor, 'slug')(eb))
  return (await named.executeTakeFirst()) ?? null
}

/** Row numbers of the collections of these ids and slugs that the actor may see. */
export async function findCollectionSeqs(db: Kysely<Database>, actor: Actor, refs: readonly string[]): Promise<number[]> {
  const rows = await Promise.all([...new Set(refs)].map((ref) => findCollectionRow(db, actor, ref)))
  return [...new Set(rows.flatMap((row) => row?.seq ?? []))]
}

/** Row numbers of what is in any of some collections, whoever may see it. */
export async function readCollected(db: Kysely<Database>, seqs: readonly number[]): Promise<Set<number>> {
  if (seqs.length === 0) return new Set()
  const rows = await db.selectFrom('collection_item').select('item_seq').where(isOneOf('collection_seq', seqs)).execute()
  return new Set(rows.map(({ item_seq }) => item_seq))
}
