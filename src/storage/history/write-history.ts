import type { Kysely } from 'kysely'
import { AppError } from '../../errors.ts'
import { OPERATOR_ORIGIN } from '../../library/audit.ts'
import type { HistoryCounts } from '../../library/history-records.ts'
import type { Random } from '../../library/ports/environment.ts'
import type { HistorySource } from '../../library/ports/transfer.ts'
import { audienceOf, othersMaySee } from '../../library/visibility.ts'
import { writeEntries } from '../audit-log.ts'
import { removeCategories } from '../copy/copy-library.ts'
import { createRowBuffer } from '../copy/row-buffer.ts'
import type { Dialect, OpenDatabase } from '../dialects/dialect.ts'
import { keepChannelName } from '../items/channel-names.ts'
import type { WriteNotes } from '../items/item-parts.ts'
import { logSharedChanges, readSharedStates } from '../items/shared-changes.ts'
import type { Database } from '../schema.ts'
import { endIndexEpoch } from '../search/index-epoch.ts'
import { markWordsDue } from '../search/words-due.ts'
import { digestHistory } from './read-history.ts'
import { createWriter, NUMBERED, type Numbers } from './record-writer.ts'

/** Fills an empty library with a whole export, as `TransferStore.importHistory` says. Items are indexed afterwards. */
export async function writeHistory(
  database: OpenDatabase,
  random: Random,
  source: HistorySource,
  onItem: () => void,
): Promise<{ counts: HistoryCounts; isNew: boolean }> {
  return await database.transact(
    async (db) => {
      if (!(await isNew(db))) return { counts: await requireSame(db, source), isNew: false }
      await removeCategories(db)
      await writeRecords(db, { dialect: database.dialect, random }, source, onItem)
      await writeEntries(db, OPERATOR_ORIGIN, [{ action: 'library_copied', targetId: null, ownerId: null }], Date.now())
      const written = await digestHistory(db)
      if (written.digest !== source.digest) {
        throw new AppError('invalid_input', 'What was read is not written as an export writes it, so the library would not be the same.')
      }
      await nameSkills(db)
      await beginLog(db)
      await endIndexEpoch(db)
      await markWordsDue(db)
      return { counts: written.counts, isNew: true }
    },
    { isLong: true },
  )
}

/** Whether the library is empty apart from categories. */
async function isNew(db: Kysely<Database>): Promise<boolean> {
  for (const table of ['user', 'item', 'retired_slug'] as const) {
    if (await db.selectFrom(table).selectAll().limit(1).executeTakeFirst()) return false
  }
  return true
}

/** Skills of exports of format 1 have no names for channels: public ones get theirs in the order they were made. */
async function nameSkills(db: Kysely<Database>): Promise<void> {
  const skills = await db
    .selectFrom('item')
    .select('seq')
    .where('kind', '=', 'skill')
    .where('visibility', '=', 'public')
    .where('channel_name', 'is', null)
    .orderBy('seq')
    .execute()
  for (const { seq } of skills) await keepChannelName(db, seq)
}

/** Exports of format 1 have no log of visible changes either: it begins with what is there. */
async function beginLog(db: Kysely<Database>): Promise<void> {
  if (await db.selectFrom('shared_change').select('seq').limit(1).executeTakeFirst()) return
  const items = await db.selectFrom('item').select(['seq', 'updated_at']).orderBy('updated_at').orderBy('seq').execute()
  const states = await readSharedStates(
    db,
    items.map(({ seq }) => seq),
  )
  await logSharedChanges(db, states, items.at(-1)?.updated_at ?? '')
}

async function requireSame(db: Kysely<Database>, source: HistorySource): Promise<HistoryCounts> {
  const { digest, counts } = await digestHistory(db)
  if (digest === source.digest || (await digestHistory(db, { format: 1 })).digest === source.digest) return counts
  throw new AppError(
    'conflict',
    'A whole export is imported into an empty library, and this one has users or items. Use a new library, or import the items alone with --without-history.',
  )
}

async function writeRecords(
  db: Kysely<Database>,
  { dialect, random }: { readonly dialect: Dialect; readonly random: Random },
  source: HistorySource,
  onItem: () => void,
): Promise<void> {
  const numbers: Numbers = { user: 0, category: 0, item: 0, version: 0, collection: 0, shared_change: 0 }
  for (const table of NUMBERED) numbers[table] = await dialect.readIdentity(db, table)
  const rows = createRowBuffer(db)
  const write = createWriter(rows, numbers, source, random)
  for await (const record of source.records) {
    await write(record)
    if (record.record === 'item') onItem()
  }
  await write(null)
  await rows.flush()
  await db
    .updateTable('item')
    .set((eb) => ({
      votes: eb
        .selectFrom('vote')
        .select((v) => v.fn.countAll<number>().as('n'))
        .whereRef('vote.item_seq', '=', 'item.seq'),
    }))
    .execute()
  for (const table of NUMBERED) await dialect.setIdentity(db, table, numbers[table])
}

/** Notifies listeners that there are items now. */
export async function notifyOfHistory(db: Kysely<Database>, notes: Pick<WriteNotes, 'changed'>): Promise<void> {
  for (const kind of ['prompt', 'skill'] as const) {
    const row = await db
      .selectFrom('item')
      .innerJoin('user', 'user.seq', 'item.owner_seq')
      .select(['user.id', 'item.visibility'])
      .where('item.kind', '=', kind)
      .where('item.visibility', 'in', othersMaySee('member', 'list'))
      // Public before members: the widest audience.
      .orderBy((eb) => eb.case().when('item.visibility', '=', 'public').then(0).else(1).end())
      .where('item.deleted_at', 'is', null)
      .limit(1)
      .executeTakeFirst()
    if (row) notes.changed({ kind, ownerId: row.id, audience: audienceOf(row.visibility) })
  }
}
