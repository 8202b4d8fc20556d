import type { AsyncLocalStorage } from 'node:async_hooks'
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import { visibleSet } from '../domain/items/visibility.ts'
import type { Actor } from '../domain/people/actor.ts'
import {
  AUDIT_ACTIONS,
  type AuditDetail,
  type AuditEntry,
  type AuditEvent,
  type AuditOrigin,
  type AuditQuery,
  auditDetail,
} from '../domain/service/audit.ts'
import { isCollectionVisible } from './collections/collection-rows.ts'
import { isInVisibleSet } from './items/item-rows.ts'
import type { WriteContext } from './items/write-context.ts'
import { seqOfUser } from './people/user-rows.ts'
import { prepareInsert } from './prepared.ts'
import type { Database } from './schema.ts'

type EventRow = Selectable<Database['audit_event']>

const SERVICE: AuditOrigin = { actorId: null, keyId: null, surface: 'service' }
/** Sorts after every id with a given prefix. */
const AFTER_IDS = '~'

const insertEvent = prepareInsert('audit_event')

/** The origin of writes awaited within {@link AuditStore.actingAs}, including rows that better-auth writes: of each request or command. */
export type Origins = AsyncLocalStorage<AuditOrigin>

/** Entries of one transaction. Imports are one entry for each owner, however many items they write. */
export function collectEntries(): { note(entry: AuditEntry): void; readonly entries: readonly AuditEntry[] } {
  const entries: AuditEntry[] = []
  return {
    entries,
    note(entry) {
      const place =
        entry.action === 'items_imported'
          ? entries.findIndex(({ action, ownerId }) => action === entry.action && ownerId === entry.ownerId)
          : -1
      const existing = entries[place]
      if (existing) entries[place] = { ...existing, detail: addCounts(existing.detail, entry.detail) }
      else entries.push(entry)
    },
  }
}

function addCounts(one: AuditDetail = {}, other: AuditDetail = {}): AuditDetail {
  return { created: (one.created ?? 0) + (other.created ?? 0), updated: (one.updated ?? 0) + (other.updated ?? 0) }
}

/** Writes entries in the transaction they record. */
export async function writeEntries(db: Kysely<Database>, origin: AuditOrigin = SERVICE, entries: readonly AuditEntry[], nowMs: number) {
  const at = new Date(nowMs).toISOString()
  for (const { action, targetId, ownerId, detail = {}, actorId } of entries) {
    await insertEvent(db, {
      at,
      actor_id: actorId ?? origin.actorId,
      key_id: origin.keyId,
      surface: origin.surface,
      action,
      target_id: targetId,
      owner_id: ownerId,
      detail: JSON.stringify(auditDetail.parse(detail)),
    })
  }
}

/** The audit log. Events are never changed. */
export function auditStore(reader: Kysely<Database>, context: WriteContext, origins: Origins) {
  return {
    /** Runs `work`; what it writes is recorded as done by `origin`. Default without it: the service itself. */
    actingAs: <T>(origin: AuditOrigin, work: () => Promise<T>): Promise<T> => origins.run(origin, work),
    /** Records what changes nothing else. Changes record themselves. */
    async recordEvent(entry: AuditEntry): Promise<void> {
      const origin = origins.getStore()
      await context.sideTransaction((db) => writeEntries(db, origin, [entry], context.clock()))
    },
    /** `reader` decides which titles and names are included, not which events. */
    async listEvents(actor: Actor, query: AuditQuery): Promise<AuditEvent[]> {
      return await toEvents(reader, actor, await readEvents(reader, query))
    },
    /** Removes events of before a time (ISO 8601), at most `limit`; gives how many. */
    removeEvents: (before: string, limit: number): Promise<number> =>
      context.sideTransaction(async (db) => {
        const old = db.selectFrom('audit_event').select('seq').where('at', '<', before).orderBy('at').limit(limit)
        const { numDeletedRows } = await db.deleteFrom('audit_event').where('seq', 'in', old).executeTakeFirst()
        return Number(numDeletedRows)
      }),
  }
}

