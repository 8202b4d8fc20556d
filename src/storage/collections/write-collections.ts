import type { Kysely } from 'kysely'
import {
  type Collection,
  type CollectionChange,
  type CollectionPlace,
  foldTitle,
  MAX_COLLECTION_ITEMS,
  MAX_COLLECTIONS,
} from '../../domain/items/collections.ts'
import { slugCandidates, slugify } from '../../domain/items/slug.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { requireRight, type TeamRight } from '../../domain/people/teams.ts'
import type { AuditDetail, AuditField } from '../../domain/service/audit.ts'
import { AppError } from '../../errors.ts'
import { countRows, seqOf } from '../items/item-rows.ts'
import type { WriteContext } from '../items/write-context.ts'
import { findOwner, findRole, findUserSeq } from '../people/user-rows.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { COLLECTION_SLUGS, findFreeSlug, keepSlug, nextSlug, retireSlug } from '../slugs.ts'
import { type CollectionRow, type CountCollected, findCollectionRow, selectCollections } from './collection-rows.ts'
import { type Change, findCollected, findItems, findTarget, selectCollected, toCollections } from './read-collections.ts'

/**
 * Makes room for `count` items beside one of the collection, or at its beginning (`before` null) or end (`after` null): what follows moves
 * on, in one statement. Positions say the order alone; those of items that were taken out stay free.
 * @returns the position of the first of them
 */
async function makeRoom(
  db: Kysely<Database>,
  collectionSeq: number,
  side: 'before' | 'after',
  itemSeq: number | null,
  count: number,
): Promise<number> {
  const all = db.selectFrom('collection_item').where('collection_seq', '=', collectionSeq)
  const beside = itemSeq === null ? all : all.where('item_seq', '=', itemSeq)
  const { first, last } = await beside
    .select((eb) => [eb.fn.min('position').as('first'), eb.fn.max('position').as('last')])
    .executeTakeFirstOrThrow()
  const at = side === 'before' ? Number(first ?? 1) : Number(last ?? 0) + 1
  await db
    .updateTable('collection_item')
    .set((eb) => ({ position: eb('position', '+', count) }))
    .where('collection_seq', '=', collectionSeq)
    .where('position', '>=', at)
    .execute()
  return at
}

/** Rows of one statement: engines limit parameters. */
const ROWS_A_STATEMENT = 100

function userIdOf(actor: Actor): string {
  if (actor.kind === 'user') return actor.userId
  throw new AppError('unauthenticated', 'Sign in first.')
}

/** The collection, when the actor may see it and has the right; null when the actor may not see it. */
async function findForChange({ db, actor }: Change, ref: string, right: TeamRight, what: string): Promise<CollectionRow | null> {
  const row = await findCollectionRow(db, actor, ref)
  if (!row) return null
  requireRight(await findRole(db, userIdOf(actor), row.owner_id), right, what)
  return row
}

function requireNewest(row: CollectionRow, baseVersion: number | undefined): void {
  if (baseVersion === undefined || baseVersion === row.version) return
  throw new AppError(
    'conflict',
    `This collection is now at version ${row.version}, not ${baseVersion}. Read it again and repeat the change.`,
  )
}

/** Raises the version of a collection whose items changed, and records it. */
async function noteItems({ db, notes, now }: Change, row: CollectionRow, detail: AuditDetail): Promise<CollectionRow> {
  await db
    .updateTable('collection')
    .set({ version: row.version + 1, updated_at: now })
    .where('seq', '=', row.seq)
    .execute()
  notes.shown(row.visibility)
  notes.audit({ action: 'collection_items_changed', targetId: row.id, ownerId: row.owner_id, detail })
  return { ...row, version: row.version + 1, updated_at: now }
}

/** Removes collections. Slugs of those that were public are kept, unreadable, so that no link leads to a stranger's collection. */
async function removeRows(db: Kysely<Database>, seqs: readonly number[]): Promise<void> {
  for (const part of batches(seqs, ROWS_A_STATEMENT)) {
    const slugs = await db
      .selectFrom('collection_slug')
      .innerJoin('collection', 'collection.seq', 'collection_slug.collection_seq')
      .select('collection_slug.slug')
      .where('collection.seq', 'in', part)
      .where('collection.was_public', '=', 1)
      .execute()
    await db.deleteFrom('collection_slug').where('collection_seq', 'in', part).execute()
    for (const some of batches(slugs, ROWS_A_STATEMENT)) {
      await db
        .insertInto('collection_slug')
        .values(some.map(({ slug }) => ({ slug: retireSlug(slug), collection_seq: null })))
        .onConflict((c) => c.column('slug').doNothing())
        .execute()
    }
    await db.deleteFrom('collection').where('seq', 'in', part).execute()
  }
}

