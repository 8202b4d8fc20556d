import type { Kysely } from 'kysely'
import { isId } from '../../library/identifier.ts'
import { prepareLock } from '../dialects/row-locks.ts'
import { slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

const lockById = prepareLock<'item'>((db) => db.selectFrom('item').select('seq').where('id', '=', slot('ref')))
const lockBySlug = prepareLock<'item'>((db) =>
  db
    .selectFrom('item')
    .select('seq')
    .where('seq', '=', (eb) => eb.selectFrom('slug').select('item_seq').where('slug.slug', '=', slot('ref'))),
)

/**
 * Locks the row of the item that an id or a slug names, of any state, for a change. What is read of it afterwards stays so. False when there is
 * none: the caller then answers that there is none, even if a later statement would find one.
 */
export function lockItem(db: Kysely<Database>, ref: string): Promise<boolean> {
  return (isId(ref) ? lockById : lockBySlug)(db, { ref })
}
