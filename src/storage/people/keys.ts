import type { ExpressionBuilder, Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { MAX_KEYS, MAX_PROGRAMS } from '../../library/account.ts'
import { SCOPES, withinSchema } from '../../library/actor.ts'
import type { KeyStore, StoredKey } from '../../library/ports/keys.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { endEverything, endGrantsOf, endKeys } from './grants.ts'
import { findRole } from './team-roles.ts'

/** Most keys listed for one person. */
const MAX_LISTED_KEYS = 200
/** How long a revoked or expired key is kept. */
const KEPT_AFTER_END_MS = 30 * 86_400_000

/** Whether a key works at a time. */
function isActive(time: string) {
  return (eb: ExpressionBuilder<Database, 'api_key'>) =>
    eb.and([eb('api_key.revoked_at', 'is', null), eb.or([eb('api_key.expires_at', 'is', null), eb('api_key.expires_at', '>', time)])])
}

const scopesJson = z.array(z.enum(SCOPES))

function selectKeys(db: Kysely<Database>) {
  return db
    .selectFrom('api_key')
    .innerJoin('user', 'user.seq', 'api_key.user_seq')
    .select([
      'api_key.id',
      'api_key.name',
      'api_key.scopes',
      'api_key.created_at',
      'api_key.last_used_at',
      'api_key.expires_at',
      'api_key.revoked_at',
      'api_key.within',
      'api_key.client_id',
      'user.id as user_id',
      'user.username',
      'user.suspended_at',
      'user.seen_on',
    ])
}

type KeyRow = Omit<Selectable<Database['api_key']>, 'seq' | 'user_seq' | 'sha256' | 'made_by'> & {
  user_id: string
  username: string
  suspended_at: string | null
  seen_on: string | null
}

const keyByHash = prepareQuery<KeyRow>((db) => selectKeys(db).where('api_key.sha256', '=', slot('sha256')))

type TokenRow = KeyRow & { resources: string | null; token_scopes: string; token_expires_at: string; token_revoked: string | null }

const keyByToken = prepareQuery<TokenRow>((db) =>
  selectKeys(db)
    .innerJoin('oauth_access_token', 'oauth_access_token.reference_id', 'api_key.id')
    .select([
      'oauth_access_token.resources',
      'oauth_access_token.scopes as token_scopes',
      'oauth_access_token.expires_at as token_expires_at',
      'oauth_access_token.revoked as token_revoked',
    ])
    .where('oauth_access_token.token', '=', slot('sha256')),
)

function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    userId: row.user_id,
    username: row.username,
    scopes: scopesJson.parse(JSON.parse(row.scopes)),
    within: row.within === null ? null : withinSchema.parse(JSON.parse(row.within)),
    clientId: row.client_id,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    isSuspended: row.suspended_at !== null,
    seenOn: row.seen_on,
  }
}

/**
 * Revokes the keys that are narrowed to a team or to collections of it, once their owner is not in it any more.
 * @param userId null: the keys of everybody
 */
export async function endNarrowedKeys(
  db: Kysely<Database>,
  notes: WriteNotes,
  teamId: string,
  userId: string | null,
  at: string,
): Promise<void> {
  let keys = selectKeys(db).where('api_key.within', 'is not', null).where('api_key.revoked_at', 'is', null)
  if (userId !== null) keys = keys.where('user.id', '=', userId)
  const owned = await db
    .selectFrom('collection')
    .innerJoin('user', 'user.seq', 'collection.owner_seq')
    .select('collection.id')
    .where('user.id', '=', teamId)
    .execute()
  const collections = new Set(owned.map(({ id }) => id))
  for (const { id, within } of (await keys.execute()).map(toKey)) {
    if (!within || ('team' in within ? within.team !== teamId : within.collections.every((one) => !collections.has(one)))) continue
    await endKeys(db, notes.audit, [id], at)
  }
}

