import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Purge } from '../../domain/items/changes.ts'
import type { Decide } from '../../domain/items/item-access.ts'
import type { ItemKind } from '../../domain/items/items.ts'
import { audienceOf, type Visibility } from '../../domain/items/visibility.ts'
import { hasRight } from '../../domain/people/teams.ts'
import type { AuditField } from '../../domain/service/audit.ts'
import { SKILL_MD } from '../../domain/skills/skill.ts'
import { AppError, invalidInput } from '../../errors.ts'
import { forgetFilings } from '../change-log.ts'
import { findRole, ownersWith } from '../people/user-rows.ts'
import { batches } from '../prepared.ts'
import type { Database } from '../schema.ts'
import { markSweepDue } from '../service.ts'
import { dropLabelsOf } from './item-labels.ts'
import { readSearchableText, type WriteNotes } from './item-parts.ts'
import { findLiveRow, type ItemRow, namesOfTags, readTags, selectItems, seqOf } from './item-rows.ts'
import { addUsage } from './owner-usage.ts'
import { removeItems, removeUnusedBlobs, removeVersions } from './remove-items.ts'
import type { WriteContext } from './write-context.ts'

/** Items one transaction of {@link PurgeStore.purgeExpired} removes, or whose versions it removes. */
const ITEMS_A_TRANSACTION = 20
/** Rows of items whose versions are counted by one statement. */
const ITEMS_COUNTED = 2_000

/** The key by which a purged version is recognised in a backup, and no other of the same number. */
function keyOfVersion(itemId: string, number: number, createdAt: string): string {
  return createHash('sha256').update(`version\n${itemId}\n${number}\n${createdAt}`).digest('hex')
}

/** The same for the content of a file; it reveals neither name nor bytes. */
function keyOfFile(itemId: string, filename: string, sha256: string): string {
  return createHash('sha256').update(`file\n${itemId}\n${filename}\n${sha256}`).digest('hex')
}

/** Ranges of consecutive numbers, in order. */
function* runsOf(numbers: readonly number[]): Generator<{ first: number; last: number }> {
  let run: { first: number; last: number } | null = null
  for (const number of numbers.toSorted((a, b) => a - b)) {
    if (run && number === run.last + 1) run.last = number
    else {
      if (run) yield run
      run = { first: number, last: number }
    }
  }
  if (run) yield run
}

