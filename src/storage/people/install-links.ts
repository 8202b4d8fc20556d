import type { ExpressionBuilder, Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import { MAX_INSTALL_LINKS } from '../../library/account.ts'
import type { InstallLinkStore, StoredInstallLink } from '../../library/ports/install-links.ts'
import type { WriteContext } from '../items/write-context.ts'
import type { Database } from '../schema.ts'

/** Most links listed for one person. */
const MAX_LISTED = 200
/** How long a revoked or expired link is kept. */
const KEPT_AFTER_END_MS = 30 * 86_400_000

function selectLinks(db: Kysely<Database>) {
  return db
    .selectFrom('install_link as link')
    .innerJoin('user', 'user.seq', 'link.user_seq')
    .where('user.removal', 'is', null)
    .select([
      'link.id',
      'link.name',
      'link.scope',
      'link.created_at',
      'link.last_used_at',
      'link.expires_at',
      'link.revoked_at',
      'user.id as user_id',
      'user.username',
      'user.suspended_at',
    ])
}

function toLink(row: Awaited<ReturnType<ReturnType<typeof selectLinks>['execute']>>[number]): StoredInstallLink {
  return {
    id: row.id,
    name: row.name,
    userId: row.user_id,
    username: row.username,
    scope: row.scope,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    isSuspended: row.suspended_at !== null,
  }
}

/** Whether a link works at a time. */
function isActive(time: string) {
  return (eb: ExpressionBuilder<Database, 'install_link'>) =>
    eb.and([eb('revoked_at', 'is', null), eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', time)])])
}

/** Install links. */
export function installLinkStore(reader: Kysely<Database>, context: WriteContext): InstallLinkStore {
  const now = () => new Date(context.clock()).toISOString()
  return {
    createInstallLink: (link) =>
      context.transact(async (db, notes) => {
        const user = await db
          .selectFrom('user')
          .select(['seq', 'username'])
          .where('id', '=', link.userId)
          .where('removal', 'is', null)
          .where('is_team', '=', 0)
          .executeTakeFirst()
        if (!user) throw new AppError('not_found', 'This user does not exist.')
        const longAgo = new Date(context.clock() - KEPT_AFTER_END_MS).toISOString()
        await db
          .deleteFrom('install_link')
          .where((eb) => eb.or([eb('revoked_at', '<', longAgo), eb('expires_at', '<', longAgo)]))
          .execute()
        const { active } = await db
          .selectFrom('install_link')
          .select((eb) => eb.fn.countAll<number>().as('active'))
          .where('user_seq', '=', user.seq)
          .where(isActive(now()))
          .executeTakeFirstOrThrow()
        if (Number(active) >= MAX_INSTALL_LINKS) {
          throw new AppError(
            'conflict',
            `${user.username} has ${MAX_INSTALL_LINKS} install links that work, and may have no more; revoke one first.`,
          )
        }
        const maker = await db
          .selectFrom('api_key')
          .select('expires_at')
          .where('id', '=', link.madeBy ?? '')
          .executeTakeFirst()
        const ends = [link.expiresAt, maker?.expires_at].filter((end) => typeof end === 'string').toSorted()
        const id = context.random.id()
        await db
          .insertInto('install_link')
          .values({
            id,
            user_seq: user.seq,
            name: link.name,
            sha256: link.sha256,
            scope: link.scope,
            created_at: now(),
            expires_at: ends[0] ?? null,
            made_by: link.madeBy,
          })
          .execute()
        notes.audit({ action: 'install_link_created', targetId: id, ownerId: link.userId })
        return toLink(await selectLinks(db).where('link.id', '=', id).executeTakeFirstOrThrow())
      }),
    async findInstallLink(sha256) {
      const row = await selectLinks(reader).where('link.sha256', '=', sha256).executeTakeFirst()
      return row ? toLink(row) : null
    },
    async listInstallLinks(userId) {
      const rows = await selectLinks(reader).where('user.id', '=', userId).orderBy('link.seq', 'desc').limit(MAX_LISTED).execute()
      return rows.map(toLink)
    },
    revokeInstallLink: (userId, id) =>
      context.transact(async (db, notes) => {
        const row = await selectLinks(db).where('link.id', '=', id).where('user.id', '=', userId).executeTakeFirst()
        if (!row) return null
        if (row.revoked_at !== null) return toLink(row)
        const revokedAt = now()
        await db.updateTable('install_link').set({ revoked_at: revokedAt }).where('id', '=', id).execute()
        notes.audit({ action: 'install_link_revoked', targetId: id, ownerId: userId })
        return toLink({ ...row, revoked_at: revokedAt })
      }),
    touchInstallLink: (id) =>
      context.sideTransaction(async (db) => {
        await db.updateTable('install_link').set({ last_used_at: now() }).where('id', '=', id).execute()
      }),
  }
}
