import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Actor } from '../../library/actor.ts'
import { PROMPT_TYPES } from '../../library/fields.ts'
import type { ItemReader } from '../../library/ports/items.ts'
import { listSkillFiles, type SkillFile } from '../../library/skill.ts'
import { visibleSet, visibleVersions } from '../../library/visibility.ts'
import { isOneOf } from '../is-one-of.ts'
import { ownersSeenBy } from '../people/team-roles.ts'
import type { Database } from '../schema.ts'
import { isInVisibleSet } from './item-rows.ts'

const stringsJson = z.array(z.string())

/** The row of an item the actor may see by its id. */
export function selectVisible(db: Kysely<Database>, actor: Actor, itemId: string) {
  return db
    .selectFrom('item')
    .select('item.seq')
    .where('item.id', '=', itemId)
    .where(isInVisibleSet(visibleSet(actor, 'id')))
}

/** Versions: all of them for the owner of an item and members of an owning team, for others those that were written while they would have found it. */
export function readVersions(db: Kysely<Database>): Pick<ItemReader, 'listVersions' | 'findVersion'> {
  const isOwn = async (actor: Actor, itemId: string) => {
    const { readerId } = visibleSet(actor, 'id')
    if (readerId === null) return false
    const item = db.selectFrom('item').select('item.seq').where('item.id', '=', itemId)
    return (await item.where('item.owner_seq', 'in', ownersSeenBy(readerId)).executeTakeFirst()) !== undefined
  }
  const selectVersions = async (actor: Actor, itemId: string) => {
    const all = db
      .selectFrom('version')
      .innerJoin('user', 'user.seq', 'version.author_seq')
      .where('version.item_seq', 'in', selectVisible(db, actor, itemId))
    return (await isOwn(actor, itemId)) ? all : all.where(isOneOf('version.visibility', visibleVersions(actor)))
  }
  return {
    async listVersions(actor, itemId, page) {
      let query = await selectVersions(actor, itemId)
      if (page.before !== null) query = query.where('version.number', '<', page.before)
      const rows = await query
        .select(['version.number', 'version.note', 'user.username', 'version.created_at', 'version.visibility'])
        .orderBy('version.number', 'desc')
        .limit(page.limit)
        .execute()
      return rows.map((row) => ({
        version: row.number,
        note: row.note,
        author: row.username,
        createdAt: row.created_at,
        visibility: row.visibility,
      }))
    },
    async findVersion(actor, itemId, version) {
      const row = await (await selectVersions(actor, itemId))
        .innerJoin('item', 'item.seq', 'version.item_seq')
        .selectAll('version')
        .select(['user.username', 'item.kind'])
        .where('version.number', '=', version)
        .executeTakeFirst()
      if (!row) return null
      const files =
        row.kind === 'skill'
          ? await db
              .selectFrom('version_file')
              .innerJoin('blob', 'blob.sha256', 'version_file.sha256')
              .select(['version_file.filename', 'version_file.mode', 'blob.bytes'])
              .where('version_file.version_seq', '=', row.seq)
              .execute()
          : null
      return {
        version: row.number,
        note: row.note,
        author: row.username,
        createdAt: row.created_at,
        visibility: row.visibility,
        title: row.title,
        description: row.description,
        category: row.category,
        tags: stringsJson.parse(JSON.parse(row.tags)),
        type: row.type === null ? null : z.enum(PROMPT_TYPES).parse(row.type),
        content: row.kind === 'prompt' ? row.content : null,
        files: files ? listSkillFiles<SkillFile>(files) : null,
      }
    },
  }
}
