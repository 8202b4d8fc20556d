import { type Kysely, sql } from 'kysely'
import { nameQuota, type OwnerQuota, type OwnerUsage, USAGE_PARTS } from '../../domain/people/usage.ts'
import { AppError } from '../../errors.ts'
import { batches, prepareStatement, slot } from '../prepared.ts'
import type { Database } from '../schema.ts'

const NONE: OwnerUsage = { items: 0, versions: 0, bytes: 0, words: 0 }

const columns = sql.join(USAGE_PARTS.map((part) => sql.ref(part)))
const sums = sql.join(USAGE_PARTS.map((part) => sql`${sql.ref(part)} = owner_usage.${sql.ref(part)} + excluded.${sql.ref(part)}`))
const addQuery = prepareStatement(sql<OwnerUsage>`
  insert into owner_usage (owner_seq, ${columns}) values (${slot('owner')}, ${sql.join(USAGE_PARTS.map((part) => slot(part)))})
  on conflict (owner_seq) do update set ${sums} returning ${columns}`)

/** The bytes of a version's texts: the log has the tags of its filings, which count as versions instead. */
const textBytes = sql<number>`sum(${sql.join(
  (['title', 'description', 'content', 'messages', 'config', 'tags', 'note'] as const).map(
    (column) => sql`octet_length(coalesce(${sql.ref(`version.${column}`)}, ''))`,
  ),
  sql` + `,
)})`

/** Adds to what an owner keeps; negative numbers subtract. @returns the new sums */
export async function addUsage(db: Kysely<Database>, ownerSeq: number, more: Partial<OwnerUsage>): Promise<OwnerUsage> {
  const [row] = await addQuery(db, { owner: ownerSeq, ...NONE, ...more })
  return toUsage(row)
}

/**
 * Adds to what an owner keeps, unless it would be more than the quota. Call it before the first write: an import goes on after a refusal, in
 * the same transaction.
 * @throws AppError `too_large` that says what is left
 */
export async function takeRoom(db: Kysely<Database>, ownerSeq: number, more: Partial<OwnerUsage>, quota: OwnerQuota): Promise<void> {
  const usage = await readUsage(db, ownerSeq)
  for (const part of USAGE_PARTS) {
    const [added, limit] = [more[part] ?? 0, quota[part]]
    if (limit === null || added <= 0 || usage[part] + added <= limit) continue
    const left = Math.max(0, limit - usage[part])
    const message = `The owner may keep ${nameQuota(part, limit)} and has room for ${nameQuota(part, left)} more. Delete for good what is not needed, or ask an administrator to raise QUOTA_PER_OWNER.`
    throw new AppError('too_large', message)
  }
  await addUsage(db, ownerSeq, more)
}

/** The usage of an owner. */
export async function readUsage(db: Kysely<Database>, ownerSeq: number): Promise<OwnerUsage> {
  return toUsage(await db.selectFrom('owner_usage').select(USAGE_PARTS).where('owner_seq', '=', ownerSeq).executeTakeFirst())
}

/** The owners who keep the most bytes, in descending order. */
export async function listLargestOwners(db: Kysely<Database>, limit: number): Promise<(OwnerUsage & { readonly username: string })[]> {
  const rows = await db
    .selectFrom('owner_usage')
    .innerJoin('user', 'user.seq', 'owner_usage.owner_seq')
    .select(['user.username', ...USAGE_PARTS.map((part) => `owner_usage.${part}` as const)])
    .where('owner_usage.items', '>', 0)
    .orderBy('owner_usage.bytes', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ username, ...row }) => ({ username, ...toUsage(row) }))
}

/** Subtracts versions that are about to be removed. */
export async function giveBackVersions(db: Kysely<Database>, versionSeqs: readonly number[]): Promise<void> {
  const rows = await versionsByOwner(db).where('version.seq', 'in', versionSeqs).execute()
  for (const { owner_seq: owner, versions, bytes } of rows)
    await addUsage(db, owner, { versions: -Number(versions), bytes: -Number(bytes) })
}

/** Subtracts items that are about to be removed; their versions have been. */
export async function giveBackItems(db: Kysely<Database>, itemSeqs: readonly number[]): Promise<void> {
  const rows = await db
    .selectFrom('item')
    .select(['owner_seq', (eb) => eb.fn.countAll<number>().as('items')])
    .where('seq', 'in', itemSeqs)
    .groupBy('owner_seq')
    .execute()
  for (const { owner_seq: owner, items } of rows) await addUsage(db, owner, { items: -Number(items) })
}

/**
 * Counts items that are about to change hands for their next owner. Words stay with the owner who brought them.
 * @throws AppError `too_large` where that one has no room
 */
export async function moveUsage(db: Kysely<Database>, itemSeqs: readonly number[], to: number, quota: OwnerQuota): Promise<void> {
  const rows = await versionsByOwner(db)
    .select((eb) => eb.fn.count<number>('item.seq').distinct().as('items'))
    .where('item.seq', 'in', itemSeqs)
    .execute()
  for (const { owner_seq: from, ...counted } of rows) {
    const [items, versions] = [Number(counted.items), Number(counted.versions)]
    const files = await db
      .selectFrom('blob')
      .where('owner_seq', '=', from)
      .where('sha256', 'in', (eb) =>
        eb
          .selectFrom('version_file')
          .innerJoin('version', 'version.seq', 'version_file.version_seq')
          .select('version_file.sha256')
          .where('version.item_seq', 'in', itemSeqs),
      )
      .select(['sha256', sql<number>`octet_length(bytes)`.as('size')])
      .execute()
    const bytes = files.reduce((sum, { size }) => sum + Number(size), Number(counted.bytes))
    await takeRoom(db, to, { items, versions, bytes }, quota)
    await addUsage(db, from, { items: -items, versions: -versions, bytes: -bytes })
    for (const part of batches(files)) {
      const digests = part.map(({ sha256 }) => sha256)
      await db.updateTable('blob').set({ owner_seq: to }).where('sha256', 'in', digests).execute()
    }
  }
}

/** Recounts items, versions and bytes of every owner, after an import has filled the tables directly. */
export async function recountUsage(db: Kysely<Database>): Promise<void> {
  const rows = await versionsByOwner(db)
    .select((eb) => eb.fn.count<number>('item.seq').distinct().as('items'))
    .execute()
  await db.updateTable('owner_usage').set({ items: 0, versions: 0, bytes: 0 }).execute()
  const files = await db
    .selectFrom('blob')
    .select(['owner_seq', sql<number>`sum(octet_length(bytes))`.as('bytes')])
    .where('owner_seq', 'is not', null)
    .groupBy('owner_seq')
    .execute()
  for (const { owner_seq: owner, items, versions, bytes } of rows) {
    await addUsage(db, owner, { items: Number(items), versions: Number(versions), bytes: Number(bytes) })
  }
  for (const { owner_seq: owner, bytes } of files) if (owner !== null) await addUsage(db, owner, { bytes: Number(bytes) })
}

function versionsByOwner(db: Kysely<Database>) {
  return db
    .selectFrom('version')
    .innerJoin('item', 'item.seq', 'version.item_seq')
    .select(['item.owner_seq', sql<number>`count(*) + sum(version.filings)`.as('versions'), textBytes.as('bytes')])
    .groupBy('item.owner_seq')
}

/** A server gives its large numbers as texts. */
function toUsage(row: OwnerUsage | undefined): OwnerUsage {
  return {
    items: Number(row?.items ?? 0),
    versions: Number(row?.versions ?? 0),
    bytes: Number(row?.bytes ?? 0),
    words: Number(row?.words ?? 0),
  }
}
