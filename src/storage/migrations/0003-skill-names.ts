import type { Kysely } from 'kysely'
import { readNamedFrontmatter } from '../../domain/skills/frontmatter.ts'
import { decodeText, SKILL_MD } from '../../domain/skills/skill.ts'
import type { Database } from '../schema.ts'

/** The name a skill's SKILL.md gives it, by which clients of skills over MCP find it. */
export async function addSkillNames(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('item').addColumn('skill_name', 'text').execute()
  await db.schema.createIndex('item_skill_name').on('item').columns(['owner_seq', 'skill_name']).execute()
  const files = await db
    .selectFrom('skill_file')
    .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
    .select(['skill_file.item_seq', 'blob.bytes'])
    .where('skill_file.filename', '=', SKILL_MD)
    .execute()
  for (const file of files) {
    const name = readNamedFrontmatter(decodeText(file.bytes) ?? '')?.name ?? null
    await db.updateTable('item').set({ skill_name: name }).where('seq', '=', file.item_seq).execute()
  }
}
