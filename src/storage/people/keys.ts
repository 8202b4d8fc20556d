import { type ExpressionBuilder, type InferResult, type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { MAX_INSTALL_LINKS, MAX_KEYS, MAX_PROGRAMS } from '../../domain/people/account.ts'
import { SCOPES, type Scope, type Within, withinSchema } from '../../domain/people/actor.ts'
import type { OwnedToken, StoredKey, TokenKey } from '../../domain/sign-in/keys.ts'
import { AppError } from '../../errors.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import type { WriteContext } from '../items/write-context.ts'
import { prepareQuery, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { findRole } from './user-rows.ts'

/** Most keys, or links, listed for one person. */
const MAX_LISTED_KEYS = 200
/** How long a revoked or expired key or link is kept. */
const KEPT_AFTER_END_MS = 30 * 86_400_000
const TOKEN_TABLES = ['oauth_access_token', 'oauth_refresh_token', 'oauth_consent'] as const

/** Revokes keys and links and disconnects programs, with what they made. Those that are revoked already change nothing. */
async function endKeys(db: Kysely<Database>, audit: WriteNotes['audit'], ids: readonly string[], at: string): Promise<void> {
  if (ids.length === 0) return
  const ended = await db
    .updateTable('api_key')
    .set({ revoked_at: at })
    .where('id', 'in', ids)
    .where('revoked_at', 'is', null)
    .returning(['id', 'user_seq', 'client_id', 'kind'])
    .execute()
  if (ended.length === 0) return
  const endedIds = idsOf(ended)
  for (const table of TOKEN_TABLES) await db.deleteFrom(table).where('reference_id', 'in', endedIds).execute()
  for (const { id, user_seq: owner, client_id: client, kind } of ended) {
    const ofKey = client === null ? 'key_revoked' : 'program_disconnected'
    audit({ action: kind === 'link' ? 'install_link_revoked' : ofKey, targetId: id, ownerId: await idOf(db, owner) })
  }
  await endGrantsOf(db, audit, endedIds, at)
}

/**
 * Ends the links and programs that keys or sessions made, by their ids: when those are revoked or ended from elsewhere. Signing out ends
 * none.
 */
async function endGrantsOf(db: Kysely<Database>, audit: WriteNotes['audit'], makers: readonly string[], at: string): Promise<void> {
  if (makers.length === 0) return
  const made = await db.selectFrom('api_key').select('id').where('made_by', 'in', makers).execute()
  await endKeys(db, audit, idsOf(made), at)
}

/** Ends every key, program and link of a person. */
async function endEverything(db: Kysely<Database>, audit: WriteNotes['audit'], userId: string, at: string): Promise<void> {
  const owner = db.selectFrom('user').select('seq').where('id', '=', userId)
  const keys = await db.selectFrom('api_key').select('id').where('user_seq', 'in', owner).execute()
  await endKeys(db, audit, idsOf(keys), at)
}

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

async function idOf(db: Kysely<Database>, seq: number): Promise<string> {
  return (await db.selectFrom('user').select('id').where('seq', '=', seq).executeTakeFirstOrThrow()).id
}

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
    .select(['user.id as userId', 'user.username', 'user.suspended_at', 'user.seen_on as seenOn'])
    .select([
      'api_key.seq',
      'api_key.id',
      'api_key.name',
      'api_key.scopes',
      'api_key.within',
      'api_key.client_id as clientId',
      'api_key.path',
    ])
    .select(['api_key.created_at as createdAt', 'api_key.last_used_at as lastUsedAt'])
    .select(['api_key.expires_at as expiresAt', 'api_key.revoked_at as revokedAt'])
}

type KeyRow = InferResult<ReturnType<typeof selectKeys>>[number]

const keyByHash = prepareQuery<KeyRow>((db) =>
  selectKeys(db)
    .where('api_key.sha256', '=', slot('sha256'))
    .where('api_key.kind', '=', sql<'key' | 'link'>`${slot('kind')}`),
)

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

function toKey({ seq: _, scopes, within, suspended_at: suspendedAt, ...key }: KeyRow): StoredKey {
  return {
    ...key,
    scopes: scopesJson.parse(JSON.parse(scopes)),
    within: within === null ? null : withinSchema.parse(JSON.parse(within)),
    isSuspended: suspendedAt !== null,
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

/** API keys and install links. */
export function keyStore(reader: Kysely<Database>, context: WriteContext) {
  const { now } = context
  /** Ends the key or link that a query finds; null when there is none. */
  const endOne = async (found: ReturnType<typeof selectKeys>, db: Kysely<Database>, audit: WriteNotes['audit']) => {
    const row = await found.executeTakeFirst()
    if (!row) return null
    await endKeys(db, audit, [row.id], now())
    return toKey(await found.executeTakeFirstOrThrow())
  }
  return {
    /** Forgets keys that were over for more than 30 days. A connection beyond MAX_PROGRAMS ends one of the program with most of them, the one unused longest. @throws AppError `not_found`, `conflict` for somebody with MAX_KEYS keys that work, or MAX_INSTALL_LINKS links */
    createKey: ({
      link = null,
      ...key
    }: {
      name: string
      userId: string
      sha256: string
      scopes: readonly Scope[]
      expiresAt: string | null
      /** Default: null */
      within?: Within | null
      /** For what a program holds by OAuth: its client, the id that its tokens refer to, and the session that allowed it. Default: null */
      connection?: { readonly id: string; readonly clientId: string; readonly madeBy: string | null } | null
      /** For an install link: the path of its scope, and the key or session that makes it. It ends no later than that key. Default: null */
      link?: { readonly path: string; readonly madeBy: string | null } | null
    }): Promise<StoredKey> =>
      context.sideTransaction(async (db, audit) => {
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
          .where('kind', '=', link ? 'link' : 'key')
          .where('client_id', key.connection ? 'is not' : 'is', null)
          .where(isActive(now()))
          .orderBy((eb) => eb.fn.coalesce('last_used_at', 'created_at'))
          .orderBy('seq')
          .execute()
        const [most, what] = link ? [MAX_INSTALL_LINKS, 'install links'] : [MAX_KEYS, 'keys']
        if (!key.connection && active.length >= most)
          throw new AppError('conflict', `${user.username} has ${most} ${what} that work, and may have no more; revoke one first.`)
        if (key.connection) {
          await endKeys(db, audit, chooseProgramsToEnd(active), now())
        }
        const longAgo = new Date(context.clock() - KEPT_AFTER_END_MS).toISOString()
        await db
          .deleteFrom('api_key')
          .where((eb) => eb.or([eb('revoked_at', '<', longAgo), eb('expires_at', '<', longAgo)]))
          .execute()
        const maker = await db
          .selectFrom('api_key')
          .select('expires_at')
          .where('id', '=', link?.madeBy ?? '')
          .executeTakeFirst()
        const [end = null] = [key.expiresAt, maker?.expires_at].filter((one) => typeof one === 'string').toSorted()
        await db
          .insertInto('api_key')
          .values({
            id,
            user_seq: user.seq,
            name: key.name,
            sha256: key.sha256,
            scopes: JSON.stringify(key.scopes),
            created_at: now(),
            expires_at: end,
            within: key.within ? JSON.stringify(key.within) : null,
            client_id: key.connection?.clientId ?? null,
            made_by: (key.connection ?? link)?.madeBy ?? null,
            ...(link && { kind: 'link', path: link.path }),
          })
          .execute()
        const detail = { scopes: [...key.scopes], ...(key.within && { narrowed: true }) }
        const made = { targetId: id, ownerId: key.userId }
        if (link) audit({ action: 'install_link_created', ...made })
        else audit({ action: key.connection ? 'program_connected' : 'key_created', ...made, detail })
        return toKey(await selectKeys(db).where('api_key.id', '=', id).executeTakeFirstOrThrow())
      }),
    async findKey(sha256: string): Promise<StoredKey | null> {
      const [row] = await keyByHash(reader, { sha256, kind: 'key' })
      return row ? toKey(row) : null
    },
    /** The key that an access token acts for; null for a token that is unknown or over. */
    async findTokenKey(sha256: string): Promise<TokenKey | null> {
      const [found] = await keyByToken(reader, { sha256 })
      if (!found) return null
      const { resources: ofToken, token_scopes: tokenScopes, token_expires_at: expiresAt, token_revoked: revokedAt, ...row } = found
      if (revokedAt !== null || expiresAt <= now()) return null
      const granted = z.array(z.string()).parse(JSON.parse(tokenScopes))
      const resources = ofToken === null ? [] : z.array(z.string()).parse(JSON.parse(ofToken))
      const key = toKey(row)
      return { key, scopes: key.scopes.filter((scope) => granted.includes(scope)), resources }
    },
    /** The key and state of an access or refresh token, whether it works or not. */
    async findKeyOfToken(sha256: string): Promise<OwnedToken | null> {
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
    /** Sets when a key ends that has not ended. */
    extendKey: (id: string, expiresAt: string): Promise<void> =>
      context.sideTransaction(async (db) => {
        await db.updateTable('api_key').set({ expires_at: expiresAt }).where('id', '=', id).where(isActive(now())).execute()
      }),
    /** Everybody's, or one person's in the order they were made: at most 200, those that work and then the newest. */
    async listKeys(username: string | null): Promise<StoredKey[]> {
      const keys = selectKeys(reader).where('api_key.kind', '=', 'key')
      if (username === null) return (await keys.orderBy('user.username_key').orderBy('api_key.seq').execute()).map(toKey)
      const time = now()
      const rows = await keys
        .where('user.username_key', '=', username.toLowerCase())
        .orderBy((eb) => eb.case().when(isActive(time)(eb)).then(0).else(1).end())
        .orderBy('api_key.seq', 'desc')
        .limit(MAX_LISTED_KEYS)
        .execute()
      return rows.toSorted((a, b) => a.seq - b.seq).map(toKey)
    },
    /** With what it made: links, and programs. */
    revokeKey: (id: string): Promise<StoredKey | null> =>
      context.sideTransaction(async (db, audit) => {
        const keys = selectKeys(db).where('api_key.id', '=', id).where('api_key.kind', '=', 'key')
        return await endOne(keys, db, audit)
      }),
    async findLink(sha256: string): Promise<StoredKey | null> {
      const [row] = await keyByHash(reader, { sha256, kind: 'link' })
      return row ? toKey(row) : null
    },
    /** One person's install links, newest first: at most 200. */
    async listLinks(userId: string): Promise<StoredKey[]> {
      const links = selectKeys(reader).where('api_key.kind', '=', 'link').where('user.id', '=', userId)
      return (await links.orderBy('api_key.seq', 'desc').limit(MAX_LISTED_KEYS).execute()).map(toKey)
    },
    /** Null when this person has no such link. Revoking again changes nothing. */
    revokeLink: (userId: string, id: string): Promise<StoredKey | null> =>
      context.sideTransaction(async (db, audit) => {
        const links = selectKeys(db).where('api_key.id', '=', id).where('api_key.kind', '=', 'link').where('user.id', '=', userId)
        return await endOne(links, db, audit)
      }),
    /** Ends a person's keys, programs and install links. */
    revokeEverything: (userId: string): Promise<void> => context.sideTransaction((db, audit) => endEverything(db, audit, userId, now())),
    /** Ends the links and programs that keys or sessions of these ids made. */
    endGrantsOf: (makers: readonly string[]): Promise<void> =>
      context.sideTransaction((db, audit) => endGrantsOf(db, audit, makers, now())),
    /** Those of these keys that are revoked, expired, of a suspended account, or not there. */
    async findOverKeys(ids: readonly string[]): Promise<string[]> {
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
    /** Notes that a key or link was used now. */
    touchKey: (id: string): Promise<void> =>
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
