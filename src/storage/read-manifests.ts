import { type Kysely, sql } from 'kysely'
import type { Actor } from '../library/actor.ts'
import { readNamedFrontmatter } from '../library/frontmatter.ts'
import type { LibraryReader } from '../library/ports.ts'
import { decodeText, SKILL_MD, sortFilenames } from '../library/skill.ts'
import { type Reach, type VisibleSet, visibleSet } from '../library/visibility.ts'
import { isInVisibleSet } from './item-rows.ts'
import type { Database } from './schema.ts'

/** Skills by the names their SKILL.md gives them, with the digests of their files. */
export function readManifests(db: Kysely<Database>): Pick<LibraryReader, 'walkSkills' | 'findSkillAt'> {
  const named = (actor: Actor, reach: Reach) =>
    db
      .selectFrom('item')
      .innerJoin('user as owner', 'owner.seq', 'item.owner_seq')
      .where('item.kind', '=', 'skill')
      .where('item.skill_name', 'is not', null)
      .select([
        'item.seq',
        'item.id',
        'item.slug',
        'item.skill_name',
        'item.created_at',
        'owner.username',
        sql<number>`item.seq = ${firstOfName(visibleSet(actor, reach))}`.as('is_first'),
      ])
  type Row = Awaited<ReturnType<ReturnType<typeof named>['execute']>>[number]

  async function toManifests(rows: readonly Row[]) {
    if (rows.length === 0) return []
    const seqs = rows.map((row) => row.seq)
    const files = await db
      .selectFrom('skill_file')
      .select(['item_seq', 'filename', 'sha256', 'size'])
      .where('item_seq', 'in', seqs)
      .execute()
    const heads = await db
      .selectFrom('skill_file')
      .innerJoin('blob', 'blob.sha256', 'skill_file.sha256')
      .select(['skill_file.item_seq', 'blob.bytes'])
      .where('skill_file.item_seq', 'in', seqs)
      .where('skill_file.filename', '=', SKILL_MD)
      .execute()
    return rows.flatMap((row) => {
      const head = heads.find((file) => file.item_seq === row.seq)
      const frontmatter = readNamedFrontmatter((head && decodeText(head.bytes)) ?? '')
      if (!frontmatter) return []
      const own = files.filter((file) => file.item_seq === row.seq).map(({ filename, sha256, size }) => ({ filename, sha256, size }))
      return [
        {
          id: row.id,
          owner: row.username,
          path: row.is_first ? frontmatter.name : `${row.slug}/${frontmatter.name}`,
          frontmatter,
          files: sortFilenames(own),
          position: { createdAt: row.created_at, order: row.seq },
        },
      ]
    })
  }

  return {
    async walkSkills(actor, after, limit) {
      let query = named(actor, 'list').where((eb) => isInVisibleSet(visibleSet(actor, 'list'))(eb))
      if (after) {
        query = query.where((eb) =>
          eb.or([
            eb('item.created_at', '<', after.createdAt),
            eb.and([eb('item.created_at', '=', after.createdAt), eb('item.seq', '<', after.order)]),
          ]),
        )
      }
      return await toManifests(await query.orderBy('item.created_at', 'desc').orderBy('item.seq', 'desc').limit(limit).execute())
    },
    async findSkillAt(actor, owner, path) {
      const [head = '', name] = path.split('/')
      const reachable = named(actor, 'slug')
        .where((eb) => isInVisibleSet(visibleSet(actor, 'slug'))(eb))
        .where('owner.username_key', '=', owner.toLowerCase())
      const found =
        name === undefined
          ? reachable.where('item.skill_name', '=', head).where(sql<boolean>`item.seq = ${firstOfName(visibleSet(actor, 'slug'))}`)
          : reachable.where('item.skill_name', '=', name).where('item.slug', '=', head)
      const row = await found.executeTakeFirst()
      return row ? ((await toManifests([row]))[0] ?? null) : null
    },
  }
}

/**
 * The oldest of an owner's skills that share a name, among those the caller may see: it has the name for itself, the others stand
 * below their slugs. What is hidden has no part in it, or an address would tell of it.
 */
function firstOfName(set: VisibleSet) {
  return sql`(select min(same.seq) from item as same
    where same.owner_seq = item.owner_seq and same.skill_name = item.skill_name and same.deleted_at is null
    and (same.visibility in (${sql.join(set.visibilities)}) or same.owner_seq = (select seq from "user" where id = ${set.ownerId})))`
}
