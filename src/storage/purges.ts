import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { AppError, invalidInput } from '../errors.ts'
import type { ItemKind } from '../library/items.ts'
import type { PurgeStore } from '../library/ports.ts'
import { SKILL_MD } from '../library/skill.ts'
import type { OpenDatabase } from './dialects/dialect.ts'
import { readSearchableText, type WriteNotes } from './item-parts.ts'
import { type ItemRow, selectItems } from './item-rows.ts'
import { removeUnusedWords } from './item-words.ts'
import { batches, removeItems, removeUnusedBlobs, removeVersions } from './remove-items.ts'
import type { Database } from './schema.ts'
import type { WriteContext } from './write-items.ts'

/** Items one transaction of {@link PurgeStore.purgeExpired} removes, or whose versions it removes. */
const ITEMS_A_TRANSACTION = 20

/** What a record of a deletion for good says of a file: it is known again, and cannot be read. */
function fileKey(itemId: string, filename: string): string {
  return createHash('sha256').update(`${itemId}\n${filename}`).digest('hex')
}

/** Where it is kept which deletion the words of the library were last rid of. */
const SWEPT = 'swept_purge'

/** Whether something was deleted for good whose words may still be in the library: by a process that was killed. */
export async function isSweepDue(db: Kysely<Database>): Promise<boolean> {
  const swept = await db.selectFrom('secret').select('value').where('name', '=', SWEPT).executeTakeFirst()
  return (await lastPurge(db)) > Number(swept?.value ?? 0)
}

/** Takes what was deleted out of the words, and gives back its room. */
export async function sweep(
  database: Pick<OpenDatabase, 'reader' | 'releaseRoom' | 'emptyLog'>,
  transact: WriteContext['transact'],
): Promise<void> {
  const upTo = await lastPurge(database.reader)
  await removeUnusedWords(database.reader, transact)
  if (await isSweepDue(database.reader)) {
    const value = String(upTo)
    await transact((db) =>
      db
        .insertInto('secret')
        .values({ name: SWEPT, value })
        .onConflict((c) => c.column('name').doUpdateSet({ value }))
        .execute(),
    )
  }
  await database.releaseRoom()
  await database.emptyLog()
}

async function lastPurge(db: Kysely<Database>): Promise<number> {
  const { last } = await db
    .selectFrom('purge')
    .select((eb) => eb.fn.max('seq').as('last'))
    .executeTakeFirstOrThrow()
  return Number(last ?? 0)
}

