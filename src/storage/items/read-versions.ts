import type { Kysely, Selectable } from 'kysely'
import type { FullVersion, ItemKind, Version } from '../../domain/items/items.ts'
import { visibleSet, visibleVersions } from '../../domain/items/visibility.ts'
import type { Actor } from '../../domain/people/actor.ts'
import { listSkillFiles, type SkillFile } from '../../domain/skills/skill.ts'
import { ownersSeenBy } from '../people/user-rows.ts'
import { isOneOf } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { isInVisibleSet, promptType, readBody, textsJson } from './item-rows.ts'

/** A page of versions: those below `before`. */
interface VersionPage {
  readonly before: number | null
  readonly limit: number
}

/** The row of an item the actor may see by its id. */
export function selectVisible(db: Kysely<Database>, actor: Actor, itemId: string) {
  return db
    .selectFrom('item')
    .select('item.seq')
    .where('item.id', '=', itemId)
    .where(isInVisibleSet(visibleSet(actor, 'id')))
}

/** A version of an item, whoever sees it; null for none. */
export async function readVersion(db: Kysely<Database>, itemSeq: number, number: number): Promise<FullVersion | null> {
  const row = await db
    .selectFrom('version')
    .innerJoin('user', 'user.seq', 'version.author_seq')
    .innerJoin('item', 'item.seq', 'version.item_seq')
    .selectAll('version')
    .select(['user.username', 'item.kind'])
    .where('version.item_seq', '=', itemSeq)
    .where('version.number', '=', number)
    .executeTakeFirst()
  return row ? await toFullVersion(db, row) : null
}

async function toFullVersion(
  db: Kysely<Database>,
  row: Selectable<Database['version']> & { readonly username: string; readonly kind: ItemKind },
): Promise<FullVersion> {
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
    tags: textsJson.parse(JSON.parse(row.tags)),
    type: promptType.nullable().parse(row.type),
    body: row.kind === 'prompt' ? readBody(row) : null,
    files: files ? listSkillFiles<SkillFile>(files) : null,
  }
}

/** Versions: all of them for the owner of an item and members of an owning team, for others those that were written while they would have found it. */
export function readVersions(db: Kysely<Database>) {
  const isOwn = async (actor: Actor, itemId: string) => {
    const { readerId } = visibleSet(actor, 'id')
    if (readerId === null) return false
    const item = db.selectFrom('item').select('item.seq').where('item.id', '=', itemId)
    return (await item.where('item.owner_seq', 'in', ownersSeenBy(readerId)).executeTakeFirst()) !== undefined
  }
  const selectVersions = async (actor: Actor, itemId: string, seq?: number) => {
    const all = db
      .selectFrom('version')
      .innerJoin('user', 'user.seq', 'version.author_seq')
      .where((eb) =>
        seq === undefined ? eb('version.item_seq', 'in', selectVisible(db, actor, itemId)) : eb('version.item_seq', '=', seq),
      )
    return (await isOwn(actor, itemId)) ? all : all.where(isOneOf('version.visibility', visibleVersions(actor)))
  }
  const list = async (actor: Actor, itemId: string, page: VersionPage, seq?: number): Promise<Version[]> => {
    let query = await selectVersions(actor, itemId, seq)
    if (page.before !== null) query = query.where('version.number', '<', page.before)
    return await query
      .select(['number as version', 'note', 'user.username as author', 'version.created_at as createdAt', 'version.visibility'])
      .orderBy('version.number', 'desc')
      .limit(page.limit)
      .execute()
  }
  return {
    /** Versions the actor sees, newest first, below `before`; none of an item that it does not see. */
    listVersions: (actor: Actor, itemId: string, page: VersionPage): Promise<Version[]> => list(actor, itemId, page),
    /** As `listVersions`, for an item whose visibility was checked. */
    listVersionsOf: (actor: Actor, { id, seq }: { id: string; seq: number }, page: VersionPage): Promise<Version[]> =>
      list(actor, id, page, seq),
    /** A version that the actor sees; null for any other. */
    async findVersion(actor: Actor, itemId: string, version: number): Promise<FullVersion | null> {
      const row = await (await selectVersions(actor, itemId))
        .innerJoin('item', 'item.seq', 'version.item_seq')
        .selectAll('version')
        .select(['user.username', 'item.kind'])
        .where('version.number', '=', version)
        .executeTakeFirst()
      return row ? await toFullVersion(db, row) : null
    },
  }
}