/** Purges, which leave only ids. */
export function purgeStore(reader: Kysely<Database>, context: WriteContext) {
  /** Cleanup after a deletion is retried later when it fails: the deletion itself is done. */
  const sweep = async () => {
    await context.sweep().catch(() => false)
  }
  const record = async (db: Kysely<Database>, { itemId, first, last, key }: Purge): Promise<void> => {
    await db
      .insertInto('purge')
      .values({ item_id: itemId, first_version: first, last_version: last, file_key: key, made_at: context.now() })
      .execute()
  }
  /** Records purged versions, merged with adjacent ones. */
  const recordGap = async (db: Kysely<Database>, itemId: string, first: number, last: number): Promise<void> => {
    const beside = await db
      .deleteFrom('purge')
      .where('item_id', '=', itemId)
      .where('file_key', 'is', null)
      .where('first_version', '<=', last + 1)
      .where('last_version', '>=', first - 1)
      .returning(['first_version', 'last_version'])
      .execute()
    await record(db, {
      itemId,
      first: Math.min(first, ...beside.flatMap((row) => row.first_version ?? [])),
      last: Math.max(last, ...beside.flatMap((row) => row.last_version ?? [])),
      key: null,
    })
  }
  /** Unfinished forms, imports and reports of bulk actions, which name no address, may hold the text of an item. */
  const removeDrafts = async (db: Kysely<Database>, row: ItemRow): Promise<void> => {
    const slugs = await db.selectFrom('slug').select('slug').where('item_seq', '=', row.seq).execute()
    const names = [row.id, ...slugs.map(({ slug }) => slug)].map((name) => `/${name}/`)
    const drafts = await db.selectFrom('form_draft').select(['id', 'kind', 'body']).where('owner_seq', '=', row.owner_seq).execute()
    const ids = drafts.filter(({ kind, body }) => kind !== 'form' || names.some((name) => body.includes(name))).map(({ id }) => id)
    if (ids.length > 0) await db.deleteFrom('form_draft').where('id', 'in', ids).execute()
  }
  /** @param isRecorded whether restoring a backup must not bring it back */
  const removeItem = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow, isRecorded: boolean): Promise<void> => {
    const gone = db.deleteFrom('purge').where('item_id', '=', row.id)
    await (isRecorded ? gone : gone.where('file_key', 'is', null).where('first_version', 'is not', null)).execute()
    if (isRecorded) await record(db, { itemId: row.id, first: null, last: null, key: null })
    await removeItems(db, [row.seq])
    notes.audit({ action: 'item_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind } })
    notes.index(row.seq, null)
    tell(notes, row)
  }
  const findRow = async (db: Kysely<Database>, kind: ItemKind, id: string): Promise<ItemRow | undefined> =>
    await selectItems(db).where('item.kind', '=', kind).where('item.id', '=', id).executeTakeFirst()
  /** An item whose history the user may change: not in the trash. */
  const findOwn = async (db: Kysely<Database>, kind: ItemKind, id: string, userId: string): Promise<ItemRow | null> => {
    const row = await findLiveRow(db, id, kind)
    return row && hasRight(await findRole(db, userId, row.owner_id), 'delete') ? row : null
  }
  /** Removes versions of an item. @param options.isRecorded as for an item */
  const removeSome = async (
    db: Kysely<Database>,
    notes: WriteNotes,
    row: ItemRow,
    versions: readonly { readonly seq: number; readonly number: number; readonly created_at: string }[],
    isRecorded: boolean,
  ): Promise<void> => {
    if (versions.length === 0) return
    const numbers = versions.map(({ number }) => number)
    await dropLabelsOf(db, row.seq, numbers, context.now())
    await removeVersions(db, versions.map(seqOf))
    for (const { first, last } of runsOf(numbers)) {
      await recordGap(db, row.id, first, last)
      notes.audit({ action: 'versions_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind, first, last } })
    }
    if (isRecorded) {
      for (const { number, created_at: at } of versions) {
        await record(db, { itemId: row.id, first: number, last: number, key: keyOfVersion(row.id, number, at) })
      }
    }
    tell(notes, row)
  }
  /** Makes the newest version, and the log of it, say where it is filed now and nothing of before. @returns how often it was filed otherwise */
  const forgetEarlier = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow): Promise<number> => {
    const forgotten = await forgetFilings(db, row.seq, row)
    if (forgotten === 0) return 0
    const tags = namesOfTags((await readTags(db, [row.seq])).get(row.seq) ?? [])
    const newest = db.selectFrom('version').where('item_seq', '=', row.seq).where('number', '=', row.version)
    const before = await newest.select(['seq', 'tags']).executeTakeFirstOrThrow()
    const filed = { visibility: row.visibility, category: row.category_slug, tags }
    await db.updateTable('version').set(filed).where('seq', '=', before.seq).execute()
    await addUsage(db, row.owner_seq, { bytes: Buffer.byteLength(tags) - Buffer.byteLength(before.tags) })
    await markSweepDue(db, context.now())
    const fields: AuditField[] = ['tags', 'category']
    const detail = { kind: row.kind, version: row.version, fields }
    notes.audit({ action: 'versions_purged', targetId: row.id, ownerId: row.owner_id, detail })
    tell(notes, row)
    return forgotten
  }
  const versionsOf = (db: Kysely<Database>, row: ItemRow) =>
    db.selectFrom('version').select(['seq', 'number', 'created_at']).where('item_seq', '=', row.seq)
  const tell = (notes: WriteNotes, row: ItemRow) =>
    notes.changed({ kind: row.kind, ownerId: row.owner_id, audience: audienceOf(row.visibility), isPurge: true })
  const tellFile = (notes: WriteNotes, row: ItemRow) => {
    notes.audit({ action: 'file_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: 'skill' } })
    tell(notes, row)
  }
  /** Repeats the purges of these keys on an item from a backup. Returns how many versions and files, or null for the whole item. */
  const repeatParts = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow, keys: ReadonlySet<string>): Promise<number | null> => {
    const versions = await versionsOf(db, row).execute()
    const gone = versions.filter(({ number, created_at: at }) => keys.has(keyOfVersion(row.id, number, at)))
    if (gone.some(({ number }) => number === row.version)) {
      await removeItem(db, notes, row, false)
      return null
    }
    await removeSome(db, notes, row, gone, false)
    const kept = await db
      .selectFrom('version_file')
      .innerJoin('version', 'version.seq', 'version_file.version_seq')
      .select(['version.seq', 'version.number', 'version_file.filename', 'version_file.sha256'])
      .where('version.item_seq', '=', row.seq)
      .execute()
    const files = kept.filter(({ filename, sha256 }) => keys.has(keyOfFile(row.id, filename, sha256)))
    for (const { seq, number, filename } of files) {
      await db.deleteFrom('version_file').where('version_seq', '=', seq).where('filename', '=', filename).execute()
      if (number !== row.version) continue
      await db.deleteFrom('skill_file').where('item_seq', '=', row.seq).where('filename', '=', filename).execute()
      notes.index(row.seq, await readSearchableText(db, row.seq))
    }
    await removeUnusedBlobs(db, files)
    if (files.length > 0) tellFile(notes, row)
    return gone.length + files.length
  }

  return {
    /** An item in the trash that this user may delete for good, by id or slug. */
    async findDeleted(kind: ItemKind, ref: string, userId: string): Promise<{ readonly id: string; readonly title: string } | null> {
      const row = await selectItems(reader)
        .where('item.kind', '=', kind)
        .where('item.owner_seq', 'in', ownersWith('delete', userId))
        .where('item.deleted_at', 'is not', null)
        .where((eb) => eb.or([eb('item.id', '=', ref), eb('item.slug', '=', ref)]))
        .executeTakeFirst()
      return row ? { id: row.id, title: row.title } : null
    },
    /** An item with all its versions, in the trash or not, when `decide` says so of it as it is now. False when there is none, or it does not. */
    async purgeItem(
      kind: ItemKind,
      id: string,
      userId: string,
      decide: Decide<{ readonly visibility: Visibility; readonly deletedAt: string | null }, boolean>,
    ): Promise<boolean> {
      const purged = await context.transact(async (db, notes) => {
        const row = await findRow(db, kind, id)
        if (!row) return false
        const role = await findRole(db, userId, row.owner_id)
        if (!decide({ visibility: row.visibility, deletedAt: row.deleted_at }, role)) return false
        await removeDrafts(db, row)
        await removeItem(db, notes, row, true)
        return true
      })
      if (purged) await sweep()
      return purged
    },
    /**
     * Versions of an item, from `first` to `last`; how many there were. Of the newest version, which stays, earlier tags, categories and
     * addresses go, each counted as a version. Null where the user may not change the history, or the item is in the trash.
     * @throws AppError `conflict` for the newest where it was not filed otherwise before
     */
    async purgeVersions(
      kind: ItemKind,
      id: string,
      userId: string,
      { first, last }: { readonly first: number; readonly last: number },
    ): Promise<number | null> {
      const removed = await context.transact(async (db, notes) => {
        const row = await findOwn(db, kind, id, userId)
        if (!row) return null
        const forgotten = last === row.version ? await forgetEarlier(db, notes, row) : 0
        const isBlocked = row.blocked_version !== null && first > row.version
        if (last >= row.version && forgotten === 0 && !isBlocked) {
          throw new AppError(
            'conflict',
            `Version ${row.version} is the newest: it is what the ${kind} is. Change the ${kind} first, or delete it as a whole.`,
          )
        }
        const versions = await versionsOf(db, row)
          .where('number', '>=', first)
          .where('number', '<=', last)
          .where('number', isBlocked ? '>' : '<', row.version)
          .execute()
        // The text that others see is the newest again.
        if (isBlocked && last >= (row.blocked_version ?? 0))
          await db.updateTable('item').set({ blocked_version: null }).where('seq', '=', row.seq).execute()
        await removeSome(db, notes, row, versions, true)
        if (versions.length + forgotten > 0) await removeDrafts(db, row)
        return versions.length + forgotten
      })
      if (removed) await sweep()
      return removed
    },
    /**
     * A file of a skill in all versions but the newest, where its bytes are others than there; how many versions lost it. Null as above.
     * @throws AppError `invalid_input` for SKILL.md
     */
    async purgeFile(id: string, userId: string, filename: string): Promise<number | null> {
      if (filename === SKILL_MD) throw invalidInput('filename', `Every version needs its ${SKILL_MD}: delete the versions instead.`)
      const removed = await context.transact(async (db, notes) => {
        const row = await findOwn(db, 'skill', id, userId)
        if (!row) return null
        const kept = await db
          .selectFrom('skill_file')
          .select('sha256')
          .where('item_seq', '=', row.seq)
          .where('filename', '=', filename)
          .executeTakeFirst()
        const versions = db.selectFrom('version').select('seq').where('item_seq', '=', row.seq).where('number', '<', row.version)
        const files = await db
          .deleteFrom('version_file')
          .where('version_seq', 'in', versions)
          .where('filename', '=', filename)
          .where('sha256', '<>', kept?.sha256 ?? '')
          .returning('sha256')
          .execute()
        if (files.length === 0) return 0
        await removeUnusedBlobs(db, files)
        await markSweepDue(db, context.now())
        for (const sha256 of new Set(files.map((file) => file.sha256))) {
          await record(db, { itemId: row.id, first: 1, last: row.version - 1, key: keyOfFile(row.id, filename, sha256) })
        }
        await removeDrafts(db, row)
        tellFile(notes, row)
        return files.length
      })
      if (removed) await sweep()
      return removed
    },
    /**
     * Repeats, in a restored backup, the purges made since, and keeps their records. A whole item is deleted (its id is in `items`) when its
     * newest version in the backup was purged; a copy with a newer version stays. `parts` counts versions, and versions that lost a file.
     */
    async repeatPurges(purges: readonly Purge[]): Promise<{ readonly parts: number; readonly items: readonly string[] }> {
      const removed = { parts: 0, items: [] as string[] }
      // A gap only means missing versions.
      const repeated = purges.filter(({ first, key }) => first === null || key !== null)
      for (const [itemId, all] of Map.groupBy(repeated, (purge) => purge.itemId)) {
        await context.transact(async (db, notes) => {
          const recorded = await db.selectFrom('purge').select(['first_version', 'file_key']).where('item_id', '=', itemId).execute()
          const isKnown = ({ first, key }: Purge) =>
            recorded.some((row) => row.file_key === key && (key !== null || row.first_version === first))
          for (const purge of all) if (!isKnown(purge)) await record(db, purge)
          const row = await selectItems(db).where('item.id', '=', itemId).executeTakeFirst()
          if (!row) return
          const isWhole = all.some(({ first }) => first === null)
          const parts = isWhole ? null : await repeatParts(db, notes, row, new Set(all.flatMap(({ key }) => key ?? [])))
          if (isWhole) await removeItem(db, notes, row, true)
          if (parts === null) removed.items.push(row.id)
          else removed.parts += parts
        })
      }
      if (removed.parts + removed.items.length > 0) await sweep()
      return removed
    },
    /**
     * Deletes items that were in the trash before a time, and all but the newest `versionsKeep` versions of each item; null keeps them. A
     * backup brings back what was deleted only by age or number.
     */
    async purgeExpired(
      { trashBefore, versionsKeep }: { readonly trashBefore: string | null; readonly versionsKeep: number | null },
      signal?: AbortSignal,
    ): Promise<{ readonly items: number; readonly versions: number }> {
      const removed = { items: 0, versions: 0 }
      for (let more = trashBefore !== null; more && !signal?.aborted; await nextTurn()) {
        more = await context.transact(async (db, notes) => {
          const rows = await selectItems(db)
            .where('item.deleted_at', '<', trashBefore)
            .where('owner.removal', 'is', null)
            .orderBy('item.seq')
            .limit(ITEMS_A_TRANSACTION)
            .execute()
          for (const row of rows) await removeItem(db, notes, row, false)
          removed.items += rows.length
          return rows.length === ITEMS_A_TRANSACTION
        })
      }
      if (versionsKeep !== null) {
        const { last } = await reader
          .selectFrom('item')
          .select((eb) => eb.fn.max('seq').as('last'))
          .executeTakeFirstOrThrow()
        for (let after = 0; after < Number(last ?? 0) && !signal?.aborted; after += ITEMS_COUNTED) {
          const long = await reader
            .selectFrom('version')
            .select('item_seq as seq')
            .where('item_seq', '>', after)
            .where('item_seq', '<=', after + ITEMS_COUNTED)
            .groupBy('item_seq')
            .having(sql<boolean>`count(*) > ${sql.lit(versionsKeep)}`)
            .execute()
          for (const part of batches(long, ITEMS_A_TRANSACTION)) {
            await context.transact(async (db, notes) => {
              const seqs = part.map((item) => item.seq)
              for (const row of await selectItems(db).where('item.seq', 'in', seqs).execute()) {
                const versions = (await versionsOf(db, row).orderBy('number', 'desc').execute())
                  .slice(versionsKeep)
                  // Keep the served version, however many newer ones the check blocks.
                  .filter(({ number }) => number !== row.version)
                await removeSome(db, notes, row, versions, false)
                removed.versions += versions.length
              }
            })
            await nextTurn()
          }
          await nextTurn()
        }
      }
      if (removed.items + removed.versions > 0) await sweep()
      return removed
    },
    /** Finishes earlier deletions: words, space and the log. */
    finishDeletions: (): Promise<void> => context.finishDeletions(),
  }
}
