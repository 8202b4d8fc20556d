import type { Kysely } from 'kysely'
import type { Database } from '../schema.ts'

/**
 * The name under which a public skill is installed. It is unique over the library and stays once it is given, so that it leads to the same
 * skill for ever. Skills that were ever public get theirs in the order they were made.
 */
export async function addChannelNames(db: Kysely<Database>): Promise<void> {
  await db.schema.alterTable('item').addColumn('channel_name', 'text').execute()
  await db.schema.createIndex('item_channel_name').unique().on('item').column('channel_name').execute()
  const skills = await db
    .selectFrom('item')
    .select(['seq', 'slug', 'skill_name'])
    .where('kind', '=', 'skill')
    .where('was_public', '=', 1)
    .orderBy('seq')
    .execute()
  const taken = new Set<string>()
  for (const { seq, slug, skill_name: name } of skills) {
    const wanted = name === null || taken.has(name) ? slug : name
    let free = wanted
    for (let n = 2; taken.has(free); n++) free = `${wanted.slice(0, 60).replace(/-+$/, '')}-${n}`
    taken.add(free)
    await db.updateTable('item').set({ channel_name: free }).where('seq', '=', seq).execute()
  }
}
