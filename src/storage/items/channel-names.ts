import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { isSlug, withSuffix } from '../../domain/items/slug.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

/** How `retired_slug` holds the name of a removed skill: apart from slugs, and unreadable. */
export function retireChannelName(name: string): string {
  return `#${createHash('sha256').update(`channel ${name}`).digest('hex')}`
}

const publicItem = prepareQuery((db) =>
  db
    .selectFrom('item')
    .select(['kind', 'slug', 'skill_name', 'channel_name'])
    .where('seq', '=', sql<number>`${slot('seq')}`)
    .where('visibility', '=', 'public'),
)

/**
 * Gives a public skill the name under which it is installed, unless it has one: the name in its SKILL.md when that is valid and free, else
 * its slug. It stays for ever. Call it whenever an item may have become public.
 */
export async function keepChannelName(db: Kysely<Database>, seq: number): Promise<void> {
  const [item] = await publicItem(db, { seq })
  if (item?.kind !== 'skill' || item.channel_name !== null) return
  for (const name of candidates(item.skill_name, item.slug)) {
    if (await isTaken(db, name)) continue
    await db.updateTable('item').set({ channel_name: name }).where('seq', '=', seq).execute()
    return
  }
}

function* candidates(skillName: string | null, slug: string): Generator<string> {
  if (skillName !== null) yield skillName
  yield slug
  const base = isSlug(slug) ? slug : 'skill'
  for (let n = 2; ; n++) yield withSuffix(base, String(n))
}

async function isTaken(db: Kysely<Database>, name: string): Promise<boolean> {
  const holder = await db.selectFrom('item').select('seq').where('channel_name', '=', name).executeTakeFirst()
  if (holder) return true
  const retired = await db.selectFrom('retired_slug').select('slug').where('slug', '=', retireChannelName(name)).executeTakeFirst()
  return retired !== undefined
}