/** Removes every collection of somebody who is leaving. */
export async function removeCollectionsOf(db: Kysely<Database>, ownerSeq: number): Promise<void> {
  const rows = await db.selectFrom('collection').select('seq').where('owner_seq', '=', ownerSeq).execute()
  await removeRows(db, rows.map(seqOf))
}

/** Writes of collections. `count` runs after the commit, without the write lock: in a large collection it takes longer than the change. */
export function writeCollections(context: WriteContext, count: CountCollected) {
  const change = <T>(actor: Actor, work: (change: Change) => Promise<T>): Promise<T> =>
    context.transact((db, notes) => work({ db, notes, actor, now: context.now() }), { isUnseen: true })
  /** The collection after a change, as the actor sees it. The change is committed: an error must not invite the caller to repeat it. */
  const show = async (actor: Actor, row: CollectionRow, by: CountCollected = count): Promise<Collection> => {
    const [collection] = await toCollections(context.reader, actor, [row], by).catch((cause: unknown) => {
      throw new AppError('unavailable', 'The change was made, but the collection could not be read afterwards. Read it again.', { cause })
    })
    if (!collection) throw new AppError('internal', 'A collection that was just written could not be read back')
    return collection
  }
  return {
    /** `ownerId` is of the user or of a team. */
    async createCollection(
      actor: Actor,
      { ownerId, title, description, visibility }: Pick<Collection, 'title' | 'description' | 'visibility'> & { readonly ownerId: string },
    ): Promise<Collection> {
      const created = await change(actor, async (open) => {
        const { db, notes, now } = open
        const owner = await findOwner(db, userIdOf(actor), { id: ownerId })
        if (!owner) throw new AppError('not_found', 'This user does not exist.')
        requireRight(owner.role, 'edit', 'create collections here')
        if (visibility !== owner.defaultVisibility && visibility !== 'private') {
          requireRight(owner.role, 'manage', 'choose who else sees a collection')
        }
        const ownerSeq = await findUserSeq(db, ownerId)
        const count = await countRows(db.selectFrom('collection').where('owner_seq', '=', ownerSeq))
        if (count >= MAX_COLLECTIONS) {
          throw new AppError(
            'conflict',
            `${owner.name} has ${MAX_COLLECTIONS.toLocaleString('en')} collections, the most there can be. Delete one first.`,
          )
        }
        const id = context.random.id()
        const slug = await findFreeSlug(
          COLLECTION_SLUGS,
          db,
          slugCandidates(slugify(title), { id, visibility }, context.random.letters),
          null,
        )
        const { seq } = await db
          .insertInto('collection')
          .values({
            id,
            slug,
            owner_seq: ownerSeq,
            title,
            title_key: foldTitle(title),
            description,
            visibility,
            was_public: visibility === 'public' ? 1 : 0,
            version: 1,
            created_at: now,
            updated_at: now,
          })
          .returning('seq')
          .executeTakeFirstOrThrow()
        await keepSlug(COLLECTION_SLUGS, db, slug, seq)
        notes.shown(visibility)
        notes.audit({ action: 'collection_created', targetId: id, ownerId: owner.id, detail: { to: visibility } })
        return await selectCollections(db).where('collection.seq', '=', seq).executeTakeFirstOrThrow()
      })
      // Nothing is in it yet.
      return await show(actor, created, async () => new Map())
    },
    async changeCollection(
      actor: Actor,
      ref: string,
      wanted: CollectionChange,
      baseVersion: number | undefined,
    ): Promise<Collection | null> {
      const changed = await change(actor, async (open) => {
        const { db, notes, now } = open
        const row = await findForChange(open, ref, 'edit', 'change this collection')
        if (!row) return null
        requireNewest(row, baseVersion)
        const next = {
          title: wanted.title ?? row.title,
          description: wanted.description === undefined ? row.description : wanted.description,
          visibility: wanted.visibility ?? row.visibility,
        }
        if (next.visibility !== row.visibility) {
          requireRight(await findRole(db, userIdOf(actor), row.owner_id), 'manage', 'change who else sees this collection')
        }
        const slug = await nextSlug(COLLECTION_SLUGS, context.random, db, row, next, wanted.slug)
        const fields: AuditField[] = []
        if (next.title !== row.title) fields.push('title')
        if (next.description !== row.description) fields.push('description')
        if (slug !== row.slug) fields.push('slug')
        if (fields.length === 0 && next.visibility === row.visibility) return row
        const changed = {
          ...next,
          slug,
          title_key: foldTitle(next.title),
          was_public: row.was_public === 1 || next.visibility === 'public' ? 1 : 0,
          version: row.version + 1,
          updated_at: now,
        }
        await db.updateTable('collection').set(changed).where('seq', '=', row.seq).execute()
        await keepSlug(COLLECTION_SLUGS, db, slug, row.seq)
        for (const one of [row.visibility, next.visibility]) notes.shown(one)
        const target = { targetId: row.id, ownerId: row.owner_id }
        if (fields.length > 0) notes.audit({ action: 'collection_changed', ...target, detail: { version: changed.version, fields } })
        if (next.visibility !== row.visibility) {
          const detail = { version: changed.version, from: row.visibility, to: next.visibility }
          notes.audit({ action: 'collection_visibility_changed', ...target, detail })
        }
        return { ...row, ...changed }
      })
      return changed && (await show(actor, changed))
    },
    deleteCollection: (actor: Actor, ref: string): Promise<{ readonly id: string; readonly title: string } | null> =>
      change(actor, async (open) => {
        const row = await findForChange(open, ref, 'delete', 'delete this collection')
        if (!row) return null
        await removeRows(open.db, [row.seq])
        open.notes.shown(row.visibility)
        open.notes.audit({ action: 'collection_deleted', targetId: row.id, ownerId: row.owner_id })
        return { id: row.id, title: row.title }
      }),
    /** Members that are in it already stay where they are. `position` counts from 1 in what the caller sees; null: the end. */
    async addToCollection(
      actor: Actor,
      ref: string,
      items: readonly string[],
      position: number | null,
    ): Promise<{ readonly collection: Collection; readonly added: number } | null> {
      const changed = await change(actor, async (open) => {
        const { db } = open
        const row = await findForChange(open, ref, 'edit', 'add to this collection')
        if (!row) return null
        const wanted = await findItems(open, items)
        const all = db.selectFrom('collection_item').where('collection_seq', '=', row.seq)
        const there = new Set((await all.select('item_seq').where('item_seq', 'in', wanted).execute()).map(({ item_seq }) => item_seq))
        const missing = wanted.filter((seq) => !there.has(seq))
        if (missing.length === 0) return { row, added: 0 }
        const count = await countRows(all)
        if (count + missing.length > MAX_COLLECTION_ITEMS) {
          throw new AppError('conflict', `A collection holds at most ${MAX_COLLECTION_ITEMS.toLocaleString('en')} items.`)
        }
        const next =
          position === null
            ? undefined
            : await selectCollected(db, actor, row.seq)
                .select('item.seq')
                .orderBy('collection_item.position')
                .orderBy('item.seq')
                .limit(1)
                .offset(position - 1)
                .executeTakeFirst()
        const first = await makeRoom(db, row.seq, next ? 'before' : 'after', next?.seq ?? null, missing.length)
        await db
          .insertInto('collection_item')
          .values(missing.map((seq, index) => ({ collection_seq: row.seq, item_seq: seq, position: first + index })))
          .execute()
        return { row: await noteItems(open, row, { added: missing.length }), added: missing.length }
      })
      return changed && { collection: await show(actor, changed.row), added: changed.added }
    },
    /** Items that are not in it are passed over. */
    async removeFromCollection(
      actor: Actor,
      ref: string,
      items: readonly string[],
    ): Promise<{ readonly collection: Collection; readonly removed: number } | null> {
      const changed = await change(actor, async (open) => {
        const row = await findForChange(open, ref, 'edit', 'remove from this collection')
        if (!row) return null
        const { numDeletedRows } = await open.db
          .deleteFrom('collection_item')
          .where('collection_seq', '=', row.seq)
          .where('item_seq', 'in', await findItems(open, items, row.seq))
          .executeTakeFirst()
        const removed = Number(numDeletedRows)
        return { row: removed === 0 ? row : await noteItems(open, row, { removed }), removed }
      })
      return changed && { collection: await show(actor, changed.row), removed: changed.removed }
    },
    async moveInCollection(
      actor: Actor,
      ref: string,
      item: string,
      place: CollectionPlace,
      baseVersion: number | undefined,
    ): Promise<Collection | null> {
      const changed = await change(actor, async (open) => {
        const row = await findForChange(open, ref, 'edit', 'reorder this collection')
        if (!row) return null
        requireNewest(row, baseVersion)
        const seq = await findCollected(open, row, item)
        const target = await findTarget(open, row, seq, place)
        if (target === null) return row
        const position = await makeRoom(open.db, row.seq, target.side, target.seq, 1)
        await open.db
          .updateTable('collection_item')
          .set({ position })
          .where('collection_seq', '=', row.seq)
          .where('item_seq', '=', seq)
          .execute()
        return await noteItems(open, row, { moved: 1 })
      })
      return changed && (await show(actor, changed))
    },
  }
}
