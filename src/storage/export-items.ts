import type { Kysely } from 'kysely'
import type { ItemKind } from '../library/items.ts'
import type { LibraryStore } from '../library/ports.ts'
import { readFiles } from './item-parts.ts'
import { selectItems, toPrompts, toSkills } from './item-rows.ts'
import type { Database } from './schema.ts'

/** Reads for an export: everything one owner has, or everybody's, for whoever holds the database itself. */
export function exportReader(db: Kysely<Database>): Pick<LibraryStore, 'exportPrompts' | 'exportSkills'> {
  const rowsAfter = async (kind: ItemKind, ownerId: string | null, after: number, limit: number) => {
    let query = selectItems(db)
      .select('owner.username as owner_name')
      .where('item.kind', '=', kind)
      .where('item.deleted_at', 'is', null)
      .where('item.seq', '>', after)
    if (ownerId !== null) query = query.where('owner.id', '=', ownerId)
    return await query.orderBy('item.seq').limit(limit).execute()
  }
  return {
    async exportPrompts(ownerId, after, limit) {
      const rows = await rowsAfter('prompt', ownerId, after, limit)
      const prompts = await toPrompts(db, rows)
      return rows.flatMap((row, index) => {
        const prompt = prompts[index]
        return prompt ? [{ order: row.seq, prompt, owner: row.owner_name }] : []
      })
    },
    async exportSkills(ownerId, after, limit) {
      const rows = await rowsAfter('skill', ownerId, after, limit)
      const skills = await toSkills(db, rows)
      const exported = []
      for (const [index, row] of rows.entries()) {
        const skill = skills[index]
        if (!skill) continue
        exported.push({ order: row.seq, skill, owner: row.owner_name, files: await readFiles(db, row.seq) })
      }
      return exported
    },
  }
}
