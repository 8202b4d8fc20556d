import type { ItemKind } from '../../domain/items/items.ts'
import { requireMayAdd } from '../../domain/items/owners.ts'
import { audienceOf } from '../../domain/items/visibility.ts'
import { isId } from '../../domain/text/identifier.ts'
import { findOwner, ownersWith } from '../people/team-roles.ts'
import { selectItems } from './item-rows.ts'
import { dropTakenNames } from './named-prompts.ts'
import type { WriteContext } from './write-context.ts'

/** Moves items to the trash, and back. */
export function moveToTrash(context: WriteContext) {
  return (kind: ItemKind, ref: string, userId: string, deleted: boolean): Promise<{ id: string; slug: string; title: string } | null> =>
    context.transact(async (db, notes) => {
      const base = selectItems(db)
        .where('item.kind', '=', kind)
        .where('item.deleted_at', deleted ? 'is' : 'is not', null)
        .where('item.owner_seq', 'in', ownersWith(deleted ? 'delete' : 'edit', userId))
      const row = isId(ref)
        ? await base.where('item.id', '=', ref).executeTakeFirst()
        : await base.innerJoin('slug', 'slug.item_seq', 'item.seq').where('slug.slug', '=', ref).executeTakeFirst()
      if (!row) return null
      if (!deleted && row.owner_id !== userId) {
        // Whoever may not publish brings nothing back before others either.
        const owner = await findOwner(db, userId, { id: row.owner_id })
        if (owner) requireMayAdd(owner, kind, row.visibility)
      }
      const now = context.now()
      await db
        .updateTable('item')
        .set({ deleted_at: deleted ? now : null })
        .where('seq', '=', row.seq)
        .execute()
      if (!deleted) await dropTakenNames(db, [row.seq])
      notes.index(row.seq, null)
      notes.changed({ kind, ownerId: row.owner_id, audience: audienceOf(row.visibility) })
      notes.audit({ action: deleted ? 'item_deleted' : 'item_restored', targetId: row.id, ownerId: row.owner_id, detail: { kind } })
      return { id: row.id, slug: row.slug, title: row.title }
    })
}