/** API keys. */
export function keyStore(reader: Kysely<Database>, context: WriteContext): KeyStore {
  const now = () => new Date(context.clock()).toISOString()
  return {
    createKey: (key) =>
      context.transact(async (db, notes) => {
        const id = key.connection?.id ?? context.random.id()
        const user = await db
          .selectFrom('user')
          .select(['seq', 'username'])
          .where('id', '=', key.userId)
          .where('removal', 'is', null)
          .where('is_team', '=', 0)
          .executeTakeFirst()
        if (!user) throw new AppError('not_found', 'This user does not exist.')
        if (key.within && 'team' in key.within && (await findRole(db, key.userId, key.within.team)) === null) {
          throw new AppError('not_found', 'You are not in this team any more.')
        }
        const active = await db
          .selectFrom('api_key')
          .select(['id', 'client_id'])
          .where('user_seq', '=', user.seq)
          .where('client_id', key.connection ? 'is not' : 'is', null)
          .where(isActive(now()))
          .orderBy((eb) => eb.fn.coalesce('last_used_at', 'created_at'))
          .orderBy('seq')
          .execute()
        if (!key.connection && active.length >= MAX_KEYS)
          throw new AppError('conflict', `${user.username} has ${MAX_KEYS} keys that work, and may have no more; revoke one first.`)
        if (key.connection) {
          await endKeys(db, notes.audit, chooseProgramsToEnd(active), now())
        }
        const longAgo = new Date(context.clock() - KEPT_AFTER_END_MS).toISOString()
        await db
          .deleteFrom('api_key')
          .where((eb) => eb.or([eb('revoked_at', '<', longAgo), eb('expires_at', '<', longAgo)]))
          .execute()
        await db
          .insertInto('api_key')
          .values({
            id,
            user_seq: user.seq,
            name: key.name,
            sha256: key.sha256,
            scopes: JSON.stringify(key.scopes),
            created_at: now(),
            expires_at: key.expiresAt,
            within: key.within ? JSON.stringify(key.within) : null,
            client_id: key.connection?.clientId ?? null,
            made_by: key.connection?.madeBy ?? null,
          })
          .execute()
        notes.audit({
          action: key.connection ? 'program_connected' : 'key_created',
          targetId: id,
          ownerId: key.userId,
          detail: { scopes: [...key.scopes], ...(key.within && { narrowed: true }) },
        })
        return toKey(await selectKeys(db).where('api_key.id', '=', id).executeTakeFirstOrThrow())
      }),
    async findKey(sha256) {
      const [row] = await keyByHash(reader, { sha256 })
      return row ? toKey(row) : null
    },
    async findTokenKey(sha256) {
      const [row] = await keyByToken(reader, { sha256 })
      if (!row || row.token_revoked !== null || row.token_expires_at <= now()) return null
      const granted = z.array(z.string()).parse(JSON.parse(row.token_scopes))
      const resources = row.resources === null ? [] : z.array(z.string()).parse(JSON.parse(row.resources))
      const key = toKey(row)
      return { key, scopes: key.scopes.filter((scope) => granted.includes(scope)), resources }
    },
    async findKeyOfToken(sha256) {
      const refresh = await reader
        .selectFrom('oauth_refresh_token')
        .select(['reference_id', 'revoked', 'rotation_replay_expires_at'])
        .where('token', '=', sha256)
        .executeTakeFirst()
      if (refresh?.reference_id) {
        const isRevoked = refresh.revoked !== null
        // The plugin keeps time by the clock of the machine.
        const isUsedUp = isRevoked && (refresh.rotation_replay_expires_at ?? '') < new Date().toISOString()
        return { id: refresh.reference_id, isRefresh: true, isRevoked, isUsedUp }
      }
      const access = await reader
        .selectFrom('oauth_access_token')
        .select(['reference_id', 'revoked'])
        .where('token', '=', sha256)
        .executeTakeFirst()
      return access?.reference_id
        ? { id: access.reference_id, isRefresh: false, isRevoked: access.revoked !== null, isUsedUp: false }
        : null
    },
    extendKey: (id, expiresAt) =>
      context.sideTransaction(async (db) => {
        await db.updateTable('api_key').set({ expires_at: expiresAt }).where('id', '=', id).where(isActive(now())).execute()
      }),
    async listKeys(username) {
      if (username === null) return (await selectKeys(reader).orderBy('user.username_key').orderBy('api_key.seq').execute()).map(toKey)
      const time = now()
      const rows = await selectKeys(reader)
        .where('user.username_key', '=', username.toLowerCase())
        .orderBy((eb) => eb.case().when(isActive(time)(eb)).then(0).else(1).end())
        .orderBy('api_key.seq', 'desc')
        .limit(MAX_LISTED_KEYS)
        .select('api_key.seq')
        .execute()
      return rows.toSorted((a, b) => a.seq - b.seq).map(toKey)
    },
    revokeKey: (id) =>
      context.transact(async (db, notes) => {
        await endKeys(db, notes.audit, [id], now())
        const row = await selectKeys(db).where('api_key.id', '=', id).executeTakeFirst()
        return row ? toKey(row) : null
      }),
    revokeEverything: (userId) => context.transact((db, notes) => endEverything(db, notes.audit, userId, now())),
    endGrantsOf: (makers) => context.transact((db, notes) => endGrantsOf(db, notes.audit, makers, now())),
    async findOverKeys(ids) {
      if (ids.length === 0) return []
      const good = await reader
        .selectFrom('api_key')
        .innerJoin('user', 'user.seq', 'api_key.user_seq')
        .select('api_key.id')
        .where('api_key.id', 'in', ids)
        .where('user.suspended_at', 'is', null)
        .where(isActive(now()))
        .execute()
      const validIds = new Set(good.map(({ id }) => id))
      return ids.filter((id) => !validIds.has(id))
    },
    touchKey: (id) =>
      context.sideTransaction(async (db) => {
        await db.updateTable('api_key').set({ last_used_at: now() }).where('id', '=', id).execute()
      }),
  }
}

/**
 * The connections that end to make room for one more: of the program that has most of them, the one unused longest, so that a program that
 * signs in again and again disconnects no other.
 * @param active connections, the one unused longest first
 */
function chooseProgramsToEnd(active: readonly { readonly id: string; readonly client_id: string | null }[]): string[] {
  const left = [...active]
  const ended: string[] = []
  while (left.length >= MAX_PROGRAMS) {
    const counts = new Map<string | null, number>()
    for (const { client_id } of left) counts.set(client_id, (counts.get(client_id) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const place = left.findIndex(({ client_id }) => counts.get(client_id) === most)
    ended.push(...left.splice(place, 1).map(({ id }) => id))
  }
  return ended
}