async function readEvents(
  db: Kysely<Database>,
  { aboutId, ownerId, action, target, since, before, limit }: AuditQuery,
): Promise<EventRow[]> {
  const narrow = (query: SelectQueryBuilder<Database, 'audit_event', EventRow>) => {
    let narrowed = query
    if (action !== undefined) narrowed = narrowed.where('action', '=', action)
    if (target !== undefined) narrowed = narrowed.where('target_id', '>=', target).where('target_id', '<', target + AFTER_IDS)
    if (since !== undefined) narrowed = narrowed.where('at', '>=', since)
    if (before !== undefined) narrowed = narrowed.where('seq', '<', before)
    return narrowed.orderBy('seq', 'desc').limit(limit)
  }
  const all = db.selectFrom('audit_event').selectAll()
  if (ownerId !== undefined) return await narrow(all.where('owner_id', '=', ownerId)).execute()
  if (aboutId === undefined) return await narrow(all).execute()
  // Two walks, each over its own index: one with OR would read and sort everything about a person.
  const found = await Promise.all((['actor_id', 'owner_id'] as const).map((column) => narrow(all.where(column, '=', aboutId)).execute()))
  const bySeq = new Map(found.flat().map((row) => [row.seq, row]))
  return [...bySeq.values()].toSorted((a, b) => b.seq - a.seq).slice(0, limit)
}

type Target = (typeof AUDIT_ACTIONS)[keyof typeof AUDIT_ACTIONS]

/** Events with current names, where the reader may see what they name. */
async function toEvents(db: Kysely<Database>, reader: Actor, rows: readonly EventRow[]): Promise<AuditEvent[]> {
  const details = new Map(rows.map((row) => [row.seq, auditDetail.parse(JSON.parse(row.detail))]))
  const namedIn = (row: EventRow) => details.get(row.seq)?.items ?? []
  const intoOf = (row: EventRow) => details.get(row.seq)?.into ?? null
  const targetsOf = (...targets: readonly Target[]) =>
    rows.map((row) => (targets.includes(AUDIT_ACTIONS[row.action]) ? row.target_id : null))
  const users = await readNames([...targetsOf('user', 'team'), ...rows.flatMap((row) => [row.actor_id, row.owner_id])], (ids) =>
    db.selectFrom('user').select(['id', 'username as name']).where('id', 'in', ids).where('removal', 'is', null),
  )
  // As in a list: the log must not lead to unlisted items.
  const listed = db.selectFrom('item').where(isInVisibleSet(visibleSet(reader, 'list')))
  const items = await readNames([...targetsOf('item'), ...rows.flatMap(namedIn)], (ids) =>
    listed.select(['item.id', 'item.title as name']).where('item.id', 'in', ids),
  )
  const owner = reader.kind === 'user' ? await seqOfUser(db, reader.userId) : 0
  const keys = await readNames([...targetsOf('key', 'install_link'), ...rows.map((row) => row.key_id)], (ids) =>
    db.selectFrom('api_key').select(['id', 'name']).where('id', 'in', ids).where('user_seq', '=', owner),
  )
  const categories = await readNames([...targetsOf('category'), ...rows.map(intoOf)], (ids) =>
    db
      .selectFrom('category')
      .select([sql<string>`cast(seq as text)`.as('id'), 'name'])
      .where('seq', 'in', ids.map(Number)),
  )
  const shown = db.selectFrom('collection').where(isCollectionVisible(reader, 'list'))
  const collections = await readNames(targetsOf('collection'), (ids) =>
    shown.select(['collection.id', 'collection.title as name']).where('collection.id', 'in', ids),
  )
  const names: { readonly [T in Target]?: ReadonlyMap<string, string> } = {
    item: items,
    collection: collections,
    user: users,
    team: users,
    key: keys,
    install_link: keys,
    category: categories,
  }
  return rows.map((row) => ({
    order: row.seq,
    at: row.at,
    action: row.action,
    surface: row.surface,
    actorId: row.actor_id,
    actorName: users.get(row.actor_id ?? '') ?? null,
    keyId: row.key_id,
    keyName: keys.get(row.key_id ?? '') ?? null,
    targetId: row.target_id,
    targetName: names[AUDIT_ACTIONS[row.action]]?.get(row.target_id ?? '') ?? null,
    ownerId: row.owner_id,
    ownerName: users.get(row.owner_id ?? '') ?? null,
    detail: details.get(row.seq) ?? {},
    intoName: categories.get(intoOf(row) ?? '') ?? null,
    items: namedIn(row).map((id) => ({ id, name: items.get(id) ?? null })),
  }))
}

async function readNames(
  asked: readonly (string | null)[],
  select: (ids: readonly string[]) => { execute(): Promise<readonly { readonly id: string; readonly name: string }[]> },
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(asked)].filter((id) => id !== null)
  return new Map(ids.length === 0 ? [] : (await select(ids).execute()).map(({ id, name }) => [id, name]))
}