/** Deleting for good: what goes leaves its ids alone. */
export function purgeStore(reader: Kysely<Database>, context: WriteContext): PurgeStore {
  const now = () => new Date(context.clock()).toISOString()

  /** Records that versions are gone, in one row with those beside them. */
  const recordVersions = async (db: Kysely<Database>, itemId: string, first: number, last: number): Promise<void> => {
    const beside = await db
      .deleteFrom('purge')
      .where('item_id', '=', itemId)
      .where('file_key', 'is', null)
      .where('first_version', '<=', last + 1)
      .where('last_version', '>=', first - 1)
      .returning(['first_version', 'last_version'])
      .execute()
    await db
      .insertInto('purge')
      .values({
        item_id: itemId,
        first_version: Math.min(first, ...beside.flatMap((row) => row.first_version ?? [])),
        last_version: Math.max(last, ...beside.flatMap((row) => row.last_version ?? [])),
        file_key: null,
        made_at: now(),
      })
      .execute()
  }
  const recordFile = async (db: Kysely<Database>, itemId: string, key: string, last: number): Promise<void> => {
    await db.deleteFrom('purge').where('item_id', '=', itemId).where('file_key', '=', key).execute()
    await db.insertInto('purge').values({ item_id: itemId, first_version: 1, last_version: last, file_key: key, made_at: now() }).execute()
  }
  const removeItem = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow): Promise<void> => {
    await db.deleteFrom('purge').where('item_id', '=', row.id).execute()
    await db
      .insertInto('purge')
      .values({ item_id: row.id, first_version: null, last_version: null, file_key: null, made_at: now() })
      .execute()
    // A form that is being written may hold the text.
    await db
      .deleteFrom('form_draft')
      .where('owner_seq', '=', (eb) => eb.selectFrom('item').select('item.owner_seq').where('item.seq', '=', row.seq))
      .execute()
    await removeItems(db, [row.seq])
    notes.audit({ action: 'item_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind } })
    notes.index(row.seq, null)
    notes.changed({ kind: row.kind, ownerId: row.owner_id, isPublic: row.visibility === 'public', isPurge: true })
  }
  const findRow = async (db: Kysely<Database>, kind: ItemKind, id: string): Promise<ItemRow | undefined> =>
    await selectItems(db).where('item.kind', '=', kind).where('item.id', '=', id).executeTakeFirst()
  /** An item whose history somebody may change: their own, and not in the trash. */
  const findOwn = async (db: Kysely<Database>, kind: ItemKind, id: string, ownerId: string): Promise<ItemRow | null> => {
    const row = await findRow(db, kind, id)
    return row && row.owner_id === ownerId && row.deleted_at === null ? row : null
  }
  const removeSome = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow, first: number, last: number): Promise<number> => {
    const versions = await db
      .selectFrom('version')
      .select('seq')
      .where('item_seq', '=', row.seq)
      .where('number', '>=', first)
      .where('number', '<=', last)
      .execute()
    await removeVersions(
      db,
      versions.map((version) => version.seq),
    )
    if (versions.length > 0) {
      await recordVersions(db, row.id, first, last)
      notes.audit({ action: 'versions_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: row.kind, first, last } })
    }
    return versions.length
  }
  /** Removes a file that is known by its key from a skill as a backup had it. */
  const removeFile = async (db: Kysely<Database>, notes: WriteNotes, row: ItemRow, key: string, last: number): Promise<number> => {
    const versions = await db
      .selectFrom('version_file')
      .innerJoin('version', 'version.seq', 'version_file.version_seq')
      .select(['version.seq', 'version.number', 'version_file.filename', 'version_file.sha256'])
      .where('version.item_seq', '=', row.seq)
      .where('version.number', '<=', last + 1)
      .execute()
    const named = versions.filter(({ filename }) => fileKey(row.id, filename) === key)
    const kept = named.find(({ number }) => number === last + 1)?.sha256
    const gone = named.filter(({ number, sha256 }) => number <= last && sha256 !== kept)
    for (const { seq, number, filename } of gone) {
      await db.deleteFrom('version_file').where('version_seq', '=', seq).where('filename', '=', filename).execute()
      if (number === row.version) {
        await db.deleteFrom('skill_file').where('item_seq', '=', row.seq).where('filename', '=', filename).execute()
        notes.index(row.seq, await readSearchableText(db, row.seq))
      }
    }
    await removeUnusedBlobs(
      db,
      gone.map(({ sha256 }) => sha256),
    )
    if (gone.length > 0) {
      await recordFile(db, row.id, key, last)
      notes.audit({ action: 'file_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: 'skill' } })
    }
    return gone.length
  }
  const tell = (notes: WriteNotes, row: ItemRow) =>
    notes.changed({ kind: row.kind, ownerId: row.owner_id, isPublic: row.visibility === 'public', isPurge: true })

  return {
    async findDeleted(kind, ref, ownerId) {
      const row = await selectItems(reader)
        .where('item.kind', '=', kind)
        .where('owner.id', '=', ownerId)
        .where('item.deleted_at', 'is not', null)
        .where((eb) => eb.or([eb('item.id', '=', ref), eb('item.slug', '=', ref)]))
        .executeTakeFirst()
      return row ? { id: row.id, title: row.title } : null
    },
    async purgeItem(kind, id, decide) {
      const purged = await context.transact(async (db, notes) => {
        const row = await findRow(db, kind, id)
        if (!row || !decide({ ownerId: row.owner_id, visibility: row.visibility, deletedAt: row.deleted_at })) return false
        await removeItem(db, notes, row)
        return true
      })
      if (purged) await context.sweep()
      return purged
    },
    async purgeVersions(kind, id, ownerId, { first, last }) {
      const removed = await context.transact(async (db, notes) => {
        const row = await findOwn(db, kind, id, ownerId)
        if (!row) return null
        if (last >= row.version) {
          throw new AppError(
            'conflict',
            `Version ${row.version} is the newest: it is what the ${kind} is. Change the ${kind} first, or delete it as a whole.`,
          )
        }
        const count = await removeSome(db, notes, row, first, last)
        if (count > 0) tell(notes, row)
        return count
      })
      if (removed) await context.sweep()
      return removed
    },
    async purgeFile(id, ownerId, filename) {
      if (filename === SKILL_MD) throw invalidInput('filename', `Every version needs its ${SKILL_MD}: delete the versions instead.`)
      const removed = await context.transact(async (db, notes) => {
        const row = await findOwn(db, 'skill', id, ownerId)
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
        await removeUnusedBlobs(
          db,
          files.map((file) => file.sha256),
        )
        await recordFile(db, row.id, fileKey(row.id, filename), row.version - 1)
        notes.audit({ action: 'file_purged', targetId: row.id, ownerId: row.owner_id, detail: { kind: 'skill' } })
        tell(notes, row)
        return files.length
      })
      if (removed) await context.sweep()
      return removed
    },
    async repeatPurges(purges) {
      const removed = { parts: 0, items: [] as string[] }
      for (const purge of purges) {
        await context.transact(async (db, notes) => {
          const row = await selectItems(db).where('item.id', '=', purge.itemId).executeTakeFirst()
          if (!row) return
          const { first, last, fileKey: key } = purge
          if (first === null || last === null || (key === null && first <= row.version && row.version <= last)) {
            await removeItem(db, notes, row)
            removed.items.push(row.id)
          } else if (key === null) removed.parts += await removeSome(db, notes, row, first, Math.min(last, row.version))
          else removed.parts += await removeFile(db, notes, row, key, last)
        })
      }
      if (removed.parts + removed.items.length > 0) await context.sweep()
      return removed
    },
    async purgeExpired({ trashBefore, versionsKeep }, signal) {
      const removed = { items: 0, versions: 0 }
      for (let more = trashBefore !== null; more && !signal?.aborted; await nextTurn()) {
        more = await context.transact(async (db, notes) => {
          const rows = await selectItems(db)
            .where('item.deleted_at', '<', trashBefore)
            .where('owner.removal', 'is', null)
            .orderBy('item.seq')
            .limit(ITEMS_A_TRANSACTION)
            .execute()
          for (const row of rows) await removeItem(db, notes, row)
          removed.items += rows.length
          return rows.length === ITEMS_A_TRANSACTION
        })
      }
      if (versionsKeep !== null) {
        const long = await reader
          .selectFrom('version')
          .innerJoin('item', 'item.seq', 'version.item_seq')
          .select('item.seq')
          .where('item.version', '>', versionsKeep)
          .groupBy(['item.seq', 'item.version'])
          .having((eb) => eb(eb.fn.min('version.number'), '<=', eb('item.version', '-', versionsKeep)))
          .execute()
        for (const part of batches(long, ITEMS_A_TRANSACTION)) {
          if (signal?.aborted) break
          await context.transact(async (db, notes) => {
            const seqs = part.map((item) => item.seq)
            for (const row of await selectItems(db).where('item.seq', 'in', seqs).execute()) {
              const count = await removeSome(db, notes, row, 1, row.version - versionsKeep)
              if (count > 0) tell(notes, row)
              removed.versions += count
            }
          })
          await nextTurn()
        }
      }
      if (removed.items + removed.versions > 0) await context.sweep()
      return removed
    },
  }
}
