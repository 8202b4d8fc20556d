import type { Kysely } from 'kysely'
import { readNamedFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodeText, SKILL_MD } from '../../domain/skills/skill.ts'
import type { Database } from '../schema.ts'

/**
 * Where an import found each item, so that the next one finds the item of a path again. Items imported before this have none.
 * Skills whose frontmatter is read since get the name that it gives them.
 */
export async function createImportSources(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable('import_source')
    .addColumn('item_seq', 'integer', (c) => c.primaryKey().references('item.seq').onDelete('cascade'))
    .addColumn('source', 'text', (c) => c.notNull())
    .execute()
  const files = await db
    .selectFrom('skill_file')
    .innerJoin('item', 'item.seq', 'skill_file.item_seq')
    .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
    .select(['skill_file.item_seq', 'blob.bytes'])
    .where('skill_file.filename', '=', SKILL_MD)
    .where('item.skill_name', 'is', null)
    .execute()
  for (const file of files) {
    const name = readNamedFrontmatter(decodeText(file.bytes) ?? '')?.name
    if (name !== undefined) await db.updateTable('item').set({ skill_name: name }).where('seq', '=', file.item_seq).execute()
  }
}
